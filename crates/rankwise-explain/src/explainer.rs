//! SHAP values of a model of any kind, over datasets.

use rankwise_model::{Model, Output, Ranker};
use rankwise_score::Documents;
use rayon::prelude::*;

use crate::{ExplainError, ModelDocs, Shap, ShapBuffers, difference};

/// Documents that are explained together: few enough for the second-level cache, enough for the work that is done once for all of them.
const BLOCK_DOCS: usize = 1024;

/// What a document is compared with.
#[derive(Clone, Debug)]
enum Way {
    /// With what the counts of training rows in the trees say.
    Counts(Box<Shap>),
    /// With each of some documents, whose values are given; the mean counts.
    Documents(Vec<Vec<f64>>),
}

/// A model, prepared to divide scores among features.
#[derive(Clone, Debug)]
pub struct Explainer<'a> {
    model: &'a Model,
    expected: Vec<f64>,
    way: Way,
}

impl<'a> Explainer<'a> {
    /// Compares with the expected score by the counts of training rows in the trees. An error for models without them.
    pub fn new(model: &'a Model) -> Result<Self, ExplainError> {
        let shap = Shap::new(model)?;
        Ok(Self { model, expected: shap.expected().to_vec(), way: Way::Counts(Box::new(shap)) })
    }

    /// Compares with the mean over documents, given by their rounded values: interventional SHAP values. For models without counts of training rows,
    /// and for linear models.
    pub fn against(model: &'a Model, documents: Vec<Vec<f64>>) -> Result<Self, ExplainError> {
        difference::check_contributions(model)?;
        if documents.is_empty() {
            return Err(ExplainError::NoBackground);
        }
        if let Ranker::Trees(ensemble) = model.ranker()
            && *ensemble.output() != Output::Sum
        {
            return Err(ExplainError::SeveralOutputs);
        }
        let sum: f64 = documents.iter().map(|values| model.score_rounded(values)).sum();
        let expected = vec![sum / documents.len() as f64];
        Ok(Self { model, expected, way: Way::Documents(documents) })
    }

    /// The score that contributions start from, for each output.
    pub fn expected(&self) -> &[f64] {
        &self.expected
    }

    /// Whether counts of training rows say what is expected, not documents.
    pub fn uses_counts(&self) -> bool {
        matches!(self.way, Way::Counts(_))
    }

    /// The number of values of a document: one for each output and feature of the model.
    pub fn n_values(&self) -> usize {
        self.expected.len() * self.model.features().len()
    }

    /// The SHAP values of all documents, in canonical order, one document after the other.
    pub fn values(&self, docs: &ModelDocs<'_>) -> Result<Vec<f64>, ExplainError> {
        let mut values = vec![0.0; docs.data.n_rows() * self.n_values()];
        if values.is_empty() {
            return Ok(values);
        }
        let blocks = values.par_chunks_mut(BLOCK_DOCS * self.n_values()).enumerate();
        blocks.try_for_each_init(ShapBuffers::default, |buffers, (block, values)| {
            self.block(docs, block * BLOCK_DOCS, values, buffers)
        })?;
        Ok(values)
    }

    /// The SHAP values of some documents, given by their rows.
    pub fn values_of(&self, docs: &ModelDocs<'_>, rows: &[usize]) -> Result<Vec<Vec<f64>>, ExplainError> {
        let one = |buffers: &mut ShapBuffers, row: &usize| {
            let mut values = vec![0.0; self.n_values()];
            self.block(docs, *row, &mut values, buffers)?;
            Ok(values)
        };
        rows.par_iter().map_init(ShapBuffers::default, one).collect()
    }

    /// The mean absolute SHAP value of each output and feature over all documents.
    pub fn mean_sizes(&self, docs: &ModelDocs<'_>) -> Result<Vec<f64>, ExplainError> {
        let (n_rows, n_values) = (docs.data.n_rows(), self.n_values());
        let of_block = |buffers: &mut ShapBuffers, first: usize| {
            let mut values = vec![0.0; BLOCK_DOCS.min(n_rows - first) * n_values];
            self.block(docs, first, &mut values, buffers)?;
            let mut sums = vec![0.0; n_values];
            for doc in values.chunks_exact(n_values.max(1)) {
                sums.iter_mut().zip(doc).for_each(|(sum, value)| *sum += value.abs());
            }
            Ok(sums)
        };
        let starts = (0..n_rows).into_par_iter().step_by(BLOCK_DOCS);
        let blocks: Vec<Vec<f64>> =
            starts.map_init(ShapBuffers::default, of_block).collect::<Result<_, ExplainError>>()?;
        // In the order of blocks, so that the number of threads does not matter.
        let mut sums = vec![0.0; n_values];
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
        Ok(sums.into_iter().map(|sum| sum / n_rows.max(1) as f64).collect())
    }

    /// The values of the documents from row `first` on, as many as there is room for.
    fn block(
        &self,
        docs: &ModelDocs<'_>,
        first: usize,
        values: &mut [f64],
        buffers: &mut ShapBuffers,
    ) -> Result<(), ExplainError> {
        let n_docs = values.len() / self.n_values().max(1);
        self.values_of_docs(&docs.rows(first..first + n_docs), values, buffers)
    }

    /// The SHAP values of a list of documents, one document after the other.
    ///
    /// # Panics
    /// If there is not room for the values of each document.
    pub fn values_of_docs<D: Documents>(
        &self,
        docs: &D,
        values: &mut [f64],
        buffers: &mut ShapBuffers,
    ) -> Result<(), ExplainError> {
        assert_eq!(values.len(), docs.n_docs() * self.n_values(), "there is room for all values");
        let others = match &self.way {
            Way::Counts(shap) => {
                shap.values(docs, values, buffers);
                return Ok(());
            }
            Way::Documents(others) => others,
        };
        let (n_features, precision) = (self.model.features().len(), self.model.precision());
        let mut doc = vec![0.0; n_features];
        for (place, values) in values.chunks_exact_mut(n_features.max(1)).enumerate() {
            docs.values(0..n_features, place..place + 1, |value| precision.round(value.into()), &mut doc);
            for other in others {
                let parts = difference(self.model, &doc, other)?;
                values.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
            for value in values.iter_mut() {
                *value /= others.len() as f64;
            }
        }
        Ok(())
    }
}
