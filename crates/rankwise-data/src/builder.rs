//! Turns rows in any order into a [`Dataset`] in canonical order.
//!
//! ```text
//! blocks (input order)      order (canonical)         columns (canonical rows)
//! block 0: row 0 1 2        row 4 (q1, key 03..)      feature 1: [ . . . . . ]
//! block 1: row 3 4     ->   row 0 (q1, key 7a..)  ->  feature 5: [ . . . . . ]
//!                           row 2 (q2, key 11..)      ...
//! ```

mod by_column;
mod column_values;
mod extras;
mod key_tile;
mod part;
mod row_block;
mod source;

use std::collections::HashMap;

use rankwise_params::param_enum;
use rayon::prelude::*;

use self::by_column::Table;
pub use self::column_values::{ColumnValues, Dictionary};
use self::extras::{Extras, QueryWeights};
pub(crate) use self::key_tile::{ColumnPart, TILE_ROWS, TiledKeys};
pub use self::row_block::RowBlock;
use self::source::{Beside, Source};
use crate::columns::Unrounded;
use crate::documents::Identity;
use crate::key::KeyBytes;
use crate::{Column, DataError, Dataset, Documents, Pair, RowKey, StringTable, pairs};

/// Row numbers are 32 bits wide, and a sum of 31-bit fixed-point numbers over all rows must keep some bits for each.
pub const MAX_ROWS: usize = 1 << 30;

param_enum! {
    /// The meaning of a feature that is absent from a row.
    pub enum Absent {
        /// Its value is not known.
        Missing = "missing" | "nan",
        /// Its value is 0.
        Zero = "zero",
    }
}

impl Absent {
    /// The value of an absent feature.
    pub fn value(self) -> f32 {
        match self {
            Self::Missing => f32::NAN,
            Self::Zero => 0.0,
        }
    }

    /// Whether a value means the same as an absent feature.
    #[inline]
    pub fn matches(self, value: f32) -> bool {
        match self {
            Self::Missing => value.is_nan(),
            Self::Zero => value == 0.0,
        }
    }

    /// [`Self::matches`] for an unrounded value.
    #[inline]
    pub fn matches_f64(self, value: f64) -> bool {
        match self {
            Self::Missing => value.is_nan(),
            Self::Zero => value == 0.0,
        }
    }
}

/// One document, for tests and small callers.
#[derive(Clone, Debug, Default)]
pub struct Row<'a> {
    /// The query it belongs to.
    pub qid: &'a str,
    /// Its relevance, 0 or more.
    pub label: f32,
    /// Its document id, or empty.
    pub doc_id: &'a str,
    /// Features with their values, in any order.
    pub features: &'a [(u32, f32)],
}

/// Collects rows with their weights, positions and pairs, then sorts them.
#[derive(Clone, Debug)]
pub struct DatasetBuilder {
    blocks: Vec<RowBlock>,
    absent: Absent,
    extras: Extras,
    group_sizes: Option<Vec<usize>>,
    feature_names: Vec<(u32, String)>,
    /// The values of all rows by feature, if they are not in the blocks.
    columns: Option<(Vec<u32>, Vec<ColumnValues>)>,
    widens_all: bool,
}

/// The feature values of all rows in input order, as far as canonical order depends on them.
pub(crate) trait RowValues: Sync {
    /// The features with different values that are equal as f32, ascending.
    fn f64_features(&self) -> Vec<u32>;

    /// The keys of all rows; `f64_features` enter as f64. `begin` writes the bytes before the features.
    fn row_keys(
        &self,
        n_rows: usize,
        absent: Absent,
        f64_features: &[u32],
        begin: impl Fn(usize, &mut KeyBytes) + Sync,
    ) -> Vec<RowKey>;
}

/// Features, ascending, with their columns.
type FeatureColumns = (Vec<u32>, Vec<(Column, Unrounded)>);

impl Default for DatasetBuilder {
    fn default() -> Self {
        Self::new(Absent::Missing)
    }
}

impl DatasetBuilder {
    /// An empty builder.
    pub fn new(absent: Absent) -> Self {
        let extras = Extras::default();
        Self {
            blocks: Vec::new(),
            absent,
            extras,
            group_sizes: None,
            feature_names: Vec::new(),
            columns: None,
            widens_all: false,
        }
    }

