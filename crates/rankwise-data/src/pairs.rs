//! Preferences between two documents of a query: which should rank higher.

use crate::builder::QueryNumbers;
use crate::key::KeyBytes;
use crate::{DataError, PairProblem, RowKey};

/// One preference. Rows are numbered from 0, in input order in a builder and in canonical order in a dataset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The row that should rank higher.
    pub winner: u32,
    /// The row that should rank lower.
    pub loser: u32,
    /// The weight of the pair; 1 by default.
    pub weight: f32,
    /// The probability that the winner should rank higher; 1 by default.
    pub probability: f32,
}

impl Pair {
    /// A pair with weight 1 and probability 1.
    pub fn new(winner: u32, loser: u32) -> Self {
        Self { winner, loser, weight: 1.0, probability: 1.0 }
    }
}

/// Checks that each pair joins two rows of one query.
pub(crate) fn check(pairs: &[Pair], queries: &QueryNumbers) -> Result<(), DataError> {
    let n_rows = queries.of_row.len();
    for (idx, Pair { winner, loser, .. }) in pairs.iter().enumerate() {
        let fault = |problem| Err(DataError::Pair { pair: idx + 1, problem });
        if let Some(row) = [*winner, *loser].into_iter().find(|row| *row as usize >= n_rows) {
            return fault(PairProblem::Row { row, rows: n_rows });
        }
        if winner == loser {
            return fault(PairProblem::Itself { row: *winner });
        }
        let [a, b] = [*winner, *loser].map(|row| queries.of_row[row as usize]);
        if a != b {
            let qids = [a, b].map(|query| queries.ids.get(query as usize).to_owned());
            return fault(PairProblem::Queries { qids });
        }
    }
    Ok(())
}

/// Adds the pairs of a row to its key: equal rows that were compared with different rows are not interchangeable. The
/// order of the pairs does not matter.
pub(crate) fn add_to_keys(keys: &mut [RowKey], pairs: &[Pair]) {
    let mut sums = vec![0u128; keys.len()];
    for pair in pairs {
        let (winner, loser) = (pair.winner as usize, pair.loser as usize);
        sums[winner] = sums[winner].wrapping_add(mark("above", keys[loser], pair));
        sums[loser] = sums[loser].wrapping_add(mark("below", keys[winner], pair));
    }
    for (key, sum) in keys.iter_mut().zip(sums).filter(|(_, sum)| *sum != 0) {
        let mut bytes = KeyBytes::default();
        bytes.key(*key);
        bytes.wide(sum);
        *key = bytes.finish();
    }
}

fn mark(side: &str, other: RowKey, pair: &Pair) -> u128 {
    let mut bytes = KeyBytes::default();
    bytes.text(side);
    bytes.key(other);
    bytes.number(pair.weight);
    // Pairs without a probability keep the keys of versions that had no probabilities.
    if pair.probability != 1.0 {
        bytes.number(pair.probability);
    }
    bytes.finish().as_u128()
}

/// Converts pairs of input rows to pairs of canonical rows, in canonical order: those of a query are adjacent.
pub(crate) fn to_canonical(pairs: &[Pair], input_row: &[u32]) -> Vec<Pair> {
    let mut place = vec![0u32; input_row.len()];
    input_row.iter().enumerate().for_each(|(row, input)| place[*input as usize] = row as u32);
    let moved = |pair: &Pair| Pair { winner: place[pair.winner as usize], loser: place[pair.loser as usize], ..*pair };
    let mut pairs: Vec<Pair> = pairs.iter().map(moved).collect();
    pairs.sort_unstable_by_key(|pair| (pair.winner, pair.loser, pair.weight.to_bits(), pair.probability.to_bits()));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, DatasetBuilder, Row};

    fn pair(winner: u32, loser: u32) -> Pair {
        Pair::new(winner, loser)
    }

    fn build(rows: &[(&str, f32)], pairs: Vec<Pair>) -> Result<Dataset, DataError> {
        let mut builder = DatasetBuilder::default();
        for (qid, value) in rows {
            builder.push(&Row { qid, features: &[(1, *value)], ..Row::default() }).unwrap();
        }
        builder.pairs(pairs);
        builder.finish()
    }

    #[test]
    fn the_order_of_rows_and_pairs_does_not_show() {
        let rows = [("b", 1.0), ("a", 2.0), ("a", 3.0), ("b", 4.0), ("a", 3.0)];
        let data = build(&rows, vec![pair(3, 0), pair(1, 2), pair(4, 1)]).unwrap();
        // The same rows in reverse order.
        let turned: Vec<_> = rows.iter().copied().rev().collect();
        let other = build(&turned, vec![pair(0, 3), pair(1, 4), pair(3, 2)]).unwrap();
        assert_eq!(data.pairs(), other.pairs());
        assert_eq!(data.fingerprint(), other.fingerprint());
        assert_eq!((data.query_pairs(0).len(), data.query_pairs(1).len()), (2, 1));
        let value = |row: u32| data.column(0).get(row as usize);
        for pair in data.pairs() {
            let found = (value(pair.winner), value(pair.loser));
            assert!([(4.0, 1.0), (2.0, 3.0), (3.0, 2.0)].contains(&found), "{found:?}");
        }
        assert_ne!(data.fingerprint(), build(&rows, Vec::new()).unwrap().fingerprint());
        let likely = Pair { probability: 0.75, ..pair(4, 1) };
        let likely = build(&rows, vec![pair(3, 0), pair(1, 2), likely]).unwrap();
        assert_ne!(data.fingerprint(), likely.fingerprint());
        assert_eq!(likely.pairs().iter().filter(|pair| pair.probability == 0.75).count(), 1);
    }

    #[test]
    fn equal_rows_are_told_apart_by_their_pairs() {
        let rows = [("a", 1.0), ("a", 1.0), ("a", 2.0)];
        let first = build(&rows, vec![pair(0, 2), pair(2, 1)]).unwrap();
        let second = build(&rows, vec![pair(1, 2), pair(2, 0)]).unwrap();
        assert_eq!(first.pairs(), second.pairs());
    }

    #[test]
    fn pairs_that_make_no_sense_are_refused() {
        let rows = [("a", 1.0), ("a", 1.0), ("b", 2.0)];
        let error = |bad| build(&rows, vec![pair(0, 1), bad]).unwrap_err();
        let second = |problem| DataError::Pair { pair: 2, problem };
        assert_eq!(error(pair(0, 3)), second(PairProblem::Row { row: 3, rows: 3 }));
        assert_eq!(error(pair(1, 1)), second(PairProblem::Itself { row: 1 }));
        assert_eq!(error(pair(0, 2)), second(PairProblem::Queries { qids: ["a".into(), "b".into()] }));
        let negative = Pair { weight: -1.0, ..pair(0, 1) };
        assert_eq!(error(negative), DataError::Weight { what: "pair", index: 2, weight: -1.0 });
        let impossible = Pair { probability: 1.5, ..pair(0, 1) };
        assert_eq!(error(impossible), DataError::Probability { pair: 2, probability: 1.5 });
        assert!(matches!(error(Pair { probability: f32::NAN, ..pair(0, 1) }), DataError::Probability { .. }));
    }
}
