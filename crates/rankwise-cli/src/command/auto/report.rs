//! What `rankwise auto` tried, chose and expects.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use rankwise::eval::Summary;
use rankwise::io::ReadReport;
use rankwise::train::TrainParams;
use rankwise::tune::{AutoRanker, Rule, Rung, Tried, TriedResult};
use rankwise_report::Report as Page;
use serde_json::{Value, json};

use crate::comparison::{interval, interval_json, interval_title, signed};
use crate::report::{DataFacts, Facts, ModelFacts, Parameters, SearchPage};
use crate::system::StatedRules;
use crate::{files, reading, text};

/// A search that has ended.
pub(super) struct Report<'a> {
    pub(super) found: &'a AutoRanker,
    pub(super) params: &'a TrainParams,
    pub(super) out: &'a Path,
    pub(super) is_refitted: bool,
    pub(super) steps_asked: Option<usize>,
    pub(super) data: &'a ReadReport,
    pub(super) valid: Option<&'a ReadReport>,
    pub(super) elapsed: Duration,
}

/// One step in a line: its number, what was trained, and what became of it.
pub(super) fn tried_row(step: usize, tried: &Tried) -> String {
    let result = match &tried.result {
        TriedResult::Trained { value, rounds, .. } => format!("{value:.4}  {}", text::count(*rounds, "tree")),
        TriedResult::Dropped { value, rounds } => {
            format!("{value:.4}  dropped after {}", text::count(*rounds, "tree"))
        }
        TriedResult::Failed { problem } => format!("left out: {problem}"),
    };
    format!("{:>3}  {:<28}  {result}", step + 1, tried.name)
}

