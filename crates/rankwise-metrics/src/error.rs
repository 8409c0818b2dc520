//! Why a metric cannot be computed.

use rankwise_data::DataError;
use rankwise_params::ParamValue;

use crate::MetricName;

/// A metric cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MetricError {
    /// Another member of the run failed, or cannot be reached.
    #[error(transparent)]
    Data(#[from] DataError),
    /// No metric has this name.
    #[error("unknown metric '{typed}'; {}", known(typed, nearest.as_deref()))]
    Unknown {
        /// The name as typed.
        typed: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A cutoff that is not a positive integer.
    #[error("metric '{typed}': {}", invalid_cutoff(typed, name))]
    InvalidCutoff {
        /// The metric as typed.
        typed: String,
        /// The metric without the cutoff.
        name: String,
    },
    /// A label without a gain.
    #[error("label {label} in query '{query}' {problem}")]
    Label {
        /// The label.
        label: f32,
        /// Its query.
        query: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A cutoff for a metric that always uses all documents.
    #[error("metric '{metric}' takes no cutoff; remove @k")]
    Cutoff {
        /// The metric as typed.
        metric: String,
    },
    /// With `empty=error`: no document is relevant.
    #[error("query '{query}' has no relevant document; set `empty` to zero, one or skip, or remove the query")]
    NoRelevant {
        /// The query.
        query: String,
    },
    /// With `ties=docid`: the documents have no ids.
    #[error(
        "equal scores are ordered by document id (`ties` docid, or `convention` trec_eval), but the data has no ids; add ids \
            (after # in LETOR), or set `ties` to another rule, such as worst"
    )]
    NoDocIds,
    /// The number of scores differs from the number of documents.
    #[error("there are {scores} scores for {rows} documents; give one per document")]
    Length {
        /// Number of scores.
        scores: usize,
        /// Number of documents.
        rows: usize,
    },
    /// A score that is NaN.
    #[error("the score of row {row} in query '{query}' is not a number; give a finite one")]
    Score {
        /// The input row, from 1.
        row: usize,
        /// Its query.
        query: String,
    },
}

/// What is wrong with a cutoff.
fn invalid_cutoff(typed: &str, name: &str) -> String {
    if is_several(typed) {
        return SEPARATE.into();
    }
    format!("invalid cutoff; use an integer of at least 1, such as {name}@10, or {name} for whole lists")
}

/// The remedy for several metrics that are not separated by commas.
const SEPARATE: &str = "separate metrics by commas, such as ndcg@10,map";

fn is_several(typed: &str) -> bool {
    typed.trim().contains(|letter: char| letter.is_whitespace() || letter == ';')
}

/// Suggests a name for an unknown one.
fn known(typed: &str, nearest: Option<&str>) -> String {
    if is_several(typed) {
        return SEPARATE.into();
    }
    nearest.map_or_else(
        || format!("give {}", <MetricName as ParamValue>::kind()),
        |name| format!("did you mean '{name}'?"),
    )
}
