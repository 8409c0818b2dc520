//! Documents in canonical order: queries by the bytes of their ids, documents by key. All later code sees only this
//! order; `input_row` maps results back to the input rows.

use std::ops::Range;

use crate::{Absent, Draw, Pair, RowKey, SimdLevel, StringTable};

/// Queries and their documents, with everything but feature values.
///
/// [`Dataset`](crate::Dataset) adds the values, [`CachedDataset`](crate::CachedDataset) their bins; both dereference to
/// this type. Code that needs no features (objectives, metrics, comparisons) takes this type.
#[derive(Clone, Debug)]
pub struct Documents {
    pub(crate) absent: Absent,
    pub(crate) qids: StringTable,
    /// Query `q` holds rows `bounds[q]..bounds[q + 1]`.
    pub(crate) bounds: Vec<usize>,
    pub(crate) query_weights: Option<Vec<f32>>,
    pub(crate) labels: Vec<f32>,
    pub(crate) weights: Option<Vec<f32>>,
    pub(crate) positions: Option<Vec<u32>>,
    /// Sorted, so that the pairs of a query are adjacent.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) doc_ids: Option<StringTable>,
    pub(crate) keys: Vec<RowKey>,
    pub(crate) identity: Identity,
    pub(crate) input_row: Vec<u32>,
    pub(crate) feature_ids: Vec<u32>,
    /// By id; empty if features have only ids.
    pub(crate) feature_names: Vec<(u32, String)>,
    /// Ascending ids.
    pub(crate) f64_features: Vec<u32>,
    pub(crate) fingerprint: u128,
}

