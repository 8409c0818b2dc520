//! Rows whose values were handed over by feature, as tables in columns are read: no value is moved before its place in the
//! data set is known.

use rayon::prelude::*;

use super::RowBlock;
use crate::key::{FEATURE_BYTES, KeyHasher, feature_bytes};
use crate::{Absent, Column, RowKey};

/// Rows whose keys one task computes.
const TASK_ROWS: usize = 1024;
/// Rows whose values are gathered together: enough cache lines of a column in a row that they are fetched ahead (16 rows took
/// twice as long), and room in the second-level cache for all.
const TILE_ROWS: usize = 128;
/// What a cache line holds.
const FEATURES_PER_LINE: usize = 64 / FEATURE_BYTES;

/// The values of one feature, row after row.
#[derive(Clone, Debug, Default)]
pub struct ColumnValues(Vec<f32>);

impl ColumnValues {
    /// Lets `add` append values. Infinite ones become the largest finite ones, which order the same way.
    pub fn append<T>(&mut self, add: impl FnOnce(&mut Vec<f32>) -> T) -> T {
        let start = self.0.len();
        let done = add(&mut self.0);
        for value in self.0.iter_mut().skip(start) {
            *value = value.clamp(-f32::MAX, f32::MAX);
        }
        done
    }

    /// The values so far.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

/// The features of all rows, ascending, and a column for each.
pub(super) struct Table {
    features: Vec<u32>,
    columns: Vec<ColumnValues>,
}

impl Table {
    /// Takes the columns out of a block, if it is the only one and has some.
    pub(super) fn take_from(blocks: &mut [RowBlock]) -> Option<Self> {
        let [block] = blocks else { return None };
        let (features, columns) = block.take_columns()?;
        Some(Self { features, columns })
    }

    /// The keys of all rows; `begin` adds what comes before the features.
    pub(super) fn row_keys(
        &self,
        n_rows: usize,
        absent: Absent,
        begin: impl Fn(usize) -> KeyHasher + Sync,
    ) -> Vec<RowKey> {
        let of_task = |first: usize| {
            let mut tile = KeyTile::new(self.features.len());
            let mut keys = Vec::with_capacity(TASK_ROWS);
            for row in first..n_rows.min(first + TASK_ROWS) {
                let place = (row - first) % TILE_ROWS;
                if place == 0 {
                    tile.gather(self, row..n_rows.min(row + TILE_ROWS), absent);
                }
                let mut hasher = begin(row);
                hasher.feature_bytes(tile.row(place));
                keys.push(hasher.finish());
            }
            keys
        };
        (0..n_rows.div_ceil(TASK_ROWS)).into_par_iter().flat_map_iter(|task| of_task(task * TASK_ROWS)).collect()
    }

    /// All features that some row has, ascending, and their columns in the given row order.
    pub(super) fn into_columns(self, order: &[u32], absent: Absent) -> (Vec<u32>, Vec<Column>) {
        let in_order = |spare: &mut Vec<f32>, (feature, values): (u32, ColumnValues)| {
            let column = column(values.0, order, absent, spare);
            column.map(|column| (feature, column))
        };
        let features = self.features.into_par_iter().zip(self.columns);
        features.map_init(Vec::new, in_order).flatten().unzip()
    }
}

/// The values in order, if there are any. Memory that was touched is passed on: `spare` becomes the column, and the values
/// are spare then.
fn column(mut values: Vec<f32>, order: &[u32], absent: Absent, spare: &mut Vec<f32>) -> Option<Column> {
    spare.clear();
    spare.extend(order.iter().map(|row| values[*row as usize]));
    std::mem::swap(&mut values, spare);
    let count = values.iter().filter(|value| !absent.says(**value)).count();
    // A sparse entry takes twice the room of a dense one.
    match count {
        0 => None,
        count if count * 2 >= order.len() => Some(Column::Dense(values)),
        _ => {
            let present = (0u32..).zip(values).filter(|(_, value)| !absent.says(*value));
            let (rows, values) = present.unzip();
            Some(Column::Sparse { rows, values, rest: absent.value() })
        }
    }
}

/// The values of a few consecutive rows as their keys take them.
///
/// ```text
/// columns  f1: a0 a1 a2 ..      rows  0: f1 a0  f2 b0  ..
///          f2: b0 -- b2 ..  ->        1: f1 a1  ..          what is absent is not there
///                                     2: f1 a2  f2 b2  ..
/// ```
struct KeyTile {
    cells: Vec<[u8; FEATURE_BYTES]>,
    /// Cells from one row to the next.
    stride: usize,
    n_present: [usize; TILE_ROWS],
}

impl KeyTile {
    fn new(n_features: usize) -> Self {
        // An odd number of cache lines: rows begin in different sets of the cache.
        let stride = (n_features.div_ceil(FEATURES_PER_LINE) | 1) * FEATURES_PER_LINE;
        Self { cells: vec![[0; FEATURE_BYTES]; stride * TILE_ROWS], stride, n_present: [0; TILE_ROWS] }
    }

