//! Discounted cumulative gain (Järvelin and Kekäläinen 2002), NDCG and DCG-RR.

use crate::{Discounts, Metric, Needs, RankedList};

/// DCG of gains in ideal order.
pub fn ideal_dcg(sorted_gains: &[f64], cutoff: usize, discounts: &Discounts) -> f64 {
    sorted_gains.iter().take(cutoff).zip(discounts.as_slice()).map(|(gain, discount)| gain * discount).sum()
}

/// The sum of gains, each times the discount of its rank.
#[derive(Clone, Copy, Debug)]
pub struct Dcg {
    /// The number of ranks that count.
    pub cutoff: usize,
}

impl Dcg {
    fn sum(self, list: &RankedList<'_>) -> f64 {
        let (gains, discounts) = (list.gains, list.discounts.as_slice());
        list.weighted_sum(self.cutoff, |rank| gains[rank], |rank| discounts[rank])
    }
}

impl Metric for Dcg {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        has_gain(list).then(|| self.sum(list))
    }

    fn is_normalised(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs { ideal_depth: 1, ..Needs::ranks(self.cutoff) }
    }
}

/// DCG divided by the DCG of the ideal order.
#[derive(Clone, Copy, Debug)]
pub struct Ndcg {
    /// The number of ranks that count.
    pub cutoff: usize,
}

impl Metric for Ndcg {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let best = ideal_dcg(list.ideal_gains, self.cutoff, list.discounts);
        (best > 0.0).then(|| Dcg { cutoff: self.cutoff }.sum(list) / best)
    }

    fn is_normalised(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs { ideal_depth: self.cutoff, ..Needs::ranks(self.cutoff) }
    }
}

/// Selection with order (Vorobev et al. 2019): the order of documents is given, and a score above 0 selects a document.
/// The sum of the gains of selected documents, each divided by its rank among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DcgRr;

impl Metric for DcgRr {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        let query = list.query;
        let place = |doc: usize| (query.positions.map_or(0, |positions| positions[doc]), query.places[doc]);
        let mut selected: Vec<usize> =
            (0..list.order.len()).filter(|rank| query.scores[list.order[*rank] as usize] > 0.0).collect();
        selected.sort_unstable_by_key(|rank| place(list.order[*rank] as usize));
        let sum = || selected.iter().enumerate().map(|(at, rank)| list.gains[*rank] / (at + 1) as f64).sum();
        has_gain(list).then(sum)
    }

    fn is_normalised(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs { ideal_depth: 1, ..Needs::ranks(usize::MAX) }
    }
}

fn has_gain(list: &RankedList<'_>) -> bool {
    list.ideal_gains.first().is_some_and(|best| *best > 0.0)
}
