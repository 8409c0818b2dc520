//! From the bytes of any program's file to a model.

use rankwise_model::{Model, ModelError};

use crate::{FormatError, Source, catboost, lightgbm, ranklib, source, ubjson, value, xgboost};

/// Which trees of a file become the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImportedTrees {
    /// Those that the program's own ranker scores with: up to the best iteration, where an XGBoost file names one
    /// (`XGBRanker.predict`).
    #[default]
    UpToBest,
    /// All of them, as `Booster.predict` of XGBoost scores.
    All,
}

/// A model, and what its file says beyond it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedModel {
    /// The model.
    pub model: Model,
    /// Where early stopping found the best iteration, if there are trees after it.
    pub best_iteration: Option<BestIteration>,
}

/// The best iteration of early stopping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestIteration {
    /// Its number, from 0.
    pub iteration: usize,
    /// Trees up to it.
    pub n_trees: usize,
    /// Trees in the file.
    pub all_trees: usize,
}

impl ImportedModel {
    /// A model without more to say.
    pub(crate) fn new(model: Model) -> Self {
        Self { model, best_iteration: None }
    }
}

/// What is no model of ours may have been meant for one of any program that is known.
fn native_error(error: ModelError) -> FormatError {
    match error {
        ModelError::Foreign => FormatError::Unknown,
        other => other.into(),
    }
}

/// Reads a model, whoever wrote it, with the trees that its own program would score with. Any bytes give a model or an error.
pub fn import(bytes: &[u8]) -> Result<Model, FormatError> {
    Ok(import_with(bytes, ImportedTrees::UpToBest)?.model)
}

/// Reads a model, whoever wrote it. Any bytes give a model or an error.
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
