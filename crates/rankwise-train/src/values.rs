//! The values that a model's trees use, row by row, and the leaves that rows reach. Only for code that looks at trees
//! one by one; a scorer computes scores faster.

use std::ops::Range;

use rankwise_data::Dataset;
use rankwise_model::{Model, Precision, Tree};
use rayon::prelude::*;

use crate::start::Start;

/// Number of rows per task.
const ROWS_PER_TASK: usize = 1024;

/// Some rows of a dataset, as a model sees them.
pub(crate) struct Values {
    /// Row by row, in the order of the model's features.
    numbers: Vec<f64>,
    n_features: usize,
    n_rows: usize,
}

impl Values {
    /// A feature that no document has gets the value of absent features in the data.
    pub(crate) fn new(model: &Model, data: &Dataset, rows: Range<usize>) -> Self {
        let (n_features, n_rows) = (model.features().len(), rows.len());
        let mut numbers = vec![f64::from(data.absent().value()); n_features * n_rows];
        for (slot, feature) in model.features().iter().enumerate() {
            let Some(values) = data.f64_values_of(*feature) else { continue };
            let mut set = |row: usize, value: f64| numbers[row * n_features + slot] = value;
            match model.precision() {
                Precision::F32 => {
                    values.rounded().for_each_in(rows.start, rows.end, |row, value| set(row, f64::from(value)));
                }
                Precision::F64 => values.for_each_in(rows.start, rows.end, set),
            }
        }
        Self { numbers, n_features, n_rows }
    }

    /// The leaf of a tree that a row reaches.
    pub(crate) fn leaf(&self, tree: &Tree, row: usize) -> usize {
        let values = &self.numbers[row * self.n_features..(row + 1) * self.n_features];
        let parts = tree.parts();
        tree.walk(|node| {
            let value = values[parts.feature[node] as usize];
            if value.is_nan() { parts.missing_left[node] } else { value <= parts.threshold[node] }
        })
    }

    /// The leaves of all rows.
    pub(crate) fn leaves(&self, tree: &Tree) -> Vec<u32> {
        let rows = (0..self.n_rows).into_par_iter().with_min_len(ROWS_PER_TASK);
        rows.map(|row| self.leaf(tree, row) as u32).collect()
    }
}

/// The raw outputs of a model, including base scores: for all rows and the first output, then for the second, ...
pub(crate) fn outputs_of(Start { model, ensemble }: Start<'_>, data: &Dataset) -> Vec<f64> {
    let base_scores = ensemble.base_scores();
    let (n_rows, n_outputs) = (data.n_rows(), base_scores.len());
    let starts = (0..n_rows).step_by(ROWS_PER_TASK).collect::<Vec<_>>();
    let of_rows = |first: usize| {
        let rows = first..n_rows.min(first + ROWS_PER_TASK);
        let values = Values::new(model, data, rows.clone());
        let mut outputs: Vec<f64> =
            base_scores.iter().flat_map(|score| std::iter::repeat_n(*score, rows.len())).collect();
        for (idx, tree) in ensemble.trees().iter().enumerate() {
            let plane = &mut outputs[idx % n_outputs * rows.len()..][..rows.len()];
            for (row, output) in plane.iter_mut().enumerate() {
                *output += tree.parts().leaf_value[values.leaf(tree, row)];
            }
        }
        outputs
    };
    let blocks: Vec<Vec<f64>> = starts.into_par_iter().map(of_rows).collect();
    let of_output = |output: usize| {
        blocks.iter().flat_map(move |block| {
            let n_rows = block.len() / n_outputs;
            block[output * n_rows..(output + 1) * n_rows].iter().copied()
        })
    };
    (0..n_outputs).flat_map(of_output).collect()
}
