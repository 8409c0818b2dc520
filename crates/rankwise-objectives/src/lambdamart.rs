//! LambdaMART on NDCG (Burges, "From RankNet to LambdaRank to LambdaMART", 2010), in LightGBM's form.
//!
//! For documents sorted by score, every pair (i, j) with i among the top `truncation_level`, j below i and different
//! labels pushes the better document up and the worse one down by
//!
//! ```text
//! delta  = |gain_i - gain_j| * |D_i - D_j| / maxDCG@truncation     D_r = 1/log2(2 + r)
//! delta /= 0.01 + |s_i - s_j|                                       with lambda_norm, if not all scores are equal
//! p      = 1 / (1 + exp(sigma * (s_better - s_worse)))
//! lambda = sigma * delta * p        hessian = sigma^2 * delta * p * (1 - p)
//! ```
//!
//! and with `lambda_norm` a query's sums are multiplied by log2(1 + S)/S, where S is twice the sum of its lambdas.
//!
//! The better document of a pair is the one with the larger gain. Scores count as 32-bit numbers here, and those that are
//! equal as such tie. The sums run in the order that `kernel/pairs.rs` gives, the same on every machine.

use std::ops::Range;

use rankwise_data::{Dataset, SimdLevel};

use rankwise_metrics::{Discounts, Gain, Ties, ideal_dcg};

use crate::kernel::pairs::{LANES, PairParams, RankedQuery, add_pairs};
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch, checks};

/// LambdaMART, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct LambdaMart {
    truncation: usize,
    sigma: f32,
    is_normalised: bool,
    simd: SimdLevel,
    discounts: Vec<f32>,
    /// Query `q` has the entries `bounds[q]..bounds[q + 1]` of the next two.
    bounds: Vec<usize>,
    /// The documents of a query in the order in which they stand when all scores are equal.
    tie_order: Vec<u32>,
    /// Gains over the ideal DCG, in that order; all 0 where nothing is relevant.
    gains: Vec<f32>,
}

impl LambdaMart {
    /// Computes what does not change from tree to tree. Documents with equal scores are ordered worst first, or as in the
    /// input where `ties` says so.
    pub fn new(
        params: &ObjectiveParams,
        data: &Dataset,
        (gain, ties): (Gain, Ties),
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        gain.check(data)?;
        checks::has_pairs(data, "lambdamart")?;
        checks::has_weight(data)?;
        let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
        let discounts = Discounts::up_to(longest);
        let (mut tie_order, mut gains) = (Vec::new(), Vec::new());
        for query in data.queries() {
            let mut order: Vec<u32> = (0..query.n_docs() as u32).collect();
            match ties {
                Ties::Input => order.sort_by_key(|doc| query.input_rows[*doc as usize]),
                _ => order.sort_by(|a, b| query.labels[*a as usize].total_cmp(&query.labels[*b as usize])),
            }
            let mut ideal: Vec<f64> = query.labels.iter().map(|label| gain.of(*label)).collect();
            ideal.sort_unstable_by(|a, b| b.total_cmp(a));
            // In units of the largest gain, so that neither huge nor tiny gains leave the range of numbers.
            let largest = ideal[0];
            let of_doc = |doc: &u32| if largest > 0.0 { gain.of(query.labels[*doc as usize]) / largest } else { 0.0 };
            let units: Vec<f64> = ideal.iter().map(|gain| if largest > 0.0 { gain / largest } else { 0.0 }).collect();
            let max_dcg = ideal_dcg(&units, params.truncation_level, &discounts);
            let inverse = if max_dcg > 0.0 { 1.0 / max_dcg } else { 0.0 };
            gains.extend(order.iter().map(|doc| (of_doc(doc) * inverse) as f32));
            tie_order.extend(order);
        }
        Ok(Self {
            truncation: params.truncation_level,
            sigma: params.sigmoid as f32,
            is_normalised: params.lambda_norm,
            simd,
            discounts: discounts.as_slice().iter().map(|discount| *discount as f32).collect(),
            bounds: data.bounds().to_vec(),
            tie_order,
            gains,
        })
    }

    fn entries(&self, query: usize) -> Range<usize> {
        self.bounds[query]..self.bounds[query + 1]
    }
}

impl Objective for LambdaMart {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let tie_order = &self.tie_order[self.entries(docs.query)];
        let tied_gains = &self.gains[self.entries(docs.query)];
        let n_docs = tie_order.len();
        let keys = &mut scratch.keys;
        keys.clear();
        keys.extend(tie_order.iter().enumerate().map(|(tie_rank, doc)| {
            u64::from(descending_bits(docs.scores[*doc as usize] as f32)) << 32 | tie_rank as u64
        }));
        keys.sort_unstable();
        let tie_rank = |key: &u64| *key as u32 as usize;

        let n_padded = n_docs.next_multiple_of(LANES);
        let [scores, gains, discounts, powers, lambdas, hessians] = &mut scratch.columns;
        let score_of = |key: &u64| docs.scores[tie_order[tie_rank(key)] as usize] as f32;
        let last = keys.last().map_or(0.0, score_of);
        refill(scores, keys.iter().map(score_of), n_padded, last);
        refill(gains, keys.iter().map(|key| tied_gains[tie_rank(key)]), n_padded, 0.0);
        refill(discounts, self.discounts[..n_docs].iter().copied(), n_padded, 0.0);
        powers.resize(n_padded, 0.0);
        refill(lambdas, std::iter::empty(), n_padded, 0.0);
        refill(hessians, std::iter::empty(), n_padded, 0.0);

        let params = PairParams {
            truncation: self.truncation,
            sigma: self.sigma,
            divides_by_distance: self.is_normalised && scores.first() != Some(&last),
        };
        let mut query = RankedQuery {
            n_docs,
            scores: scores.as_chunks().0,
            gains: gains.as_chunks().0,
            discounts: discounts.as_chunks().0,
            powers: powers.as_chunks_mut().0,
            lambdas: lambdas.as_chunks_mut().0,
            hessians: hessians.as_chunks_mut().0,
        };
        let sigma = f64::from(self.sigma);
        let sum = 2.0 * sigma * add_pairs(self.simd, &mut query, params);
        let norm = if self.is_normalised && sum > 0.0 { libm::log2(1.0 + sum) / sum } else { 1.0 };
        let (grad_scale, hess_scale) = (sigma * norm, sigma * sigma * norm);
        for (rank, key) in keys.iter().enumerate() {
            let doc = tie_order[tie_rank(key)] as usize;
            out.grad[doc] = (f64::from(lambdas[rank]) * grad_scale) as f32;
            out.hess[doc] = (f64::from(hessians[rank]) * hess_scale) as f32;
        }
    }
}

/// Puts values into a column, and `rest` behind them up to the given length.
fn refill(column: &mut Vec<f32>, values: impl Iterator<Item = f32>, len: usize, rest: f32) {
    column.clear();
    column.extend(values);
    column.resize(len, rest);
}

/// Bits that ascend as the number descends; -0 is 0.
fn descending_bits(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    // Negative numbers ascend as they are, positive ones when turned over.
    if bits >> 31 == 1 { bits } else { bits ^ 0x7fff_ffff }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_descend_with_the_number() {
        let numbers = [f32::INFINITY, 3.5, 1.0, f32::MIN_POSITIVE, 0.0, -1e-40, -1.0, -7.25, f32::NEG_INFINITY];
        assert!(numbers.windows(2).all(|pair| descending_bits(pair[0]) < descending_bits(pair[1])));
        assert_eq!(descending_bits(0.0), descending_bits(-0.0));
    }
}
