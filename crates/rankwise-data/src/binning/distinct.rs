//! Distinct values with their counts.

use super::ordered::{from_ordered_bits, ordered_bits};

/// Digits of the radix sort have at most so many bits: three passes for 32 bits. The counts of one digit take a quarter
/// of a first-level cache.
const DIGIT_BITS: u32 = 11;

/// The distinct values, ascending, with their counts. There is no NaN and no -0.
pub(super) fn distinct_f32(values: &[f32]) -> Vec<(f32, usize)> {
    let mut keys: Vec<u32> = values.iter().map(|value| ordered_bits(*value)).collect();
    sort(&mut keys);
    keys.chunk_by(|a, b| a == b).map(|equal| (from_ordered_bits(equal[0]), equal.len())).collect()
}

/// Radix sort, which leaves out leading and trailing bits that are the same in all keys: small integers and decimals as
/// f32 have many of them.
fn sort(keys: &mut Vec<u32>) {
    let Some(first) = keys.first().copied() else { return };
    let varying = keys.iter().fold(0, |varying, key| varying | (key ^ first));
    if varying == 0 {
        return;
    }
    let lowest = varying.trailing_zeros();
    let n_bits = 32 - varying.leading_zeros() - lowest;
    let n_passes = n_bits.div_ceil(DIGIT_BITS);
    let digit_bits = n_bits.div_ceil(n_passes);
    let mut sorted = vec![0; keys.len()];
    for pass in 0..n_passes {
        sort_by_digit(keys, &mut sorted, lowest + pass * digit_bits, digit_bits);
        std::mem::swap(keys, &mut sorted);
    }
}

/// Copies the keys in the order of one digit; keys with equal digits keep their order.
fn sort_by_digit(keys: &[u32], sorted: &mut [u32], shift: u32, digit_bits: u32) {
    const MASK: usize = (1 << DIGIT_BITS) - 1;
    let mask = (1 << digit_bits) - 1;
    let digit = |key: u32| (key >> shift & mask) as usize & MASK;
    let mut places = [0u32; 1 << DIGIT_BITS];
    for key in keys {
        places[digit(*key)] += 1;
    }
    let mut start = 0;
    for place in &mut places {
        let count = *place;
        *place = start;
        start += count;
    }
    for key in keys {
        let place = &mut places[digit(*key)];
        sorted[*place as usize] = *key;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_like_the_standard_library(
            keys in prop::collection::vec(any::<u32>(), 0..300), mask in any::<u32>(), fixed in any::<u32>(),
        ) {
            let mut keys: Vec<u32> = keys.into_iter().map(|key| key & mask | fixed & !mask).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys);
            prop_assert_eq!(keys, expected);
        }
    }

    #[test]
    fn values_are_counted() {
        assert_eq!(distinct_f32(&[2.0, -1.5, 2.0, 0.0, -1.5, 2.0]), [(-1.5, 2), (0.0, 1), (2.0, 3)]);
        assert_eq!(distinct_f32(&[]), []);
        assert_eq!(distinct_f32(&[7.0; 3]), [(7.0, 3)]);
    }
}
