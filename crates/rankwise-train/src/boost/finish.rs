//! Turns a run into a model.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rankwise_data::{Absent, Share};
use rankwise_model::{AbsentFeature, Header, Model, Precision, Tree, TreeEnsemble};

use super::Run;
use crate::langevin::later_factors;
use crate::refit::trained_on_all;
use crate::start::{Start, model_fingerprint};
use crate::{History, MetricValue, NoTrees, Phases, Sample, StopReason, TrainError};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The model, truncated after the best round if there was a validation set.
    pub model: Model,
    /// Number of trees of the start model; they come first in `model`.
    pub start_trees: usize,
    /// Number of trees grown, including truncated ones; of learners without trees, the number of rounds.
    pub trees_grown: usize,
    /// Number of rounds in the model, without those of the start model.
    pub rounds_kept: usize,
    /// The metrics of the model on the validation sets.
    pub values: Vec<MetricValue>,
    /// The metrics after each round, including truncated ones.
    pub history: History,
    /// The scores of the training documents after the last tree, in canonical order.
    pub train_scores_canonical: Vec<f64>,
    /// Number of documents excluded as outliers; `None` if there was no search for outliers.
    pub outliers: Option<usize>,
    /// Why training ended.
    pub stopped: StopReason,
    /// Why no tree of this run is in the model, if so. Such a model ranks no better than its start model.
    pub no_trees: Option<NoTrees>,
    /// Time per phase.
    pub phases: Phases,
}

impl Run<'_> {
    /// Builds the model of the best state.
    pub(crate) fn finish(mut self, stopped: StopReason, total: Duration) -> Result<Trained, TrainError> {
        let trees_grown = self.trees.len();
        let no_trees = self.no_trees();
        if !self.best.values.is_empty() {
            self.trees.truncate(self.best.n_trees);
            self.factors = std::mem::take(&mut self.best.factors);
        }
        let rounds_kept = self.trees.len() / self.output.n_outputs();
        let train_scores_canonical = self.output.scores(&self.scores).into_owned();
        let mut base_score = self.base_score;
        let n_outputs = self.output.n_outputs();
        let scaled = |trees: &[Tree], factors: &[f64]| -> Vec<Tree> {
            trees.iter().enumerate().map(|(idx, tree)| tree.scaled(factors[idx / n_outputs])).collect()
        };
        if self.ensemble.has_factors() {
            self.trees = scaled(&self.trees, &self.factors);
        }
        let mut start = self.start.map_or(Vec::new(), |start| start.ensemble.trees().to_vec());
        if self.is_shrinking() {
            let factors = later_factors(self.params.boosting(), self.trees.len() / n_outputs);
            let first = factors.first().copied().unwrap_or(1.0);
            base_score *= first;
            self.output.scale_base_scores(first);
            start = start.iter().map(|tree| tree.scaled(first)).collect();
            self.trees = scaled(&self.trees, &factors);
        }
        let ids = self.binned.feature_ids();
        let start_features = self.start.map_or(&[][..], |start| start.model.features());
        let features = used_features(ids, &self.trees, start_features);
        let mut trees = renumbered(&start, start_features, &features);
        let grown = renumbered(&self.trees, ids, &features);
        let f64_features = used_f64_features(self.share.all_f64_features(), &grown, &features, self.start);
        let start_precision = self.start.map_or(Precision::F32, |start| start.model.precision());
        let precision = if f64_features.is_empty() { start_precision } else { Precision::F64 };
        if precision == Precision::F32 {
            trees.extend(grown);
        } else {
            // Splits learned on rounded values must treat unrounded values the same way.
            let is_f64 = |place: u32| self.share.all_f64_features().binary_search(&features[place as usize]).is_ok();
            if start_precision == Precision::F32 {
                trees = trees.iter().map(|tree| tree.for_unrounded(|_| false)).collect();
            }
            trees.extend(grown.iter().map(|tree| tree.for_unrounded(is_f64)));
        }
        let mut params: BTreeMap<String, String> =
            self.params.changed().into_iter().map(|setting| (setting.name.to_owned(), setting.value)).collect();
        params.extend(self.start.map(|start| ("init_model".to_owned(), model_fingerprint(start))));
        let header = Header {
            objective: self.objective_name,
            params,
            trained_on: trained_on_all(&self.share),
            absent: match self.data.absent() {
                Absent::Missing => AbsentFeature::Missing,
                Absent::Zero => AbsentFeature::Zero,
            },
            precision,
            feature_names: names_of(&self.share, &features),
            features,
            f64_features,
        };
        let model = Model::new(header, TreeEnsemble::new(base_score, self.output, trees)?)?;
        self.phases.total = total;
        let n_left_out = self.part.map_or(0, |part| self.data.n_rows() - part.rows.len());
        let outliers = (self.params.boosting().sample == Sample::Inliers).then(|| self.share.count(n_left_out));
        let start_trees = start.len();
        Ok(Trained {
            model,
            start_trees,
            trees_grown,
            rounds_kept,
            history: History::new(usize::from(self.start.is_none()), &self.best.values, &self.history),
            values: self.best.values,
            train_scores_canonical,
            outliers,
            stopped,
            no_trees,
            phases: self.phases,
        })
    }
}

/// The names of features, if the data has names.
pub(crate) fn names_of(share: &Share<'_>, features: &[u32]) -> Vec<String> {
    features.iter().filter_map(|feature| share.feature_name(*feature)).map(Into::into).collect()
}

/// The ids of the features that some tree uses, and of all features of the start model.
fn used_features(ids: &[u32], trees: &[Tree], start: &[u32]) -> Vec<u32> {
    let asked = trees.iter().flat_map(|tree| &tree.parts().feature).map(|feature| ids[*feature as usize]);
    asked.chain(start.iter().copied()).collect::<BTreeSet<u32>>().into_iter().collect()
}

/// The ids of the features that some grown tree or the start model compares as f64.
fn used_f64_features(all: &[u32], grown: &[Tree], features: &[u32], start: Option<Start<'_>>) -> Vec<u32> {
    let asked = grown.iter().flat_map(|tree| &tree.parts().feature).map(|place| features[*place as usize]);
    let asked = asked.filter(|id| all.binary_search(id).is_ok());
    let of_start = start.map_or(&[][..], |start| start.model.f64_features());
    asked.chain(of_start.iter().copied()).collect::<BTreeSet<u32>>().into_iter().collect()
}

/// Replaces feature indices into `ids` by feature indices into `features`.
fn renumbered(trees: &[Tree], ids: &[u32], features: &[u32]) -> Vec<Tree> {
    let place = |feature: u32| features.binary_search(&ids[feature as usize]).expect("every feature of a tree is used");
    trees.iter().map(|tree| tree.with_features(|feature| place(feature) as u32)).collect()
}
