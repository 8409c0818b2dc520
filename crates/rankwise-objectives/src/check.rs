//! What every objective asks of the data.

use rankwise_data::{Dataset, QueryView};

use crate::ObjectiveError;

/// Some document counts.
pub(crate) fn has_weight(data: &Dataset) -> Result<(), ObjectiveError> {
    let counts = |query: &QueryView<'_>| (0..query.n_docs()).any(|doc| query.weight * query.doc_weight(doc) > 0.0);
    if data.queries().any(|query| counts(&query)) { Ok(()) } else { Err(ObjectiveError::NoWeight) }
}

/// Some document counts, and some query has documents to put in order.
pub(crate) fn has_contrast(data: &Dataset, objective: &'static str) -> Result<(), ObjectiveError> {
    if !data.queries().any(|query| query.labels.iter().any(|label| *label != query.labels[0])) {
        return Err(ObjectiveError::NoPairs { objective });
    }
    has_weight(data)
}
