//! The decimal that a value most likely was before it was rounded to f32.
//!
//! Nearly every number in a text has so few digits that its f32 tells which number it was: `0.1` is the only decimal of up to
//! seven digits that rounds to its f32. Readers that must not lose anything keep the f32, and beside it only the values that
//! [`decimal_of`] does not give back.

/// For values below each bound: so many decimals are coarser than the distance to the next f32, so that at most one such decimal
/// rounds to the value.
const DECIMALS_BELOW: [(f32, usize); 7] =
    [(0.007_812_5, 9), (0.125, 8), (1.0, 7), (8.0, 6), (128.0, 5), (1024.0, 4), (8192.0, 3)];
/// For larger ones.
const FEWEST_DECIMALS: usize = 1;
/// Most decimals that are tried beyond: with them, numbers have the nine digits that tell any f32.
const MORE_DECIMALS: usize = 3;
const POWERS_OF_TEN: [f64; 13] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12];
/// Every integer up to here is an f32, and every larger f32 is an integer.
const F32_INTEGERS: f32 = 16_777_216.0;

/// The most decimals of which at most one number rounds to a value of this size; `None` from 8192 on.
pub fn telling_decimals(size: f32) -> Option<usize> {
    DECIMALS_BELOW.iter().find(|(bound, _)| size < *bound).map(|(_, decimals)| *decimals)
}

/// Whether a value is missing or an integer that f32 holds.
pub(crate) fn is_f32_integer(value: f64) -> bool {
    value.is_nan() || (value.abs() <= f64::from(F32_INTEGERS) && value.trunc() == value)
}

/// The decimal with the fewest digits, about, that rounds to `value`, as an f64; `value` itself where none of up to nine digits
/// does.
#[inline]
pub(crate) fn decimal_of(value: f32) -> f64 {
    let (wide, size) = (f64::from(value), value.abs());
    if value.is_nan() || size >= F32_INTEGERS || value.trunc() == value {
        return wide;
    }
    let fewest = telling_decimals(size).unwrap_or(FEWEST_DECIMALS);
    for power in &POWERS_OF_TEN[fewest..=fewest + MORE_DECIMALS] {
        // Both are exact, so the division gives the f64 that a reader of the decimal gets.
        let decimal = (wide * power).round_ties_even() / power;
        if decimal as f32 == value {
            return decimal;
        }
    }
    wide
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_come_back_as_they_were_written() {
        for number in [0.1f64, 0.3, 12.34, 0.000_123, 1e-7, 99_999.9, 18.363_636, 0.348_237_13, 7.0, 0.5, 1.7e9, -0.0] {
            for number in [number, -number] {
                assert_eq!(decimal_of(number as f32).to_bits(), number.to_bits(), "{number}");
            }
        }
        assert!(decimal_of(f32::NAN).is_nan());
        for value in [f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), 1e-20] {
            assert_eq!(decimal_of(value), f64::from(value), "too small or too large to have decimals");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Numbers of seven digits below 2^23 are told from all others by their f32.
        #[test]
        fn short_decimals_come_back(digits in 0u32..8_388_608, power in 1usize..=9) {
            let number = f64::from(digits) / POWERS_OF_TEN[power];
            prop_assert_eq!(decimal_of(number as f32).to_bits(), number.to_bits());
        }

        /// Whatever it gives rounds to the value.
        #[test]
        fn it_rounds_to_the_value(bits: u32) {
            let value = f32::from_bits(bits);
            let back = decimal_of(value) as f32;
            prop_assert!(back == value || (back.is_nan() && value.is_nan()));
        }

        /// The shortest text of an f32 is what most programs write.
        #[test]
        fn shortest_texts_come_back(value in -1e5f32..1e5) {
            let number: f64 = value.to_string().parse().unwrap();
            let (found, exact) = (decimal_of(value), f64::from(value));
            // With few decimals and at powers of two, another decimal of as many digits can be as near.
            prop_assert!(found == number || (found - exact).abs() <= (number - exact).abs(), "{} {}", found, number);
        }
    }
}
