//! Lambdas of one query, its documents in rank order.
//!
//! ```text
//! rank    0  1  2 | 3  4  5 ...        for each i above the truncation:
//!         i -> j -> -> -> -> ->        all j below it, 16 at a time
//! ```
//!
//! The list is sorted, so s_i >= s_j and D_i >= D_j: the sign of gain_i - gain_j alone says which of the two is better.

use rankwise_data::simd_kernel;

use super::exp::{LANES, exp};

/// Keeps the weight of a pair finite when its scores are equal.
const SCORE_DISTANCE_FLOOR: f32 = 0.01;

/// A query in rank order, in groups of lanes; all slices have the same length. Lanes from `n_docs` on have gain and
/// discount 0 and the last document's score, and what is written there means nothing.
#[derive(Debug)]
pub(crate) struct RankedQuery<'a> {
    pub(crate) n_docs: usize,
    pub(crate) scores: &'a [[f32; LANES]],
    /// Already divided by the ideal DCG.
    pub(crate) gains: &'a [[f32; LANES]],
    pub(crate) discounts: &'a [[f32; LANES]],
    pub(crate) lambdas: &'a mut [[f32; LANES]],
    pub(crate) hessians: &'a mut [[f32; LANES]],
}

/// What all pairs share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairParams {
    pub(crate) truncation: usize,
    pub(crate) sigma: f32,
    pub(crate) divides_by_distance: bool,
}

