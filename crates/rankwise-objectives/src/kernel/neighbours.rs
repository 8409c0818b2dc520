//! YetiRank's arithmetic on whole columns: noisy keys, and the pairs of neighbours of one ordering.

use rankwise_data::simd_kernel;

use super::exp::exp;
use super::noise::uniform;
use super::pairs::LANES;

/// Keeps the noise finite.
const ABOVE_ONE: f32 = 1.000_001;

simd_kernel! {
    /// e^(score - highest) for each document, clamped to the range of f32.
    pub(crate) fn powers(scores: &[f64], highest: f64, out: &mut [f32]) = powers_body;
}

#[inline(always)]
fn powers_body(scores: &[f64], highest: f64, out: &mut [f32]) {
    for (score, out) in scores.iter().zip(out) {
        *out = exp((score - highest) as f32);
    }
}

simd_kernel! {
    /// Sort keys that ascend as power * u / (1.000001 - u) descends, with the document number in the low half. u comes
    /// from the given one of the document's four random words.
    pub(crate) fn noisy_keys(powers: &[f32], words: &[u32], word: usize, out: &mut [u64]) = noisy_keys_body;
}

#[inline(always)]
fn noisy_keys_body(powers: &[f32], words: &[u32], word: usize, out: &mut [u64]) {
    let groups = powers.as_chunks::<LANES>().0.iter().zip(out.as_chunks_mut::<LANES>().0);
    for (group, (powers, out)) in groups.enumerate() {
        let words = &words[(4 * group + word) * LANES..][..LANES];
        for lane in 0..LANES {
            let uniform = uniform(words[lane]);
            let noisy = powers[lane] * (uniform / (ABOVE_ONE - uniform));
            // Positive floats have the same order as their bits.
            out[lane] = u64::from(!noisy.to_bits()) << 32 | (group * LANES + lane) as u64;
        }
    }
}

/// The columns of one ordering, by rank.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    pub(crate) powers: &'a [f32],
    pub(crate) values: &'a [f32],
    /// The weight of a pair of neighbours per difference of their values, at the rank of the upper one.
    pub(crate) weights: &'a [f32],
}

simd_kernel! {
    /// For each pair of neighbours, the lambda that moves the upper one down, and the Hessian. There is one pair less
    /// than documents.
    pub(crate) fn add_neighbours(order: &Order<'_>, lambdas: &mut [f32], hessians: &mut [f32]) = add_neighbours_body;
}

#[inline(always)]
fn add_neighbours_body(order: &Order<'_>, lambdas: &mut [f32], hessians: &mut [f32]) {
    let n_pairs = order.values.len().saturating_sub(1);
    let (upper, lower) = (&order.powers[..n_pairs], &order.powers[order.powers.len() - n_pairs..]);
    let (better, worse) = (&order.values[..n_pairs], &order.values[order.values.len() - n_pairs..]);
    let (weights, lambdas, hessians) = (&order.weights[..n_pairs], &mut lambdas[..n_pairs], &mut hessians[..n_pairs]);
    for pair in 0..n_pairs {
        let pull = (better[pair] - worse[pair]) * weights[pair];
        let inverse = 1.0 / (upper[pair] + lower[pair]);
        let (below, above) = (lower[pair] * inverse, upper[pair] * inverse);
        // The probability of the wrong order: that the lower one wins, if the upper one is better.
        let wrong = if pull > 0.0 { below } else { above };
        lambdas[pair] = -pull * wrong;
        hessians[pair] = pull.abs() * (below * above);
    }
}

#[cfg(test)]
mod tests {
    use rankwise_data::SimdLevel;

    use super::*;

    fn numbers(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32)
            .map(|at| ((at + 1).wrapping_mul(2_654_435_761).wrapping_add(seed) >> 8) as f32 / 16_777_216.0)
            .collect()
    }

    #[test]
    fn levels_agree_to_the_bit() {
        for n_groups in [1, 3, 8] {
            let n = n_groups * LANES;
            let all = SimdLevel::available().into_iter().map(|level| {
                let words: Vec<u32> = (0..4 * n as u32).map(|at| at.wrapping_mul(0x9e37_79b9)).collect();
                let scores: Vec<f64> = numbers(n, 1).iter().map(|number| f64::from(*number) * 200.0).collect();
                let mut of_docs = vec![0.0; n];
                powers(level, &scores, 200.0, &mut of_docs);
                let mut noisy = vec![0; n];
                noisy_keys(level, &of_docs, &words, 2, &mut noisy);
                let (mut lambdas, mut hessians) = (vec![0.0; n], vec![0.0; n]);
                let (values, weights) = (numbers(n, 77), numbers(n, 99));
                let order = Order { powers: &of_docs, values: &values, weights: &weights };
                add_neighbours(level, &order, &mut lambdas, &mut hessians);
                let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
                assert!(lambdas.iter().chain(&hessians).all(|number| number.is_finite()));
                (noisy, bits(&of_docs), bits(&lambdas), bits(&hessians))
            });
            let all: Vec<_> = all.collect();
            assert!(all.windows(2).all(|two| two[0] == two[1]));
        }
    }

    #[test]
    fn keys_ascend_as_noisy_powers_descend() {
        let of_docs = numbers(LANES, 3);
        let words: Vec<u32> = (0..4 * LANES as u32).map(|at| at.wrapping_mul(0x0bad_cafe) ^ u32::MAX).collect();
        let mut keys = vec![0; LANES];
        noisy_keys(SimdLevel::PORTABLE, &of_docs, &words, 1, &mut keys);
        keys.sort_unstable();
        let noisy = |key: &u64| {
            let doc = *key as u32 as usize;
            let uniform = (f64::from(words[LANES + doc] >> 9) + 0.5) / 8_388_608.0;
            f64::from(of_docs[doc]) * uniform / (1.000_001 - uniform)
        };
        assert!(keys.windows(2).all(|two| noisy(&two[0]) >= noisy(&two[1]) * (1.0 - 1e-5)));
    }
}
