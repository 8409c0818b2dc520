//! Exponential clocks: the order in which they ring is a sample from the Plackett-Luce model.
//!
//! ```text
//! u = (bits + 1/2) / 2^32        time = -ln(u) * mean        mean = 1 / exp(score)
//! ```
//!
//! The logarithm uses only operations that all machines round alike and that can be vectorised.

use rankwise_data::simd_kernel;

simd_kernel! {
    /// The time at which each clock rings; all slices have the same length.
    pub(crate) fn ring(bits: &[u32], means: &[f64], times: &mut [f64]) = ring_body;
}

#[inline(always)]
fn ring_body(bits: &[u32], means: &[f64], times: &mut [f64]) {
    for ((bits, mean), time) in bits.iter().zip(means).zip(times) {
        *time = minus_ln(*bits) * mean;
    }
}

/// Adding this to a number below 2^52 puts the number in the low bits.
const WHOLE: f64 = (1u64 << 52) as f64;
/// The bits of sqrt(1/2): fractions range from there to sqrt(2), so that the series is short.
const ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;
const FRACTION: u64 = (1 << 52) - 1;
/// The stored exponent of 1.
const BIAS: f64 = 1023.0;

/// -ln((bits + 1/2) / 2^32).
#[inline(always)]
fn minus_ln(bits: u32) -> f64 {
    const SCALE: f64 = 1.0 / (1u64 << 32) as f64;
    let uniform = ((f64::from_bits(WHOLE.to_bits() | u64::from(bits)) - WHOLE) + 0.5) * SCALE;
    let shifted = uniform.to_bits() + (ONE - ROOT);
    let exponent = f64::from_bits(WHOLE.to_bits() | shifted >> 52) - (WHOLE + BIAS);
    let fraction = f64::from_bits((shifted & FRACTION) + ROOT);
    // ln(1 + f) = 2 artanh(f / (2 + f)); |t| <= 0.172, so the first omitted term is below 2^-45 of the sum.
    let f = fraction - 1.0;
    let t = f / (2.0 + f);
    let square = t * t;
    let mut sum = 2.0 / 15.0;
    sum = sum * square + 2.0 / 13.0;
    sum = sum * square + 2.0 / 11.0;
    sum = sum * square + 2.0 / 9.0;
    sum = sum * square + 2.0 / 7.0;
    sum = sum * square + 2.0 / 5.0;
    sum = sum * square + 2.0 / 3.0;
    sum = sum * square + 2.0;
    -(exponent * std::f64::consts::LN_2 + sum * t)
}

#[cfg(test)]
mod tests {
    use rankwise_data::SimdLevel;

    use super::*;

    #[test]
    fn logarithms_are_right_and_alike_everywhere() {
        let mut bits: Vec<u32> = (0..100_000).map(|step: u32| step.wrapping_mul(2_654_435_761)).collect();
        bits.extend([0, 1, u32::MAX, u32::MAX - 1, 1 << 31, (1 << 31) - 1]);
        let means = vec![1.0; bits.len()];
        let times = |level: SimdLevel| {
            let mut times = vec![0.0; bits.len()];
            ring(level, &bits, &means, &mut times);
            times
        };
        let portable = times(SimdLevel::PORTABLE);
        for (bits, time) in bits.iter().zip(&portable) {
            let uniform = (f64::from(*bits) + 0.5) / 4_294_967_296.0;
            let expected = -uniform.ln();
            assert!(*time > 0.0 && (time - expected).abs() <= 1e-13 * expected, "{bits}: {time} is not {expected}");
        }
        for level in SimdLevel::available() {
            assert_eq!(portable, times(level), "{}", level.name());
        }
    }
}
