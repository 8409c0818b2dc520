//! An exported model held against its model, on data.

use rankwise_data::Dataset;
use rankwise_formats::{Arithmetic, Reading};
use rankwise_model::{Model, Tree, TreeParts};
use rankwise_score::Documents as _;
use rayon::prelude::*;

use crate::predict::{Part, TASK_DOCS, predict};

/// Half a step of f32 at 1: what rounding to f32 changes at most, relatively.
const F32_ROUNDING: f64 = 1.0 / 16_777_216.0;

/// All documents have the scores that they should have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExportAgreement {
    /// How many there are.
    pub documents: usize,
    /// How far a score is from ours at most: 0 where the program computes in f64.
    pub largest_difference: f64,
}

/// A document whose score is another.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "row {row}: the model gives {ours}, the exported file {theirs}, {}; do not use it for such data",
    if *bound > 0.0 { format!("which rounding to f32 explains up to {bound:e} only") } else { "where both should be equal".into() }
)]
pub struct ExportDifference {
    /// The row of the input, from 1.
    pub row: usize,
    /// The score that it should have.
    pub ours: f64,
    /// The score that it gets.
    pub theirs: f64,
    /// How far they may be apart.
    pub bound: f64,
}

/// Scores all documents with the model and with what was read back of its export. Where the other program computes in f64, scores
/// must be equal. Else leaves are rounded to f32 (by `m / 2^24` in all, if `m` is the sum of their absolute values), and so is the
/// sum after each tree (by as much again). Finds the first row of the input that is further off.
pub fn check_export(model: &Model, reading: &Reading, data: &Dataset) -> Result<ExportAgreement, ExportDifference> {
    let in_order = |scores: Vec<f64>| data.to_input_order(&scores);
    let ours = in_order(predict(model, data));
    // What its leaves add up to, in f64: tells a wrong leaf from what rounding of sums may hide.
    let leaves = in_order(predict(&reading.model, data));
    let is_wide = reading.arithmetic == Arithmetic::F64;
    let (theirs, sizes) = if is_wide {
        (leaves.clone(), vec![0.0; leaves.len()])
    } else {
        (in_order(scores_of(reading, data)), in_order(predict(&of_absolutes(model), data)))
    };
    let n_sums = model.trees.len() as f64 + 2.0;
    let mut largest_difference = 0.0_f64;
    for row in 0..ours.len() {
        // The second part is for what the sums of f64 lose.
        let leaf_bound = sizes[row] * (F32_ROUNDING + n_sums * f64::EPSILON) + f64::from(f32::MIN_POSITIVE) * n_sums;
        let sum_bound = leaf_bound + n_sums * F32_ROUNDING * sizes[row];
        for (score, bound) in [(leaves[row], leaf_bound), (theirs[row], sum_bound)] {
            let bound = if is_wide { 0.0 } else { bound };
            let difference = (score - ours[row]).abs();
            if difference.is_nan() || difference > bound {
                return Err(ExportDifference { row: row + 1, ours: ours[row], theirs: score, bound });
            }
        }
        largest_difference = largest_difference.max((theirs[row] - ours[row]).abs());
    }
    Ok(ExportAgreement { documents: ours.len(), largest_difference })
}

/// The other program's scores, in canonical order.
fn scores_of(reading: &Reading, data: &Dataset) -> Vec<f64> {
    let features = &reading.model.features;
    let columns: Vec<_> = features.iter().map(|feature| data.column_of(*feature)).collect();
    let mut scores = vec![0.0; data.n_rows()];
    scores.par_chunks_mut(TASK_DOCS).enumerate().for_each(|(task, scores)| {
        let (first, n_docs) = (task * TASK_DOCS, scores.len());
        let docs = Part { columns: &columns, absent: data.absent().value(), rows: first..first + n_docs };
        let mut by_feature = vec![0.0; features.len() * n_docs];
        docs.values(0..features.len(), 0..n_docs, f64::from, &mut by_feature);
        let mut values = vec![0.0; features.len()];
        for (doc, score) in scores.iter_mut().enumerate() {
            for (feature, value) in values.iter_mut().enumerate() {
                *value = by_feature[feature * n_docs + doc];
            }
            *score = reading.score(&values);
        }
    });
    scores
}

/// The model whose score is the sum of absolute values of what the given one adds.
fn of_absolutes(model: &Model) -> Model {
    let absolute = |tree: &Tree| {
        let leaf_value = tree.parts().leaf_value.iter().map(|value| value.abs()).collect();
        Tree::new(TreeParts { leaf_value, ..tree.parts().clone() }).unwrap_or_else(|_| tree.clone())
    };
    Model { base_score: model.base_score.abs(), trees: model.trees.iter().map(absolute).collect(), ..model.clone() }
}
