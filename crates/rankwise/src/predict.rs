//! Scores for the documents of a data set.

use rankwise_data::Dataset;
use rankwise_model::Model;
use rayon::prelude::*;

/// Documents whose values are gathered at a time.
const BLOCK_ROWS: usize = 256;

/// The score of every document, in canonical order. A feature that no document has is missing in all of
/// them, or 0, as the data says of what is left out.
pub fn predict(model: &Model, data: &Dataset) -> Vec<f64> {
    let columns: Vec<_> = model.features.iter().map(|feature| data.column_of(*feature)).collect();
    let n_features = columns.len();
    let mut scores = vec![0.0; data.n_rows()];
    scores.par_chunks_mut(BLOCK_ROWS).enumerate().for_each(|(block, scores)| {
        let start = block * BLOCK_ROWS;
        let mut values = vec![f64::from(data.absent().value()); scores.len() * n_features];
        for (slot, column) in columns.iter().enumerate() {
            if let Some(column) = column {
                column.for_each_in(start, start + scores.len(), |row, value| {
                    values[row * n_features + slot] = model.precision.round(value.into());
                });
            }
        }
        for (row, score) in scores.iter_mut().enumerate() {
            *score = model.score_rounded(&values[row * n_features..(row + 1) * n_features]);
        }
    });
    scores
}
