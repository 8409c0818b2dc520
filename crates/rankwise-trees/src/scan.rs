//! The best question to ask of a node, or of several nodes at once.
//!
//! A candidate is (feature, bin, where missing values go). Its score is the sum over both sides of every node of
//! G^2/(H + l2), with G shrunk by l1; the parents' terms are the same for all candidates and are taken off the winner
//! only. Ties go to the lower feature, then the lower bin, then missing values to the left.

use rayon::prelude::*;

use crate::bounds::Bounds;
use crate::{Cell, FixedPoint, Histogram, HistogramLayout, Sums, TreeParams};

/// A gain below this share of the parents' term is rounding noise: a split of rows that are all alike.
const GAIN_NOISE: f64 = 1.0 / (1u64 << 40) as f64;

/// Rows on one side of a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) sums: Sums,
    pub(crate) count: u32,
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
    pub(crate) fn minus(self, other: Self) -> Self {
        Self { sums: self.sums - other.sums, count: self.count - other.count }
    }
}

/// A node as the scan sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanNode<'a> {
    pub(crate) histogram: &'a Histogram,
    pub(crate) whole: Side,
    pub(crate) bounds: Bounds,
}

/// A question and what it gains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    pub(crate) feature: usize,
    pub(crate) bin: u8,
    pub(crate) missing_left: bool,
    pub(crate) gain: f64,
}

/// A node under way through the bins of a feature.
struct Sweep<'a> {
    node: ScanNode<'a>,
    /// The cells of the value bins.
    values: &'a [Cell],
    missing: Side,
    /// Rows in the bins so far.
    below: Side,
}

/// What one node adds to a candidate's score.
struct Contribution {
    score: f64,
    divides: bool,
}

/// Everything about a tree that its scans share.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    pub(crate) layout: &'a HistogramLayout,
    pub(crate) fixed: &'a FixedPoint,
    pub(crate) params: &'a TreeParams,
    /// For each feature, the direction it is bound to, or 0.
    pub(crate) directions: &'a [i8],
    pub(crate) allows_empty_sides: bool,
    /// `lambda_l1` in fixed point.
    pub(crate) l1: i64,
}

