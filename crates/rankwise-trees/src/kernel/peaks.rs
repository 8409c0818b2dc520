//! How good the splits of each of a block's 16 features can be, all at once, down the bins.
//!
//! The scores are in f32, which is faster than it is exact: a true score is at most [`SLACK`] times what is found here.
//! Only features whose peak comes that close to the best are searched exactly, by [`super::lane`].
//!
//! Counts are not known here: a caller that needs a minimum checks the winner and looks again if it fails.

use rankwise_data::simd_kernel;

use crate::blocks::BLOCK_FEATURES;

use super::CellRow;
use super::halves::{Halves, halves, place_of};

/// A bound of the error: 16 roundings of at most 2^-24 each, all of positive terms, and half as much again.
pub(crate) const SLACK: f64 = 1.0 + 1.5 / (1u64 << 20) as f64;

/// Above this, `lambda_l2` in fixed point might take scores out of the range of f32.
pub(super) const MAX_L2: f64 = (1u64 << 48) as f64;

/// The best score of each lane, in units of fixed point; negative infinity where there is no candidate.
pub(crate) type Peaks = [f32; BLOCK_FEATURES];

/// What a scan needs to know beside the cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeakScan {
    /// All rows of the node, packed.
    pub(crate) whole: u64,
    /// `lambda_l1` and `lambda_l2` in fixed point.
    pub(crate) l1: i32,
    pub(crate) l2: f64,
    /// Smallest fixed-point Hessian of a side, at least 1.
    pub(crate) min_hess: i32,
}

/// For each lane its number of value bins; the next cell is that of missing values.
pub(crate) type ValueBins = [u32; BLOCK_FEATURES];

simd_kernel! {
    /// The peaks of a node from the cells of one block.
    pub(crate) fn find_peaks(cells: &[CellRow], bins: &ValueBins, scan: &PeakScan) -> Peaks = find_peaks_body;
}

simd_kernel! {
    /// Takes a child's cells from its parent's, and gives the peaks of what is left.
    pub(crate) fn subtract_and_find_peaks(
        parent: &mut [CellRow], child: &[CellRow], bins: &ValueBins, scan: &PeakScan,
    ) -> Peaks = subtract_and_find_peaks_body;
}

simd_kernel! {
    /// Takes a child's cells from its parent's.
    pub(crate) fn subtract_cells(parent: &mut [CellRow], child: &[CellRow]) = subtract_cells_body;
}

#[inline(always)]
fn subtract_cells_body(parent: &mut [CellRow], child: &[CellRow]) {
    parent.iter_mut().zip(child).for_each(|(parent, child)| subtract(parent, child));
}

#[inline(always)]
fn find_peaks_body(cells: &[CellRow], bins: &ValueBins, scan: &PeakScan) -> Peaks {
    let missing = missing_cells(bins, |bin, lane| cells[bin][lane]);
    with_flags(bins, scan, missing, cells.len(), |bin| cells[bin])
}

#[inline(always)]
fn subtract_and_find_peaks_body(parent: &mut [CellRow], child: &[CellRow], bins: &ValueBins, scan: &PeakScan) -> Peaks {
    let missing = missing_cells(bins, |bin, lane| parent[bin][lane].wrapping_sub(child[bin][lane]));
    let n_rows = parent.len().min(child.len());
    let (parent, child) = (&mut parent[..n_rows], &child[..n_rows]);
    let n_bins = n_scanned(bins, n_rows);
    let peaks = with_flags(
        bins,
        scan,
        missing,
        n_rows,
        #[inline(always)]
        |bin| {
            subtract(&mut parent[bin], &child[bin]);
            parent[bin]
        },
    );
    for bin in n_bins..n_rows {
        subtract(&mut parent[bin], &child[bin]);
    }
    peaks
}

#[inline(always)]
fn subtract(parent: &mut CellRow, child: &CellRow) {
    for lane in 0..BLOCK_FEATURES {
        parent[lane] = parent[lane].wrapping_sub(child[lane]);
    }
}

#[inline(always)]
pub(super) fn missing_cells(bins: &ValueBins, cell: impl Fn(usize, usize) -> u64) -> CellRow {
    let mut missing = [0; BLOCK_FEATURES];
    for lane in 0..BLOCK_FEATURES {
        // Lanes without a feature have no bins.
        if bins[lane] > 0 {
            missing[lane] = cell(bins[lane] as usize, lane);
        }
    }
    missing
}

