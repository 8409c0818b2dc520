//! Computes ln x with operations that all machines round alike and that can be vectorised, like `exp.rs`.

/// The bits of sqrt(1/2): mantissas range from there to sqrt(2).
const ROOT_HALF: u32 = 0x3f35_04f3;

/// ln x for a positive normal number.
#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    let shifted = x.to_bits().wrapping_sub(ROOT_HALF);
    let exponent = ((shifted as i32) >> 23) as f32;
    let mantissa = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(ROOT_HALF));
    // ln m = 2 (t + t^3/3 + t^5/5 + ...) with t = (m - 1)/(m + 1); |t| <= 0.172, so the first omitted term is below
    // 2^-28.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let mut sum = 1.0 / 9.0;
    sum = sum * square + 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    sum = sum * square + 1.0 / 3.0;
    let rest = 2.0 * t * square * sum;
    exponent * std::f32::consts::LN_2 + (2.0 * t + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_right_to_a_few_units_in_the_last_place() {
        let mut x = f32::MIN_POSITIVE;
        while x < f32::MAX / 1.001 {
            let expected = f64::from(x).ln();
            let error = (f64::from(ln(x)) - expected).abs();
            assert!(error <= 2.5e-7 * expected.abs().max(1e-3), "{x}: {} is not {expected}", ln(x));
            x *= 1.000_37;
        }
        assert_eq!(ln(1.0), 0.0);
        assert!((f64::from(ln(1.0 - f32::EPSILON)) / -f64::from(f32::EPSILON) - 1.0).abs() < 1e-6);
    }
}