impl Scanner<'_> {
    /// The best common question for the nodes, if any is worth asking.
    pub(crate) fn best(&self, nodes: &[ScanNode<'_>], features: &[usize]) -> Option<Split> {
        let by_feature: Vec<Option<Split>> =
            features.par_iter().with_min_len(8).map(|feature| self.best_of_feature(nodes, *feature)).collect();
        // Features ascend, so the first of equal scores has the lowest.
        let best =
            by_feature.into_iter().flatten().reduce(|best, next| if next.gain > best.gain { next } else { best })?;
        let parents: f64 = nodes.iter().map(|node| self.term(node.whole, node.bounds)).sum();
        let gain = best.gain - parents;
        let threshold = self.params.min_gain_to_split.max(parents.abs() * GAIN_NOISE);
        (gain > threshold).then_some(Split { gain, ..best })
    }

    /// The best question about one feature; its `gain` is the score, without the parents' terms.
    fn best_of_feature(&self, nodes: &[ScanNode<'_>], feature: usize) -> Option<Split> {
        let mut sweeps: Vec<Sweep<'_>> = nodes
            .iter()
            .map(|node| {
                let (missing, values) = node
                    .histogram
                    .feature(self.layout, feature)
                    .split_last()
                    .expect("there is a cell for missing values");
                Sweep { node: *node, values, missing: Side::of(*missing), below: Side::default() }
            })
            .collect();
        // Without missing values both directions are the same split, and left wins ties.
        let directions = if sweeps.iter().any(|sweep| sweep.missing.count > 0) { &[true, false][..] } else { &[true] };
        let mut best: Option<Split> = None;
        for bin in 0..sweeps[0].values.len() {
            // An empty bin divides the rows as the one below it did.
            if bin > 0 && sweeps.iter().all(|sweep| sweep.values[bin].count == 0) {
                continue;
            }
            for sweep in &mut sweeps {
                sweep.below = sweep.below.plus(Side::of(sweep.values[bin]));
            }
            for missing_left in directions.iter().copied() {
                let Some(score) = self.score(&sweeps, missing_left, self.directions[feature]) else { continue };
                if best.is_none_or(|best| score > best.gain) {
                    best = Some(Split { feature, bin: bin as u8, missing_left, gain: score });
                }
            }
        }
        best
    }

    /// The score of the candidate that the sweeps stand at; `None` where it is not allowed.
    fn score(&self, sweeps: &[Sweep<'_>], missing_left: bool, direction: i8) -> Option<f64> {
        let mut total = 0.0;
        let mut divides = false;
        for sweep in sweeps {
            let left = if missing_left { sweep.below.plus(sweep.missing) } else { sweep.below };
            let part = self.contribution(&sweep.node, left, direction)?;
            total += part.score;
            divides |= part.divides;
        }
        divides.then_some(total)
    }

    #[inline]
    fn contribution(&self, node: &ScanNode<'_>, left: Side, direction: i8) -> Option<Contribution> {
        let right = node.whole.minus(left);
        if self.allows_empty_sides && (left.count == 0 || right.count == 0) {
            return Some(Contribution { score: self.term(node.whole, node.bounds), divides: false });
        }
        if !self.is_allowed(left) || !self.is_allowed(right) {
            return None;
        }
        if direction != 0 {
            let rise = self.value(right, node.bounds) - self.value(left, node.bounds);
            if rise * f64::from(direction) < 0.0 {
                return None;
            }
        }
        Some(Contribution { score: self.term(left, node.bounds) + self.term(right, node.bounds), divides: true })
    }

    /// Whether a leaf may look like this.
    #[inline]
    fn is_allowed(&self, side: Side) -> bool {
        if side.count == 0 || (side.count as usize) < self.params.min_data_in_leaf {
            return false;
        }
        if side.sums.hess == 0 {
            // No curvature, so no value: useless as a leaf, harmless where the other nodes pay for the question.
            return self.allows_empty_sides;
        }
        self.fixed.hess(side.sums.hess) >= self.params.min_sum_hessian_in_leaf
    }

    /// How much a leaf with these rows lowers the loss, twice over.
    #[inline]
    fn term(&self, side: Side, bounds: Bounds) -> f64 {
        if side.sums.hess == 0 {
            return 0.0;
        }
        let (grad, denominator) = self.newton(side);
        if bounds.is_free() {
            return grad * grad / denominator;
        }
        let value = bounds.clamp(-grad / denominator);
        -(2.0 * grad * value + denominator * value * value)
    }

    /// The value that a leaf with these rows would have, as far as the histogram can tell.
    pub(crate) fn value(&self, side: Side, bounds: Bounds) -> f64 {
        if side.sums.hess == 0 {
            return bounds.clamp(0.0);
        }
        let (grad, denominator) = self.newton(side);
        bounds.clamp(-grad / denominator)
    }

    #[inline]
    fn newton(&self, side: Side) -> (f64, f64) {
        let grad = side.sums.grad;
        let shrunk = (grad.abs() - self.l1).max(0) * grad.signum();
        (self.fixed.grad(shrunk), self.fixed.hess(side.sums.hess) + self.params.lambda_l2)
    }

    /// The rows of a node that a question sends left.
    pub(crate) fn left_side(&self, histogram: &Histogram, split: &Split) -> Side {
        let cells = histogram.feature(self.layout, split.feature);
        let values =
            cells[..=usize::from(split.bin)].iter().fold(Side::default(), |sum, cell| sum.plus(Side::of(*cell)));
        if split.missing_left { values.plus(Side::of(cells[cells.len() - 1])) } else { values }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Oracle, fixed_point, tiny_data, tiny_params, tiny_rows};
    use crate::{HistogramSource, PlainHistograms};

    proptest! {
        /// Against trying every threshold and direction on the rows themselves, with exact counts.
        #[test]
        fn finds_what_brute_force_finds(
            rows in tiny_rows(50), params in tiny_params(), cuts in prop::collection::vec(0usize..50, 0..3),
        ) {
            let data = tiny_data(&rows);
            let fixed = fixed_point(&rows, &data);
            let oracle = Oracle { data: &data.binned, fixed: &fixed, params: &params };
            // One node, or several that share a question.
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(rows.len())).collect();
            cuts.extend([0, rows.len()]);
            cuts.sort_unstable();
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let parts: Vec<&[u32]> = cuts.windows(2).map(|pair| &all[pair[0]..pair[1]]).collect();
            let allows_empty_sides = parts.len() > 1;

            let source = PlainHistograms::new(&data.binned);
            let features: Vec<usize> = (0..data.binned.n_features()).collect();
            let directions: Vec<i8> =
                data.binned.feature_ids().iter().map(|id| params.monotone_constraints.direction(*id)).collect();
            let scanner = Scanner {
                layout: source.layout(),
                fixed: &fixed,
                params: &params,
                directions: &directions,
                allows_empty_sides,
                l1: fixed.to_fixed_grad(params.lambda_l1),
            };
            let histograms = source.histograms(&parts, fixed.packed(), &features);
            let nodes: Vec<ScanNode<'_>> = histograms.iter().zip(&parts).map(|(histogram, rows)| ScanNode {
                histogram,
                whole: oracle.side(rows, |_| true),
                bounds: Bounds::FREE,
            }).collect();
            let found = scanner.best(&nodes, &features);
            let expected = oracle.best(&parts.iter().map(|rows| (*rows, Bounds::FREE)).collect::<Vec<_>>(), allows_empty_sides);
            prop_assert_eq!(found, expected);
            if let Some(split) = found {
                for (node, rows) in nodes.iter().zip(&parts) {
                    let left = oracle.side(rows, |row| oracle.goes_left(&split, row));
                    prop_assert_eq!(scanner.left_side(node.histogram, &split), left);
                }
            }
        }
    }
}
