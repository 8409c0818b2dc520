//! Gradients as integers, so that sums do not depend on order.
//!
//! ```text
//! 63                32 31                 0
//! |  sum of g * s_g   |  sum of h * s_h   |     one u64; adding wraps
//! ```
//!
//! The scales are powers of two chosen per tree so that the absolute sums over all N rows, each rounded by at most 1/2,
//! stay below 2^31. Hessians are never negative, so the lower half never carries into the upper one: packing, adding and
//! subtracting are exact.

use rankwise_data::Reduce;
use rayon::prelude::*;

use crate::Derivatives;

/// Rows that one task turns into fixed point.
const ROWS_PER_TASK: usize = 1 << 14;

/// Sums of fixed-point gradients and Hessians.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Of gradients.
    pub grad: i64,
    /// Of Hessians.
    pub hess: i64,
}

impl Sums {
    /// Unpacks a sum of packed gradients.
    pub fn unpack(cell: u64) -> Self {
        Self { grad: i64::from((cell >> 32) as i32), hess: i64::from(cell as u32) }
    }

    /// The cell with these sums, which must be those of rows.
    pub(crate) fn pack(self) -> u64 {
        pack(self.grad as i32, self.hess as u32)
    }
}

impl std::ops::Add for Sums {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { grad: self.grad + other.grad, hess: self.hess + other.hess }
    }
}

impl std::ops::Sub for Sums {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { grad: self.grad - other.grad, hess: self.hess - other.hess }
    }
}

/// What fixed-point sums of a tree stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scales {
    grad_scale: f64,
    /// What 1 means in fixed point.
    grad_unit: f64,
    hess_unit: f64,
}

impl Scales {
    fn new(grad_scale: f64, hess_scale: f64) -> Self {
        Self { grad_scale, grad_unit: 1.0 / grad_scale, hess_unit: 1.0 / hess_scale }
    }

    /// A sum of gradients as a number.
    pub fn grad(&self, fixed: i64) -> f64 {
        // The scale is a power of two, so this is exact.
        fixed as f64 * self.grad_unit
    }

    /// A sum of Hessians as a number.
    pub fn hess(&self, fixed: i64) -> f64 {
        fixed as f64 * self.hess_unit
    }

    /// The smallest sum of Hessians, at least 1, that is `value` or more.
    pub(crate) fn least_hess(&self, value: f64) -> i32 {
        // No sum reaches i32::MAX, so a limit beyond it stays out of reach.
        (value / self.hess_unit).ceil().clamp(1.0, f64::from(i32::MAX)) as i32
    }

    /// A number in units of fixed-point gradients.
    pub(crate) fn to_fixed_grad(self, value: f64) -> i64 {
        (value * self.grad_scale).round_ties_even() as i64
    }
}

/// The gradients of one tree's rows in fixed point. Members that grow a tree together use the same scales.
#[derive(Clone, Debug)]
pub struct FixedPoint {
    packed: Vec<u64>,
    /// How many rows have neither a gradient nor a Hessian.
    n_empty: usize,
    scales: Scales,
}

impl FixedPoint {
    /// Packs the gradients of `rows`; what the others hold means nothing.
    pub fn new(derivatives: Derivatives<'_>, rows: &[u32], reduce: &dyn Reduce) -> Self {
        Self::reusing(Vec::new(), derivatives, rows, reduce)
    }

