//! Datasets from values in memory: dense rows, columns, or sparse rows (CSR).
//!
//! The id of a feature is its column number, from 0. Rows get the same canonical order as rows from a file, so the same
//! rows always make the same dataset.

use std::fmt::{Display, Write as _};

use rayon::prelude::*;

use crate::decimal::are_f32;
use crate::grid::{Grid, Layout};
use crate::{
    Absent, BinningParams, CachedDataset, ColumnValues, DataError, Dataset, DatasetBuilder, Keep, Pair, RowBlock,
    StringTable,
};

/// Number of rows per task, and of values that are converted together.
const TASK_ROWS: usize = 4096;

/// A type of feature values: f32, or f64 with the precision that [`Keep`] selects. NaN is missing. Infinite values
/// become the largest finite ones, which keeps the order.
pub trait FeatureValue: Copy + Send + Sync + Into<f64> {
    /// Rounded.
    fn to_f32(self) -> f32;

    /// Whether all values are exactly representable as f32, whatever their type.
    fn are_f32(values: &[Self]) -> bool;
}

impl FeatureValue for f32 {
    fn are_f32(_: &[Self]) -> bool {
        true
    }

    fn to_f32(self) -> f32 {
        self
    }
}

impl FeatureValue for f64 {
    fn are_f32(values: &[Self]) -> bool {
        values.par_chunks(1 << 16).all(are_f32)
    }

    fn to_f32(self) -> f32 {
        self as f32
    }
}

impl Dataset {
    /// A dataset from dense rows, one after another, each with a value for every feature.
    ///
    /// ```
    /// use rankwise_data::Dataset;
    ///
    /// let values = [0.9, 3.0, 0.1, 1.0, 0.4, 2.0];
    /// let data = Dataset::from_dense(&values, 2).labels(&[1, 0, 2]).qids(&["q1", "q1", "q2"]).build()?;
    /// assert_eq!((data.n_rows(), data.n_queries(), data.feature_ids()), (3, 2, &[0, 1][..]));
    /// # Ok::<(), rankwise_data::DataError>(())
    /// ```
    pub fn from_dense<T: FeatureValue>(values: &[T], n_features: usize) -> ValuesBuilder<'_, T> {
        ValuesBuilder::new(Values::Dense { values, n_features })
    }

    /// A dataset from columns: the values of feature 0 in all rows, then those of feature 1, ...
    ///
    /// ```
    /// use rankwise_data::Dataset;
    ///
    /// let data = Dataset::from_columns(&[&[0.9, 0.1, 0.4], &[3.0, 1.0, f64::NAN]])
    ///     .labels(&[1.0, 0.0, 2.0])
    ///     .group_sizes(&[2, 1])
    ///     .feature_names(&["bm25", "clicks"])
    ///     .build()?;
    /// assert_eq!(data.feature_name(1), Some("clicks"));
    /// # Ok::<(), rankwise_data::DataError>(())
    /// ```
    pub fn from_columns<T: FeatureValue, C: AsRef<[T]>>(columns: &[C]) -> ValuesBuilder<'_, T> {
        ValuesBuilder::new(Values::Columns(columns.iter().map(AsRef::as_ref).collect()))
    }

    /// A dataset from sparse rows. Row `r` has the features `indices[indptr[r]..indptr[r + 1]]`, in any order, with the
    /// values at the same indices. Absent features are missing, or 0 after [`ValuesBuilder::absent`].
    ///
    /// ```
    /// use rankwise_data::{Absent, Dataset};
    ///
    /// // The second row has no feature at all.
    /// let (indptr, indices, values) = ([0, 2, 2, 3], [0, 7, 7], [0.9, 3.0, 2.0]);
    /// let data = Dataset::from_csr(&indptr, &indices, &values).absent(Absent::Zero).qids(&[10, 10, 10]).build()?;
    /// assert_eq!(data.feature_ids(), [0, 7]);
    /// # Ok::<(), rankwise_data::DataError>(())
    /// ```
    pub fn from_csr<'a, T: FeatureValue>(
        indptr: &[impl Copy + TryInto<usize>],
        indices: &[impl Copy + TryInto<u32>],
        values: &'a [T],
    ) -> ValuesBuilder<'a, T> {
        // An offset that does not fit exceeds every limit and is rejected for that.
        let indptr = indptr.iter().map(|start| (*start).try_into().unwrap_or(usize::MAX)).collect();
        let indices = indices.iter().map(|feature| (*feature).try_into().unwrap_or(u32::MAX)).collect();
        ValuesBuilder::new(Values::Csr { indptr, indices, values })
    }
}

