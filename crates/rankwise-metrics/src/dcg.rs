//! Discounted cumulative gain (Järvelin and Kekäläinen 2002) and its normalised form.

use crate::{Metric, RankedList};

/// 1 / log2(2 + rank), ranks from 0.
#[derive(Clone, Debug)]
pub struct Discounts(Vec<f64>);

impl Discounts {
    /// The discounts of the first `n` ranks.
    pub fn up_to(n: usize) -> Self {
        Self((0..n).map(|rank| 1.0 / libm::log2(2.0 + rank as f64)).collect())
    }

    /// All of them.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }
}

/// DCG of gains that are in the best order already.
pub fn ideal_dcg(sorted_gains: &[f64], cutoff: usize, discounts: &Discounts) -> f64 {
    sorted_gains.iter().take(cutoff).zip(discounts.as_slice()).map(|(gain, discount)| gain * discount).sum()
}

/// The sum of gains, each times the discount of its rank.
#[derive(Clone, Copy, Debug)]
pub struct Dcg {
    /// How many ranks count.
    pub cutoff: usize,
}

impl Dcg {
    /// The DCG of a list; where scores tie and the rule is to average, every document of the group has the group's mean
    /// gain, which is the mean over all orders.
    fn sum(self, list: &RankedList<'_>) -> f64 {
        let n_counted = self.cutoff.min(list.gains.len());
        let mut total = 0.0;
        let mut start = 0;
        for end in list.group_ends {
            if start >= n_counted {
                break;
            }
            let mean_gain = match end - start {
                1 => list.gains[start],
                n_tied => list.gains[start..*end].iter().sum::<f64>() / n_tied as f64,
            };
            let discount: f64 = list.discounts.as_slice()[start..n_counted.min(*end)].iter().sum();
            total += mean_gain * discount;
            start = *end;
        }
        total
    }
}

impl Metric for Dcg {
    fn value(&self, list: &RankedList<'_>) -> Option<f64> {
        list.ideal_gains.first().is_some_and(|best| *best > 0.0).then(|| self.sum(list))
    }

    fn is_normalised(&self) -> bool {
        false
    }
}

/// DCG over that of the best order.
#[derive(Clone, Copy, Debug)]
pub struct Ndcg {
    /// How many ranks count.
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
}