    /// The same in the memory of an earlier tree ([`FixedPoint::into_packed`]): fresh memory costs more than packing does.
    pub(crate) fn reusing(
        mut packed: Vec<u64>,
        derivatives: Derivatives<'_>,
        rows: &[u32],
        reduce: &dyn Reduce,
    ) -> Self {
        let Derivatives { grad, hess } = derivatives;
        let [largest_grad, largest_hess] = derivatives.largest(rows, reduce);
        let sums = rayon::join(|| absolute_sum(grad, rows, largest_grad), || absolute_sum(hess, rows, largest_hess));
        let mut sums = [sums.0, sums.1, rows.len() as u64];
        reduce.sum(&mut sums);
        let [grad_sum, hess_sum, n_rows] = sums;
        let grad_scale = scale_of(grad_sum, largest_grad, n_rows);
        let hess_scale = scale_of(hess_sum, largest_hess, n_rows);
        // All rows are packed, since a straight run is faster than a choice; those that do not count are never looked at.
        packed.resize(grad.len(), 0);
        let n_empty = packed
            .par_chunks_mut(ROWS_PER_TASK)
            .zip(grad.par_chunks(ROWS_PER_TASK).zip(hess.par_chunks(ROWS_PER_TASK)))
            .map(|(packed, (grad, hess))| {
                for (packed, (grad, hess)) in packed.iter_mut().zip(grad.iter().zip(hess)) {
                    *packed = pack(fixed(*grad, grad_scale) as i32, fixed(*hess, hess_scale) as u32);
                }
                packed.iter().filter(|packed| **packed == 0).count()
            })
            .sum();
        Self { packed, n_empty, scales: Scales::new(grad_scale, hess_scale) }
    }

    /// What the numbers stand for.
    pub fn scales(&self) -> Scales {
        self.scales
    }

    /// The packed gradients alone.
    pub(crate) fn into_packed(self) -> Vec<u64> {
        self.packed
    }

    /// The share of rows that add nothing to any sum.
    pub(crate) fn empty_share(&self) -> f64 {
        self.n_empty as f64 / self.packed.len().max(1) as f64
    }

    /// The packed gradients by row.
    pub fn packed(&self) -> &[u64] {
        &self.packed
    }

    /// The packed sum of some rows of this member.
    pub(crate) fn sum(&self, rows: &[u32]) -> u64 {
        let add = |a: u64, b: u64| a.wrapping_add(b);
        if rows.len() == self.packed.len() {
            self.packed.par_chunks(ROWS_PER_TASK).map(|cells| cells.iter().copied().fold(0, add)).reduce(|| 0, add)
        } else {
            rows.par_iter().with_min_len(ROWS_PER_TASK).map(|row| self.packed[*row as usize]).reduce(|| 0, add)
        }
    }
}

fn pack(grad: i32, hess: u32) -> u64 {
    (i64::from(grad) << 32) as u64 | u64::from(hess)
}

/// Added to a number below 2^51, this leaves the nearest integer (ties to even) in the low bits of the sum.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// A value in fixed point, which must lie below 2^51; exact up to the rounding, since the scale is a power of two.
#[inline]
fn fixed(value: f32, scale: f64) -> i64 {
    let sum = f64::from(value) * scale + ROUNDER;
    (sum.to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64)
}

/// The largest power of two by which values may be multiplied so that their absolute sum keeps below 2^31 - 1 after
/// rounding. 1 where all are 0.
fn scale_of(absolute_sum: u64, largest: f32, n_rows: u64) -> f64 {
    if largest == 0.0 {
        return 1.0;
    }
    let room = ((1u64 << 31) - 1 - n_rows) as f64;
    power_of_two(floor_log2(room / (absolute_sum as f64 / sum_unit(largest))))
}

/// What values are multiplied by before they are rounded up for [`absolute_sum`].
fn sum_unit(largest: f32) -> f64 {
    // At most 2^32 each, and fewer than 2^31 rows: the sum fits into 64 bits.
    power_of_two(31 - floor_log2(f64::from(largest)))
}

/// An upper bound of the sum of absolute values that does not depend on the order of rows: each is rounded up to a
/// multiple of a unit that the largest one sets. 0 where all are 0.
fn absolute_sum(values: &[f32], rows: &[u32], largest: f32) -> u64 {
    if largest == 0.0 {
        return 0;
    }
    let unit = sum_unit(largest);
    let ceil = |value: f32| {
        let exact = f64::from(value.abs()) * unit;
        let rounded = fixed(value.abs(), unit) as u64;
        rounded + u64::from((rounded as f64) < exact)
    };
    if rows.len() == values.len() {
        values.par_chunks(ROWS_PER_TASK).map(|values| values.iter().map(|value| ceil(*value)).sum::<u64>()).sum()
    } else {
        let of_run = |values: &[f32]| values.iter().map(|value| ceil(*value)).sum::<u64>();
        rows.par_chunks(ROWS_PER_TASK).map(|rows| runs_of(values, rows, of_run).sum::<u64>()).sum()
    }
}

