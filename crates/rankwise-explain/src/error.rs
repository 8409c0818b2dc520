//! What cannot be explained.

use rankwise_model::ModelError;
use thiserror::Error;

/// Why something cannot be explained.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// The model does not say how many training rows reached each leaf.
    #[error(
        "tree {tree} has no counts of training rows, so its expected value is unknown; explain the model against documents of a dataset \
         instead"
    )]
    NoCounts {
        /// The tree, counted from 0.
        tree: usize,
    },
    /// Interactions of a tree cannot be computed.
    #[error("tree {tree} is deeper than 64 levels, which is too deep for interactions")]
    TooDeep {
        /// The tree, counted from 0.
        tree: usize,
    },
    /// The score is not a sum over trees.
    #[error(
        "the score of a model with one output per label is not a sum of contributions; explain one output at a time"
    )]
    SeveralOutputs,
    /// The score is no sum over parts that can be told apart.
    #[error("the score of a {kind} model is not a sum of contributions; use permutation importance")]
    NotAdditive {
        /// The kind of the model.
        kind: &'static str,
    },
    /// There is nothing to compare with.
    #[error("there are no documents to compare with")]
    NoBackground,
    /// The model is of another kind.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A metric cannot be measured.
    #[error(transparent)]
    Metric(#[from] rankwise_metrics::MetricError),
}
