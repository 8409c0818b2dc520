//! Lambdas of one query, with its documents in rank order.
//!
//! ```text
//! rank    0  1  2 | 3  4  5 ...        for each i above the truncation:
//!         i -> j -> -> -> -> ->        all j below it, 16 at a time
//! ```
//!
//! The list is sorted, so s_i >= s_j, and swapping the two never helps if i is the better document. The sign of v_i -
//! v_j, the values of the documents, alone says which one is better. The weight of a pair is its [`Importance`].
//!
//! Most of the time goes into e^(sigma (s_i - s_j)). If the scores of a query are close together, as they nearly always
//! are, it is computed as the product of e^(sigma (s_i - m)) and e^(sigma (m - s_j)), with m in the middle: one
//! exponential per document instead of one per pair.

use rankwise_data::simd_kernel;

use super::exp::exp;
use super::fold;

/// Number of documents processed together. Sums over a list have this many partial sums on every machine.
pub(crate) const LANES: usize = 16;

/// Keeps the weight of a pair finite if its scores are equal.
const SCORE_DISTANCE_FLOOR: f32 = 0.01;

/// The maximum range of scores in a query, times sigma, for which exponentials are computed as products. Their relative
/// error is then at most 2^-20.
const WIDEST_FOR_PRODUCTS: f32 = 16.0;

pub(super) type Lanes = [f32; LANES];

/// The weight of a pair with rank i above rank j.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Importance {
    /// |v_i - v_j| (row_i - weight_i column_j): how much a swap changes a metric.
    Swap,
    /// |v_i - v_j| (row_i - weight_i column_j + near\[j - i\]).
    SwapAndNear,
    /// row_i if i is the better document, column_j if j is.
    Better,
    /// The same for all pairs. The loss is half the squared distance to a margin of 1, instead of the logarithm.
    Hinge,
}

// The same as constants, so that each gets its own compiled code.
const SWAP: u8 = 0;
const SWAP_AND_NEAR: u8 = 1;
const BETTER: u8 = 2;
const HINGE: u8 = 3;

/// A query in rank order, in groups of lanes; all slices of lanes have the same length. Lanes from `n_docs` on have
/// value, row and column 0 and the score of the last document; their results are meaningless.
#[derive(Debug)]
pub(crate) struct RankedQuery<'a> {
    pub(crate) n_docs: usize,
    pub(crate) scores: &'a [Lanes],
    pub(crate) values: &'a [Lanes],
    pub(crate) rows: &'a [Lanes],
    pub(crate) weights: &'a [Lanes],
    pub(crate) columns: &'a [Lanes],
    /// For [`Importance::SwapAndNear`]: the number for rank distance d is at `LANES + d`, for d below the padded
    /// length.
    pub(crate) near: &'a [f32],
    /// Space for an exponential of each document.
    pub(crate) powers: &'a mut [Lanes],
    pub(crate) lambdas: &'a mut [Lanes],
    pub(crate) hessians: &'a mut [Lanes],
}

/// Parameters of all pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairParams {
    pub(crate) importance: Importance,
    /// The number of documents at the top that are paired with all below them.
    pub(crate) n_rows: usize,
    pub(crate) sigma: f32,
    pub(crate) divides_by_distance: bool,
}

