//! Fisher's randomisation test: if two systems were equal, each query's difference could just as well have the other
//! sign. The p-value is the share of all sign assignments for which the mean is at least as extreme as observed.
//!
//! Weighted differences are converted to integers once, so that sums have no rounding and no order. With few
//! differences, all sign assignments are tried. With many, random ones are drawn: eight queries share a table of their
//! 256 signed sums, and a random byte selects one of them.

use rankwise_data::{Draw, Purpose};
use rayon::prelude::*;

use crate::{QueryValues, Tail};

/// Up to this many non-zero differences, all 2^n sign assignments are tried: a million sums.
pub const MAX_ENUMERATED: usize = 20;
/// The absolute values of all differences sum to less than 2 to this power, so that no sum overflows.
const TOTAL_BITS: i32 = 61;
/// A sum this close to the observed one, relative to the total, counts as equal. Values such as 1/3 are rounded, so
/// sums that are equal on paper differ by rounding.
const SLACK_BITS: i32 = 44;
/// Number of queries whose signs come from one draw of 128 bits.
const BLOCK: usize = 128;
/// Number of queries that share a table of sums.
const GROUP: usize = 8;
/// Number of sign assignments summed together: their sums, their bits and a table stay in the first-level cache.
const CHUNK: u32 = 1024;

/// The p-value of the mean difference. If there are too many sign assignments to try all, `permutations` random ones
/// are drawn, and the p-value is (1 + number at least as extreme) / (1 + permutations).
pub fn fisher(differences: &QueryValues, tail: Tail, permutations: u32, seed: u64) -> f64 {
    let terms = to_integers(differences);
    let question = Question::new(&terms, tail);
    let changing: Vec<i64> = terms.iter().copied().filter(|term| *term != 0).collect();
    if changing.len() <= MAX_ENUMERATED {
        return question.count_all(&changing) as f64 / (1u64 << changing.len()) as f64;
    }
    let n_chunks = permutations.div_ceil(CHUNK);
    let count: u64 = (0..n_chunks)
        .into_par_iter()
        .map_init(Scratch::default, |scratch, chunk| {
            let first = chunk * CHUNK;
            scratch.draw_sums(&terms, seed, first..permutations.min(first.saturating_add(CHUNK)));
            scratch.sums.iter().filter(|sum| question.is_extreme(**sum)).count() as u64
        })
        .sum();
    (1 + count) as f64 / (1.0 + f64::from(permutations))
}

/// The weighted difference of each query, as multiples of a power of two.
fn to_integers(differences: &QueryValues) -> Vec<i64> {
    let scale = differences.scale();
    let terms: Vec<f64> =
        differences.values().iter().zip(differences.weights()).map(|(value, weight)| value / scale * weight).collect();
    // Each term is at most 1, because values and weights are scaled.
    let (_, exponent) = libm::frexp(terms.len() as f64);
    terms.into_iter().map(|term| libm::rint(libm::ldexp(term, TOTAL_BITS - exponent)) as i64).collect()
}

/// Which sums count as at least as extreme as the observed one.
struct Question {
    threshold: i64,
    tail: Tail,
}

impl Question {
    fn new(terms: &[i64], tail: Tail) -> Self {
        let observed: i64 = terms.iter().sum();
        // The conversion to integers changes each term by at most half a unit, and both sums accordingly.
        let slack = (terms.iter().map(|term| term.abs()).sum::<i64>() >> SLACK_BITS) + terms.len() as i64;
        Self { threshold: extent(observed, tail) - slack, tail }
    }

    fn is_extreme(&self, sum: i64) -> bool {
        extent(sum, self.tail) >= self.threshold
    }

    /// Tries all sign assignments, each different from the previous one in one sign (Gray code).
    fn count_all(&self, terms: &[i64]) -> u64 {
        let mut sum: i64 = terms.iter().sum();
        let mut signs = 0u32;
        let mut count = u64::from(self.is_extreme(sum));
        for step in 1u32..1 << terms.len() {
            let place = step.trailing_zeros();
            signs ^= 1 << place;
            let term = 2 * terms[place as usize];
            sum += if signs >> place & 1 == 1 { -term } else { term };
            count += u64::from(self.is_extreme(sum));
        }
        count
    }
}

/// How far a sum is on the side that counts.
fn extent(sum: i64, tail: Tail) -> i64 {
    match tail {
        Tail::Both => sum.abs(),
        Tail::Upper => sum,
        Tail::Lower => -sum,
    }
}

#[derive(Default)]
struct Scratch {
    /// 128 signs for each assignment, for the current block.
    signs: Vec<[u8; BLOCK / GROUP]>,
    sums: Vec<i64>,
}

impl Scratch {
    /// The sums for the sign assignments with these numbers. The sign of a term depends on the seed, the number of the
    /// assignment and the index of the term.
    fn draw_sums(&mut self, terms: &[i64], seed: u64, choices: std::ops::Range<u32>) {
        let draw = Draw::new(seed, Purpose::Permutation, 0);
        self.sums.clear();
        self.sums.resize(choices.len(), 0);
        for (block, terms) in terms.chunks(BLOCK).enumerate() {
            self.signs.clear();
            self.signs
                .extend(choices.clone().map(|choice| to_bytes(draw.bits(u64::from(choice) << 32 | block as u64, 0))));
            for (group, terms) in terms.chunks(GROUP).enumerate() {
                let table = signed_sums(terms);
                for (sum, signs) in self.sums.iter_mut().zip(&self.signs) {
                    *sum += table[signs[group] as usize];
                }
            }
        }
    }
}

fn to_bytes(bits: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (place, word) in bytes.chunks_exact_mut(4).zip(bits) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// The sum of up to eight terms for each sign assignment: bit j of the index is 1 if term j is added.
fn signed_sums(terms: &[i64]) -> [i64; 1 << GROUP] {
    let mut table = [0; 1 << GROUP];
    table[0] = -terms.iter().sum::<i64>();
    for bit in 0..GROUP {
        let (known, next) = table.split_at_mut(1 << bit);
        let term = terms.get(bit).copied().unwrap_or(0);
        for (next, known) in next.iter_mut().zip(known) {
            *next = *known + 2 * term;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the table and the bits with signs taken one by one.
    #[test]
    fn sums_are_those_of_the_drawn_signs() {
        let terms: Vec<i64> = (0..300).map(|place| (place * 7919 % 1000) - 500).collect();
        let mut scratch = Scratch::default();
        scratch.draw_sums(&terms, 9, 5..25);
        let draw = Draw::new(9, Purpose::Permutation, 0);
        for (choice, found) in (5u64..25).zip(&scratch.sums) {
            let sign = |place: usize| {
                let bits = draw.bits(choice << 32 | (place / 128) as u64, 0);
                if bits[place % 128 / 32] >> (place % 32) & 1 == 1 { 1 } else { -1 }
            };
            let expected: i64 = terms.iter().enumerate().map(|(place, term)| sign(place) * term).sum();
            assert_eq!(*found, expected, "choice {choice}");
        }
    }

    #[test]
    fn integers_keep_the_proportions_and_never_overflow() {
        let values: Vec<Option<f64>> = (0..1000).map(|place| Some(1e290 * f64::from(place % 3 - 1))).collect();
        let terms = to_integers(&QueryValues::new(&values, &[3e38; 1000]));
        assert_eq!(terms[0], -terms[2]);
        assert_eq!(terms[1], 0);
        let total: u128 = terms.iter().map(|term| u128::from(term.unsigned_abs())).sum();
        assert!(total < 1 << 61 && total > 1 << 58, "{total}");
    }
}
