//! Metrics of the positions of relevant documents: bpref, label-ranking average precision, average relevance position.

use crate::{Metric, Needs, RankedList};

/// bpref (Buckley and Voorhees 2004): how few documents judged not relevant rank above the relevant ones. Documents
/// that were not judged do not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bpref;

impl Metric for Bpref {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let is_judged = |rank: usize| list.query.judged.is_none_or(|judged| judged[list.order[rank] as usize]);
        let n_judged = (0..list.labels.len()).filter(|rank| is_judged(*rank)).count() + list.query.missed.len();
        let n_relevant = list.n_relevant;
        let limit = n_relevant.min(n_judged - n_relevant);
        // The value of a relevant document with this many documents judged not relevant above it.
        let worth = |n_above: usize| {
            if n_above == 0 { 1.0 } else { 1.0 - n_above.min(n_relevant) as f64 / limit as f64 }
        };
        let (mut total, mut n_above) = (0.0, 0);
        for group in list.groups() {
            let n_judged = group.clone().filter(|rank| is_judged(*rank)).count();
            let n_hits = list.labels[group.clone()].iter().filter(|label| list.is_relevant(**label)).count();
            let n_others = n_judged - n_hits;
            // In a group of ties to average over, all numbers of non-relevant documents above a relevant one are
            // equally likely.
            if n_hits > 0 {
                let mean = (0..=n_others).map(|above| worth(n_above + above)).sum::<f64>() / (n_others + 1) as f64;
                total += n_hits as f64 * mean;
            }
            n_above += n_others;
        }
        (n_relevant > 0).then(|| total / n_relevant as f64)
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::ranks(usize::MAX)
    }
}

/// Label-ranking average precision: for each relevant document, the share of relevant ones among those with at least
/// its score. Ties count together, whatever the tie rule; documents that were not returned come last, together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lrap;

impl Metric for Lrap {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let count = |labels: &[f32]| labels.iter().filter(|label| list.is_relevant(**label)).count();
        let (mut total, mut n_docs, mut n_hits) = (0.0, 0, 0);
        let missed = Some(list.query.missed).filter(|missed| !missed.is_empty());
        for labels in list.tied_groups().map(|group| &list.labels[group]).chain(missed) {
            let n_new = count(labels);
            (n_docs, n_hits) = (n_docs + labels.len(), n_hits + n_new);
            total += n_new as f64 * n_hits as f64 / n_docs as f64;
        }
        (list.n_relevant > 0).then(|| total / list.n_relevant as f64)
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs::whole()
    }
}

/// The mean rank of the documents, from 1, weighted by label. Documents that were not returned share the ranks after
/// the last. Smaller is better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AverageRelevancePosition;

impl Metric for AverageRelevancePosition {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let n_docs = list.labels.len();
        let weight = |rank: usize| (rank + 1) as f64;
        let ranks = list.weighted_sum(usize::MAX, |rank| list.labels[rank].into(), weight);
        let sum = |labels: &[f32]| labels.iter().map(|label| f64::from(*label)).sum::<f64>();
        let (found, missed) = (sum(list.labels), sum(list.query.missed));
        let behind = n_docs as f64 + (list.query.missed.len() + 1) as f64 / 2.0;
        let total = found + missed;
        (total > 0.0).then(|| (ranks + missed * behind) / total)
    }

    fn is_normalised(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs::ranks(usize::MAX)
    }
}
