//! Turns values into ranks: the number of thresholds of a ruler below a value.
//!
//! Thresholds are in groups of 16. Counting the groups that are entirely below a value finds its group; counting within
//! that group gives the rest: two comparisons of 16 lanes.

use rankwise_simd::SimdLevel;

use crate::plan::RULER_LENGTH;

/// Number of thresholds in a group, and of groups in a ruler.
const GROUP: usize = 16;

/// Ascending thresholds, in groups.
#[derive(Clone, Debug)]
pub(crate) struct Marks<T> {
    /// The last threshold of each group; infinite from the last group on, so that no value is above all.
    ends: [T; GROUP],
    groups: Vec<[T; GROUP]>,
    len: usize,
}

/// The type of thresholds.
pub(crate) trait Mark: Copy + PartialOrd {
    const INFINITE: Self;
}

impl Mark for f32 {
    const INFINITE: Self = Self::INFINITY;
}

impl Mark for f64 {
    const INFINITE: Self = Self::INFINITY;
}

impl<T: Mark> Marks<T> {
    pub(crate) fn new(thresholds: &[T]) -> Self {
        assert!(thresholds.len() <= RULER_LENGTH, "ranks fit a byte");
        let mut groups = vec![[T::INFINITE; GROUP]; thresholds.len() / GROUP + 1];
        for (place, threshold) in thresholds.iter().enumerate() {
            groups[place / GROUP][place % GROUP] = *threshold;
        }
        let mut ends = [T::INFINITE; GROUP];
        for (end, group) in ends.iter_mut().zip(&groups[..groups.len() - 1]) {
            *end = group[GROUP - 1];
        }
        Self { ends, groups, len: thresholds.len() }
    }

    pub(crate) fn rank(&self, value: T) -> u8 {
        let n_below = |marks: &[T; GROUP]| marks.iter().map(|mark| usize::from(*mark < value)).sum::<usize>();
        let group = n_below(&self.ends);
        (group * GROUP + n_below(&self.groups[group])) as u8
    }
}

fn ranks_plainly<T: Mark>(marks: &Marks<T>, values: &[T], ranks: &mut [u8]) {
    for (rank, value) in ranks.iter_mut().zip(values) {
        *rank = marks.rank(*value);
    }
}

/// Writes the rank of each value; missing values have rank 0.
pub(crate) fn ranks_f32(simd: SimdLevel, marks: &Marks<f32>, values: &[f32], ranks: &mut [u8]) {
    assert_eq!(values.len(), ranks.len());
    #[cfg(target_arch = "x86_64")]
    if simd.is_avx512() {
        return avx512::ranks_f32(simd, marks, values, ranks);
    }
    #[cfg(target_arch = "x86_64")]
    if simd.is_avx2() {
        return avx2::ranks_f32(simd, marks, values, ranks);
    }
    let _ = simd;
    ranks_plainly(marks, values, ranks);
}

