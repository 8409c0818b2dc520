//! The boosting loop and what hangs on it.
//!
//! ```text
//! scores -> objective -> gradients -> rows of the bag -> grower -> tree -> scores
//!    \-> validation -> early stopping
//! ```
//!
//! [`TrainSpec`] gathers the parameters of all parts; [`train`] runs the loop; an [`Observer`] sees each round and may stop
//! the run, which keeps what is trained. From [`Progress::checkpoint`] another process can go on, by [`Checkpoint::read`]
//! and [`Training::from_checkpoint`], to the same model. [`Training`] also takes an objective of the caller's own.
#![forbid(unsafe_code)]

mod bagging;
mod boost;
mod checkpoint;
mod ensemble;
mod error;
mod gradient_sampling;
mod history;
mod langevin;
mod no_trees;
mod observe;
mod outliers;
mod params;
mod phases;
mod prune;
mod refit;
mod selection;
mod start;
mod step;
mod training;
mod validation;
mod values;

pub use boost::Trained;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use error::TrainError;
pub use history::{Curve, History};
pub use no_trees::NoTrees;
pub use observe::{Flow, Observer, Pass, Progress, Silent, StopReason};
pub use params::{
    Learner, LoopParams, LoopSpec, Rounding, Sample, SetBoosting, ShrinkMode, TrainParams, TrainSpec, WithoutEffect,
};
pub use phases::Phases;
pub use prune::{PruneError, Pruned, prune};
pub use refit::refit;
pub use start::StartError;
pub use step::StepKind;
pub use training::{Training, train};
pub use validation::{MetricValue, ValidSet};
