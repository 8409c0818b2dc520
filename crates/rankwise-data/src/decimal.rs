//! Recovers the decimal that a value most likely was before it was rounded to f32.
//!
//! Nearly every number in a text file has so few digits that it can be recovered from its f32: `0.1` is the only
//! decimal of up to seven digits that rounds to its f32. Readers that must not lose precision keep the f32, and in
//! addition only those values that [`decimal_of`] does not recover.

use crate::columns::rounded;

/// For values below each bound, a number of decimals at which decimals are further apart than neighbouring f32. So at
/// most one such decimal rounds to the value.
const DECIMALS_BELOW: [(f32, usize); 7] =
    [(0.007_812_5, 9), (0.125, 8), (1.0, 7), (8.0, 6), (128.0, 5), (1024.0, 4), (8192.0, 3)];
/// The same for larger values.
const FEWEST_DECIMALS: usize = 1;
/// How many more decimals are tried: nine digits in total distinguish all f32.
const MORE_DECIMALS: usize = 3;
const POWERS_OF_TEN: [f64; 13] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12];
/// Every integer up to here is an f32, and every larger f32 is an integer.
const F32_INTEGERS: f32 = 16_777_216.0;

/// Adding and subtracting it rounds numbers of up to 2^51 to integers, half to even.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
const EXPONENT_BITS: u32 = 0x7f80_0000;
/// From here on, the distance to the next value is not subnormal.
const SMALLEST_QUICK: f32 = 1e-20;
/// The number of decimals that [`decimal_of`] tries first, by the exponent of the value.
const FEWEST_DECIMALS_OF: [u8; 256] = fewest_by_exponent();

const fn fewest_by_exponent() -> [u8; 256] {
    let mut table = [FEWEST_DECIMALS as u8; 256];
    let mut row = DECIMALS_BELOW.len();
    // The bounds are powers of two, so all values with the same exponent are on one side.
    while row > 0 {
        row -= 1;
        let (bound, decimals) = DECIMALS_BELOW[row];
        let mut exponent = 0;
        while exponent < (bound.to_bits() >> 23) as usize {
            table[exponent] = decimals as u8;
            exponent += 1;
        }
    }
    table
}

/// The largest number of decimals for which at most one decimal rounds to a value of this size; `None` from 8192 on.
pub fn telling_decimals(size: f32) -> Option<usize> {
    DECIMALS_BELOW.iter().find(|(bound, _)| size < *bound).map(|(_, decimals)| *decimals)
}

/// Whether a value is missing or an integer that f32 holds.
#[expect(clippy::needless_bitwise_bool, reason = "without branches, loops over it become vector instructions")]
pub(crate) fn is_f32_integer(value: f64) -> bool {
    value.is_nan() | ((value.abs() <= f64::from(F32_INTEGERS)) & ((value + ROUNDING) - ROUNDING == value))
}

/// Roughly the shortest decimal that rounds to `value`, as an f64. If two are equally near, it is the one further from
/// 0, which is also the one that Rust writes. `value` itself if no decimal of up to nine digits rounds to it.
#[inline]
pub(crate) fn decimal_of(value: f32) -> f64 {
    let (wide, size) = (f64::from(value), value.abs());
    if value.is_nan() || size >= F32_INTEGERS || value.trunc() == value {
        return wide;
    }
    let fewest = telling_decimals(size).unwrap_or(FEWEST_DECIMALS);
    for power in &POWERS_OF_TEN[fewest..=fewest + MORE_DECIMALS] {
        // Both are exact, so the division gives the same f64 as parsing the decimal.
        let decimal = (wide * power).round() / power;
        if decimal as f32 == value {
            return decimal;
        }
    }
    wide
}