/// How many rows of cells a scan looks at: up to the most bins that a lane has.
#[inline(always)]
pub(super) fn n_scanned(bins: &ValueBins, n_rows: usize) -> usize {
    bins.iter().fold(0, |most, bins| most.max(*bins as usize)).min(n_rows)
}

#[inline(always)]
fn with_flags(
    bins: &ValueBins,
    scan: &PeakScan,
    missing: CellRow,
    n_rows: usize,
    cells: impl FnMut(usize) -> CellRow,
) -> Peaks {
    let n_bins = n_scanned(bins, n_rows);
    let has_missing = missing != [0; BLOCK_FEATURES];
    match (scan.l1 != 0, has_missing) {
        (false, false) => sweep::<false, false>(n_bins, scan, &missing, cells),
        (false, true) => sweep::<false, true>(n_bins, scan, &missing, cells),
        (true, false) => sweep::<true, false>(n_bins, scan, &missing, cells),
        (true, true) => sweep::<true, true>(n_bins, scan, &missing, cells),
    }
}

#[inline(always)]
fn sweep<const HAS_L1: bool, const HAS_MISSING: bool>(
    n_bins: usize,
    scan: &PeakScan,
    missing: &CellRow,
    mut cells: impl FnMut(usize) -> CellRow,
) -> Peaks {
    let scan = Lanes {
        grad: (scan.whole >> 32) as i32,
        hess: scan.whole as i32,
        l1: scan.l1,
        l2: scan.l2.min(MAX_L2) as f32,
        min_hess: scan.min_hess,
    };
    let mut peaks = [f32::NEG_INFINITY; BLOCK_FEATURES];
    let mut below = [0u64; BLOCK_FEATURES];
    for bin in 0..n_bins {
        let row = cells(bin);
        for lane in 0..BLOCK_FEATURES {
            below[lane] = below[lane].wrapping_add(row[lane]);
        }
        scan.judge::<HAS_L1>(&mut peaks, &halves(&below));
        if HAS_MISSING {
            let mut left = below;
            for lane in 0..BLOCK_FEATURES {
                left[lane] = left[lane].wrapping_add(missing[lane]);
            }
            scan.judge::<HAS_L1>(&mut peaks, &halves(&left));
        }
    }
    std::array::from_fn(|lane| peaks[place_of(lane)])
}

/// A node as every lane sees it.
#[derive(Clone, Copy)]
struct Lanes {
    grad: i32,
    hess: i32,
    l1: i32,
    l2: f32,
    min_hess: i32,
}

impl Lanes {
    /// Raises the peaks, which stand where `left` has its lanes, to the scores of the splits with these sums on the left.
    ///
    /// Nothing asks for the last bin of a lane: from there on all rows are on the left, or more where missing values are added
    /// once more, so that none are on the right and the split is not allowed.
    #[inline(always)]
    fn judge<const HAS_L1: bool>(self, peaks: &mut Peaks, left: &Halves) {
        for place in 0..BLOCK_FEATURES {
            let (left_grad, left_hess) = (left.grad[place], left.hess[place]);
            // Lanes without a feature of the tree may hold any bits; they are not used, but must not overflow.
            let right_grad = self.grad.wrapping_sub(left_grad);
            let right_hess = self.hess.wrapping_sub(left_hess);
            let is_allowed = left_hess.min(right_hess) >= self.min_hess;
            let gl = shrunk::<HAS_L1>(left_grad, self.l1) as f32;
            let gr = shrunk::<HAS_L1>(right_grad, self.l1) as f32;
            let dl = left_hess as f32 + self.l2;
            let dr = right_hess as f32 + self.l2;
            let score = (gl * gl * dr + gr * gr * dl) / (dl * dr);
            peaks[place] = if is_allowed & (score > peaks[place]) { score } else { peaks[place] };
        }
    }
}

impl PeakScan {
    /// Whether f32 has the range for the scores.
    pub(crate) fn is_in_range(&self) -> bool {
        self.l2 <= MAX_L2
    }
}

