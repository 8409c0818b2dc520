//! Tiny data and slow, obvious twins of the search, for tests.

use proptest::prelude::*;
use rankwise_data::{Alone, BinnedDataset, BinningParams, DatasetBuilder, Row};
use rankwise_params::ParamValue;

use crate::bounds::Bounds;
use crate::context::{Judge, TreeContext};
use crate::scan::{Side, Split};
use crate::{Derivatives, FixedPoint, Growth, Monotone, Sums, TreeParams, TreeSpec};

/// A row: values of three features (or missing), gradient, Hessian.
pub(crate) type TinyRow = (Vec<Option<u8>>, i8, u8);

/// Binned data with gradients in its row order.
pub(crate) struct TinyData {
    pub(crate) binned: BinnedDataset,
    pub(crate) grad: Vec<f32>,
    pub(crate) hess: Vec<f32>,
}

/// Few values and coarse gradients, so that ties and empty bins are common.
pub(crate) fn tiny_rows(max: usize) -> impl Strategy<Value = Vec<TinyRow>> {
    let value = prop_oneof![3 => (0u8..6).prop_map(Some), 1 => Just(None)];
    let row = (prop::collection::vec(value, 3), -4i8..5, prop_oneof![1 => Just(0u8), 4 => 1u8..4]);
    prop::collection::vec(row, 2..max)
}

pub(crate) fn tiny_params() -> impl Strategy<Value = TreeParams> {
    (0usize..5, 0u8..3, 0u8..3, 0u8..3, prop_oneof![Just(""), Just("0:1"), Just("0:-1,2:1")]).prop_map(
        |(min_data, l1, l2, min_gain, monotone)| {
            let spec = TreeSpec {
                grow: Some(Growth::Leafwise),
                min_data_in_leaf: min_data,
                min_sum_hessian_in_leaf: 1.0,
                lambda_l1: f64::from(l1) * 0.75,
                lambda_l2: Some(f64::from(l2)),
                min_gain_to_split: f64::from(min_gain) * 0.5,
                monotone_constraints: Monotone::parse(monotone).unwrap(),
                ..TreeSpec::default()
            };
            spec.check().unwrap()
        },
    )
}

pub(crate) fn tiny_data(rows: &[TinyRow]) -> TinyData {
    let mut builder = DatasetBuilder::default();
    for (values, _, _) in rows {
        let features: Vec<(u32, f32)> =
            (0u32..).zip(values).filter_map(|(id, value)| value.map(|value| (id, f32::from(value)))).collect();
        builder.push(&Row { qid: "q", features: &features, ..Row::default() }).unwrap();
    }
    let data = builder.finish().unwrap();
    TinyData {
        binned: BinnedDataset::new(&data, &BinningParams::default()).unwrap(),
        grad: data.input_row().iter().map(|row| rows[*row as usize].1.into()).collect(),
        hess: data.input_row().iter().map(|row| rows[*row as usize].2.into()).collect(),
    }
}

pub(crate) fn fixed_point(data: &TinyData) -> FixedPoint {
    let all: Vec<u32> = (0..data.grad.len() as u32).collect();
    FixedPoint::new(Derivatives { grad: &data.grad, hess: &data.hess }, &all, &Alone)
}

/// Does something with a tree over all features.
pub(crate) fn with_context<T>(
    data: &TinyData,
    fixed: &FixedPoint,
    params: &TreeParams,
    work: impl FnOnce(TreeContext<'_>) -> T,
) -> T {
    let ids = data.binned.feature_ids();
    let directions: Vec<i8> = ids.iter().map(|id| params.monotone_constraints.direction(*id)).collect();
    let features: Vec<usize> = (0..ids.len()).collect();
    let judge = Judge::new(params, fixed.scales());
    work(TreeContext { judge, fixed, features: &features, directions: &directions, reduce: &Alone })
}

/// Tries everything, on rows instead of histograms.
pub(crate) struct Oracle<'a> {
    pub(crate) data: &'a BinnedDataset,
    pub(crate) fixed: &'a FixedPoint,
    pub(crate) params: &'a TreeParams,
}