impl Documents {
    /// The number of documents.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
    }

    /// The number of queries.
    pub fn n_queries(&self) -> usize {
        self.qids.len()
    }

    /// The number of features that at least one document has.
    pub fn n_features(&self) -> usize {
        self.feature_ids.len()
    }

    /// One query.
    pub fn query(&self, query: usize) -> QueryView<'_> {
        let rows = self.query_rows(query);
        QueryView {
            data: self,
            id: self.qids.get(query),
            weight: self.query_weight(query),
            labels: &self.labels[rows.clone()],
            input_rows: &self.input_row[rows.clone()],
            rows,
        }
    }

    /// All queries, in order.
    pub fn queries(&self) -> impl Iterator<Item = QueryView<'_>> {
        (0..self.n_queries()).map(|query| self.query(query))
    }

    /// The rows of a query.
    pub fn query_rows(&self, query: usize) -> Range<usize> {
        self.bounds[query]..self.bounds[query + 1]
    }

    /// Bounds of the queries: query `q` holds rows `bounds[q]..bounds[q + 1]`.
    pub fn bounds(&self) -> &[usize] {
        &self.bounds
    }

    /// The labels of all documents.
    pub fn labels(&self) -> &[f32] {
        &self.labels
    }

    /// The weight of a document; 1 by default.
    pub fn weight(&self, row: usize) -> f32 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The weight of a query; 1 by default.
    pub fn query_weight(&self, query: usize) -> f32 {
        self.query_weights.as_ref().map_or(1.0, |weights| weights[query])
    }

    /// Whether documents or queries have weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.is_some() || self.query_weights.is_some()
    }

    /// Whether documents have weights.
    pub fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    /// Whether queries have weights.
    pub fn has_query_weights(&self) -> bool {
        self.query_weights.is_some()
    }

    /// The position at which each document was shown, if known.
    pub fn positions(&self) -> Option<&[u32]> {
        self.positions.as_deref()
    }

    /// All preferences between documents; those of a query are adjacent.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The preferences between the documents of a query.
    pub fn query_pairs(&self, query: usize) -> &[Pair] {
        let rows = self.query_rows(query);
        let start = self.pairs.partition_point(|pair| (pair.winner as usize) < rows.start);
        let end = self.pairs.partition_point(|pair| (pair.winner as usize) < rows.end);
        &self.pairs[start..end]
    }

    /// The id of a document, or empty.
    pub fn doc_id(&self, row: usize) -> &str {
        self.doc_ids.as_ref().map_or("", |ids| ids.get(row))
    }

    /// Whether any document has an id.
    pub fn has_doc_ids(&self) -> bool {
        self.doc_ids.is_some()
    }

    /// The keys by which rows are ordered.
    pub fn keys(&self) -> &[RowKey] {
        &self.keys
    }

    /// The input row of each row, from 0.
    pub fn input_row(&self) -> &[u32] {
        &self.input_row
    }

    /// Puts values from canonical order back into input order.
    pub fn to_input_order<T: Clone + Default>(&self, values: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); values.len()];
        for (value, row) in values.iter().zip(&self.input_row) {
            out[*row as usize] = value.clone();
        }
        out
    }

    /// Puts values from input order into canonical order.
    pub fn from_input_order<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.input_row.iter().map(|row| values[*row as usize]).collect()
    }

    /// The ids of the features, ascending.
    pub fn feature_ids(&self) -> &[u32] {
        &self.feature_ids
    }

    /// Names of features, by id; empty if features have only ids. May name features that no document has.
    pub fn feature_names(&self) -> &[(u32, String)] {
        &self.feature_names
    }

    /// The name of a feature, if it has one.
    pub fn feature_name(&self, feature: u32) -> Option<&str> {
        let place = self.feature_names.binary_search_by_key(&feature, |(id, _)| *id).ok()?;
        Some(&self.feature_names[place].1)
    }

    /// The features with different values that are equal as f32, ascending. Training treats these as f64, all others as
    /// f32.
    pub fn f64_features(&self) -> &[u32] {
        &self.f64_features
    }

    /// The meaning of a feature that is absent from a document, or from the whole dataset.
    pub fn absent(&self) -> Absent {
        self.absent
    }

    /// A number that identifies the set of rows, whatever their order.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// A uniform random number in [0, 1) for a document.
    pub fn draw(&self, draw: &Draw, row: usize) -> f64 {
        let (key, ordinal) = self.doc_keys(row..row + 1).of(0);
        draw.uniform(key, ordinal)
    }

    /// [`Self::draw`] for consecutive rows, in a fraction of the time.
    pub fn draws(&self, level: SimdLevel, draw: &Draw, rows: Range<usize>, out: &mut [f64]) {
        let keys = self.doc_keys(rows);
        draw.uniforms_of(level, |doc| keys.of(doc), out);
    }

    /// What the random numbers of some rows depend on.
    pub fn doc_keys(&self, rows: Range<usize>) -> DocKeys<'_> {
        match &self.identity {
            Identity::Ids(ids) => DocKeys { keys: &ids[rows], ordinals: None },
            Identity::Rows { ordinals } => DocKeys { keys: &self.keys[rows.clone()], ordinals: Some(&ordinals[rows]) },
        }
    }

    /// A uniform random number in [0, 1) for a query.
    pub fn query_draw(&self, draw: &Draw, query: usize) -> f64 {
        draw.row_uniform(RowKey::of_query(self.qids.get(query)), 0)
    }
}

/// One query and its documents.
#[derive(Clone, Debug)]
pub struct QueryView<'a> {
    data: &'a Documents,
    /// Its id.
    pub id: &'a str,
    /// Its weight.
    pub weight: f32,
    /// The labels of its documents.
    pub labels: &'a [f32],
    /// The input rows of its documents.
    pub input_rows: &'a [u32],
    /// Its rows in the dataset.
    pub rows: Range<usize>,
}

