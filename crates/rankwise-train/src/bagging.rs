//! Samples the rows that a tree is grown from.

use rankwise_data::{Documents, Draw, Purpose, SimdLevel};
use rayon::prelude::*;

use crate::{LoopParams, Sample};

/// Rows that one task draws.
const ROWS_PER_RUN: usize = 1 << 10;

/// A sample of the rows, drawn again every `bagging_freq` trees. Whether a document is in it depends on the document
/// and the seed, never on the order of rows.
pub(crate) struct Bag<'a> {
    data: &'a Documents,
    params: &'a LoopParams,
    simd: SimdLevel,
    rows: Vec<u32>,
    /// Whether each query is in the sample; empty if documents are sampled, or nothing is.
    is_drawn: Vec<bool>,
    /// The tree for which the rows were drawn.
    drawn_for: Option<u32>,
}

impl<'a> Bag<'a> {
    pub(crate) fn new(data: &'a Documents, params: &'a LoopParams, simd: SimdLevel) -> Self {
        let rows = (0..data.n_rows() as u32).collect();
        Self { data, params, simd, rows, is_drawn: Vec::new(), drawn_for: None }
    }

    /// Whether trees see only some of the rows.
    pub(crate) fn is_sampled(&self) -> bool {
        matches!(self.params.sample, Sample::Bagging | Sample::QueryBagging)
    }

    /// The rows of a tree, ascending. Trees that share a sample can be requested in any order, starting anywhere.
    pub(crate) fn rows(&mut self, tree: u32) -> &[u32] {
        self.draw_for(tree);
        &self.rows
    }

    /// Whether the tree sees a query. The objective can skip the others.
    pub(crate) fn has_query(&mut self, tree: u32) -> impl Fn(usize) -> bool + Sync {
        self.draw_for(tree);
        |query| self.is_drawn.get(query).is_none_or(|is_drawn| *is_drawn)
    }

    fn draw_for(&mut self, tree: u32) {
        if !self.is_sampled() {
            return;
        }
        let first = tree - tree % self.params.bagging_freq as u32;
        if self.drawn_for == Some(first) {
            return;
        }
        self.drawn_for = Some(first);
        let draw = Draw::new(self.params.seed, Purpose::Bagging, first);
        let (data, share) = (self.data, self.params.bagging_fraction);
        if self.params.sample == Sample::QueryBagging {
            self.is_drawn = (0..data.n_queries()).map(|query| data.query_draw(&draw, query) < share).collect();
            let queries = (0..data.n_queries()).filter(|query| self.is_drawn[*query]);
            self.rows = queries.flat_map(|query| data.query_rows(query)).map(|row| row as u32).collect();
        } else {
            draw_rows(data, self.simd, &draw, share, &mut self.rows);
        }
    }
}

/// Draws each row with the given probability.
fn draw_rows(data: &Documents, simd: SimdLevel, draw: &Draw, share: f64, rows: &mut Vec<u32>) {
    rows.resize(data.n_rows(), 0);
    // First each run of rows at its own place, then without the gaps.
    let n_drawn: Vec<usize> = rows
        .par_chunks_mut(ROWS_PER_RUN)
        .enumerate()
        .map(|(run, rows)| {
            let first = run * ROWS_PER_RUN;
            let mut numbers = [0.0; ROWS_PER_RUN];
            let numbers = &mut numbers[..rows.len()];
            data.draws(simd, draw, first..first + rows.len(), numbers);
            let mut n_drawn = 0;
            for (place, number) in numbers.iter().enumerate() {
                rows[n_drawn] = (first + place) as u32;
                n_drawn += usize::from(*number < share);
            }
            n_drawn
        })
        .collect();
    let mut end = 0;
    for (run, n_drawn) in n_drawn.into_iter().enumerate() {
        let first = run * ROWS_PER_RUN;
        rows.copy_within(first..first + n_drawn, end);
        end += n_drawn;
    }
    rows.truncate(end);
}

#[cfg(test)]
mod tests {
    use rankwise_data::{DatasetBuilder, Row};

    use super::*;
    use crate::LoopSpec;

    fn bags(sample: Sample, bagging_freq: usize, reversed: bool) -> Vec<Vec<String>> {
        let mut names: Vec<(String, String)> =
            (0..200).map(|doc| (format!("q{}", doc / 10), format!("d{doc}"))).collect();
        if reversed {
            names.reverse();
        }
        let mut builder = DatasetBuilder::default();
        for (qid, doc_id) in &names {
            builder.push(&Row { qid, doc_id, ..Row::default() }).unwrap();
        }
        let data = builder.finish().unwrap();
        let params = LoopSpec { sample, bagging_freq, bagging_fraction: 0.4, ..Default::default() }.check().unwrap();
        let mut bag = Bag::new(&data, &params, SimdLevel::best());
        (0..4).map(|tree| bag.rows(tree).iter().map(|row| data.doc_id(*row as usize).to_owned()).collect()).collect()
    }

    #[test]
    fn samples_follow_documents_and_are_drawn_as_often_as_asked() {
        let forward = bags(Sample::Bagging, 2, false);
        assert_eq!(forward, bags(Sample::Bagging, 2, true));
        assert!(forward[0] == forward[1] && forward[1] != forward[2] && forward[2] == forward[3]);
        assert!((50..110).contains(&forward[0].len()), "{}", forward[0].len());

        let by_query = bags(Sample::QueryBagging, 1, false);
        assert_eq!(by_query, bags(Sample::QueryBagging, 1, true));
        for bag in by_query {
            assert!(bag.len() % 10 == 0 && bag.len() < 200, "whole queries only: {}", bag.len());
        }
    }
}
