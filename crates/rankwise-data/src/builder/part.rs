//! Lets a reader of several files change the rows of one file before the builder combines them.

use super::column_values::ColumnValues;
use super::{DatasetBuilder, RowBlock};
use crate::StringTable;

impl RowBlock {
    /// The id of each run of rows of one query, and the number of rows in the run.
    pub fn qid_runs(&self) -> impl Iterator<Item = (&str, usize)> {
        (0..self.run_ends.len()).map(|run| {
            let start = if run == 0 { 0 } else { self.run_ends[run - 1] };
            (self.run_qids.get(run), self.run_ends[run] - start)
        })
    }

    /// Replaces the queries of the rows.
    ///
    /// # Panics
    /// If the runs do not cover the rows of the block.
    pub fn set_qid_runs<Q: AsRef<str>>(&mut self, runs: impl IntoIterator<Item = (Q, usize)>) {
        self.run_qids = StringTable::default();
        self.run_ends.clear();
        for (qid, n_rows) in runs {
            let start = self.run_ends.last().copied().unwrap_or(0);
            self.run_qids.push(qid.as_ref());
            self.run_ends.push(start + n_rows);
        }
        assert_eq!(self.run_ends.last().copied().unwrap_or(0), self.n_rows(), "every row has a query");
    }

    /// Sets the weights of all rows of the block.
    pub fn set_weights(&mut self, weights: &[f32]) {
        self.weights = weights.to_vec();
    }

    /// Sets the query weight of each row of the block.
    pub fn set_query_weights(&mut self, weights: &[f32]) {
        self.query_weights = weights.to_vec();
    }

    /// Sets the position at which each row of the block was shown.
    pub fn set_positions(&mut self, positions: &[u32]) {
        self.positions = positions.to_vec();
    }
}

impl DatasetBuilder {
    /// Sets the values of all rows of all blocks, by feature (ascending). The blocks then hold no values themselves. A
    /// table that is split into several files is thus still read column by column.
    ///
    /// # Panics
    /// If a column is missing or the features do not ascend.
    pub fn columns(&mut self, features: Vec<u32>, columns: Vec<ColumnValues>) {
        assert!(features.is_sorted_by(|a, b| a < b), "the features of a table ascend");
        assert_eq!(features.len(), columns.len(), "there is a column for each feature");
        self.columns = Some((features, columns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(qids: &[&str]) -> RowBlock {
        let mut block = RowBlock::default();
        for (idx, qid) in qids.iter().enumerate() {
            block.start_row(qid, idx as f32, "");
        }
        block
    }

    #[test]
    fn runs_can_be_read_and_replaced() {
        let mut block = rows(&["a", "a", "b", "a"]);
        assert_eq!(block.qid_runs().collect::<Vec<_>>(), [("a", 2), ("b", 1), ("a", 1)]);
        block.set_qid_runs([("1", 1), ("2", 3)]);
        assert_eq!(block.qid_runs().collect::<Vec<_>>(), [("1", 1), ("2", 3)]);
    }

    /// Two blocks with common columns make the same dataset as one block.
    #[test]
    fn columns_of_several_blocks_are_one_table() {
        let values = |values: &[f32]| {
            let mut column = ColumnValues::default();
            column.append(|all| all.extend_from_slice(values));
            column
        };
        let columns = || vec![values(&[0.5, 1.5, 2.5]), values(&[3.0, f32::NAN, 4.0])];
        let mut block = rows(&["b", "a", "b"]);
        block.set_columns(&[2, 5], columns());
        let mut one = DatasetBuilder::default();
        one.push_block(block);
        let one = one.finish().unwrap();

        let mut two = DatasetBuilder::default();
        two.push_block(rows(&["b", "a"]));
        let mut last = RowBlock::default();
        last.start_row("b", 2.0, "");
        two.push_block(last);
        two.columns(vec![2, 5], columns());
        let two = two.finish().unwrap();
        assert_eq!((one.fingerprint(), one.input_row()), (two.fingerprint(), two.input_row()));
        for slot in 0..2 {
            for row in 0..3 {
                assert_eq!(one.column(slot).get(row).to_bits(), two.column(slot).get(row).to_bits());
            }
        }
    }
}