simd_kernel! {
    /// Adds every pair to the lambdas and Hessians, without their factors sigma and sigma^2. Returns the sum of the
    /// sizes of lambdas over pairs, also without sigma.
    pub(crate) fn add_pairs(query: &mut RankedQuery<'_>, params: PairParams) -> f64 = add_pairs_body;
}

#[inline(always)]
fn add_pairs_body(query: &mut RankedQuery<'_>, params: PairParams) -> f64 {
    if query.n_docs == 0 {
        return 0.0;
    }
    if params.importance == Importance::Hinge {
        return add_rows::<false, HINGE>(query, params);
    }
    let last = query.n_docs - 1;
    let (highest, lowest) = (query.scores[0][0], query.scores[last / LANES][last % LANES]);
    if params.sigma * (highest - lowest) > WIDEST_FOR_PRODUCTS {
        return add_rows_of::<false>(query, params);
    }
    let middle = lowest + 0.5 * (highest - lowest);
    for (powers, scores) in query.powers.iter_mut().zip(query.scores) {
        for lane in 0..LANES {
            powers[lane] = exp(params.sigma * (middle - scores[lane]));
        }
    }
    add_rows_of::<true>(query, params)
}

#[inline(always)]
fn add_rows_of<const PRODUCTS: bool>(query: &mut RankedQuery<'_>, params: PairParams) -> f64 {
    match params.importance {
        Importance::Swap => add_rows::<PRODUCTS, SWAP>(query, params),
        Importance::SwapAndNear => add_rows::<PRODUCTS, SWAP_AND_NEAR>(query, params),
        Importance::Better | Importance::Hinge => add_rows::<PRODUCTS, BETTER>(query, params),
    }
}

/// Pairs each document at the top with all documents below it.
#[inline(always)]
fn add_rows<const PRODUCTS: bool, const KIND: u8>(query: &mut RankedQuery<'_>, params: PairParams) -> f64 {
    let n_docs = query.n_docs;
    // Groups before this one are full.
    let n_full = n_docs / LANES;
    let mut total = 0.0;
    for i in 0..params.n_rows.min(n_docs - 1) {
        let (home, lane) = (i / LANES, i % LANES);
        let score = query.scores[home][lane];
        let power = if PRODUCTS { 1.0 / query.powers[home][lane] } else { 0.0 };
        let (value, row, weight) = (query.values[home][lane], query.rows[home][lane], query.weights[home][lane]);
        let first = Document { rank: i, score, value, row, weight, power };
        let mut sums = RowSums::default();
        // Ranks from i + 1 to the last document are used: some of the first and last groups, all of the others.
        let start = (i + 1) / LANES;
        let n_skipped = (i + 1) % LANES;
        let n_used = (n_docs - start * LANES).min(LANES) - n_skipped;
        add_group::<PRODUCTS, false, KIND>(query, start, (first, params), (n_skipped as u32, n_used as u32), &mut sums);
        for group in start + 1..n_full {
            add_group::<PRODUCTS, true, KIND>(query, group, (first, params), (0, LANES as u32), &mut sums);
        }
        if n_full > start && n_docs > n_full * LANES {
            let n_used = (n_docs - n_full * LANES) as u32;
            add_group::<PRODUCTS, false, KIND>(query, n_full, (first, params), (0, n_used), &mut sums);
        }
        query.lambdas[home][lane] -= fold(sums.signed);
        query.hessians[home][lane] += fold(sums.hessians);
        total += f64::from(fold(sums.sizes));
    }
    total
}

/// Adds the pairs of one document with a group of others: all, or `n_used` of them after `n_skipped`.
#[inline(always)]
fn add_group<const PRODUCTS: bool, const ALL: bool, const KIND: u8>(
    query: &mut RankedQuery<'_>,
    group: usize,
    pair: (Document, PairParams),
    used: (u32, u32),
    sums: &mut RowSums,
) {
    let others = Others {
        scores: &query.scores[group],
        values: &query.values[group],
        columns: &query.columns[group],
        powers: &query.powers[group],
        near: if KIND == SWAP_AND_NEAR {
            query.near[(group + 1) * LANES - pair.0.rank..].first_chunk().unwrap_or(&NONE_NEAR)
        } else {
            &NONE_NEAR
        },
    };
    add_lanes::<PRODUCTS, ALL, KIND>(pair, used, &others, &mut query.lambdas[group], &mut query.hessians[group], sums);
}

#[derive(Clone, Copy)]
struct Document {
    rank: usize,
    score: f32,
    value: f32,
    row: f32,
    weight: f32,
    /// e^(sigma (score - middle)), for products.
    power: f32,
}

static NONE_NEAR: Lanes = [0.0; LANES];

/// A group of lower documents.
struct Others<'a> {
    scores: &'a Lanes,
    values: &'a Lanes,
    columns: &'a Lanes,
    /// e^(sigma (middle - score)), for products.
    powers: &'a Lanes,
    near: &'a Lanes,
}

#[derive(Default)]
struct RowSums {
    signed: Lanes,
    sizes: Lanes,
    hessians: Lanes,
}

/// The same for lanes, in one loop, so that intermediate results stay in registers.
#[inline(always)]
fn add_lanes<const PRODUCTS: bool, const ALL: bool, const KIND: u8>(
    (first, params): (Document, PairParams),
    (n_skipped, n_used): (u32, u32),
    others: &Others<'_>,
    lambdas: &mut Lanes,
    hessians: &mut Lanes,
    sums: &mut RowSums,
) {
    for lane in 0..LANES {
        // For skipped lanes, this wraps around to large numbers.
        let is_used = ALL | ((lane as u32).wrapping_sub(n_skipped) < n_used);
        let gap = if is_used { first.value - others.values[lane] } else { 0.0 };
        // Documents ranked before i have larger scores; a negative distance could make the divisor 0.
        let distance = if is_used { first.score - others.scores[lane] } else { 0.0 };
        let (signed, hessian) = if KIND == HINGE {
            hinge(gap, params.sigma * distance)
        } else {
            let power = if PRODUCTS {
                // At least 1, up to rounding, because the first document has the higher score.
                first.power * others.powers[lane]
            } else {
                // Below 1 if the worse document is ahead, so that it cannot overflow.
                exp(params.sigma * if gap > 0.0 { distance } else { -distance })
            };
            let swap = importance::<KIND>(&first, gap, (others.columns[lane], others.near[lane]));
            let floor = if params.divides_by_distance { SCORE_DISTANCE_FLOOR + distance } else { 1.0 };
            // One division for both probabilities of the pair and the floor.
            let small = 1.0 / (floor * (1.0 + power));
            let large = power * small;
            let is_straight = !PRODUCTS | (gap > 0.0);
            let p = if is_straight { small } else { large };
            let rest = if is_straight { large } else { small };
            // The lambda of the document in the lane: positive (down) if the first document is the better one.
            let signed = swap * p;
            // 1 - p is in `rest`, without cancellation if p is near 1.
            (signed, signed.abs() * (rest * floor))
        };
        lambdas[lane] += signed;
        hessians[lane] += hessian;
        sums.signed[lane] += signed;
        sums.sizes[lane] += signed.abs();
        sums.hessians[lane] += hessian;
    }
}

