//! Compares an exported model with the original on data.

use rankwise_data::Dataset;
use rankwise_eval::{DatasetRows, TASK_DOCS, UnroundedRows, predict, predict_canonical};
use rankwise_formats::{Arithmetic, FormatError, NetworkReading, Reading};
use rankwise_model::{LinearRanker, Model, ModelError, Output, Ranker, Tree, TreeEnsemble, TreeParts};
use rankwise_score::Documents as _;
use rayon::prelude::*;

/// Half a unit in the last place of f32 at 1: the largest relative error of rounding to f32.
const F32_ROUNDING: f64 = 1.0 / 16_777_216.0;
/// The largest relative error of the scores of networks.
const NETWORK_TOLERANCE: f64 = 1e-4;

/// All documents have the expected scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExportAgreement {
    /// The number of documents.
    pub documents: usize,
    /// The largest difference from our scores; 0 if the program computes in f64.
    pub largest_difference: f64,
}

/// An export that differs from its model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckExportError {
    /// The model is of a kind that has no exports.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The export cannot be run.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A document has another score.
    #[error(transparent)]
    Difference(#[from] ExportDifference),
}

/// A document with a different score.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("row {row}: {}", self.problem())]
pub struct ExportDifference {
    /// The input row, from 1.
    pub row: usize,
    /// The expected score.
    pub ours: f64,
    /// The score of the export.
    pub theirs: f64,
    /// The allowed difference.
    pub bound: f64,
}

impl ExportDifference {
    /// What is wrong, without the row.
    pub fn problem(&self) -> String {
        let Self { ours, theirs, bound, .. } = self;
        let reason = if *bound > 0.0 {
            format!("rounding to f32 explains at most {bound:.1e} of the difference")
        } else {
            "the two should be equal".into()
        };
        format!(
            "the score is {ours} in the model but {theirs} in the export, and {reason}; do not use the export for such data"
        )
    }
}

/// Scores all documents with the model and with its export, read back. If the other program computes in f64, scores
/// must be equal. Otherwise leaves are rounded to f32 (an error of `m / 2^24` in total, where `m` is the sum of their
/// absolute values), and so is the sum after each tree (as much again). Finds the first input row with a larger
/// difference.
pub fn check_export(model: &Model, reading: &Reading, data: &Dataset) -> Result<ExportAgreement, CheckExportError> {
    if let Ranker::Linear(linear) = model.ranker() {
        return check_linear(model, linear, reading, data);
    }
    let ours = predict(model, data);
    // The sum of its leaves in f64: this detects a wrong leaf that the rounding of sums may hide.
    let leaves = predict(&reading.model, data);
    let is_wide = reading.arithmetic == Arithmetic::F64;
    let (theirs, sizes) = if is_wide {
        (leaves.clone(), vec![0.0; leaves.len()])
    } else {
        (data.to_input_order(&scores_of(reading, data)), predict(&of_absolutes(model)?, data))
    };
    let n_sums = model.tree_ensemble()?.n_trees() as f64 + 2.0;
    let mut largest_difference = 0.0_f64;
    for row in 0..ours.len() {
        // The second part allows for the rounding of f64 sums.
        let leaf_bound = sizes[row] * (F32_ROUNDING + n_sums * f64::EPSILON) + f64::from(f32::MIN_POSITIVE) * n_sums;
        let sum_bound = leaf_bound + n_sums * F32_ROUNDING * sizes[row];
        for (score, bound) in [(leaves[row], leaf_bound), (theirs[row], sum_bound)] {
            let bound = if is_wide { 0.0 } else { bound };
            let difference = (score - ours[row]).abs();
            if difference.is_nan() || difference > bound {
                return Err(ExportDifference { row: row + 1, ours: ours[row], theirs: score, bound }.into());
            }
        }
        largest_difference = largest_difference.max((theirs[row] - ours[row]).abs());
    }
    Ok(ExportAgreement { documents: ours.len(), largest_difference })
}

