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
mod import;
mod lightgbm;
mod ranklib;
mod source;
mod ubjson;
mod value;
mod xgboost;

pub use error::FormatError;
pub use export::{
    Arithmetic, BaseScore, ExportError, ExportOptions, Reading, RenamedFeature, Target, export, read_back,
    renamed_features,
};
pub use import::{BestIteration, ImportedModel, ImportedTrees, import, import_with};
pub use source::{Source, is_unread_form};
