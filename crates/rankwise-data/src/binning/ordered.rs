//! The bits of an f32 as an integer that sorts like the number.

/// Larger for larger numbers; -0 is below 0.
#[inline]
pub(super) fn ordered_bits(value: f32) -> u32 {
    let bits = value.to_bits();
    let negative = (bits as i32 >> 31) as u32;
    bits ^ (negative | 1 << 31)
}

/// The number with these ordered bits.
#[inline]
pub(super) fn from_ordered_bits(bits: u32) -> f32 {
    let negative = ((!bits) as i32 >> 31) as u32;
    f32::from_bits(bits ^ (negative | 1 << 31))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn integers_sort_like_numbers(a in any::<f32>(), b in any::<f32>()) {
            prop_assert_eq!(ordered_bits(a).cmp(&ordered_bits(b)), a.total_cmp(&b));
            prop_assert_eq!(from_ordered_bits(ordered_bits(a)).to_bits(), a.to_bits());
        }
    }
}
