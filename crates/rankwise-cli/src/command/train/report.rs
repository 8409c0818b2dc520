//! The final report of `rankwise train`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwise::io::ReadReport;
use rankwise::model::TreeEnsemble;
use rankwise::train::{StopReason, TrainParams, Trained};
use serde_json::json;

use super::history;
use crate::checkpoint::Keeper;
use crate::{memory, metric_names, reading, text};

/// The contents of the final report.
pub(super) struct Report<'a> {
    pub(super) params: &'a TrainParams,
    pub(super) trained: &'a Trained,
    pub(super) out: &'a Path,
    pub(super) total: Duration,
    /// The trees of the checkpoint that the run resumed from.
    pub(super) first_tree: Option<usize>,
    pub(super) keeper: Option<&'a Keeper>,
    /// Files that were written besides the model.
    pub(super) others: Vec<PathBuf>,
    /// How the training data and each validation set were read.
    pub(super) data: &'a ReadReport,
    pub(super) valid_data: Vec<&'a ReadReport>,
}

impl Report<'_> {
    pub(super) fn text(&self) -> String {
        let Trained { start_trees, trees_grown, values, stopped, .. } = self.trained;
        let learner = self.params.boosting().learner;
        let n_kept = if learner.is_boosting() { self.n_trees() - start_trees } else { self.trained.rounds_kept };
        let why = match stopped {
            StopReason::Finished => "",
            StopReason::EarlyStopping => "; early stopping: the metric stopped improving",
            StopReason::NothingToLearn if learner.is_boosting() => "; stopped: no split improves the loss",
            StopReason::NothingToLearn => "; stopped: nothing is left to learn",
            StopReason::Interrupted => "; interrupted",
        };
        let kept = if n_kept < *trees_grown { format!(", kept {n_kept} (best iteration)") } else { String::new() };
        let seconds = self.total.as_secs_f64();
        let onto = match *start_trees {
            0 => String::new(),
            n_trees => format!(" in addition to the start model's {}", text::thousands(n_trees as u64)),
        };
        let verb = if learner.is_boosting() { "grew" } else { "trained" };
        let done = text::count(*trees_grown, learner.round_name());
        let mut out = format!("{verb} {done}{onto}{kept} in {seconds:.1} s{why}\n");
        if let Some(outliers) = self.trained.outliers {
            let _ = writeln!(out, "left out {}", text::count(outliers, "outlier"));
        }
        out.push_str(&self.values_text());
        if !values.is_empty() {
            let _ = writeln!(out, "rules: {}", self.params.rules().describe(&self.params.boosting().metric));
        }
        for path in std::iter::once(self.out).chain(self.others.iter().map(PathBuf::as_path)) {
            let _ = writeln!(out, "wrote {}", path.display());
        }
        if *stopped == StopReason::Interrupted {
            let _ = writeln!(out, "{}", Keeper::advice(self.keeper));
        }
        out
    }

    /// The trees of the model, if it has any.
    fn n_trees(&self) -> usize {
        self.trained.model.tree_ensemble().map_or(0, TreeEnsemble::n_trees)
    }

    /// The time that training spent in each of its phases.
    pub(super) fn times(&self) -> [(&'static str, Duration); 7] {
        let phases = &self.trained.phases;
        [
            ("bin", phases.bin),
            ("gradients", phases.gradients),
            ("histograms", phases.histograms),
            ("splits", phases.splits),
            ("partition", phases.partition),
            ("scores", phases.scores),
            ("validation", phases.validation),
        ]
    }

    /// Only the metrics of the validation sets.
    pub(super) fn values_text(&self) -> String {
        let mut out = String::new();
        for value in &self.trained.values {
            let _ = writeln!(out, "{}: {} {:.6}", value.set, value.metric, value.value);
        }
        out
    }

    pub(super) fn json(&self) -> serde_json::Value {
        let Trained { values, .. } = self.trained;
        let first_set = values.first().map(|first| first.set.clone());
        let metrics_of = |set: &str| -> serde_json::Map<String, serde_json::Value> {
            values
                .iter()
                .filter(|value| value.set == set)
                .map(|value| (value.metric.clone(), value.value.into()))
                .collect()
        };
        let mut sets: Vec<&str> = values.iter().map(|value| value.set.as_str()).collect();
        sets.dedup();
        json!({
            "model": self.out.display().to_string(),
            "trees": self.n_trees(),
            "start_trees": self.trained.start_trees,
            "best_iteration": self.trained.rounds_kept,
            "trees_grown": self.trained.trees_grown,
            "stopped": match self.trained.stopped {
                StopReason::Finished => "finished",
                StopReason::EarlyStopping => "early-stopping",
                StopReason::NothingToLearn => "nothing-to-learn",
                StopReason::Interrupted => "interrupted",
            },
            "no_trees": self.trained.no_trees.as_ref().map(ToString::to_string),
            "outliers": self.trained.outliers,
            "resumed_from": self.first_tree,
            "valid": first_set.map(|set| metrics_of(&set)).unwrap_or_default(),
            "valid_sets": sets.iter().map(|set| json!({ "name": set, "metrics": metrics_of(set) })).collect::<Vec<_>>(),
            "history": history::to_json(&self.trained.history),
            "metric_names": metric_names::to_json(&self.params.boosting().metric),
            "convention": self.params.rules().entries(&self.params.boosting().metric).into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "data": reading::to_json(self.data),
            "valid_data": self.valid_data.iter().map(|report| reading::to_json(report)).collect::<Vec<_>>(),
            "peak_memory_bytes": memory::peak_bytes(),
        })
    }
}
