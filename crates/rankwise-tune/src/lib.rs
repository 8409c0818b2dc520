//! Cross-validation and search, by query.
//!
//! * [`Folds`] assigns each query to a fold; a query is never split.
//! * [`cross_validate`] trains a model without each fold and measures it on that fold.
//! * [`auto`] trains a portfolio of models and combines them into one.
//!
//! Work is done in numbered jobs. A job depends only on its number and on the results of jobs well before it, never on
//! which thread finishes first, so results are the same for any number of threads.
#![forbid(unsafe_code)]

mod auto;
mod cv;
mod error;
mod folds;
mod jobs;
mod portfolio;

pub use auto::{
    Auto, AutoRanker, AutoWatch, Budget, Difference, Rule, Rung, StepFileError, StepStore, Tried, TriedResult, auto,
};
pub use cv::{CrossValidated, CrossValidation, CvSystem, FoldResult, SystemResult, cross_validate};
pub use error::TuneError;
pub use folds::{Folds, Rotation};
pub use jobs::Watch;
