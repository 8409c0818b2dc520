//! Rows as a reader hands them over.

use super::column_values::ColumnValues;
use super::finite;
use crate::decimal::{decimal_of, is_told, is_told_decimal};
use crate::{Absent, StringTable};

/// Consecutive rows in input order. Readers fill several in parallel.
#[derive(Clone, Debug, Default)]
pub struct RowBlock {
    pub(super) run_qids: StringTable,
    pub(super) run_ends: Vec<usize>,
    pub(super) labels: Vec<f32>,
    pub(super) doc_ids: StringTable,
    pub(super) has_doc_ids: bool,
    /// One entry per row, or empty; the same holds for the next two.
    pub(super) weights: Vec<f32>,
    pub(super) query_weights: Vec<f32>,
    pub(super) positions: Vec<u32>,
    /// Lists of feature ids. A row with the same features as the row before shares its list.
    features: Vec<u32>,
    /// For each row, the start of its list.
    list_starts: Vec<usize>,
    values: Vec<f32>,
    /// Whether unrounded values are known: they are what [`decimal_of`] gives, or in `exact`.
    is_exact: bool,
    exact: ExactValues,
    /// For each row, the end of its values.
    row_ends: Vec<usize>,
    /// Whether all rows have the features of the first list.
    is_table: bool,
    /// The values by feature, if they were given in columns; there are no others then.
    columns: Option<Vec<ColumnValues>>,
}

/// Values that cannot be recovered from their f32, with their indices among all values of a block, ascending.
#[derive(Clone, Debug, Default)]
struct ExactValues {
    places: Vec<usize>,
    values: Vec<f64>,
}

impl RowBlock {
    /// A block whose rows all have these features, in ascending order. Add values with [`Self::push_next_value`] in
    /// this order, and end each row with [`Self::finish_table_row`].
    pub fn for_table(features: &[u32]) -> Self {
        assert!(features.is_sorted_by(|a, b| a < b), "the features of a table ascend");
        Self { features: features.to_vec(), is_table: true, ..Self::default() }
    }

    /// Declares that all values of the block can be recovered from their f32, except those that are kept. That is true
    /// for decimals with at most nine places whose digits, as an integer, are below 2^23. For others,
    /// [`Self::keep_decimal`] and [`Self::push_f64`] check it.
    pub fn expect_decimals(&mut self) {
        self.is_exact = true;
    }

    /// Reserves memory for more rows if possible, because growing would move the existing ones.
    pub fn reserve(&mut self, n_rows: usize) {
        let _ = self.labels.try_reserve_exact(n_rows);
        self.doc_ids.reserve(n_rows);
    }

    /// Starts a row. Its values are added with [`Self::push_value`], before or after this call, and
    /// [`Self::finish_row`] ends it. Rows have an empty `qid` if [`DatasetBuilder::group_sizes`] gives the queries.
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

    /// Sets the weight of the current row. If one row has a weight, all must have one.
    pub fn push_weight(&mut self, weight: f32) {
        self.weights.push(weight);
    }

    /// Sets the query weight of the current row. All rows of a query must have the same.
    pub fn push_query_weight(&mut self, weight: f32) {
        self.query_weights.push(weight);
    }

    /// Sets the position at which the current row was shown.
    pub fn push_position(&mut self, position: u32) {
        self.positions.push(position);
    }

    /// Adds a value to the current row. Infinite values become the largest finite ones, which keeps the order.
    #[inline]
    pub fn push_value(&mut self, feature: u32, value: f32) {
        self.features.push(feature);
        self.values.push(finite(value));
    }

    /// Adds the value of the next feature of a table. Infinite values are handled as in [`Self::push_value`].
    #[inline]
    pub fn push_next_value(&mut self, value: f32) {
        self.values.push(finite(value));
    }

    /// [`Self::push_value`] for a finite or missing value.
    #[inline]
    pub fn push_finite(&mut self, feature: u32, value: f32) {
        debug_assert!(!value.is_infinite());
        self.features.push(feature);
        self.values.push(value);
    }

    /// [`Self::push_next_value`] for a finite or missing value.
    #[inline]
    pub fn push_next_finite(&mut self, value: f32) {
        debug_assert!(!value.is_infinite());
        self.values.push(value);
    }

    /// Keeps the next value, `digits / 10^n_decimals`, unrounded if it cannot be recovered from its f32.
    #[inline]
    pub fn keep_decimal(&mut self, value: f64, digits: u64, n_decimals: usize) {
        if !is_told_decimal(value, digits, n_decimals) {
            self.keep(value);
        }
    }

    /// [`Self::push_value`] that also keeps the unrounded value if needed.
    #[inline]
    pub fn push_f64(&mut self, feature: u32, value: f64) {
        self.keep_exact(value);
        self.push_value(feature, value as f32);
    }

