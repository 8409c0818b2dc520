//! The generator Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), for one counter
//! and for many at a time.

use crate::simd_kernel;

/// Counters in a group.
pub const LANES: usize = 16;

/// Counters, or the random words that they become: the first word of each, then the second, ...
pub type Group = [[u32; LANES]; 4];

simd_kernel! {
    /// Replaces counters by their random words.
    pub fn philox4x32_groups(groups: &mut [Group], key: [u32; 2]) = groups_body;
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn groups_body(groups: &mut [Group], key: [u32; 2]) {
    for group in groups {
        *group = philox4x32_lanes(*group, key);
    }
}

/// Four random words for a counter and a key.
#[inline]
pub fn philox4x32(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        counter = philox_round(counter, key);
        key = next_key(key);
    }
    counter
}

/// The random words of many counters, word by word. Inlined into vectorised kernels, it takes a fraction of the time.
// A separate function would be compiled for the oldest supported machine only; and lanes are numbered.
#[allow(clippy::inline_always, clippy::needless_range_loop)]
#[inline(always)]
pub fn philox4x32_lanes<const N: usize>(mut words: [[u32; N]; 4], mut key: [u32; 2]) -> [[u32; N]; 4] {
    for _ in 0..ROUNDS {
        for lane in 0..N {
            let [a, b, c, d] = philox_round([words[0][lane], words[1][lane], words[2][lane], words[3][lane]], key);
            (words[0][lane], words[1][lane], words[2][lane], words[3][lane]) = (a, b, c, d);
        }
        key = next_key(key);
    }
    words
}

const ROUNDS: usize = 10;

#[allow(clippy::inline_always)]
#[inline(always)]
fn philox_round(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    let first = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
    let second = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
    [
        (second >> 32) as u32 ^ counter[1] ^ key[0],
        second as u32,
        (first >> 32) as u32 ^ counter[3] ^ key[1],
        first as u32,
    ]
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn next_key(key: [u32; 2]) -> [u32; 2] {
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimdLevel;

    /// Known answers from the Random123 distribution.
    #[test]
    fn philox_gives_the_published_numbers() {
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox4x32([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox4x32([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn many_counters_give_the_words_of_each() {
        let counter = |place: u32| [place, place.wrapping_mul(0x9e37_79b9), !place, place << 24];
        for level in SimdLevel::available() {
            let mut groups: Vec<Group> = (0..3u32)
                .map(|group| {
                    std::array::from_fn(|word| std::array::from_fn(|lane| counter(16 * group + lane as u32)[word]))
                })
                .collect();
            philox4x32_groups(level, &mut groups, [7, 9]);
            for place in 0..48 {
                let words = groups[place / LANES].map(|word| word[place % LANES]);
                assert_eq!(words, philox4x32(counter(place as u32), [7, 9]));
            }
        }
    }
}
