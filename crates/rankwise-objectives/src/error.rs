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
    /// All documents have weight 0.
    #[error("all documents have weight 0; give some of them a positive weight")]
    NoWeight,
}