/// Builds a [`Dataset`] from values in memory. Everything but the values and the queries is optional. Rows are given in
/// input order; scores are returned in the same order.
#[derive(Clone, Debug)]
#[must_use = "`build` makes the data set"]
pub struct ValuesBuilder<'a, T> {
    values: Values<'a, T>,
    absent: Absent,
    labels: Option<Vec<f32>>,
    queries: Queries,
    doc_ids: Option<StringTable>,
    weights: Option<Vec<f32>>,
    query_weights: Option<Vec<f32>>,
    positions: Option<Vec<u32>>,
    pairs: Option<Vec<Pair>>,
    feature_names: Option<Vec<String>>,
    keep: Keep,
}

#[derive(Clone, Debug)]
enum Values<'a, T> {
    Dense { values: &'a [T], n_features: usize },
    Columns(Vec<&'a [T]>),
    Csr { indptr: Vec<usize>, indices: Vec<u32>, values: &'a [T] },
}

#[derive(Clone, Debug)]
enum Queries {
    Unknown,
    /// The ids of runs of rows, and the run of each row.
    Ids {
        runs: StringTable,
        run_of: Vec<u32>,
    },
    Sizes(Vec<usize>),
}

impl<'a, T: FeatureValue> ValuesBuilder<'a, T> {
    fn new(values: Values<'a, T>) -> Self {
        Self {
            values,
            absent: Absent::Missing,
            labels: None,
            queries: Queries::Unknown,
            doc_ids: None,
            weights: None,
            query_weights: None,
            positions: None,
            pairs: None,
            feature_names: None,
            keep: Keep::default(),
        }
    }

    /// The label of each row, 0 or more; 0 by default, for data that is only scored.
    pub fn labels<L: Copy + Into<f64>>(self, labels: &[L]) -> Self {
        Self { labels: Some(rounded(labels)), ..self }
    }

    /// The query of each row, as an integer or a string. The rows of a query need not be adjacent.
    pub fn qids<Q: Display + PartialEq>(self, qids: &[Q]) -> Self {
        let (mut runs, mut run_of, mut id) = (StringTable::default(), Vec::with_capacity(qids.len()), String::new());
        for (row, qid) in qids.iter().enumerate() {
            if row == 0 || *qid != qids[row - 1] {
                id.clear();
                let _ = write!(id, "{qid}");
                runs.push(&id);
            }
            run_of.push(runs.len() as u32 - 1);
        }
        Self { queries: Queries::Ids { runs, run_of }, ..self }
    }

    /// The number of rows of each query, in order, for queries whose rows are adjacent (LightGBM's `group`). The query
    /// ids are then 1, 2, ...
    pub fn group_sizes(self, sizes: &[usize]) -> Self {
        Self { queries: Queries::Sizes(sizes.to_vec()), ..self }
    }

    /// The id of each document, or an empty string.
    pub fn doc_ids(self, ids: &[impl AsRef<str>]) -> Self {
        Self { doc_ids: Some(ids.iter().map(AsRef::as_ref).collect()), ..self }
    }

    /// The weight of each row; 1 by default.
    pub fn weights<W: Copy + Into<f64>>(self, weights: &[W]) -> Self {
        Self { weights: Some(rounded(weights)), ..self }
    }

    /// The weight of each query, in order of first appearance; 1 by default.
    pub fn query_weights<W: Copy + Into<f64>>(self, weights: &[W]) -> Self {
        Self { query_weights: Some(rounded(weights)), ..self }
    }

    /// The position at which each row was shown.
    pub fn positions(self, positions: &[u32]) -> Self {
        Self { positions: Some(positions.to_vec()), ..self }
    }

    /// Preferences between rows of a query; rows are numbered from 0.
    pub fn pairs(self, pairs: &[Pair]) -> Self {
        Self { pairs: Some(pairs.to_vec()), ..self }
    }

    /// The name of each feature.
    pub fn feature_names(self, names: &[impl AsRef<str>]) -> Self {
        Self { feature_names: Some(names.iter().map(|name| name.as_ref().to_owned()).collect()), ..self }
    }

    /// How to keep values that f32 cannot represent.
    ///
    /// ```
    /// use rankwise_data::{Dataset, Keep};
    ///
    /// let seconds = [1_700_000_001.0, 1_700_000_030.0];
    /// let data = Dataset::from_dense(&seconds, 1).qids(&[1, 1]).build()?;
    /// assert_eq!(data.f64_features(), [0], "as f32 they would be equal");
    /// let data = Dataset::from_dense(&seconds, 1).qids(&[1, 1]).keep(Keep::Rounded).build()?;
    /// assert_eq!(data.column(0).get(0), data.column(0).get(1));
    /// # Ok::<(), rankwise_data::DataError>(())
    /// ```
    pub fn keep(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// The meaning of features that are absent from a sparse row. It must be the same in training and in scoring.
    pub fn absent(self, absent: Absent) -> Self {
        Self { absent, ..self }
    }

    /// Checks that everything is consistent, and sorts the rows.
    pub fn build(mut self) -> Result<Dataset, DataError> {
        let n_rows = self.values.check()?;
        self.check(n_rows)?;
        if self.values.are_f32() {
            self.keep = Keep::Rounded;
        }
        let mut builder = DatasetBuilder::new(self.absent);
        if self.keep == Keep::All {
            builder.widen_all();
        }
        self.push_rows(n_rows, &mut builder)?;
        self.add_extras(&mut builder);
        builder.finish()
    }

    /// Checks and sorts the rows like [`Self::build`], but keeps only the bins of the values, which is all that training
    /// needs. Dense values are binned where they are, so this takes less time and memory than a [`Dataset`].
    ///
    /// ```
    /// use rankwise_data::{BinningSpec, Dataset};
    ///
    /// let values = [0.9, 3.0, 0.1, 1.0, 0.4, 2.0];
    /// let data = Dataset::from_dense(&values, 2).labels(&[1, 0, 2]).qids(&[1, 1, 2]);
    /// let binned = data.build_binned(&BinningSpec::default().check()?)?;
    /// assert_eq!((binned.docs().n_rows(), binned.docs().feature_ids()), (3, &[0, 1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn build_binned(mut self, params: &BinningParams) -> Result<CachedDataset, DataError> {
        let n_rows = self.values.check()?;
        let columns;
        let layout = match &self.values {
            Values::Dense { values, n_features } => Layout::Rows { values, n_features: *n_features },
            Values::Columns(borrowed) => {
                columns = borrowed.clone();
                Layout::Columns(&columns)
            }
            Values::Csr { .. } => return CachedDataset::new(&self.build()?, params),
        };
        self.check(n_rows)?;
        let grid = Grid { layout, keeps_f64: self.keep != Keep::Rounded };
        let mut builder = DatasetBuilder::new(self.absent);
        builder.push_block(self.block_without_values(n_rows));
        self.add_extras(&mut builder);
        let mut docs = builder.finish_documents(&grid)?;
        let (feature_ids, binned) = grid.bin(&docs, params);
        docs.feature_ids = feature_ids;
        Ok(CachedDataset::of_binned(docs, binned, params))
    }

    /// Moves everything but the rows to the builder.
    fn add_extras(&mut self, builder: &mut DatasetBuilder) {
        if let Queries::Sizes(sizes) = &mut self.queries {
            builder.group_sizes(std::mem::take(sizes));
        }
        if let Some(weights) = self.weights.take() {
            builder.row_weights(weights);
        }
        if let Some(weights) = self.query_weights.take() {
            builder.query_weights(weights);
        }
        if let Some(positions) = self.positions.take() {
            builder.positions(positions);
        }
        if let Some(pairs) = self.pairs.take() {
            builder.pairs(pairs);
        }
        if let Some(names) = self.feature_names.take() {
            builder.feature_names((0..).zip(names).collect());
        }
    }

    fn check(&self, n_rows: usize) -> Result<(), DataError> {
        let one_each = |what: &'static str, given: Option<usize>| match given {
            Some(given) if given != n_rows => Err(DataError::Length { what, given, expected: n_rows, of: "rows" }),
            _ => Ok(()),
        };
        one_each("labels", self.labels.as_ref().map(Vec::len))?;
        one_each("document ids", self.doc_ids.as_ref().map(StringTable::len))?;
        match &self.queries {
            Queries::Unknown if n_rows > 0 => return Err(DataError::NoQueries),
            Queries::Ids { runs, run_of } => {
                one_each("query ids", Some(run_of.len()))?;
                if let Some(row) = run_of.iter().position(|run| runs.get(*run as usize).is_empty()) {
                    return Err(DataError::EmptyQueryId { row: row + 1 });
                }
            }
            Queries::Unknown | Queries::Sizes(_) => {}
        }
        self.feature_names.as_deref().map_or(Ok(()), |names| check_names(names, self.values.n_features()))
    }

    /// Adds the rows to the builder, in columns or blocks that are filled in parallel.
    fn push_rows(&self, n_rows: usize, builder: &mut DatasetBuilder) -> Result<(), DataError> {
        let columns = match &self.values {
            Values::Dense { values, n_features } => self.transposed(values, *n_features),
            Values::Columns(columns) => {
                let column = |values: &&[T]| {
                    let mut column = ColumnValues::expecting(n_rows);
                    self.append(&mut column, values);
                    column
                };
                columns.par_iter().map(column).collect()
            }
            Values::Csr { indptr, indices, values } => {
                return self.push_sparse(n_rows, (indptr, indices, values), builder);
            }
        };
        let mut block = self.block_without_values(n_rows);
        let ids: Vec<u32> = (0..columns.len() as u32).collect();
        block.set_columns(&ids, columns);
        builder.push_block(block);
        Ok(())
    }

    fn block_without_values(&self, n_rows: usize) -> RowBlock {
        let mut block = RowBlock::default();
        (0..n_rows).for_each(|row| self.start_row(&mut block, row));
        block
    }

    fn append(&self, column: &mut ColumnValues, values: &[T]) {
        if self.keep == Keep::Rounded {
            column.append(|out| out.extend(values.iter().map(|value| value.to_f32())));
            return;
        }
        for values in values.chunks(TASK_ROWS) {
            let numbers: Vec<f64> = values.iter().map(|value| (*value).into()).collect();
            if self.keep == Keep::All {
                column.append_f64(&numbers);
            } else {
                column.append_where_needed(&numbers);
            }
        }
    }

    /// The columns of dense rows. The columns of a cache line are made together, from a few rows at a time, so that every
    /// line is loaded once.
    fn transposed(&self, values: &[T], n_features: usize) -> Vec<ColumnValues> {
        let n_rows = values.len() / n_features;
        let n_together = (64 / size_of::<T>()).max(1);
        let starts: Vec<usize> = (0..n_features).step_by(n_together).collect();
        let group = |start: usize| {
            let places = start..n_features.min(start + n_together);
            let mut columns: Vec<ColumnValues> = places.clone().map(|_| ColumnValues::expecting(n_rows)).collect();
            let mut part = Vec::with_capacity(TASK_ROWS);
            for rows in values.chunks(TASK_ROWS * n_features) {
                for (place, column) in places.clone().zip(&mut columns) {
                    part.clear();
                    part.extend(rows.iter().skip(place).step_by(n_features).copied());
                    self.append(column, &part);
                }
            }
            columns
        };
        starts.into_par_iter().flat_map_iter(group).collect()
    }

    fn push_sparse(
        &self,
        n_rows: usize,
        (indptr, indices, values): (&[usize], &[u32], &[T]),
        builder: &mut DatasetBuilder,
    ) -> Result<(), DataError> {
        let starts: Vec<usize> = (0..n_rows).step_by(TASK_ROWS).collect();
        let block = |start: usize| self.sparse_block(start..n_rows.min(start + TASK_ROWS), indptr, indices, values);
        let blocks: Vec<Result<RowBlock, DataError>> = starts.into_par_iter().map(block).collect();
        for block in blocks {
            builder.push_block(block?);
        }
        Ok(())
    }

    fn sparse_block(
        &self,
        rows: std::ops::Range<usize>,
        indptr: &[usize],
        indices: &[u32],
        values: &[T],
    ) -> Result<RowBlock, DataError> {
        let mut block = RowBlock::default();
        for row in rows {
            self.start_row(&mut block, row);
            let places = indptr[row]..indptr[row + 1];
            for (feature, value) in indices[places.clone()].iter().zip(&values[places]) {
                if self.keep == Keep::Rounded {
                    block.push_value(*feature, value.to_f32());
                } else {
                    block.push_f64(*feature, (*value).into());
                }
            }
            block.finish_row().map_err(|feature| DataError::DuplicateFeature { row: row + 1, feature })?;
        }
        Ok(block)
    }

    fn start_row(&self, block: &mut RowBlock, row: usize) {
        let qid = match &self.queries {
            Queries::Ids { runs, run_of } => runs.get(run_of[row] as usize),
            Queries::Unknown | Queries::Sizes(_) => "",
        };
        let label = self.labels.as_ref().map_or(0.0, |labels| labels[row]);
        block.start_row(qid, label, self.doc_ids.as_ref().map_or("", |ids| ids.get(row)));
    }
}

impl<T: FeatureValue> Values<'_, T> {
    fn are_f32(&self) -> bool {
        match self {
            Self::Dense { values, .. } | Self::Csr { values, .. } => T::are_f32(values),
            Self::Columns(columns) => columns.iter().all(|values| T::are_f32(values)),
        }
    }

    /// The number of rows, if the shape of the values is valid.
    fn check(&self) -> Result<usize, DataError> {
        match self {
            Self::Dense { values, n_features } => {
                if *n_features == 0 || values.len() % n_features != 0 {
                    return Err(DataError::Shape { values: values.len(), features: *n_features });
                }
                Ok(values.len() / n_features)
            }
            Self::Columns(columns) => {
                let n_rows = columns.first().map_or(0, |column| column.len());
                match columns.iter().position(|column| column.len() != n_rows) {
                    Some(column) => Err(DataError::Column { column, given: columns[column].len(), expected: n_rows }),
                    None => Ok(n_rows),
                }
            }
            Self::Csr { indptr, indices, values } => check_csr(indptr, indices, values.len()),
        }
    }

    /// The number of features, if known.
    fn n_features(&self) -> usize {
        match self {
            Self::Dense { n_features, .. } => *n_features,
            Self::Columns(columns) => columns.len(),
            Self::Csr { indices, .. } => indices.iter().max().map_or(0, |last| *last as usize + 1),
        }
    }
}

