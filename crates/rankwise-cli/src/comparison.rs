//! A comparison as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rankwise::eval::{Alternative, CompareSpec, Comparison, Interval, MAX_ENUMERATED, Pair, Table, Test};
use serde_json::{Value, json};

use crate::mean_count::{self, MeanCount};
use crate::system::StatedRules;
use crate::text;

/// The contents of the report.
pub(crate) struct Report<'a> {
    pub(crate) table: &'a Table,
    pub(crate) comparison: &'a Comparison,
    pub(crate) spec: &'a CompareSpec,
    /// The significance level of corrected p-values.
    pub(crate) alpha: f64,
    pub(crate) rules: StatedRules,
    /// Queries without relevant documents.
    pub(crate) n_empty: usize,
    /// The queries behind each mean, by system and metric.
    pub(crate) mean_counts: Vec<Vec<MeanCount>>,
}

impl Report<'_> {
    /// For each metric: systems, pairs, conclusions, and the queries that differ most; then test, counts and rules.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for metric in 0..self.table.n_metrics() {
            let _ = writeln!(out, "{}\n", self.systems(metric));
            let _ = writeln!(out, "{}\n{}", self.pairs(metric), self.findings(metric));
            if self.spec.top > 0 {
                let _ = writeln!(out, "{}", self.extremes(metric));
            }
        }
        out + &self.footing()
    }

    /// The mean of each system with its interval.
    pub(crate) fn systems(&self, metric: usize) -> String {
        text::table(&self.system_rows(metric)).trim_end().to_owned()
    }

    /// [`Self::systems`] as rows, below a head.
    pub(crate) fn system_rows(&self, metric: usize) -> Vec<Vec<String>> {
        let direction = if self.table.is_larger_better(metric) { "" } else { " (lower is better)" };
        let title = format!("{}{direction}", self.table.metric(metric));
        let mut rows = vec![vec!["system".into(), title, self.interval_title()]];
        for (name, summaries) in self.table.names().iter().zip(&self.comparison.systems) {
            let summary = &summaries[metric];
            rows.push(vec![name.clone(), text::mean(summary.mean), interval(summary.interval)]);
        }
        rows
    }

    /// A row for each pair, below a head.
    pub(crate) fn pair_rows(&self, metric: usize) -> Vec<Vec<String>> {
        let pairs = self.pairs_of(metric);
        let is_corrected = pairs.len() > 1;
        let mut head = vec!["pair".into(), "difference".into(), self.interval_title(), "p".into()];
        head.extend(is_corrected.then(|| "p (Holm)".to_owned()));
        head.extend(["effect", "wins", "ties", "losses"].map(String::from));
        let mut rows = vec![head];
        for pair in &pairs {
            let [a, b] = self.names(pair);
            let mut row =
                vec![format!("{a} - {b}"), format!("{:+.4}", pair.difference), signed(pair.interval), p(pair.p_value)];
            row.extend(is_corrected.then(|| p(pair.corrected)));
            row.push(pair.effect.map_or_else(|| "-".into(), |effect| format!("{effect:+.2}")));
            row.extend([pair.wins, pair.ties, pair.losses].map(|count| text::thousands(count as u64)));
            rows.push(row);
        }
        rows
    }

    /// A line for each pair.
    pub(crate) fn pairs(&self, metric: usize) -> String {
        let pairs = self.pairs_of(metric);
        let mut out = within_width(&self.pair_rows(metric));
        let left_out = || pairs.iter().map(|pair| pair.left_out);
        if let (Some(fewest), Some(most @ 1..)) = (left_out().min(), left_out().max()) {
            let count = if fewest == most { text::thousands(most as u64) } else { format!("{fewest} to {most}") };
            let _ = writeln!(out, "queries skipped, because at least one of the two systems has no value: {count}");
        }
        out
    }

    /// The conclusions in words, one line per system.
    pub(crate) fn findings(&self, metric: usize) -> String {
        let pairs = self.pairs_of(metric);
        let mut out = format!("at significance level {}", self.alpha);
        if pairs.len() > 1 {
            let _ = write!(out, ", corrected for {} pairs", pairs.len());
        }
        out.push_str(":\n");
        let n_systems = self.table.names().len();
        let [mut beaten, mut undecided, mut unknown] = [(); 3].map(|()| vec![Vec::new(); n_systems]);
        for pair in &pairs {
            match self.verdict(pair) {
                Verdict::Better { better, worse } => beaten[better].push(worse),
                Verdict::Undecided => undecided[pair.a].push(pair.b),
                Verdict::Unknown => unknown[pair.a].push(pair.b),
            }
        }
        let [before, between] = match self.spec.alternative {
            Alternative::Different => ["no significant difference between ", " and "],
            Alternative::FirstIsBetter => ["", " is not shown to be better than "],
        };
        let too_few = ["this test needs at least two queries to compare ", " with "];
        for (words, found) in [(["", " is better than "], beaten), ([before, between], undecided), (too_few, unknown)] {
            for (name, others) in self.table.names().iter().zip(found).filter(|(_, others)| !others.is_empty()) {
                let others: Vec<&str> = others.into_iter().map(|other| self.table.names()[other].as_str()).collect();
                let _ = writeln!(out, "  {}{name}{}{}", words[0], words[1], others.join(", "));
            }
        }
        out
    }

    /// What the test says about a pair.
    pub(crate) fn verdict(&self, pair: &Pair) -> Verdict {
        let (better, worse) = if pair.favours_first(self.table) { (pair.a, pair.b) } else { (pair.b, pair.a) };
        match pair.corrected {
            Some(corrected) if corrected <= self.alpha => Verdict::Better { better, worse },
            Some(_) => Verdict::Undecided,
            None => Verdict::Unknown,
        }
    }

    /// The queries on which the systems of a pair differ most.
    fn extremes(&self, metric: usize) -> String {
        let mut out = String::from("where they differ most:\n");
        for pair in self.pairs_of(metric) {
            let [a, b] = self.names(pair);
            let list = |queries: &[(usize, f64)]| {
                let each = |(query, difference): &(usize, f64)| {
                    format!("{} {difference:+.4}", self.table.queries().get(*query))
                };
                if queries.is_empty() { "none".into() } else { queries.iter().map(each).collect::<Vec<_>>().join(", ") }
            };
            let _ = writeln!(out, "  {a} - {b}\n    gains: {}\n    losses: {}", list(&pair.best), list(&pair.worst));
        }
        out
    }

    /// The queries behind each mean, with the system and, if there are several, the metric.
    pub(crate) fn counted(&self) -> Vec<(String, MeanCount)> {
        let name = |system: &str, metric: usize| match self.table.n_metrics() {
            1 => system.to_owned(),
            _ => format!("{system} {}", self.table.metric(metric)),
        };
        let of_system = |(system, counts): (&String, &Vec<MeanCount>)| -> Vec<(String, MeanCount)> {
            counts.iter().enumerate().map(|(metric, count)| (name(system, metric), *count)).collect()
        };
        self.table.names().iter().zip(&self.mean_counts).flat_map(of_system).collect()
    }

    /// The test in one line.
    pub(crate) fn test_line(&self) -> String {
        let drawn = |number: u32, what: &str| format!(", {} {what}", text::thousands(number.into()));
        let drawn = match self.spec.test {
            Test::Fisher { permutations } => {
                let is_enumerated = |pair: &Pair| pair.wins + pair.losses <= MAX_ENUMERATED;
                match self.comparison.pairs.iter().filter(|pair| is_enumerated(pair)).count() {
                    0 => drawn(permutations, "permutations"),
                    n_pairs if n_pairs == self.comparison.pairs.len() => ", all permutations".to_owned(),
                    _ => drawn(permutations, "permutations (all of them if few queries differ)"),
                }
            }
            Test::Bootstrap { resamples } => drawn(resamples, "resamples"),
            Test::T | Test::Wilcoxon => String::new(),
        };
        let tail = match self.spec.alternative {
            Alternative::Different => "two-sided",
            Alternative::FirstIsBetter => "one-sided: is the first of a pair better than the second?",
        };
        format!("{}{drawn}, {tail}", name(self.spec.test))
    }

    /// The test, the queries and the rules.
    fn footing(&self) -> String {
        let mut out = format!("test: {}\n", self.test_line());
        if self.table.is_weighted() && self.spec.test == Test::Wilcoxon {
            out.push_str("query weights are used in means and intervals, but not in this test\n");
        }
        out.push_str(&mean_count::lines(&self.counted()));
        let _ = writeln!(out, "rules: {}", self.rules.text);
        out
    }

    /// The fields of `compare --json`.
    pub(crate) fn json(&self) -> Value {
        let metric = |metric: usize| self.table.metric(metric).to_owned();
        let system = |(system, name): (usize, &String)| {
            let summaries = || self.comparison.systems[system].iter().enumerate();
            json!({
                "name": name,
                "metrics": summaries().map(|(idx, summary)| (metric(idx), json!(summary.mean))).collect::<BTreeMap<_, _>>(),
                "intervals": summaries()
                    .map(|(idx, summary)| (metric(idx), interval_json(summary.interval)))
                    .collect::<BTreeMap<_, _>>(),
                "queries": summaries().map(|(idx, summary)| (metric(idx), summary.n_queries)).collect::<BTreeMap<_, _>>(),
                "means": self.mean_counts[system]
                    .iter()
                    .enumerate()
                    .map(|(idx, count)| (metric(idx), count.json()))
                    .collect::<BTreeMap<_, _>>(),
            })
        };
        let (permutations, resamples) = match self.spec.test {
            Test::Fisher { permutations } => (Some(permutations), None),
            Test::Bootstrap { resamples } => (None, Some(resamples)),
            Test::T | Test::Wilcoxon => (None, None),
        };
        json!({
            "systems": self.table.names().iter().enumerate().map(system).collect::<Vec<_>>(),
            "tests": self.tests_json(),
            "test": name(self.spec.test),
            "alternative": if self.spec.alternative == Alternative::Different { "two-sided" } else { "a is better than b" },
            "permutations": permutations,
            "resamples": resamples,
            "alpha": self.alpha,
            "confidence": self.spec.intervals.confidence,
            "baseline": self.spec.baseline,
            "queries": self.table.queries().len(),
            "queries_without_relevant": self.n_empty,
            "metric_names": self.rules.metric_names,
            "convention": self.rules.entries,
        })
    }

    /// The comparisons of pairs.
    pub(crate) fn tests_json(&self) -> Vec<Value> {
        self.comparison.pairs.iter().map(|pair| self.pair_json(pair)).collect()
    }

    fn pair_json(&self, pair: &Pair) -> Value {
        let [a, b] = self.names(pair);
        let value = |system: usize, query: usize| self.table.values(system, pair.metric)[query];
        let queries = |queries: &[(usize, f64)]| -> Vec<Value> {
            let each = |(query, difference): &(usize, f64)| {
                json!({
                    "query": self.table.queries().get(*query),
                    "a": value(pair.a, *query),
                    "b": value(pair.b, *query),
                    "difference": difference,
                })
            };
            queries.iter().map(each).collect()
        };
        json!({
            "a": a,
            "b": b,
            "metric": self.table.metric(pair.metric),
            "difference": pair.difference,
            "interval": interval_json(pair.interval),
            "p_value": pair.p_value,
            "p_value_holm": pair.corrected,
            "significant": pair.corrected.map(|corrected| corrected <= self.alpha),
            "effect_size": pair.effect,
            "wins": pair.wins,
            "ties": pair.ties,
            "losses": pair.losses,
            "left_out": pair.left_out,
            "best": queries(&pair.best),
            "worst": queries(&pair.worst),
        })
    }

    pub(crate) fn pairs_of(&self, metric: usize) -> Vec<&Pair> {
        self.comparison.pairs.iter().filter(|pair| pair.metric == metric).collect()
    }

    pub(crate) fn names(&self, pair: &Pair) -> [&str; 2] {
        [pair.a, pair.b].map(|system| self.table.names()[system].as_str())
    }

    fn interval_title(&self) -> String {
        interval_title(self.spec.intervals.confidence)
    }
}

