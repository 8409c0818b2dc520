//! The plain scan: the best question about one feature, bin by bin.
//!
//! A candidate is (feature, bin, where missing values go). Its score is the sum over both sides of every node of
//! G^2/(H + l2), with G shrunk by l1; the parents' terms are the same for all candidates and are taken off the winner
//! only. Ties go to the lower feature, then the lower bin, then missing values to the left.

use crate::bounds::Bounds;
use crate::context::TreeContext;
use crate::{Cell, Sums};

/// Rows on one side of a split, or of a whole node: those of all members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The sums of their gradients and Hessians.
    pub sums: Sums,
    /// How many there are.
    pub count: u32,
}

impl Side {
    #[inline]
    fn of(cell: Cell) -> Self {
        Self { sums: cell.sums(), count: cell.count }
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        Self { sums: self.sums + other.sums, count: self.count + other.count }
    }

    #[inline]
    fn minus(self, other: Self) -> Self {
        Self { sums: self.sums - other.sums, count: self.count - other.count }
    }
}

/// A question and what it gains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The feature, by its index in the binned data.
    pub feature: usize,
    /// Values up to this bin go left.
    pub bin: u8,
    /// Whether missing values go left.
    pub missing_left: bool,
    /// By how much it lowers the loss, twice over.
    pub gain: f64,
}

/// A node under way through the bins of a feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep<'a> {
    whole: Side,
    bounds: Bounds,
    /// The cells of the value bins.
    values: &'a [Cell],
    missing: Side,
    /// Rows in the bins so far.
    below: Side,
}

impl<'a> Sweep<'a> {
    /// `cells` are those of the feature, the bin of missing values last.
    pub(crate) fn new(cells: &'a [Cell], whole: Side, bounds: Bounds) -> Self {
        let (missing, values) = cells.split_last().expect("there is always a cell for missing values");
        Self { whole, bounds, values, missing: Side::of(*missing), below: Side::default() }
    }
}

/// The best question about one feature for the nodes together; its `gain` is the score, without the parents' terms.
pub(crate) fn best_of_feature(
    tree: &TreeContext<'_>,
    feature: usize,
    sweeps: &mut [Sweep<'_>],
    min_data: usize,
) -> Option<Split> {
    let direction = tree.directions[feature];
    // Without missing values both directions are the same split, and left wins ties.
    let ways = if sweeps.iter().any(|sweep| sweep.missing.count > 0) { &[true, false][..] } else { &[true] };
    let mut best: Option<Split> = None;
    for bin in 0..sweeps[0].values.len() {
        // An empty bin divides the rows as the one below it did.
        if bin > 0 && sweeps.iter().all(|sweep| sweep.values[bin].count == 0) {
            continue;
        }
        for sweep in &mut *sweeps {
            sweep.below = sweep.below.plus(Side::of(sweep.values[bin]));
        }
        for missing_left in ways.iter().copied() {
            let Some(score) = score(tree, sweeps, missing_left, direction, min_data) else { continue };
            if best.is_none_or(|best| score > best.gain) {
                best = Some(Split { feature, bin: bin as u8, missing_left, gain: score });
            }
        }
    }
    best
}

/// The score of the candidate that the sweeps stand at; `None` where it is not allowed.
#[inline]
fn score(
    tree: &TreeContext<'_>,
    sweeps: &[Sweep<'_>],
    missing_left: bool,
    direction: i8,
    min_data: usize,
) -> Option<f64> {
    let mut total = 0.0;
    let mut divides = false;
    for sweep in sweeps {
        let left = if missing_left { sweep.below.plus(sweep.missing) } else { sweep.below };
        let right = sweep.whole.minus(left);
        if tree.allows_empty_sides && (left.count == 0 || right.count == 0) {
            total += tree.term(sweep.whole, sweep.bounds);
            continue;
        }
        let is_leaf = |side: Side| side.count as usize >= min_data.max(1) && tree.has_enough_hess(side);
        if !is_leaf(left) || !is_leaf(right) {
            return None;
        }
        if direction != 0 {
            let rise = tree.value(right, sweep.bounds) - tree.value(left, sweep.bounds);
            if rise * f64::from(direction) < 0.0 {
                return None;
            }
        }
        total += tree.pair_score(left, right, sweep.bounds);
        divides = true;
    }
    divides.then_some(total)
}
