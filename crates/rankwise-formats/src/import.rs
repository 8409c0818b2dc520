//! Imports models from the files of other programs.

use rankwise_model::{Model, ModelError};

use crate::{FormatError, Source, catboost, lightgbm, ranklib, source, ubjson, value, xgboost};

/// Which trees of a file to import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImportedTrees {
    /// Those that the program's own ranker uses: up to the best iteration, if an XGBoost file has one
    /// (`XGBRanker.predict`).
    #[default]
    UpToBest,
    /// All of them, as in XGBoost's `Booster.predict`.
    All,
}

/// A model, with other facts from its file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedModel {
    /// The model.
    pub model: Model,
    /// The best iteration of early stopping, if there are trees after it.
    pub best_iteration: Option<BestIteration>,
}

/// The best iteration of early stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestIteration {
    /// Its number, from 0.
    pub iteration: usize,
    /// Number of trees up to it.
    pub n_trees: usize,
    /// Number of trees in the file.
    pub all_trees: usize,
}

impl ImportedModel {
    /// A model without other facts.
    pub(crate) fn new(model: Model) -> Self {
        Self { model, best_iteration: None }
    }
}

/// A file that is not ours may have been meant for any known format.
fn native_error(error: ModelError) -> FormatError {
    match error {
        ModelError::Foreign => FormatError::Unknown,
        other => other.into(),
    }
}

/// Reads a model in any known format, with the trees that its own program would use. Any bytes give a model or an
/// error.
pub fn import(bytes: &[u8]) -> Result<Model, FormatError> {
    Ok(import_with(bytes, ImportedTrees::UpToBest)?.model)
}

/// Reads a model in any known format. Any bytes give a model or an error.
pub fn import_with(bytes: &[u8], trees: ImportedTrees) -> Result<ImportedModel, FormatError> {
    let source = Source::of(bytes);
    let imported = match source {
        Source::Native => {
            source::refuse_known_form(bytes)?;
            ImportedModel::new(Model::from_json(bytes).map_err(native_error)?)
        }
        Source::LightGbmText => ImportedModel::new(lightgbm::from_text(bytes)?),
        Source::LightGbmJson => ImportedModel::new(lightgbm::from_value(&value::from_json(lightgbm::FORMAT, bytes)?)?),
        Source::RankLib => ImportedModel::new(ranklib::from_text(bytes)?),
        Source::CatBoost => ImportedModel::new(catboost::from_value(&value::from_json(catboost::FORMAT, bytes)?)?),
        Source::XgBoostJson => xgboost::from_value(&value::from_json(xgboost::FORMAT, bytes)?, trees)?,
        Source::XgBoostUbj => xgboost::from_value(&ubjson::read(xgboost::FORMAT, bytes)?, trees)?,
    };
    if source != Source::Native && imported.model.tree_ensemble()?.n_trees() == 0 {
        return Err(FormatError::Empty { format: source.name() });
    }
    Ok(imported)
}
