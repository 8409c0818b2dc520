//! The expected metric of rankings drawn from the Plackett-Luce model, which takes one document after another with
//! probabilities in proportion to exp(score). The idea is that of BayesRank; the estimator is that of PL-Rank
//! (Oosterhuis 2021), extended by a baseline and to more metrics.
//!
//! A metric gives rank k the reward c_k worth_d, where c_k may depend on the documents above ([`AdditiveMetric`]). Let
//! Q_k be the sum of rewards from rank k on, and Z_k the sum of exp(score) over the documents that are not above rank
//! k. Then one ranking gives document d at rank r
//!
//! ```text
//! g_d = -(Q_(r+1) - b_r) - exp(s_d) sum over k up to r of (c_k worth_d - Q_k + b_k) / Z_k
//! h_d =   Q_(r+1)        + exp(s_d) sum over k up to r of (c_k worth_d + Q_k) / Z_k
//! ```
//!
//! without the first term below the cutoff. The mean of g over rankings is the gradient of -E[metric]. The probability
//! that a document is taken at rank k is known, so its own reward is averaged exactly, and only the rewards that follow
//! are sampled. The baseline b_k is the mean of what the other rankings got below rank k. The expected metric is not
//! concave, so the Hessian is the total size of all forces on the document, and a Newton step is at most 1.

use rankwise_data::{Share, SimdLevel};
use rankwise_metrics::{AdditiveMetric, Rules};

use crate::kernel::clocks::ring;
use crate::target::additive;
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch, checks};

const NAME: &str = "plackett-luce";
/// Default number of rankings per gradient.
const DEFAULT_SAMPLES: usize = 8;
/// Scores are limited to this distance below the best of their query, to avoid underflow.
const DEEPEST: f64 = 300.0;
/// Number of clocks that one draw of 128 bits serves.
const CLOCKS_PER_DRAW: usize = 4;

/// The expected metric, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct PlackettLuce {
    samples: usize,
    simd: SimdLevel,
    metric: AdditiveMetric,
    /// Query `q` has the entries `bounds[q]..bounds[q + 1]` of the next.
    bounds: Vec<usize>,
    /// The worth of each document, whatever its rank.
    worths: Vec<f64>,
}

impl PlackettLuce {
    /// Precomputes everything that is the same for all trees. The gain of the rules is the objective's.
    pub fn new(
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        let data = share.data;
        let metric = share.agree(additive(NAME, &params.target, data, rules))?;
        checks::has_pairs(share, NAME)?;
        checks::has_weight(share)?;
        let mut worths = Vec::with_capacity(data.n_rows());
        data.queries().for_each(|query| metric.push_worth(query.labels, &mut worths));
        let samples = params.samples.unwrap_or(DEFAULT_SAMPLES);
        Ok(Self { samples, simd, metric, bounds: data.bounds().to_vec(), worths })
    }
}

impl Objective for PlackettLuce {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let worths = &self.worths[self.bounds[docs.query]..self.bounds[docs.query + 1]];
        if worths.iter().all(|worth| *worth == worths[0]) {
            // The metric does not depend on the order.
            out.grad.fill(0.0);
            out.hess.fill(0.0);
            return;
        }
        let depth = self.metric.depth().min(docs.n_docs());
        self.draw(docs, depth, scratch);
        let Scratch { order, wide: [powers, means, followings, grad, hess, sums], .. } = scratch;
        self.collect(worths, order, depth, followings);
        // The sums over rankings of the rewards from each rank on.
        sums.clear();
        sums.resize(depth + 1, 0.0);
        for following in followings.chunks_exact(depth + 1) {
            sums.iter_mut().zip(following).for_each(|(sum, following)| *sum += following);
        }
        for column in [&mut *grad, &mut *hess] {
            column.clear();
            column.resize(docs.n_docs(), 0.0);
        }
        for (order, following) in order.chunks_exact(docs.n_docs()).zip(followings.chunks_exact(depth + 1)) {
            let ranking = Ranking { order, depth, following, sums, worths, powers, n_samples: self.samples };
            ranking.add(&self.metric, means, (grad, hess));
        }
        let share = 1.0 / self.samples as f64;
        for doc in 0..docs.n_docs() {
            out.grad[doc] = (-grad[doc] * share) as f32;
            out.hess[doc] = (hess[doc] * share) as f32;
        }
    }
}

