//! Rows given as columns, as column-oriented files are read. No value is moved before its place in the dataset is
//! known.

use std::ops::Range;

use rayon::prelude::*;

use super::column_values::{ColumnValues, Form};
use super::key_tile::{ColumnPart, TILE_ROWS, TiledKeys};
use super::{FeatureColumns, RowBlock, RowValues};
use crate::columns::{Unrounded, merges};
use crate::key::KeyBytes;
use crate::{Absent, Column, RowKey};

/// Up to this many codes are compared one by one: each comparison takes a tenth of a lookup of all codes.
const MAX_COMPARED: usize = 8;
/// Number of codes counted together, so that the count fits in 16 bits.
const COUNTED: usize = 1024;

/// The features of all rows, ascending, and a column for each.
pub(super) struct Table {
    features: Vec<u32>,
    columns: Vec<ColumnValues>,
}

impl Table {
    /// A table of all rows.
    pub(super) fn new((features, columns): (Vec<u32>, Vec<ColumnValues>)) -> Self {
        Self { features, columns }
    }

    /// Takes the columns out of a block, if it is the only one and has columns.
    pub(super) fn take_from(blocks: &mut [RowBlock]) -> Option<Self> {
        let [block] = blocks else { return None };
        let (features, columns) = block.take_columns()?;
        Some(Self { features, columns })
    }

    /// All features that occur in some row, ascending, with their columns in the given row order. Columns have 64 bits
    /// if `is_wide` says so.
    pub(super) fn into_columns(
        self,
        order: &[u32],
        absent: Absent,
        is_wide: impl Fn(u32) -> bool + Sync,
    ) -> FeatureColumns {
        let in_order = |spare: &mut Spare, (feature, mut values): (u32, ColumnValues)| {
            let exact = values.take_exact();
            if is_wide(feature)
                && let Some(exact) = exact
            {
                let values = order.iter().map(|row| exact[*row as usize]).collect();
                return Some((feature, (Column::Wide(values), Unrounded::Same)));
            }
            let unrounded = values.unrounded(exact.as_deref(), order);
            let column = match values.into_parts() {
                (Form::Values(values), _) => dense_column(values, order, absent, &mut spare.values),
                (Form::Codes(codes), different) => coded_column(codes, different, order, absent, &mut spare.codes),
            };
            column.map(|column| {
                let column = if is_wide(feature) { column.widened(order.len(), &unrounded) } else { column };
                (feature, (column, unrounded))
            })
        };
        let features = self.features.into_par_iter().zip(self.columns);
        features.map_init(Spare::default, in_order).flatten().unzip()
    }
}

impl RowValues for Table {
    fn f64_features(&self) -> Vec<u32> {
        let columns = self.features.par_iter().zip(&self.columns);
        columns.filter(|(_, column)| merges(column.exact())).map(|(feature, _)| *feature).collect()
    }

    fn row_keys(
        &self,
        n_rows: usize,
        absent: Absent,
        f64_features: &[u32],
        begin: impl Fn(usize, &mut KeyBytes) + Sync,
    ) -> Vec<RowKey> {
        let columns = |place: usize| &self.columns[place];
        let keys = TiledKeys { features: &self.features, columns: &columns, absent, f64_features };
        keys.of_rows(n_rows, begin)
    }
}

impl ColumnPart for &ColumnValues {
    fn values_in<'a>(&'a self, rows: Range<usize>, room: &'a mut [f32; TILE_ROWS]) -> &'a [f32] {
        ColumnValues::values_in(self, rows, room)
    }

    fn unrounded(&self, row: usize) -> f64 {
        self.exact()[row]
    }
}

/// Memory for the next column, reused because it is already mapped. The values of that column become the next spare.
#[derive(Default)]
struct Spare {
    values: Vec<f32>,
    codes: Vec<u16>,
}

fn reorder<T: Copy>(values: &mut Vec<T>, order: &[u32], spare: &mut Vec<T>) {
    spare.clear();
    spare.extend(order.iter().map(|row| values[*row as usize]));
    std::mem::swap(values, spare);
}

/// The values in the given order, or `None` if all are absent.
fn dense_column(mut values: Vec<f32>, order: &[u32], absent: Absent, spare: &mut Vec<f32>) -> Option<Column> {
    reorder(&mut values, order, spare);
    let count = values.iter().filter(|value| !absent.matches(**value)).count();
    // A sparse entry takes twice the memory of a dense one.
    match count {
        0 => None,
        count if count * 2 >= order.len() => Some(Column::Dense(values)),
        _ => Some(sparse_column(values.into_iter(), absent)),
    }
}

/// The codes in the given order, or `None` if all values are absent.
fn coded_column(
    mut codes: Vec<u16>,
    different: Vec<f32>,
    order: &[u32],
    absent: Absent,
    spare: &mut Vec<u16>,
) -> Option<Column> {
    reorder(&mut codes, order, spare);
    let count = codes.len() - count_absent(&codes, &different, absent);
    // A sparse entry takes four times the memory of a code.
    match count {
        0 => None,
        count if count * 4 >= order.len() => Some(Column::Coded { codes, values: different }),
        _ => Some(sparse_column(codes.into_iter().map(|code| different[usize::from(code)]), absent)),
    }
}

