//! Joins a run with judgements: returned, missed and unjudged documents.
//!
//! Queries and documents are joined by id. A negative grade means not judged, as in trec_eval.

use std::cmp::Ordering;

use rankwise_data::Documents;
use rankwise_io::{Qrels, TrecRun};
use rankwise_metrics::{Found, RunResults};

/// A run that does not match its judgements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    /// No query of the run was judged.
    #[error("{}; check the query ids (the first is '{qid}')", not_judged(*queries))]
    NoOverlap {
        /// The number of queries in the run.
        queries: usize,
        /// The first of them, in file order.
        qid: String,
        /// Its line.
        line: u64,
    },
    /// A dataset without document ids.
    #[error(
        "its documents have no ids, which a run needs; add a column `docid` (in LETOR, ids after #), or use `qrels`"
    )]
    NoDocIds,
    /// A document that occurs twice in a dataset.
    #[error("document '{doc}' occurs twice in query '{qid}'; remove one of them, since a run can contain it only once")]
    Twice {
        /// The document.
        doc: String,
        /// Its query.
        qid: String,
    },
}

fn not_judged(queries: usize) -> String {
    if queries == 1 {
        "its only query is not judged".into()
    } else {
        format!("none of its {queries} queries are judged")
    }
}

/// A run joined with judgements.
#[derive(Clone, Debug)]
pub struct JudgedRun {
    /// The returned and missed documents of each judged query.
    pub results: RunResults,
    /// The number of returned documents that were judged.
    pub n_judged_docs: usize,
    /// The number of judged queries without results in the run.
    pub n_unanswered: usize,
    /// The number of queries in the run without judgements, and the first line with one.
    pub unknown: Option<(usize, u64)>,
}

/// Joins a run with judgements.
pub fn judge_run(run: &TrecRun, qrels: &Qrels) -> Result<JudgedRun, JudgeError> {
    let mut join = Join::new(run);
    for query in 0..qrels.n_queries() {
        let judged = qrels.entries(query).map(|entry| (entry.doc, (entry.value >= 0).then_some(entry.value as f32)));
        join.query(qrels.qid(query), 1.0, judged);
    }
    join.finish()
}

/// Joins a run with the labels of a dataset.
pub fn judge_run_by_data(run: &TrecRun, data: &Documents) -> Result<JudgedRun, JudgeError> {
    if !data.has_doc_ids() {
        return Err(JudgeError::NoDocIds);
    }
    let mut join = Join::new(run);
    let mut judged: Vec<(&str, Option<f32>)> = Vec::new();
    for query in 0..data.n_queries() {
        let view = data.query(query);
        judged.clear();
        judged.extend(view.rows.clone().map(|row| (data.doc_id(row), Some(data.labels()[row]))));
        judged.sort_unstable_by_key(|(doc, _)| *doc);
        if let Some([(doc, _), _]) = judged.array_windows().find(|[a, b]| a.0 == b.0) {
            return Err(JudgeError::Twice { doc: (*doc).to_owned(), qid: view.id.to_owned() });
        }
        join.query(view.id, view.weight, judged.iter().copied());
    }
    join.finish()
}

struct Join<'a> {
    run: &'a TrecRun,
    results: RunResults,
    /// Which queries of the run were judged.
    is_known: Vec<bool>,
    n_unanswered: usize,
    n_judged_docs: usize,
}

impl<'a> Join<'a> {
    fn new(run: &'a TrecRun) -> Self {
        Self {
            run,
            results: RunResults::default(),
            is_known: vec![false; run.n_queries()],
            n_unanswered: 0,
            n_judged_docs: 0,
        }
    }

    /// Adds a judged query, with its documents sorted by id.
    fn query<'b>(&mut self, qid: &str, weight: f32, judged: impl Iterator<Item = (&'b str, Option<f32>)>) {
        let query = self.run.find_query(qid);
        match query {
            Some(query) => self.is_known[query] = true,
            None => self.n_unanswered += 1,
        }
        let mut found = query.map(|query| self.run.entries(query)).into_iter().flatten().peekable();
        let mut judged = judged.peekable();
        loop {
            let order = match (found.peek(), judged.peek()) {
                (Some(found), Some((doc, _))) => found.doc.cmp(doc),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let label = if order == Ordering::Less { None } else { judged.next().and_then(|(_, label)| label) };
            if order == Ordering::Greater {
                if let Some(label) = label {
                    self.results.missed(label);
                }
            } else if let Some(entry) = found.next() {
                self.n_judged_docs += usize::from(label.is_some());
                let place = u32::try_from(entry.line).unwrap_or(u32::MAX);
                self.results.found(Found { doc: entry.doc, score: entry.value, label, place });
            }
        }
        self.results.end_query(qid, weight);
    }

    fn finish(self) -> Result<JudgedRun, JudgeError> {
        let first_line = |query: usize| self.run.entries(query).map(|entry| entry.line).min().unwrap_or(0);
        let unknown: Vec<usize> = (0..self.run.n_queries()).filter(|query| !self.is_known[*query]).collect();
        let first = unknown.iter().map(|query| (first_line(*query), *query)).min();
        match first {
            Some((line, query)) if unknown.len() == self.run.n_queries() => {
                Err(JudgeError::NoOverlap { queries: unknown.len(), qid: self.run.qid(query).to_owned(), line })
            }
            _ => Ok(JudgedRun {
                results: self.results,
                n_judged_docs: self.n_judged_docs,
                n_unanswered: self.n_unanswered,
                unknown: first.map(|(line, _)| (unknown.len(), line)),
            }),
        }
    }
}
