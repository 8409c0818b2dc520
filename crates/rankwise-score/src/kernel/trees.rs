//! Scores a block of documents with all trees, compiled for each instruction set.

use rankwise_simd::SimdLevel;

use super::leaves::{ABREAST, Expand, Portable, add, add_one, add_wide};
use super::masks::WORD_DOCS;
use super::reach::{MAX_PLANES, Words, planes};
use crate::plan::{FlatTree, Shape};

/// Number of planes that make one byte of a leaf number.
const BYTE_PLANES: usize = 8;

/// A block of up to `64 * W` documents.
pub(crate) struct Block<'a> {
    /// `W` words for each test.
    pub(crate) answers: &'a [u64],
    /// `W` words for each node and leaf of the largest tree.
    pub(crate) reach: &'a mut [u64],
    pub(crate) scores: &'a mut [f64],
}

/// Adds the trees, one after another, to the scores.
pub(crate) fn add_trees<const W: usize>(simd: SimdLevel, trees: &[FlatTree], block: &mut Block<'_>) {
    #[cfg(target_arch = "x86_64")]
    {
        if simd.is_avx512() {
            return x86::add_trees_avx512::<W>(simd, trees, block);
        }
        if simd.is_avx2() {
            return x86::add_trees_avx2::<W>(simd, trees, block);
        }
    }
    let _ = simd;
    add_all::<_, W>(Portable, trees, block);
}

#[inline(always)]
fn add_all<E: Expand, const W: usize>(expand: E, trees: &[FlatTree], block: &mut Block<'_>) {
    let (answers, _) = block.answers.as_chunks::<W>();
    let (reach, _) = block.reach.as_chunks_mut::<W>();
    let mut bits = [[0; W]; MAX_PLANES];
    let mut numbers = [[[0; WORD_DOCS]; W]; ABREAST];
    let (groups, rest) = trees.as_chunks::<ABREAST>();
    for group in groups {
        if group.iter().any(|tree| tree.n_planes > BYTE_PLANES) {
            add_each(expand, group, answers, reach, block.scores);
            continue;
        }
        for (tree, numbers) in group.iter().zip(&mut numbers) {
            let bits = &mut bits[..tree.n_planes];
            leaf_bits(tree, answers, reach, bits);
            expand.numbers(bits, numbers);
        }
        let numbers = numbers.each_ref().map(|numbers| numbers.as_flattened());
        add(&numbers, group.each_ref().map(|tree| &tree.values[..]), block.scores);
    }
    add_each(expand, rest, answers, reach, block.scores);
}

/// One tree at a time, of any size.
#[inline(always)]
fn add_each<E: Expand, const W: usize>(
    expand: E,
    trees: &[FlatTree],
    answers: &[Words<W>],
    reach: &mut [Words<W>],
    scores: &mut [f64],
) {
    let mut bits = [[0; W]; MAX_PLANES];
    let mut numbers = [[[0; WORD_DOCS]; W]; 2];
    for tree in trees {
        let bits = &mut bits[..tree.n_planes];
        leaf_bits(tree, answers, reach, bits);
        let (low, high) = bits.split_at(BYTE_PLANES.min(bits.len()));
        expand.numbers(low, &mut numbers[0]);
        if high.is_empty() {
            add_one(numbers[0].as_flattened(), &tree.values, scores);
        } else {
            expand.numbers(high, &mut numbers[1]);
            add_wide(numbers[0].as_flattened(), numbers[1].as_flattened(), &tree.values, scores);
        }
    }
}

/// The leaf numbers of all documents, as bit planes.
#[inline(always)]
fn leaf_bits<const W: usize>(tree: &FlatTree, answers: &[Words<W>], reach: &mut [Words<W>], bits: &mut [Words<W>]) {
    match &tree.shape {
        Shape::Nodes(nodes) => planes(nodes, answers, reach, bits),
        Shape::Levels(tests) => {
            for (bit, test) in bits.iter_mut().rev().zip(tests) {
                *bit = answers[*test as usize];
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use rankwise_simd::SimdLevel;

    use super::{Block, FlatTree, Portable, add_all};
    use crate::kernel::leaves::Avx512;

    pub(super) fn add_trees_avx512<const W: usize>(simd: SimdLevel, trees: &[FlatTree], block: &mut Block<'_>) {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
        fn run<const W: usize>(expand: Avx512, trees: &[FlatTree], block: &mut Block<'_>) {
            add_all::<_, W>(expand, trees, block);
        }
        let expand = Avx512::of(simd).expect("the level was looked at");
        // SAFETY: the level is created only if the machine supports these instructions.
        unsafe { run::<W>(expand, trees, block) }
    }

    pub(super) fn add_trees_avx2<const W: usize>(simd: SimdLevel, trees: &[FlatTree], block: &mut Block<'_>) {
        #[target_feature(enable = "avx2")]
        fn run<const W: usize>(trees: &[FlatTree], block: &mut Block<'_>) {
            add_all::<_, W>(Portable, trees, block);
        }
        assert!(simd.is_avx2());
        // SAFETY: as above.
        unsafe { run::<W>(trees, block) }
    }
}
