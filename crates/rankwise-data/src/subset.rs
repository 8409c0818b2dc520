//! Some of the documents of a dataset, with everything but their features. Objectives use it to see only a part of the
//! data.

use crate::documents::Identity;
use crate::{Documents, Pair, StringTable};

impl Documents {
    /// The given rows, in ascending order, without features. Documents get the same random numbers as in the whole.
    /// Queries without any of these rows are dropped, and so are pairs that lose a document.
    pub fn subset(&self, rows: &[u32]) -> Self {
        debug_assert!(rows.is_sorted_by(|a, b| a < b));
        let picked = |values: &[f32]| rows.iter().map(|row| values[*row as usize]).collect::<Vec<_>>();
        let (mut qids, mut bounds, mut query_weights) = (StringTable::default(), vec![0], Vec::new());
        let mut start = 0;
        for query in 0..self.n_queries() {
            let end = start + rows[start..].partition_point(|row| (*row as usize) < self.bounds[query + 1]);
            if end > start {
                qids.push(self.qids.get(query));
                query_weights.push(self.query_weight(query));
                bounds.push(end);
                start = end;
            }
        }
        let identity = match &self.identity {
            Identity::Ids(ids) => Identity::Ids(rows.iter().map(|row| ids[*row as usize]).collect()),
            Identity::Rows { ordinals } => {
                Identity::Rows { ordinals: rows.iter().map(|row| ordinals[*row as usize]).collect() }
            }
        };
        Self {
            absent: self.absent,
            qids,
            bounds,
            query_weights: self.query_weights.as_ref().map(|_| query_weights),
            labels: picked(&self.labels),
            weights: self.weights.as_deref().map(picked),
            positions: self.positions.as_ref().map(|all| rows.iter().map(|row| all[*row as usize]).collect()),
            pairs: self.pairs_among(rows),
            doc_ids: None,
            keys: rows.iter().map(|row| self.keys[*row as usize]).collect(),
            identity,
            input_row: rows.iter().map(|row| self.input_row[*row as usize]).collect(),
            feature_ids: Vec::new(),
            feature_names: Vec::new(),
            f64_features: Vec::new(),
            fingerprint: self.fingerprint,
        }
    }

    /// The pairs whose documents are both among `rows`, renumbered by their index in `rows`.
    fn pairs_among(&self, rows: &[u32]) -> Vec<Pair> {
        let place = |row: u32| rows.binary_search(&row).ok().map(|place| place as u32);
        let among = |pair: &Pair| Some(Pair { winner: place(pair.winner)?, loser: place(pair.loser)?, ..*pair });
        self.pairs.iter().filter_map(among).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, DatasetBuilder, Draw, Pair, Purpose, Row};

    fn data(with_ids: bool) -> Dataset {
        let mut builder = DatasetBuilder::default();
        for doc in 0..12u8 {
            let (qid, doc_id) = (format!("q{}", doc / 4), format!("d{doc}"));
            let doc_id = if with_ids { &doc_id[..] } else { "" };
            let features = [(1, f32::from(doc % 3))];
            builder.push(&Row { qid: &qid, label: f32::from(doc % 5), doc_id, features: &features }).unwrap();
        }
        builder.pairs([(0, 1), (2, 3), (4, 7)].map(|(winner, loser)| Pair::new(winner, loser)).to_vec());
        builder.query_weights(vec![1.0, 2.0, 3.0]);
        builder.finish().unwrap()
    }

    #[test]
    fn a_subset_says_of_its_documents_what_the_whole_says() {
        for with_ids in [true, false] {
            let data = data(with_ids);
            let draw = Draw::new(3, Purpose::Ties, 1);
            let rows: Vec<u32> = (0..12).filter(|row| !(4..8).contains(row) && row % 3 != 1).collect();
            let part = data.subset(&rows);
            assert_eq!((part.n_queries(), part.n_rows(), part.n_features()), (2, rows.len(), 0));
            assert_eq!((part.query(1).id, part.query_weight(1)), ("q2", 3.0));
            for (place, row) in rows.iter().map(|row| *row as usize).enumerate() {
                assert_eq!(part.labels()[place], data.labels()[row]);
                assert_eq!(part.input_row()[place], data.input_row()[row]);
                assert_eq!(part.draw(&draw, place), data.draw(&draw, row));
            }
            for pair in part.pairs() {
                let whole = (rows[pair.winner as usize], rows[pair.loser as usize]);
                assert!(data.pairs().iter().any(|pair| (pair.winner, pair.loser) == whole));
            }
            let kept = |row: u32| rows.contains(&row);
            let n_kept = data.pairs().iter().filter(|pair| kept(pair.winner) && kept(pair.loser)).count();
            assert_eq!(part.pairs().len(), n_kept);
            let all: Vec<u32> = (0..12).collect();
            assert_eq!(data.subset(&all).bounds(), data.bounds());
        }
    }
}
