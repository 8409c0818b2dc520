//! ApproxNDCG (Qin, Liu and Li 2010): NDCG with ranks that are smooth in the scores.
//!
//! ```text
//! pi_i  = 1 + sum over j != i of r_ij        r_ij = 1 / (1 + exp((s_i - s_j) / T))
//! loss  = -sum gain_i D(pi_i) / maxDCG       D(pi) = 1 / log2(1 + pi), or 1 / pi with discount=rank
//! c_i   = gain_i D'(pi_i) / maxDCG           never positive
//! g_i   = sum over j of (c_i - c_j) r'_ij / T               r' = r (1 - r)
//! h_i   = sum over j of (|c_i| + |c_j|) r'_ij / T
//! ```
//!
//! The second derivative of the loss may be negative, so the Hessian is the total size of all forces on the document. A
//! Newton step is then at most 1, whatever T is: steps of size T would never be large enough for ranks to become hard.
//! Only documents with a gain have a force c, so the work is their number times the number of documents.

use rankwise_data::{Share, SimdLevel};
use rankwise_metrics::{Discount, Discounts, Gain, Rules, ideal_dcg};

use crate::kernel::soft_ranks::{LANES, add_force, rank_row};
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch, checks};

/// The maximum range of scores in a query, in units of the temperature, for which the exponential of a pair is computed
/// as a product of two.
const WIDEST_FOR_PRODUCTS: f64 = 600.0;
/// Otherwise, exponents are limited to this.
const LARGEST_EXPONENT: f64 = 300.0;

/// ApproxNDCG, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct ApproxNdcg {
    temperature: f64,
    discount: Discount,
    simd: SimdLevel,
    /// Query `q` has the entries `bounds[q]..bounds[q + 1]` of the next.
    bounds: Vec<usize>,
    /// Gains over the ideal DCG; all 0 if no document is relevant.
    gains: Vec<f32>,
}

impl ApproxNdcg {
    /// Precomputes everything that is the same for all trees.
    pub fn new(
        params: &ObjectiveParams,
        share: &Share<'_>,
        gain: &Gain,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        let data = share.data;
        share.agree(gain.check(data).map_err(ObjectiveError::from))?;
        checks::has_pairs(share, "approx-ndcg")?;
        checks::has_weight(share)?;
        let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
        let discounts = Discounts::of(rules.discount, longest);
        let mut gains = Vec::with_capacity(data.n_rows());
        for query in data.queries() {
            let mut ideal: Vec<f64> = query.labels.iter().map(|label| gain.of(*label)).collect();
            ideal.sort_unstable_by(|a, b| b.total_cmp(a));
            // In units of the largest gain, so that huge or tiny gains neither overflow nor underflow.
            let largest = ideal[0];
            let unit = |gain: f64| if largest > 0.0 { gain / largest } else { 0.0 };
            for gain in &mut ideal {
                *gain = unit(*gain);
            }
            let max_dcg = ideal_dcg(&ideal, usize::MAX, &discounts);
            let share = |label: &f32| if max_dcg > 0.0 { unit(gain.of(*label)) / max_dcg } else { 0.0 };
            gains.extend(query.labels.iter().map(|label| share(label) as f32));
        }
        let (temperature, bounds) = (params.temperature, data.bounds().to_vec());
        Ok(Self { temperature, discount: rules.discount, simd, bounds, gains })
    }

    /// The derivative of the discount with respect to the rank, ranks from 1.
    fn slope(&self, rank: f64) -> f64 {
        match self.discount {
            Discount::Log2 => {
                let log = libm::log(1.0 + rank);
                -std::f64::consts::LN_2 / ((1.0 + rank) * log * log)
            }
            Discount::Rank => -1.0 / (rank * rank),
        }
    }
}

impl Objective for ApproxNdcg {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let gains = &self.gains[self.bounds[docs.query]..self.bounds[docs.query + 1]];
        let n_docs = docs.n_docs();
        let n_padded = n_docs.next_multiple_of(LANES);
        let [columns, r, pull, stiffness, ..] = &mut scratch.wide;
        for column in [&mut *columns, &mut *r, &mut *pull, &mut *stiffness] {
            column.clear();
            column.resize(n_padded, 0.0);
        }
        let scaled = |doc: usize| docs.scores[doc] / self.temperature;
        let highest = (0..n_docs).map(scaled).fold(f64::NEG_INFINITY, f64::max);
        let lowest = (0..n_docs).map(scaled).fold(f64::INFINITY, f64::min);
        let is_product = highest - lowest <= WIDEST_FOR_PRODUCTS;
        if is_product {
            let middle = lowest + 0.5 * (highest - lowest);
            (0..n_docs).for_each(|doc| columns[doc] = libm::exp(middle - scaled(doc)));
        }
        for doc in (0..n_docs).filter(|doc| gains[*doc] > 0.0) {
            let row = if is_product {
                1.0 / columns[doc]
            } else {
                // Recompute exponentials for each row: slow, but rarely needed.
                for (other, power) in columns[..n_docs].iter_mut().enumerate() {
                    *power = libm::exp((scaled(doc) - scaled(other)).clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT));
                }
                1.0
            };
            let sum = rank_row(self.simd, row, columns.as_chunks().0, r.as_chunks_mut().0);
            // Padding columns count 1 each, the document itself 1/2.
            let rank = 0.5 + (sum - (n_padded - n_docs) as f64);
            let force = f64::from(gains[doc]) * self.slope(rank.max(1.0));
            let lanes = (pull.as_chunks_mut().0, stiffness.as_chunks_mut().0);
            let slopes = add_force(self.simd, force, r.as_chunks().0, lanes.0, lanes.1);
            pull[doc] += force * slopes;
            // Without the pair of the document with itself, which has slope 1/4 and is counted twice.
            stiffness[doc] += force.abs() * (slopes - 0.5);
        }
        for doc in 0..n_docs {
            out.grad[doc] = (pull[doc] / self.temperature) as f32;
            out.hess[doc] = (stiffness[doc] / self.temperature) as f32;
        }
    }
}
