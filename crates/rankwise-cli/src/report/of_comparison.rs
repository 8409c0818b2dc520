//! The page of `rankwise compare`.

use rankwise::eval::{Alternative, Pair, QueryValues};
use rankwise_report::{Block, Cell, Differences, Figure, Plot, Report, Section, Table, Text};

use super::deciding::{DECIDING, DUEL_NOTE, Duel, Judged};
use super::groups::MetricByQuery;
use super::{Facts, ModelFacts, Parameters, facts, file_name, footer, grades, groups, tables};
use crate::comparison::{self, Verdict};
use crate::text;

/// Pairs with plots and rankings; more would make the page long, and the tables have all.
const MAX_PAIRS: usize = 3;
/// Models with a plot of their features.
const MAX_MODELS: usize = 4;

/// What a page about a comparison is made from.
pub(crate) struct ComparisonPage<'a> {
    /// The command.
    pub(crate) origin: &'static str,
    /// The printed report.
    pub(crate) report: &'a comparison::Report<'a>,
    pub(crate) judged: Judged<'a>,
    pub(crate) models: &'a [ModelFacts],
    /// How the models learnt, if this command trained them.
    pub(crate) learning: Vec<Figure>,
    pub(crate) facts: Facts,
    pub(crate) parameters: Parameters,
}