/// The same for f64.
pub(crate) fn ranks_f64(simd: SimdLevel, marks: &Marks<f64>, values: &[f64], ranks: &mut [u8]) {
    assert_eq!(values.len(), ranks.len());
    #[cfg(target_arch = "x86_64")]
    if simd.is_avx512() {
        return avx512::ranks_f64(simd, marks, values, ranks);
    }
    #[cfg(target_arch = "x86_64")]
    if simd.is_avx2() {
        return avx2::ranks_f64(simd, marks, values, ranks);
    }
    let _ = simd;
    ranks_plainly(marks, values, ranks);
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _CMP_LT_OQ, _mm256_castps_si256, _mm256_cmp_pd, _mm256_cmp_ps, _mm256_loadu_pd, _mm256_loadu_ps,
        _mm256_movemask_pd, _mm256_movemask_ps, _mm256_set1_pd, _mm256_set1_ps, _mm256_setzero_si256,
        _mm256_storeu_si256, _mm256_sub_epi32,
    };

    use rankwise_simd::SimdLevel;

    use super::{GROUP, Marks, ranks_plainly};

    /// Up to this number of thresholds, all are compared with 32 values at a time; beyond it, only the last of each group.
    const FEW: usize = 4 * GROUP;

    /// Lanes of a register, and values that are processed at a time.
    const LANES: usize = 8;
    const BLOCK: usize = 4 * LANES;

    pub(super) fn ranks_f32(simd: SimdLevel, marks: &Marks<f32>, values: &[f32], ranks: &mut [u8]) {
        assert!(simd.is_avx2());
        // SAFETY: the level is created only if the machine supports these instructions.
        unsafe { count_f32(marks, values, ranks) }
    }

    pub(super) fn ranks_f64(simd: SimdLevel, marks: &Marks<f64>, values: &[f64], ranks: &mut [u8]) {
        assert!(simd.is_avx2());
        // SAFETY: as above.
        unsafe { count_f64(marks, values, ranks) }
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn count_f32(marks: &Marks<f32>, values: &[f32], ranks: &mut [u8]) {
        let (full, rest) = values.as_chunks::<BLOCK>();
        let (full_ranks, rest_ranks) = ranks.as_chunks_mut::<BLOCK>();
        for (values, ranks) in full.iter().zip(full_ranks) {
            if marks.len <= FEW {
                let counts = counts(&marks.groups.as_flattened()[..marks.len], values);
                ranks.iter_mut().zip(counts.as_flattened()).for_each(|(rank, count)| *rank = *count as u8);
            } else {
                let groups = counts(&marks.ends[..marks.groups.len() - 1], values);
                for ((rank, group), value) in ranks.iter_mut().zip(groups.as_flattened()).zip(values) {
                    let within = n_below(&marks.groups[*group as usize], *value);
                    *rank = (*group * GROUP as u32 + within) as u8;
                }
            }
        }
        ranks_plainly(marks, rest, rest_ranks);
    }

    /// How many of the thresholds are below each value.
    #[target_feature(enable = "avx2")]
    fn counts(thresholds: &[f32], values: &[f32; BLOCK]) -> [[u32; LANES]; BLOCK / LANES] {
        // SAFETY: parts 0 to 3 of 8 lanes are in an array of 32.
        let load = |part| unsafe { _mm256_loadu_ps(values.as_ptr().add(LANES * part)) };
        let values = [load(0), load(1), load(2), load(3)];
        let mut sums = [_mm256_setzero_si256(); BLOCK / LANES];
        for threshold in thresholds {
            let threshold = _mm256_set1_ps(*threshold);
            for (sum, value) in sums.iter_mut().zip(values) {
                // A lane is -1 where the threshold is below the value.
                let is_below = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(threshold, value));
                *sum = _mm256_sub_epi32(*sum, is_below);
            }
        }
        [stored(sums[0]), stored(sums[1]), stored(sums[2]), stored(sums[3])]
    }

    #[target_feature(enable = "avx2")]
    fn stored(lanes: __m256i) -> [u32; LANES] {
        let mut stored = [0; LANES];
        // SAFETY: 32 bytes are written to an array of 32.
        unsafe { _mm256_storeu_si256(stored.as_mut_ptr().cast(), lanes) };
        stored
    }

    /// How many thresholds of a group are below a value.
    #[target_feature(enable = "avx2,popcnt")]
    fn n_below(group: &[f32; GROUP], value: f32) -> u32 {
        let value = _mm256_set1_ps(value);
        // SAFETY: twice 32 bytes are read from an array of 64.
        let (low, high) = unsafe { (_mm256_loadu_ps(group.as_ptr()), _mm256_loadu_ps(group.as_ptr().add(LANES))) };
        let low = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(low, value));
        let high = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(high, value));
        (low | high << LANES).count_ones()
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn count_f64(marks: &Marks<f64>, values: &[f64], ranks: &mut [u8]) {
        for (value, rank) in values.iter().zip(ranks) {
            let group = n_below_f64(&marks.ends, *value);
            *rank = (group * GROUP as u32 + n_below_f64(&marks.groups[group as usize], *value)) as u8;
        }
    }

    #[target_feature(enable = "avx2,popcnt")]
    fn n_below_f64(group: &[f64; GROUP], value: f64) -> u32 {
        let value = _mm256_set1_pd(value);
        let mut below = 0;
        for part in 0..GROUP / 4 {
            // SAFETY: parts 0 to 3 of 4 lanes are in an array of 16.
            let marks = unsafe { _mm256_loadu_pd(group.as_ptr().add(4 * part)) };
            below |= _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(marks, value)) << (4 * part);
        }
        below.count_ones()
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512 {
    use std::arch::x86_64::{
        __m512, __m512d, _CMP_LT_OQ, _mm_storeu_si128, _mm512_add_epi32, _mm512_cmp_pd_mask, _mm512_cmp_ps_mask,
        _mm512_cvtepi32_epi8, _mm512_loadu_pd, _mm512_loadu_ps, _mm512_mask_add_epi32, _mm512_permutex2var_ps,
        _mm512_set1_epi32, _mm512_set1_pd, _mm512_set1_ps, _mm512_setzero_si512,
    };

    use rankwise_simd::SimdLevel;

    use super::{GROUP, Marks, ranks_plainly};

    /// Maximum number of thresholds in two registers, followed by an infinite one.
    const IN_REGISTERS: usize = 2 * GROUP - 1;

    pub(super) fn ranks_f32(simd: SimdLevel, marks: &Marks<f32>, values: &[f32], ranks: &mut [u8]) {
        assert!(simd.is_avx512());
        // SAFETY: the level is created only if the machine supports these instructions.
        unsafe {
            if marks.len <= IN_REGISTERS { search(marks, values, ranks) } else { count_f32(marks, values, ranks) }
        }
    }

    pub(super) fn ranks_f64(simd: SimdLevel, marks: &Marks<f64>, values: &[f64], ranks: &mut [u8]) {
        assert!(simd.is_avx512());
        // SAFETY: as above.
        unsafe { count_f64(marks, values, ranks) }
    }

    /// Processes 16 values at a time, by binary search.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    fn search(marks: &Marks<f32>, values: &[f32], ranks: &mut [u8]) {
        let infinite = [f32::INFINITY; GROUP];
        let low = load_f32(&marks.groups[0]);
        let high = load_f32(marks.groups.get(1).unwrap_or(&infinite));
        let steps: &[i32] = if marks.len < GROUP { &[8, 4, 2, 1] } else { &[16, 8, 4, 2, 1] };
        let (full, rest) = values.as_chunks::<GROUP>();
        let (full_ranks, rest_ranks) = ranks.as_chunks_mut::<GROUP>();
        for (values, ranks) in full.iter().zip(full_ranks) {
            let values = load_f32(values);
            let mut rank = _mm512_setzero_si512();
            for step in steps {
                let probe = _mm512_add_epi32(rank, _mm512_set1_epi32(step - 1));
                let mark = _mm512_permutex2var_ps(low, probe, high);
                let is_below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(mark, values);
                rank = _mm512_mask_add_epi32(rank, is_below, rank, _mm512_set1_epi32(*step));
            }
            // SAFETY: 16 bytes are written to an array of 16.
            unsafe { _mm_storeu_si128(ranks.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(rank)) };
        }
        ranks_plainly(marks, rest, rest_ranks);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    fn count_f32(marks: &Marks<f32>, values: &[f32], ranks: &mut [u8]) {
        let ends = load_f32(&marks.ends);
        for (value, rank) in values.iter().zip(ranks) {
            let value = _mm512_set1_ps(*value);
            let group = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(ends, value).count_ones() as usize;
            let below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(load_f32(&marks.groups[group]), value).count_ones() as usize;
            *rank = (group * GROUP + below) as u8;
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    fn count_f64(marks: &Marks<f64>, values: &[f64], ranks: &mut [u8]) {
        let ends = load_f64(&marks.ends);
        for (value, rank) in values.iter().zip(ranks) {
            let value = _mm512_set1_pd(*value);
            let n_below = |marks: [__m512d; 2]| {
                let low = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(marks[0], value);
                let high = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(marks[1], value);
                (u16::from(low) | u16::from(high) << 8).count_ones() as usize
            };
            let group = n_below(ends);
            *rank = (group * GROUP + n_below(load_f64(&marks.groups[group]))) as u8;
        }
    }

    #[target_feature(enable = "avx512f")]
    fn load_f32(values: &[f32; GROUP]) -> __m512 {
        // SAFETY: 64 bytes are read from an array of 64.
        unsafe { _mm512_loadu_ps(values.as_ptr()) }
    }

    #[target_feature(enable = "avx512f")]
    fn load_f64(values: &[f64; GROUP]) -> [__m512d; 2] {
        // SAFETY: twice 64 bytes are read from an array of 128.
        unsafe { [_mm512_loadu_pd(values.as_ptr()), _mm512_loadu_pd(values.as_ptr().add(GROUP / 2))] }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Kernel<T> = fn(SimdLevel, &Marks<T>, &[T], &mut [u8]);

    fn check<T: Mark + std::fmt::Debug>(kernel: Kernel<T>, thresholds: &[T], values: &[T]) {
        let marks = Marks::new(thresholds);
        let expected: Vec<u8> =
            values.iter().map(|value| thresholds.iter().filter(|threshold| *threshold < value).count() as u8).collect();
        for simd in SimdLevel::available() {
            let mut ranks = vec![77; values.len()];
            kernel(simd, &marks, values, &mut ranks);
            assert_eq!(ranks, expected, "{simd:?} {thresholds:?} {values:?}");
        }
    }

    proptest! {
        /// Ranks are counts, for any number of thresholds and for values equal to them.
        #[test]
        fn ranks_are_counts(n in 0usize..=RULER_LENGTH, picks in prop::collection::vec((0usize..300, -1i32..=1), 0..70)) {
            let narrow: Vec<f32> = (0..n).map(|place| place as f32 * 0.37 - 20.0).collect();
            let near = |(place, side): &(usize, i32)| {
                let mark = *place as f32 * 0.37 - 20.0;
                [mark.next_down(), mark, mark.next_up()][(side + 1) as usize]
            };
            let mut values: Vec<f32> = picks.iter().map(near).collect();
            values.extend([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0, -0.0]);
            check(ranks_f32, &narrow, &values);
            let wide: Vec<f64> = narrow.iter().map(|mark| f64::from(*mark)).collect();
            check(ranks_f64, &wide, &values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>());
        }
    }
}