/// Whether a value can be recovered from its f32, that is, whether [`decimal_of`] returns it.
#[inline]
pub(crate) fn is_told(value: f64) -> bool {
    let near = value as f32;
    let (wide, size) = (f64::from(near), near.abs());
    // Too small or too large for decimals, an integer, or NaN.
    if !(SMALLEST_QUICK..F32_INTEGERS).contains(&size) || wide == value {
        return value.is_nan() || decimal_of(rounded(value)).to_bits() == value.to_bits();
    }
    let half_ulp = half_ulp(size);
    let fewest = fewest_decimals(size);
    for power in &POWERS_OF_TEN[fewest..=fewest + MORE_DECIMALS] {
        let scaled = wide * power;
        let whole = (scaled + ROUNDING) - ROUNDING;
        let (distance, half) = ((whole - scaled).abs(), half_ulp * power);
        if distance > 1.1 * half {
            continue;
        }
        let whole = if distance == 0.5 { scaled + 0.5f64.copysign(scaled) } else { whole };
        // The first decimal that rounds to the f32 decides. In close cases, the division decides.
        if distance < 0.9 * half || (whole / power) as f32 == near {
            return whole / power == value;
        }
    }
    false
}

/// Half the distance between neighbouring values of this size, which must not be subnormal.
#[inline]
fn half_ulp(size: f32) -> f64 {
    f64::from(f32::from_bits((size.to_bits() & EXPONENT_BITS) - (24 << 23)))
}

/// The number of decimals that [`decimal_of`] tries first for a value of this size.
#[inline]
fn fewest_decimals(size: f32) -> usize {
    usize::from(FEWEST_DECIMALS_OF[(size.to_bits() >> 23) as usize])
}

/// [`is_told`] for `digits / 10^n_decimals`, faster.
#[inline]
pub(crate) fn is_told_decimal(value: f64, digits: u64, n_decimals: usize) -> bool {
    let near = value as f32;
    let size = near.abs();
    let in_range = (SMALLEST_QUICK..F32_INTEGERS).contains(&size);
    let fewest = fewest_decimals(size);
    if in_range && (fewest + 1..=fewest + MORE_DECIMALS).contains(&n_decimals) {
        // No decimal with one place less, and so none with even fewer, may round to the f32, ...
        let (size, power, less) = (f64::from(size), POWERS_OF_TEN[n_decimals], POWERS_OF_TEN[n_decimals - 1]);
        let shorter = size * less;
        let is_shortest = ((shorter + ROUNDING) - ROUNDING - shorter).abs() > 1.1 * half_ulp(near.abs()) * less;
        // ... and this must be the nearest decimal with this many places.
        if is_shortest && (size * power - digits as f64).abs() < 0.5 {
            return true;
        }
    }
    is_told(value)
}

/// Whether [`is_told`] holds for all values. Most are integers or have up to six decimals, which vector instructions
/// detect.
pub(crate) fn are_told(values: &[f64]) -> bool {
    let are_short = |chunk: &[f64]| chunk.iter().fold(true, |all, value| all & is_short(*value));
    values.chunks(64).all(|chunk| are_short(chunk) || chunk.iter().all(|value| is_short(*value) || is_told(*value)))
}

/// Whether all values are missing, or finite and exactly representable as f32.
pub(crate) fn are_f32(values: &[f64]) -> bool {
    // An inner loop without an early exit becomes vector instructions.
    let is_f32 = |value: f64| (f64::from(value as f32) == value) & value.is_finite() | value.is_nan();
    values.chunks(64).all(|chunk| chunk.iter().fold(true, |all, value| all & is_f32(*value)))
}

