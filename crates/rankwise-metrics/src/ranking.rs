//! A query's documents in rank order, and the trait of metrics.

use std::cmp::Reverse;
use std::ops::Range;

use rankwise_data::{Draw, Pair, Purpose};

use crate::gain::Gains;
use crate::order::OrderScratch;
use crate::{Discounts, QueryResult, Rules, Ties};

/// The interface of all metrics.
pub trait Metric: Send + Sync {
    /// The value for one query; `None` if all rankings are equally good, usually because no document is relevant.
    fn value(&self, list: &RankedList<'_>) -> Option<f64>;

    /// Whether a perfect ranking has the value 1.
    fn is_normalised(&self) -> bool;

    /// Whether larger values are better.
    fn is_larger_better(&self) -> bool {
        true
    }

    /// What it needs.
    fn needs(&self) -> Needs;
}

/// What metrics need, so that nothing else is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Number of ranks.
    pub depth: usize,
    /// Number of largest gains; at least one, to see whether there is any.
    pub ideal_depth: usize,
    /// Whether it needs to know which scores are equal.
    pub ties: bool,
}

impl Needs {
    /// Only the first ranks.
    pub fn ranks(depth: usize) -> Self {
        Self { depth, ..Self::default() }
    }

    /// Everything about the order of the documents.
    pub fn whole() -> Self {
        Self { depth: usize::MAX, ideal_depth: 0, ties: true }
    }

    /// What either of two metrics needs.
    pub fn and(self, other: Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            ideal_depth: self.ideal_depth.max(other.ideal_depth),
            ties: self.ties || other.ties,
        }
    }
}

/// One query's documents from the highest score to the lowest.
#[derive(Clone, Debug)]
pub struct RankedList<'a> {
    /// Labels in rank order, as deep as requested.
    pub labels: &'a [f32],
    /// Their gains.
    pub gains: &'a [f64],
    /// The documents in rank order.
    pub order: &'a [u32],
    /// The largest gains, of returned documents or not, in descending order.
    pub ideal_gains: &'a [f64],
    /// The number of relevant documents, returned or not.
    pub n_relevant: usize,
    /// The smallest relevant label.
    pub relevant_from: f32,
    /// The discounts of the ranks.
    pub discounts: &'a Discounts,
    /// The ranked query.
    pub query: &'a QueryResult<'a>,
    /// Whether to average over the orders of equal scores.
    pub is_averaged: bool,
    /// The ends of groups of equal scores, if requested.
    tie_ends: &'a [usize],
}

impl RankedList<'_> {
    /// Whether a label is relevant.
    pub fn is_relevant(&self, label: f32) -> bool {
        label >= self.relevant_from
    }

    /// Groups of ranks to average over. A rank is alone unless scores tie under [`Ties::Average`].
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let n_groups = if self.is_averaged { self.tie_ends.len() } else { self.labels.len() };
        (0..n_groups).map(|group| if self.is_averaged { self.tied(group) } else { group..group + 1 })
    }

    /// Groups of ranks with equal scores, whatever the tie rule.
    pub fn tied_groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.tie_ends.len()).map(|group| self.tied(group))
    }

    fn tied(&self, group: usize) -> Range<usize> {
        let start = if group == 0 { 0 } else { self.tie_ends[group - 1] };
        start..self.tie_ends[group]
    }

    /// The sum over the first ranks of a document's worth times the weight of its rank. If ties are averaged, every
    /// document of a group has the group's mean worth, which gives the mean over all orders.
    pub fn weighted_sum(&self, cutoff: usize, worth: impl Fn(usize) -> f64, weight: impl Fn(usize) -> f64) -> f64 {
        let n_counted = cutoff.min(self.labels.len());
        if !self.is_averaged {
            return (0..n_counted).fold(0.0, |total, rank| total + worth(rank) * weight(rank));
        }
        let mut total = 0.0;
        for group in self.groups().take_while(|group| group.start < n_counted) {
            let mean = group.clone().map(&worth).sum::<f64>() / group.len() as f64;
            let weights: f64 = (group.start..group.end.min(n_counted)).map(&weight).sum();
            total += mean * weights;
        }
        total
    }

    /// The number of relevant documents at the top; its expectation if ties are averaged.
    pub fn n_hits(&self, cutoff: usize) -> f64 {
        self.weighted_sum(cutoff, |rank| f64::from(u8::from(self.is_relevant(self.labels[rank]))), |_| 1.0)
    }

    /// The pairs of the data.
    pub fn pairs(&self) -> &[Pair] {
        self.query.pairs
    }
}