/// The weight of a pair, with the sign of the difference of its values.
#[inline(always)]
fn importance<const KIND: u8>(first: &Document, gap: f32, (column, near): (f32, f32)) -> f32 {
    if KIND == BETTER {
        let of_better = if gap > 0.0 { first.row } else { -column };
        return if gap == 0.0 { 0.0 } else { of_better };
    }
    let change = first.row - first.weight * column;
    gap * if KIND == SWAP_AND_NEAR { change + near } else { change }
}

/// The lambda of the lower document of a pair for the squared hinge loss, and the Hessian.
#[inline(always)]
fn hinge(gap: f32, distance: f32) -> (f32, f32) {
    let missing = 1.0 - if gap > 0.0 { distance } else { -distance };
    let is_active = (gap != 0.0) & (missing > 0.0);
    let signed = if gap > 0.0 { missing } else { -missing };
    (if is_active { signed } else { 0.0 }, if is_active { 1.0 } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;

    /// Runs the kernel on a sorted list; returns lambdas, Hessians and the sum.
    fn run(level: SimdLevel, docs: &[(f32, f32)], params: PairParams) -> (Vec<f32>, Vec<f32>, f64) {
        let n_padded = docs.len().next_multiple_of(LANES);
        let last = docs[docs.len() - 1].0;
        let column = |of: &dyn Fn(usize) -> f32, rest: f32| -> Vec<f32> {
            (0..n_padded).map(|rank| if rank < docs.len() { of(rank) } else { rest }).collect()
        };
        let scores = column(&|rank| docs[rank].0, last);
        let values = column(&|rank| docs[rank].1, 0.0);
        let rows = column(&|rank| 1.0 / (2.0 + rank as f32).log2(), 0.0);
        let weights = column(&|rank| if rank % 5 == 4 { 0.5 } else { 1.0 }, 0.0);
        let near: Vec<f32> = (0..n_padded + LANES).map(|at| 1.0 / (1.0 + at as f32)).collect();
        let (mut lambdas, mut hessians, mut powers) = (vec![0.0; n_padded], vec![0.0; n_padded], vec![0.0; n_padded]);
        let mut query = RankedQuery {
            n_docs: docs.len(),
            scores: scores.as_chunks().0,
            values: values.as_chunks().0,
            rows: rows.as_chunks().0,
            weights: weights.as_chunks().0,
            columns: rows.as_chunks().0,
            near: &near,
            powers: powers.as_chunks_mut().0,
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
            prop_oneof![3 => -2.0f32..2.0, 3 => (-2i8..3).prop_map(f32::from), 1 => -20.0f32..20.0],
            (0u8..5).prop_map(|l| f32::from(l).exp2() - 1.0),
        );
        prop::collection::vec(doc, 1..150).prop_map(|mut docs| {
            docs.sort_by(|a, b| b.0.total_cmp(&a.0));
            docs
        })
    }

    /// Unused lanes must not affect the others, whatever their scores: here one is 0.01 ahead, the floor of the
    /// divisor.
    #[test]
    fn lanes_that_take_no_part_change_nothing() {
        let params = PairParams { importance: Importance::Swap, n_rows: 30, sigma: 1.0, divides_by_distance: true };
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
        /// All instruction sets give exactly the same bits as the portable code.
        #[test]
        fn levels_agree_to_the_bit(
            docs in sorted_docs(), n_rows in 1usize..60, sigma in 0.1f32..3.0, divides_by_distance in any::<bool>(),
            importance in prop::sample::select(&[
                Importance::Swap, Importance::SwapAndNear, Importance::Better, Importance::Hinge,
            ]),
        ) {
            let params = PairParams { importance, n_rows, sigma, divides_by_distance };
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