impl ComparisonPage<'_> {
    /// The page. Plots and rankings show the first metric.
    pub(crate) fn page(&self) -> Report {
        let mut page = Report::new(self.origin, self.headline());
        page.lead = self.lead();
        page.facts = self.facts.list();
        page.footer = footer();
        page.section(self.metrics())
            .section(learning(self.learning.clone()))
            .section(self.differences())
            .section(self.groups())
            .section(self.grades())
            .section(self.deciding())
            .section(models(self.models))
            .section(self.rules())
    }

    /// The result in words.
    fn headline(&self) -> Text {
        let report = self.report;
        let pairs = report.pairs_of(0);
        let name = |system: usize| Text::of_name(&report.table.names()[system]);
        if let [pair] = &pairs[..] {
            return match report.verdict(pair) {
                Verdict::Better { better, worse } => name(better).then(" is better than ").text(name(worse)),
                Verdict::Undecided if report.spec.alternative == Alternative::FirstIsBetter => {
                    name(pair.a).then(" is not shown to be better than ").text(name(pair.b))
                }
                Verdict::Undecided => Text::plain("No significant difference between ")
                    .text(name(pair.a))
                    .then(" and ")
                    .text(name(pair.b)),
                Verdict::Unknown => {
                    Text::plain("Too few queries to compare ").text(name(pair.a)).then(" with ").text(name(pair.b))
                }
            };
        }
        let Some(best) = self.best() else { return "No query has a value".into() };
        let with_best: Vec<&&Pair> = pairs.iter().filter(|pair| pair.a == best || pair.b == best).collect();
        let is_beaten =
            |pair: &&&Pair| matches!(report.verdict(pair), Verdict::Better { better, .. } if better == best);
        let n_beaten = with_best.iter().filter(|pair| is_beaten(pair)).count();
        let metric = report.table.metric(0);
        match (n_beaten, with_best.len()) {
            (1, 1) => {
                let other = if with_best[0].a == best { with_best[0].b } else { with_best[0].a };
                name(best).then(" has the best ").then(metric).then(" and is better than ").text(name(other))
            }
            (n, all) if n == all => name(best).then(format!(" is better than the {all} others")),
            (0, _) => name(best).then(format!(" has the best {metric}, but no significant lead")),
            (n, all) => name(best).then(format!(" has the best {metric} and is better than {n} of the {all} others")),
        }
    }

    /// The system with the best mean.
    fn best(&self) -> Option<usize> {
        let sign = if self.report.table.is_larger_better(0) { 1.0 } else { -1.0 };
        let means = self.report.comparison.systems.iter().enumerate();
        let means = means.filter_map(|(system, summaries)| Some((system, sign * summaries[0].mean?)));
        means.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|(system, _)| system)
    }

    /// The differences behind the headline.
    fn lead(&self) -> Vec<Text> {
        let report = self.report;
        let metric = report.table.metric(0);
        let pairs = report.pairs_of(0);
        let mut lead: Vec<Text> = pairs.iter().take(MAX_PAIRS).map(|pair| self.pair_text(pair, metric)).collect();
        if pairs.len() > MAX_PAIRS {
            lead.push(format!("And {} more pairs, in the table below.", pairs.len() - MAX_PAIRS).into());
        }
        lead
    }

    fn pair_text(&self, pair: &Pair, metric: &str) -> Text {
        let [a, b] = self.report.names(pair);
        let mean = |system: usize| text::mean(self.report.comparison.systems[system][0].mean);
        let p = comparison::p(pair.corrected);
        let p = if p.starts_with('<') { p } else { format!("= {p}") };
        Text::of_name(a)
            .then(format!(" {}, ", mean(pair.a)))
            .name(b)
            .then(format!(" {}: a difference of ", mean(pair.b)))
            .strong(format!("{:+.4} {metric}", pair.difference))
            .then(format!(
                " ({} {}, p {p}). The first is better on {}, worse on {}, equal on {}.",
                comparison::interval_title(self.report.spec.intervals.confidence),
                comparison::signed(pair.interval),
                text::count(pair.wins, "query"),
                text::thousands(pair.losses as u64),
                text::thousands(pair.ties as u64)
            ))
    }

    fn metrics(&self) -> Section {
        let report = self.report;
        let mut section = Section::new("metrics", "Metrics");
        for metric in 0..report.table.n_metrics() {
            if report.table.n_metrics() > 1 {
                section = section.block(Block::Heading(report.table.metric(metric).into()));
            }
            section = section
                .block(Block::Table(tables::of_rows(report.system_rows(metric))))
                .block(Block::Table(self.pairs(metric)))
                .text(tables::sentence(&list(&report.findings(metric))));
        }
        let counted = tables::sentence(&tables::counted(&report.counted()));
        section.text(format!("Test: {}. {counted}", report.test_line()))
    }

    /// The printed table of pairs, with each name by itself.
    fn pairs(&self, metric: usize) -> Table {
        let mut table = tables::of_rows(self.report.pair_rows(metric));
        for (row, pair) in table.rows.iter_mut().zip(self.report.pairs_of(metric)) {
            let [a, b] = self.report.names(pair);
            row[0] = Cell::Words(Text::of_name(a).then(" - ").name(b));
        }
        table
    }

    fn differences(&self) -> Section {
        let figures = self.shown_pairs().into_iter().map(|pair| self.difference(pair));
        let figures: Vec<Figure> = figures.filter(|figure| !figure.plot.is_empty()).collect();
        let section = Section::new("queries", "Difference per query");
        if figures.is_empty() { section } else { section.block(Block::Figures(figures)) }
    }

    /// The pairs that have plots.
    fn shown_pairs(&self) -> Vec<&Pair> {
        self.report.pairs_of(0).into_iter().take(MAX_PAIRS).collect()
    }

    fn difference(&self, pair: &Pair) -> Figure {
        /// Rows of the table: the largest differences in both directions.
        const MOST_ROWS: usize = 200;
        let table = self.report.table;
        let [a, b] = self.report.names(pair);
        let [of_a, of_b] = [pair.a, pair.b].map(|system| table.values(system, pair.metric));
        let sample = QueryValues::of_differences(of_a, of_b, table.weights());
        let mut order: Vec<(usize, f64)> =
            sample.queries().iter().copied().zip(sample.values().iter().copied()).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let metric = table.metric(pair.metric);
        let mut rows = Table::new(["query", a, b, "difference"]);
        let half = MOST_ROWS / 2;
        for (place, (query, difference)) in order.iter().enumerate() {
            if order.len() <= MOST_ROWS || place < half || place >= order.len() - half {
                let cells = [text::mean(of_a[*query]), text::mean(of_b[*query]), format!("{difference:+.4}")];
                rows.push(std::iter::once(table.queries().get(*query).to_owned()).chain(cells));
            }
        }
        let values = order.iter().map(|(query, value)| (table.queries().get(*query).to_owned(), *value)).collect();
        let [above, below] = if table.is_larger_better(pair.metric) { [a, b] } else { [b, a] };
        let count =
            |is_above: bool| if is_above == table.is_larger_better(pair.metric) { pair.wins } else { pair.losses };
        let plot = Plot::Differences(Differences {
            label: format!("difference of {metric}"),
            sides: [
                format!("{above} better: {}", text::count(count(true), "query")),
                format!("{below} better: {}", text::count(count(false), "query")),
            ],
            values,
        });
        let title = Text::of_name(a).then(" - ").name(b).then(format!(", {metric}"));
        let figure = Figure::new(file_name(&format!("difference-{metric}-{a}-{b}")), title, plot, rows);
        let equal = match pair.ties {
            0 => String::new(),
            ties => format!("Equal on {}. ", text::count(ties, "query")),
        };
        let cut =
            if order.len() > MOST_ROWS { "The table has the largest differences; --per-query writes all." } else { "" };
        figure.note(format!("{equal}Point at a bar to see its query. {cut}").trim_end().to_owned())
    }

    fn groups(&self) -> Section {
        let table = self.report.table;
        let systems = table.names().iter().enumerate().map(|(system, name)| (name.as_str(), table.values(system, 0)));
        let values = MetricByQuery {
            metric: table.metric(0),
            systems: systems.collect(),
            weights: table.weights(),
            intervals: &self.report.spec.intervals,
        };
        let figures = groups::figures(&values, self.judged.n_docs, &self.judged.rankings.n_relevant);
        let section = Section::new("groups", "Which queries");
        if figures.is_empty() { section } else { section.block(Block::Figures(figures)) }
    }

    fn grades(&self) -> Section {
        grades_section(&self.judged, self.report.table.names())
    }

    fn deciding(&self) -> Section {
        let mut section = Section::new("deciding", "The queries that decide");
        let table = self.report.table;
        let pairs = self.shown_pairs();
        let mut is_first = true;
        for pair in &pairs {
            let [a, b] = self.report.names(pair);
            for (words, queries) in [("won most", &pair.best), ("lost most", &pair.worst)] {
                let queries = &queries[..queries.len().min(DECIDING)];
                if queries.is_empty() {
                    continue;
                }
                if is_first {
                    section = section.text(DUEL_NOTE);
                }
                section =
                    section.block(Block::Heading(Text::of_name(a).then(" against ").name(b).then(", ").then(words)));
                for (query, difference) in queries {
                    let value = |system: usize| table.values(system, pair.metric)[*query];
                    let duel = Duel {
                        query: *query,
                        qid: table.queries().get(*query),
                        systems: [(pair.a, a, value(pair.a)), (pair.b, b, value(pair.b))],
                        metric: table.metric(pair.metric),
                        difference: *difference,
                    };
                    section = section.block(self.judged.duel(&duel, is_first));
                    is_first = false;
                }
            }
        }
        section
    }

    fn rules(&self) -> Section {
        facts::section(&self.report.rules, &self.parameters)
            .block(Block::Table(self.facts.table("data")))
            .block(facts::command())
    }
}

