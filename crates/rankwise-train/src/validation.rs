//! Validation sets, scored tree by tree.

use rankwise_data::{BinnedDataset, Dataset, SimdLevel};
use rankwise_metrics::{Evaluator, MetricName, Rules};
use rankwise_model::{Output, Tree};
use rankwise_trees::{GrownTree, add_multiple};
use serde::{Deserialize, Serialize};

use crate::TrainError;

/// Data to measure on while training.
#[derive(Clone, Copy, Debug)]
pub struct ValidSet<'a> {
    /// What to call it.
    pub name: &'a str,
    /// The data.
    pub data: &'a Dataset,
}

/// One metric on one validation set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricValue {
    /// The validation set.
    pub set: String,
    /// The metric.
    pub metric: String,
    /// Its mean.
    pub value: f64,
}

/// A validation set with its current scores.
pub(crate) struct Validation<'a> {
    pub(crate) name: &'a str,
    binned: BinnedDataset,
    evaluator: Evaluator<'a>,
    /// In canonical order; of the first output, then of the second, ...
    pub(crate) scores: Vec<f64>,
}

impl<'a> Validation<'a> {
    pub(crate) fn new(
        set: ValidSet<'a>,
        train: &BinnedDataset,
        (names, rules): (&[MetricName], &Rules),
        scores: Vec<f64>,
    ) -> Result<Self, TrainError> {
        let evaluator = Evaluator::new(set.data, names, rules)
            .map_err(|source| TrainError::Valid { set: set.name.to_owned(), source })?;
        // Its metric would be the same whatever is trained, and every choice made by it arbitrary.
        let is_relevant = |label: &f32| rules.gain.of(*label) > 0.0;
        let has_pairs = names[0].kind().takes_pairs() && !set.data.pairs().is_empty();
        if !has_pairs && !set.data.labels().iter().any(is_relevant) {
            let metric = names[0].as_str().to_owned();
            return Err(TrainError::NothingToMeasure { set: set.name.to_owned(), metric });
        }
        Ok(Self { name: set.name, binned: train.like(set.data)?, evaluator, scores })
    }

    /// Adds a multiple of a tree of an output to the scores.
    pub(crate) fn add_multiple(&mut self, output: usize, tree: &Tree, factor: f64, simd: SimdLevel) {
        let n_rows = self.binned.n_rows();
        add_multiple(tree, factor, &mut self.scores[output * n_rows..][..n_rows], &self.binned, simd);
    }

    /// Adds a tree of an output to the scores.
    pub(crate) fn add(&mut self, output: usize, tree: &GrownTree, simd: SimdLevel) {
        let n_rows = self.binned.n_rows();
        tree.add_to(&mut self.scores[output * n_rows..][..n_rows], &self.binned, simd);
    }

    /// The metrics of the current scores.
    pub(crate) fn measure(&self, output: &Output) -> Result<Vec<MetricValue>, TrainError> {
        let evaluation = self
            .evaluator
            .evaluate(&output.scores(&self.scores))
            .map_err(|source| TrainError::Valid { set: self.name.to_owned(), source })?;
        evaluation
            .metrics
            .into_iter()
            .map(|values| {
                let (set, metric) = (self.name.to_owned(), values.name);
                match values.mean {
                    Some(value) => Ok(MetricValue { set, metric, value }),
                    None => Err(TrainError::NothingToMeasure { set, metric }),
                }
            })
            .collect()
    }
}