/// A sum of gradients, `l1` closer to 0.
#[inline(always)]
pub(super) fn shrunk<const HAS_L1: bool>(grad: i32, l1: i32) -> i32 {
    if HAS_L1 { grad.wrapping_abs().wrapping_sub(l1).max(0).wrapping_mul(grad.signum()) } else { grad }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;
    use crate::kernel::lane::{LaneScan, best_of_lane};

    fn cells(most: i32) -> impl Strategy<Value = Vec<CellRow>> {
        let cell =
            (-most..most, 0..most).prop_map(|(grad, hess)| (i64::from(grad) << 32) as u64 | u64::from(hess as u32));
        prop::collection::vec(prop::array::uniform16(prop_oneof![1 => Just(0u64), 3 => cell]), 2..40)
    }

    /// Nothing behind the bin of missing values, and the same sum in every lane.
    fn tidied(mut cells: Vec<CellRow>, bins: &ValueBins) -> (Vec<CellRow>, u64) {
        let whole = cells.iter().fold(0u64, |sum, row| sum.wrapping_add(row[0]));
        for lane in 0..BLOCK_FEATURES {
            let bins = bins[lane] as usize;
            for row in &mut cells[bins + 1..] {
                row[lane] = 0;
            }
            let sum = cells.iter().fold(0u64, |sum, row| sum.wrapping_add(row[lane]));
            cells[bins / 2][lane] = cells[bins / 2][lane].wrapping_add(whole.wrapping_sub(sum));
        }
        (cells, whole)
    }

    proptest! {
        /// A peak and its slack bound the true best score, tightly; every instruction set finds the same one.
        #[test]
        fn peaks_bound_the_best(
            cells in prop_oneof![cells(2000), cells(1 << 25)], l1 in prop_oneof![Just(0), 1i32..500],
            l2 in prop_oneof![Just(0.0), 0.1f64..5.0, Just(1e9), Just(MAX_L2)], min_hess in 1i32..4000,
            bins in prop::array::uniform16(0u32..40),
        ) {
            let bins = bins.map(|bins| bins.min(cells.len() as u32 - 1));
            let (cells, whole) = tidied(cells, &bins);
            let scan = PeakScan { whole, l1, l2, min_hess };
            prop_assert!(scan.is_in_range());
            let peaks = find_peaks(SimdLevel::PORTABLE, &cells, &bins, &scan);
            for level in SimdLevel::available() {
                let found = find_peaks(level, &cells, &bins, &scan);
                prop_assert_eq!(found.map(f32::to_bits), peaks.map(f32::to_bits), "{}", level.name());
            }
            let exact = LaneScan { whole, grad_unit: 1.0, hess_unit: 1.0, l1, l2, min_hess };
            for lane in 0..BLOCK_FEATURES {
                let best = best_of_lane(&cells[..=bins[lane] as usize], lane, &exact);
                let peak = f64::from(peaks[lane]);
                if let Some(best) = best {
                    prop_assert!(best.score <= peak * SLACK, "{} > {peak}", best.score);
                    prop_assert!(best.score * SLACK >= peak, "{} << {peak}", best.score);
                } else {
                    prop_assert_eq!(peaks[lane], f32::NEG_INFINITY);
                }
            }
        }

        /// What is left of a parent, and its peaks, are those of the difference.
        #[test]
        fn subtracting_finds_the_same_peaks(
            parent in cells(2000), child in cells(2000), l1 in prop_oneof![Just(0), 1i32..500],
            min_hess in 1i32..4000, bins in prop::array::uniform16(0u32..40), whole in any::<u64>(),
        ) {
            let height = parent.len().min(child.len());
            let bins = bins.map(|bins| bins.min(height as u32 - 1));
            let scan = PeakScan { whole, l1, l2: 1.0, min_hess };
            let mut difference = parent[..height].to_vec();
            difference.iter_mut().zip(&child).for_each(|(row, child)| subtract(row, child));
            let expected = find_peaks(SimdLevel::PORTABLE, &difference, &bins, &scan);
            for level in SimdLevel::available() {
                let mut rest = parent[..height].to_vec();
                let found = subtract_and_find_peaks(level, &mut rest, &child[..height], &bins, &scan);
                prop_assert_eq!(&rest, &difference);
                prop_assert_eq!(found.map(f32::to_bits), expected.map(f32::to_bits), "{}", level.name());
            }
        }
    }
}
