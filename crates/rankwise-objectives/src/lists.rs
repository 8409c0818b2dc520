//! The documents of each query in tie order, that is, their order if all scores are equal, with a value for each; and
//! ranking by scores.

use std::ops::Range;

use rankwise_data::{Documents, QueryView};
use rankwise_metrics::Ties;

/// The queries of a dataset, each in tie order.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    /// Query `q` has the entries `bounds[q]..bounds[q + 1]` of the next two.
    bounds: Vec<usize>,
    order: Vec<u32>,
    /// Of the documents in that order.
    values: Vec<f32>,
}

impl Lists {
    /// Documents with equal scores are ordered worst first, or in input order if `ties` says so. `values_of` returns
    /// the values of a query's documents.
    pub(crate) fn new(data: &Documents, ties: Ties, values_of: impl Fn(&QueryView<'_>, &mut Vec<f64>)) -> Self {
        let (mut order, mut values) = (Vec::with_capacity(data.n_rows()), Vec::with_capacity(data.n_rows()));
        let mut of_query = Vec::new();
        for query in data.queries() {
            let start = order.len();
            order.extend(0..query.n_docs() as u32);
            match ties {
                Ties::Input => order[start..].sort_by_key(|doc| query.input_rows[*doc as usize]),
                _ => {
                    order[start..].sort_by(|a, b| query.labels[*a as usize].total_cmp(&query.labels[*b as usize]));
                }
            }
            of_query.clear();
            values_of(&query, &mut of_query);
            values.extend(order[start..].iter().map(|doc| of_query[*doc as usize] as f32));
        }
        Self { bounds: data.bounds().to_vec(), order, values }
    }

    fn entries(&self, query: usize) -> Range<usize> {
        self.bounds[query]..self.bounds[query + 1]
    }

    /// Ranks a query by scores in canonical order.
    pub(crate) fn rank<'a>(&'a self, query: usize, scores: &[f32], keys: &'a mut Vec<u64>) -> Ranked<'a> {
        let order = &self.order[self.entries(query)];
        keys.clear();
        keys.extend(
            order
                .iter()
                .enumerate()
                .map(|(tie_rank, doc)| u64::from(descending_bits(scores[*doc as usize])) << 32 | tie_rank as u64),
        );
        keys.sort_unstable();
        Ranked { keys, order, values: &self.values[self.entries(query)] }
    }
}

/// A query in rank order.
#[derive(Clone, Copy)]
pub(crate) struct Ranked<'a> {
    /// The low halves are indices into the tie order.
    keys: &'a [u64],
    order: &'a [u32],
    values: &'a [f32],
}

impl<'a> Ranked<'a> {
    /// The documents from the highest score to the lowest.
    pub(crate) fn docs(self) -> impl Iterator<Item = usize> + 'a {
        self.keys.iter().map(move |key| self.order[*key as u32 as usize] as usize)
    }

    /// Their values.
    pub(crate) fn values(self) -> impl Iterator<Item = f32> + 'a {
        self.keys.iter().map(move |key| self.values[*key as u32 as usize])
    }
}

/// Bits that ascend as the number descends; -0 is 0.
pub(crate) fn descending_bits(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    // The bits of negative numbers already have this order; those of positive numbers are inverted.
    if bits >> 31 == 1 { bits } else { bits ^ 0x7fff_ffff }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_descend_with_the_number() {
        let numbers = [f32::INFINITY, 3.5, 1.0, f32::MIN_POSITIVE, 0.0, -1e-40, -1.0, -7.25, f32::NEG_INFINITY];
        assert!(numbers.windows(2).all(|pair| descending_bits(pair[0]) < descending_bits(pair[1])));
        assert_eq!(descending_bits(0.0), descending_bits(-0.0));
    }
}
