//! A query's documents in rank order, and the trait of what is measured on them.

use std::cmp::Ordering;

use rankwise_data::{Draw, Purpose, QueryView};

use crate::{Discounts, Rules, Ties};

/// What every metric does.
pub trait Metric: Send + Sync {
    /// The value for one query; `None` where it has no relevant document.
    fn value(&self, list: &RankedList<'_>) -> Option<f64>;

    /// Whether a perfect ranking has the value 1.
    fn is_normalised(&self) -> bool;
}

/// One query's documents from the highest score to the lowest.
#[derive(Clone, Debug)]
pub struct RankedList<'a> {
    /// Labels in rank order.
    pub labels: &'a [f32],
    /// Their gains.
    pub gains: &'a [f64],
    /// The gains in the best order.
    pub ideal_gains: &'a [f64],
    /// The ends of groups of documents whose order is to be averaged over; each document is a group of its own unless
    /// scores tie under [`Ties::Average`].
    pub group_ends: &'a [usize],
    /// The discounts of the ranks.
    pub discounts: &'a Discounts,
}

/// The room that ranking a query takes, kept from query to query.
#[derive(Default)]
pub(crate) struct RankingScratch {
    order: Vec<u32>,
    draws: Vec<f64>,
    labels: Vec<f32>,
    gains: Vec<f64>,
    ideal_gains: Vec<f64>,
    group_ends: Vec<usize>,
}

impl RankingScratch {
    /// Ranks the documents of a query.
    pub(crate) fn rank<'a>(
        &'a mut self,
        query: &QueryView<'_>,
        scores: &[f64],
        rules: &Rules,
        discounts: &'a Discounts,
    ) -> RankedList<'a> {
        let n_docs = query.n_docs();
        self.draws.clear();
        if rules.ties == Ties::Random {
            let draw = Draw::new(rules.seed, Purpose::Ties, 0);
            self.draws.extend((0..n_docs).map(|doc| query.draw(&draw, doc)));
        }
        self.order.clear();
        self.order.extend(0..n_docs as u32);
        let draws = &self.draws;
        self.order.sort_unstable_by(|a, b| {
            let (a, b) = (*a as usize, *b as usize);
            compare_scores(scores[b], scores[a])
                .then_with(|| break_tie(rules.ties, query, draws, a, b))
                .then_with(|| a.cmp(&b))
        });

        self.labels.clear();
        self.labels.extend(self.order.iter().map(|doc| query.labels[*doc as usize]));
        self.gains.clear();
        self.gains.extend(self.labels.iter().map(|label| rules.gain.of(*label)));
        self.ideal_gains.clear();
        self.ideal_gains.extend_from_slice(&self.gains);
        self.ideal_gains.sort_unstable_by(|a, b| b.total_cmp(a));
        self.group_ends.clear();
        let ends = (1..=n_docs).filter(|end| {
            let ties = |a: u32, b: u32| scores[a as usize] == scores[b as usize];
            rules.ties != Ties::Average || *end == n_docs || !ties(self.order[*end - 1], self.order[*end])
        });
        self.group_ends.extend(ends);
        RankedList {
            labels: &self.labels,
            gains: &self.gains,
            ideal_gains: &self.ideal_gains,
            group_ends: &self.group_ends,
            discounts,
        }
    }
}

/// Scores are checked to be numbers; -0 equals 0.
fn compare_scores(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

fn break_tie(ties: Ties, query: &QueryView<'_>, draws: &[f64], a: usize, b: usize) -> Ordering {
    match ties {
        // The order inside a group that is averaged does not matter.
        Ties::Worst | Ties::Average => query.labels[a].total_cmp(&query.labels[b]),
        Ties::Best => query.labels[b].total_cmp(&query.labels[a]),
        Ties::Input => query.input_rows[a].cmp(&query.input_rows[b]),
        Ties::DocId => query.doc_id(b).as_bytes().cmp(query.doc_id(a).as_bytes()),
        Ties::Random => draws[a].total_cmp(&draws[b]),
    }
}
