//! From a run to a model.

use std::time::Duration;

use rankwise_data::{Absent, Dataset};
use rankwise_model::{AbsentFeature, Model, Precision, TrainedOn, Tree};

use super::Run;
use crate::langevin::later_factors;
use crate::{MetricValue, Phases, Sample, StopReason};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The model, cut after the best tree where there was a validation set.
    pub model: Model,
    /// Trees grown, those that were cut off included.
    pub trees_grown: usize,
    /// The metrics of the model on the validation sets.
    pub values: Vec<MetricValue>,
    /// The scores of the training documents after the last tree that was grown, in canonical order.
    pub train_scores: Vec<f64>,
    /// Documents that were left out as outliers; `None` where there was no search for them.
    pub outliers: Option<usize>,
    /// Why it ended.
    pub stopped: StopReason,
    /// Where the time went.
    pub phases: Phases,
}

impl Run<'_> {
    /// The model of the best state.
    pub(crate) fn finish(mut self, stopped: StopReason, total: Duration) -> Trained {
        let trees_grown = self.trees.len();
        if !self.best.values.is_empty() {
            self.trees.truncate(self.best.n_trees);
            self.factors = std::mem::take(&mut self.best.factors);
        }
        let train_scores = self.output.scores(&self.scores).into_owned();
        let mut base_score = self.objective.base_score();
        let n_outputs = self.output.n_outputs();
        let scaled = |trees: &[Tree], factors: &[f64]| -> Vec<Tree> {
            trees.iter().enumerate().map(|(idx, tree)| tree.scaled(factors[idx / n_outputs])).collect()
        };
        if self.ensemble.has_factors() {
            self.trees = scaled(&self.trees, &self.factors);
        }
        if self.is_shrinking() {
            let factors = later_factors(self.params.boosting(), self.trees.len() / n_outputs);
            let first = factors.first().copied().unwrap_or(1.0);
            base_score *= first;
            self.output.scale_base_scores(first);
            self.trees = scaled(&self.trees, &factors);
        }
        let (features, trees) = keep_used_features(self.binned.feature_ids(), &self.trees);
        let model = Model {
            objective: self.objective_name,
            params: self.params.changed().into_iter().map(|setting| (setting.name.to_owned(), setting.value)).collect(),
            trained_on: TrainedOn {
                fingerprint: format!("{:032x}", self.data.fingerprint()),
                rows: self.data.n_rows() as u64,
                queries: self.data.n_queries() as u64,
            },
            absent: match self.data.absent() {
                Absent::Missing => AbsentFeature::Missing,
                Absent::Zero => AbsentFeature::Zero,
            },
            precision: Precision::F32,
            base_score,
            output: self.output,
            feature_names: names_of(self.data, &features),
            features,
            trees,
        };
        self.phases.total = total;
        let n_left_out = self.part.map_or(0, |part| self.data.n_rows() - part.rows.len());
        let outliers = (self.params.boosting().sample == Sample::Inliers).then_some(n_left_out);
        Trained { model, trees_grown, values: self.best.values, train_scores, outliers, stopped, phases: self.phases }
    }
}

/// The names of features, where the data has names.
fn names_of(data: &Dataset, features: &[u32]) -> Vec<String> {
    features.iter().filter_map(|feature| data.feature_name(*feature)).map(Into::into).collect()
}

/// The features that some tree asks for, and the trees with features numbered by that list.
fn keep_used_features(ids: &[u32], trees: &[Tree]) -> (Vec<u32>, Vec<Tree>) {
    let mut is_used = vec![false; ids.len()];
    trees.iter().flat_map(|tree| &tree.parts().feature).for_each(|feature| is_used[*feature as usize] = true);
    let used: Vec<usize> = (0..ids.len()).filter(|feature| is_used[*feature]).collect();
    let trees = trees
        .iter()
        .map(|tree| {
            let mut parts = tree.parts().clone();
            for feature in &mut parts.feature {
                *feature = used.binary_search(&(*feature as usize)).expect("every feature of a tree is used") as u32;
            }
            Tree::new(parts).expect("renumbering features keeps the shape")
        })
        .collect();
    (used.iter().map(|feature| ids[*feature]).collect(), trees)
}