    /// [`Self::push_next_value`] that also keeps the unrounded value if needed.
    #[inline]
    pub fn push_next_f64(&mut self, value: f64) {
        self.keep_exact(value);
        self.push_next_value(value as f32);
    }

    /// Keeps the next value, unless it can be recovered from its f32.
    #[inline]
    fn keep_exact(&mut self, value: f64) {
        self.is_exact = true;
        if !is_told(value) {
            self.keep(value);
        }
    }

    #[cold]
    fn keep(&mut self, value: f64) {
        self.exact.places.push(self.values.len());
        self.exact.values.push(value);
    }

    /// Ends a row of a table.
    pub fn finish_table_row(&mut self) {
        let end = self.row_ends.last().copied().unwrap_or(0) + self.features.len();
        assert!(self.is_table && end == self.values.len(), "a row of a table has a value for each feature");
        self.row_ends.push(end);
        self.list_starts.push(0);
    }

    /// Sets the features of all rows, in ascending order, and the values of each. Rows then need only
    /// [`Self::start_row`].
    pub fn set_columns(&mut self, features: &[u32], columns: Vec<ColumnValues>) {
        assert!(features.is_sorted_by(|a, b| a < b), "the features of a table ascend");
        assert_eq!(features.len(), columns.len(), "there is a column for each feature");
        assert!(columns.iter().all(|column| column.len() == self.n_rows()), "columns have a value for each row");
        assert!(self.values.is_empty(), "values come by row or by column");
        self.features = features.to_vec();
        self.columns = Some(columns);
    }

    /// The features of all rows and their columns, if the values were given in columns.
    pub(super) fn take_columns(&mut self) -> Option<(Vec<u32>, Vec<ColumnValues>)> {
        let columns = self.columns.take()?;
        Some((std::mem::take(&mut self.features), columns))
    }

    /// Whether some column has unrounded values.
    pub(super) fn has_exact_columns(&self) -> bool {
        self.columns.iter().flatten().any(ColumnValues::has_exact)
    }

    /// The same block with values by row; unrounded values are kept if `is_exact`.
    pub(super) fn by_row(mut self, is_exact: bool) -> Self {
        let Some(columns) = self.columns.take() else { return self };
        self.is_table = true;
        for row in 0..self.n_rows() {
            if is_exact {
                for column in &columns {
                    self.push_next_f64(column.get_f64(row));
                }
            } else {
                self.values.extend(columns.iter().map(|column| column.get(row)));
            }
            self.finish_table_row();
        }
        self
    }

    /// The features of all rows, if all rows have the same.
    pub(super) fn table_features(&self) -> Option<&[u32]> {
        let shares_one = || {
            self.values.len() == self.n_rows() * self.features.len() && self.list_starts.iter().all(|start| *start == 0)
        };
        (self.is_table || shares_one()).then_some(&self.features)
    }

