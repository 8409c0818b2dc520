//! Rows as a reader hands them over.

use std::ops::Range;

use crate::{Absent, StringTable};

/// Consecutive rows in input order. Readers fill several in parallel.
#[derive(Clone, Debug, Default)]
pub struct RowBlock {
    pub(super) run_qids: StringTable,
    pub(super) run_ends: Vec<usize>,
    pub(super) labels: Vec<f32>,
    pub(super) doc_ids: StringTable,
    pub(super) has_doc_ids: bool,
    pub(super) features: Vec<u32>,
    pub(super) values: Vec<f32>,
    pub(super) row_ends: Vec<usize>,
}

impl RowBlock {
    /// Starts a row; values follow with [`Self::push_value`], then [`Self::finish_row`]. An empty `qid` means that the
    /// rows have none and that [`DatasetBuilder::group_sizes`] tells which belong together.
    pub fn start_row(&mut self, qid: &str, label: f32, doc_id: &str) {
        match self.run_ends.last_mut() {
            Some(end) if self.run_qids.get(self.run_qids.len() - 1) == qid => *end += 1,
            _ => {
                self.run_qids.push(qid);
                self.run_ends.push(self.labels.len() + 1);
            }
        }
        self.labels.push(label);
        self.doc_ids.push(doc_id);
        self.has_doc_ids |= !doc_id.is_empty();
    }

    /// Adds a value to the row under way. Infinite values become the largest finite ones, which order the same way.
    pub fn push_value(&mut self, feature: u32, value: f32) {
        self.features.push(feature);
        self.values.push(value.clamp(-f32::MAX, f32::MAX));
    }

    /// Ends the row; gives back a feature that it has twice, if there is one.
    pub fn finish_row(&mut self) -> Result<(), u32> {
        let row = self.row_ends.last().copied().unwrap_or(0)..self.features.len();
        self.row_ends.push(row.end);
        let features = &mut self.features[row.clone()];
        if features.is_sorted_by(|a, b| a < b) {
            return Ok(());
        }
        let values = &mut self.values[row];
        let mut pairs: Vec<(u32, f32)> = features.iter().copied().zip(values.iter().copied()).collect();
        pairs.sort_by_key(|(feature, _)| *feature);
        for (slot, (feature, value)) in pairs.iter().enumerate() {
            (features[slot], values[slot]) = (*feature, *value);
        }
        pairs.windows(2).find(|pair| pair[0].0 == pair[1].0).map_or(Ok(()), |pair| Err(pair[0].0))
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
    }

    fn row_range(&self, row: usize) -> Range<usize> {
        if row == 0 { 0..self.row_ends[0] } else { self.row_ends[row - 1]..self.row_ends[row] }
    }

    /// The (feature, value) pairs of a row, ascending, without those that say what `absent` says anyway.
    pub(super) fn present(&self, row: usize, absent: Absent) -> impl Iterator<Item = (u32, f32)> {
        let range = self.row_range(row);
        let pairs = self.features[range.clone()].iter().copied().zip(self.values[range].iter().copied());
        pairs.filter(move |(_, value)| match absent {
            Absent::Missing => !value.is_nan(),
            Absent::Zero => *value != 0.0,
        })
    }
}
