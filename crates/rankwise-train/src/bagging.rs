//! Which rows a tree is grown from.

use rankwise_data::{Dataset, Draw, Purpose};

use crate::{LoopParams, Sample};

/// A sample of the rows, drawn anew every `bagging_freq` trees. Whether a document is in it depends on the document and
/// the seed, never on its place.
pub(crate) struct Bag<'a> {
    data: &'a Dataset,
    params: &'a LoopParams,
    rows: Vec<u32>,
    /// The tree that the rows were drawn for.
    drawn_for: Option<u32>,
}

impl<'a> Bag<'a> {
    pub(crate) fn new(data: &'a Dataset, params: &'a LoopParams) -> Self {
        Self { data, params, rows: (0..data.n_rows() as u32).collect(), drawn_for: None }
    }

    /// Whether trees see only a part of the rows.
    pub(crate) fn is_sampled(&self) -> bool {
        matches!(self.params.sample, Sample::Bagging | Sample::QueryBagging)
    }

    /// The rows of a tree, ascending. Trees that share a sample may be asked for in any order, and from any of them on.
    pub(crate) fn rows(&mut self, tree: u32) -> &[u32] {
        if self.is_sampled() {
            let first = tree - tree % self.params.bagging_freq as u32;
            if self.drawn_for != Some(first) {
                self.rows = self.draw(first);
                self.drawn_for = Some(first);
            }
        }
        &self.rows
    }

    fn draw(&self, tree: u32) -> Vec<u32> {
        let draw = Draw::new(self.params.seed, Purpose::Bagging, tree);
        let share = self.params.bagging_fraction;
        let rows = 0..self.data.n_rows();
        if self.params.sample == Sample::QueryBagging {
            let queries = (0..self.data.n_queries()).filter(|query| self.data.query_draw(&draw, *query) < share);
            return queries.flat_map(|query| self.data.query_rows(query)).map(|row| row as u32).collect();
        }
        rows.filter(|row| self.data.draw(&draw, *row) < share).map(|row| row as u32).collect()
    }
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
        let mut bag = Bag::new(&data, &params);
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
