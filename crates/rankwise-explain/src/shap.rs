//! SHAP values: what each feature adds to the score of a document, compared with the score that the model is expected to give to a document of
//! which nothing is known. They add up to the score.
//!
//! Lundberg, Erion and Lee, "Consistent Individualized Feature Attribution for Tree Ensembles" (2018), define the expectation: where a
//! value is not known, both sides of a split count with their shares of the training rows. LightGBM's `pred_contrib` and the `shap`
//! package (`tree_path_dependent`) compute the same values. The way to compute them here is another one: [`leaf`] has the formula, [`tree`]
//! applies it to many documents at a time.

mod interactions;
mod leaf;
mod quadrature;
mod tree;

use rankwise_model::{Model, Precision};
use rankwise_score::Documents;

pub use self::interactions::{InteractionBuffers, Interactions};
use self::tree::{Block, Buffers, SharedTree};
use crate::ExplainError;

/// A model of trees, prepared for SHAP values.
///
/// ```
/// use rankwise_explain::{Shap, ShapBuffers};
/// use rankwise_model::{AbsentFeature, Header, Model, Output, Precision, Tree, TreeEnsemble, TreeParts};
/// use rankwise_score::Rows;
///
/// // Values up to 0.5 of the only feature have the score -1 (3 of 4 training rows), others have 3.
/// let tree = TreeParts {
///     feature: vec![0],
///     threshold: vec![0.5],
///     missing_left: vec![true],
///     left: vec![!0],
///     right: vec![!1],
///     gain: vec![1.0],
///     count: vec![4],
///     leaf_value: vec![-1.0, 3.0],
///     leaf_count: vec![3, 1],
///     ..TreeParts::default()
/// };
/// let trees = TreeEnsemble::new(10.0, Output::Sum, vec![Tree::new(tree).unwrap()])?;
/// let model = Model::new(Header::new(AbsentFeature::Missing, Precision::F32, vec![7]), trees)?;
/// let shap = Shap::new(&model)?;
/// assert_eq!(shap.expected(), [10.0]);
/// let mut values = vec![0.0; 2];
/// shap.values(&Rows::new(&[0.2f32, 0.9], 1, 2), &mut values, &mut ShapBuffers::default());
/// assert_eq!(values, [-1.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shap {
    n_features: usize,
    precision: Precision,
    /// By output, the expected score.
    expected: Vec<f64>,
    trees: Vec<SharedTree>,
}

/// Buffers of [`Shap::values`].
#[derive(Debug, Default)]
pub struct ShapBuffers {
    columns: Vec<f64>,
    sums: Vec<f64>,
    tree: Buffers,
}

impl Shap {
    /// An error if the model has no trees, or no counts of training rows.
    pub fn new(model: &Model) -> Result<Self, ExplainError> {
        let ensemble = model.tree_ensemble()?;
        let shared = |(tree, parts)| SharedTree::new(parts).ok_or(ExplainError::NoCounts { tree });
        let trees = ensemble.trees().iter().enumerate().map(shared).collect::<Result<Vec<_>, _>>()?;
        let mut expected = ensemble.base_scores();
        let n_outputs = expected.len();
        for (idx, tree) in trees.iter().enumerate() {
            expected[idx % n_outputs] += tree.expected();
        }
        Ok(Self { n_features: model.features().len(), precision: model.precision(), expected, trees })
    }

    /// The expected score of a document of which nothing is known, for each output.
    pub fn expected(&self) -> &[f64] {
        &self.expected
    }

    /// The number of outputs: 1, or the number of labels of a model that predicts the probability of each.
    pub fn n_outputs(&self) -> usize {
        self.expected.len()
    }

    /// The number of SHAP values of a document: one for each output and feature of the model.
    pub fn n_values(&self) -> usize {
        self.n_outputs() * self.n_features
    }

    /// The SHAP values of documents, document by document: all features for the first output, then for the second, ...
    /// A document's values do not depend on the others.
    ///
    /// # Panics
    /// If there is not room for the values of each document.
    pub fn values<D: Documents>(&self, docs: &D, values: &mut [f64], buffers: &mut ShapBuffers) {
        let (n_docs, n_values, n_outputs) = (docs.n_docs(), self.n_values(), self.n_outputs());
        assert_eq!(values.len(), n_docs * n_values, "there is room for all values");
        let ShapBuffers { columns, sums, tree: buffers } = buffers;
        self.fill(docs, columns);
        sums.clear();
        sums.resize(n_values * n_docs, 0.0);
        let block = Block { columns, n_docs };
        let of_output = self.n_features * n_docs;
        for (idx, tree) in self.trees.iter().enumerate() {
            let output = idx % n_outputs;
            tree.add(block, buffers, &mut sums[output * of_output..(output + 1) * of_output]);
        }
        transpose(sums, n_docs, values);
    }

    /// The rounded values of documents, feature by feature.
    fn fill<D: Documents>(&self, docs: &D, columns: &mut Vec<f64>) {
        let n_docs = docs.n_docs();
        columns.resize(self.n_features * n_docs, 0.0);
        docs.values(0..self.n_features, 0..n_docs, |value| self.precision.round(value.into()), columns);
    }
}

/// From columns of documents to rows.
fn transpose(columns: &[f64], n_docs: usize, rows: &mut [f64]) {
    let n_columns = columns.len() / n_docs.max(1);
    for (doc, row) in rows.chunks_exact_mut(n_columns.max(1)).enumerate() {
        for (value, column) in row.iter_mut().zip(columns.chunks_exact(n_docs)) {
            *value = column[doc];
        }
    }
}
