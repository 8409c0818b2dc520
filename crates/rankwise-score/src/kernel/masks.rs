//! Turns ranks into answers: one bit for each document that passes a test.

use rankwise_simd::SimdLevel;

/// Bits per word.
pub(crate) const WORD_DOCS: usize = 64;

/// For each test, the documents whose rank is at most the test's place: bit `doc % 64` of word `doc / 64`. `answers`
/// has one word per test and word of documents.
pub(crate) fn answers(simd: SimdLevel, ranks: &[[u8; WORD_DOCS]], tests: &[u8], answers: &mut [u64]) {
    assert_eq!(answers.len(), tests.len() * ranks.len());
    #[cfg(target_arch = "x86_64")]
    {
        if simd.is_avx512() {
            return avx512::answers(simd, ranks, tests, answers);
        }
        if simd.is_avx2() {
            return avx2::answers(simd, ranks, tests, answers);
        }
    }
    let _ = simd;
    answers_plainly(ranks, tests, answers);
}

/// Processes eight documents at a time, as the bytes of an integer.
fn answers_plainly(ranks: &[[u8; WORD_DOCS]], tests: &[u8], answers: &mut [u64]) {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const HIGH: u64 = !LOW;
    // Gathers the highest bits of eight bytes; the first byte's becomes the lowest.
    const GATHER: u64 = 0x0002_0408_1020_4081;
    for (test, words) in tests.iter().zip(answers.chunks_exact_mut(ranks.len())) {
        let limits = u64::from_ne_bytes([*test; 8]);
        for (word, ranks) in words.iter_mut().zip(ranks) {
            *word = 0;
            for (eighth, ranks) in ranks.as_chunks::<8>().0.iter().enumerate() {
                let ranks = u64::from_le_bytes(*ranks);
                // The highest bit of each byte says that limit - rank does not borrow. If the highest bits of both are
                // equal, the subtraction of the rest decides; otherwise the larger one does.
                let stays = ((limits & LOW) | HIGH) - (ranks & LOW);
                let passes = ((limits & !ranks) | (!(limits ^ ranks) & stays)) & HIGH;
                *word |= ((passes >> 7).wrapping_mul(GATHER << 7) >> 56) << (8 * eighth);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512 {
    use std::arch::x86_64::{_mm512_cmple_epu8_mask, _mm512_loadu_si512, _mm512_set1_epi8};

    use rankwise_simd::SimdLevel;

    use super::WORD_DOCS;

    pub(super) fn answers(simd: SimdLevel, ranks: &[[u8; WORD_DOCS]], tests: &[u8], answers: &mut [u64]) {
        assert!(simd.is_avx512());
        // SAFETY: the level is created only if the machine supports these instructions.
        unsafe { compare(ranks, tests, answers) }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn compare(ranks: &[[u8; WORD_DOCS]], tests: &[u8], answers: &mut [u64]) {
        for (test, words) in tests.iter().zip(answers.chunks_exact_mut(ranks.len())) {
            let limit = _mm512_set1_epi8(*test as i8);
            for (word, ranks) in words.iter_mut().zip(ranks) {
                // SAFETY: 64 bytes are read from an array of 64.
                *word = _mm512_cmple_epu8_mask(unsafe { _mm512_loadu_si512(ranks.as_ptr().cast()) }, limit);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_set1_epi8,
    };

    use rankwise_simd::SimdLevel;

    use super::WORD_DOCS;

    pub(super) fn answers(simd: SimdLevel, ranks: &[[u8; WORD_DOCS]], tests: &[u8], answers: &mut [u64]) {
        assert!(simd.is_avx2());
        // SAFETY: the level is created only if the machine supports these instructions.
        unsafe { compare(ranks, tests, answers) }
    }

    #[target_feature(enable = "avx2")]
    fn compare(ranks: &[[u8; WORD_DOCS]], tests: &[u8], answers: &mut [u64]) {
        for (test, words) in tests.iter().zip(answers.chunks_exact_mut(ranks.len())) {
            let limit = _mm256_set1_epi8(*test as i8);
            for (word, ranks) in words.iter_mut().zip(ranks) {
                let half = |half: &[u8; 32]| {
                    // SAFETY: 32 bytes are read from an array of 32.
                    let ranks = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                    // A rank is at most the limit if it is the minimum of both.
                    let passes = _mm256_cmpeq_epi8(_mm256_min_epu8(ranks, limit), ranks);
                    u64::from(_mm256_movemask_epi8(passes) as u32)
                };
                let (halves, _) = ranks.as_chunks::<32>();
                *word = half(&halves[0]) | half(&halves[1]) << 32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn answers_are_comparisons(bytes in prop::collection::vec(any::<u8>(), 128), tests in prop::collection::vec(any::<u8>(), 0..9)) {
            let ranks = bytes.as_chunks::<WORD_DOCS>().0;
            for simd in SimdLevel::available() {
                let mut words = vec![u64::MAX / 3; tests.len() * ranks.len()];
                answers(simd, ranks, &tests, &mut words);
                for (test, words) in tests.iter().zip(words.chunks(2)) {
                    for (doc, rank) in bytes.iter().enumerate() {
                        let passes = words[doc / WORD_DOCS] >> (doc % WORD_DOCS) & 1 == 1;
                        prop_assert_eq!(passes, rank <= test, "{:?}: {} and {}", simd, rank, test);
                    }
                }
            }
        }
    }
}
