//! What a system returned for each query, with the labels of the documents.
//!
//! Metrics see one [`QueryResult`] at a time. It comes from a dataset, with a score for every judged document, or from
//! a run, which may miss judged documents and return unjudged ones.

use rankwise_data::{Documents, Draw, Pair, QueryView, RowKey, StringTable};

/// The results of a system.
#[derive(Clone, Copy, Debug)]
pub enum Results<'a> {
    /// A score for each document of a dataset, in canonical order.
    CanonicalScores {
        /// The documents.
        data: &'a Documents,
        /// Their scores.
        scores: &'a [f64],
    },
    /// Returned and missed documents.
    Run(&'a RunResults),
}

impl<'a> Results<'a> {
    /// The number of judged queries.
    pub fn n_queries(&self) -> usize {
        match self {
            Self::CanonicalScores { data, .. } => data.n_queries(),
            Self::Run(run) => run.n_queries(),
        }
    }

    /// The weight of a query.
    pub fn query_weight(&self, query: usize) -> f32 {
        match self {
            Self::CanonicalScores { data, .. } => data.query_weight(query),
            Self::Run(run) => run.weights[query],
        }
    }

    /// What was returned for one query.
    pub fn query(&self, query: usize) -> QueryResult<'a> {
        match *self {
            Self::CanonicalScores { data, scores } => QueryResult::of_data(data, scores, query),
            Self::Run(run) => run.query(query),
        }
    }

    /// The largest number of documents of a query, returned or not.
    pub(crate) fn longest(&self) -> usize {
        let n_docs = |query: usize| match self {
            Self::CanonicalScores { data, .. } => data.query_rows(query).len(),
            Self::Run(run) => {
                run.bounds[query + 1] - run.bounds[query] + run.missed_bounds[query + 1] - run.missed_bounds[query]
            }
        };
        (0..self.n_queries()).map(n_docs).max().unwrap_or(0)
    }
}

/// What a system returned for one query. Documents are numbered from 0, in canonical order.
#[derive(Clone, Debug)]
pub struct QueryResult<'a> {
    /// The query.
    pub id: &'a str,
    /// The score of each document that was returned.
    pub scores: &'a [f64],
    /// The label of each document; 0 if it was not judged.
    pub labels: &'a [f32],
    /// The input row of each document.
    pub places: &'a [u32],
    /// The position at which each document was shown, if known.
    pub positions: Option<&'a [u32]>,
    /// Which documents were judged; `None` means all.
    pub judged: Option<&'a [bool]>,
    /// The labels of judged documents that were not returned.
    pub missed: &'a [f32],
    /// Preferences between rows of the dataset.
    pub pairs: &'a [Pair],
    /// The row of the first document, for `pairs`.
    pub first_row: usize,
    docs: Docs<'a>,
}

#[derive(Clone, Debug)]
enum Docs<'a> {
    Data(QueryView<'a>),
    Run { ids: &'a StringTable, start: usize },
}

impl<'a> QueryResult<'a> {
    fn of_data(data: &'a Documents, scores: &'a [f64], query: usize) -> Self {
        let view = data.query(query);
        Self {
            id: view.id,
            scores: &scores[view.rows.clone()],
            labels: view.labels,
            places: view.input_rows,
            positions: data.positions().map(|positions| &positions[view.rows.clone()]),
            judged: None,
            missed: &[],
            pairs: if data.pairs().is_empty() { &[] } else { data.query_pairs(query) },
            first_row: view.rows.start,
            docs: Docs::Data(view),
        }
    }

    /// The number of documents returned.
    pub fn n_docs(&self) -> usize {
        self.scores.len()
    }

    /// The id of a document; empty if it has none.
    pub fn doc_id(&self, doc: usize) -> &str {
        match &self.docs {
            Docs::Data(view) => view.doc_id(doc),
            Docs::Run { ids, start } => ids.get(start + doc),
        }
    }

    /// A uniform random number in [0, 1) for a document.
    pub(crate) fn draw(&self, draw: &Draw, doc: usize) -> f64 {
        match &self.docs {
            Docs::Data(view) => view.draw(draw, doc),
            Docs::Run { ids, start } => draw.row_uniform(RowKey::of_ids(self.id, ids.get(start + doc)), 0),
        }
    }
}

/// A run joined with judgements: for each judged query, the returned and the missed documents.
#[derive(Clone, Debug)]
pub struct RunResults {
    qids: StringTable,
    weights: Vec<f32>,
    /// Query `q` has the entries `bounds[q]..bounds[q + 1]` of the next five.
    bounds: Vec<usize>,
    docs: StringTable,
    scores: Vec<f64>,
    labels: Vec<f32>,
    judged: Vec<bool>,
    places: Vec<u32>,
    /// Query `q` has the labels `missed_bounds[q]..missed_bounds[q + 1]` of `missed`.
    missed_bounds: Vec<usize>,
    missed: Vec<f32>,
}

/// A document that a run returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<'a> {
    /// Its id.
    pub doc: &'a str,
    /// Its score.
    pub score: f64,
    /// Its label, if it was judged.
    pub label: Option<f32>,
    /// Its line in the run.
    pub place: u32,
}

impl Default for RunResults {
    fn default() -> Self {
        Self {
            qids: StringTable::default(),
            weights: Vec::new(),
            bounds: vec![0],
            docs: StringTable::default(),
            scores: Vec::new(),
            labels: Vec::new(),
            judged: Vec::new(),
            places: Vec::new(),
            missed_bounds: vec![0],
            missed: Vec::new(),
        }
    }
}

impl RunResults {
    /// Adds a document to the query that [`Self::end_query`] will name. Documents must be sorted by the bytes of their
    /// ids.
    pub fn found(&mut self, found: Found<'_>) {
        self.docs.push(found.doc);
        self.scores.push(found.score);
        self.labels.push(found.label.unwrap_or(0.0));
        self.judged.push(found.label.is_some());
        self.places.push(found.place);
    }

    /// Adds a judged document that is not in the run.
    pub fn missed(&mut self, label: f32) {
        self.missed.push(label);
    }

    /// Ends a query. Queries must be sorted by the bytes of their ids.
    pub fn end_query(&mut self, qid: &str, weight: f32) {
        self.qids.push(qid);
        self.weights.push(weight);
        self.bounds.push(self.scores.len());
        self.missed_bounds.push(self.missed.len());
    }

    /// The ids of the queries.
    pub fn qids(&self) -> &StringTable {
        &self.qids
    }

    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.qids.len()
    }

    /// The labels of all documents, returned and missed.
    pub(crate) fn all_labels(&self) -> [&[f32]; 2] {
        [&self.labels, &self.missed]
    }

    fn query(&self, query: usize) -> QueryResult<'_> {
        let rows = self.bounds[query]..self.bounds[query + 1];
        QueryResult {
            id: self.qids.get(query),
            scores: &self.scores[rows.clone()],
            labels: &self.labels[rows.clone()],
            places: &self.places[rows.clone()],
            positions: None,
            judged: Some(&self.judged[rows.clone()]),
            missed: &self.missed[self.missed_bounds[query]..self.missed_bounds[query + 1]],
            pairs: &[],
            first_row: rows.start,
            docs: Docs::Run { ids: &self.docs, start: rows.start },
        }
    }
}
