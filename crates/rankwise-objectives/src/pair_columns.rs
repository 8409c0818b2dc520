//! A query in rank order, in the form that the pair kernel takes: columns, padded to whole groups of lanes.

use rankwise_data::SimdLevel;

use crate::Scratch;
use crate::kernel::pairs::{LANES, PairParams, RankedQuery, add_pairs};
use crate::lists::Ranked;
use crate::swap::SwapColumns;
use crate::words::Words;

/// The columns of a query.
pub(crate) struct PairColumns<'a> {
    scores: &'a mut Vec<f32>,
    pub(crate) values: &'a mut Vec<f32>,
    pub(crate) swaps: SwapColumns<'a>,
    powers: &'a mut Vec<f32>,
    /// How much documents are moved down, after adding the pairs.
    pub(crate) lambdas: &'a mut Vec<f32>,
    pub(crate) hessians: &'a mut Vec<f32>,
}

/// Scores by document, sort keys and random words.
pub(crate) struct ByDocument<'a> {
    pub(crate) scores: &'a mut Vec<f32>,
    pub(crate) keys: &'a mut Vec<u64>,
    pub(crate) words: &'a mut Words,
}

/// Splits a scratch into parts.
pub(crate) fn columns_of(scratch: &mut Scratch) -> (ByDocument<'_>, PairColumns<'_>) {
    let [by_doc, scores, values, rows, weights, columns, powers, lambdas, hessians] = &mut scratch.columns;
    let swaps = SwapColumns { rows, weights, columns };
    let by_document = ByDocument { scores: by_doc, keys: &mut scratch.keys, words: &mut scratch.words };
    (by_document, PairColumns { scores, values, swaps, powers, lambdas, hessians })
}

impl PairColumns<'_> {
    /// Takes scores and values in rank order. The caller then fills `swaps` for the same number of documents.
    pub(crate) fn start(&mut self, ranked: Ranked<'_>, by_doc: &[f32]) {
        self.scores.clear();
        self.scores.extend(ranked.docs().map(|doc| by_doc[doc]));
        self.values.clear();
        self.values.extend(ranked.values());
    }

    /// Whether all scores are equal.
    pub(crate) fn is_level(&self) -> bool {
        self.scores.first() == self.scores.last()
    }

    /// Adds all pairs; returns the result of [`add_pairs`].
    pub(crate) fn add_pairs(&mut self, params: PairParams, near: &[f32], simd: SimdLevel) -> f64 {
        let n_docs = self.scores.len();
        let n_padded = n_docs.next_multiple_of(LANES);
        let last = self.scores.last().copied().unwrap_or(0.0);
        self.scores.resize(n_padded, last);
        let SwapColumns { rows, weights, columns } = &mut self.swaps;
        for column in [&mut *self.values, *rows, *weights, *columns] {
            column.resize(n_padded, 0.0);
        }
        self.powers.resize(n_padded, 0.0);
        for column in [&mut *self.lambdas, &mut *self.hessians] {
            column.clear();
            column.resize(n_padded, 0.0);
        }
        let mut query = RankedQuery {
            n_docs,
            scores: self.scores.as_chunks().0,
            values: self.values.as_chunks().0,
            rows: rows.as_chunks().0,
            weights: weights.as_chunks().0,
            columns: columns.as_chunks().0,
            near,
            powers: self.powers.as_chunks_mut().0,
            lambdas: self.lambdas.as_chunks_mut().0,
            hessians: self.hessians.as_chunks_mut().0,
        };
        add_pairs(simd, &mut query, params)
    }
}
