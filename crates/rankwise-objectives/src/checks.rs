//! What objectives require of the data of all members, and their base scores.

use rankwise_data::{QueryView, Share, reduce};

use crate::ObjectiveError;

/// The factor for the gradient and Hessian of a document.
fn weight(query: &QueryView<'_>, doc: usize) -> f64 {
    f64::from(query.weight) * f64::from(query.doc_weight(doc))
}

/// Checks that at least one document has a positive weight.
pub(crate) fn has_weight(share: &Share<'_>) -> Result<(), ObjectiveError> {
    let has_weight = |query: &QueryView<'_>| (0..query.n_docs()).any(|doc| weight(query, doc) > 0.0);
    if share.any(share.data.queries().any(|query| has_weight(&query))) { Ok(()) } else { Err(ObjectiveError::NoWeight) }
}

/// Checks that at least one query has documents with different labels.
pub(crate) fn has_pairs(share: &Share<'_>, objective: &'static str) -> Result<(), ObjectiveError> {
    if has_order(share, |a, b| a != b) { Ok(()) } else { Err(ObjectiveError::NoPairs { objective }) }
}

/// Whether some query has two documents whose labels differ for a metric.
pub(crate) fn has_order(share: &Share<'_>, differ: impl Fn(f32, f32) -> bool) -> bool {
    share.any(share.data.queries().any(|query| query.labels.iter().any(|label| differ(*label, query.labels[0]))))
}

/// The weighted mean of a value per document, summed within each query, then over queries in canonical order.
pub(crate) fn mean(share: &Share<'_>, value: impl Fn(f32) -> f64) -> Result<f64, ObjectiveError> {
    let (sums, weights): (Vec<f64>, Vec<f64>) = share
        .data
        .queries()
        .map(|query| {
            let sum = reduce::sum((0..query.n_docs()).map(|doc| value(query.labels[doc]) * weight(&query, doc)));
            (sum, reduce::sum((0..query.n_docs()).map(|doc| weight(&query, doc))))
        })
        .unzip();
    let (sum, total) = (share.sum_by_query(sums), share.sum_by_query(weights));
    if total > 0.0 { Ok(sum / total) } else { Err(ObjectiveError::NoWeight) }
}

/// The weighted mean of the labels.
pub(crate) fn mean_label(share: &Share<'_>) -> Result<f64, ObjectiveError> {
    mean(share, f64::from)
}
