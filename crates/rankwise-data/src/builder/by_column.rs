//! Blocks that hold the values of each feature together, as tables in columns are read: no value is moved before its place in
//! the data set is known.

use rayon::prelude::*;

use super::RowBlock;
use crate::key::{FEATURE_BYTES, KeyHasher, feature_bytes};
use crate::{Absent, Column};

/// Whether all blocks have the same features, by column.
pub(super) fn are_columns(blocks: &[RowBlock]) -> bool {
    let features = |block: &RowBlock| block.columns().map(|(features, _)| features.to_vec());
    let first = blocks.first().and_then(features);
    first.is_some() && blocks.iter().all(|block| features(block) == first)
}

/// Rows whose values are gathered together: a cache line of each column.
pub(super) const GATHERED_ROWS: usize = 16;

/// The values of a few consecutive rows as their keys take them.
#[derive(Default)]
pub(super) struct KeyBytes {
    rows: [Vec<u8>; GATHERED_ROWS],
}

impl KeyBytes {
    /// Gathers the values of rows from `first` on, at most [`GATHERED_ROWS`].
    pub(super) fn gather(&mut self, block: &RowBlock, first: usize, absent: Absent) {
        let Some((features, columns)) = block.columns() else { return };
        let n_rows = (block.n_rows() - first).min(GATHERED_ROWS);
        let mut n_present = [0; GATHERED_ROWS];
        for row in &mut self.rows {
            row.resize(features.len() * FEATURE_BYTES, 0);
        }
        for (feature, column) in features.iter().zip(columns) {
            let rows = self.rows.iter_mut().zip(&mut n_present);
            for ((row, n_present), value) in rows.zip(&column[first..first + n_rows]) {
                // Each is written, and counted if it is there: no branch to be guessed.
                let place = &mut row[*n_present * FEATURE_BYTES..][..FEATURE_BYTES];
                place.copy_from_slice(&feature_bytes(*feature, *value));
                *n_present += usize::from(is_present(*value, absent));
            }
        }
        for (row, n_present) in self.rows.iter_mut().zip(n_present) {
            row.truncate(n_present * FEATURE_BYTES);
        }
    }

    /// Adds the values of a row to its key.
    pub(super) fn add_to_key(&self, hasher: &mut KeyHasher, place: usize) {
        hasher.feature_bytes(&self.rows[place]);
    }
}

/// All features that some row has, ascending, and their columns in the given row order.
pub(super) fn columns(blocks: &[RowBlock], order: &[u32], absent: Absent) -> (Vec<u32>, Vec<Column>) {
    let parts: Vec<(&[u32], &[Vec<f32>])> = blocks.iter().filter_map(RowBlock::columns).collect();
    let features = parts.first().map_or(&[][..], |(features, _)| features);
    (0..features.len())
        .into_par_iter()
        .map_init(Vec::new, |values: &mut Vec<f32>, idx| {
            values.clear();
            for (_, columns) in &parts {
                values.extend_from_slice(&columns[idx]);
            }
            (features[idx], column(values, order, absent))
        })
        .filter_map(|(feature, column)| Some((feature, column?)))
        .unzip()
}

/// The values in order, if there are any.
fn column(values: &[f32], order: &[u32], absent: Absent) -> Option<Column> {
    let count = values.iter().filter(|value| is_present(**value, absent)).count();
    let in_order = order.iter().map(|row| values[*row as usize]);
    // A sparse entry takes twice the room of a dense one.
    match count {
        0 => None,
        count if count * 2 >= order.len() => Some(Column::Dense(in_order.collect())),
        _ => {
            let present = (0u32..).zip(in_order).filter(|(_, value)| is_present(*value, absent));
            let (rows, values) = present.unzip();
            Some(Column::Sparse { rows, values, rest: absent.value() })
        }
    }
}

fn is_present(value: f32, absent: Absent) -> bool {
    match absent {
        Absent::Missing => !value.is_nan(),
        Absent::Zero => value != 0.0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Absent, Column, Dataset, DatasetBuilder, RowBlock};

    type Table = Vec<(u8, Vec<f32>)>;

    fn table() -> impl Strategy<Value = Table> {
        let value = prop_oneof![
            2 => Just(0.0f32), 2 => Just(f32::NAN), 1 => Just(-0.0), 1 => Just(f32::INFINITY), 3 => -2.0f32..2.0
        ];
        prop::collection::vec((0u8..4, prop::collection::vec(value, 3)), 1..40)
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
        let columns = (0..3).map(|idx| rows.iter().map(|(_, values)| values[idx]).collect()).collect();
        let mut block = RowBlock::of_columns(&[0, 2, 4], columns);
        for (qid, _) in rows {
            start(&mut block, *qid);
        }
        block
    }

    proptest! {
        /// Blocks by column, alone or among blocks by row, make the data set that rows make.
        #[test]
        fn columns_say_what_rows_say(rows in table(), cut in 1usize..20, zero in any::<bool>(), is_mixed in any::<bool>()) {
            let absent = if zero { Absent::Zero } else { Absent::Missing };
            let expected = by_row(&rows, absent);
            let mut builder = DatasetBuilder::new(absent);
            for (idx, part) in rows.chunks(cut).enumerate() {
                let block = by_column(part);
                builder.push_block(if is_mixed && idx % 2 == 0 { block.by_row() } else { block });
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