fn check_csr(indptr: &[usize], indices: &[u32], n_values: usize) -> Result<usize, DataError> {
    let fault = |problem: String| Err(DataError::Csr { problem });
    if indices.len() != n_values {
        return Err(DataError::Length { what: "indices", given: indices.len(), expected: n_values, of: "values" });
    }
    if let Some(place) = indices.iter().position(|feature| *feature == u32::MAX) {
        return fault(format!("index {place} is not between 0 and {}", u32::MAX - 1));
    }
    match (indptr.first(), indptr.last()) {
        (Some(0), Some(last)) if *last == n_values => {}
        (Some(0), Some(last)) => return fault(format!("indptr ends with {last}, but there are {n_values} values")),
        (Some(first), _) => return fault(format!("indptr starts with {first}, not with 0")),
        (None, _) => return fault("indptr is empty, but must have one entry more than there are rows".into()),
    }
    match indptr.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(row) => fault(format!("indptr decreases from {} to {} at row {}", indptr[row], indptr[row + 1], row + 1)),
        None => Ok(indptr.len() - 1),
    }
}

/// Checks that each feature has a unique name, by which a model can find it. Sparse rows may lack the last features.
fn check_names(names: &[String], n_features: usize) -> Result<(), DataError> {
    if names.len() < n_features {
        return Err(DataError::Length {
            what: "feature names",
            given: names.len(),
            expected: n_features,
            of: "features",
        });
    }
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1] || pair[0].is_empty()) {
        Some(pair) => Err(DataError::FeatureName { name: pair[0].to_owned() }),
        None if sorted == [""] => Err(DataError::FeatureName { name: String::new() }),
        None => Ok(()),
    }
}

