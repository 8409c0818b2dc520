//! What objectives ask of data, and what they start from.

use rankwise_data::{Dataset, QueryView, reduce};

use crate::ObjectiveError;

/// The weight that the derivatives of a document are multiplied by.
fn weight(query: &QueryView<'_>, doc: usize) -> f64 {
    f64::from(query.weight) * f64::from(query.doc_weight(doc))
}

/// At least one document has a weight.
pub(crate) fn has_weight(data: &Dataset) -> Result<(), ObjectiveError> {
    let has_weight = |query: &QueryView<'_>| (0..query.n_docs()).any(|doc| weight(query, doc) > 0.0);
    if data.queries().any(|query| has_weight(&query)) { Ok(()) } else { Err(ObjectiveError::NoWeight) }
}

/// At least one query has documents with different labels.
pub(crate) fn has_pairs(data: &Dataset, objective: &'static str) -> Result<(), ObjectiveError> {
    if has_order(data, |a, b| a != b) { Ok(()) } else { Err(ObjectiveError::NoPairs { objective }) }
}

/// Whether some query has two documents whose labels differ in the eyes of a metric.
pub(crate) fn has_order(data: &Dataset, differ: impl Fn(f32, f32) -> bool) -> bool {
    data.queries().any(|query| query.labels.iter().any(|label| differ(*label, query.labels[0])))
}

/// The mean of a value of each document, by weight. Summed inside each query first, then over queries in canonical order.
pub(crate) fn mean(data: &Dataset, value: impl Fn(f32) -> f64) -> Result<f64, ObjectiveError> {
    let (sums, weights): (Vec<f64>, Vec<f64>) = data
        .queries()
        .map(|query| {
            let sum = reduce::sum((0..query.n_docs()).map(|doc| value(query.labels[doc]) * weight(&query, doc)));
            (sum, reduce::sum((0..query.n_docs()).map(|doc| weight(&query, doc))))
        })
        .unzip();
    let total = reduce::sum(weights);
    if total > 0.0 { Ok(reduce::sum(sums) / total) } else { Err(ObjectiveError::NoWeight) }
}

/// The mean label, by weight.
pub(crate) fn mean_label(data: &Dataset) -> Result<f64, ObjectiveError> {
    mean(data, f64::from)
}
