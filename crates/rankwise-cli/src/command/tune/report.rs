//! What `rankwise tune` tried, and what the winner is worth.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use rankwise::eval::{CompareSpec, IntervalSpec};
use rankwise::io::ReadReport;
use rankwise::train::TrainParams;
use rankwise::tune::{TestedOn, Trial, TrialResult, Tuned};
use serde_json::{Map, Value, json};

use super::recorded;
use super::watch::{SHOWN, Trials};
use crate::comparison::Report as CompareReport;
use crate::system::StatedRules;
use crate::{files, reading, text};

/// The significance level; the confidence level of intervals is 1 - ALPHA.
const ALPHA: f64 = 0.05;

/// A search that has ended.
pub(super) struct Report<'a> {
    pub(super) tuned: &'a Tuned,
    /// The parameters of the user.
    pub(super) params: &'a TrainParams,
    pub(super) out: &'a Path,
    pub(super) config: Option<&'a Path>,
    /// The test data.
    pub(super) test: Option<&'a Path>,
    /// What was read: the data, the validation data and the test data.
    pub(super) reports: [Option<&'a ReadReport>; 3],
    pub(super) elapsed: Duration,
}

impl Report<'_> {
    fn rules(&self) -> StatedRules {
        StatedRules::new(self.params.rules(), &self.params.boosting().metric, &[])
    }

    /// What the model consists of.
    fn size(&self) -> String {
        match self.tuned.model.tree_ensemble() {
            Ok(ensemble) => text::count(ensemble.n_trees(), "tree"),
            Err(_) => format!("a {} model", self.tuned.model.ranker().kind()),
        }
    }

    fn n_trees(&self) -> usize {
        self.tuned.model.tree_ensemble().map_or(0, rankwise::model::TreeEnsemble::n_trees)
    }

    fn count(&self, is_wanted: impl Fn(&TrialResult) -> bool) -> usize {
        self.tuned.trials.iter().filter(|trial| is_wanted(&trial.result)).count()
    }

    fn spec(&self) -> CompareSpec {
        let seed = self.params.boosting().seed;
        let intervals = IntervalSpec { confidence: 1.0 - ALPHA, seed, ..IntervalSpec::default() };
        CompareSpec { intervals, ..CompareSpec::default() }
    }

    pub(super) fn text(&self, is_quiet: bool) -> String {
        let mut trials = Trials::new(self.params);
        trials.add(0, &self.tuned.default);
        self.tuned.trials.iter().enumerate().for_each(|(idx, trial)| trials.add(idx + 1, trial));
        if is_quiet {
            return self.settings() + "\n";
        }
        let mut out = self.counts();
        let _ = writeln!(out, "\n{}", trials.text());
        if self.tuned.trials.len() > SHOWN {
            let _ = writeln!(out, "the best {SHOWN} of {}\n", text::count(self.tuned.trials.len(), "trial"));
        }
        let n_tested = text::count(self.tuned.n_queries[2], "query");
        let _ = match (self.tuned.tested_on, self.test) {
            (TestedOn::TestData, Some(path)) => writeln!(out, "on {}, {n_tested}:\n", files::shown(path)),
            _ => writeln!(out, "on the {n_tested} of the validation data that the search did not see:\n"),
        };
        let spec = self.spec();
        let compared = self.compared(&spec);
        for metric in 0..self.tuned.table.n_metrics() {
            let (systems, pairs) = (compared.systems(metric), compared.pairs(metric));
            let _ = writeln!(out, "{systems}\n\n{pairs}\n{}", compared.findings(metric));
        }
        let _ = writeln!(out, "wrote {}: {}", files::shown(self.out), self.size());
        if let Some(path) = self.config {
            let _ = writeln!(out, "wrote {}: the winning parameters, for `train --config`", path.display());
        }
        let _ = writeln!(out, "rules: {}", self.rules().text);
        if self.tuned.is_interrupted {
            out += "interrupted; the winner is the best of the trials until then\n";
        }
        out
    }

    /// The parameters of the winner that were searched.
    fn settings(&self) -> String {
        let settings = self.tuned.trials[self.tuned.best].settings.iter();
        settings.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    fn counts(&self) -> String {
        let [n_train, n_deciding, _] = self.tuned.n_queries.map(|count| text::count(count, "query"));
        let trials = text::count(self.tuned.trials.len(), "trial");
        let seconds = self.elapsed.as_secs_f64();
        let mut out = format!("{trials} trained on {n_train} and compared on {n_deciding}, in {seconds:.1} s\n");
        let stopped = self.count(|result| matches!(result, TrialResult::Stopped { .. }));
        if stopped > 0 {
            let _ = writeln!(out, "{} stopped early, not among the best third", text::count(stopped, "trial"));
        }
        let failed = self.count(|result| matches!(result, TrialResult::Failed { .. }));
        if let Some(problem) = self.tuned.trials.iter().find_map(problem) {
            let _ = writeln!(out, "{} failed, the first because of {problem}", text::count(failed, "trial"));
        }
        out
    }

    fn compared<'b>(&'b self, spec: &'b CompareSpec) -> CompareReport<'b> {
        CompareReport {
            table: &self.tuned.table,
            comparison: &self.tuned.comparison,
            spec,
            alpha: ALPHA,
            rules: self.rules(),
            n_empty: 0,
            mean_counts: Vec::new(),
        }
    }

    pub(super) fn json(&self) -> Value {
        let rules = self.rules();
        let spec = self.spec();
        let metrics = |system: usize| -> Map<String, Value> {
            let summaries = self.tuned.comparison.systems[system].iter().enumerate();
            summaries.map(|(metric, one)| (self.tuned.table.metric(metric).to_owned(), json!(one.mean))).collect()
        };
        let [n_train, n_deciding, n_tested] = self.tuned.n_queries;
        let parameters: Map<String, Value> = recorded(&self.tuned.params)
            .into_iter()
            .map(|setting| (setting.name.to_owned(), setting.value.into()))
            .collect();
        let [data, valid, test] = self.reports.map(|report| report.map(reading::to_json));
        json!({
            "model": self.out.display().to_string(),
            "trees": self.n_trees(),
            "metric": self.params.boosting().metric[0].as_str(),
            "metric_names": rules.metric_names,
            "convention": rules.entries,
            "trials": self.tuned.trials.iter().map(trial_json).collect::<Vec<_>>(),
            "default": trial_json(&self.tuned.default),
            "best": self.tuned.best + 1,
            "parameters": parameters,
            "tested_on": match self.tuned.tested_on {
                TestedOn::TestData => "test data",
                TestedOn::HalfOfValidation => "half of the validation data",
            },
            "winner_metrics": metrics(0),
            "default_metrics": metrics(1),
            "tests": self.compared(&spec).tests_json(),
            "queries": { "train": n_train, "search": n_deciding, "test": n_tested },
            "interrupted": self.tuned.is_interrupted,
            "data": data,
            "valid_data": valid,
            "test_data": test,
        })
    }
}

fn problem(trial: &Trial) -> Option<&String> {
    match &trial.result {
        TrialResult::Failed { problem } => Some(problem),
        TrialResult::Finished { .. } | TrialResult::Stopped { .. } => None,
    }
}

fn trial_json(trial: &Trial) -> Value {
    let parameters: Map<String, Value> =
        trial.settings.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let (result, value, rounds) = match &trial.result {
        TrialResult::Finished { value, rounds } => ("finished", *value, *rounds),
        TrialResult::Stopped { value, rounds } => ("stopped", *value, *rounds),
        TrialResult::Failed { problem } => {
            return json!({ "parameters": parameters, "result": "failed", "problem": problem });
        }
    };
    json!({ "parameters": parameters, "result": result, "value": value, "trees": rounds })
}