/// How to rank, for all queries.
pub(crate) struct Ranking {
    ties: Ties,
    seed: u64,
    relevant_from: f32,
    needs: Needs,
    gains: Gains,
    discounts: Discounts,
}

/// Buffers for ranking, kept from query to query.
#[derive(Default)]
pub(crate) struct RankingScratch {
    ordering: OrderScratch,
    order: Vec<u32>,
    labels: Vec<f32>,
    gains: Vec<f64>,
    ideal_gains: Vec<f64>,
    tie_ends: Vec<usize>,
}

impl Ranking {
    pub(crate) fn new(rules: &Rules, needs: Needs, longest: usize) -> Self {
        let needs_ties = needs.ties || rules.ties == Ties::Average;
        // A group of ties may extend beyond the cutoff and counts as a whole.
        let depth = if needs_ties { usize::MAX } else { needs.depth };
        Self {
            ties: rules.ties,
            seed: rules.seed,
            relevant_from: rules.relevant_from,
            needs: Needs { depth, ties: needs_ties, ..needs },
            gains: Gains::new(&rules.gain),
            discounts: Discounts::of(rules.discount, longest),
        }
    }

    /// Ranks the documents of a query.
    pub(crate) fn rank<'a>(&'a self, query: &'a QueryResult<'a>, scratch: &'a mut RankingScratch) -> RankedList<'a> {
        let RankingScratch { ordering, order, labels, gains, ideal_gains, tie_ends } = scratch;
        self.sort(query, ordering, order);
        labels.clear();
        labels.extend(order.iter().map(|doc| query.labels[*doc as usize]));
        gains.clear();
        gains.extend(labels.iter().map(|label| self.gains.of(*label)));
        if self.needs.ideal_depth > 0 {
            self.gains.largest([query.labels, query.missed], self.needs.ideal_depth, ideal_gains);
        }
        tie_ends.clear();
        if self.needs.ties {
            let score = |rank: usize| query.scores[order[rank] as usize];
            let n_docs = order.len();
            tie_ends.extend((1..=n_docs).filter(|end| *end == n_docs || score(*end - 1) != score(*end)));
        }
        let is_relevant = |label: &&f32| **label >= self.relevant_from;
        RankedList {
            labels,
            gains,
            order,
            ideal_gains,
            n_relevant: query.labels.iter().filter(is_relevant).count()
                + query.missed.iter().filter(is_relevant).count(),
            relevant_from: self.relevant_from,
            discounts: &self.discounts,
            query,
            is_averaged: self.ties == Ties::Average,
            tie_ends,
        }
    }

    /// The documents in rank order, as far as needed.
    fn sort(&self, query: &QueryResult<'_>, scratch: &mut OrderScratch, order: &mut Vec<u32>) {
        let depth = self.needs.depth;
        // Labels are not negative, so their bits ascend; -0 becomes 0.
        let label = |doc: usize| (query.labels[doc] + 0.0).to_bits();
        match self.ties {
            // The order inside an averaged group does not matter.
            Ties::Worst | Ties::Average => scratch.order(query.scores, depth, label, order),
            Ties::Best => scratch.order(query.scores, depth, |doc| !label(doc), order),
            Ties::Input => scratch.order(query.scores, depth, |doc| query.places[doc], order),
            Ties::DocId => scratch.order(query.scores, depth, |doc| Reverse(query.doc_id(doc)), order),
            Ties::Random => {
                let draw = Draw::new(self.seed, Purpose::Ties, 0);
                // Random numbers are not negative, so their bits ascend.
                scratch.order(query.scores, depth, |doc| query.draw(&draw, doc).to_bits(), order);
            }
        }
    }
}