impl Report<'_> {
    fn metric(&self) -> &str {
        self.params.boosting().metric[0].as_str()
    }

    fn rules(&self) -> StatedRules {
        StatedRules::new(self.params.rules(), &self.params.boosting().metric[..1], &[])
    }

    fn n_trained(&self) -> usize {
        self.found.tried.iter().filter(|tried| matches!(tried.result, TriedResult::Trained { .. })).count()
    }

    fn n_combined(&self) -> usize {
        let has_part = |tried: &&Tried| matches!(tried.result, TriedResult::Trained { factor: Some(_), .. });
        self.found.tried.iter().filter(has_part).count()
    }

    fn n_trees(&self) -> usize {
        self.found.model.tree_ensemble().map_or(0, rankwise::model::TreeEnsemble::n_trees)
    }

    /// The last estimate: that of the model.
    fn last(&self) -> &Rung {
        self.found.rungs.last().expect("random order is always there")
    }

    pub(super) fn text(&self, is_quiet: bool) -> String {
        if is_quiet {
            return format!("estimated {}: {}\n", self.metric(), text::mean(self.last().summary.mean));
        }
        let mut out = String::new();
        let _ = writeln!(
            out,
            "{} trained on {} and chosen by {}, in {:.1} s\n",
            text::count(self.found.tried.len(), "model"),
            text::count(self.found.n_train_queries, "query"),
            text::count(self.found.n_valid_queries, "query"),
            self.elapsed.as_secs_f64()
        );
        out += &self.estimates();
        let _ = writeln!(
            out,
            "every estimate was measured on the half of the {} validation queries that did not choose",
            text::thousands(self.found.n_valid_queries as u64)
        );
        let _ = writeln!(out, "\n{}", self.choice());
        let _ = writeln!(out, "{}", self.outlook());
        if self.is_refitted {
            out += "the models were trained again on all data; the estimates are those of before\n";
        }
        let _ = writeln!(out, "wrote {}: {}", files::shown(self.out), text::count(self.n_trees(), "tree"));
        let _ = writeln!(out, "rules: {}", self.rules().text);
        if self.found.is_interrupted {
            out += "interrupted; the model combines what was trained until then\n";
        }
        out
    }

    fn estimates(&self) -> String {
        text::table(&self.estimate_rows())
    }

    /// The estimates, below a head.
    fn estimate_rows(&self) -> Vec<Vec<String>> {
        let title = interval_title(0.95);
        let mut rows = vec![vec!["estimate".into(), self.metric().to_owned(), title.clone(), "gain".into(), title]];
        for rung in &self.found.rungs {
            let mut row = vec![rung.name.clone(), text::mean(rung.summary.mean), interval(rung.summary.interval)];
            if let Some(gain) = &rung.gain {
                row.extend([difference(gain), signed(gain.interval)]);
            }
            rows.push(row);
        }
        rows
    }

    /// The page of `--report`.
    pub(super) fn page(&self, place: &Path, valid_place: Option<&Path>, read: [Option<DataFacts>; 2]) -> Page {
        let [data, valid] = read;
        let facts = |place: &Path, data: Option<DataFacts>| Facts {
            place: files::shown(place),
            n_queries: data.as_ref().map_or(0, |data| data.queries),
            data,
        };
        let parameters = Parameters(
            self.params
                .resolved()
                .into_iter()
                .filter(|setting| !setting.is_default)
                .map(|set| (set.name.to_owned(), set.value))
                .collect(),
        );
        let mut words = vec![self.choice(), self.outlook()];
        if self.is_refitted {
            words.push("the models were trained again on all data; the estimates are those of before".into());
        }
        let page = SearchPage {
            found: self.found,
            metric: self.metric(),
            rules: self.rules(),
            estimates: self.estimate_rows(),
            words,
            model: ModelFacts::new(files::shown(self.out), &self.found.model),
            data: facts(place, data),
            valid: valid_place.map(|place| facts(place, valid)),
            parameters,
        };
        page.page()
    }

    /// What is combined, and why.
    fn choice(&self) -> String {
        let combined = self.n_combined();
        match self.found.rule {
            Rule::All if combined == 1 => "there is one model, so nothing is combined".into(),
            Rule::All => format!(
                "the model is the mean of all {combined}, each divided by the standard deviation of its scores: no smaller set \
                 was better by more than chance"
            ),
            Rule::Best(1) => {
                "the model is the best single one: on queries that did not choose it, it was better than the \
                 mean by more than chance; the last estimate may be that of another choice, as each half of the queries chose by \
                 itself"
                    .into()
            }
            Rule::Best(_) => format!(
                "the model is the mean of the best {combined}: on queries that did not choose them, they were better than the mean \
                 of all by more than chance; the last estimate may be that of another choice, as each half of the queries chose \
                 by itself"
            ),
        }
    }

    /// What more time would probably give.
    fn outlook(&self) -> String {
        let more = if self.steps_asked.is_some() { "more steps" } else { "more time" };
        let Some(gain) = &self.found.last_doubling else {
            return format!("{more} would allow more models, which usually rank better together");
        };
        let (difference, range) = (difference(gain), signed(gain.interval));
        let is_clear = gain.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0);
        let advice = if is_clear && gain.mean.unwrap_or(0.0) > 0.0 {
            format!("{more} will probably help")
        } else {
            format!("{more} will probably change little")
        };
        let n_models = self.n_trained();
        format!("{n_models} models instead of the first {}: {difference} {range}; {advice}", n_models / 2)
    }

    pub(super) fn json(&self) -> Value {
        let summary = |summary: &Summary| json!({ "mean": summary.mean, "interval": interval_json(summary.interval), "queries": summary.n_queries });
        let estimate = |rung: &Rung| {
            json!({
                "name": rung.name,
                "value": summary(&rung.summary),
                "gain": rung.gain.as_ref().map(summary),
                "over_random": rung.over_random.as_ref().map(summary),
            })
        };
        let tried = |tried: &Tried| {
            let name = &tried.name;
            match &tried.result {
                TriedResult::Trained { value, rounds, factor } => {
                    json!({ "name": name, "result": "trained", "value": value, "trees": rounds, "factor": factor })
                }
                TriedResult::Dropped { value, rounds } => {
                    json!({ "name": name, "result": "dropped", "value": value, "trees": rounds })
                }
                TriedResult::Failed { problem } => json!({ "name": name, "result": "failed", "problem": problem }),
            }
        };
        let rules = self.rules();
        json!({
            "model": self.out.display().to_string(),
            "trees": self.n_trees(),
            "metric": self.metric(),
            "metric_names": rules.metric_names,
            "convention": rules.entries,
            "steps": self.found.tried.iter().map(tried).collect::<Vec<_>>(),
            "combined": self.n_combined(),
            "estimates": self.found.rungs.iter().map(estimate).collect::<Vec<_>>(),
            "last_doubling": self.found.last_doubling.as_ref().map(summary),
            "queries": { "train": self.found.n_train_queries, "valid": self.found.n_valid_queries },
            "refitted": self.is_refitted,
            "interrupted": self.found.is_interrupted,
            "data": reading::to_json(self.data),
            "valid_data": self.valid.map(reading::to_json),
        })
    }
}

fn difference(gain: &Summary) -> String {
    gain.mean.map_or_else(|| "-".into(), |mean| format!("{mean:+.4}"))
}