    /// Appends rows.
    pub fn push_block(&mut self, block: RowBlock) {
        self.blocks.push(block);
    }

    /// Appends one row.
    pub fn push(&mut self, row: &Row<'_>) -> Result<(), DataError> {
        if self.blocks.is_empty() {
            self.blocks.push(RowBlock::default());
        }
        let number = self.n_rows() + 1;
        let block = self.blocks.last_mut().expect("a block was just made sure of");
        block.start_row(row.qid, row.label, row.doc_id);
        for (feature, value) in row.features {
            block.push_value(*feature, *value);
        }
        block.finish_row().map_err(|feature| DataError::DuplicateFeature { row: number, feature })
    }

    /// Weights of the rows, in input order; 1 by default.
    pub fn row_weights(&mut self, weights: Vec<f32>) {
        self.extras.row_weights = Some(weights);
    }

    /// Weights of the queries, in order of first appearance; 1 by default.
    pub fn query_weights(&mut self, weights: Vec<f32>) {
        self.extras.query_weights = Some(QueryWeights::InOrder(weights));
    }

    /// Weights of the queries by id. Every query needs one; unknown ids are ignored.
    pub fn query_weights_by_id(&mut self, ids: StringTable, weights: Vec<f32>) {
        self.extras.query_weights = Some(QueryWeights::ById(ids, weights));
    }

    /// The position at which each row was shown, in input order.
    pub fn positions(&mut self, positions: Vec<u32>) {
        self.extras.positions = Some(positions);
    }

    /// Preferences between rows, given by row number: input order, from 0.
    pub fn pairs(&mut self, pairs: Vec<Pair>) {
        self.extras.pairs = Some(pairs);
    }

    /// Names of features that have names besides their ids.
    pub fn feature_names(&mut self, names: Vec<(u32, String)>) {
        self.feature_names = names;
        self.feature_names.sort();
    }

    /// Keeps all f64 values at 64 bits, not only those of features with different values that are equal as f32.
    pub fn widen_all(&mut self) {
        self.widens_all = true;
    }

    /// Sizes of consecutive queries, for rows without query ids. The query ids are then 1, 2, ...
    pub fn group_sizes(&mut self, sizes: Vec<usize>) {
        self.group_sizes = Some(sizes);
    }

    /// The number of rows so far.
    pub fn n_rows(&self) -> usize {
        self.blocks.iter().map(RowBlock::n_rows).sum()
    }

    /// Sorts the rows and builds the dataset.
    pub fn finish(mut self) -> Result<Dataset, DataError> {
        self.check_rows()?;
        let table = self.columns.take().map(Table::new).or_else(|| Table::take_from(&mut self.blocks));
        let is_exact = self.blocks.iter().any(|block| block.is_exact() || block.has_exact_columns());
        self.blocks = self.blocks.into_par_iter().map(|block| block.by_row(is_exact)).collect();
        self.extras.take_from(&self.blocks)?;

        let source = Source::new(&self.blocks, self.absent);
        let mut docs = match &table {
            Some(table) => self.documents(&source, table)?,
            None => self.documents(&source, &source)?,
        };
        let is_wide = |feature: u32| self.widens_all || docs.f64_features.binary_search(&feature).is_ok();
        let (feature_ids, columns) = match table {
            Some(table) => table.into_columns(&docs.input_row, self.absent, is_wide),
            None => source.columns(&docs.input_row, is_wide),
        };
        docs.feature_ids = feature_ids;
        let (columns, unrounded) = columns.into_iter().unzip();
        Ok(Dataset { docs, columns, unrounded })
    }

    /// Sorts the rows, whose values are elsewhere. The features of the result are still to be filled in.
    pub(crate) fn finish_documents(mut self, values: &impl RowValues) -> Result<Documents, DataError> {
        self.check_rows()?;
        self.extras.take_from(&self.blocks)?;
        self.documents(&Source::new(&self.blocks, self.absent), values)
    }

