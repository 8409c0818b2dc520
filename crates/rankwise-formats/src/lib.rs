//! Imports and exports models of other programs.
//!
//! [`import`] detects the format of a file by its content and returns a [`Model`] like any other. What our models
//! cannot express is an error and never approximated: an imported model gives the same scores as its own program.
//!
//! [`export()`] writes a model for another program; [`read_back`] reads the result in the same way as that program.
//!
//! Trees of all formats pass through [`draft`], which checks that they are valid.
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
    Arithmetic, BaseScore, ExportError, ExportOptions, NetworkReading, Reading, RenamedFeature, Target, export,
    read_back, renamed_features,
};
pub use import::{BestIteration, ImportedModel, ImportedTrees, import, import_with};
pub use source::{Source, is_unread_form};
