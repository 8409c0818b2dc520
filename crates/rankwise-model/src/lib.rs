//! The trained things: trees, the ensemble that sums them, and the native file they are kept in (described in
//! `docs/model-file.md`).
//!
//! * [`Tree`] is checked when it is made: whoever holds one can walk it without fear of cycles or missing children.
//! * [`Model`] is an ensemble with what it was trained for; [`Model::to_json`] and [`Model::from_json`] are exact
//!   inverses.
//!
//! This crate knows nothing of data sets, bins or training.
#![forbid(unsafe_code)]

mod error;
mod file;
mod importance;
mod model;
mod output;
mod tree;

pub use error::ModelError;
pub use file::FORMAT_VERSION;
pub use importance::FeatureImportance;
pub use model::{AbsentFeature, Model, Precision, TrainedOn};
pub use output::{ExpectedGain, Output};
pub use tree::{Child, Tree, TreeParts};
