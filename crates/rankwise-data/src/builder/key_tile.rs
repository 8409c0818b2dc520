//! Transposes columns into rows, a few at a time, to compute row keys.

use std::ops::Range;

use rayon::prelude::*;

use crate::key::{FEATURE_BYTES, KeyBytes, canonical_bits, feature_bytes};
use crate::{Absent, RowKey};

/// Number of rows gathered together. Enough consecutive cache lines per column for the prefetcher (16 rows took twice
/// as long), few enough to fit in the second-level cache.
pub(crate) const TILE_ROWS: usize = 128;
/// Number of rows per task that computes keys.
const TASK_ROWS: usize = 1024;
/// Number of features in a cache line.
const FEATURES_PER_LINE: usize = 64 / FEATURE_BYTES;
/// Space before the features of a row, for two ids of moderate length.
const HEAD_CELLS: usize = 2 * FEATURES_PER_LINE;

/// The values of one feature, in input order.
pub(crate) trait ColumnPart {
    /// The values of some rows, rounded to f32.
    fn values_in<'a>(&'a self, rows: Range<usize>, room: &'a mut [f32; TILE_ROWS]) -> &'a [f32];

    /// The unrounded value of a row; only asked of features that are f64.
    fn unrounded(&self, row: usize) -> f64;
}

/// Computes the keys of rows whose values are stored by column, or can be read that way.
pub(crate) struct TiledKeys<'a, F> {
    /// Ascending.
    pub(crate) features: &'a [u32],
    /// The column of the feature at a place of `features`.
    pub(crate) columns: &'a F,
    pub(crate) absent: Absent,
    /// These enter as f64, too.
    pub(crate) f64_features: &'a [u32],
}

impl<C: ColumnPart, F: Fn(usize) -> C + Sync> TiledKeys<'_, F> {
    /// The keys of all rows. `begin` writes the bytes before the features.
    pub(crate) fn of_rows(&self, n_rows: usize, begin: impl Fn(usize, &mut KeyBytes) + Sync) -> Vec<RowKey> {
        let is_f64 = |(_, feature): &(usize, &u32)| self.f64_features.binary_search(feature).is_ok();
        let of_task = |(task, keys): (usize, &mut [RowKey])| {
            let wide: Vec<(u32, C)> = self
                .features
                .iter()
                .enumerate()
                .filter(is_f64)
                .map(|(place, feature)| (*feature, (self.columns)(place)))
                .collect();
            let mut tile = KeyTile::new(self.features.len());
            let (mut bytes, mut behind) = (KeyBytes::default(), KeyBytes::default());
            for (tile_idx, keys) in keys.chunks_mut(TILE_ROWS).enumerate() {
                let first = task * TASK_ROWS + tile_idx * TILE_ROWS;
                tile.gather(self, first..first + keys.len());
                for (place, key) in keys.iter_mut().enumerate() {
                    begin(first + place, &mut bytes);
                    let values = wide.iter().map(|(feature, column)| (*feature, column.unrounded(first + place)));
                    behind.clear();
                    behind.wide_features(values.filter(|(_, value)| !self.absent.matches_f64(*value)));
                    *key = tile.key(place, bytes.as_slice(), behind.as_slice());
                }
            }
        };
        let mut keys = vec![RowKey::from_u128(0); n_rows];
        keys.par_chunks_mut(TASK_ROWS).enumerate().for_each(of_task);
        keys
    }
}

/// The values of a few consecutive rows, in the form that keys are hashed from.
///
/// ```text
/// columns  f1: a0 a1 a2 ..      rows  0:   ids  f1 a0  f2 b0  ..
///          f2: b0 -- b2 ..  ->        1:  ids,  f1 a1  ..          what is absent is not there
///                                     2:   ids  f1 a2  f2 b2  ..
/// ```
struct KeyTile {
    cells: Vec<[u8; FEATURE_BYTES]>,
    /// Cells from one row to the next.
    stride: usize,
    n_present: [usize; TILE_ROWS],
}

impl KeyTile {
    fn new(n_features: usize) -> Self {
        // An odd number of cache lines, so that rows start in different sets of the cache.
        let stride = ((HEAD_CELLS + n_features).div_ceil(FEATURES_PER_LINE) | 1) * FEATURES_PER_LINE;
        Self { cells: vec![[0; FEATURE_BYTES]; stride * TILE_ROWS], stride, n_present: [0; TILE_ROWS] }
    }

    /// Gathers the values of at most [`TILE_ROWS`] rows.
    fn gather<C: ColumnPart, F: Fn(usize) -> C>(&mut self, from: &TiledKeys<'_, F>, rows: Range<usize>) {
        let (features, absent) = (from.features, from.absent);
        // While no row lacks a value, all rows have the same length.
        let mut is_even = true;
        let mut room = [0.0; TILE_ROWS];
        let mut bits = [0; TILE_ROWS];
        for (place, feature) in features.iter().enumerate() {
            let column = (from.columns)(place);
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
    fn key(&mut self, place: usize, begin: &[u8], behind: &[u8]) -> RowKey {
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
