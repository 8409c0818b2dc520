//! How good each split of a block's 16 features is for nodes that share it, all at once, down the bins.
//!
//! Scores are in f32 and added up over nodes: a true sum over `n` nodes is at most [`slack`] times what is found here. A side
//! without Hessian has no value and adds nothing; it may be empty, which is allowed where nodes share a split.

use rankwise_data::simd_kernel;

use crate::blocks::BLOCK_FEATURES;

use super::CellRow;
use super::halves::halves;
use super::peaks::{MAX_L2, PeakScan, SLACK, ValueBins, missing_cells, n_scanned, shrunk};

/// The scores of one bin, each lane at its place ([`super::halves::place_of`]); negative infinity where a split is not allowed.
pub(crate) type ScoreRow = [f32; BLOCK_FEATURES];

/// A bound of the error of a sum over some nodes: that of each score, and of adding so many numbers that are not negative.
pub(crate) fn slack(n_nodes: usize) -> f64 {
    SLACK * (1.0 + n_nodes as f64 / (1u64 << 23) as f64)
}

simd_kernel! {
    /// Adds the scores of a node to those of other nodes, by bin: with missing values on the right, and on the left where the
    /// block has any.
    pub(crate) fn add_scores(
        cells: &[CellRow], bins: &ValueBins, scan: &PeakScan, right: &mut [ScoreRow], left: Option<&mut [ScoreRow]>,
    ) = add_scores_body;
}

#[inline(always)]
fn add_scores_body(
    cells: &[CellRow],
    bins: &ValueBins,
    scan: &PeakScan,
    right: &mut [ScoreRow],
    left: Option<&mut [ScoreRow]>,
) {
    if scan.l1 == 0 {
        add_scores_of::<false>(cells, bins, scan, right, left);
    } else {
        add_scores_of::<true>(cells, bins, scan, right, left);
    }
}

#[inline(always)]
fn add_scores_of<const HAS_L1: bool>(
    cells: &[CellRow],
    bins: &ValueBins,
    scan: &PeakScan,
    right: &mut [ScoreRow],
    left: Option<&mut [ScoreRow]>,
) {
    let missing = missing_cells(bins, |bin, lane| cells[bin][lane]);
    let has_missing = missing != [0; BLOCK_FEATURES];
    let n_bins = n_scanned(bins, cells.len());
    let (cells, right) = (&cells[..n_bins], &mut right[..n_bins]);
    let node = NodeLanes {
        grad: (scan.whole >> 32) as i32,
        hess: scan.whole as i32,
        l1: scan.l1,
        l2: scan.l2.min(MAX_L2) as f32,
        min_hess: scan.min_hess,
    };
    let mut below = [0u64; BLOCK_FEATURES];
    match left {
        None => {
            for (row, right) in cells.iter().zip(right) {
                add(&mut below, row);
                add_row(right, &node.scores::<HAS_L1>(&below));
            }
        }
        Some(left) if !has_missing => {
            for ((row, right), left) in cells.iter().zip(right).zip(left) {
                add(&mut below, row);
                let scores = node.scores::<HAS_L1>(&below);
                add_row(right, &scores);
                add_row(left, &scores);
            }
        }
        Some(left) => {
            for ((row, right), left) in cells.iter().zip(right).zip(left) {
                add(&mut below, row);
                add_row(right, &node.scores::<HAS_L1>(&below));
                let mut with_missing = below;
                add(&mut with_missing, &missing);
                add_row(left, &node.scores::<HAS_L1>(&with_missing));
            }
        }
    }
}

#[inline(always)]
fn add(sums: &mut CellRow, others: &CellRow) {
    for lane in 0..BLOCK_FEATURES {
        sums[lane] = sums[lane].wrapping_add(others[lane]);
    }
}

#[inline(always)]
fn add_row(sums: &mut ScoreRow, scores: &ScoreRow) {
    for lane in 0..BLOCK_FEATURES {
        sums[lane] += scores[lane];
    }
}

/// A node as every lane sees it.
#[derive(Clone, Copy)]
struct NodeLanes {
    grad: i32,
    hess: i32,
    l1: i32,
    l2: f32,
    min_hess: i32,
}

