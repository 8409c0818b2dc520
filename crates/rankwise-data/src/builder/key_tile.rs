//! Transposes columns into rows, a few at a time, to compute row keys.

use std::ops::Range;

use super::column_values::ColumnValues;
use crate::key::{FEATURE_BYTES, canonical_bits, feature_bytes};
use crate::{Absent, RowKey};

/// Number of rows gathered together. Enough consecutive cache lines per column for the prefetcher (16 rows took twice
/// as long), few enough to fit in the second-level cache.
pub(super) const TILE_ROWS: usize = 128;
/// Number of features in a cache line.
const FEATURES_PER_LINE: usize = 64 / FEATURE_BYTES;
/// Space before the features of a row, for two ids of moderate length.
const HEAD_CELLS: usize = 2 * FEATURES_PER_LINE;

/// The values of a few consecutive rows, in the form that keys are hashed from.
///
/// ```text
/// columns  f1: a0 a1 a2 ..      rows  0:   ids  f1 a0  f2 b0  ..
///          f2: b0 -- b2 ..  ->        1:  ids,  f1 a1  ..          what is absent is not there
///                                     2:   ids  f1 a2  f2 b2  ..
/// ```
pub(super) struct KeyTile {
    cells: Vec<[u8; FEATURE_BYTES]>,
    /// Cells from one row to the next.
    stride: usize,
    n_present: [usize; TILE_ROWS],
}

impl KeyTile {
    pub(super) fn new(n_features: usize) -> Self {
        // An odd number of cache lines, so that rows start in different sets of the cache.
        let stride = ((HEAD_CELLS + n_features).div_ceil(FEATURES_PER_LINE) | 1) * FEATURES_PER_LINE;
        Self { cells: vec![[0; FEATURE_BYTES]; stride * TILE_ROWS], stride, n_present: [0; TILE_ROWS] }
    }

    /// Gathers the values of at most [`TILE_ROWS`] rows, from columns sorted by feature.
    pub(super) fn gather(&mut self, features: &[u32], columns: &[ColumnValues], rows: Range<usize>, absent: Absent) {
        // While no row lacks a value, all rows have the same length.
        let mut is_even = true;
        let mut room = [0.0; TILE_ROWS];
        let mut bits = [0; TILE_ROWS];
        for (place, (feature, column)) in features.iter().zip(columns).enumerate() {
            let values = column.values_in(rows.clone(), &mut room);
            // A separate loop, because this part can use vector instructions and the next cannot.
            for (bits, value) in bits.iter_mut().zip(values) {
                *bits = canonical_bits(*value);
            }
            let cells = self.cells.chunks_exact_mut(self.stride).zip(&bits).take(values.len());
            if is_even && !values.iter().fold(false, |any, value| any | absent.matches(*value)) {
                cells.for_each(|(row, bits)| row[HEAD_CELLS + place] = feature_bytes(*feature, *bits));
                continue;
            }
            if is_even {
                self.n_present = [place; TILE_ROWS];
                is_even = false;
            }
            for (((row, bits), n_present), value) in cells.zip(&mut self.n_present).zip(values) {
                // Always write, but advance only if the value is present: no branch to predict.
                row[HEAD_CELLS + *n_present] = feature_bytes(*feature, *bits);
                *n_present += usize::from(!absent.matches(*value));
            }
        }
        if is_even {
            self.n_present = [features.len(); TILE_ROWS];
        }
    }

    /// The key of a row; `begin` comes before its features, `behind` after them.
    pub(super) fn key(&mut self, place: usize, begin: &[u8], behind: &[u8]) -> RowKey {
        let first = (place * self.stride + HEAD_CELLS) * FEATURE_BYTES;
        let end = first + self.n_present[place] * FEATURE_BYTES;
        let bytes = self.cells.as_flattened_mut();
        if begin.len() > HEAD_CELLS * FEATURE_BYTES || !behind.is_empty() {
            return RowKey::of_bytes(&[begin, &bytes[first..end], behind].concat());
        }
        let start = first - begin.len();
        bytes[start..first].copy_from_slice(begin);
        RowKey::of_bytes(&bytes[start..end])
    }
}
