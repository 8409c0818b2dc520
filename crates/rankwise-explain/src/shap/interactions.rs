//! SHAP interaction values: what two features add together, beyond what each adds without the other.

use std::collections::{BTreeSet, HashMap};

use rankwise_model::Model;
use rankwise_score::{Documents, Rows};
use rayon::prelude::*;

use super::Shap;
use super::leaf::Wanted;
use super::tree::{Block, Buffers};
use crate::{ExplainError, ModelDocs};

/// Documents that are computed together. Each takes room for all pairs.
const BLOCK_DOCS: usize = 64;

/// A model of trees, prepared for interaction values.
///
/// The value of a pair belongs to both features. The `shap` package gives one half of it to each order of the pair, and
/// keeps what is left of a feature's SHAP value on the diagonal.
#[derive(Clone, Debug)]
pub struct Interactions {
    shap: Shap,
    /// Places in the model's list of features, the first less than the second. Others do not interact.
    pairs: Vec<(u32, u32)>,
    slots: HashMap<(u32, u32), usize>,
}

/// Buffers of [`Interactions::values`].
#[derive(Debug)]
pub struct InteractionBuffers {
    columns: Vec<f64>,
    sums: Vec<f64>,
    tree: Buffers,
}

impl Default for InteractionBuffers {
    fn default() -> Self {
        Self { columns: Vec::new(), sums: Vec::new(), tree: Buffers::new(Wanted::Interactions) }
    }
}

impl Interactions {
    /// An error if the model has no trees, no counts of training rows, or trees that are too deep.
    pub fn new(model: &Model) -> Result<Self, ExplainError> {
        let shap = Shap::new(model)?;
        let mut pairs = BTreeSet::new();
        for (tree, shared) in shap.trees.iter().enumerate() {
            pairs.append(&mut shared.pairs().ok_or(ExplainError::TooDeep { tree })?);
        }
        let slots = pairs.iter().enumerate().map(|(slot, pair)| (*pair, slot)).collect();
        Ok(Self { shap, pairs: pairs.into_iter().collect(), slots })
    }

    /// The pairs of features that share a path in a tree, as places in the model's list of features.
    pub fn pairs(&self) -> &[(u32, u32)] {
        &self.pairs
    }

    /// The number of interaction values of a document: one for each output and pair.
    pub fn n_values(&self) -> usize {
        self.shap.n_outputs() * self.pairs.len()
    }

    /// The interaction values of documents, document by document: all pairs for the first output, then for the second, ...
    ///
    /// # Panics
    /// If there is not room for the values of each document.
    pub fn values<D: Documents>(&self, docs: &D, values: &mut [f64], buffers: &mut InteractionBuffers) {
        let (n_docs, n_values, n_outputs) = (docs.n_docs(), self.n_values(), self.shap.n_outputs());
        assert_eq!(values.len(), n_docs * n_values, "there is room for all values");
        let InteractionBuffers { columns, sums, tree: buffers } = buffers;
        self.shap.fill(docs, columns);
        sums.clear();
        sums.resize(n_values * n_docs, 0.0);
        let block = Block { columns, n_docs };
        let of_output = self.pairs.len() * n_docs;
        for (idx, tree) in self.shap.trees.iter().enumerate() {
            let output = idx % n_outputs;
            let sums = &mut sums[output * of_output..(output + 1) * of_output];
            tree.add_interactions(block, &self.slots, buffers, sums);
        }
        super::transpose(sums, n_docs, values);
    }

    /// The mean size of the interaction of each pair, over all outputs and the given rows. In the order of [`Self::pairs`].
    pub fn mean_sizes(&self, docs: &ModelDocs<'_>, rows: &[usize]) -> Vec<f64> {
        let n_values = self.n_values();
        let of_block = |buffers: &mut InteractionBuffers, rows: &[usize]| {
            let docs: Vec<f64> = rows.iter().flat_map(|row| docs.values(*row)).collect();
            let mut values = vec![0.0; rows.len() * n_values];
            self.values(&Rows::new(&docs, self.shap.n_features, rows.len()), &mut values, buffers);
            let mut sums = vec![0.0; self.pairs.len()];
            for output in values.chunks_exact(self.pairs.len().max(1)) {
                sums.iter_mut().zip(output).for_each(|(sum, value)| *sum += value.abs());
            }
            sums
        };
        let blocks: Vec<Vec<f64>> =
            rows.par_chunks(BLOCK_DOCS).map_init(InteractionBuffers::default, of_block).collect();
        // In the order of blocks, so that the number of threads does not matter.
        let mut sums = vec![0.0; self.pairs.len()];
        for block in blocks {
            sums.iter_mut().zip(block).for_each(|(sum, value)| *sum += value);
        }
        sums.into_iter().map(|sum| sum / rows.len().max(1) as f64).collect()
    }
}
