//! Computes e^x with operations that all machines round alike and that can be vectorised: no fused multiply-add, no
//! tables, no branches, no library calls.

/// The argument is clamped here, where e^x leaves the range of normal f32.
const LIMIT: f32 = 87.0;
/// ln 2 in two parts. The first has few bits, so that its multiples are exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Adding and subtracting this rounds to the nearest integer.
const ROUNDER: f32 = 12_582_912.0;

/// e^x, with x clamped to +-87.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = x.clamp(-LIMIT, LIMIT);
    let n = (x * std::f32::consts::LOG2_E + ROUNDER) - ROUNDER;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    // The Taylor series; |r| <= ln 2 / 2, so the first omitted term is below 2^-24.
    let mut sum = 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    // n is an integer within +-126, so n + 127 is the exponent field of 2^n. Adding it to the rounder puts it in the
    // low bits of the fraction.
    let exponent = (n + (ROUNDER + 127.0)).to_bits() << 23;
    sum * f32::from_bits(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_right_to_a_few_units_in_the_last_place() {
        let mut worst = 0.0f64;
        for step in -86_900..=86_900 {
            let x = step as f32 * 0.001;
            let found = f64::from(exp(x));
            let expected = f64::from(x).exp();
            worst = worst.max(((found - expected) / expected).abs());
        }
        assert!(worst < 1.2e-7, "{worst}");
    }

    #[test]
    fn ends_are_held() {
        let e = exp;
        assert_eq!(e(0.0), 1.0);
        assert!(e(1e30).is_finite() && e(1e30) == e(87.0));
        assert!(e(-1e30) > 0.0 && e(f32::NEG_INFINITY) == e(-87.0));
    }
}
