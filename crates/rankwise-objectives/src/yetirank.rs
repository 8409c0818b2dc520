//! YetiRank (Gulin et al. 2011), as CatBoost computes it: the logistic loss of neighbours in rankings by noisy scores.
//!
//! For each of `samples` orderings, by e^score * u / (1.000001 - u) with u uniform (logistic noise on the scores), the
//! neighbours at ranks k and k + 1, from 0, add a pair. The better document is the one with the larger label, and the
//! weight is
//!
//! ```text
//! classic   0.15 * decay^k * |label_a - label_b|
//! metric    the change of the target when the two are swapped in that ordering (`swap.rs`)
//! ```
//!
//! p = 1 / (1 + exp(s_better - s_worse)) uses the scores without noise. The gradient of the better document is
//! -weight * p, that of the worse one weight * p, and both Hessians are weight * p * (1 - p), all divided by the number
//! of samples.

use rankwise_data::{Share, SimdLevel};
use rankwise_metrics::Rules;

use crate::checks::{has_order, has_weight};
use crate::kernel::neighbours::{Order, add_neighbours, noisy_keys, powers};
use crate::kernel::pairs::LANES;
use crate::params::YetiRankMode;
use crate::swap::SwapColumns;
use crate::target::Target;
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch};

/// The weight of the first two neighbours per difference of labels.
const CLASSIC_WEIGHT: f64 = 0.15;
/// CatBoost's number of orderings.
const DEFAULT_SAMPLES: usize = 10;

/// YetiRank, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct YetiRank {
    n_samples: u32,
    /// Query `q` has the values `bounds[q]..bounds[q + 1]`.
    bounds: Vec<usize>,
    /// By document in canonical order: labels, or the values of the target.
    values: Vec<f32>,
    weights: NeighbourWeights,
    simd: SimdLevel,
}

#[derive(Clone, Debug)]
enum NeighbourWeights {
    /// By the rank of the upper neighbour.
    Classic(Vec<f32>),
    Metric(Target),
}

impl YetiRank {
    /// Precomputes everything that is the same for all trees.
    pub fn new(
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        let objective = "yetirank";
        if !has_order(share, |a, b| a != b) {
            return Err(ObjectiveError::NoPairs { objective });
        }
        has_weight(share)?;
        let data = share.data;
        let (values, weights) = match params.yetirank_mode {
            YetiRankMode::Classic => {
                let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
                let by_rank = (0..longest).map(|rank| CLASSIC_WEIGHT * libm::pow(params.decay, rank as f64));
                (data.labels().to_vec(), NeighbourWeights::Classic(by_rank.map(|weight| weight as f32).collect()))
            }
            YetiRankMode::Metric => {
                let target = share.agree(Target::new(objective, &params.target, data, rules, usize::MAX))?;
                if !has_order(share, |a, b| target.tells_apart(a, b)) {
                    let target = params.target.as_str().to_owned();
                    return Err(ObjectiveError::OneClass { objective, target });
                }
                let (mut values, mut of_query) = (Vec::with_capacity(data.n_rows()), Vec::new());
                for query in data.queries() {
                    target.values(query.labels, &mut of_query);
                    values.extend(of_query.iter().map(|value| *value as f32));
                }
                (values, NeighbourWeights::Metric(target))
            }
        };
        let n_samples = params.samples.unwrap_or(DEFAULT_SAMPLES) as u32;
        Ok(Self { n_samples, bounds: data.bounds().to_vec(), values, weights, simd })
    }
}

impl Objective for YetiRank {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let n_docs = docs.scores.len();
        let n_padded = n_docs.next_multiple_of(LANES);
        let values = &self.values[self.bounds[docs.query]..self.bounds[docs.query + 1]];
        let Scratch { keys, columns, words, .. } = scratch;
        let [by_doc, by_rank, in_order, rows, weights, columns, of_ranks, lambdas, hessians] = columns;
        let mut swaps = SwapColumns { rows, weights, columns };
        by_doc.clear();
        by_doc.resize(n_padded, 0.0);
        let highest = docs.scores.iter().copied().fold(f64::MIN, f64::max);
        powers(self.simd, docs.scores, highest, by_doc);
        keys.resize(n_padded, 0);
        lambdas.resize(n_docs, 0.0);
        hessians.resize(n_docs, 0.0);
        out.grad.fill(0.0);
        out.hess.fill(0.0);
        for sample in 0..self.n_samples {
            let word = words.of_sample(docs, sample, self.simd);
            noisy_keys(self.simd, by_doc, words.all(), word, keys);
            let order = &mut keys[..n_docs];
            order.sort_unstable();
            by_rank.clear();
            by_rank.extend(order.iter().map(|key| by_doc[*key as u32 as usize]));
            in_order.clear();
            in_order.extend(order.iter().map(|key| values[*key as u32 as usize]));
            let weights = match &self.weights {
                NeighbourWeights::Classic(by_rank) => &by_rank[..n_docs],
                NeighbourWeights::Metric(target) => {
                    let n_rows = swaps.fill(target, in_order);
                    swaps.of_neighbours(n_rows, of_ranks);
                    &of_ranks[..]
                }
            };
            let order_columns = Order { powers: by_rank, values: in_order, weights };
            add_neighbours(self.simd, &order_columns, lambdas, hessians);
            let (mut from_above, mut hessian_above) = (0.0, 0.0);
            for (rank, key) in order.iter().enumerate() {
                let doc = *key as u32 as usize;
                // The last document has no lower neighbour.
                let is_last = rank + 1 == n_docs;
                let (to_below, hessian_below) = if is_last { (0.0, 0.0) } else { (lambdas[rank], hessians[rank]) };
                out.grad[doc] += to_below - from_above;
                out.hess[doc] += hessian_below + hessian_above;
                (from_above, hessian_above) = (to_below, hessian_below);
            }
        }
        let scale = 1.0 / self.n_samples as f32;
        out.grad.iter_mut().chain(out.hess).for_each(|value| *value *= scale);
    }
}
