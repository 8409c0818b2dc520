//! Finds the exact maximum of a metric along a line of scores.
//!
//! The scores are a + t b for t >= 0. As t grows, documents pass each other one by one, and nothing changes in between.
//! The rank of a relevant document is the number of documents above it, so each crossing pair moves it by one, whatever
//! else crosses at the same point. Pairs of two documents that are both worth nothing can be ignored.
//!
//! ```text
//! query 1   |------+----------+-----|      + a relevant document passes another, or is passed
//! query 2   |---+------+------------|
//! mean      |---+--+---+------+-----|      the best interval of all
//! ```

use rankwise_data::{Share, reduce};
use rayon::prelude::*;

use crate::{AdditiveMetric, Context};

/// The best step along a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestStep {
    /// The t of a + t b, inside the interval, away from its ends.
    pub step: f64,
    /// The mean of the metric there.
    pub value: f64,
    /// The mean just after t = 0.
    pub start_value: f64,
}

/// A change of the mean: its place and amount.
type Change = (f64, f64);

/// The largest mean over queries of the metric of a + t b, for 0 < t <= `limit`. Within the best interval, the step is
/// `wish`, or the middle if `wish` is not inside. Among equally good intervals, the nearest to `wish` is used. `None`
/// if all weights are 0. Queries are those of all members.
pub fn best_step(
    share: &Share<'_>,
    metric: &AdditiveMetric,
    (start, direction): (&[f64], &[f64]),
    limit: f64,
    wish: f64,
) -> Option<BestStep> {
    let data = share.data;
    let weights = share.sum_by_query((0..data.n_queries()).map(|query| f64::from(data.query_weight(query))).collect());
    if weights <= 0.0 {
        return None;
    }
    let mut swept: Vec<(f64, Vec<Change>)> = (0..data.n_queries())
        .into_par_iter()
        .map_init(Scratch::default, |scratch, query| {
            let rows = data.query_rows(query);
            let labels = &data.labels()[rows.clone()];
            let list = Lines { labels, start: &start[rows.clone()], direction: &direction[rows] };
            let share = f64::from(data.query_weight(query)) / weights;
            list.sweep(metric, limit, share, scratch)
        })
        .collect();
    if !share.is_alone() {
        let numbers = |(value, changes): &(f64, Vec<Change>)| {
            std::iter::once(*value).chain(changes.iter().flat_map(|(at, by)| [*at, *by])).collect()
        };
        let all = share.gather_lists(swept.iter().map(numbers).collect());
        swept = all
            .iter()
            .map(|list| (list[0], list[1..].as_chunks().0.iter().map(|[at, by]| (*at, *by)).collect()))
            .collect();
    }
    let start_value = reduce::sum(swept.iter().map(|(value, _)| *value));
    let mut changes: Vec<Change> = swept.into_iter().flat_map(|(_, changes)| changes).collect();
    // Stable: changes at the same place stay in query order.
    changes.par_sort_by(|a, b| a.0.total_cmp(&b.0));

    let mut best: Option<(f64, f64)> = None;
    let (mut value, mut from) = (start_value, 0.0);
    let mut at = 0;
    loop {
        let to = changes.get(at).map_or(limit, |change| change.0);
        if let Some(step) = inside((from, to), wish) {
            let is_better = best.is_none_or(|(best_step, best_value)| {
                // Sums of the same changes in another order differ in the last digits.
                let gap = value - best_value;
                gap > 1e-12 || (gap >= -1e-12 && (step - wish).abs() < (best_step - wish).abs())
            });
            if is_better {
                best = Some((step, value));
            }
        }
        if at == changes.len() {
            break;
        }
        from = to;
        while at < changes.len() && changes[at].0 == from {
            value += changes[at].1;
            at += 1;
        }
    }
    best.map(|(step, value)| BestStep { step, value, start_value })
}

/// A number strictly inside an interval: `wish` if possible, otherwise the middle.
fn inside((from, to): (f64, f64), wish: f64) -> Option<f64> {
    let middle = from + 0.5 * (to - from);
    let step = if from < wish && wish < to { wish } else { middle };
    (from < step && step < to).then_some(step)
}

