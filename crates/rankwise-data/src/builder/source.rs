//! The rows of all blocks as one table: keys, columns, labels.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{Extras, FeatureColumns, QueryNumbers, RowBlock, RowValues};
use crate::columns::{Unrounded, merges, rounded};
use crate::key::{KeyBytes, canonical_bits};
use crate::{Absent, Column, RowKey, StringTable};

/// Number of rows that one task scatters into columns. Its part of 136 columns fits in the second-level cache.
const SCATTER_ROWS: usize = 4096;

/// Rows by their input number, in whichever block they are.
pub(super) struct Source<'a> {
    blocks: &'a [RowBlock],
    starts: Vec<usize>,
    absent: Absent,
}

/// What a key includes besides the blocks.
pub(super) struct Beside<'a> {
    pub(super) queries: &'a QueryNumbers,
    pub(super) query_weights: &'a [f32],
    pub(super) extras: &'a Extras,
}

impl<'a> Source<'a> {
    pub(super) fn new(blocks: &'a [RowBlock], absent: Absent) -> Self {
        Self { blocks, starts: block_starts(blocks), absent }
    }

    fn find(&self, row: usize) -> (&RowBlock, usize) {
        let block = self.starts.partition_point(|start| *start <= row) - 1;
        (&self.blocks[block], row - self.starts[block])
    }

    pub(super) fn label(&self, row: usize) -> f32 {
        let (block, row) = self.find(row);
        block.labels[row]
    }

    pub(super) fn doc_ids(&self, order: &[u32]) -> StringTable {
        order
            .iter()
            .map(|row| {
                let (block, row) = self.find(*row as usize);
                block.doc_ids.get(row)
            })
            .collect()
    }

    /// Starts the key of a row with everything but its features.
    pub(super) fn begin_key(&self, row: usize, beside: &Beside<'_>, bytes: &mut KeyBytes) {
        let (block, local) = self.find(row);
        let query = beside.queries.of_row[row] as usize;
        bytes.clear();
        bytes.text(beside.queries.ids.get(query));
        bytes.text(block.doc_ids.get(local));
        bytes.number(block.labels[local]);
        bytes.number(beside.extras.row_weights.as_ref().map_or(1.0, |weights| weights[row]));
        bytes.number(beside.query_weights[query]);
        if let Some(positions) = &beside.extras.positions {
            bytes.integer(positions[row]);
        }
    }

    /// Whether a value of this feature that is not in `listed` has the same f32 as one that is.
    fn has_twin(&self, feature: u32, listed: &[f64]) -> bool {
        let mut rounded: Vec<u32> = listed.iter().map(|value| canonical_bits(rounded(*value))).collect();
        rounded.sort_unstable();
        rounded.dedup();
        let values = self.blocks.iter().flat_map(|block| block.values_of(feature));
        let values = values.map(|value| canonical_bits(value.unwrap_or_else(|| self.absent.value())));
        values.filter(|bits| rounded.binary_search(bits).is_ok()).count() > listed.len()
    }

