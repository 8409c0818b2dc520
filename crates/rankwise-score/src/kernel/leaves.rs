//! Turns leaf numbers into scores.

use rankwise_simd::SimdLevel;

use crate::kernel::masks::WORD_DOCS;
use crate::kernel::reach::Words;

/// Expands bits to bytes, for each instruction set.
pub(crate) trait Expand: Copy {
    /// Writes the leaf number of each document; bit `doc % 64` of word `doc / 64` of plane `p` is its bit `p`. At most
    /// 8 planes.
    fn numbers<const W: usize>(self, planes: &[Words<W>], numbers: &mut [[u8; WORD_DOCS]; W]);
}

/// For all machines.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// For each byte, eight bytes with its bits.
const SPREAD: [u64; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte] |= ((byte as u64 >> bit) & 1) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl Expand for Portable {
    #[inline(always)]
    fn numbers<const W: usize>(self, planes: &[Words<W>], numbers: &mut [[u8; WORD_DOCS]; W]) {
        for (word, numbers) in numbers.iter_mut().enumerate() {
            for (eighth, numbers) in numbers.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                let bits = |plane: &Words<W>| SPREAD[(plane[word] >> (8 * eighth)) as usize & 0xff];
                let all = planes.iter().enumerate().fold(0, |all, (bit, plane)| all | bits(plane) << bit);
                *numbers = all.to_le_bytes();
            }
        }
    }
}

/// For AVX-512. A value of this type exists only if the machine supports it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// The only constructor.
    pub(crate) fn of(simd: SimdLevel) -> Option<Self> {
        simd.is_avx512().then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
impl Expand for Avx512 {
    #[inline(always)]
    fn numbers<const W: usize>(self, planes: &[Words<W>], numbers: &mut [[u8; WORD_DOCS]; W]) {
        // SAFETY: a value of this type is created only if the machine supports these instructions.
        unsafe { avx512::numbers(planes, numbers) }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512 {
    use std::arch::x86_64::{_mm512_maskz_set1_epi8, _mm512_or_si512, _mm512_setzero_si512, _mm512_storeu_si512};

    use super::{WORD_DOCS, Words};

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    pub(super) fn numbers<const W: usize>(planes: &[Words<W>], numbers: &mut [[u8; WORD_DOCS]; W]) {
        for (word, numbers) in numbers.iter_mut().enumerate() {
            let mut all = _mm512_setzero_si512();
            for (bit, plane) in planes.iter().enumerate() {
                all = _mm512_or_si512(all, _mm512_maskz_set1_epi8(plane[word], (1u8 << bit) as i8));
            }
            // SAFETY: 64 bytes are written to an array of 64.
            unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), all) };
        }
    }
}

/// Number of trees added in one pass over the scores.
pub(crate) const ABREAST: usize = 8;

/// Adds the leaf values of these trees, in their order, to each score. Each table covers all possible leaf numbers of
/// its tree.
#[inline(always)]
pub(crate) fn add(numbers: &[&[u8]; ABREAST], values: [&[f64]; ABREAST], scores: &mut [f64]) {
    match values[0].len() {
        n if values.iter().any(|values| values.len() != n) => add_each(numbers, values, scores),
        32 => add_of::<32>(numbers, values, scores),
        64 => add_of::<64>(numbers, values, scores),
        128 => add_of::<128>(numbers, values, scores),
        256 => add_of::<256>(numbers, values, scores),
        _ => add_each(numbers, values, scores),
    }
}

#[inline(always)]
fn add_each(numbers: &[&[u8]; ABREAST], values: [&[f64]; ABREAST], scores: &mut [f64]) {
    numbers.iter().zip(values).for_each(|(numbers, values)| add_one(numbers, values, scores));
}

/// For tables of constant length, which need no bounds checks.
#[inline(always)]
fn add_of<const N: usize>(numbers: &[&[u8]; ABREAST], values: [&[f64]; ABREAST], scores: &mut [f64]) {
    let tables: [&[f64; N]; ABREAST] =
        values.map(|values| values.try_into().expect("the table is as long as was just seen"));
    let [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
    let [n0, n1, n2, n3, n4, n5, n6, n7] = numbers;
    let numbers = n0.iter().zip(*n1).zip(*n2).zip(*n3).zip(n4.iter().zip(*n5).zip(*n6).zip(*n7));
    for (score, ((((n0, n1), n2), n3), (((n4, n5), n6), n7))) in scores.iter_mut().zip(numbers) {
        let value = |table: &[f64; N], number: &u8| table[usize::from(*number) % N];
        let first = (((*score + value(t0, n0)) + value(t1, n1)) + value(t2, n2)) + value(t3, n3);
        *score = (((first + value(t4, n4)) + value(t5, n5)) + value(t6, n6)) + value(t7, n7);
    }
}

/// Adds the values of one tree.
#[inline(always)]
pub(crate) fn add_one(numbers: &[u8], values: &[f64], scores: &mut [f64]) {
    for (score, number) in scores.iter_mut().zip(numbers) {
        *score += values[usize::from(*number)];
    }
}

/// The same for two-byte leaf numbers.
#[inline(always)]
pub(crate) fn add_wide(low: &[u8], high: &[u8], values: &[f64], scores: &mut [f64]) {
    for ((score, low), high) in scores.iter_mut().zip(low).zip(high) {
        *score += values[usize::from(u16::from_le_bytes([*low, *high]))];
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(expand: impl Expand, planes: &[Words<2>]) {
        let mut numbers = [[77; WORD_DOCS]; 2];
        expand.numbers(planes, &mut numbers);
        for (doc, number) in numbers.as_flattened().iter().enumerate() {
            let bit = |plane: &Words<2>| (plane[doc / WORD_DOCS] >> (doc % WORD_DOCS) & 1) as u8;
            let expected = planes.iter().enumerate().fold(0, |number, (place, plane)| number | bit(plane) << place);
            assert_eq!(*number, expected, "document {doc}");
        }
    }

    proptest! {
        #[test]
        fn numbers_have_the_bits_of_the_planes(planes in prop::collection::vec(any::<[u64; 2]>(), 0..=8)) {
            check(Portable, &planes);
            for expand in SimdLevel::available().into_iter().filter_map(Avx512::of) {
                check(expand, &planes);
            }
        }
    }
}
