//! Documents to be scored.

use std::ops::Range;

/// The type of feature values: `f32`, or `f64` for models that compare f64 values.
pub trait Value: Copy + Default + Into<f64> {
    /// Whether [`Self::narrow`] can change the value.
    const IS_WIDE: bool;

    /// The nearest f32.
    fn narrow(self) -> f32;
}

impl Value for f32 {
    const IS_WIDE: bool = false;

    fn narrow(self) -> f32 {
        self
    }
}

impl Value for f64 {
    const IS_WIDE: bool = true;

    fn narrow(self) -> f32 {
        self as f32
    }
}

/// A list of documents with the values of the model's features.
pub trait Documents {
    /// The type of their values.
    type Value: Value;

    /// The number of documents.
    fn n_docs(&self) -> usize;

    /// Writes the converted values of the documents in `docs`: all documents for the first of `features`, then for the
    /// next one. Features are indices into the model's list; NaN is missing.
    fn values<O>(&self, features: Range<usize>, docs: Range<usize>, convert: impl Fn(Self::Value) -> O, out: &mut [O]);
}

/// Number of documents read together.
const STRIP_DOCS: usize = 16;

/// Dense rows, each with the values of all features in the model's order, or of more columns.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    values: &'a [T],
    n_columns: usize,
    n_docs: usize,
    /// The column of each feature of the model, if not in this order.
    columns: Option<&'a [usize]>,
}

impl<'a, T> Rows<'a, T> {
    /// `n_docs` documents with the features of the model.
    ///
    /// # Panics
    /// If there is not a value for each feature of each document.
    pub fn new(values: &'a [T], n_features: usize, n_docs: usize) -> Self {
        assert_eq!(Some(values.len()), n_features.checked_mul(n_docs), "each document has a value for each feature");
        Self { values, n_columns: n_features, n_docs, columns: None }
    }

    /// `n_docs` documents of `n_columns` values; `columns` has the column of each feature of the model.
    ///
    /// # Panics
    /// If there is not a value for each column of each document, or a column that does not exist.
    pub fn with_columns(values: &'a [T], n_columns: usize, n_docs: usize, columns: &'a [usize]) -> Self {
        assert!(columns.iter().all(|column| *column < n_columns), "columns exist");
        Self { columns: Some(columns), ..Self::new(values, n_columns, n_docs) }
    }
}

impl<T: Value> Documents for Rows<'_, T> {
    type Value = T;

    fn n_docs(&self) -> usize {
        self.n_docs
    }

    fn values<O>(&self, features: Range<usize>, docs: Range<usize>, convert: impl Fn(T) -> O, out: &mut [O]) {
        let rows = &self.values[docs.start * self.n_columns..docs.end * self.n_columns];
        // Read the adjacent values of a few documents before going on to the next documents.
        for (strip, rows) in rows.chunks(STRIP_DOCS * self.n_columns.max(1)).enumerate() {
            for (feature, column) in features.clone().zip(out.chunks_exact_mut(docs.len())) {
                let place = self.columns.map_or(feature, |columns| columns[feature]);
                let column = column[strip * STRIP_DOCS..].iter_mut();
                for (value, row) in column.zip(rows.chunks_exact(self.n_columns)) {
                    *value = convert(row[place]);
                }
            }
        }
    }
}
