//! Trained models: all kinds of rankers, and the native model file (described in `docs/model-file.md`).
//!
//! * [`Model`] is a [`Header`] (the objective, which features it reads and how) and a [`Ranker`]. It is checked when it
//!   is created. [`Model::score`] scores a document, whatever the kind; [`Model::to_json`] and [`Model::from_json`] are
//!   exact inverses.
//! * [`TreeEnsemble`] is a sum of trees. Code that works only with trees gets it from [`Model::tree_ensemble`];
//!   [`Model::weighted_sum`] adds several.
//! * [`LinearRanker`] is a weighted sum of feature values, or of inputs that a [`Transform`] makes from them.
//! * [`NeuralRanker`] is a network of layers over such inputs.
//! * [`Tree`] is checked when it is created, so it can be walked without fear of cycles or missing children.
//!
//! This crate knows nothing of datasets, bins or training.
#![forbid(unsafe_code)]

mod ensemble;
mod error;
mod file;
mod header;
mod importance;
mod linear;
mod model;
pub mod neural;
mod output;
mod ranker;
mod sum;
mod transform;
mod tree;

pub use ensemble::TreeEnsemble;
pub use error::ModelError;
pub use file::FORMAT_VERSION;
pub use header::{AbsentFeature, Header, Precision, TrainedOn, floor_f32, last_rounded_to};
pub use importance::FeatureImportance;
pub use linear::LinearRanker;
pub use model::Model;
pub use neural::NeuralRanker;
pub use output::{ExpectedGain, Output};
pub use ranker::Ranker;
pub use transform::{FeatureScale, Transform};
pub use tree::{Child, Tree, TreeParts};