impl Derivatives<'_> {
    /// The largest absolute values over the rows of all members.
    pub fn largest(&self, rows: &[u32], reduce: &dyn Reduce) -> [f32; 2] {
        let (grad, hess) = rayon::join(|| largest(self.grad, rows), || largest(self.hess, rows));
        // The bits of numbers from 0 on are in the order of the numbers.
        let mut bits = [grad, hess].map(|value| u64::from(value.to_bits()));
        reduce.max(&mut bits);
        bits.map(|bits| f32::from_bits(bits as u32))
    }
}

fn largest(values: &[f32], rows: &[u32]) -> f32 {
    if rows.len() == values.len() {
        return values.par_chunks(ROWS_PER_TASK).map(largest_of).reduce(|| 0.0, f32::max);
    }
    let of_task = |rows: &[u32]| runs_of(values, rows, largest_of).fold(0.0, f32::max);
    rows.par_chunks(ROWS_PER_TASK).map(of_task).reduce(|| 0.0, f32::max)
}

/// What `of` says about the values of some rows, run by run: values that stand together can be looked at several at a time.
fn runs_of<T>(values: &[f32], rows: &[u32], of: impl Fn(&[f32]) -> T) -> impl Iterator<Item = T> {
    const RUN_ROWS: usize = 256;
    rows.chunks(RUN_ROWS).map(move |rows| {
        let mut run = [0.0; RUN_ROWS];
        run.iter_mut().zip(rows).for_each(|(to, row)| *to = values[*row as usize]);
        of(&run[..rows.len()])
    })
}

/// The largest absolute value, in lanes that need not wait for each other.
fn largest_of(values: &[f32]) -> f32 {
    let (runs, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0f32; 16];
    for run in runs {
        for (lane, value) in lanes.iter_mut().zip(run) {
            *lane = if value.abs() > *lane { value.abs() } else { *lane };
        }
    }
    lanes.iter().chain(rest).map(|value| value.abs()).fold(0.0, f32::max)
}

/// Sums of a leaf's derivatives in 64 bits, finer than those of the histograms: the values that a tree adds to scores come
/// from these.
#[derive(Clone, Copy, Debug)]
pub struct WideScale(f64);

impl WideScale {
    /// As fine as the sum over `n_rows` values, none of them larger, allows.
    pub fn new(largest: f32, n_rows: usize) -> Self {
        if largest == 0.0 {
            return Self(1.0);
        }
        // Below 2^62 / n_rows each, and few enough bits for the rounding.
        let bits = (60 - i32::try_from(n_rows.max(1).ilog2()).expect("at most 31")).min(50);
        Self(power_of_two(bits - 1 - floor_log2(f64::from(largest))))
    }

    /// A derivative in fixed point.
    pub fn fixed(self, value: f32) -> i64 {
        fixed(value, self.0)
    }

    /// The sum over rows of this member.
    pub(crate) fn sum(self, values: &[f32], rows: &[u32]) -> i64 {
        rows.iter().map(|row| fixed(values[*row as usize], self.0)).sum()
    }

    /// A sum as a number.
    pub fn value(self, sum: i64) -> f64 {
        sum as f64 / self.0
    }
}

