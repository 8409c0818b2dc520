//! The best split of each of a block's 16 features, all at once, down the bins.
//!
//! The arithmetic of a lane is that of the plain scan, operation by operation, so scores agree to the bit. Counts are
//! not known here: a caller that needs a minimum checks the winner and looks again if it fails.

use rankwise_data::{BLOCK_FEATURES, simd_kernel};

use super::CellRow;

/// What a scan needs to know beside the cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneScan {
    /// All rows of the node, packed.
    pub(crate) whole: u64,
    /// What 1 means in fixed point.
    pub(crate) grad_unit: f64,
    pub(crate) hess_unit: f64,
    /// `lambda_l1` in fixed point, `lambda_l2` as it is.
    pub(crate) l1: i32,
    pub(crate) l2: f64,
    /// Smallest fixed-point Hessian of a side, at least 1.
    pub(crate) min_hess: i32,
    /// For each lane its number of value bins; the next cell is that of missing values.
    pub(crate) n_value_bins: [u32; BLOCK_FEATURES],
}

/// The best candidate of each lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaneBest {
    /// Scores without the parent's term; negative infinity where there is no candidate.
    pub(crate) score: [f64; BLOCK_FEATURES],
    /// Twice the bin, plus 1 where missing values go right.
    pub(crate) place: [u64; BLOCK_FEATURES],
}

impl LaneBest {
    const NONE: Self = Self { score: [f64::NEG_INFINITY; BLOCK_FEATURES], place: [0; BLOCK_FEATURES] };
}

simd_kernel! {
    /// Scans the cells of a block.
    pub(crate) fn scan_block(cells: &[CellRow], scan: &LaneScan) -> LaneBest = scan_block_body;
}

#[inline(always)]
fn scan_block_body(cells: &[CellRow], scan: &LaneScan) -> LaneBest {
    if scan.l1 == 0 { scan_lanes::<false>(cells, scan) } else { scan_lanes::<true>(cells, scan) }
}

#[inline(always)]
fn scan_lanes<const HAS_L1: bool>(cells: &[CellRow], scan: &LaneScan) -> LaneBest {
    let mut missing = [0u64; BLOCK_FEATURES];
    for lane in 0..BLOCK_FEATURES {
        let bin = scan.n_value_bins[lane] as usize;
        // Lanes without a feature have no bins; their first cell holds the whole node.
        missing[lane] = if bin == 0 { 0 } else { cells.get(bin).map_or(0, |cells| cells[lane]) };
    }
    let has_missing = missing != [0; BLOCK_FEATURES];
    let n_bins = scan.n_value_bins.iter().max().map_or(0, |bins| *bins as usize);
    let mut best = LaneBest::NONE;
    let mut below = [0u64; BLOCK_FEATURES];
    for (bin, row) in cells[..n_bins].iter().enumerate() {
        let mut left = [0u64; BLOCK_FEATURES];
        for lane in 0..BLOCK_FEATURES {
            below[lane] = below[lane].wrapping_add(row[lane]);
            left[lane] = below[lane].wrapping_add(missing[lane]);
        }
        try_split::<HAS_L1>(&mut best, &left, scan, bin, 0);
        if has_missing {
            try_split::<HAS_L1>(&mut best, &below, scan, bin, 1);
        }
    }
    best
}

#[inline(always)]
fn try_split<const HAS_L1: bool>(best: &mut LaneBest, left: &CellRow, scan: &LaneScan, bin: usize, missing_right: u64) {
    let place = 2 * bin as u64 + missing_right;
    for lane in 0..BLOCK_FEATURES {
        let right = scan.whole.wrapping_sub(left[lane]);
        let (left_hess, right_hess) = (left[lane] as i32, right as i32);
        let is_allowed =
            (left_hess >= scan.min_hess) & (right_hess >= scan.min_hess) & ((bin as u32) < scan.n_value_bins[lane]);
        let gl = shrunk::<HAS_L1>((left[lane] >> 32) as i32, scan.l1) * scan.grad_unit;
        let gr = shrunk::<HAS_L1>((right >> 32) as i32, scan.l1) * scan.grad_unit;
        let dl = f64::from(left_hess) * scan.hess_unit + scan.l2;
        let dr = f64::from(right_hess) * scan.hess_unit + scan.l2;
        let score = (gl * gl * dr + gr * gr * dl) / (dl * dr);
        let is_better = is_allowed & (score > best.score[lane]);
        best.score[lane] = if is_better { score } else { best.score[lane] };
        best.place[lane] = if is_better { place } else { best.place[lane] };
    }
}

#[inline(always)]
fn shrunk<const HAS_L1: bool>(grad: i32, l1: i32) -> f64 {
    // Lanes that are past their last bin may hold any bits; they are not used, but must not overflow.
    if HAS_L1 {
        f64::from(grad.wrapping_abs().wrapping_sub(l1).max(0).wrapping_mul(grad.signum()))
    } else {
        f64::from(grad)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;

    fn cells() -> impl Strategy<Value = Vec<CellRow>> {
        let cell =
            (-2000i32..2000, 0u32..2000).prop_map(|(grad, hess)| (i64::from(grad) << 32) as u64 | u64::from(hess));
        prop::collection::vec(prop::array::uniform16(prop_oneof![1 => Just(0u64), 3 => cell]), 2..40)
    }

    proptest! {
        /// Every instruction set finds the same places and the same bits.
        #[test]
        fn levels_agree_to_the_bit(
            mut cells in cells(), l1 in prop_oneof![Just(0), 1i32..500], l2 in prop_oneof![Just(0.0), 0.1f64..5.0],
            min_hess in 1i32..4000, short in prop::array::uniform16(0u32..40),
        ) {
            let height = cells.len() as u32;
            let n_value_bins = short.map(|bins| bins.min(height - 1));
            // Nothing behind the bin of missing values, and the same rows in every lane.
            for lane in 0..BLOCK_FEATURES {
                for row in &mut cells[n_value_bins[lane] as usize + 1..] {
                    row[lane] = 0;
                }
            }
            let whole = cells.iter().fold(0u64, |sum, row| sum.wrapping_add(row[0]));
            let scan = LaneScan { whole, grad_unit: 0.25, hess_unit: 0.125, l1, l2, min_hess, n_value_bins };
            let portable = scan_block(SimdLevel::PORTABLE, &cells, &scan);
            for level in SimdLevel::available() {
                let found = scan_block(level, &cells, &scan);
                prop_assert_eq!(found.place, portable.place, "{}", level.name());
                prop_assert_eq!(found.score.map(f64::to_bits), portable.score.map(f64::to_bits), "{}", level.name());
            }
        }
    }
}