    /// Gathers the values of rows, at most [`TILE_ROWS`].
    fn gather(&mut self, table: &Table, rows: std::ops::Range<usize>, absent: Absent) {
        self.n_present = [0; TILE_ROWS];
        // As long as no row lacks a value, all are at the same place.
        let mut is_even = true;
        for (place, (feature, column)) in table.features.iter().zip(&table.columns).enumerate() {
            let values = &column.0[rows.clone()];
            let cells = self.cells.chunks_exact_mut(self.stride).zip(values);
            if is_even && !values.iter().fold(false, |any, value| any | absent.says(*value)) {
                cells.for_each(|(row, value)| row[place] = feature_bytes(*feature, *value));
                continue;
            }
            if is_even {
                self.n_present = [place; TILE_ROWS];
                is_even = false;
            }
            for ((row, value), n_present) in cells.zip(&mut self.n_present) {
                // Each is written, and counted if it is there: no branch to be guessed.
                row[*n_present] = feature_bytes(*feature, *value);
                *n_present += usize::from(!absent.says(*value));
            }
        }
        if is_even {
            self.n_present = [table.features.len(); TILE_ROWS];
        }
    }

    fn row(&self, place: usize) -> &[u8] {
        self.cells[place * self.stride..][..self.n_present[place]].as_flattened()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Absent, Column, ColumnValues, Dataset, DatasetBuilder, RowBlock};

    type Table = Vec<(u8, Vec<f32>)>;

    fn table() -> impl Strategy<Value = Table> {
        let value = prop_oneof![
            2 => Just(0.0f32), 2 => Just(f32::NAN), 1 => Just(-0.0), 1 => Just(f32::INFINITY), 3 => -2.0f32..2.0
        ];
        prop::collection::vec((0u8..4, prop::collection::vec(value, 3)), 1..200)
    }

    fn start(block: &mut RowBlock, qid: u8) {
        block.start_row(&format!("q{qid}"), f32::from(qid), "");
    }

    fn by_row(rows: &Table, absent: Absent) -> Dataset {
        let mut builder = DatasetBuilder::new(absent);
        let mut block = RowBlock::default();
        for (qid, values) in rows {
            start(&mut block, *qid);
            for (idx, value) in (0u32..).zip(values) {
                block.push_value(2 * idx, *value);
            }
            block.finish_row().unwrap();
        }
        builder.push_block(block);
        builder.finish().unwrap()
    }

    fn by_column(rows: &[(u8, Vec<f32>)]) -> RowBlock {
        let mut columns = vec![ColumnValues::default(); 3];
        let mut block = RowBlock::default();
        for (qid, values) in rows {
            start(&mut block, *qid);
            columns.iter_mut().zip(values).for_each(|(column, value)| column.append(|column| column.push(*value)));
        }
        block.set_columns(&[0, 2, 4], columns);
        block
    }

    proptest! {
        /// One block by column, or several, make the data set that rows make.
        #[test]
        fn columns_say_what_rows_say(rows in table(), cut in 20usize..400, zero in any::<bool>()) {
            let absent = if zero { Absent::Zero } else { Absent::Missing };
            let expected = by_row(&rows, absent);
            let mut builder = DatasetBuilder::new(absent);
            for part in rows.chunks(cut) {
                builder.push_block(by_column(part));
            }
            let found = builder.finish().unwrap();
            prop_assert_eq!(found.fingerprint(), expected.fingerprint());
            prop_assert_eq!(found.input_row(), expected.input_row());
            prop_assert_eq!(found.feature_ids(), expected.feature_ids());
            for slot in 0..found.n_features() {
                let is_dense = |data: &Dataset| matches!(data.column(slot), Column::Dense(_));
                prop_assert_eq!(is_dense(&found), is_dense(&expected));
                for row in 0..found.n_rows() {
                    let (a, b) = (found.column(slot).get(row), expected.column(slot).get(row));
                    prop_assert!(a == b || (a.is_nan() && b.is_nan()), "{} is not {}", a, b);
                }
            }
        }
    }
}
