//! The page of `rankwise eval`.

use rankwise::eval::{Interval, IntervalSpec};
use rankwise::metrics::{Evaluation, MetricValues};
use rankwise_report::{Block, Report, Section, Table, Text};

use super::deciding::{DECIDING, Judged};
use super::groups::MetricByQuery;
use super::of_comparison::{grades_section, models};
use super::{Facts, ModelFacts, Parameters, facts, footer, groups, tables};
use crate::comparison;
use crate::mean_count::MeanCount;
use crate::system::{Queries, StatedRules};
use crate::text;

/// What a page about an evaluation is made from.
pub(crate) struct EvaluationPage<'a> {
    pub(crate) names: &'a [String],
    pub(crate) evaluations: &'a [Evaluation],
    /// The interval of each mean, by system and metric.
    pub(crate) intervals_of: Vec<Vec<Option<Interval>>>,
    /// The queries behind each mean.
    pub(crate) counted: Vec<(String, MeanCount)>,
    pub(crate) queries: &'a Queries,
    pub(crate) intervals: IntervalSpec,
    pub(crate) judged: Judged<'a>,
    pub(crate) models: &'a [ModelFacts],
    pub(crate) facts: Facts,
    pub(crate) rules: &'a StatedRules,
    pub(crate) parameters: Parameters,
}

impl EvaluationPage<'_> {
    /// The page. Plots and rankings show the first metric that has a value for each query.
    pub(crate) fn page(&self) -> Report {
        let mut page = Report::new("rankwise eval", self.headline());
        page.lead = self.lead();
        page.facts = self.facts.list();
        page.footer = footer();
        let shown = self.evaluations[0].metrics.iter().position(|metric| !metric.is_pooled);
        page = page.section(self.metrics());
        if let Some(shown) = shown {
            page = page.section(self.groups(shown));
        }
        page = page.section(grades_section(&self.judged, self.names));
        if let (Some(shown), [evaluation]) = (shown, self.evaluations) {
            page = page.section(self.worst(&evaluation.metrics[shown]));
        }
        let rules = facts::section(self.rules, &self.parameters)
            .block(Block::Table(self.facts.table("data")))
            .block(facts::command());
        page.section(models(self.models)).section(rules)
    }

    fn headline(&self) -> Text {
        let metric = |system: usize| &self.evaluations[system].metrics[0];
        let best = (0..self.evaluations.len()).filter_map(|system| {
            let sign = if metric(system).is_larger_better { 1.0 } else { -1.0 };
            Some((system, sign * metric(system).mean?))
        });
        let Some((best, _)) = best.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))) else {
            return "No query has a value".into();
        };
        let (name, value) = (&metric(best).name, text::mean(metric(best).mean));
        if self.names.len() == 1 {
            return Text::of_name(&self.names[0]).then(format!(": {name} {value}"));
        }
        Text::of_name(&self.names[best]).then(format!(" has the best {name} of {} systems: {value}", self.names.len()))
    }

    fn lead(&self) -> Vec<Text> {
        let mut lead = Vec::new();
        if let ([_], Some(interval)) = (self.names, self.intervals_of[0][0]) {
            lead.push(
                Text::plain(format!("The {} of the mean is ", self.interval_title()))
                    .strong(comparison::interval(Some(interval)))
                    .then(format!(", {}.", tables::counted(&self.counted[..1]).trim_start_matches("mean "))),
            );
        }
        if self.names.len() > 1 {
            lead.push("Whether a difference could be chance, the command compare can tell.".into());
        }
        lead
    }

    fn metrics(&self) -> Section {
        let mut section = Section::new("metrics", "Metrics");
        let cells = |system: usize, metric: usize| {
            let mean = self.evaluations[system].metrics[metric].mean;
            [text::mean(mean), comparison::interval(self.intervals_of[system][metric])]
        };
        let metrics = &self.evaluations[0].metrics;
        if self.names.len() == 1 {
            let mut table = Table::new(["metric", "mean", &self.interval_title()]);
            for (idx, metric) in metrics.iter().enumerate() {
                table.push(std::iter::once(metric.name.clone()).chain(cells(0, idx)));
            }
            section = section.block(Block::Table(table));
        } else {
            for (idx, metric) in metrics.iter().enumerate() {
                let mut table = Table::new(["system", &metric.name, &self.interval_title()]);
                for (system, name) in self.names.iter().enumerate() {
                    table.push(std::iter::once(name.clone()).chain(cells(system, idx)));
                }
                section = section.block(Block::Table(table));
            }
        }
        section.text(tables::sentence(&tables::counted(&self.counted)))
    }

    fn interval_title(&self) -> String {
        comparison::interval_title(self.intervals.confidence)
    }

    fn groups(&self, shown: usize) -> Section {
        let weights: Vec<f64> = self.queries.weights.iter().copied().map(f64::from).collect();
        let values = |evaluation| -> &[Option<f64>] {
            let evaluation: &Evaluation = evaluation;
            &evaluation.metrics[shown].per_query
        };
        let systems = self.names.iter().map(String::as_str).zip(self.evaluations.iter().map(values));
        let values = MetricByQuery {
            metric: &self.evaluations[0].metrics[shown].name,
            systems: systems.collect(),
            weights: &weights,
            intervals: &self.intervals,
        };
        let figures = groups::figures(&values, self.judged.n_docs, &self.judged.rankings.n_relevant);
        let section = Section::new("groups", "Which queries");
        if figures.is_empty() { section } else { section.block(Block::Figures(figures)) }
    }

    /// The queries with the worst values, of those that have something to find.
    fn worst(&self, metric: &MetricValues) -> Section {
        let mut section = Section::new("deciding", "The queries ranked worst");
        let sign = if metric.is_larger_better { 1.0 } else { -1.0 };
        let relevant = &self.judged.rankings.n_relevant;
        let is_open = |query: &usize| relevant[*query] > 0 && self.queries.weights[*query] > 0.0;
        let values = metric.per_query.iter().enumerate().filter(|(query, _)| is_open(query));
        let mut order: Vec<(usize, f64)> = values.filter_map(|(query, value)| Some((query, (*value)?))).collect();
        // Among equals, those with more to find.
        order.sort_by(|a, b| {
            (sign * a.1).total_cmp(&(sign * b.1)).then(relevant[b.0].cmp(&relevant[a.0])).then(a.0.cmp(&b.0))
        });
        if !order.is_empty() {
            section = section
                .text("The documents as they were ranked, beside the best possible order of the same documents.");
        }
        for (place, (query, value)) in order.into_iter().take(DECIDING).enumerate() {
            let qid = self.queries.ids.get(query);
            let block = self.judged.beside_ideal(query, qid, &self.names[0], (&metric.name, value), place == 0);
            section = section.block(block);
        }
        section
    }
}
