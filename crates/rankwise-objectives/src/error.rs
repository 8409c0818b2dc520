//! Why an objective cannot be applied to data.

use rankwise_metrics::MetricError;

/// Data that an objective cannot learn from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObjectiveError {
    /// A label has no gain.
    #[error(transparent)]
    Label(#[from] MetricError),
    /// There is nothing to put in order.
    #[error(
        "no query has two documents with different labels, so objective '{objective}' has nothing to put in order; \
         check the labels and the query ids, or use objective rmse"
    )]
    NoPairs {
        /// The objective.
        objective: &'static str,
    },
    /// No label has a gain.
    #[error("no document has a label with a gain, so objective '{objective}' has nothing to select; check the labels")]
    NothingRelevant {
        /// The objective.
        objective: &'static str,
    },
    /// The metric is not one that the objective can learn for.
    #[error("objective '{objective}' cannot learn for target '{target}'; it knows {known}, each as in ndcg@10")]
    Target {
        /// The objective.
        objective: &'static str,
        /// The metric.
        target: String,
        /// The metrics that it can learn for.
        known: &'static str,
    },
    /// All documents have weight 0.
    #[error("all documents have weight 0; give some of them a positive weight")]
    NoWeight,
}