/// The number of codes whose value means absent.
fn count_absent(codes: &[u16], different: &[f32], absent: Absent) -> usize {
    let says_nothing: Vec<bool> = different.iter().map(|value| absent.matches(*value)).collect();
    let few: Vec<u16> = (0..=u16::MAX).zip(&says_nothing).filter(|(_, is)| **is).map(|(code, _)| code).collect();
    if few.len() > MAX_COMPARED {
        return codes.iter().filter(|code| says_nothing[usize::from(**code)]).count();
    }
    // Comparing codes can use vector instructions; looking them up cannot.
    let count = |some: &[u16], code: u16| some.iter().map(|other| u16::from(*other == code)).sum::<u16>();
    few.iter().map(|code| codes.chunks(COUNTED).map(|some| usize::from(count(some, *code))).sum::<usize>()).sum()
}

fn sparse_column(values: impl Iterator<Item = f32>, absent: Absent) -> Column {
    let (rows, values) = (0u32..).zip(values).filter(|(_, value)| !absent.matches(*value)).unzip();
    Column::Sparse { rows, values, rest: absent.value() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{
        Absent, BinnedDataset, BinningSpec, Column, ColumnValues, Dataset, DatasetBuilder, Dictionary, RowBlock,
    };

    type Table = Vec<(u8, Vec<f32>)>;

    fn table() -> impl Strategy<Value = Table> {
        let value = prop_oneof![
            2 => Just(0.0f32), 2 => Just(f32::NAN), 1 => Just(-0.0), 1 => Just(f32::INFINITY), 3 => -2.0f32..2.0
        ];
        prop::collection::vec((0u8..4, prop::collection::vec(value, 3)), 1..200)
    }

    /// Some ids are longer than the space that a tile reserves for them.
    fn start(block: &mut RowBlock, qid: u8) {
        block.start_row(&"q".repeat(1 + 60 * usize::from(qid)), f32::from(qid), "");
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

    /// Columns are given as codes where `coded` is true.
    fn by_column(rows: &[(u8, Vec<f32>)], coded: [bool; 3]) -> RowBlock {
        let mut columns = vec![ColumnValues::default(); 3];
        let mut block = RowBlock::default();
        for (qid, values) in rows {
            start(&mut block, *qid);
            for ((column, value), is_coded) in columns.iter_mut().zip(values).zip(coded) {
                if is_coded {
                    let dictionary = Dictionary::new(vec![*value]);
                    column.begin_dictionary(&dictionary);
                    column.append_places(&dictionary, &[u32::from(value.is_nan())]);
                } else {
                    column.append(|column| column.push(*value));
                }
            }
        }
        block.set_columns(&[0, 2, 4], columns);
        block
    }

    /// Many codes stand for a missing value here. A feature that few rows have becomes sparse; one that no row has is
    /// dropped.
    #[test]
    fn what_is_missing_as_a_rule_takes_no_room() {
        let (nan, rows) = (f32::NAN, 40u8);
        let table: Table = (0..rows).map(|row| (row % 3, vec![nan, if row == 7 { 2.5 } else { nan }, 1.0])).collect();
        let mut builder = DatasetBuilder::default();
        builder.push_block(by_column(&table, [true; 3]));
        let data = builder.finish().unwrap();
        assert_eq!(data.feature_ids(), [2, 4]);
        assert!(matches!(data.column(0), Column::Sparse { rows, .. } if rows.len() == 1));
        assert!(matches!(data.column(1), Column::Coded { .. }));
    }

    proptest! {
        /// One or several blocks of columns give the same dataset as rows.
        #[test]
        fn columns_say_what_rows_say(
            rows in table(), cut in 20usize..400, zero in any::<bool>(), coded in any::<[bool; 3]>(),
            sample in 1usize..250,
        ) {
            let absent = if zero { Absent::Zero } else { Absent::Missing };
            let expected = by_row(&rows, absent);
            let mut builder = DatasetBuilder::new(absent);
            for part in rows.chunks(cut) {
                builder.push_block(by_column(part, coded));
            }
            let found = builder.finish().unwrap();
            prop_assert_eq!(found.fingerprint(), expected.fingerprint());
            prop_assert_eq!(found.input_row(), expected.input_row());
            prop_assert_eq!(found.feature_ids(), expected.feature_ids());
            for slot in 0..found.n_features() {
                let is_sparse = |data: &Dataset| matches!(data.column(slot), Column::Sparse { .. });
                if !matches!(found.column(slot), Column::Coded { .. }) {
                    prop_assert!(is_sparse(&found) == is_sparse(&expected));
                }
                for row in 0..found.n_rows() {
                    let (a, b) = (found.column(slot).get(row), expected.column(slot).get(row));
                    prop_assert!(a == b || (a.is_nan() && b.is_nan()), "{} is not {}", a, b);
                }
            }
            prop_assert_eq!(found.remarks(), expected.remarks());
            let params = BinningSpec { bin_construct_sample_cnt: sample, ..Default::default() }.check().unwrap();
            let bins = |data: &Dataset| BinnedDataset::new(data, &params).unwrap();
            let (found, expected) = (bins(&found), bins(&expected));
            prop_assert_eq!(found.feature_ids(), expected.feature_ids());
            for feature in 0..found.n_features() {
                prop_assert_eq!(found.bins(feature), expected.bins(feature));
                prop_assert_eq!(found.column(feature), expected.column(feature));
            }
        }
    }
}