impl QueryView<'_> {
    /// The number of documents.
    pub fn n_docs(&self) -> usize {
        self.labels.len()
    }

    /// The id of a document, or empty.
    pub fn doc_id(&self, doc: usize) -> &str {
        self.data.doc_id(self.rows.start + doc)
    }

    /// The weight of a document.
    pub fn doc_weight(&self, doc: usize) -> f32 {
        self.data.weight(self.rows.start + doc)
    }

    /// The weights of its documents; `None` if documents have no weights.
    pub fn doc_weights(&self) -> Option<&[f32]> {
        self.data.weights.as_ref().map(|weights| &weights[self.rows.clone()])
    }

    /// A uniform random number in [0, 1) for a document.
    pub fn draw(&self, draw: &Draw, doc: usize) -> f64 {
        self.data.draw(draw, self.rows.start + doc)
    }

    /// What the random numbers of its documents depend on.
    pub fn doc_keys(&self) -> DocKeys<'_> {
        self.data.doc_keys(self.rows.clone())
    }
}

/// What the random numbers of some documents depend on: never on their order.
#[derive(Clone, Copy, Debug)]
pub struct DocKeys<'a> {
    keys: &'a [RowKey],
    /// Numbers that distinguish rows with equal keys; `None` if there cannot be any.
    ordinals: Option<&'a [u32]>,
}

impl DocKeys<'_> {
    /// The number of documents.
    pub fn n_docs(&self) -> usize {
        self.keys.len()
    }

    /// The key and the ordinal of a document, as [`Draw`] takes them.
    pub fn of(&self, doc: usize) -> (u64, u32) {
        (self.keys[doc].low(), self.ordinals.map_or(0, |ordinals| ordinals[doc]))
    }
}

/// What a document's random numbers depend on: its ids if every document has one that is unique in its query, otherwise
/// its row key. `ordinals` distinguish rows with equal keys.
#[derive(Clone, Debug)]
pub(crate) enum Identity {
    Ids(Vec<RowKey>),
    Rows { ordinals: Vec<u32> },
}

impl Identity {
    pub(crate) fn new(qids: &StringTable, bounds: &[usize], doc_ids: Option<&StringTable>, keys: &[RowKey]) -> Self {
        doc_ids.and_then(|ids| unique_id_keys(qids, bounds, ids)).map_or_else(
            || Self::Rows {
                ordinals: (0..qids.len())
                    .flat_map(|query| {
                        let rows = &keys[bounds[query]..bounds[query + 1]];
                        rows.chunk_by(|a, b| a == b).flat_map(|equal| 0..equal.len() as u32)
                    })
                    .collect(),
            },
            Self::Ids,
        )
    }
}

fn unique_id_keys(qids: &StringTable, bounds: &[usize], doc_ids: &StringTable) -> Option<Vec<RowKey>> {
    let mut keys = Vec::with_capacity(doc_ids.len());
    for query in 0..qids.len() {
        let start = keys.len();
        for row in bounds[query]..bounds[query + 1] {
            let doc_id = doc_ids.get(row);
            if doc_id.is_empty() {
                return None;
            }
            keys.push(RowKey::of_ids(qids.get(query), doc_id));
        }
        let mut sorted = keys[start..].to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
    }
    Some(keys)
}

#[cfg(test)]
mod tests {
    use crate::{DatasetBuilder, Draw, Purpose, Row, SimdLevel};

    fn draws(doc_ids: [&str; 3], value: f32) -> Vec<f64> {
        let mut builder = DatasetBuilder::default();
        for doc_id in doc_ids {
            builder.push(&Row { qid: "q", doc_id, features: &[(1, value)], ..Row::default() }).unwrap();
        }
        let data = builder.finish().unwrap();
        let draw = Draw::new(1, Purpose::Bagging, 0);
        let mut all = vec![0.0; 3];
        data.draws(SimdLevel::best(), &draw, 0..3, &mut all);
        assert!(all.iter().enumerate().all(|(row, number)| *number == data.draw(&draw, row)));
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn unique_ids_fix_the_draws_and_equal_rows_still_differ() {
        assert_eq!(draws(["a", "b", "c"], 1.0), draws(["c", "a", "b"], 2.0));
        assert_ne!(draws(["a", "b", "b"], 1.0), draws(["a", "b", "b"], 2.0));
        let same = draws(["", "", ""], 1.0);
        assert!(same[0] < same[1] && same[1] < same[2]);
    }
}