/// Learning curves.
pub(super) fn learning(figures: Vec<Figure>) -> Section {
    let section = Section::new("learning", "Learning curves");
    if figures.is_empty() { section } else { section.block(Block::Figures(figures)) }
}

/// Where relevant documents end up.
pub(super) fn grades_section(judged: &Judged<'_>, names: &[String]) -> Section {
    let figures = grades::figures(judged.rankings, names);
    let section = Section::new("grades", "Where relevant documents end up");
    if figures.is_empty() { section } else { section.block(Block::Figures(figures)) }
}

/// The features and parameters of models.
pub(super) fn models(models: &[ModelFacts]) -> Section {
    let mut section = Section::new("features", "Features and models");
    let figures: Vec<Figure> = models.iter().take(MAX_MODELS).filter_map(ModelFacts::figure).collect();
    if !figures.is_empty() {
        section = section
            .block(Block::Figures(figures))
            .text("Gain is what the splits on a feature added in training; the command explain measures what a feature is worth on data.");
    }
    for model in models {
        let title = Text::plain("How ").name(&model.name).then(" was trained");
        section = section.block(Block::Folded(title, model.table()));
    }
    section
}

/// A head and the lines below it as one text.
fn list(lines: &str) -> String {
    let (head, rest) = lines.split_once('\n').unwrap_or((lines, ""));
    format!("{head} {}", rest.lines().map(str::trim).collect::<Vec<_>>().join("; "))
}
