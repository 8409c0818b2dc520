//! The area under the ROC curve over all documents of all queries together.

use rankwise_data::reduce;
use rayon::prelude::*;

use crate::Results;
use crate::order::descending_bits;

/// A document among all documents.
struct Doc {
    /// Ascends as the score descends; what was not returned comes last.
    key: u64,
    is_relevant: bool,
    weight: f32,
}

/// Behind the key of every score: the bits of a NaN.
const NOT_RETURNED: u64 = u64::MAX;

/// The share of pairs of a relevant and another document, from any two queries, in which the relevant one scores higher;
/// equal scores count half. A document has the weight of its query. `None` where there is no such pair.
pub(crate) fn pooled_auc(results: &Results<'_>, queries: &[usize], relevant_from: f32) -> Option<f64> {
    let mut docs: Vec<Doc> = Vec::new();
    for query in queries {
        let weight = results.query_weight(*query);
        let result = results.query(*query);
        let found = result.scores.iter().map(|score| descending_bits(*score));
        let missed = result.missed.iter().map(|_| NOT_RETURNED);
        let labels = result.labels.iter().chain(result.missed);
        docs.extend(found.chain(missed).zip(labels).map(|(key, label)| Doc {
            key,
            is_relevant: *label >= relevant_from,
            weight,
        }));
    }
    // Stable: equal scores stay in canonical order, so the sums have one order.
    docs.par_sort_by_key(|doc| doc.key);
    let weight_of = |docs: &[Doc], is_relevant: bool| {
        reduce::sum(docs.iter().filter(|doc| doc.is_relevant == is_relevant).map(|doc| f64::from(doc.weight)))
    };
    let (all_relevant, all_others) = (weight_of(&docs, true), weight_of(&docs, false));
    let mut above = 0.0;
    let right = docs.chunk_by(|a, b| a.key == b.key).map(|tied| {
        let (relevant, others) = (weight_of(tied, true), weight_of(tied, false));
        let pairs = others * (above + 0.5 * relevant);
        above += relevant;
        pairs
    });
    let right = reduce::sum(right);
    let n_pairs = all_relevant * all_others;
    (n_pairs > 0.0).then(|| right / n_pairs)
}