    fn check_rows(&self) -> Result<(), DataError> {
        match self.n_rows() {
            0 => Err(DataError::Empty),
            rows if rows > MAX_ROWS => Err(DataError::TooManyRows { rows, limit: MAX_ROWS }),
            _ => self.check_labels(),
        }
    }

    /// The documents in canonical order, without their features.
    fn documents(&self, source: &Source<'_>, values: &impl RowValues) -> Result<Documents, DataError> {
        let n_rows = self.n_rows();
        self.extras.check(n_rows)?;
        let queries = self.number_queries(n_rows)?;
        let query_weights = self.extras.weights_by_query(&queries)?;
        self.extras.check_products(&queries, &query_weights)?;
        let beside = Beside { queries: &queries, query_weights: &query_weights, extras: &self.extras };
        let f64_features = values.f64_features();
        let begin = |row: usize, bytes: &mut KeyBytes| source.begin_key(row, &beside, bytes);
        let mut keys = values.row_keys(n_rows, self.absent, &f64_features, begin);
        if let Some(pairs) = &self.extras.pairs {
            pairs::check(pairs, &queries)?;
            pairs::add_to_keys(&mut keys, pairs);
        }

        // Canonical order: queries by the bytes of their ids, rows by key. Rows with equal keys are identical.
        let mut by_id: Vec<u32> = (0..queries.ids.len() as u32).collect();
        by_id.sort_unstable_by_key(|query| queries.ids.get(*query as usize).as_bytes());
        let (bounds, input_row) = canonical_order(&queries, &by_id, &keys);

        let qids: StringTable = by_id.iter().map(|query| queries.ids.get(*query as usize)).collect();
        let doc_ids = self.blocks.iter().any(|block| block.has_doc_ids).then(|| source.doc_ids(&input_row));
        let keys: Vec<RowKey> = input_row.iter().map(|row| keys[*row as usize]).collect();
        Ok(Documents {
            absent: self.absent,
            fingerprint: keys.iter().fold(0u128, |sum, key| sum.wrapping_add(key.as_u128())),
            identity: Identity::new(&qids, &bounds, doc_ids.as_ref(), &keys),
            labels: input_row.iter().map(|row| source.label(*row as usize)).collect(),
            weights: self.extras.row_weights.as_deref().map(|all| picked(all, &input_row)),
            positions: self.extras.positions.as_deref().map(|all| picked(all, &input_row)),
            pairs: self.extras.pairs.as_deref().map(|pairs| pairs::to_canonical(pairs, &input_row)).unwrap_or_default(),
            query_weights: self.extras.query_weights.as_ref().map(|_| picked(&query_weights, &by_id)),
            feature_names: self.feature_names.clone(),
            f64_features,
            keys,
            qids,
            bounds,
            doc_ids,
            input_row,
            feature_ids: Vec::new(),
        })
    }

    fn check_labels(&self) -> Result<(), DataError> {
        let bad = |label: f32| !(label.is_finite() && label >= 0.0);
        let mut labels = self.blocks.iter().flat_map(|block| block.labels.iter());
        match labels.by_ref().enumerate().find(|(_, label)| bad(**label)) {
            Some((idx, label)) => Err(DataError::Label { row: idx + 1, label: *label }),
            None => Ok(()),
        }
    }

    /// Numbers the queries in order of first appearance.
    fn number_queries(&self, n_rows: usize) -> Result<QueryNumbers, DataError> {
        let mut numbers = QueryNumbers { ids: StringTable::default(), of_row: Vec::with_capacity(n_rows) };
        if let Some(sizes) = &self.group_sizes {
            // Compare with the row count at each step: sizes are input, and their sum could overflow.
            for (idx, size) in sizes.iter().enumerate() {
                if *size > n_rows - numbers.of_row.len() {
                    let sum = sizes.iter().fold(0usize, |sum, size| sum.saturating_add(*size));
                    return Err(DataError::GroupSizes { sum, rows: n_rows });
                }
                if *size > 0 {
                    numbers.of_row.resize(numbers.of_row.len() + size, numbers.ids.len() as u32);
                    numbers.ids.push(&(idx + 1).to_string());
                }
            }
            if numbers.of_row.len() != n_rows {
                return Err(DataError::GroupSizes { sum: numbers.of_row.len(), rows: n_rows });
            }
            return Ok(numbers);
        }
        let mut known: HashMap<&str, u32> = HashMap::new();
        for block in &self.blocks {
            let mut start = 0;
            for (run, end) in block.run_ends.iter().enumerate() {
                let qid = block.run_qids.get(run);
                let query = *known.entry(qid).or_insert_with(|| {
                    numbers.ids.push(qid);
                    numbers.ids.len() as u32 - 1
                });
                numbers.of_row.resize(numbers.of_row.len() + end - start, query);
                start = *end;
            }
        }
        Ok(numbers)
    }
}

