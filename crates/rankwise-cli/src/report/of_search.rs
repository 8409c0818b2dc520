//! The page of `rankwise auto`.

use rankwise::tune::{AutoRanker, TriedResult};
use rankwise_report::{Axis, Block, Cell, Dot, Dots, Figure, Lines, Plot, Report, Section, Series, Table, Text};

use super::of_comparison::models;
use super::{Facts, ModelFacts, Parameters, facts, footer, tables};
use crate::comparison;
use crate::system::StatedRules;
use crate::text;

/// What a page about a search is made from.
pub(crate) struct SearchPage<'a> {
    pub(crate) found: &'a AutoRanker,
    pub(crate) metric: &'a str,
    pub(crate) rules: StatedRules,
    /// The printed table of estimates, with a head.
    pub(crate) estimates: Vec<Vec<String>>,
    /// What was chosen and what more time would give, as printed.
    pub(crate) words: Vec<String>,
    pub(crate) model: ModelFacts,
    pub(crate) data: Facts,
    pub(crate) valid: Option<Facts>,
    pub(crate) parameters: Parameters,
}

impl SearchPage<'_> {
    /// The page.
    pub(crate) fn page(&self) -> Report {
        let mut page = Report::new("rankwise auto", self.headline());
        page.lead = self.words.iter().map(|words| tables::sentence(words).into()).collect();
        page.facts = self.data.list();
        page.footer = footer();
        let mut rules = facts::section(&self.rules, &self.parameters).block(Block::Table(self.data.table("data")));
        if let Some(valid) = &self.valid {
            rules = rules.block(Block::Table(valid.table("validation data")));
        }
        page.section(self.estimates())
            .section(self.tried())
            .section(models(std::slice::from_ref(&self.model)))
            .section(rules.block(facts::command()))
    }

    fn headline(&self) -> Text {
        let last = self.found.rungs.last().map(|rung| &rung.summary);
        let mean = text::mean(last.and_then(|summary| summary.mean));
        let interval = comparison::interval(last.and_then(|summary| summary.interval));
        format!("Expected {} {mean} {interval}", self.metric).into()
    }

    fn estimates(&self) -> Section {
        let dot = |summary: &rankwise::eval::Summary| {
            let interval = summary.interval.map(|interval| [interval.low, interval.high]);
            summary.mean.map(|value| Dot { value, interval })
        };
        // The names are long, so the plot has their numbers.
        let groups = (1..=self.found.rungs.len()).map(|step| [step.to_string(), String::new()]).collect();
        let dots = self.found.rungs.iter().map(|rung| dot(&rung.summary)).collect();
        let plot = Plot::Dots(Dots {
            y: Axis::linear(self.metric),
            label: "estimates, from top to bottom of the table".into(),
            groups,
            series: vec![("estimate".into(), dots)],
        });
        let figure = Figure::new("estimates", "Estimates with their intervals", plot, Table::default());
        Section::new("metrics", "What to expect")
            .block(Block::Table(tables::of_rows(self.estimates.clone())))
            .block(Block::Figures(vec![figure]))
            .text(format!(
                "Every estimate was measured on the half of the {} validation queries that did not choose.",
                text::thousands(self.found.n_valid_queries as u64)
            ))
    }

    fn tried(&self) -> Section {
        let mut table = Table::new(["step", "model", self.metric, "trees", "in the model"]);
        let [mut each, mut best] = [Vec::new(), Vec::new()];
        for (step, tried) in (1..).zip(&self.found.tried) {
            let row = |value: String, trees: String, remark: String| {
                vec![
                    Cell::Number(step.to_string()),
                    Cell::Words(Text::of_name(&tried.name)),
                    Cell::Number(value),
                    Cell::Number(trees),
                    Cell::Words(Text::of_name(remark)),
                ]
            };
            table.rows.push(match &tried.result {
                TriedResult::Trained { value, rounds, factor } => {
                    each.push((f64::from(step), *value));
                    let is_used = if factor.is_some() { "yes" } else { "no" };
                    row(format!("{value:.4}"), rounds.to_string(), is_used.into())
                }
                TriedResult::Dropped { value, rounds } => {
                    row(format!("{value:.4}"), rounds.to_string(), "no: dropped early".into())
                }
                TriedResult::Failed { problem } => row("-".into(), "-".into(), format!("no: {problem}")),
            });
        }
        for (step, value) in &each {
            let before = best.last().map_or(*value, |(_, best): &(f64, f64)| *best);
            best.push((*step, if self.is_larger_better() { before.max(*value) } else { before.min(*value) }));
        }
        let series =
            vec![Series { name: "model".into(), points: each }, Series { name: "best so far".into(), points: best }];
        let plot = Plot::Lines(Lines::new(Axis::linear("step"), Axis::linear(self.metric), series));
        let title = Text::plain(format!("{} of each model on the validation data", self.metric));
        let figure = Figure::new("steps", title, plot, table)
            .note("The validation data chose the number of trees, so these values are optimistic; the estimates above are not.");
        Section::new("learning", "What was tried").block(Block::Figures(vec![figure]))
    }

    fn is_larger_better(&self) -> bool {
        let means = self.found.rungs.iter().filter_map(|rung| rung.summary.mean);
        let ends: Vec<f64> = means.collect();
        // From random order to the model.
        ends.first() <= ends.last()
    }
}