#[derive(Default)]
struct Scratch {
    order: Vec<u32>,
    worth: Vec<f64>,
    /// By document.
    rank: Vec<usize>,
    /// The crossings of two documents: the place, the rising one and the falling one.
    crossings: Vec<(f64, u32, u32)>,
    relevant: Vec<u32>,
}

/// A query, with a line for each document.
struct Lines<'a> {
    labels: &'a [f32],
    start: &'a [f64],
    direction: &'a [f64],
}

impl Lines<'_> {
    /// The metric just after 0, and its changes up to the limit, both multiplied by `share`.
    fn sweep(&self, metric: &AdditiveMetric, limit: f64, share: f64, scratch: &mut Scratch) -> (f64, Vec<Change>) {
        let Scratch { order, worth, rank, crossings, relevant } = scratch;
        let n_docs = self.labels.len();
        worth.clear();
        metric.push_worth(self.labels, worth);
        relevant.clear();
        relevant.extend((0..n_docs as u32).filter(|doc| worth[*doc as usize] > 0.0));
        if relevant.is_empty() {
            return (0.0, Vec::new());
        }
        order.clear();
        order.extend(0..n_docs as u32);
        // If equal at the start, the steeper line is ahead afterwards; if always equal, the worst order counts.
        let key = |doc: u32| (self.start[doc as usize], self.direction[doc as usize], self.labels[doc as usize]);
        order.sort_by(|a, b| {
            let (a, b) = (key(*a), key(*b));
            b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.total_cmp(&b.2))
        });
        rank.resize(n_docs, 0);
        order.iter().enumerate().for_each(|(place, doc)| rank[*doc as usize] = place);
        self.find_crossings(relevant, worth, limit, crossings);
        crossings.sort_by(|a, b| a.0.total_cmp(&b.0));

        let mut total = total_value(metric, relevant, worth, rank);
        let start = total * share;
        let mut changes = Vec::new();
        for place in crossings.chunk_by(|a, b| a.0 == b.0) {
            for (_, rising, falling) in place {
                // Ranks of documents that are worth nothing may be wrong; they are never used.
                rank[*rising as usize] = rank[*rising as usize].wrapping_sub(1);
                rank[*falling as usize] = rank[*falling as usize].wrapping_add(1);
            }
            let next = total_value(metric, relevant, worth, rank);
            if next != total {
                changes.push((place[0].0, (next - total) * share));
                total = next;
            }
        }
        (start, changes)
    }

    /// All crossings of a relevant document with another, after 0 and before the limit.
    fn find_crossings(&self, relevant: &[u32], worth: &[f64], limit: f64, out: &mut Vec<(f64, u32, u32)>) {
        out.clear();
        for one in relevant {
            for other in 0..self.labels.len() as u32 {
                let is_counted_already = worth[other as usize] > 0.0 && other <= *one;
                if is_counted_already {
                    continue;
                }
                let gap = self.start[*one as usize] - self.start[other as usize];
                let closing = self.direction[other as usize] - self.direction[*one as usize];
                let at = gap / closing;
                if gap != 0.0 && at > 0.0 && at < limit {
                    let (rising, falling) = if gap > 0.0 { (other, *one) } else { (*one, other) };
                    out.push((at, rising, falling));
                }
            }
        }
    }
}

/// The metric of relevant documents at ranks among all. If the context counts, they are sorted first.
fn total_value(metric: &AdditiveMetric, relevant: &mut [u32], worth: &[f64], rank: &[usize]) -> f64 {
    let weights = metric.rank_weights();
    if metric.context() != Context::Free {
        relevant.sort_unstable_by_key(|doc| rank[*doc as usize]);
    }
    let (mut total, mut context) = (0.0, 1.0);
    for doc in relevant.iter().map(|doc| *doc as usize) {
        total += weights[rank[doc]] * worth[doc] * context;
        context = metric.context().after(context, worth[doc]);
    }
    total
}
