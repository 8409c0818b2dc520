//! The area under the ROC curve over the documents of all queries.

use rankwise_data::reduce;
use rayon::prelude::*;

use crate::QueryResult;
use crate::order::descending_bits;

/// A document among the documents of all queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PooledDoc {
    /// Ascends as the score descends; documents that were not returned come last.
    key: u64,
    label: f32,
    weight: f32,
}

impl PooledDoc {
    /// The documents of a query with its weight.
    pub(crate) fn of_query(result: &QueryResult<'_>, weight: f32) -> Vec<Self> {
        let found = result.scores.iter().map(|score| descending_bits(*score));
        let missed = result.missed.iter().map(|_| NOT_RETURNED);
        let labels = result.labels.iter().chain(result.missed);
        found.chain(missed).zip(labels).map(|(key, label)| Self { key, label: *label, weight }).collect()
    }

    /// As numbers: the halves of the key as bits, the label and the weight.
    pub(crate) fn to_numbers(self) -> [f64; 4] {
        [(self.key >> 32) as f64, f64::from(self.key as u32), self.label.into(), self.weight.into()]
    }

    pub(crate) fn from_numbers([high, low, label, weight]: &[f64; 4]) -> Self {
        Self { key: (*high as u64) << 32 | *low as u64, label: *label as f32, weight: *weight as f32 }
    }
}

/// After the keys of all scores: the bits of a NaN.
const NOT_RETURNED: u64 = u64::MAX;

/// The share of pairs of a relevant and another document, from any two queries, in which the relevant one has the
/// higher score; ties count half. A document has the weight of its query. `None` if there is no such pair.
pub(crate) fn pooled_auc(docs: impl Iterator<Item = PooledDoc>, relevant_from: f32) -> Option<f64> {
    let mut docs: Vec<PooledDoc> = docs.collect();
    // Stable: equal scores stay in canonical order, so that the order of summation is fixed.
    docs.par_sort_by_key(|doc| doc.key);
    let weight_of = |docs: &[PooledDoc], is_relevant: bool| {
        let is_counted = |doc: &&PooledDoc| (doc.label >= relevant_from) == is_relevant;
        reduce::sum(docs.iter().filter(is_counted).map(|doc| f64::from(doc.weight)))
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
