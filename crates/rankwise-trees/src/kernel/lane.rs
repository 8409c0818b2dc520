//! The best split of one feature of a block, exactly.
//!
//! The arithmetic is that of the plain scan, operation by operation, so scores agree to the bit. Counts are not known.

use super::CellRow;
use super::peaks::shrunk;

/// What a search needs to know beside the cells.
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
}

/// A candidate of one feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaneBest {
    pub(crate) bin: u8,
    pub(crate) missing_left: bool,
    /// Without the parent's term.
    pub(crate) score: f64,
}

/// Searches one lane of a block, given the cells of its bins, that of missing values last. The first of equal scores wins,
/// missing values to the left before to the right.
pub(crate) fn best_of_lane(cells: &[CellRow], lane: usize, scan: &LaneScan) -> Option<LaneBest> {
    if scan.l1 == 0 { search::<false>(cells, lane, scan) } else { search::<true>(cells, lane, scan) }
}

fn search<const HAS_L1: bool>(cells: &[CellRow], lane: usize, scan: &LaneScan) -> Option<LaneBest> {
    let (missing, values) = cells.split_last()?;
    let missing = missing[lane];
    let mut best = LaneBest { bin: 0, missing_left: true, score: f64::NEG_INFINITY };
    let mut below = 0u64;
    for (bin, row) in values.iter().enumerate() {
        below = below.wrapping_add(row[lane]);
        let score = scan.score::<HAS_L1>(below.wrapping_add(missing));
        if score > best.score {
            best = LaneBest { bin: bin as u8, missing_left: true, score };
        }
        if missing != 0 {
            let score = scan.score::<HAS_L1>(below);
            if score > best.score {
                best = LaneBest { bin: bin as u8, missing_left: false, score };
            }
        }
    }
    (best.score > f64::NEG_INFINITY).then_some(best)
}

impl LaneScan {
    /// The score of the split with these rows on the left; negative infinity where it is not allowed.
    #[inline]
    fn score<const HAS_L1: bool>(&self, left: u64) -> f64 {
        let right = self.whole.wrapping_sub(left);
        let (left_hess, right_hess) = (left as i32, right as i32);
        let gl = f64::from(shrunk::<HAS_L1>((left >> 32) as i32, self.l1)) * self.grad_unit;
        let gr = f64::from(shrunk::<HAS_L1>((right >> 32) as i32, self.l1)) * self.grad_unit;
        let dl = f64::from(left_hess) * self.hess_unit + self.l2;
        let dr = f64::from(right_hess) * self.hess_unit + self.l2;
        let score = (gl * gl * dr + gr * gr * dl) / (dl * dr);
        let is_allowed = (left_hess >= self.min_hess) & (right_hess >= self.min_hess);
        if is_allowed { score } else { f64::NEG_INFINITY }
    }
}