    /// All features that occur in some row, ascending, with their columns in the given row order. Columns have 64 bits
    /// if `is_wide` says so.
    pub(super) fn columns(&self, order: &[u32], is_wide: impl Fn(u32) -> bool + Sync) -> FeatureColumns {
        let (ids, counts) = self.count_features();
        let rest = self.absent.value();
        // A sparse entry takes twice the memory of a dense one.
        let mut columns: Vec<Column> = counts
            .iter()
            .map(|count| {
                if *count * 2 >= order.len() {
                    Column::Dense(vec![rest; order.len()])
                } else {
                    Column::Sparse { rows: Vec::with_capacity(*count), values: Vec::with_capacity(*count), rest }
                }
            })
            .collect();

        // Each task owns the same rows of every dense column and returns its part of the sparse ones.
        let mut parts: Vec<Vec<Option<&mut [f32]>>> =
            (0..order.len().div_ceil(SCATTER_ROWS)).map(|_| Vec::with_capacity(ids.len())).collect();
        for column in &mut columns {
            if let Column::Dense(values) = column {
                values.chunks_mut(SCATTER_ROWS).zip(&mut parts).for_each(|(chunk, part)| part.push(Some(chunk)));
            } else {
                for part in &mut parts {
                    part.push(None);
                }
            }
        }
        let sparse: Vec<Vec<(u32, u32, f32)>> = parts
            .into_par_iter()
            .zip(order.par_chunks(SCATTER_ROWS))
            .enumerate()
            .map(|(task, (mut dense, rows))| {
                let mut entries = Vec::new();
                for (offset, row) in rows.iter().enumerate() {
                    let (block, row) = self.find(*row as usize);
                    let mut cursor = SlotCursor::new(&ids);
                    for (feature, value) in block.present(row, self.absent) {
                        let slot = cursor.slot(feature).expect("every present feature was collected");
                        match &mut dense[slot] {
                            Some(values) => values[offset] = value,
                            None => entries.push((slot as u32, (task * SCATTER_ROWS + offset) as u32, value)),
                        }
                    }
                }
                entries
            })
            .collect();
        for (slot, row, value) in sparse.into_iter().flatten() {
            if let Column::Sparse { rows, values, .. } = &mut columns[slot as usize] {
                rows.push(row);
                values.push(value);
            }
        }
        if self.blocks.iter().any(RowBlock::is_exact) {
            return self.widen(order, ids, columns, is_wide);
        }
        ids.into_iter().zip(columns).map(|(id, column)| (id, (column, Unrounded::Same))).unzip()
    }

    /// Adds the unrounded values to the columns.
    fn widen(
        &self,
        order: &[u32],
        ids: Vec<u32>,
        columns: Vec<Column>,
        is_wide: impl Fn(u32) -> bool + Sync,
    ) -> FeatureColumns {
        let mut by_feature = self.listed_by_feature(order);
        let mut all: BTreeMap<u32, Column> = ids.into_iter().zip(columns).collect();
        for feature in by_feature.keys().filter(|feature| is_wide(**feature)) {
            // A feature may have only values that f32 rounds to 0.
            let nothing = || Column::Sparse { rows: Vec::new(), values: Vec::new(), rest: self.absent.value() };
            all.entry(*feature).or_insert_with(nothing);
        }
        let all: Vec<(u32, Column, Unrounded)> = all
            .into_iter()
            .map(|(feature, column)| {
                (feature, column, Unrounded::Decimals(by_feature.remove(&feature).unwrap_or_default()))
            })
            .collect();
        let wide = |(feature, column, unrounded): (u32, Column, Unrounded)| {
            if is_wide(feature) {
                (feature, (column.widened(order.len(), &unrounded), unrounded.without_list()))
            } else {
                (feature, (column, unrounded))
            }
        };
        all.into_par_iter().map(wide).collect::<Vec<_>>().into_iter().unzip()
    }

    /// The values that cannot be recovered from their f32, by feature, with their rows (ascending).
    fn listed_by_feature(&self, order: &[u32]) -> BTreeMap<u32, Vec<(u32, f64)>> {
        let mut by_feature: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        let mut place_of = Vec::new();
        for (block, start) in self.blocks.iter().zip(&self.starts) {
            for (row, feature, value) in block.exact_values() {
                if place_of.is_empty() {
                    place_of = vec![0u32; order.len()];
                    (0u32..).zip(order).for_each(|(place, row)| place_of[*row as usize] = place);
                }
                by_feature.entry(feature).or_default().push((place_of[start + row], value));
            }
        }
        by_feature.par_iter_mut().for_each(|(_, listed)| listed.sort_unstable_by_key(|(row, _)| *row));
        by_feature
    }

    /// All features that occur in some row, ascending, and the number of rows of each.
    fn count_features(&self) -> (Vec<u32>, Vec<usize>) {
        let of_block = |block: &RowBlock| match block.table_features() {
            Some(features) => count_in_table(block, features, self.absent),
            None => count_in_rows(block, self.absent),
        };
        let mut all: Vec<(u32, usize)> = self.blocks.par_iter().flat_map_iter(of_block).collect();
        all.par_sort_unstable_by_key(|(id, _)| *id);
        let runs = all.chunk_by(|a, b| a.0 == b.0);
        let totals = runs.map(|run| (run[0].0, run.iter().map(|(_, count)| count).sum::<usize>()));
        totals.filter(|(_, count)| *count > 0).unzip()
    }
}

