//! Cross-validation and search, by query.
//!
//! * [`Folds`] assigns each query to a fold; a query is never split.
//! * [`cross_validate`] trains a model without each fold and measures it on that fold.
//! * [`tune`] searches for good values of parameters in a [`Space`].
//! * [`auto`] trains a portfolio of models and combines them into one.
//!
//! Work is done in numbered jobs. A job depends only on its number and on the results of jobs well before it, never on
//! which thread finishes first, so results are the same for any number of threads.
#![forbid(unsafe_code)]

mod auto;
mod cv;
mod error;
mod folds;
mod halving;
mod jobs;
mod portfolio;
mod space;
mod split;
mod store;
mod tpe;
mod tune;

pub use auto::{Auto, AutoRanker, AutoWatch, Budget, Difference, Rule, Rung, Tried, TriedResult, auto};
pub use cv::{CrossValidated, CrossValidation, CvSystem, FoldResult, SystemResult, cross_validate};
pub use error::TuneError;
pub use folds::{Folds, Rotation};
pub use jobs::Watch;
pub use space::{Condition, Dimension, DimensionSpec, Point, Space, SpaceError, SpaceFileError, Values};
pub use store::{StepFileError, StepStore};
pub use tpe::{Search, Seen};
pub use tune::{Stopping, TestedOn, Trial, TrialResult, TuneWatch, Tuned, Tuning, tune};
