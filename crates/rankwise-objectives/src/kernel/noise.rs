//! Random numbers for whole lists.

use rankwise_data::{Draw, simd_kernel};

use super::ln::ln;
use super::pairs::LANES;

simd_kernel! {
    /// Draws four words for each document; those of a group of lanes are contiguous, word by word.
    pub(crate) fn draw_words(draw: &Draw, keys: &[u64], ordinals: &[u32], out: &mut [u32]) = draw_words_body;
}

#[inline(always)]
fn draw_words_body(draw: &Draw, keys: &[u64], ordinals: &[u32], out: &mut [u32]) {
    let groups = keys.as_chunks::<LANES>().0.iter().zip(ordinals.as_chunks::<LANES>().0);
    for ((keys, ordinals), out) in groups.zip(out.as_chunks_mut::<{ 4 * LANES }>().0) {
        let words = draw.bits_of(keys, ordinals);
        for (word, out) in words.iter().zip(out.as_chunks_mut::<LANES>().0) {
            out.copy_from_slice(word);
        }
    }
}

/// A uniform number from a word: the midpoint of one of 2^23 intervals, exact in f32; never 0 or 1.
#[inline(always)]
pub(crate) fn uniform(word: u32) -> f32 {
    ((word >> 9) as i32 as f32 + 0.5) * (1.0 / 8_388_608.0)
}

simd_kernel! {
    /// Scores plus Gumbel noise of the given strength, from the given one of each document's four words.
    pub(crate) fn add_gumbel(
        scores: &[f64], strength: f32, words: &[u32], word: usize, out: &mut [f32],
    ) = add_gumbel_body;
}

#[inline(always)]
fn add_gumbel_body(scores: &[f64], strength: f32, words: &[u32], word: usize, out: &mut [f32]) {
    let groups = scores.chunks(LANES).zip(out.chunks_mut(LANES));
    for (group, (scores, out)) in groups.enumerate() {
        let words = &words[(4 * group + word) * LANES..][..LANES];
        let mut noise = [0.0; LANES];
        for lane in 0..LANES {
            noise[lane] = strength * gumbel(uniform(words[lane]));
        }
        for lane in 0..scores.len().min(out.len()) {
            out[lane] = (scores[lane] + f64::from(noise[lane])) as f32;
        }
    }
}

/// Turns a uniform number between 0 and 1 into one with the standard Gumbel distribution.
#[inline(always)]
fn gumbel(uniform: f32) -> f32 {
    -ln(-ln(uniform))
}

#[cfg(test)]
mod tests {
    use rankwise_data::{Purpose, SimdLevel};

    use super::*;

    /// The distribution function is exp(-exp(-x)).
    #[test]
    fn quantiles_are_those_of_the_distribution() {
        for word in [0, 1 << 9, 1 << 20, u32::MAX / 3, u32::MAX / 2, u32::MAX - (1 << 12), u32::MAX] {
            let (uniform, x) = (f64::from(uniform(word)), f64::from(gumbel(uniform(word))));
            assert!(x.is_finite() && uniform > 0.0 && uniform < 1.0);
            let found = (-(-x).exp()).exp();
            assert!((found - uniform).abs() <= 2e-6 * uniform.min(0.1), "{uniform}: {x}, {found}");
        }
    }

    #[test]
    fn levels_agree_and_words_are_those_of_the_generator() {
        for n_docs in [1, 16, 45] {
            let n_padded = usize::next_multiple_of(n_docs, LANES);
            let draw = Draw::new(5, Purpose::Objective, 3);
            let keys: Vec<u64> = (0..n_padded as u64).map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let scores: Vec<f64> = (0..n_docs).map(|doc| doc as f64 * 0.3).collect();
            let all: Vec<_> = SimdLevel::available()
                .into_iter()
                .map(|level| {
                    let mut words = vec![0; 4 * n_padded];
                    draw_words(level, &draw, &keys, &vec![1; n_padded], &mut words);
                    for (doc, key) in keys.iter().enumerate() {
                        let word = |word: usize| words[(4 * (doc / LANES) + word) * LANES + doc % LANES];
                        assert_eq!([0, 1, 2, 3].map(word), draw.bits(*key, 1));
                    }
                    let mut noisy = vec![0.0; n_docs];
                    add_gumbel(level, &scores, 0.7, &words, 3, &mut noisy);
                    noisy.iter().map(|number| number.to_bits()).collect::<Vec<_>>()
                })
                .collect();
            assert!(all.windows(2).all(|two| two[0] == two[1]));
        }
    }
}
