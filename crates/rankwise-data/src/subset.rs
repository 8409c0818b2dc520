//! Parts of datasets: some documents without their features, as objectives see them, or some queries with everything.

use rayon::prelude::*;

use crate::columns::Unrounded;
use crate::documents::Identity;
use crate::{Column, DataError, Dataset, Documents, Pair, StringTable};

impl Dataset {
    /// Some of the queries, by their numbers, in any order, each at most once. The rest of the data does not show: models
    /// and metrics are the same as those of data that never had the other queries, unless only those made a feature f64.
    /// The rows keep their order of input. All features are kept, also those without a value in these queries.
    ///
    /// ```
    /// use rankwise_data::Dataset;
    ///
    /// let data = Dataset::from_dense(&[0.9, 0.1, 0.4], 1).labels(&[1, 0, 2]).qids(&["b", "a", "b"]).build()?;
    /// let part = data.select_queries(&[1])?;
    /// assert_eq!((part.query(0).id, part.n_rows()), ("b", 2));
    /// # Ok::<(), rankwise_data::DataError>(())
    /// ```
    pub fn select_queries(&self, queries: &[usize]) -> Result<Self, DataError> {
        let mut queries = queries.to_vec();
        queries.sort_unstable();
        queries.dedup();
        if queries.is_empty() {
            return Err(DataError::Empty);
        }
        let rows: Vec<u32> = queries.iter().flat_map(|query| self.query_rows(*query)).map(|row| row as u32).collect();
        let mut docs = self.docs.subset(&rows);
        docs.doc_ids = self
            .docs
            .doc_ids
            .as_ref()
            .map(|ids| rows.iter().map(|row| ids.get(*row as usize)).collect::<StringTable>());
        docs.fingerprint = docs.keys.iter().fold(0u128, |sum, key| sum.wrapping_add(key.as_u128()));
        docs.input_row = ranks(&docs.input_row);
        docs.feature_ids.clone_from(&self.feature_ids);
        docs.feature_names.clone_from(&self.feature_names);
        docs.f64_features.clone_from(&self.f64_features);
        let columns = self.columns.par_iter().map(|column| column.picked(&rows)).collect();
        let unrounded = self.unrounded.par_iter().map(|unrounded| unrounded.picked(&rows)).collect();
        Ok(Self { docs, columns, unrounded })
    }
}

/// The rank of each of these distinct numbers among them.
fn ranks(numbers: &[u32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..numbers.len() as u32).collect();
    order.sort_unstable_by_key(|place| numbers[*place as usize]);
    let mut ranks = vec![0; numbers.len()];
    order.iter().zip(0..).for_each(|(place, rank)| ranks[*place as usize] = rank);
    ranks
}

impl Column {
    /// The values of these rows, ascending.
    fn picked(&self, rows: &[u32]) -> Self {
        fn of<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|row| values[*row as usize]).collect()
        }
        match self {
            Self::Dense(values) => Self::Dense(of(values, rows)),
            Self::Coded { codes, values } => Self::Coded { codes: of(codes, rows), values: values.clone() },
            Self::Sparse { rows: known, values, rest } => {
                let (places, at): (Vec<u32>, Vec<u32>) = common(known, rows).unzip();
                Self::Sparse { rows: places, values: of(values, &at), rest: *rest }
            }
            Self::Wide(values) => Self::Wide(of(values, rows)),
        }
    }
}

impl Unrounded {
    fn picked(&self, rows: &[u32]) -> Self {
        match self {
            Self::Same => Self::Same,
            Self::Decimals(list) => {
                let known: Vec<u32> = list.iter().map(|(row, _)| *row).collect();
                Self::Decimals(common(&known, rows).map(|(place, at)| (place, list[at as usize].1)).collect())
            }
        }
    }
}

