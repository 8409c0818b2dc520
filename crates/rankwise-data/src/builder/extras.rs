//! Weights, positions and preferred pairs, in input order. They come from columns of the rows or from separate lists.

use super::{QueryNumbers, RowBlock};
use crate::{DataError, Pair, StringTable};

#[derive(Clone, Debug, Default)]
pub(super) struct Extras {
    pub(super) row_weights: Option<Vec<f32>>,
    pub(super) query_weights: Option<QueryWeights>,
    pub(super) positions: Option<Vec<u32>>,
    pub(super) pairs: Option<Vec<Pair>>,
}

/// How the weights of the queries were given.
#[derive(Clone, Debug)]
pub(super) enum QueryWeights {
    /// In order of first appearance.
    InOrder(Vec<f32>),
    ById(StringTable, Vec<f32>),
    /// One for each row; those of a query must agree.
    ByRow(Vec<f32>),
}

impl QueryWeights {
    fn all(&self) -> &[f32] {
        match self {
            Self::InOrder(weights) | Self::ById(_, weights) | Self::ByRow(weights) => weights,
        }
    }
}

impl Extras {
    /// Adds what the rows contain. It is an error if it was also given separately.
    pub(super) fn take_from(&mut self, blocks: &[RowBlock]) -> Result<(), DataError> {
        let n_rows = blocks.iter().map(RowBlock::n_rows).sum();
        if let Some(weights) = joined(blocks, |block| &block.weights, "document weights", n_rows)? {
            fill(&mut self.row_weights, weights, "document weights")?;
        }
        if let Some(weights) = joined(blocks, |block| &block.query_weights, "query weights", n_rows)? {
            fill(&mut self.query_weights, QueryWeights::ByRow(weights), "query weights")?;
        }
        if let Some(positions) = joined(blocks, |block| &block.positions, "positions", n_rows)? {
            fill(&mut self.positions, positions, "positions")?;
        }
        Ok(())
    }

    pub(super) fn check(&self, n_rows: usize) -> Result<(), DataError> {
        let query_weights = self.query_weights.as_ref().map(QueryWeights::all);
        let pair_weights: Option<Vec<f32>> =
            self.pairs.as_ref().map(|pairs| pairs.iter().map(|pair| pair.weight).collect());
        for (what, weights) in
            [("row", self.row_weights.as_deref()), ("query", query_weights), ("pair", pair_weights.as_deref())]
        {
            let bad = |weight: &f32| !(weight.is_finite() && *weight >= 0.0);
            if let Some((idx, weight)) = weights.unwrap_or_default().iter().enumerate().find(|(_, weight)| bad(weight))
            {
                return Err(DataError::Weight { what, index: idx + 1, weight: *weight });
            }
        }
        let possible = |pair: &Pair| (0.0..=1.0).contains(&pair.probability);
        let pairs = self.pairs.as_deref().unwrap_or_default();
        if let Some((idx, pair)) = pairs.iter().enumerate().find(|(_, pair)| !possible(pair)) {
            return Err(DataError::Probability { pair: idx + 1, probability: pair.probability });
        }
        let lengths = [
            ("document weights", self.row_weights.as_ref().map(Vec::len)),
            ("positions", self.positions.as_ref().map(Vec::len)),
        ];
        match lengths.into_iter().find(|(_, given)| given.is_some_and(|given| given != n_rows)) {
            Some((what, given)) => {
                Err(DataError::Length { what, given: given.unwrap_or(0), expected: n_rows, of: "rows" })
            }
            None => Ok(()),
        }
    }

    /// The weight of each query, numbered by first appearance.
    pub(super) fn weights_by_query(&self, queries: &QueryNumbers) -> Result<Vec<f32>, DataError> {
        let expected = queries.ids.len();
        match &self.query_weights {
            None => Ok(vec![1.0; expected]),
            Some(QueryWeights::InOrder(weights)) if weights.len() == expected => Ok(weights.clone()),
            Some(QueryWeights::InOrder(weights)) => {
                Err(DataError::Length { what: "query weights", given: weights.len(), expected, of: "queries" })
            }
            Some(QueryWeights::ById(ids, weights)) => weights_by_id(ids, weights, queries),
            Some(QueryWeights::ByRow(weights)) => weights_by_row(weights, queries),
        }
    }

    pub(super) fn check_products(&self, queries: &QueryNumbers, query_weights: &[f32]) -> Result<(), DataError> {
        let Some(weights) = &self.row_weights else { return Ok(()) };
        let product = |row: usize| weights[row] * query_weights[queries.of_row[row] as usize];
        match (0..weights.len()).find(|row| !product(*row).is_finite()) {
            Some(row) => Err(DataError::WeightProduct { row: row + 1 }),
            None => Ok(()),
        }
    }
}

/// Joins a list that is spread over blocks; `None` if no row has an entry.
fn joined<T: Clone>(
    blocks: &[RowBlock],
    part: impl Fn(&RowBlock) -> &Vec<T>,
    what: &'static str,
    n_rows: usize,
) -> Result<Option<Vec<T>>, DataError> {
    let given = blocks.iter().map(|block| part(block).len()).sum();
    match given {
        0 => Ok(None),
        _ if given != n_rows => Err(DataError::Length { what, given, expected: n_rows, of: "rows" }),
        _ => Ok(Some(blocks.iter().flat_map(|block| part(block).iter().cloned()).collect())),
    }
}

fn fill<T>(place: &mut Option<T>, value: T, what: &'static str) -> Result<(), DataError> {
    if place.is_some() {
        return Err(DataError::GivenTwice { what });
    }
    *place = Some(value);
    Ok(())
}

fn weights_by_id(ids: &StringTable, weights: &[f32], queries: &QueryNumbers) -> Result<Vec<f32>, DataError> {
    let mut known: Vec<(&str, f32)> = ids.iter().zip(weights.iter().copied()).collect();
    known.sort_by_key(|(id, _)| *id);
    if let Some(twice) = known.windows(2).find(|two| two[0].0 == two[1].0) {
        return Err(DataError::QueryWeightTwice { qid: twice[0].0.into() });
    }
    let weight = |qid: &str| {
        let place = known.binary_search_by_key(&qid, |(id, _)| *id);
        place.map(|place| known[place].1).map_err(|_| DataError::QueryWeightMissing { qid: qid.into() })
    };
    queries.ids.iter().map(weight).collect()
}

fn weights_by_row(weights: &[f32], queries: &QueryNumbers) -> Result<Vec<f32>, DataError> {
    let mut of_query: Vec<Option<f32>> = vec![None; queries.ids.len()];
    for (row, (weight, query)) in weights.iter().zip(&queries.of_row).enumerate() {
        let first = *of_query[*query as usize].get_or_insert(*weight);
        if first != *weight {
            return Err(DataError::QueryWeightDiffers { row: row + 1, weight: *weight, first });
        }
    }
    Ok(of_query.into_iter().map(|weight| weight.unwrap_or(1.0)).collect())
}