/// The bounds of the queries, and the rows in order. One pass groups rows by query; each query is then sorted by key.
fn canonical_order(queries: &QueryNumbers, by_id: &[u32], keys: &[RowKey]) -> (Vec<usize>, Vec<u32>) {
    let mut rank = vec![0u32; by_id.len()];
    by_id.iter().enumerate().for_each(|(position, query)| rank[*query as usize] = position as u32);
    let mut bounds = vec![0usize; by_id.len() + 1];
    queries.of_row.iter().for_each(|query| bounds[rank[*query as usize] as usize + 1] += 1);
    (1..bounds.len()).for_each(|query| bounds[query] += bounds[query - 1]);

    let mut next = bounds.clone();
    let mut order = vec![0u32; queries.of_row.len()];
    for (row, query) in (0u32..).zip(&queries.of_row) {
        let place = &mut next[rank[*query as usize] as usize];
        order[*place] = row;
        *place += 1;
    }
    let mut rest = &mut order[..];
    let mut parts = Vec::with_capacity(by_id.len());
    for bound in bounds.windows(2) {
        let (part, after) = rest.split_at_mut(bound[1] - bound[0]);
        parts.push(part);
        rest = after;
    }
    parts.into_par_iter().for_each(|part| part.par_sort_unstable_by_key(|row| (keys[*row as usize], *row)));
    (bounds, order)
}

/// Replaces infinite values by the largest finite ones, which keeps the order.
#[inline]
pub(crate) fn finite(value: f32) -> f32 {
    value.clamp(-f32::MAX, f32::MAX)
}

fn picked<T: Copy>(all: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|place| all[*place as usize]).collect()
}

/// Queries, numbered by first appearance.
pub(crate) struct QueryNumbers {
    pub(crate) ids: StringTable,
    pub(crate) of_row: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Doc = (u8, f32, Vec<(u32, f32)>);

    fn build(docs: &[Doc], absent: Absent, cut: usize) -> Dataset {
        let mut builder = DatasetBuilder::new(absent);
        for part in docs.chunks(cut.max(1)) {
            let mut block = RowBlock::default();
            for (qid, label, features) in part {
                block.start_row(&format!("q{qid}"), *label, "");
                for (feature, value) in features {
                    block.push_value(*feature, *value);
                }
                block.finish_row().unwrap();
            }
            builder.push_block(block);
        }
        builder.finish().unwrap()
    }

    fn docs() -> impl Strategy<Value = Vec<Doc>> {
        let value = prop_oneof![Just(0.0f32), Just(f32::NAN), -2.0f32..2.0];
        let features = prop::collection::btree_map(0u32..40, value, 0..8).prop_map(|map| map.into_iter().collect());
        prop::collection::vec((0u8..5, (0u8..3).prop_map(f32::from), features), 1..60)
    }

    proptest! {
        /// The dataset does not depend on the order of rows, and `input_row` gives the original place of each row.
        #[test]
        fn order_of_input_does_not_show(
            docs in docs(), shift in 0usize..60, cut in 1usize..20, zero in any::<bool>(),
        ) {
            let absent = if zero { Absent::Zero } else { Absent::Missing };
            let first = build(&docs, absent, cut);
            let mut moved = docs.clone();
            moved.rotate_left(shift % docs.len());
            moved.reverse();
            let second = build(&moved, absent, 7);
            prop_assert_eq!(first.fingerprint(), second.fingerprint());
            prop_assert_eq!(first.labels(), second.labels());
            prop_assert_eq!(first.feature_ids(), second.feature_ids());
            for row in 0..first.n_rows() {
                let (_, label, features) = &docs[first.input_row()[row] as usize];
                prop_assert_eq!(first.labels()[row], *label);
                for (slot, id) in first.feature_ids().iter().enumerate() {
                    let typed = features.iter().find(|(feature, _)| feature == id).map(|(_, value)| *value);
                    let expected = typed.unwrap_or(if zero { 0.0 } else { f32::NAN });
                    let (a, b) = (first.column(slot).get(row), second.column(slot).get(row));
                    prop_assert!(a == expected || (a.is_nan() && expected.is_nan()), "{} is not {}", a, expected);
                    prop_assert!(a == b || (a.is_nan() && b.is_nan()));
                }
            }
        }
    }

