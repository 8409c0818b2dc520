//! Sorting rows by the side they go to.

use rankwise_data::SimdLevel;

use crate::question::Question;

/// Rows whose bins are fetched before any of them is sorted.
const TILE_ROWS: usize = 512;

/// Writes the rows that go left to the front of one slice and the others to that of the other, each in their order; gives
/// the number of the former. Both slices are as long as `rows`; what stands behind the rows of a side means nothing.
pub(crate) fn sort_sides(
    simd: SimdLevel,
    rows: &[u32],
    (left, right): (&mut [u32], &mut [u32]),
    bins: &[u8],
    question: Question,
) -> usize {
    let mut tile = [0; TILE_ROWS];
    let mut n_left = 0;
    for (idx, rows) in rows.chunks(TILE_ROWS).enumerate() {
        let tile = &mut tile[..rows.len()];
        for (bin, row) in tile.iter_mut().zip(rows) {
            *bin = bins[*row as usize];
        }
        for bin in &mut *tile {
            *bin = u8::from(question.goes_left(*bin));
        }
        let n_right = idx * TILE_ROWS - n_left;
        n_left += sort_tile(simd, rows, tile, &mut left[n_left..], &mut right[n_right..]);
    }
    n_left
}

/// The same, where `sides` has 1 for a row that goes left and 0 for the others.
fn sort_tile(simd: SimdLevel, rows: &[u32], sides: &[u8], left: &mut [u32], right: &mut [u32]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if simd.is_avx512() {
        return avx512::sort_tile(simd, rows, sides, left, right);
    }
    let _ = simd;
    sort_tile_plainly(rows, sides, left, right)
}

/// Each row is written to both sides and counted on one: which one cannot be guessed, and a wrong guess costs more than a
/// write.
fn sort_tile_plainly(rows: &[u32], sides: &[u8], left: &mut [u32], right: &mut [u32]) -> usize {
    let (mut n_left, mut n_right) = (0, 0);
    for (row, side) in rows.iter().zip(sides) {
        left[n_left] = *row;
        right[n_right] = *row;
        n_left += usize::from(*side);
        n_right += usize::from(1 - *side);
    }
    n_left
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512 {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm_test_epi8_mask, _mm512_loadu_si512, _mm512_maskz_compress_epi32, _mm512_storeu_si512,
    };

    use rankwise_data::SimdLevel;

    use super::sort_tile_plainly;

    const LANES: usize = 16;

    pub(super) fn sort_tile(simd: SimdLevel, rows: &[u32], sides: &[u8], left: &mut [u32], right: &mut [u32]) -> usize {
        assert!(simd.is_avx512() && sides.len() == rows.len());
        assert!(left.len() >= rows.len() && right.len() >= rows.len());
        // SAFETY: the level is made only where the machine has the instructions; the slices are long enough, as asserted.
        unsafe { sort(rows, sides, left, right) }
    }

    /// # Safety
    /// The machine must have the instructions named here, and the other slices must be at least as long as `rows`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    unsafe fn sort(rows: &[u32], sides: &[u8], left: &mut [u32], right: &mut [u32]) -> usize {
        let (mut n_left, mut n_right) = (0, 0);
        let n_whole = rows.len() / LANES * LANES;
        for start in (0..n_whole).step_by(LANES) {
            // SAFETY: 16 rows from `start` on are there. At most `start` rows have gone to either side, so that 16 more
            // fit where they are written.
            unsafe {
                let of_rows = _mm512_loadu_si512(rows.as_ptr().add(start).cast());
                let of_sides = _mm_loadu_si128(sides.as_ptr().add(start).cast());
                let to_left = _mm_test_epi8_mask(of_sides, of_sides);
                let of_left = _mm512_maskz_compress_epi32(to_left, of_rows);
                let of_right = _mm512_maskz_compress_epi32(!to_left, of_rows);
                _mm512_storeu_si512(left.as_mut_ptr().add(n_left).cast(), of_left);
                _mm512_storeu_si512(right.as_mut_ptr().add(n_right).cast(), of_right);
                let n = to_left.count_ones() as usize;
                n_left += n;
                n_right += LANES - n;
            }
        }
        let rest = sort_tile_plainly(&rows[n_whole..], &sides[n_whole..], &mut left[n_left..], &mut right[n_right..]);
        n_left + rest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sides_are_those_of_a_filter(
            bins in prop::collection::vec(0u8..8, 0..1500), picked in prop::collection::vec(any::<bool>(), 1500),
            bin in 0u8..7, missing_left in any::<bool>(),
        ) {
            let rows: Vec<u32> = (0..bins.len() as u32).filter(|row| picked[*row as usize]).collect();
            let question = Question::of_bins(bin, 7, missing_left);
            let (to_left, to_right): (Vec<u32>, Vec<u32>) =
                rows.iter().partition(|row| question.goes_left(bins[**row as usize]));
            for simd in SimdLevel::available() {
                let (mut left, mut right) = (vec![0; rows.len()], vec![0; rows.len()]);
                let n_left = sort_sides(simd, &rows, (&mut left, &mut right), &bins, question);
                prop_assert_eq!(&left[..n_left], &to_left[..], "{}", simd.name());
                prop_assert_eq!(&right[..rows.len() - n_left], &to_right[..], "{}", simd.name());
            }
        }
    }
}