impl PlackettLuce {
    /// Draws rankings into `order`, one after another: the first `depth` documents in rank order, then the others in
    /// any order. Leaves exp(score) in the first wide column.
    fn draw(&self, docs: QueryDocs<'_>, depth: usize, scratch: &mut Scratch) {
        let n_docs = docs.n_docs();
        let Scratch { keys, order, bits, wide: [powers, means, times, ..], .. } = scratch;
        let best = docs.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        powers.clear();
        powers.extend(docs.scores.iter().map(|score| libm::exp((score - best).max(-DEEPEST))));
        means.clear();
        means.extend(powers.iter().map(|power| 1.0 / power));
        times.clear();
        times.resize(n_docs, 0.0);
        bits.resize(CLOCKS_PER_DRAW * n_docs, 0);
        order.clear();
        // The document number replaces the lowest bits of its time.
        let mask = (n_docs.next_power_of_two() - 1) as u64;
        for sample in 0..self.samples {
            let lane = sample % CLOCKS_PER_DRAW;
            if lane == 0 {
                for doc in 0..n_docs {
                    let drawn = docs.noise.bits(doc, (sample / CLOCKS_PER_DRAW) as u32);
                    (0..CLOCKS_PER_DRAW).for_each(|lane| bits[lane * n_docs + doc] = drawn[lane]);
                }
            }
            ring(self.simd, &bits[lane * n_docs..][..n_docs], means, times);
            keys.clear();
            keys.extend(times.iter().enumerate().map(|(doc, time)| time.to_bits() & !mask | doc as u64));
            if depth < n_docs {
                keys.select_nth_unstable(depth);
            }
            keys[..depth].sort_unstable();
            order.extend(keys.iter().map(|key| (key & mask) as u32));
        }
    }

    /// The rewards of each ranking from each rank on; the last entry is 0.
    fn collect(&self, worths: &[f64], orders: &[u32], depth: usize, followings: &mut Vec<f64>) {
        followings.clear();
        for order in orders.chunks_exact(worths.len()) {
            let start = followings.len();
            let mut context = 1.0;
            for (rank, doc) in order[..depth].iter().enumerate() {
                let worth = worths[*doc as usize];
                followings.push(self.metric.rank_weights()[rank] * context * worth);
                context = self.metric.context().after(context, worth);
            }
            followings.push(0.0);
            let ranks = &mut followings[start..];
            (0..depth).rev().for_each(|rank| ranks[rank] += ranks[rank + 1]);
        }
    }
}

/// One drawn ranking.
struct Ranking<'a> {
    order: &'a [u32],
    depth: usize,
    /// Its rewards from each rank on.
    following: &'a [f64],
    /// Those of all rankings together.
    sums: &'a [f64],
    worths: &'a [f64],
    /// exp(score) of each document.
    powers: &'a [f64],
    n_samples: usize,
}

impl Ranking<'_> {
    /// Adds its estimate of the derivatives of the metric.
    fn add(&self, metric: &AdditiveMetric, left: &mut Vec<f64>, (grad, hess): (&mut [f64], &mut [f64])) {
        // Z_k, starting from the last rank, so that nothing is subtracted.
        let rest = self.order[self.depth..].iter().fold(0.0, |sum, doc| sum + self.powers[*doc as usize]);
        left.clear();
        left.resize(self.depth, 0.0);
        (0..self.depth).rev().fold(rest, |below, rank| {
            left[rank] = below + self.powers[self.order[rank] as usize];
            left[rank]
        });
        // Sums over ranks of c / Z, (Q - b) / Z and Q / Z.
        let (mut own, mut others, mut all) = (0.0, 0.0, 0.0);
        let share = 1.0 / (self.n_samples.max(2) as f64 - 1.0);
        let mut context = 1.0;
        for (rank, left) in left.iter().enumerate() {
            let inverse = 1.0 / left;
            let (gets, then) = (self.following[rank], self.following[rank + 1]);
            // What the other rankings got below this rank.
            let baseline = (self.sums[rank + 1] - then) * share;
            own += metric.rank_weights()[rank] * context * inverse;
            others += (gets - baseline) * inverse;
            all += gets * inverse;
            let doc = self.order[rank] as usize;
            let (power, worth) = (self.powers[doc], self.worths[doc]);
            grad[doc] += power * (worth * own - others) + (then - baseline);
            hess[doc] += power * (worth * own + all) + then;
            context = metric.context().after(context, worth);
        }
        for doc in self.order[self.depth..].iter().map(|doc| *doc as usize) {
            let (power, worth) = (self.powers[doc], self.worths[doc]);
            grad[doc] += power * (worth * own - others);
            hess[doc] += power * (worth * own + all);
        }
    }
}
