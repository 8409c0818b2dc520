//! The page of `rankwise train`.

use rankwise::train::{History, Learner, StopReason, TrainParams, Trained};
use rankwise_report::{Axis, Block, Figure, Lines, Plot, Report, Section, Series, Table, Text};

use super::of_comparison::{learning, models};
use super::{Facts, ModelFacts, Parameters, facts, file_name, footer};
use crate::system::StatedRules;
use crate::text;

/// Rows of the table behind a learning curve.
const MOST_ROWS: usize = 100;

/// What a page about a training run is made from.
pub(crate) struct TrainingPage<'a> {
    pub(crate) params: &'a TrainParams,
    pub(crate) trained: &'a Trained,
    pub(crate) model: ModelFacts,
    pub(crate) data: Facts,
    pub(crate) valid: Vec<Facts>,
}

impl TrainingPage<'_> {
    /// The page.
    pub(crate) fn page(&self) -> Report {
        let mut page = Report::new("rankwise train", self.headline());
        page.lead = vec![self.lead()];
        page.facts = self.data.list();
        page.footer = footer();
        let rules = StatedRules::new(self.params.rules(), &self.params.boosting().metric, &[]);
        let mut last = facts::section(&rules, &Parameters::default())
            .block(facts::settings(&self.params.resolved()))
            .block(Block::Table(self.data.table("training data")));
        for valid in &self.valid {
            last = last.block(Block::Table(valid.table("validation data")));
        }
        page.section(self.metrics())
            .section(self.learning())
            .section(models(std::slice::from_ref(&self.model)))
            .section(last.block(facts::command()))
    }

    fn n_kept(&self) -> usize {
        match self.trained.model.tree_ensemble() {
            Ok(ensemble) if self.learner().is_boosting() => ensemble.n_trees() - self.trained.start_trees,
            _ => self.trained.rounds_kept,
        }
    }

    fn learner(&self) -> Learner {
        self.params.boosting().learner
    }

    fn headline(&self) -> Text {
        let trees = text::count(self.n_kept(), self.learner().round_name());
        match self.trained.values.first() {
            Some(value) => Text::plain(format!("{} {:.6} on ", value.metric, value.value))
                .name(&value.set)
                .then(format!(" with {trees}")),
            None => format!("A model of {trees}, without validation").into(),
        }
    }

    fn lead(&self) -> Text {
        let Trained { trees_grown, stopped, start_trees, .. } = self.trained;
        let why = match stopped {
            StopReason::Finished => "",
            StopReason::EarlyStopping => "; early stopping, because the metric stopped improving",
            StopReason::NothingToLearn if self.learner().is_boosting() => "; then no split improved the loss",
            StopReason::NothingToLearn => "; then nothing was left to learn",
            StopReason::Interrupted => "; interrupted",
        };
        let onto = match start_trees {
            0 => String::new(),
            n_trees => format!(" in addition to the start model's {}", text::thousands(*n_trees as u64)),
        };
        let kept = if self.n_kept() < *trees_grown { format!(", kept {}", self.n_kept()) } else { String::new() };
        let advice = if self.trained.values.is_empty() {
            " How good it is on other data, a validation set (--valid) or the command eval can tell."
        } else if self.trained.history.rounds().len() > 1 {
            " The number of rounds was chosen on the validation data, so its metrics are a little optimistic."
        } else {
            ""
        };
        let verb = if self.learner().is_boosting() { "grew" } else { "took" };
        let done = text::count(*trees_grown, self.learner().round_name());
        format!("Training {verb} {done}{onto}{kept}{why}.{advice}").into()
    }

    fn metrics(&self) -> Section {
        let section = Section::new("metrics", "Metrics");
        if self.trained.values.is_empty() {
            return section;
        }
        let mut table = Table::new(["validation data", "metric", "mean"]);
        for value in &self.trained.values {
            table.push([value.set.clone(), value.metric.clone(), format!("{:.6}", value.value)]);
        }
        section.block(Block::Table(table))
    }

    fn learning(&self) -> Section {
        learning(learning_curves(&self.trained.history, self.trained.rounds_kept, ""))
    }
}

/// A plot for each metric, with a line for each validation set.
pub(crate) fn learning_curves(history: &History, n_kept: usize, of: &str) -> Vec<Figure> {
    if history.rounds().is_empty() {
        return Vec::new();
    }
    let mut metrics: Vec<&str> = Vec::new();
    for curve in &history.curves {
        if !metrics.contains(&curve.metric.as_str()) {
            metrics.push(&curve.metric);
        }
    }
    let figure = |metric: &&str| {
        let curves: Vec<_> = history.curves.iter().filter(|curve| curve.metric == **metric).collect();
        let series = |curve: &&rankwise::train::Curve| Series {
            name: curve.set.clone(),
            points: history.rounds().map(|round| round as f64).zip(curve.values.iter().copied()).collect(),
        };
        let mut table =
            Table::new(std::iter::once("rounds".to_owned()).chain(curves.iter().map(|curve| curve.set.clone())));
        let n_rounds = history.rounds().len();
        let every = n_rounds.div_ceil(MOST_ROWS).max(1);
        for (idx, round) in history.rounds().enumerate() {
            if idx % every == 0 || idx + 1 == n_rounds || round == n_kept {
                let values = curves.iter().map(|curve| format!("{:.6}", curve.values[idx]));
                table.push(std::iter::once(round.to_string()).chain(values));
            }
        }
        let mut lines = Lines::new(Axis::linear("rounds"), Axis::linear(*metric), curves.iter().map(series).collect());
        if history.rounds().contains(&n_kept) && history.rounds().len() > 1 {
            lines.mark = Some((n_kept as f64, format!("kept: {n_kept}")));
        }
        let on = match &curves[..] {
            [one] => Text::plain(format!("{metric} on ")).name(&one.set),
            _ => Text::plain(format!("{metric} on the validation data")),
        };
        let title = if of.is_empty() { on } else { Text::of_name(of).then(": ").text(on) };
        Figure::new(file_name(&format!("learning-{of}-{metric}")), title, Plot::Lines(lines), table)
    };
    metrics.iter().map(figure).collect()
}
