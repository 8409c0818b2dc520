//! Minimal variance sampling (Ibragimov and Gusev, "Minimal Variance Sampling in Stochastic Gradient Boosting", 2019):
//!
//! ```text
//! size = sqrt(g^2 + lambda h^2)
//! p    = min(1, size / mu)             mu such that the p of all rows add up to bagging_fraction * n
//! g, h of a row that is drawn are divided by p
//! ```
//!
//! mu is computed exactly. Sort the sizes in descending order and let the first k have p = 1; then mu = (sum of the
//! others) / (wanted - k), for the first k whose next size is not above it. Only sizes near mu are sorted; those far below
//! it are summed exactly, so that no sum depends on the order of rows.

use rayon::prelude::*;

use super::Drawn;
use crate::LoopParams;

/// Exponent and the first two binary digits.
const BUCKET_BITS: u32 = 13;
/// Rows that one task sorts into buckets.
const ROWS_PER_COUNT: usize = 1 << 16;
/// Minimum number of rows per thread.
const MIN_ROWS: usize = 1 << 10;

pub(super) struct Mvs {
    fraction: f64,
    lambda: Option<f64>,
}

impl Mvs {
    pub(super) fn new(params: &LoopParams) -> Self {
        Self { fraction: params.bagging_fraction, lambda: params.mvs_reg }
    }

    /// The weight of Hessians: the parameter, or (sum |g| / sum h)^2, which makes them about as important as gradients.
    /// `sum(f)` is the sum of `f(g, h)` over all rows and outputs.
    pub(super) fn lambda(&self, sum: impl Fn(&(dyn Fn(f64, f64) -> f64 + Sync)) -> f64) -> f64 {
        self.lambda.unwrap_or_else(|| {
            let (grad, hess) = (sum(&|grad, _| grad.abs()), sum(&|_, hess| hess));
            if hess > 0.0 { (grad / hess).min(1e100).powi(2) } else { 0.0 }
        })
    }

    /// Draws rows by size, with a random number in (0, 1] for each row.
    pub(super) fn draw(&self, sizes: &[f64], numbers: &[f64]) -> Vec<Drawn> {
        let mu = threshold(sizes, self.fraction * sizes.len() as f64);
        let of_task = |(task, sizes): (usize, &[f64])| {
            let first = task * MIN_ROWS;
            let draw = |(place, size): (usize, &f64)| {
                let probability = if *size >= mu && *size > 0.0 { 1.0 } else { size / mu.max(f64::MIN_POSITIVE) };
                let row = first + place;
                (numbers[row] <= probability).then(|| (row as u32, 1.0 / probability))
            };
            sizes.iter().enumerate().filter_map(draw).collect()
        };
        let drawn: Vec<Vec<Drawn>> = sizes.par_chunks(MIN_ROWS).enumerate().map(of_task).collect();
        drawn.concat()
    }
}

/// The size from which on rows are always drawn, so that the expected number is `wanted`; 0 if at most that many rows
/// have a size.
///
/// If the k largest rows are certain, the threshold is the sum of the others divided by `wanted` - k. The right k is the
/// smallest one for which no other row is above the threshold.
fn threshold(sizes: &[f64], wanted: f64) -> f64 {
    let buckets = buckets(sizes);
    let mut below: Vec<f64> = Vec::with_capacity(buckets.len());
    let mut sum = 0.0;
    for bucket in &buckets {
        below.push(sum);
        sum += bucket.sum();
    }
    let mut n_certain = 0;
    for (idx, bucket) in buckets.iter().enumerate().rev().filter(|(_, bucket)| bucket.n_rows > 0) {
        // The last row of the bucket decides whether the threshold is in it.
        let smallest = f64::from_bits(bucket.smallest);
        let left = wanted - (n_certain + bucket.n_rows - 1) as f64;
        if left <= 0.0 || smallest <= (below[idx] + smallest) / left {
            let of_bucket = sizes.par_iter().with_min_len(MIN_ROWS).filter(|size| bucket_of(**size) == idx);
            return threshold_among(of_bucket.copied().collect(), below[idx], wanted - n_certain as f64);
        }
        n_certain += bucket.n_rows;
    }
    0.0
}

/// The threshold, if it is among these sizes; the smaller ones add up to `below`.
fn threshold_among(mut sizes: Vec<f64>, below: f64, wanted: f64) -> f64 {
    sizes.par_sort_unstable_by(f64::total_cmp);
    let sums: Vec<f64> = sizes
        .iter()
        .scan(below, |sum, size| {
            *sum += size;
            Some(*sum)
        })
        .collect();
    let mut mu = 0.0;
    for (n_certain, (size, sum)) in sizes.iter().zip(&sums).rev().enumerate() {
        let left = wanted - n_certain as f64;
        if left <= 0.0 {
            return *size;
        }
        mu = sum / left;
        if *size <= mu {
            break;
        }
    }
    mu
}