fn rounded<N: Copy + Into<f64>>(numbers: &[N]) -> Vec<f32> {
    numbers.iter().map(|number| (*number).into() as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;

    /// Four rows of three features; the row of query a is between rows of query b.
    const VALUES: [f32; 12] = [1.0, f32::NAN, 0.5, 2.0, 4.0, 0.0, 3.0, -1.0, f32::NAN, 1.0, 0.25, 7.0];
    const LABELS: [u8; 4] = [2, 0, 1, 0];
    const QIDS: [&str; 4] = ["7", "7", "12", "7"];

    fn by_rows() -> Dataset {
        let mut builder = DatasetBuilder::default();
        for row in 0..4 {
            let features: Vec<(u32, f32)> = (0..).zip(VALUES[3 * row..][..3].iter().copied()).collect();
            let label = f32::from(LABELS[row]);
            builder.push(&Row { qid: QIDS[row], label, doc_id: "", features: &features }).unwrap();
        }
        builder.finish().unwrap()
    }

    fn assert_same(found: &Dataset, expected: &Dataset) {
        assert_eq!(found.fingerprint(), expected.fingerprint());
        assert_eq!((found.labels(), found.input_row()), (expected.labels(), expected.input_row()));
        assert_eq!(found.feature_ids(), expected.feature_ids());
    }

    #[test]
    fn rows_columns_and_sparse_rows_make_the_same_data() {
        let expected = by_rows();
        assert_same(&Dataset::from_dense(&VALUES, 3).labels(&LABELS).qids(&QIDS).build().unwrap(), &expected);
        let wide = VALUES.map(f64::from);
        assert_same(&Dataset::from_dense(&wide, 3).labels(&LABELS).qids(&[7, 7, 12, 7]).build().unwrap(), &expected);
        let columns: Vec<Vec<f32>> =
            (0..3).map(|column| (0..4).map(|row| VALUES[3 * row + column]).collect()).collect();
        assert_same(&Dataset::from_columns(&columns).labels(&LABELS).qids(&QIDS).build().unwrap(), &expected);
        // Missing values are omitted, and the features of a row are in any order.
        let (indptr, indices) = ([0i64, 2, 5, 7, 10], [2i32, 0, 0, 1, 2, 1, 0, 0, 1, 2]);
        let values = [0.5, 1.0, 2.0, 4.0, 0.0, -1.0, 3.0, 1.0, 0.25, 7.0];
        let sparse = Dataset::from_csr(&indptr, &indices, &values).labels(&LABELS).qids(&QIDS);
        assert_same(&sparse.build().unwrap(), &expected);
    }

    #[test]
    fn what_belongs_to_rows_comes_along() {
        let data = Dataset::from_dense(&VALUES, 3)
            .group_sizes(&[3, 1])
            .weights(&[1.0, 0.5, 2.0, 3.0])
            .query_weights(&[1, 4])
            .positions(&[1, 2, 3, 1])
            .doc_ids(&["a", "b", "c", "d"])
            .pairs(&[Pair::new(2, 0)])
            .feature_names(&["x", "y", "z"])
            .build()
            .unwrap();
        let row = |id: &str| (0..4).find(|row| data.doc_id(*row) == id).unwrap();
        assert_eq!((data.weight(row("c")), data.query_weight(1)), (2.0, 4.0));
        assert_eq!(data.positions().unwrap()[row("b")], 2);
        assert_eq!((data.pairs()[0].winner as usize, data.pairs()[0].loser as usize), (row("c"), row("a")));
        assert_eq!(data.feature_name(2), Some("z"));
        assert_eq!(data.to_input_order(data.labels()), [0.0; 4], "no labels are labels of 0");
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_both_numbers() {
        let said =
            |builder: ValuesBuilder<'_, f32>| builder.build().map_or_else(|error| error.to_string(), |_| "fine".into());
        let data = || Dataset::from_dense(&VALUES, 3).qids(&QIDS);
        for (builder, expected) in [
            (data(), "fine"),
            (Dataset::from_dense(&VALUES, 5).qids(&QIDS), "12 values cannot be divided into rows of 5 features"),
            (Dataset::from_dense(&VALUES, 0).qids(&QIDS), "12 values cannot be divided into rows of 0 features"),
            (Dataset::from_dense(&VALUES[..0], 3), "there are no rows"),
            (Dataset::from_dense(&VALUES, 3), "the rows have no queries"),
            (data().qids(&["a", "b"]), "the number of query ids is 2, but the number of rows is 4"),
            (data().qids(&["a", "b", "", "c"]), "row 3: the query id is empty"),
            (data().labels(&[1.0]), "the number of labels is 1, but the number of rows is 4"),
            (data().labels(&[1.0, 2.0, f64::NAN, 0.0]), "row 3: label NaN"),
            (data().doc_ids(&["a"; 5]), "the number of document ids is 5, but the number of rows is 4"),
            (data().weights(&[1.0]), "1"),
            (data().positions(&[1, 2, 3]), "3"),
            (data().query_weights(&[1.0]), "1"),
            (data().group_sizes(&[1, 2]), "the query sizes add up to 3, but there are 4 rows"),
            (data().feature_names(&["a", "b"]), "the number of feature names is 2, but the number of features is 3"),
            (data().feature_names(&["a", "b", "a"]), "\"a\" is empty or the name of two features"),
            (data().feature_names(&["a", "b", ""]), "\"\" is empty or the name of two features"),
        ] {
            let found = said(builder);
            assert!(found.contains(expected), "{found} should say {expected}");
        }
        let columns: [&[f32]; 2] = [&[1.0, 2.0], &[1.0]];
        assert!(
            said(Dataset::from_columns(&columns).qids(&[1, 1])).contains("column 1 has 1 values, but column 0 has 2")
        );
        let values = [1.0f32, 2.0];
        for (indptr, indices, expected) in [
            (&[0, 1, 2][..], &[0, 0][..], "fine"),
            (&[0, 2], &[0, 0], "row 1: feature 0 is given twice"),
            (&[0, 1], &[0, 0], "indptr ends with 1, but there are 2 values"),
            (&[1, 2], &[0, 0], "indptr starts with 1, not with 0"),
            (&[0, 2, 1, 2], &[0, 1], "indptr decreases from 2 to 1 at row 2"),
            (&[], &[0, 0], "indptr is empty"),
            (&[0, 2], &[0, -1], "index 1 is not between 0 and"),
            (&[0, 2], &[0], "the number of indices is 1, but the number of values is 2"),
        ] {
            let qids = vec![1; indptr.len().saturating_sub(1)];
            let found = said(Dataset::from_csr(indptr, indices, &values).qids(&qids));
            assert!(found.contains(expected), "{found} should say {expected}");
        }
    }
}