    #[test]
    fn a_query_may_be_scattered_over_the_input() {
        let mut builder = DatasetBuilder::default();
        for (qid, label) in [("b", 1.0), ("a", 2.0), ("b", 0.0), ("10", 3.0), ("9", 1.0)] {
            builder.push(&Row { qid, label, ..Row::default() }).unwrap();
        }
        let data = builder.finish().unwrap();
        let ids: Vec<&str> = (0..data.n_queries()).map(|query| data.query(query).id).collect();
        assert_eq!(ids, ["10", "9", "a", "b"]);
        assert_eq!(data.query(3).labels.len(), 2);
    }

    #[test]
    fn sizes_name_queries_by_position_and_must_fit() {
        let rows = |sizes: Vec<usize>| {
            let mut builder = DatasetBuilder::default();
            for row in 0..3u8 {
                builder.push(&Row { label: row.into(), ..Row::default() }).unwrap();
            }
            builder.group_sizes(sizes);
            builder.finish()
        };
        let data = rows(vec![1, 2]).unwrap();
        assert_eq!((data.query(0).id, data.query(1).id, data.query(1).labels.len()), ("1", "2", 2));
        for sizes in [vec![1, 1], vec![2, 2], vec![usize::MAX, usize::MAX]] {
            assert!(matches!(rows(sizes), Err(DataError::GroupSizes { rows: 3, .. })));
        }
    }

    #[test]
    fn bad_numbers_are_refused_by_row() {
        for label in [-1.0, f32::NAN, f32::INFINITY] {
            let mut builder = DatasetBuilder::default();
            builder.push(&Row { qid: "q", ..Row::default() }).unwrap();
            builder.push(&Row { qid: "q", label, ..Row::default() }).unwrap();
            assert!(matches!(builder.finish(), Err(DataError::Label { row: 2, .. })));
        }
        let mut builder = DatasetBuilder::default();
        let twice = Row { qid: "q", features: &[(3, 1.0), (1, 0.0), (3, 2.0)], ..Row::default() };
        assert_eq!(builder.push(&twice), Err(DataError::DuplicateFeature { row: 1, feature: 3 }));
        assert!(matches!(DatasetBuilder::default().finish(), Err(DataError::Empty)));
    }

    #[test]
    fn weights_that_multiply_to_infinity_are_refused() {
        let mut builder = DatasetBuilder::default();
        for qid in ["a", "b"] {
            builder.push(&Row { qid, ..Row::default() }).unwrap();
        }
        builder.row_weights(vec![1.0, 1e20]);
        builder.query_weights(vec![1e20, 1e20]);
        assert!(matches!(builder.finish(), Err(DataError::WeightProduct { row: 2 })));
    }

    #[test]
    fn weights_follow_their_rows_and_queries() {
        let mut builder = DatasetBuilder::default();
        for (qid, label) in [("b", 1.0), ("a", 2.0), ("b", 0.0)] {
            builder.push(&Row { qid, label, ..Row::default() }).unwrap();
        }
        builder.row_weights(vec![0.1, 0.2, 0.3]);
        builder.query_weights(vec![5.0, 7.0]);
        let data = builder.finish().unwrap();
        assert_eq!((data.query(0).id, data.query(0).weight, data.query(1).weight), ("a", 7.0, 5.0));
        for row in 0..3 {
            assert_eq!(data.weight(row), [0.1, 0.2, 0.3][data.input_row()[row] as usize]);
        }
    }
}
