//! YetiRank (Gulin et al. 2011), as CatBoost computes it: the logistic loss of documents that stand next to each other when
//! scores have noise.
//!
//! For each of `samples` orders, by e^score * u / (1.000001 - u) with u uniform (logistic noise on the scores), the
//! neighbours at ranks k and k + 1, from 0, add a pair whose better document is the one with the larger label, with the weight
//!
//! ```text
//! classic   0.15 * decay^k * |label_a - label_b|
//! metric    by how much the target changes when the two are swapped in that order (`swap.rs`)
//! ```
//!
//! p = 1 / (1 + exp(s_better - s_worse)) is that of the scores without noise; the better document gets -weight * p, the worse
//! one weight * p, both weight * p * (1 - p), over the number of samples.

use rankwise_data::Dataset;
use rankwise_metrics::Rules;

use crate::checks::{check_weights, has_order};
use crate::params::YetiRankMode;
use crate::swap::SwapColumns;
use crate::target::Target;
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch};

/// The weight of the first two neighbours per difference of labels.
const CLASSIC_WEIGHT: f64 = 0.15;
/// Keeps the noise finite.
const ABOVE_ONE: f64 = 1.000_001;
/// The orders that CatBoost draws.
const DEFAULT_SAMPLES: usize = 10;

/// YetiRank, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct YetiRank {
    n_samples: u32,
    /// Query `q` has the values `bounds[q]..bounds[q + 1]`.
    bounds: Vec<usize>,
    /// Of the documents in canonical order: labels, or what the target makes of them.
    values: Vec<f32>,
    weights: NeighbourWeights,
}

#[derive(Clone, Debug)]
enum NeighbourWeights {
    /// By the rank of the upper one.
    Classic(Vec<f32>),
    Metric(Target),
}

impl YetiRank {
    /// Computes what does not change from tree to tree.
    pub fn new(params: &ObjectiveParams, data: &Dataset, rules: &Rules) -> Result<Self, ObjectiveError> {
        let objective = "yetirank";
        if !has_order(data, |a, b| a != b) {
            return Err(ObjectiveError::NoPairs { objective });
        }
        check_weights(data)?;
        let (values, weights) = match params.yetirank_mode {
            YetiRankMode::Classic => {
                let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
                let by_rank = (0..longest).map(|rank| CLASSIC_WEIGHT * libm::pow(params.decay, rank as f64));
                (data.labels().to_vec(), NeighbourWeights::Classic(by_rank.map(|weight| weight as f32).collect()))
            }
            YetiRankMode::Metric => {
                let target = Target::new(objective, &params.target, data, rules, usize::MAX)?;
                if !has_order(data, |a, b| target.tells_apart(a, b)) {
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
        Ok(Self { n_samples, bounds: data.bounds().to_vec(), values, weights })
    }
}

impl Objective for YetiRank {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let values = &self.values[self.bounds[docs.query]..self.bounds[docs.query + 1]];
        let Scratch { keys, columns: [in_order, rows, weights, columns, ..], sums: [powers, noise, _], .. } = scratch;
        let highest = docs.scores.iter().copied().fold(f64::MIN, f64::max);
        powers.clear();
        powers.extend(docs.scores.iter().map(|score| libm::exp(score - highest)));
        out.grad.fill(0.0);
        out.hess.fill(0.0);
        let mut swaps = SwapColumns { rows, weights, columns };
        for sample in 0..self.n_samples {
            order_with_noise(docs, sample, powers, noise, keys);
            let doc_at = |rank: usize| keys[rank] as usize;
            let mut n_neighbours = keys.len().saturating_sub(1);
            if let NeighbourWeights::Metric(target) = &self.weights {
                in_order.clear();
                in_order.extend((0..keys.len()).map(|rank| values[doc_at(rank)]));
                n_neighbours = n_neighbours.min(swaps.fill(target, in_order));
            }
            for rank in 1..=n_neighbours {
                let (upper, lower) = (doc_at(rank - 1), doc_at(rank));
                let gap = values[upper] - values[lower];
                let weight = match &self.weights {
                    NeighbourWeights::Classic(by_rank) => by_rank[rank - 1],
                    NeighbourWeights::Metric(_) => swaps.rows[rank - 1] - swaps.weights[rank - 1] * swaps.columns[rank],
                };
                let weight = (gap * weight).abs();
                let (better, worse) = if gap > 0.0 { (upper, lower) } else { (lower, upper) };
                let total = powers[better] + powers[worse];
                let p = if total > 0.0 { (powers[worse] / total) as f32 } else { 0.5 };
                let hessian = weight * p * (1.0 - p);
                out.grad[better] -= weight * p;
                out.grad[worse] += weight * p;
                out.hess[better] += hessian;
                out.hess[worse] += hessian;
            }
        }
        let scale = 1.0 / self.n_samples as f32;
        out.grad.iter_mut().chain(out.hess).for_each(|value| *value *= scale);
    }
}

/// The documents in the order of a sample, the first on top.
fn order_with_noise(docs: QueryDocs<'_>, sample: u32, powers: &[f64], noise: &mut Vec<f64>, keys: &mut Vec<u64>) {
    let odds = |uniform: f64| uniform / (ABOVE_ONE - uniform);
    if sample.is_multiple_of(2) {
        // A draw has two numbers: one for each of two samples.
        noise.clear();
        noise.extend((0..powers.len()).flat_map(|doc| docs.noise.uniforms(doc, sample / 2)));
    }
    // Positive numbers ascend with their bits. The last bits give way to the number of the document.
    let low = (powers.len().next_power_of_two() - 1) as u64;
    keys.clear();
    keys.extend(powers.iter().enumerate().map(|(doc, power)| {
        let noisy = power * odds(noise[2 * doc + sample as usize % 2]);
        (!noisy.to_bits() & !low) | doc as u64
    }));
    keys.sort_unstable();
    keys.iter_mut().for_each(|key| *key &= low);
}