/// What a test says about two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// One is better, by more than chance.
    Better { better: usize, worse: usize },
    /// The difference may be chance.
    Undecided,
    /// There are too few queries.
    Unknown,
}

/// The width of a terminal.
const WIDTH: usize = 80;

/// A table with named rows; if it is too wide, each name gets its own line above its numbers.
fn within_width(rows: &[Vec<String>]) -> String {
    let table = text::table(rows);
    if table.lines().all(|line| line.chars().count() <= WIDTH) {
        return table;
    }
    let without_names: Vec<Vec<String>> =
        rows.iter().map(|row| std::iter::once(String::new()).chain(row[1..].iter().cloned()).collect()).collect();
    let numbers = text::table(&without_names);
    let names = std::iter::once(None).chain(rows[1..].iter().map(|row| Some(&row[0])));
    let mut out = String::new();
    for (name, line) in names.zip(numbers.lines()) {
        out.extend(name.map(|name| format!("{name}\n")));
        let _ = writeln!(out, "{line}");
    }
    out
}

/// The title of an interval column: "95 % interval".
pub(crate) fn interval_title(confidence: f64) -> String {
    // 1 - 0.05 is a little less than 0.95.
    format!("{} % interval", (confidence * 1e8).round() / 1e6)
}

/// An interval, or a dash if there is none.
pub(crate) fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(|| "-".into(), |interval| format!("[{:.4}, {:.4}]", interval.low, interval.high))
}