    /// The values of each row of a table.
    pub(super) fn table_rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.features.len().max(1))
    }

    /// Ends the row. The error is a feature that occurs twice in it.
    pub fn finish_row(&mut self) -> Result<(), u32> {
        let row = self.row_ends.last().copied().unwrap_or(0)..self.values.len();
        self.row_ends.push(row.end);
        // The features of this row come last, directly after those of the row before.
        let start = self.features.len() - row.len();
        let twice = self.sort_row(start, row.start);
        let last_start = self.list_starts.last().copied().unwrap_or(0);
        if start - last_start == row.len() && self.features[last_start..start] == self.features[start..] {
            self.features.truncate(start);
            self.list_starts.push(last_start);
        } else {
            self.list_starts.push(start);
        }
        twice
    }

    /// Sorts the features from `first_feature` on, and the values from `first_value` on with them.
    fn sort_row(&mut self, first_feature: usize, first_value: usize) -> Result<(), u32> {
        let (features, values) = (&mut self.features[first_feature..], &mut self.values[first_value..]);
        if features.is_sorted_by(|a, b| a < b) {
            return Ok(());
        }
        self.exact.sort_row(features, first_value);
        let mut pairs: Vec<(u32, f32)> = features.iter().copied().zip(values.iter().copied()).collect();
        pairs.sort_by_key(|(feature, _)| *feature);
        for (slot, (feature, value)) in pairs.iter().enumerate() {
            (features[slot], values[slot]) = (*feature, *value);
        }
        pairs.windows(2).find(|pair| pair[0].0 == pair[1].0).map_or(Ok(()), |pair| Err(pair[0].0))
    }

    /// Whether unrounded values are known.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The values that cannot be recovered from their f32, with their rows (ascending) and features.
    pub(super) fn exact_values(&self) -> impl Iterator<Item = (usize, u32, f64)> {
        self.exact.places.iter().zip(&self.exact.values).map(|(place, value)| {
            let row = self.row_ends.partition_point(|end| end <= place);
            let start = if row == 0 { 0 } else { self.row_ends[row - 1] };
            (row, self.features[self.list_starts[row] + place - start], *value)
        })
    }

    /// The index of a feature's value in each row, or `None` if the row does not have the feature.
    fn places_of(&self, feature: u32) -> impl Iterator<Item = Option<usize>> {
        // In rows that share a list, the feature is at the same place.
        let mut known = (usize::MAX, 0, None);
        (0..self.row_ends.len()).map(move |row| {
            let start = if row == 0 { 0 } else { self.row_ends[row - 1] };
            let (list, len) = (self.list_starts[row], self.row_ends[row] - start);
            if (known.0, known.1) != (list, len) {
                known = (list, len, self.features[list..][..len].binary_search(&feature).ok());
            }
            known.2.map(|place| start + place)
        })
    }

    /// The f32 value of a feature in each row, or `None` if the row does not have it.
    pub(super) fn values_of(&self, feature: u32) -> impl Iterator<Item = Option<f32>> {
        self.places_of(feature).map(|place| place.map(|place| self.values[place]))
    }

    /// The unrounded value of a feature in a row, if the row has it.
    pub(super) fn f64_of(&self, row: usize, feature: u32) -> Option<f64> {
        let start = if row == 0 { 0 } else { self.row_ends[row - 1] };
        let features = &self.features[self.list_starts[row]..][..self.row_ends[row] - start];
        let place = start + features.binary_search(&feature).ok()?;
        let listed = self.exact.places.binary_search(&place).ok().map(|listed| self.exact.values[listed]);
        Some(listed.unwrap_or_else(|| decimal_of(self.values[place])))
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
    }

    /// The (feature, value) pairs of a row, ascending, without values that mean absent.
    pub(super) fn present(&self, row: usize, absent: Absent) -> impl Iterator<Item = (u32, f32)> {
        let start = if row == 0 { 0 } else { self.row_ends[row - 1] };
        let values = &self.values[start..self.row_ends[row]];
        let features = &self.features[self.list_starts[row]..][..values.len()];
        let pairs = features.iter().copied().zip(values.iter().copied());
        pairs.filter(move |(_, value)| !absent.matches(*value))
    }
}

impl ExactValues {
    /// Moves the values of the last row, whose features will be sorted.
    fn sort_row(&mut self, features: &[u32], first_value: usize) {
        let first = self.places.partition_point(|place| *place < first_value);
        let mut moved: Vec<(usize, f64)> = self.places[first..]
            .iter()
            .zip(&self.values[first..])
            .map(|(place, value)| {
                let feature = features[place - first_value];
                (first_value + features.iter().filter(|other| **other < feature).count(), *value)
            })
            .collect();
        moved.sort_by_key(|(place, _)| *place);
        for (idx, (place, value)) in moved.into_iter().enumerate() {
            (self.places[first + idx], self.values[first + idx]) = (place, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_the_same_features_share_a_list() {
        let mut block = RowBlock::default();
        let rows: [&[(u32, f32)]; 6] =
            [&[(1, 1.0), (2, 2.0)], &[(2, 4.0), (1, 3.0)], &[], &[(1, 5.0)], &[(1, 6.0)], &[(1, 7.0), (2, 8.0)]];
        for row in rows {
            block.start_row("q", 0.0, "");
            for (feature, value) in row {
                block.push_value(*feature, *value);
            }
            block.finish_row().unwrap();
        }
        for (idx, row) in rows.iter().enumerate() {
            let mut expected = row.to_vec();
            expected.sort_by_key(|(feature, _)| *feature);
            assert_eq!(block.present(idx, Absent::Missing).collect::<Vec<_>>(), expected);
        }
        assert_eq!(block.features, [1, 2, 1, 1, 2]);
    }

    #[test]
    fn exact_values_are_kept_through_sorting() {
        let mut block = RowBlock::default();
        let rows: [&[(u32, f64)]; 4] = [
            &[(5, 1_700_000_001.0), (2, 0.5), (9, 0.1)],
            &[(1, 1.0)],
            &[(7, f64::NAN), (3, 1e300), (4, f64::NEG_INFINITY), (6, f64::from(0.1f32))],
            &[(2, -1e-60), (1, 3.0)],
        ];
        for row in rows {
            block.start_row("q", 0.0, "");
            for (feature, value) in row {
                block.push_f64(*feature, *value);
            }
            block.finish_row().unwrap();
        }
        let expected = [
            (0, 5, 1_700_000_001.0),
            (2, 3, 1e300),
            (2, 4, f64::NEG_INFINITY),
            (2, 6, f64::from(0.1f32)),
            (3, 2, -1e-60),
        ];
        assert_eq!(block.exact_values().collect::<Vec<_>>(), expected);
        assert_eq!(block.present(0, Absent::Missing).collect::<Vec<_>>(), [(2, 0.5), (5, 1.7e9), (9, 0.1)]);
    }
}
