//! Why an objective cannot be applied to data.

use rankwise_data::DataError;
use rankwise_metrics::MetricError;

/// Data that an objective cannot learn from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObjectiveError {
    /// Another member of the run failed, or cannot be reached.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A label without a gain.
    #[error(transparent)]
    Label(#[from] MetricError),
    /// A label whose exponential gain is too large.
    #[error(
        "label {label} in query '{query}' is too large for exponential gain (at most {most}); use `gain` linear, or set \
         the gains with label_gain or gain=table:..."
    )]
    LargeLabel {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
        /// The largest possible label.
        most: f32,
    },
    /// A label without an entry in `label_gain`.
    #[error(
        "label {label} in query '{query}' has no entry in label_gain (the last one is for label {last}); extend \
         label_gain, or remove it{}",
        if *label > crate::target::MAX_EXP_LABEL { " and use `gain` linear" } else { "" }
    )]
    NoLabelGain {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
        /// The last label with an entry.
        last: usize,
    },
    /// A label that is not an integer, with `label_gain`.
    #[error(
        "label {label} in query '{query}' is not an integer, which label_gain needs; round the labels, or remove label_gain"
    )]
    LabelGainOfFraction {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
    },
    /// An entry of `label_gain` that is not a probability.
    #[error(
        "label {label} in query '{query}' has the gain {gain} in label_gain, but err uses gains as probabilities, from 0 \
         to 1; divide label_gain by its largest entry, or remove it"
    )]
    LabelGainAboveOne {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
        /// Its gain.
        gain: f64,
    },
    /// A metric that the objective does not support.
    #[error("parameter 'target': objective '{objective}' cannot optimise the metric '{target}': {problem}")]
    Target {
        /// The objective.
        objective: &'static str,
        /// The metric as typed.
        target: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// In every query, all documents are relevant or none is.
    #[error(
        "no query has both relevant and irrelevant documents, so objective '{objective}' with target={target} has \
         nothing to learn; check the labels and relevant_from, the minimum label of relevant documents"
    )]
    OneClass {
        /// The objective.
        objective: &'static str,
        /// The metric as typed.
        target: String,
    },
    /// A label that XGBoost rejects.
    #[error(
        "label {label} in query '{query}' is not 0 or 1, which lambda_form=xgboost requires for the target {target}; \
         make the labels 0 and 1, or use another lambda_form and set relevant_from"
    )]
    NotBinary {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
        /// The metric as typed.
        target: String,
    },
    /// No query has documents with different labels.
    #[error(
        "no query has two documents with different labels, so objective '{objective}' has nothing to learn; check the \
         labels and the query ids, or use objective rmse if labels differ between queries"
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
    /// All pairs have weight 0.
    #[error(
        "all pairs have weight 0, so objective '{objective}' has nothing to learn; give some of them a positive weight"
    )]
    NoPairWeight {
        /// The objective.
        objective: &'static str,
    },
    /// A label that is not a probability.
    #[error(
        "label {label} in query '{query}' is not a probability (from 0 to 1), which objective 'logistic' needs; divide \
         the labels by the largest one, or use objective rmse"
    )]
    NoProbability {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
    },
    /// A label that is not an integer.
    #[error(
        "label {label} in query '{query}' is not an integer, which objective 'multiclass' needs (0, 1, 2, ...); round \
         the labels, or use objective rmse"
    )]
    NoGrade {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
    },
    /// Too many different labels.
    #[error(
        "objective 'multiclass' supports at most {most} different labels, since it grows one tree per label and round; \
         merge labels, or use objective rmse"
    )]
    ManyGrades {
        /// The limit.
        most: usize,
    },
    /// All documents have the same extreme label.
    #[error("every document has label {label}, so objective '{objective}' has nothing to learn; check the labels")]
    OneLabel {
        /// The objective.
        objective: &'static str,
        /// The label.
        label: f32,
    },
    /// All documents have weight 0.
    #[error("all documents have weight 0; give some of them a positive weight")]
    NoWeight,
}
