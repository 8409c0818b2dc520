//! One sample of noisy scores, and its estimate of the derivative of a metric.

use rankwise_data::SimdLevel;
use rankwise_metrics::{AdditiveMetric, Context};

use super::{INV_SQRT_TAU, ScaleFreeMetric};
use crate::QueryDocs;
use crate::kernel::jumps::{Mover, NoisyQuery, sum_jumps};
use crate::kernel::pairs::LANES;

/// One sample of a query.
pub(super) struct NoisyList<'a> {
    /// The documents, sorted by noisy score.
    pub(super) keys: &'a [u128],
    /// The score of each document, without noise.
    pub(super) means: &'a [f64],
    /// The score of each document, with noise.
    pub(super) noisy: &'a [f64],
    pub(super) sigma: f64,
}

/// Buffers for scores and for columns of the kernel.
pub(super) struct JumpRooms<'a> {
    pub(super) simd: SimdLevel,
    pub(super) scores: &'a mut Vec<f64>,
    pub(super) columns: &'a mut [Vec<f32>; 9],
}

impl NoisyList<'_> {
    /// REINFORCE: adds the change of the metric along the noise, times a factor.
    pub(super) fn add_change(&self, change: f64, ascent: &mut [f64], share: f64) {
        let change = change / self.sigma * share;
        // The noise as rounded by the addition.
        let drawn = self.noisy.iter().zip(self.means).map(|(noisy, mean)| (noisy - mean) / self.sigma);
        ascent.iter_mut().zip(drawn).for_each(|(ascent, noise)| *ascent += change * noise);
    }

    /// Adds the derivative of a custom metric, times a factor.
    pub(super) fn add_own_jumps(
        &self,
        metric: &dyn ScaleFreeMetric,
        docs: &QueryDocs<'_>,
        ascent: &mut [f64],
        share: f64,
    ) {
        let order = order_of(self.keys);
        let scale = INV_SQRT_TAU / self.sigma * share;
        let mut jumps = Vec::with_capacity(order.len());
        for (rank, doc) in order.iter().map(|doc| *doc as usize).enumerate() {
            metric.jumps(docs.query, docs.labels, &order, rank, &mut jumps);
            let others = order.iter().filter(|other| **other as usize != doc);
            let passing = |(other, jump): (&u32, &f64)| {
                let distance = (self.noisy[*other as usize] - self.means[doc]) / self.sigma;
                jump * libm::exp(-0.5 * distance * distance)
            };
            ascent[doc] += scale * others.zip(&jumps).map(passing).fold(0.0, |sum, term| sum + term);
        }
    }

    /// Adds the derivative of the metric with respect to each document's score, times a factor.
    ///
    /// For the document at rank p, the others keep their ranks before p and move up by one after it, in a context
    /// without the document. See [`AdditiveMetric`] for the change across one of them.
    pub(super) fn add_jumps(
        &self,
        metric: &AdditiveMetric,
        worths: &[f64],
        rooms: JumpRooms<'_>,
        ascent: &mut [f64],
        share: f64,
    ) {
        let JumpRooms { simd, scores, columns } = rooms;
        let n_docs = self.keys.len();
        // Nothing changes below the cutoff, but the document there can still move up.
        let n_counted = n_docs.min(metric.depth() + 1);
        let n_padded = n_counted.next_multiple_of(LANES);
        let ranked = |rank: usize| doc_of(self.keys[rank]);
        let [worth, before, after, other, ..] = columns;
        for column in [&mut *worth, before, after, other] {
            column.clear();
            column.resize(n_padded, 0.0);
        }
        let step = |rank: usize| metric.rank_weights()[rank] - metric.rank_weights()[rank + 1];
        // The context of a rank, and what it would be without the first document that stops every reader.
        let (mut context, mut without_stop) = (1.0, 1.0);
        let mut stop = None;
        for rank in 0..n_counted {
            let one = worths[ranked(rank)];
            worth[rank] = one as f32;
            before[rank] = (step(rank) * context) as f32;
            if rank > 0 {
                after[rank] = (step(rank - 1) * context) as f32;
                other[rank] = match metric.context() {
                    Context::Free => 0.0,
                    Context::Pass => (step(rank - 1) * without_stop) as f32,
                    Context::Hits => step(rank - 1) as f32,
                };
            }
            context = metric.context().after(context, one);
            if metric.context() == Context::Pass && one == 1.0 && stop.is_none() {
                stop = Some(rank);
            } else {
                without_stop = metric.context().after(without_stop, one);
            }
        }
        scores.clear();
        scores.extend((0..n_counted).map(|rank| self.noisy[ranked(rank)]));
        scores.resize(n_padded, 0.0);
        let query = NoisyQuery {
            scores: scores.as_chunks().0,
            worth: worth.as_chunks().0,
            before: before.as_chunks().0,
            after: after.as_chunks().0,
            other: other.as_chunks().0,
        };
        let scale = INV_SQRT_TAU / self.sigma * share;
        for rank in 0..n_docs {
            let doc = ranked(rank);
            let one = worths[doc];
            let (alpha, beta) = match metric.context() {
                Context::Free => (1.0, 0.0),
                Context::Pass if one < 1.0 => (1.0 / (1.0 - one), 0.0),
                Context::Pass => (0.0, f64::from(u8::from(stop == Some(rank)))),
                Context::Hits => (1.0, -f64::from(u8::from(one > 0.0))),
            };
            let mover = Mover {
                rank,
                score: self.means[doc],
                worth: one as f32,
                alpha: alpha as f32,
                beta: beta as f32,
                inverse_sigma: 1.0 / self.sigma,
            };
            ascent[doc] += scale * f64::from(sum_jumps(simd, query, mover));
        }
    }
}

/// The document in a key.
pub(super) fn doc_of(key: u128) -> usize {
    key as u32 as usize
}

/// The documents of all keys.
pub(super) fn order_of(keys: &[u128]) -> Vec<u32> {
    keys.iter().map(|key| *key as u32).collect()
}
