//! How the documents of a query move during training: their ranks after every tree, as a table and as a picture (after
//! Figure 4 of Lucchese, Marcuzzi and Orlando, 2023).
//!
//! In the picture, ranks go from left to right, each as wide as its NDCG discount, and trees from top to bottom.
//! Relevant documents are green, darker for larger labels. Documents that are not relevant and among the lowest ranks
//! after every tree are red, all others grey.

mod picture;

use std::fmt::Write as _;

use rankwise_data::Documents;

/// The ranks of one query's documents.
#[derive(Clone, Debug)]
pub struct Trace {
    qid: String,
    rows: std::ops::Range<usize>,
    labels: Vec<f32>,
    /// In the table: document ids or, without ids, input rows.
    docs: Vec<String>,
    /// Share of the ranks that counts as lowest.
    low: f64,
    /// The number of each tree, from 1, and the documents in rank order after it.
    orders: Vec<(usize, Vec<u32>)>,
}

impl Trace {
    /// For a query of the data; `None` if there is none with this id. `low` is the share of ranks, from 0 to 1, that
    /// counts as lowest.
    pub fn new(data: &Documents, qid: &str, low: f64) -> Option<Self> {
        let query = data.queries().find(|query| query.id == qid)?;
        let name = |doc: usize| match query.doc_id(doc) {
            "" => format!("row{}", query.input_rows[doc] + 1),
            name => name.to_owned(),
        };
        Some(Self {
            qid: qid.to_owned(),
            rows: query.rows.clone(),
            labels: query.labels.to_vec(),
            docs: (0..query.n_docs()).map(name).collect(),
            low,
            orders: Vec::new(),
        })
    }

    /// The query.
    pub fn qid(&self) -> &str {
        &self.qid
    }

    /// Records the ranks after a tree, counted from 1, from the scores of all documents of the data. Documents with
    /// equal scores are in canonical order.
    pub fn record(&mut self, tree: usize, scores: &[f64]) {
        let scores = &scores[self.rows.clone()];
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_by(|a, b| scores[*b as usize].total_cmp(&scores[*a as usize]));
        self.orders.push((tree, order));
    }

    /// One line per document, from the best to the worst in the last ranking: its id, its label, whether it was always
    /// low, and its rank after each tree.
    pub fn to_tsv(&self) -> String {
        let mut out = String::from("document\tlabel\talways_low");
        self.orders.iter().for_each(|(tree, _)| {
            let _ = write!(out, "\ttree_{tree}");
        });
        out.push('\n');
        let mut ranks = vec![vec![0; self.orders.len()]; self.labels.len()];
        for (tree, (_, order)) in self.orders.iter().enumerate() {
            for (rank, doc) in order.iter().enumerate() {
                ranks[*doc as usize][tree] = rank + 1;
            }
        }
        let is_low = self.always_low();
        let mut docs: Vec<usize> = (0..self.labels.len()).collect();
        docs.sort_by_key(|doc| ranks[*doc].last().copied());
        for doc in docs {
            let name = self.docs[doc].replace(['\t', '\n', '\r'], " ");
            let _ = write!(out, "{name}\t{}\t{}", self.labels[doc], u8::from(is_low[doc]));
            ranks[doc].iter().for_each(|rank| {
                let _ = write!(out, "\t{rank}");
            });
            out.push('\n');
        }
        out
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        picture::draw(self)
    }

    /// For each document, whether it is not relevant and among the lowest ranks after every tree.
    fn always_low(&self) -> Vec<bool> {
        let n_docs = self.labels.len();
        let n_high = n_docs - (self.low * n_docs as f64).round() as usize;
        let mut is_low: Vec<bool> = self.labels.iter().map(|label| *label <= 0.0 && !self.orders.is_empty()).collect();
        for (_, order) in &self.orders {
            order[..n_high].iter().for_each(|doc| is_low[*doc as usize] = false);
        }
        is_low
    }
}

#[cfg(test)]
mod tests {
    use rankwise_data::{DatasetBuilder, Row};

    use super::*;

    /// Five documents of query b, and another query.
    fn trace() -> Trace {
        let mut builder = DatasetBuilder::default();
        for (qid, doc_id, label) in
            [("a", "x", 1.0), ("b", "p", 2.0), ("b", "q", 0.0), ("b", "r", 1.0), ("b", "s", 0.0), ("b", "t", 0.0)]
        {
            let value = f32::from(doc_id.as_bytes()[0]);
            builder.push(&Row { qid, label, doc_id, features: &[(1, value)] }).unwrap();
        }
        let data = builder.finish().unwrap();
        let mut trace = Trace::new(&data, "b", 0.4).unwrap();
        assert!(Trace::new(&data, "c", 0.4).is_none());
        let by_name = |scores: [f64; 5]| -> Vec<f64> {
            let score = |row: usize| match data.doc_id(row) {
                "x" => 9.0,
                name => scores[usize::from(name.as_bytes()[0] - b'p')],
            };
            (0..data.n_rows()).map(score).collect()
        };
        trace.record(1, &by_name([0.1, 0.5, 0.3, 0.0, -1.0]));
        trace.record(2, &by_name([0.9, 0.5, 0.3, 0.0, -1.0]));
        trace.record(3, &by_name([0.9, -2.0, 0.3, 0.0, -1.0]));
        trace
    }

    #[test]
    fn the_table_has_a_rank_for_each_tree_and_tells_who_was_always_low() {
        let expected = "document\tlabel\talways_low\ttree_1\ttree_2\ttree_3\n\
            p\t2\t0\t3\t1\t1\nr\t1\t0\t2\t3\t2\ns\t0\t0\t4\t4\t3\nt\t0\t1\t5\t5\t4\nq\t0\t0\t1\t2\t5\n";
        assert_eq!(trace().to_tsv(), expected);
    }

    #[test]
    fn the_picture_shows_grades_and_the_always_low() {
        let svg = trace().to_svg();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        for text in ["query b", "label 1", "label 2", "always among the lowest 40 %", "rank", "tree"] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
    }
}
