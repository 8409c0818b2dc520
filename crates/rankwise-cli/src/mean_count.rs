//! How many queries a mean includes, and why others are skipped.

use std::fmt::Write as _;

use rankwise::metrics::{MetricKind, MetricValues, MissingQueries, Results, Rules};
use serde_json::{Value, json};

use crate::text;

/// The queries behind one mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MeanCount {
    /// All judged queries.
    pub(crate) judged: usize,
    /// Queries in the mean.
    pub(crate) in_mean: usize,
    /// Skipped: no results in the run.
    pub(crate) without_results: usize,
    /// Skipped: no relevant documents.
    pub(crate) without_relevant: usize,
    /// Skipped: the metric is undefined for another reason, such as a single label.
    pub(crate) without_value: usize,
    /// In the mean, without relevant documents.
    pub(crate) empty_in_mean: usize,
    /// In the mean, without results in the run.
    pub(crate) unanswered_in_mean: usize,
    /// All queries have weight 0, so there is no mean.
    pub(crate) is_weightless: bool,
}

/// The states of one system's queries, independent of metrics.
#[derive(Debug)]
pub(crate) struct QueryStates {
    states: Vec<QueryState>,
    leaves_out_unanswered: bool,
    is_weightless: bool,
}

#[derive(Clone, Copy, Debug)]
struct QueryState {
    has_gain: bool,
    has_relevant: bool,
    is_unanswered: bool,
}

impl QueryState {
    /// Whether it has no relevant document, in the sense of a metric.
    fn is_empty(self, metric: MetricKind) -> bool {
        !if metric.is_binary() { self.has_relevant } else { self.has_gain }
    }
}

impl QueryStates {
    pub(crate) fn new(results: &Results<'_>, rules: &Rules) -> Self {
        let state = |idx: usize| {
            let query = results.query(idx);
            let labels = || query.labels.iter().chain(query.missed);
            QueryState {
                has_gain: labels().any(|label| rules.gain.of(*label) > 0.0),
                has_relevant: labels().any(|label| *label >= rules.relevant_from),
                is_unanswered: query.n_docs() == 0,
            }
        };
        Self {
            states: (0..results.n_queries()).map(state).collect(),
            leaves_out_unanswered: rules.missing_queries == MissingQueries::Skip,
            is_weightless: (0..results.n_queries()).all(|query| results.query_weight(query) == 0.0),
        }
    }

    /// Queries without relevant documents.
    pub(crate) fn n_empty(&self) -> usize {
        self.states.iter().filter(|state| !state.has_relevant).count()
    }

    /// Queries without results in the run.
    pub(crate) fn n_unanswered(&self) -> usize {
        self.states.iter().filter(|state| state.is_unanswered).count()
    }

    /// The queries behind the mean of a metric.
    pub(crate) fn mean_count(&self, metric: &MetricValues, kind: MetricKind) -> MeanCount {
        let (judged, is_weightless) = (self.states.len(), self.is_weightless);
        let mut count = MeanCount { judged, is_weightless, ..MeanCount::default() };
        for (idx, state) in self.states.iter().enumerate() {
            let is_empty = state.is_empty(kind);
            let is_left_out = state.is_unanswered && self.leaves_out_unanswered;
            // Metrics over all documents have no values per query.
            let has_value = if metric.is_pooled { !is_left_out } else { metric.per_query[idx].is_some() };
            if has_value {
                count.in_mean += 1;
                count.empty_in_mean += usize::from(is_empty);
                count.unanswered_in_mean += usize::from(state.is_unanswered);
            } else if is_left_out {
                count.without_results += 1;
            } else if is_empty {
                count.without_relevant += 1;
            } else {
                count.without_value += 1;
            }
        }
        count
    }
}

impl MeanCount {
    /// "mean over 105 of 156 queries; 51 without relevant documents skipped".
    pub(crate) fn text(&self) -> String {
        let judged = text::count(self.judged, "query");
        if self.is_weightless {
            return format!("no mean over {judged}: all query weights are 0");
        }
        if self.in_mean == self.judged {
            let mut out = format!("over {judged}; {} without relevant documents", self.empty_in_mean);
            if self.unanswered_in_mean > 0 {
                let _ = write!(out, ", {} without results", self.unanswered_in_mean);
            }
            return out;
        }
        let listed = |parts: &[(usize, &str)]| -> String {
            let parts = parts.iter().filter(|(number, _)| *number > 0);
            parts.map(|(number, what)| format!("{number} {what}")).collect::<Vec<_>>().join(", ")
        };
        let left_out = listed(&[
            (self.without_relevant, "without relevant documents"),
            (self.without_results, "without results"),
            (self.without_value, "without a value"),
        ]);
        let mut out = format!("mean over {} of {judged}; {left_out} skipped", text::thousands(self.in_mean as u64));
        let counted =
            listed(&[(self.empty_in_mean, "without relevant documents"), (self.unanswered_in_mean, "without results")]);
        if !counted.is_empty() {
            let _ = write!(out, "; {counted} counted");
        }
        out
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "queries": self.in_mean,
            "left_out": {
                "without_relevant": self.without_relevant,
                "without_results": self.without_results,
                "without_value": self.without_value,
            },
        })
    }
}

/// One line if all means include the same queries, otherwise one line per group with equal counts, preceded by the names.
pub(crate) fn lines(named: &[(String, MeanCount)]) -> String {
    let mut groups: Vec<(Vec<&str>, MeanCount)> = Vec::new();
    for (name, count) in named {
        match groups.iter_mut().find(|(_, known)| known == count) {
            Some((names, _)) => names.push(name),
            None => groups.push((vec![name], *count)),
        }
    }
    if let [(_, count)] = &groups[..] {
        return format!("{}\n", count.text());
    }
    let mut out = String::new();
    for (names, count) in groups {
        let _ = writeln!(out, "{}: {}", names.join(", "), count.text());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_says_over_how_many_queries_it_is() {
        let all = MeanCount { judged: 156, in_mean: 156, empty_in_mean: 51, ..MeanCount::default() };
        assert_eq!(all.text(), "over 156 queries; 51 without relevant documents");
        let some = MeanCount { judged: 156, in_mean: 105, without_relevant: 51, ..MeanCount::default() };
        assert_eq!(some.text(), "mean over 105 of 156 queries; 51 without relevant documents skipped");
        let few = MeanCount { in_mean: 90, without_results: 10, without_value: 5, empty_in_mean: 3, ..some };
        let expected = "mean over 90 of 156 queries; 51 without relevant documents, 10 without results, 5 without a value \
                        skipped; 3 without relevant documents counted";
        assert_eq!(few.text(), expected);
        let weightless = MeanCount { is_weightless: true, ..all };
        assert_eq!(weightless.text(), "no mean over 156 queries: all query weights are 0");
        let named = [("a".to_owned(), all), ("b".to_owned(), some), ("c".to_owned(), all)];
        assert_eq!(lines(&named), format!("a, c: {}\nb: {}\n", all.text(), some.text()));
        assert_eq!(lines(&named[1..2]), format!("{}\n", some.text()));
    }
}
