//! What every step of one tree shares: its gradients, its parameters, and how candidates are judged.

use std::ops::Deref;

use rankwise_data::Reduce;

use crate::bounds::Bounds;
use crate::scan::Side;
use crate::{FixedPoint, Scales, TreeParams};

/// A gain below this share of the parents' term is rounding noise: a split of rows that are all alike.
const GAIN_NOISE: f64 = 1.0 / (1u64 << 40) as f64;

/// What splits and leaves are worth.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    pub(crate) scales: Scales,
    pub(crate) params: &'a TreeParams,
    pub(crate) allows_empty_sides: bool,
    /// `lambda_l1` in fixed point.
    pub(crate) l1: i64,
}

/// One tree under way, as an engine in this machine's memory sees it.
#[derive(Clone)]
pub(crate) struct TreeContext<'a> {
    pub(crate) judge: Judge<'a>,
    pub(crate) fixed: &'a FixedPoint,
    /// The features that the tree may use, ascending.
    pub(crate) features: &'a [usize],
    /// For each feature of the data, the direction it is bound to, or 0.
    pub(crate) directions: &'a [i8],
    pub(crate) reduce: &'a dyn Reduce,
}

impl<'a> Deref for TreeContext<'a> {
    type Target = Judge<'a>;

    fn deref(&self) -> &Judge<'a> {
        &self.judge
    }
}

impl<'a> Judge<'a> {
    /// For trees with these parameters, and gradients with these scales.
    pub fn new(params: &'a TreeParams, scales: Scales) -> Self {
        let l1 = scales.to_fixed_grad(params.lambda_l1);
        Self { scales, params, allows_empty_sides: params.growth().allows_empty_sides(), l1 }
    }

    /// The gain of a candidate's score over its nodes as they are; `None` where it is not worth a split.
    pub fn gain(&self, score: f64, parents: impl Iterator<Item = (Side, Bounds)>) -> Option<f64> {
        let before: f64 = parents.map(|(whole, bounds)| self.term(whole, bounds)).sum();
        let gain = score - before;
        (gain > self.params.least_gain().max(before.abs() * GAIN_NOISE)).then_some(gain)
    }

    /// What dividing one node gains, whatever the other nodes of its group do.
    pub(crate) fn own_gain(&self, left: Side, right: Side, whole: Side, bounds: Bounds) -> f64 {
        if left.count == 0 || right.count == 0 {
            return 0.0;
        }
        self.pair_score(left, right, bounds) - self.term(whole, bounds)
    }

    /// Whether a node with these rows is too small to be divided.
    pub(crate) fn is_rigid(&self, whole: Side) -> bool {
        (whole.count as usize) < self.params.min_data_in_leaf.max(1).saturating_mul(2)
    }

    /// Whether a leaf may have these sums.
    #[inline]
    pub fn has_enough_hess(&self, side: Side) -> bool {
        if side.sums.hess == 0 {
            // No curvature, so no value: useless as a leaf, harmless where the other nodes pay for the question.
            return self.allows_empty_sides;
        }
        self.scales.hess(side.sums.hess) >= self.params.min_sum_hessian_in_leaf
    }

    /// How much two leaves lower the loss, twice over: GL^2/dL + GR^2/dR with d = H + l2, by one division.
    #[inline]
    pub fn pair_score(&self, left: Side, right: Side, bounds: Bounds) -> f64 {
        if !bounds.is_free() || left.sums.hess == 0 || right.sums.hess == 0 {
            return self.term(left, bounds) + self.term(right, bounds);
        }
        let ((gl, dl), (gr, dr)) = (self.newton(left), self.newton(right));
        (gl * gl * dr + gr * gr * dl) / (dl * dr)
    }

    /// How much one leaf lowers the loss, twice over.
    #[inline]
    pub fn term(&self, side: Side, bounds: Bounds) -> f64 {
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
    pub fn value(&self, side: Side, bounds: Bounds) -> f64 {
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
        (self.scales.grad(shrunk), self.scales.hess(side.sums.hess) + self.params.l2())
    }
}