simd_kernel! {
    /// Adds every pair to the lambdas and Hessians; gives the sum of the lambdas' sizes over pairs.
    pub(crate) fn add_pairs(query: &mut RankedQuery<'_>, params: PairParams) -> f64 = add_pairs_body;
}

#[inline(always)]
fn add_pairs_body(query: &mut RankedQuery<'_>, params: PairParams) -> f64 {
    let n_groups = query.scores.len();
    let (scores, gains, discounts) = (query.scores, &query.gains[..n_groups], &query.discounts[..n_groups]);
    let (lambdas, hessians) = (&mut query.lambdas[..n_groups], &mut query.hessians[..n_groups]);
    let mut total = 0.0;
    for i in 0..params.truncation.min(query.n_docs.saturating_sub(1)) {
        let (home, lane) = (i / LANES, i % LANES);
        let first = Document { score: scores[home][lane], gain: gains[home][lane], discount: discounts[home][lane] };
        let mut sums = RowSums::default();
        for group in (i + 1) / LANES..n_groups {
            let lanes = Lanes { scores: scores[group], gains: gains[group], discounts: discounts[group] };
            // Ranks from i + 1 to the last document take part.
            let n_skipped = (i + 1).saturating_sub(group * LANES);
            let n_used = (query.n_docs - group * LANES).min(LANES) - n_skipped;
            let pairs = pair_lanes(first, &lanes, params, (n_skipped as u32, n_used as u32));
            let (lambdas, hessians) = (&mut lambdas[group], &mut hessians[group]);
            for lane in 0..LANES {
                lambdas[lane] += pairs.signed[lane];
                hessians[lane] += pairs.hessians[lane];
                sums.signed[lane] += pairs.signed[lane];
                sums.sizes[lane] += pairs.signed[lane].abs();
                sums.hessians[lane] += pairs.hessians[lane];
            }
        }
        lambdas[home][lane] -= fold(sums.signed);
        hessians[home][lane] += fold(sums.hessians);
        total += f64::from(fold(sums.sizes));
    }
    total
}

#[derive(Clone, Copy)]
struct Document {
    score: f32,
    gain: f32,
    discount: f32,
}

struct Lanes {
    scores: [f32; LANES],
    gains: [f32; LANES],
    discounts: [f32; LANES],
}

struct PairLanes {
    /// What the documents in the lanes get: positive (down) where the first document is the better one.
    signed: [f32; LANES],
    hessians: [f32; LANES],
}

#[derive(Default)]
struct RowSums {
    signed: [f32; LANES],
    sizes: [f32; LANES],
    hessians: [f32; LANES],
}

#[inline(always)]
fn pair_lanes(first: Document, lanes: &Lanes, params: PairParams, (n_skipped, n_used): (u32, u32)) -> PairLanes {
    let mut exponents = [0.0; LANES];
    let mut gaps = [0.0; LANES];
    let mut distances = [0.0; LANES];
    for lane in 0..LANES {
        let gap = first.gain - lanes.gains[lane];
        // Lanes below the skipped ones wrap around to large numbers.
        let is_used = (lane as u32).wrapping_sub(n_skipped) < n_used;
        gaps[lane] = if is_used { gap } else { 0.0 };
        // Ranks before i have larger scores: their distance would be negative, and a divisor of 0 away.
        distances[lane] = if is_used { first.score - lanes.scores[lane] } else { 0.0 };
        // Positive where the better document is ahead.
        exponents[lane] = params.sigma * if gap > 0.0 { distances[lane] } else { -distances[lane] };
    }
    let powers = exp(exponents);
    let mut out = PairLanes { signed: [0.0; LANES], hessians: [0.0; LANES] };
    for lane in 0..LANES {
        let swap = gaps[lane] * (first.discount - lanes.discounts[lane]);
        let floor = if params.divides_by_distance { SCORE_DISTANCE_FLOOR + distances[lane] } else { 1.0 };
        // One division for both: q = p / floor.
        let q = 1.0 / (floor * (1.0 + powers[lane]));
        let p = q * floor;
        let signed = params.sigma * (swap * q);
        out.signed[lane] = signed;
        // 1 - p, without the cancellation where p is near 1.
        out.hessians[lane] = params.sigma * (signed.abs() * (powers[lane] * p));
    }
    out
}

/// The sum of the lanes, in one order everywhere: halves onto each other.
#[inline(always)]
fn fold(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;

    /// Runs the kernel on a sorted list; gives lambdas, Hessians and the sum.
    fn run(level: SimdLevel, docs: &[(f32, f32)], params: PairParams) -> (Vec<f32>, Vec<f32>, f64) {
        let n_padded = docs.len().next_multiple_of(LANES);
        let last = docs[docs.len() - 1].0;
        let column = |of: &dyn Fn(usize) -> f32, rest: f32| -> Vec<f32> {
            (0..n_padded).map(|rank| if rank < docs.len() { of(rank) } else { rest }).collect()
        };
        let scores = column(&|rank| docs[rank].0, last);
        let gains = column(&|rank| docs[rank].1, 0.0);
        let discounts = column(&|rank| 1.0 / (2.0 + rank as f32).log2(), 0.0);
        let (mut lambdas, mut hessians) = (vec![0.0; n_padded], vec![0.0; n_padded]);
        let mut query = RankedQuery {
            n_docs: docs.len(),
            scores: scores.as_chunks().0,
            gains: gains.as_chunks().0,
            discounts: discounts.as_chunks().0,
            lambdas: lambdas.as_chunks_mut().0,
            hessians: hessians.as_chunks_mut().0,
        };
        let sum = add_pairs(level, &mut query, params);
        lambdas.truncate(docs.len());
        hessians.truncate(docs.len());
        (lambdas, hessians, sum)
    }

    fn sorted_docs() -> impl Strategy<Value = Vec<(f32, f32)>> {
        let doc = (
            prop_oneof![-8.0f32..8.0, (-2i8..3).prop_map(f32::from)],
            (0u8..5).prop_map(|l| f32::from(l).exp2() - 1.0),
        );
        prop::collection::vec(doc, 1..150).prop_map(|mut docs| {
            docs.sort_by(|a, b| b.0.total_cmp(&a.0));
            docs
        })
    }

    /// Lanes that take no part must not spoil the others, whatever their scores are: here one is 0.01 ahead, the floor of
    /// the divisor.
    #[test]
    fn lanes_that_take_no_part_change_nothing() {
        let params = PairParams { truncation: 30, sigma: 1.0, divides_by_distance: true };
        for first in [0.01, f32::MAX] {
            let docs = [(first, 1.0), (0.0, 0.0), (-0.5, 1.0)];
            for level in SimdLevel::available() {
                let (lambdas, hessians, sum) = run(level, &docs, params);
                assert!(sum.is_finite() && sum > 0.0, "{sum}");
                assert!(lambdas.iter().chain(&hessians).all(|value| value.is_finite()), "{lambdas:?} {hessians:?}");
                assert!(lambdas[1] > 0.0 && lambdas[2] < 0.0, "{lambdas:?}");
            }
        }
    }

    proptest! {
        /// Every instruction set gives the bits of the portable code.
        #[test]
        fn levels_agree_to_the_bit(
            docs in sorted_docs(), truncation in 1usize..60, sigma in 0.1f32..3.0, divides_by_distance in any::<bool>(),
        ) {
            let params = PairParams { truncation, sigma, divides_by_distance };
            let bits = |(lambdas, hessians, sum): (Vec<f32>, Vec<f32>, f64)| {
                let all: Vec<u32> = lambdas.iter().chain(&hessians).map(|value| value.to_bits()).collect();
                (all, sum.to_bits())
            };
            let portable = bits(run(SimdLevel::PORTABLE, &docs, params));
            for level in SimdLevel::available() {
                prop_assert_eq!(&portable, &bits(run(level, &docs, params)), "{}", level.name());
            }
        }
    }
}