/// The exponent of a positive number that is not subnormal.
fn floor_log2(value: f64) -> i32 {
    ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::Alone;

    use super::*;

    fn fixed_point(grad: &[f32], hess: &[f32]) -> FixedPoint {
        FixedPoint::new(Derivatives { grad, hess }, &all_rows(grad.len()), &Alone)
    }

    fn wide_sum(values: &[f32]) -> f64 {
        let rows = all_rows(values.len());
        let scale = WideScale::new(largest(values, &rows), rows.len());
        scale.value(scale.sum(values, &rows))
    }

    fn all_rows(n: usize) -> Vec<u32> {
        (0..n as u32).collect()
    }

    #[test]
    fn powers_and_exponents() {
        for exponent in [-300, -1, 0, 1, 31, 200] {
            assert_eq!(power_of_two(exponent), 2f64.powi(exponent));
            assert_eq!(floor_log2(power_of_two(exponent) * 1.999), exponent);
        }
    }

    /// Without room for the rounding of N rows these sums overflow: 2^20 rows whose value times the scale ends in 1/2.
    #[test]
    fn rounding_at_the_limit_does_not_overflow() {
        let n = 1 << 20;
        for value in [4095.5f32, 2047.5, 1.0, 0.999_999, 1e-30, 3e38, f32::MIN_POSITIVE, f32::from_bits(1)] {
            let (grad, hess) = (vec![-value; n], vec![value; n]);
            let fixed = fixed_point(&grad, &hess);
            let total = fixed.packed().iter().fold(0u64, |sum, cell| sum.wrapping_add(*cell));
            let direct = fixed.packed().iter().fold(Sums::default(), |sum, cell| sum + Sums::unpack(*cell));
            assert_eq!(Sums::unpack(total), direct, "{value}");
            assert!(direct.hess < 1 << 31 && direct.hess > 1 << 29, "{value}: {direct:?}");
            assert_eq!(direct.grad, -direct.hess);
            let relative = fixed.scales().hess(direct.hess) / (f64::from(value) * n as f64);
            assert!((relative - 1.0).abs() < 1e-3, "{value}: {relative}");
        }
    }

    proptest! {
        /// Packed sums unpack to the sums of the parts, whatever the order and however they are subtracted.
        #[test]
        fn packing_is_exact(
            pairs in prop::collection::vec((-1e6f32..1e6, prop_oneof![Just(0.0f32), 0.0f32..1e3]), 1..300),
            cut in 0usize..300, scale in -60i32..60,
        ) {
            let factor = 2f32.powi(scale);
            let grad: Vec<f32> = pairs.iter().map(|pair| pair.0 * factor).collect();
            let hess: Vec<f32> = pairs.iter().map(|pair| pair.1 * factor).collect();
            let fixed = fixed_point(&grad, &hess);
            let add = |cells: &[u64]| cells.iter().fold(0u64, |sum, cell| sum.wrapping_add(*cell));
            let direct = |cells: &[u64]| cells.iter().fold(Sums::default(), |sum, cell| sum + Sums::unpack(*cell));
            let all = fixed.packed();
            let cut = cut.min(all.len());
            prop_assert_eq!(Sums::unpack(add(all)), direct(all));
            prop_assert_eq!(Sums::unpack(add(all).wrapping_sub(add(&all[..cut]))), direct(&all[cut..]));
            let absolute: i64 = all.iter().map(|cell| Sums::unpack(*cell).grad.abs()).sum();
            prop_assert!(absolute < 1 << 31 && direct(all).hess < 1 << 31);

            // Each value is off by half a unit at most.
            for (row, cell) in all.iter().enumerate() {
                let unit = 1.0 / fixed.scales.grad_scale;
                prop_assert!((fixed.scales().grad(Sums::unpack(*cell).grad) - f64::from(grad[row])).abs() <= unit / 2.0);
            }
        }

        /// The scale is the same for any order of the rows.
        #[test]
        fn scales_do_not_depend_on_order(mut values in prop::collection::vec(-1e3f32..1e3, 1..200)) {
            let before = fixed_point(&values, &values).scales();
            values.reverse();
            prop_assert_eq!(before, fixed_point(&values, &values).scales());
        }

        #[test]
        fn wide_sums_are_nearly_exact(values in prop::collection::vec(-1e3f32..1e3, 1..200)) {
            let sum = wide_sum(&values);
            let direct: f64 = values.iter().map(|value| f64::from(*value)).sum();
            prop_assert!((sum - direct).abs() <= 1e-9, "{} {}", sum, direct);
        }
    }

    #[test]
    fn nothing_but_zeros_is_fine() {
        let fixed = fixed_point(&[0.0; 3], &[0.0; 3]);
        assert_eq!(fixed.packed(), [0; 3]);
        assert_eq!(wide_sum(&[0.0; 3]), 0.0);
    }

    #[test]
    fn wide_sums_hold_at_the_limit() {
        for value in [f32::MAX, 1.999_999_9, f32::from_bits(1)] {
            let values = vec![value; 1000];
            assert_eq!(wide_sum(&values), f64::from(value) * 1000.0);
        }
    }
}
