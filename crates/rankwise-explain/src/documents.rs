//! The documents of a dataset as a model sees them.

use std::ops::Range;

use rankwise_data::{Dataset, Draw, F64Values, Purpose};
use rankwise_eval::{DatasetRows, UnroundedRows};
use rankwise_model::{Model, Precision};
use rankwise_score::Documents as _;

/// A dataset, with the columns of a model's features.
#[derive(Clone, Debug)]
pub struct ModelDocs<'a> {
    pub(crate) data: &'a Dataset,
    columns: Vec<Option<F64Values<'a>>>,
    precision: Precision,
}

impl<'a> ModelDocs<'a> {
    /// A feature that no document has is missing, or 0 if absent features mean 0 in the data.
    pub fn new(model: &Model, data: &'a Dataset) -> Self {
        let columns = model.features().iter().map(|feature| data.f64_values_of(*feature)).collect();
        Self { data, columns, precision: model.precision() }
    }

    /// The dataset.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Some rows, in canonical order.
    pub fn rows(&self, rows: Range<usize>) -> UnroundedRows<'_> {
        UnroundedRows(DatasetRows { columns: &self.columns, absent: self.data.absent().value(), rows })
    }

    /// The values of a document, rounded as the model rounds them.
    pub fn values(&self, row: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.columns.len()];
        self.rows(row..row + 1).values(0..values.len(), 0..1, |value| self.precision.round(value), &mut values);
        values
    }

    /// The values of one feature in all documents, rounded.
    pub(crate) fn column(&self, feature: usize) -> Vec<f64> {
        let n_rows = self.data.n_rows();
        let mut values = vec![0.0; n_rows];
        self.rows(0..n_rows).values(feature..feature + 1, 0..n_rows, |value| self.precision.round(value), &mut values);
        values
    }

    /// Up to `n` rows, drawn at random by their keys; ascending.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<usize> {
        let draw = Draw::new(seed, Purpose::Explanation, u32::MAX);
        let mut rows: Vec<usize> = (0..self.data.n_rows()).collect();
        if n < rows.len() {
            rows.sort_by_cached_key(|row| (self.data.draw(&draw, *row).to_bits(), *row));
            rows.truncate(n);
            rows.sort_unstable();
        }
        rows
    }
}