impl RowValues for Source<'_> {
    fn f64_features(&self) -> Vec<u32> {
        let of_block = |block: &RowBlock| {
            let mut listed: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
            for (_, feature, value) in block.exact_values() {
                listed.entry(feature).or_default().push(value);
            }
            listed
        };
        let mut listed: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (feature, values) in self.blocks.par_iter().map(of_block).collect::<Vec<_>>().into_iter().flatten() {
            listed.entry(feature).or_default().extend(values);
        }
        let listed: Vec<(u32, Vec<f64>)> = listed.into_iter().collect();
        let is_f64 = |(feature, values): &(u32, Vec<f64>)| merges(values) || self.has_twin(*feature, values);
        listed.into_par_iter().filter(is_f64).map(|(feature, _)| feature).collect()
    }

    fn row_keys(
        &self,
        n_rows: usize,
        absent: Absent,
        f64_features: &[u32],
        begin: impl Fn(usize, &mut KeyBytes) + Sync,
    ) -> Vec<RowKey> {
        let key = |bytes: &mut KeyBytes, row| {
            let (block, local) = self.find(row);
            begin(row, bytes);
            bytes.features(block.present(local, absent));
            let values = f64_features.iter().filter_map(|feature| Some((*feature, block.f64_of(local, *feature)?)));
            bytes.wide_features(values.filter(|(_, value)| !absent.matches_f64(*value)));
            bytes.finish()
        };
        (0..n_rows).into_par_iter().with_min_len(256).map_init(KeyBytes::default, key).collect()
    }
}

/// Rows with the same features are counted column by column, with vector instructions.
fn count_in_table(block: &RowBlock, features: &[u32], absent: Absent) -> Vec<(u32, usize)> {
    let mut counts = vec![0u32; features.len()];
    for row in block.table_rows() {
        for (count, value) in counts.iter_mut().zip(row) {
            *count += u32::from(!absent.matches(*value));
        }
    }
    features.iter().copied().zip(counts.into_iter().map(|count| count as usize)).collect()
}

fn count_in_rows(block: &RowBlock, absent: Absent) -> Vec<(u32, usize)> {
    let mut known: Vec<u32> = Vec::new();
    let mut fresh: Vec<u32> = Vec::new();
    for row in 0..block.n_rows() {
        let mut cursor = SlotCursor::new(&known);
        fresh.extend(block.present(row, absent).map(|(id, _)| id).filter(|id| cursor.slot(*id).is_none()));
        // Merging only large lists keeps the whole pass near-linear.
        if fresh.len() > known.len() {
            merge_sorted(&mut known, &mut fresh);
        }
    }
    merge_sorted(&mut known, &mut fresh);
    let mut counts = vec![0usize; known.len()];
    for row in 0..block.n_rows() {
        let mut cursor = SlotCursor::new(&known);
        for (feature, _) in block.present(row, absent) {
            counts[cursor.slot(feature).expect("every present feature was collected")] += 1;
        }
    }
    known.into_iter().zip(counts).collect()
}

/// Finds ascending ids in an ascending list. Most ids of a row are neighbours, so it tries the next place first.
struct SlotCursor<'a> {
    ids: &'a [u32],
    next: usize,
}

impl<'a> SlotCursor<'a> {
    fn new(ids: &'a [u32]) -> Self {
        Self { ids, next: 0 }
    }

    fn slot(&mut self, id: u32) -> Option<usize> {
        if self.ids.get(self.next) != Some(&id) {
            self.next += self.ids[self.next..].partition_point(|known| *known < id);
            if self.ids.get(self.next) != Some(&id) {
                return None;
            }
        }
        self.next += 1;
        Some(self.next - 1)
    }
}

fn merge_sorted(known: &mut Vec<u32>, fresh: &mut Vec<u32>) {
    known.append(fresh);
    known.sort_unstable();
    known.dedup();
}

fn block_starts(blocks: &[RowBlock]) -> Vec<usize> {
    let ends = blocks.iter().scan(0, |end, block| {
        let start = *end;
        *end += block.n_rows();
        Some(start)
    });
    ends.collect()
}