/// Whether a value is a decimal of at most six places and seven digits, an integer that f32 holds, or missing.
/// Branch-free.
#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "the same")]
fn is_short(value: f64) -> bool {
    const SCALE: f64 = 1e6;
    /// The limit of digits up to which [`decimal_of`] recovers every decimal.
    const DIGITS: f64 = 8_388_608.0;
    let scaled = (value * SCALE + ROUNDING) - ROUNDING;
    let has_few_digits = (scaled.abs() < DIGITS) & (scaled / SCALE == value) & (value != 0.0);
    // This includes both zeros.
    has_few_digits | is_f32_integer(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_come_back_as_they_were_written() {
        for number in [
            49_181.313,
            1_126.156_3,
            0.1f64,
            0.3,
            12.34,
            0.000_123,
            1e-7,
            99_999.9,
            18.363_636,
            0.348_237_13,
            7.0,
            0.5,
            1.7e9,
            -0.0,
        ] {
            for number in [number, -number] {
                assert_eq!(decimal_of(number as f32).to_bits(), number.to_bits(), "{number}");
            }
        }
        assert!(decimal_of(f32::NAN).is_nan());
        for value in [f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), 1e-20] {
            assert_eq!(decimal_of(value), f64::from(value), "too small or too large to have decimals");
        }
    }

    /// Decimals of up to 12 digits, midpoints between f32 values, decimals next to them, and arbitrary numbers.
    fn tried_value() -> impl Strategy<Value = f64> {
        let middle = |value: f32| f64::midpoint(value.into(), value.next_up().into());
        let near = move |(value, power): (f32, usize)| {
            let power = POWERS_OF_TEN[power];
            (middle(value) * power).round() / power
        };
        prop_oneof![
            4 => (-999_999_999_999i64..999_999_999_999, 0usize..=12).prop_map(|(n, power)| n as f64 / POWERS_OF_TEN[power]),
            2 => (1e-9f32..1e6, 0usize..=9).prop_map(near),
            1 => any::<f32>().prop_map(middle),
            1 => any::<f32>().prop_map(f64::from),
            1 => any::<f64>(),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Decimals of seven digits below 2^23 can be recovered from their f32.
        #[test]
        fn short_decimals_come_back(digits in 0u32..8_388_608, power in 1usize..=9) {
            let number = f64::from(digits) / POWERS_OF_TEN[power];
            prop_assert_eq!(decimal_of(number as f32).to_bits(), number.to_bits());
        }

        /// The quick check agrees with the definition, even at the limits of what rounds to an f32.
        #[test]
        fn it_is_told_if_its_decimal_is_the_value(value in tried_value(), steps in -2i8..=2) {
            let value = (0..steps.abs()).fold(value, |v, _| if steps > 0 { v.next_up() } else { v.next_down() });
            let expected = value.is_nan() || decimal_of(rounded(value)).to_bits() == value.to_bits();
            prop_assert_eq!(is_told(value), expected, "{:?}", value);
        }

        /// The check for known digits, with or without trailing zeros, agrees with the general one.
        #[test]
        fn digits_tell_the_same(digits in 0u64..2_000_000_000_000, cut in 0u32..12, zeros in 0u32..3, n_decimals in 0usize..=12) {
            let digits = digits / 10u64.pow(cut) * 10u64.pow(zeros);
            let value = digits as f64 / POWERS_OF_TEN[n_decimals];
            for value in [value, -value] {
                prop_assert_eq!(is_told_decimal(value, digits, n_decimals), is_told(value), "{:?}", value);
            }
        }

        /// The quick check never accepts a value that the definition rejects, nor do the checks of whole lists.
        #[test]
        fn lists_are_told_if_each_value_is(
            values in prop::collection::vec(prop_oneof![
                5 => (-9_000_000i64..9_000_000, 0usize..7).prop_map(|(digits, power)| digits as f64 / POWERS_OF_TEN[power]),
                1 => any::<f64>(),
                1 => any::<f32>().prop_map(f64::from),
                1 => prop_oneof![Just(f64::NAN), Just(-0.0), Just(16_777_217.0), Just(1e-60), Just(f64::INFINITY)],
            ], 0..4),
            n_ones in 0usize..130,
        ) {
            prop_assert!(values.iter().all(|value| is_told(*value) || !is_short(*value)), "{:?}", values);
            let all: Vec<f64> = std::iter::repeat_n(1.0, n_ones).chain(values.iter().copied()).collect();
            prop_assert_eq!(are_told(&all), values.iter().all(|value| is_told(*value)));
            let is_f32 = |value: &f64| value.is_nan() || (value.is_finite() && f64::from(*value as f32) == *value);
            prop_assert_eq!(are_f32(&all), values.iter().all(is_f32));
        }

        /// The result always rounds to the value.
        #[test]
        fn it_rounds_to_the_value(bits: u32) {
            let value = f32::from_bits(bits);
            let back = decimal_of(value) as f32;
            prop_assert!(back == value || (back.is_nan() && value.is_nan()));
        }

        /// Most programs write the shortest text of an f32.
        #[test]
        fn shortest_texts_come_back(value in -1e5f32..1e5) {
            let number: f64 = value.to_string().parse().unwrap();
            let (found, exact) = (decimal_of(value), f64::from(value));
            // With few decimals, and at powers of two, another decimal of the same length can be equally near.
            prop_assert!(found == number || (found - exact).abs() <= (number - exact).abs(), "{} {}", found, number);
        }
    }
}