/// The numbers in both of two ascending lists: where each is in `rows`, and where in `known`.
fn common<'a>(known: &'a [u32], rows: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    let mut at = 0;
    (0..).zip(rows).filter_map(move |(place, row)| {
        while known.get(at).is_some_and(|next| next < row) {
            at += 1;
        }
        (known.get(at) == Some(row)).then_some((place, at as u32))
    })
}

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
    use proptest::prelude::*;

    use crate::{Absent, Dataset, DatasetBuilder, Draw, Keep, Pair, Purpose, Row};

    /// Rows with every kind of column: dense, coded, sparse, wide and unrounded ones.
    fn rows_of(wanted: &[u8], qids: &[u8], keep: Keep) -> Dataset {
        let rows: Vec<usize> = (0..qids.len()).filter(|row| wanted.contains(&qids[*row])).collect();
        let values: Vec<f64> = rows
            .iter()
            .flat_map(|row| {
                let number = *row as f64;
                let sparse = if row % 7 == 0 { number } else { f64::NAN };
                [number * 0.37, (row % 3) as f64, sparse, number * 1e-3, 0.1 * number]
            })
            .collect();
        let of = |number: fn(usize) -> f64| rows.iter().map(|row| number(*row)).collect::<Vec<_>>();
        let ids: Vec<String> = rows.iter().map(|row| format!("d{row}")).collect();
        let places: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
        let place = |row: usize| rows.iter().position(|kept| *kept == row).map(|place| place as u32);
        let same = |a: usize, b: usize| qids[a] == qids[b];
        let pairs = (1..qids.len()).filter(|row| same(*row - 1, *row));
        let pairs: Vec<Pair> = pairs.filter_map(|row| Some(Pair::new(place(row - 1)?, place(row)?))).collect();
        let data =
            Dataset::from_dense(&values, 5).labels(&of(|row| (row % 4) as f64)).weights(&of(|row| 1.0 + row as f64));
        let qids: Vec<u8> = rows.iter().map(|row| qids[*row]).collect();
        data.qids(&qids)
            .doc_ids(&ids)
            .positions(&places)
            .pairs(&pairs)
            .keep(keep)
            .absent(Absent::Missing)
            .build()
            .unwrap()
    }

    proptest! {
        /// The part equals the dataset of its rows alone.
        #[test]
        fn selected_queries_are_what_their_rows_alone_would_be(
            qids in prop::collection::vec(0u8..6, 1..80), wanted in prop::collection::vec(0u8..6, 1..6), is_wide in any::<bool>(),
        ) {
            let keep = if is_wide { Keep::All } else { Keep::Rounded };
            let whole = rows_of(&[0, 1, 2, 3, 4, 5], &qids, keep);
            let is_wanted = |query: &usize| wanted.iter().any(|qid| whole.query(*query).id == qid.to_string());
            let numbers: Vec<usize> = (0..whole.n_queries()).rev().filter(is_wanted).collect();
            if numbers.is_empty() {
                prop_assert!(whole.select_queries(&numbers).is_err());
                return Ok(());
            }
            let (part, alone) = (whole.select_queries(&numbers).unwrap(), rows_of(&wanted, &qids, keep));
            prop_assert_eq!(part.fingerprint(), alone.fingerprint());
            prop_assert_eq!(part.bounds(), alone.bounds());
            prop_assert_eq!(part.labels(), alone.labels());
            prop_assert_eq!(part.keys(), alone.keys());
            prop_assert_eq!(part.input_row(), alone.input_row());
            prop_assert_eq!(part.positions(), alone.positions());
            prop_assert_eq!(part.pairs(), alone.pairs());
            prop_assert_eq!(part.feature_ids(), whole.feature_ids());
            let draw = Draw::new(1, Purpose::Ties, 0);
            for row in 0..part.n_rows() {
                prop_assert_eq!((part.doc_id(row), part.weight(row)), (alone.doc_id(row), alone.weight(row)));
                prop_assert_eq!(part.draw(&draw, row), alone.draw(&draw, row));
                for feature in part.feature_ids() {
                    let value = |data: &Dataset| data.f64_values_of(*feature).map_or(f64::NAN, |values| values.get(row));
                    prop_assert_eq!(value(&part).to_bits(), value(&alone).to_bits());
                }
            }
        }
    }

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
