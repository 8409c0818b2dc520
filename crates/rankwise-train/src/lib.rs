//! The boosting loop and its parts.
//!
//! ```text
//! scores -> objective -> gradients -> rows of the bag -> grower -> tree -> scores
//!    \-> validation -> early stopping
//! ```
//!
//! [`TrainSpec`] has the parameters of all parts, and [`train`] runs the loop. An [`Observer`] sees each round and can
//! stop the run, which keeps the trees so far. [`Progress::checkpoint`] saves the run; [`Checkpoint::read`] and
//! [`Training::from_checkpoint`] resume it in another process, which trains the same model. [`Training`] also accepts
//! custom objectives.
#![forbid(unsafe_code)]

mod bagging;
mod boost;
mod checkpoint;
mod ensemble;
mod error;
mod gradient_sampling;
mod history;
mod langevin;
mod learning;
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
    Impurity, Learner, LearnerParams, LearnerSpec, LoopParams, LoopSpec, Network, Norm, Preset, Rounding, Sample,
    Scaling, SetBoosting, SetLearner, ShrinkMode, SvmLoss, TrainParams, TrainSpec, WeakLearner, WeakRanker,
    WithoutEffect,
};
pub use phases::Phases;
pub use prune::{PruneError, Pruned, prune};
pub use refit::{refit, trained_on};
pub use start::StartError;
pub use step::StepKind;
pub use training::{Training, train};
pub use validation::{MetricValue, OwnMetric, OwnValue, ValidSet};