/// Inputs, weights, products and sums are rounded to f32, and each rounding is at most a share of the sum of the absolute
/// values of all terms.
fn check_linear(
    model: &Model,
    linear: &LinearRanker,
    reading: &Reading,
    data: &Dataset,
) -> Result<ExportAgreement, CheckExportError> {
    let Ranker::Linear(read) = reading.model.ranker() else {
        return Err(ModelError::NoTrees { kind: reading.model.ranker().kind() }.into());
    };
    let ours = predict(model, data);
    let features = reading.model.features();
    let theirs = data.to_input_order(&scored(features, data, |values| reading.score(values)));
    let product = |(weight, value): (&f64, &f64)| if value.is_nan() { 0.0 } else { (weight * value).abs() };
    let of_products = |values: &[f64]| read.weights().iter().zip(values).map(product).sum();
    let sizes = data.to_input_order(&scored(features, data, of_products));
    let scales = linear.transform().map_or(&[][..], |transform| transform.scales());
    let centres: f64 =
        linear.weights().iter().zip(scales).map(|(weight, scale)| (weight * scale.factor * scale.center).abs()).sum();
    let n_roundings = features.len() as f64 + 4.0;
    let mut largest_difference = 0.0_f64;
    for row in 0..ours.len() {
        let size = sizes[row] + centres + linear.bias().abs();
        let bound = n_roundings * (F32_ROUNDING * size + f64::from(f32::MIN_POSITIVE));
        let difference = (theirs[row] - ours[row]).abs();
        if difference.is_nan() || difference > bound {
            return Err(ExportDifference { row: row + 1, ours: ours[row], theirs: theirs[row], bound }.into());
        }
        largest_difference = largest_difference.max(difference);
    }
    Ok(ExportAgreement { documents: ours.len(), largest_difference })
}

/// Scores all lists with a neural model and with its export. Networks add up in f32 in another order, which they amplify,
/// so scores must agree within a ten thousandth of the largest score of the list, or of 1 if that is less.
pub fn check_network_export(
    model: &Model,
    reading: &NetworkReading,
    data: &Dataset,
) -> Result<ExportAgreement, CheckExportError> {
    let ours = predict_canonical(model, data);
    let columns: Vec<_> = reading.columns().iter().map(|column| data.f64_values_of(*column as u32)).collect();
    let of_query = |query: usize| {
        let rows = data.query_rows(query);
        let mut values = vec![data.absent().value(); rows.len() * columns.len()];
        for (place, column) in columns.iter().enumerate() {
            let Some(column) = column else { continue };
            column.for_each_in(rows.start, rows.end, |row, value| values[row * columns.len() + place] = value as f32);
        }
        reading.scores(&values)
    };
    let theirs: Vec<Vec<f64>> =
        (0..data.n_queries()).into_par_iter().map(of_query).collect::<Result<_, FormatError>>()?;
    let mut agreement = ExportAgreement { documents: ours.len(), largest_difference: 0.0 };
    let mut worst: Option<ExportDifference> = None;
    for (query, theirs) in theirs.into_iter().enumerate() {
        let rows = data.query_rows(query);
        let largest = ours[rows.clone()].iter().fold(1.0_f64, |largest, score| largest.max(score.abs()));
        let bound = NETWORK_TOLERANCE * largest;
        for (row, theirs) in rows.zip(theirs) {
            let difference = (theirs - ours[row]).abs();
            let input_row = data.input_row()[row] as usize + 1;
            if (difference.is_nan() || difference > bound) && worst.is_none_or(|worst| input_row < worst.row) {
                worst = Some(ExportDifference { row: input_row, ours: ours[row], theirs, bound });
            }
            agreement.largest_difference = agreement.largest_difference.max(difference);
        }
    }
    worst.map_or(Ok(agreement), |worst| Err(worst.into()))
}

/// The other program's scores, in canonical order.
fn scores_of(reading: &Reading, data: &Dataset) -> Vec<f64> {
    scored(reading.model.features(), data, |values| reading.score(values))
}

