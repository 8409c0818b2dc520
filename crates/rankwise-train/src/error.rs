//! Why a model cannot be trained.

use rankwise_data::{DataError, SimdError};
use rankwise_metrics::MetricError;
use rankwise_model::ModelError;
use rankwise_objectives::ObjectiveError;
use rankwise_params::ParamError;

use crate::{CheckpointError, StartError};

/// Training cannot start or continue.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// A parameter is invalid.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The data cannot be binned.
    #[error(transparent)]
    Data(#[from] DataError),
    /// `RANKWISE_SIMD` names an instruction set that is unknown or not available.
    #[error(transparent)]
    Simd(#[from] SimdError),
    /// A run cannot be resumed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The start model cannot be used.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The result is not a valid model, for example because the objective's base score is not a number.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The objective cannot learn from the data.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// A metric cannot be computed on a validation set.
    #[error("validation set {set}: {source}")]
    Valid {
        /// The name of the set.
        set: String,
        /// Why.
        source: MetricError,
    },
    /// No query of a validation set counts in the metric.
    #[error(
        "validation set {set}: no query has a relevant document and a weight above 0, so '{metric}' cannot tell models apart; use other data"
    )]
    NothingToMeasure {
        /// The name of the set.
        set: String,
        /// The metric.
        metric: String,
    },
    /// The model was trained in a way that cannot be repeated with other leaf values.
    #[error("a model with {setting} cannot be refitted, because {because}; train a new model")]
    NotRefittable {
        /// The parameter that is in the way, and its value.
        setting: String,
        /// Why.
        because: &'static str,
    },
    /// A learner of pairs has none.
    #[error(
        "learner {learner} needs a query with documents of different labels and a weight above 0, or pairs with weights; \
         check the labels and weights"
    )]
    NoPairs {
        /// The learner.
        learner: String,
    },
    /// The metric that a learner maximises cannot be computed on the training data.
    #[error("cannot maximise '{metric}' on the training data: {source}")]
    Target {
        /// The metric.
        metric: String,
        /// Why.
        source: MetricError,
    },
    /// No training query counts in the metric that a learner maximises.
    #[error(
        "no training query counts in '{metric}', so there is nothing to maximise; set another `target`, or check the labels"
    )]
    NoTarget {
        /// The metric.
        metric: String,
    },
    /// A classifier needs two classes.
    #[error(
        "every document with a weight is {found}, so there is nothing to tell apart; labels count as relevant from \
         `relevant_from`, which is {relevant_from}: set another one, or check the labels and weights"
    )]
    OneClass {
        /// The class of all documents.
        found: &'static str,
        /// From which label on documents are relevant.
        relevant_from: String,
    },
    /// A learner found nothing in its first round.
    #[error(
        "learner {learner} found nothing to learn; check that features differ between documents with different labels"
    )]
    NothingLearnt {
        /// The learner.
        learner: String,
    },
    /// Every feature is constant.
    #[error("no feature has two different values, so there is nothing to split on; check the data")]
    ConstantFeatures,
    /// There are no features.
    #[error("there are no features, so there is nothing to split on; check the data")]
    NoFeatures,
}

impl TrainError {
    /// Whether a parameter or an environment variable is to be changed, whatever the data.
    pub fn is_about_settings(&self) -> bool {
        matches!(self, Self::Param(_) | Self::Simd(_) | Self::Objective(ObjectiveError::Target { .. }))
    }
}
