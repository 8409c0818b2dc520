//! Models of other programs, read and written.
//!
//! [`import`] tells by its content whose a file is and gives a [`Model`], which then is a model like any other. What ours cannot
//! express is refused by name, never approximated: an imported model gives a document the score that its own program gives it.
//!
//! [`export()`] writes a model for another program, [`read_back`] reads what was written as that program does.
//!
//! Trees of every format come through [`draft`], which makes sure that they are trees.
#![forbid(unsafe_code)]

mod catboost;
mod draft;
mod error;
mod export;
mod lightgbm;
mod ranklib;
mod source;
mod ubjson;
mod value;
mod xgboost;

pub use error::FormatError;
pub use export::{Arithmetic, BaseScore, ExportError, ExportOptions, Reading, Target, export, read_back};
use rankwise_model::Model;
pub use source::Source;

/// Reads a model, whoever wrote it. Any bytes give a model or an error.
pub fn import(bytes: &[u8]) -> Result<Model, FormatError> {
    let source = Source::of(bytes);
    let model = match source {
        Source::Native => source::refuse_known_form(bytes).and_then(|()| Ok(Model::from_json(bytes)?))?,
        Source::LightGbmText => lightgbm::from_text(bytes)?,
        Source::LightGbmJson => lightgbm::from_value(&value::from_json(lightgbm::FORMAT, bytes)?)?,
        Source::RankLib => ranklib::from_text(bytes)?,
        Source::CatBoost => catboost::from_value(&value::from_json(catboost::FORMAT, bytes)?)?,
        Source::XgBoostJson => xgboost::from_value(&value::from_json(xgboost::FORMAT, bytes)?)?,
        Source::XgBoostUbj => xgboost::from_value(&ubjson::read(xgboost::FORMAT, bytes)?)?,
    };
    if source != Source::Native && model.tree_ensemble()?.n_trees() == 0 {
        return Err(FormatError::Empty { format: source.name() });
    }
    Ok(model)
}
