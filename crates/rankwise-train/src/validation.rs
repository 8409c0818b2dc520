//! Validation sets, scored tree by tree.

use rankwise_data::{BinnedDataset, Dataset, Share, SimdLevel};
use rankwise_metrics::{Evaluator, MetricName, Rules};
use rankwise_model::{Output, Tree};
use rankwise_trees::add_tree;
use serde::{Deserialize, Serialize};

use crate::TrainError;

/// Data to evaluate during training.
#[derive(Clone, Copy, Debug)]
pub struct ValidSet<'a> {
    /// Its name.
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
    /// In canonical order: for the first output, then for the second, ...
    pub(crate) scores: Vec<f64>,
}

impl<'a> Validation<'a> {
    pub(crate) fn new(
        set: ValidSet<'a>,
        share: Share<'a>,
        train: &BinnedDataset,
        names: &[MetricName],
        rules: &Rules,
        scores: Vec<f64>,
    ) -> Result<Self, TrainError> {
        let ValidSet { name, data } = set;
        // Its metric would not depend on the model, so any choice based on it would be arbitrary.
        let is_relevant = |label: &f32| rules.gain.of(*label) > 0.0;
        let has_pairs = names[0].kind().takes_pairs() && !data.pairs().is_empty();
        let can_be_measured = share.any(has_pairs || data.labels().iter().any(is_relevant));
        let binned = share.agree(train.like(data))?;
        let evaluator = Evaluator::of_share(share, names, rules)
            .map_err(|source| TrainError::Valid { set: name.to_owned(), source })?;
        if !can_be_measured {
            let metric = names[0].as_str().to_owned();
            return Err(TrainError::NothingToMeasure { set: name.to_owned(), metric });
        }
        Ok(Self { name, binned, evaluator, scores })
    }

    /// Adds a multiple of a tree to the scores of an output.
    pub(crate) fn add(&mut self, output: usize, tree: &Tree, factor: f64, simd: SimdLevel) {
        let n_rows = self.binned.n_rows();
        add_tree(tree, factor, &mut self.scores[output * n_rows..][..n_rows], &self.binned, simd);
    }

    /// The metrics of the current scores.
    pub(crate) fn measure(&self, output: &Output) -> Result<Vec<MetricValue>, TrainError> {
        let evaluation = self
            .evaluator
            .evaluate_canonical(&output.scores(&self.scores))
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
