//! The distributions of the tests: Student's t and the normal distribution. The functions come from `libm`, so that
//! p-values have the same bits on every machine.

use std::f64::consts::{PI, SQRT_2};

/// P(T >= t) for Student's t with `freedom` degrees of freedom.
pub(crate) fn student_upper(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    let tail = student_beyond(t.abs(), freedom) / 2.0;
    if t >= 0.0 { tail } else { 1.0 - tail }
}

/// P(|T| >= t): the regularised incomplete beta function at x = f / (f + t^2) with parameters f/2 and 1/2.
fn student_beyond(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    if square == 0.0 {
        return 1.0;
    }
    if square.is_infinite() {
        return 0.0;
    }
    let a = freedom / 2.0;
    let rest = square / (freedom + square);
    // x^a (1-x)^(1/2) / B(a, 1/2); the logarithm of x is computed without cancellation.
    let log_front = -a * libm::log1p(square / freedom) + (libm::log(rest) - libm::log(PI)) / 2.0 + log_half_step(a);
    let front = libm::exp(log_front);
    if square >= 1.0 {
        front / (a * rest) * far_fraction(freedom / square, a)
    } else {
        1.0 - 2.0 * front * near_fraction(rest, a)
    }
}

/// ln Gamma(a + 1/2) - ln Gamma(a). For large a, both are huge and nearly equal, so the difference is computed from a
/// series in 1/a.
fn log_half_step(a: f64) -> f64 {
    if a < 50.0 {
        return libm::lgamma(a + 0.5) - libm::lgamma(a);
    }
    let inverse = 1.0 / a;
    let square = inverse * inverse;
    let series = -1.0 / 8.0 + square * (1.0 / 192.0 + square * (-1.0 / 640.0 + square * (17.0 / 14336.0)));
    libm::log(a) / 2.0 + inverse * series
}

/// Gauss's continued fraction of F(1, 1/2; a + 1; -y). All its terms are positive, so it is exact even for tiny tails.
/// It converges fast if y is not much larger than a.
fn far_fraction(y: f64, a: f64) -> f64 {
    fraction(|m| {
        let middle = a + 2.0 * m + 1.0;
        let [odd, even] = [(m + 0.5) * (a + m) / (middle - 1.0), (m + 1.0) * (a + m + 0.5) / (middle + 1.0)];
        [odd / middle * y, even / middle * y]
    })
}

/// The continued fraction of F(a + 1/2, 1; 3/2; x), for small x.
fn near_fraction(x: f64, a: f64) -> f64 {
    fraction(|m| {
        let middle = 2.0 * m + 1.5;
        let [odd, even] = [(m + 0.5) * (a + m + 0.5) / (middle - 1.0), (m + 1.0) * (a - m - 1.0) / (middle + 1.0)];
        [-odd / middle * x, even / middle * x]
    })
}

/// 1 / (1 + t1 / (1 + t2 / (1 + ...))) from the front (Lentz's method), with two terms for each m = 0, 1, ...
fn fraction(terms: impl Fn(f64) -> [f64; 2]) -> f64 {
    // Replaces a zero denominator.
    const TINY: f64 = 1e-300;
    // A few hundred are enough.
    const MAX_TERMS: u32 = 100_000;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d, mut value) = (f64::INFINITY, 1.0, 1.0);
    for m in 0..MAX_TERMS {
        let mut change = 1.0;
        for term in terms(f64::from(m)) {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            value *= change;
        }
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

/// P(Z <= z) for the standard normal distribution.
pub(crate) fn normal_below(z: f64) -> f64 {
    libm::erfc(-z / SQRT_2) / 2.0
}

/// The z with P(Z <= z) = p; infinite for 0 and 1. Found by bisection, which is as exact as `normal_below`.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // In the upper half, the distribution function is too close to 1 to be exact.
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    // The quantile of the smallest positive double is -38.5.
    let (mut low, mut high) = (-39.0, 0.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if normal_below(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
// Reference values keep the digits that the other program printed.
#[allow(clippy::unreadable_literal)]
mod tests {
    use super::*;

    /// (t, degrees of freedom, P(T >= t)) from scipy 1.17.1, `scipy.stats.t.sf`.
    const STUDENT: &[(f64, f64, f64)] = &[
        (0.1, 1.0, 0.4682744825694465),
        (1.0, 1.0, 0.25000000000000006),
        (3.0, 2.0, 0.04773298313335456),
        (1e-06, 5.0, 0.4999996203933102),
        (0.7, 5.0, 0.2575744741574082),
        (2.5, 9.0, 0.016930913841492867),
        (12.0, 9.0, 3.8499431114928265e-07),
        (1.96, 29.0, 0.029833897759795665),
        (40.0, 29.0, 3.173438664864671e-27),
        (2.2, 99.0, 0.015066410844667932),
        (8.5, 99.0, 1.0067283266862694e-13),
        (0.001, 100.0, 0.49960205388005174),
        (2.0, 101.0, 0.02409260560369535),
        (3.3, 999.0, 0.000500515631527957),
        (1.5, 10000.0, 0.06682298591180982),
        (6.0, 10000.0, 1.0208092364613106e-09),
        (2.1, 1000000.0, 0.01786454548731753),
        (25.0, 1000000.0, 3.371179083772097e-138),
    ];

    /// (z, P(Z <= z)), from `scipy.stats.norm.cdf`.
    const NORMAL: &[(f64, f64)] = &[
        (-10.0, 7.61985302416047e-24),
        (-3.0, 0.0013498980316300933),
        (-1.0, 0.15865525393145707),
        (-0.1, 0.460172162722971),
        (0.0, 0.5),
        (0.5, 0.6914624612740131),
        (1.0, 0.8413447460685429),
        (2.0, 0.9772498680518208),
        (5.0, 0.9999997133484281),
    ];

    #[test]
    fn student_agrees_with_scipy() {
        for &(t, freedom, expected) in STUDENT {
            let found = student_upper(t, freedom);
            assert!((found - expected).abs() <= 1e-11 * expected, "t {t}, {freedom}: {found:e} for {expected:e}");
            let other = student_upper(-t, freedom);
            assert!((other + expected - 1.0).abs() < 1e-12, "t -{t}, {freedom}: {other}");
        }
    }

    #[test]
    fn student_has_its_limits() {
        assert_eq!((student_upper(0.0, 3.0), student_upper(f64::INFINITY, 3.0)), (0.5, 0.0));
        assert_eq!((student_upper(f64::NEG_INFINITY, 3.0), student_upper(1e200, 3.0)), (1.0, 0.0));
    }

    #[test]
    fn normal_agrees_with_scipy_and_its_quantile_undoes_it() {
        for &(z, expected) in NORMAL {
            let found = normal_below(z);
            assert!((found - expected).abs() <= 1e-13 * expected, "z {z}: {found:e} for {expected:e}");
            let back = normal_quantile(found);
            assert!((back - z).abs() < 1e-9, "z {z}: {back}");
        }
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!(normal_quantile(0.5).abs() < 1e-15);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }
}
