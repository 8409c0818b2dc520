//! Minimal variance sampling (Ibragimov and Gusev, "Minimal Variance Sampling in Stochastic Gradient Boosting", 2019):
//!
//! ```text
//! size = sqrt(g^2 + lambda h^2)
//! p    = min(1, size / mu)             mu such that the p of all rows add up to bagging_fraction * n
//! g, h of a row that is drawn are divided by p
//! ```
//!
//! mu is computed exactly. Sort the sizes in descending order and let the first k have p = 1; then mu = (sum of the
//! others) / (wanted - k), for the first k whose next size is not above it. Sums of sorted values do not depend on the
//! order of rows.

use rayon::prelude::*;

use super::Drawn;
use crate::LoopParams;

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
    pub(super) fn lambda(&self, sum: impl Fn(&dyn Fn((f64, f64)) -> f64) -> f64) -> f64 {
        self.lambda.unwrap_or_else(|| {
            let (grad, hess) = (sum(&|(grad, _)| grad.abs()), sum(&|(_, hess)| hess));
            if hess > 0.0 { (grad / hess).min(1e100).powi(2) } else { 0.0 }
        })
    }

    /// Draws rows by size, with the first random number of each row.
    pub(super) fn draw(&self, sizes: &[f64], uniforms: impl Fn(usize) -> [f64; 2] + Sync) -> Vec<Drawn> {
        let mu = threshold(sizes, self.fraction * sizes.len() as f64);
        let kept = |(row, size): (usize, &f64)| {
            let probability = if *size >= mu && *size > 0.0 { 1.0 } else { size / mu.max(f64::MIN_POSITIVE) };
            (uniforms(row)[0] <= probability).then(|| (row as u32, 1.0 / probability))
        };
        sizes.par_iter().enumerate().with_min_len(1 << 10).filter_map(kept).collect()
    }
}

/// The size from which on rows are always drawn, so that the expected number is `wanted`; 0 if at most that many rows
/// have a size.
fn threshold(sizes: &[f64], wanted: f64) -> f64 {
    let mut sorted = sizes.to_vec();
    sorted.par_sort_unstable_by(f64::total_cmp);
    // Sums of the k smallest sizes.
    let mut sums = Vec::with_capacity(sorted.len() + 1);
    sums.push(0.0);
    for size in &sorted {
        sums.push(sums[sums.len() - 1] + size);
    }
    let n_rows = sorted.len();
    for n_certain in 0..n_rows {
        let (next, left) = (n_rows - n_certain - 1, wanted - n_certain as f64);
        if left <= 0.0 {
            return sorted[next];
        }
        let mu = sums[next + 1] / left;
        if sorted[next] <= mu {
            return mu;
        }
    }
    0.0
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
            let found = Mvs { fraction, lambda: None }.draw(&sizes, |row| [1.0 - rows[row].1, 0.0]);
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
        let lambda = |mvs: &Mvs, pairs: &[(f64, f64)]| mvs.lambda(|of| pairs.iter().map(|pair| of(*pair)).sum());
        assert_eq!(lambda(&mvs, &[(-3.0, 0.5), (1.0, 1.5)]), 4.0);
        assert_eq!(lambda(&mvs, &[(1.0, 0.0)]), 0.0);
        assert_eq!(lambda(&Mvs { fraction: 0.5, lambda: Some(0.25) }, &[(1.0, 1.0)]), 0.25);
    }
}
