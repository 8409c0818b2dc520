//! The content of a TREC file, sorted so that two files can be joined by id.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use rankwise_data::StringTable;
use rayon::prelude::*;

use crate::error::IoError;
use crate::problem::{Problem, shown};

/// A value for each query and document. Queries, and the documents of a query, are sorted by the bytes of their ids.
#[derive(Clone, Debug, PartialEq)]
pub struct TrecTable<T> {
    qids: StringTable,
    /// Query `q` has the entries `bounds[q]..bounds[q + 1]`.
    bounds: Vec<usize>,
    docs: StringTable,
    values: Vec<T>,
    lines: Vec<u64>,
}

/// One line of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrecEntry<'a, T> {
    /// The document.
    pub doc: &'a str,
    /// Its grade or score.
    pub value: T,
    /// Its line, from 1.
    pub line: u64,
}

impl<T: Copy> TrecTable<T> {
    /// A table of (query, document, value), in any order; lines are counted from 1. It is an error if a document occurs
    /// twice in a query; `name` is used there.
    ///
    /// ```
    /// use rankwise_io::Qrels;
    ///
    /// let qrels = Qrels::new([("q1", "d2", 1), ("q1", "d1", 0)], "qrels".as_ref())?;
    /// assert_eq!(qrels.find(0, "d2").map(|entry| entry.value), Some(1));
    /// # Ok::<(), rankwise_io::IoError>(())
    /// ```
    pub fn new<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str, T)>, name: &Path) -> Result<Self, IoError> {
        let mut builder = TableBuilder::default();
        for ((qid, doc, value), line) in entries.into_iter().zip(1..) {
            builder.add(qid, doc, value, line);
        }
        builder.finish(name)
    }

    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.qids.len()
    }

    /// The number of non-empty lines.
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// The id of a query.
    pub fn qid(&self, query: usize) -> &str {
        self.qids.get(query)
    }

    /// The query with this id, if it occurs.
    pub fn find_query(&self, qid: &str) -> Option<usize> {
        search(0..self.n_queries(), |query| self.qids.get(query).cmp(qid))
    }

    /// The entries of a query.
    pub fn entries(&self, query: usize) -> impl ExactSizeIterator<Item = TrecEntry<'_, T>> {
        self.range(query).map(|entry| self.entry(entry))
    }

    /// The entry of one document of a query.
    pub fn find(&self, query: usize, doc: &str) -> Option<TrecEntry<'_, T>> {
        search(self.range(query), |entry| self.docs.get(entry).cmp(doc)).map(|entry| self.entry(entry))
    }

    fn range(&self, query: usize) -> Range<usize> {
        self.bounds[query]..self.bounds[query + 1]
    }

    fn entry(&self, entry: usize) -> TrecEntry<'_, T> {
        TrecEntry { doc: self.docs.get(entry), value: self.values[entry], line: self.lines[entry] }
    }
}

/// Binary search in an ascending range.
fn search(range: Range<usize>, compare: impl Fn(usize) -> std::cmp::Ordering) -> Option<usize> {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        match compare(middle) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// Collects lines in file order.
pub(super) struct TableBuilder<T> {
    query_numbers: HashMap<String, u32>,
    qids: StringTable,
    query_of: Vec<u32>,
    docs: StringTable,
    values: Vec<T>,
    lines: Vec<u64>,
}

impl<T> Default for TableBuilder<T> {
    fn default() -> Self {
        Self {
            query_numbers: HashMap::new(),
            qids: StringTable::default(),
            query_of: Vec::new(),
            docs: StringTable::default(),
            values: Vec::new(),
            lines: Vec::new(),
        }
    }
}

impl<T: Copy> TableBuilder<T> {
    pub(super) fn add(&mut self, qid: &str, doc: &str, value: T, line: u64) {
        let query = self.query_number(qid);
        self.query_of.push(query);
        self.docs.push(doc);
        self.values.push(value);
        self.lines.push(line);
    }

    /// Lines of a query are usually adjacent, so the previous query is tried first.
    fn query_number(&mut self, qid: &str) -> u32 {
        match self.query_of.last() {
            Some(last) if self.qids.get(*last as usize) == qid => return *last,
            _ => {}
        }
        if let Some(known) = self.query_numbers.get(qid) {
            return *known;
        }
        let number = self.qids.len() as u32;
        self.qids.push(qid);
        self.query_numbers.insert(qid.to_owned(), number);
        number
    }

    /// Sorts the entries. It is an error if a document occurs twice in a query.
    pub(super) fn finish(self, path: &Path) -> Result<TrecTable<T>, IoError> {
        let mut queries: Vec<u32> = (0..self.qids.len() as u32).collect();
        queries.sort_unstable_by_key(|query| self.qids.get(*query as usize));
        let mut place_of = vec![0; queries.len()];
        queries.iter().enumerate().for_each(|(place, query)| place_of[*query as usize] = place);
        let place = |entry: usize| place_of[self.query_of[entry] as usize];

        // Group the entries by query, then sort the documents of all queries in parallel.
        let mut bounds = vec![0; queries.len() + 1];
        for entry in 0..self.values.len() {
            bounds[place(entry) + 1] += 1;
        }
        (1..bounds.len()).for_each(|query| bounds[query] += bounds[query - 1]);
        let mut ends = bounds.clone();
        let mut order = vec![0; self.values.len()];
        for entry in 0..self.values.len() {
            let end = &mut ends[place(entry)];
            order[*end] = entry;
            *end += 1;
        }
        let by_query: Vec<&mut [usize]> = order.chunk_by_mut(|a, b| self.query_of[*a] == self.query_of[*b]).collect();
        // Stable: if a document occurs twice, the earlier line comes first.
        by_query.into_par_iter().for_each(|docs| docs.sort_by_key(|entry| self.docs.get(*entry)));
        let key = |entry: usize| (self.query_of[entry], self.docs.get(entry));
        let twice = order.array_windows().filter(|[first, second]| key(*first) == key(*second));
        if let Some([first, second]) = twice.min_by_key(|[_, second]| self.lines[*second]) {
            return Err(self.duplicate(path, *first, *second));
        }

        Ok(TrecTable {
            bounds,
            docs: order.iter().map(|entry| self.docs.get(*entry)).collect(),
            values: order.iter().map(|entry| self.values[*entry]).collect(),
            lines: order.iter().map(|entry| self.lines[*entry]).collect(),
            qids: queries.iter().map(|query| self.qids.get(*query as usize)).collect(),
        })
    }

    #[cold]
    fn duplicate(&self, path: &Path, first: usize, second: usize) -> IoError {
        let qid = self.qids.get(self.query_of[second] as usize);
        IoError::Line {
            path: path.into(),
            line: self.lines[second],
            column: 1,
            found: shown(self.docs.get(second).as_bytes()),
            problem: Problem::DuplicateDoc { qid: shown(qid.as_bytes()), first_line: self.lines[first] },
        }
    }
}
