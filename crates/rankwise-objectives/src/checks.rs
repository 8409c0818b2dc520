//! What every objective asks of data.

use rankwise_data::Dataset;

use crate::ObjectiveError;

/// Some document must count.
pub(crate) fn check_weights(data: &Dataset) -> Result<(), ObjectiveError> {
    let has_weight = data
        .queries()
        .any(|query| query.weight > 0.0 && (0..query.n_docs()).any(|doc| query.weight * query.doc_weight(doc) > 0.0));
    if has_weight { Ok(()) } else { Err(ObjectiveError::NoWeight) }
}

/// Whether some query has two documents whose labels differ.
pub(crate) fn has_order(data: &Dataset, differ: impl Fn(f32, f32) -> bool) -> bool {
    data.queries().any(|query| query.labels.iter().any(|label| differ(*label, query.labels[0])))
}
