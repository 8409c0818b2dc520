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

/// A query in rank order. All slices have the same length, a multiple of [`LANES`]; places from `n_docs` on have gain and
/// discount 0 and the last document's score, and what is written there means nothing.
#[derive(Debug)]
pub(crate) struct RankedQuery<'a> {
    pub(crate) n_docs: usize,
    pub(crate) scores: &'a [f32],
    /// Already divided by the ideal DCG.
    pub(crate) gains: &'a [f32],
    pub(crate) discounts: &'a [f32],
    pub(crate) lambdas: &'a mut [f32],
    pub(crate) hessians: &'a mut [f32],
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
    let n_padded = query.scores.len();
    let mut total = 0.0;
    for i in 0..params.truncation.min(query.n_docs.saturating_sub(1)) {
        let mut sums = RowSums::default();
        let first = Document { score: query.scores[i], gain: query.gains[i], discount: query.discounts[i] };
        let start = i + 1;
        // Whole groups of lanes from the one that holds i + 1 on; lanes up to i are masked by a discount gap of 0.
        for group in (start / LANES)..(n_padded / LANES) {
            let range = group * LANES..(group + 1) * LANES;
            let lanes = Lanes {
                scores: load(&query.scores[range.clone()]),
                gains: load(&query.gains[range.clone()]),
                discounts: load(&query.discounts[range.clone()]),
            };
            let n_skipped = start.saturating_sub(group * LANES);
            let n_used = (query.n_docs - group * LANES).min(LANES);
            let pairs = pair_lanes(first, &lanes, params, n_skipped..n_used);
            for lane in 0..LANES {
                query.lambdas[range.start + lane] += pairs.signed[lane];
                query.hessians[range.start + lane] += pairs.hessians[lane];
                sums.signed[lane] += pairs.signed[lane];
                sums.sizes[lane] += pairs.signed[lane].abs();
                sums.hessians[lane] += pairs.hessians[lane];
            }
        }
        query.lambdas[i] -= fold(sums.signed);
        query.hessians[i] += fold(sums.hessians);
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
fn pair_lanes(first: Document, lanes: &Lanes, params: PairParams, used: std::ops::Range<usize>) -> PairLanes {
    let mut exponents = [0.0; LANES];
    let mut gaps = [0.0; LANES];
    let mut distances = [0.0; LANES];
    for lane in 0..LANES {
        let gap = first.gain - lanes.gains[lane];
        let is_used = lane >= used.start && lane < used.end;
        gaps[lane] = if is_used { gap } else { 0.0 };
        distances[lane] = first.score - lanes.scores[lane];
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

#[inline(always)]
fn load(slice: &[f32]) -> [f32; LANES] {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(slice);
    lanes
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
            scores: &scores,
            gains: &gains,
            discounts: &discounts,
            lambdas: &mut lambdas,
            hessians: &mut hessians,
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