/// Rows whose sizes have the same exponent and the same first binary digits. The sum of their sizes is exact, so it does
/// not depend on their order.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    n_rows: usize,
    /// The bits of the smallest size.
    smallest: u64,
    /// The sum of the significands, as integers.
    significands: u128,
}

impl Bucket {
    const EMPTY: Self = Self { n_rows: 0, smallest: u64::MAX, significands: 0 };

    fn add(&mut self, size: f64) {
        let bits = size.to_bits();
        let is_normal = bits >> 52 > 0;
        self.n_rows += 1;
        self.smallest = self.smallest.min(bits);
        self.significands += u128::from(bits & ((1 << 52) - 1) | u64::from(is_normal) << 52);
    }

    fn join(&mut self, other: &Self) {
        self.n_rows += other.n_rows;
        self.smallest = self.smallest.min(other.smallest);
        self.significands += other.significands;
    }

    fn sum(&self) -> f64 {
        if self.n_rows == 0 {
            return 0.0;
        }
        let exponent = (self.smallest >> 52).max(1) as i32 - 1075;
        libm::ldexp(self.significands as f64, exponent)
    }
}

/// The rows by size, ascending.
fn buckets(sizes: &[f64]) -> Vec<Bucket> {
    let add = |sizes: &[f64]| {
        let mut buckets = vec![Bucket::EMPTY; 1 << BUCKET_BITS];
        for size in sizes {
            buckets[bucket_of(*size)].add(*size);
        }
        buckets
    };
    let join = |mut all: Vec<Bucket>, other: Vec<Bucket>| {
        all.iter_mut().zip(&other).for_each(|(all, other)| all.join(other));
        all
    };
    sizes.par_chunks(ROWS_PER_COUNT).map(add).reduce_with(join).unwrap_or_default()
}

/// The bucket of a size, which is not negative.
fn bucket_of(size: f64) -> usize {
    (size.to_bits() >> (63 - BUCKET_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The threshold by bisection.
    fn by_bisection(sizes: &[f64], wanted: f64) -> f64 {
        let expected = |mu: f64| sizes.iter().map(|size| (size / mu).min(1.0)).sum::<f64>();
        let (mut low, mut high) = (0.0, 1e6);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if expected(middle) > wanted { low = middle } else { high = middle }
        }
        high
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn as_many_are_expected_as_wanted(
            rows in prop::collection::vec((prop_oneof![0.0f64..10.0, Just(0.0), Just(1.0), 50.0f64..60.0], 0.0f64..1.0), 1..120),
            fraction in 0.02f64..0.99,
        ) {
            let sizes: Vec<f64> = rows.iter().map(|row| row.0).collect();
            let wanted = fraction * sizes.len() as f64;
            let numbers: Vec<f64> = rows.iter().map(|row| 1.0 - row.1).collect();
            let found = Mvs { fraction, lambda: None }.draw(&sizes, &numbers);
            let n_sized = sizes.iter().filter(|size| **size > 0.0).count();
            let mu = if (n_sized as f64) <= wanted { 0.0 } else { by_bisection(&sizes, wanted) };
            for (row, size) in sizes.iter().enumerate() {
                let p = if mu > 0.0 { (size / mu).min(1.0) } else { f64::from(u8::from(*size > 0.0)) };
                let drawn = found.iter().find(|(one, _)| *one as usize == row);
                let edge = (1.0 - rows[row].1) - p;
                if edge.abs() > 1e-9 || p == 1.0 {
                    prop_assert_eq!(drawn.is_some(), edge <= 0.0, "row {} of size {}, p {}", row, size, p);
                }
                if let Some((_, factor)) = drawn {
                    prop_assert!((factor * p - 1.0).abs() < 1e-9, "{} for p {}", factor, p);
                }
            }
        }
    }

    #[test]
    fn hessians_count_by_default_as_much_as_gradients() {
        let mvs = Mvs { fraction: 0.5, lambda: None };
        let lambda =
            |mvs: &Mvs, pairs: &[(f64, f64)]| mvs.lambda(|of| pairs.iter().map(|(grad, hess)| of(*grad, *hess)).sum());
        assert_eq!(lambda(&mvs, &[(-3.0, 0.5), (1.0, 1.5)]), 4.0);
        assert_eq!(lambda(&mvs, &[(1.0, 0.0)]), 0.0);
        assert_eq!(lambda(&Mvs { fraction: 0.5, lambda: Some(0.25) }, &[(1.0, 1.0)]), 0.25);
    }
}
