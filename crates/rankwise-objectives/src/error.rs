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
    /// A label that is no probability.
    #[error(
        "label {label} in query '{query}' is no probability, which objective 'logistic' takes (from 0 to 1); divide the labels by \
         their largest, or use objective rmse"
    )]
    NoProbability {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
    },
    /// A label that is no grade.
    #[error(
        "label {label} in query '{query}' is no grade, which objective 'multiclass' takes (0, 1, 2, ...); round the labels, or use \
         objective rmse"
    )]
    NoGrade {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
    },
    /// Too many different labels.
    #[error(
        "objective 'multiclass' takes at most {most} different labels, since each costs a tree a round; merge grades, or use \
         objective rmse"
    )]
    ManyGrades {
        /// The most.
        most: usize,
    },
    /// Every document has the same extreme label.
    #[error("every document has label {label}, so objective '{objective}' has nothing to tell apart; check the labels")]
    OneLabel {
        /// The objective.
        objective: &'static str,
        /// The label.
        label: f32,
    },
    /// A target that the objective cannot learn for.
    #[error("objective '{objective}' cannot learn for target '{target}'; it can for {known}")]
    Target {
        /// The objective.
        objective: &'static str,
        /// The target as typed.
        target: String,
        /// Those it can learn for.
        known: &'static str,
    },
    /// All documents have weight 0.
    #[error("all documents have weight 0; give some of them a positive weight")]
    NoWeight,
}