pub(crate) fn interval_json(interval: Option<Interval>) -> Value {
    let object =
        |interval: Interval| json!({ "low": interval.low, "high": interval.high, "method": interval.method.as_str() });
    interval.map_or(Value::Null, object)
}

/// An interval of a difference, with signs.
pub(crate) fn signed(interval: Option<Interval>) -> String {
    interval.map_or_else(|| "-".into(), |interval| format!("[{:+.4}, {:+.4}]", interval.low, interval.high))
}

/// A p-value, or a dash if there is none. Never shown as 0, which no test can prove.
pub(crate) fn p(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(value) if value < 0.0001 => "<0.0001".into(),
        Some(value) => format!("{value:.4}"),
    }
}

fn name(test: Test) -> &'static str {
    match test {
        Test::Fisher { .. } => "fisher",
        Test::T => "t",
        Test::Wilcoxon => "wilcoxon",
        Test::Bootstrap { .. } => "bootstrap",
    }
}

/// One tab-separated line per query, with a column for each metric and system; skipped queries have empty cells.
pub(crate) fn per_query_table(table: &Table, n_docs: &[usize]) -> String {
    let mut out = String::from("qid\tdocuments\tweight");
    let columns: Vec<(usize, usize)> = (0..table.n_metrics())
        .flat_map(|metric| (0..table.names().len()).map(move |system| (metric, system)))
        .collect();
    for (metric, system) in &columns {
        let _ = write!(out, "\t{}:{}", table.metric(*metric), table.names()[*system]);
    }
    out.push('\n');
    for (query, id) in table.queries().iter().enumerate() {
        let _ = write!(out, "{id}\t{}\t{}", n_docs[query], table.weights()[query]);
        for (metric, system) in &columns {
            let value = table.values(*system, *metric)[query].map_or_else(String::new, |value| value.to_string());
            let _ = write!(out, "\t{value}");
        }
        out.push('\n');
    }
    out
}
