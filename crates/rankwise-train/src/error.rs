//! Why a model cannot be trained.

use rankwise_data::{DataError, SimdError};
use rankwise_metrics::MetricError;
use rankwise_model::ModelError;
use rankwise_objectives::ObjectiveError;
use rankwise_params::ParamError;

use crate::{CheckpointError, StartError};

/// Training that cannot start or go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// A parameter is wrong.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The data cannot be binned.
    #[error(transparent)]
    Data(#[from] DataError),
    /// `RANKWISE_SIMD` names what cannot be had.
    #[error(transparent)]
    Simd(#[from] SimdError),
    /// A run cannot be gone on with.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A model cannot be started from.
    #[error(transparent)]
    Start(#[from] StartError),
    /// What was trained is no model, as with an objective whose base score is not a number.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The objective cannot learn from the data.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// A validation set cannot be measured.
    #[error("validation set {set}: {source}")]
    Valid {
        /// The name of the set.
        set: String,
        /// Why.
        source: MetricError,
    },
    /// A validation set has no query that counts.
    #[error(
        "validation set {set}: no query has a relevant document and a weight above 0, so '{metric}' is undefined; use other data"
    )]
    NothingToMeasure {
        /// The name of the set.
        set: String,
        /// The metric.
        metric: String,
    },
    /// Every feature is constant.
    #[error("no feature has two different values, so there is nothing to split on; check the data")]
    NoFeatures,
    /// A constraint names a feature that the data does not have.
    #[error("monotone_constraints refers to feature {feature}, which is not in the data; remove it")]
    UnknownFeature {
        /// The feature.
        feature: u32,
    },
}