impl Oracle<'_> {
    pub(crate) fn side(&self, rows: &[u32], belongs: impl Fn(u32) -> bool) -> Side {
        let mut side = Side { sums: Sums::default(), count: 0 };
        for row in rows.iter().filter(|row| belongs(**row)) {
            side.sums = side.sums + Sums::unpack(self.fixed.packed()[*row as usize]);
            side.count += 1;
        }
        side
    }

    pub(crate) fn goes_left(&self, split: &Split, row: u32) -> bool {
        let bin = self.data.column(split.feature)[row as usize];
        if bin == self.data.bins(split.feature).missing_bin() { split.missing_left } else { bin <= split.bin }
    }

    /// The best common split of the nodes, each given by its rows and bounds.
    pub(crate) fn best(&self, nodes: &[(&[u32], Bounds)], allows_empty_sides: bool) -> Option<Split> {
        let mut best: Option<Split> = None;
        for feature in 0..self.data.n_features() {
            for bin in 0..self.data.bins(feature).n_value_bins() as u8 {
                for missing_left in [true, false] {
                    let split = Split { feature, bin, missing_left, gain: 0.0 };
                    let Some(score) = self.score(nodes, &split, allows_empty_sides) else { continue };
                    if best.is_none_or(|best| score > best.gain) {
                        best = Some(Split { gain: score, ..split });
                    }
                }
            }
        }
        let best = best?;
        let parents: f64 = nodes.iter().map(|(rows, bounds)| self.term(self.side(rows, |_| true), *bounds)).sum();
        let gain = best.gain - parents;
        let noise = parents.abs() / 2f64.powi(40);
        (gain > self.params.min_gain_to_split && gain > noise).then_some(Split { gain, ..best })
    }

    fn score(&self, nodes: &[(&[u32], Bounds)], split: &Split, allows_empty_sides: bool) -> Option<f64> {
        let direction = self.params.monotone_constraints.direction(self.data.feature_ids()[split.feature]);
        let (mut total, mut divides) = (0.0, false);
        for (rows, bounds) in nodes {
            let left = self.side(rows, |row| self.goes_left(split, row));
            let right = self.side(rows, |row| !self.goes_left(split, row));
            if allows_empty_sides && (left.count == 0 || right.count == 0) {
                total += self.term(self.side(rows, |_| true), *bounds);
                continue;
            }
            for side in [left, right] {
                let enough_rows = side.count > 0 && side.count as usize >= self.params.min_data_in_leaf;
                let hess = self.fixed.scales().hess(side.sums.hess);
                let enough_hess =
                    if hess == 0.0 { allows_empty_sides } else { hess >= self.params.min_sum_hessian_in_leaf };
                if !enough_rows || !enough_hess {
                    return None;
                }
            }
            if direction == 1 && self.value(left, *bounds) > self.value(right, *bounds)
                || direction == -1 && self.value(left, *bounds) < self.value(right, *bounds)
            {
                return None;
            }
            divides = true;
            total += self.pair_score(left, right, *bounds);
        }
        divides.then_some(total)
    }

    fn shrunk_grad(&self, side: Side) -> f64 {
        let l1 = self.fixed.scales().to_fixed_grad(self.params.lambda_l1);
        let grad = side.sums.grad;
        self.fixed.scales().grad(if grad > l1 {
            grad - l1
        } else if grad < -l1 {
            grad + l1
        } else {
            0
        })
    }

    pub(crate) fn value(&self, side: Side, bounds: Bounds) -> f64 {
        if side.sums.hess == 0 {
            return bounds.clamp(0.0);
        }
        bounds.clamp(-self.shrunk_grad(side) / (self.fixed.scales().hess(side.sums.hess) + self.params.l2()))
    }

    fn pair_score(&self, left: Side, right: Side, bounds: Bounds) -> f64 {
        if !bounds.is_free() || left.sums.hess == 0 || right.sums.hess == 0 {
            return self.term(left, bounds) + self.term(right, bounds);
        }
        let divisor = |side: Side| self.fixed.scales().hess(side.sums.hess) + self.params.l2();
        let (gl, gr) = (self.shrunk_grad(left), self.shrunk_grad(right));
        (gl * gl * divisor(right) + gr * gr * divisor(left)) / (divisor(left) * divisor(right))
    }

    fn term(&self, side: Side, bounds: Bounds) -> f64 {
        if side.sums.hess == 0 {
            return 0.0;
        }
        let (grad, denominator) = (self.shrunk_grad(side), self.fixed.scales().hess(side.sums.hess) + self.params.l2());
        if bounds.is_free() {
            return grad * grad / denominator;
        }
        let value = self.value(side, bounds);
        -(2.0 * grad * value + denominator * value * value)
    }
}