impl NodeLanes {
    /// The scores of the splits with these cells on the left.
    #[inline(always)]
    fn scores<const HAS_L1: bool>(self, left: &CellRow) -> ScoreRow {
        let mut scores = [0.0; BLOCK_FEATURES];
        let left = halves(left);
        for place in 0..BLOCK_FEATURES {
            let (left_grad, left_hess) = (left.grad[place], left.hess[place]);
            // Lanes that are past their last bin may hold any bits; they are not used, but must not overflow.
            let right_grad = self.grad.wrapping_sub(left_grad);
            let right_hess = self.hess.wrapping_sub(left_hess);
            let is_refused =
                ((left_hess != 0) & (left_hess < self.min_hess)) | ((right_hess != 0) & (right_hess < self.min_hess));
            let gl = if left_hess == 0 { 0.0 } else { shrunk::<HAS_L1>(left_grad, self.l1) as f32 };
            let gr = if right_hess == 0 { 0.0 } else { shrunk::<HAS_L1>(right_grad, self.l1) as f32 };
            let dl = if left_hess == 0 { 1.0 } else { left_hess as f32 + self.l2 };
            let dr = if right_hess == 0 { 1.0 } else { right_hess as f32 + self.l2 };
            let score = (gl * gl * dr + gr * gr * dl) / (dl * dr);
            scores[place] = if is_refused { f32::NEG_INFINITY } else { score };
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;
    use crate::kernel::halves::place_of;

    /// The score of one split in f64.
    fn score(whole: u64, left: u64, scan: &PeakScan) -> f64 {
        let term = |side: u64| {
            let (grad, hess) = ((side >> 32) as i32, side as i32);
            if hess == 0 {
                return 0.0;
            }
            if hess < scan.min_hess {
                return f64::NEG_INFINITY;
            }
            let shrunk = f64::from((grad.abs() - scan.l1).max(0));
            shrunk * shrunk / (f64::from(hess) + scan.l2)
        };
        term(left) + term(whole.wrapping_sub(left))
    }

    proptest! {
        /// Sums bound the true ones, tightly; every instruction set finds the same.
        #[test]
        fn scores_bound_the_true_ones(
            nodes in prop::collection::vec(prop::collection::vec(prop::array::uniform16(
                prop_oneof![Just((0, 0)), (-4000i32..4000, 0i32..4000)]), 9), 1..12),
            l1 in prop_oneof![Just(0), 1i32..500], l2 in prop_oneof![Just(0.0), 0.1f64..5.0],
            min_hess in prop_oneof![Just(1), 1i32..3000], bins in prop::array::uniform16(0u32..9), has_missing in any::<bool>(),
        ) {
            let mut sums: Vec<[[f64; 2]; BLOCK_FEATURES]> = vec![[[0.0; 2]; BLOCK_FEATURES]; 9];
            let mut found: Vec<Vec<[ScoreRow; 2]>> = Vec::new();
            let levels = SimdLevel::available();
            for level in &levels {
                let (mut right, mut left) = (vec![[0.0; BLOCK_FEATURES]; 9], vec![[0.0; BLOCK_FEATURES]; 9]);
                for node in &nodes {
                    let mut cells: Vec<CellRow> = node.iter()
                        .map(|row| row.map(|(grad, hess)| (i64::from(grad) << 32) as u64 | u64::from(hess as u32))).collect();
                    let whole = cells.iter().fold(0u64, |sum, row| sum.wrapping_add(row[0]));
                    for lane in 0..BLOCK_FEATURES {
                        let bins = bins[lane] as usize;
                        cells[bins + 1..].iter_mut().for_each(|row| row[lane] = 0);
                        if !has_missing {
                            cells[bins][lane] = 0;
                        }
                        let sum = cells.iter().fold(0u64, |sum, row| sum.wrapping_add(row[lane]));
                        // Every lane has the same sum, whatever bin takes the difference.
                        let at = if bins == 0 { 0 } else { bins / 2 };
                        cells[at][lane] = cells[at][lane].wrapping_add(whole.wrapping_sub(sum));
                    }
                    let scan = PeakScan { whole, l1, l2, min_hess };
                    let of_left = has_missing.then_some(&mut left[..]);
                    add_scores(*level, &cells, &bins, &scan, &mut right, of_left);
                    if level == &levels[0] {
                        for lane in 0..BLOCK_FEATURES {
                            let (missing, mut below) = (cells[bins[lane] as usize][lane], 0u64);
                            for bin in 0..bins[lane] as usize {
                                below = below.wrapping_add(cells[bin][lane]);
                                sums[bin][lane][0] += score(whole, below, &scan);
                                sums[bin][lane][1] += score(whole, below.wrapping_add(missing), &scan);
                            }
                        }
                    }
                }
                found.push(right.into_iter().zip(left).map(|(right, left)| [right, left]).collect());
            }
            for other in &found[1..] {
                prop_assert_eq!(format!("{other:?}"), format!("{:?}", found[0]));
            }
            for lane in 0..BLOCK_FEATURES {
                for bin in 0..bins[lane] as usize {
                    for way in 0..=usize::from(has_missing) {
                        let (true_sum, found) = (sums[bin][lane][way], f64::from(found[0][bin][way][place_of(lane)]));
                        if true_sum == f64::NEG_INFINITY {
                            prop_assert_eq!(found, f64::NEG_INFINITY);
                        } else {
                            prop_assert!(true_sum <= found * slack(nodes.len()), "{true_sum} {found}");
                            prop_assert!(true_sum * slack(nodes.len()) >= found, "{true_sum} {found}");
                        }
                    }
                }
            }
        }
    }
}