/// A number for the values of each document, in canonical order.
fn scored(features: &[u32], data: &Dataset, score_of: impl Fn(&[f64]) -> f64 + Sync) -> Vec<f64> {
    let columns: Vec<_> = features.iter().map(|feature| data.f64_values_of(*feature)).collect();
    let mut scores = vec![0.0; data.n_rows()];
    scores.par_chunks_mut(TASK_DOCS).enumerate().for_each(|(task, scores)| {
        let (first, n_docs) = (task * TASK_DOCS, scores.len());
        let docs = DatasetRows { columns: &columns, absent: data.absent().value(), rows: first..first + n_docs };
        let mut by_feature = vec![0.0; features.len() * n_docs];
        UnroundedRows(docs).values(0..features.len(), 0..n_docs, |value| value, &mut by_feature);
        let mut values = vec![0.0; features.len()];
        for (doc, score) in scores.iter_mut().enumerate() {
            for (feature, value) in values.iter_mut().enumerate() {
                *value = by_feature[feature * n_docs + doc];
            }
            *score = score_of(&values);
        }
    });
    scores
}

/// A model whose score is the sum of the absolute values of the given model's terms.
fn of_absolutes(model: &Model) -> Result<Model, ModelError> {
    let absolute = |tree: &Tree| {
        let leaf_value = tree.parts().leaf_value.iter().map(|value| value.abs()).collect();
        Tree::new(TreeParts { leaf_value, ..tree.parts().clone() }).unwrap_or_else(|_| tree.clone())
    };
    let ensemble = model.tree_ensemble()?;
    let trees = ensemble.trees().iter().map(absolute).collect();
    model.with_ranker(TreeEnsemble::new(ensemble.base_score().abs(), Output::Sum, trees)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwise_data::{DatasetBuilder, Row};
    use rankwise_formats::{ExportOptions, Target, export, read_back};
    use rankwise_model::{AbsentFeature, Header, Precision};

    /// Many trees, so that the rounding of f32 sums would hide a slightly wrong leaf.
    fn model() -> Model {
        let tree = |value: f64| TreeParts {
            feature: vec![0],
            threshold: vec![0.5],
            missing_left: vec![true],
            left: vec![!0],
            right: vec![!1],
            gain: vec![1.0],
            count: vec![2],
            leaf_value: vec![0.1 * value, -0.3 * value],
            leaf_count: vec![1, 1],
            ..TreeParts::default()
        };
        let trees = (1..400).map(|idx| Tree::new(tree(f64::from(idx))).unwrap()).collect();
        let header = Header::new(AbsentFeature::Missing, Precision::F32, vec![3]);
        Model::new(header, TreeEnsemble::new(0.7, Output::Sum, trees).unwrap()).unwrap()
    }

    #[test]
    fn one_wrong_leaf_is_found_among_many_trees() {
        let mut builder = DatasetBuilder::default();
        for (row, value) in [0.2, 0.5, 0.7].into_iter().enumerate() {
            let qid = ["b", "a", "c"][row];
            builder.push(&Row { qid, label: 1.0, doc_id: "", features: &[(3, value)] }).unwrap();
        }
        let (data, model) = (builder.finish().unwrap(), model());
        for target in Target::ALL {
            let options = ExportOptions::default();
            let bytes = export(&model, target, &options).unwrap();
            let mut reading = read_back(&bytes, target, &model, &options).unwrap();
            let agreement = check_export(&model, &reading, &data).unwrap();
            assert_eq!(agreement.documents, 3);
            assert!(agreement.largest_difference < 0.1, "{target} {agreement:?}");
            // Only the last document reaches this leaf; the difference is far below the rounding of f32 sums.
            let ensemble = reading.model.tree_ensemble().unwrap();
            let mut trees = ensemble.trees().to_vec();
            let mut parts = trees[200].parts().clone();
            parts.leaf_value[1] += 0.01;
            trees[200] = Tree::new(parts).unwrap();
            reading.model = reading.model.with_ranker(ensemble.with_trees(trees).unwrap()).unwrap();
            match check_export(&model, &reading, &data) {
                Err(CheckExportError::Difference(difference)) => assert_eq!(difference.row, 3, "{target} {difference}"),
                other => panic!("{target}: {other:?}"),
            }
        }
    }
}
