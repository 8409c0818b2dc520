//! Gradient-based one-side sampling (Ke et al., "LightGBM", 2017), by LightGBM's rule:
//!
//! ```text
//! size = |g h|
//! the floor(top_rate * n) largest, at least one   stay as they are
//! each other one with probability p               g, h are divided by p        p = other_rate / (1 - top_rate)
//! ```
//!
//! The first 1/`learning_rate` rounds use all rows. Ties between equal sizes are broken at random in each round.

use rankwise_metrics::descending_bits;
use rayon::prelude::*;

use super::{Drawn, Numbers};
use crate::LoopParams;

/// Minimum number of rows per thread.
const MIN_ROWS: usize = 1 << 10;

/// Sign, exponent and the first two binary digits.
const SELECT_BITS: u32 = 14;
/// Keys that one task counts by their first bits.
const KEYS_PER_COUNT: usize = 1 << 16;

pub(super) struct Goss {
    top_rate: f64,
    other_rate: f64,
    warm_up: u32,
}

impl Goss {
    pub(super) fn new(params: &LoopParams) -> Self {
        let warm_up = (1.0 / params.learning_rate) as u32;
        Self { top_rate: params.top_rate, other_rate: params.other_rate, warm_up }
    }

    /// Whether a round, counted from 0, is before sampling begins.
    pub(super) fn is_warming_up(&self, round: u32) -> bool {
        round < self.warm_up
    }

    /// Draws rows by size. The first random number of a row decides whether it is kept, the second breaks ties.
    pub(super) fn draw(&self, sizes: &[f64], numbers: &Numbers<'_>) -> Vec<Drawn> {
        let n_top = ((self.top_rate * sizes.len() as f64) as usize).max(1);
        if n_top >= sizes.len() {
            return (0..sizes.len() as u32).map(|row| (row, 1.0)).collect();
        }
        let probability = (self.other_rate / (1.0 - self.top_rate)).min(1.0);
        let keys: Vec<u64> = sizes.par_iter().with_min_len(MIN_ROWS).map(|size| descending_bits(*size)).collect();
        let last = nth_smallest(&keys, n_top - 1);
        let ties = Ties::new(&keys, last, n_top, |row| (numbers.second)(row).to_bits());
        let is_top = |row: usize, key: u64| key < last || (key == last && ties.stays(row));
        let of_task = |(task, keys): (usize, &[u64])| {
            let first = task * MIN_ROWS;
            let draw = |(place, key): (usize, &u64)| {
                let row = first + place;
                if is_top(row, *key) {
                    return Some((row as u32, 1.0));
                }
                (numbers.first[row] <= probability).then_some((row as u32, 1.0 / probability))
            };
            keys.iter().enumerate().filter_map(draw).collect()
        };
        let drawn: Vec<Vec<Drawn>> = keys.par_chunks(MIN_ROWS).enumerate().map(of_task).collect();
        drawn.concat()
    }
}

/// The key that has `n` keys before it in ascending order.
fn nth_smallest(keys: &[u64], n: usize) -> u64 {
    // Counting by the first bits leaves few keys to select from.
    let count = |keys: &[u64]| {
        let mut counts = vec![0usize; 1 << SELECT_BITS];
        for key in keys {
            counts[first_bits(*key)] += 1;
        }
        counts
    };
    let add = |mut all: Vec<usize>, other: Vec<usize>| {
        all.iter_mut().zip(other).for_each(|(all, other)| *all += other);
        all
    };
    let counts = keys.par_chunks(KEYS_PER_COUNT).map(count).reduce_with(add).unwrap_or_default();
    let (mut first, mut n_before) = (0, 0);
    while n_before + counts[first] <= n {
        n_before += counts[first];
        first += 1;
    }
    let with_bits = keys.par_iter().with_min_len(MIN_ROWS).filter(|key| first_bits(**key) == first);
    let mut left: Vec<u64> = with_bits.copied().collect();
    *left.select_nth_unstable(n - n_before).1
}

fn first_bits(key: u64) -> usize {
    (key >> (64 - SELECT_BITS)) as usize
}

/// Rows tied at the smallest size that is kept, if only some of them are kept.
struct Ties {
    /// Those that are kept, ascending.
    rows: Vec<usize>,
}

impl Ties {
    /// The `n_top` smallest keys are kept; the last of them is `last`. `place` breaks ties between rows with that key.
    fn new(keys: &[u64], last: u64, n_top: usize, place: impl Fn(usize) -> u64) -> Self {
        let n_before = keys.par_iter().with_min_len(MIN_ROWS).filter(|key| **key < last).count();
        let tied = keys.par_iter().enumerate().with_min_len(MIN_ROWS).filter(|(_, key)| **key == last);
        let mut rows: Vec<usize> = tied.map(|(row, _)| row).collect();
        let n_staying = n_top - n_before;
        if n_staying < rows.len() {
            rows.select_nth_unstable_by_key(n_staying, |row| (place(*row), *row));
            rows.truncate(n_staying);
            rows.sort_unstable();
        }
        Self { rows }
    }

    fn stays(&self, row: usize) -> bool {
        self.rows.binary_search(&row).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn the_largest_stay_and_others_are_drawn(
            rows in prop::collection::vec((0u8..12, 0.001f64..1.0, 0.0f64..1.0), 1..120),
            (top_rate, other_rate) in prop::sample::select(vec![(0.2, 0.1), (0.05, 0.5), (0.5, 0.5), (0.9, 0.1), (1.0, 0.1), (0.001, 0.2)]),
        ) {
            let goss = Goss { top_rate, other_rate, warm_up: 0 };
            let sizes: Vec<f64> = rows.iter().map(|row| f64::from(row.0) * 0.25).collect();
            let mut order: Vec<usize> = (0..rows.len()).collect();
            order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]).then(rows[*a].2.total_cmp(&rows[*b].2)).then(a.cmp(b)));
            let n_top = ((rows.len() as f64 * top_rate).floor() as usize).max(1);
            let mut expected: Vec<(u32, f64)> = Vec::new();
            for (place, row) in order.into_iter().enumerate() {
                let inverse = (1.0 - top_rate) / other_rate;
                if place < n_top {
                    expected.push((row as u32, 1.0));
                } else if rows[row].1 * inverse <= 1.0 {
                    expected.push((row as u32, inverse));
                }
            }
            expected.sort_by_key(|(row, _)| *row);
            let first: Vec<f64> = rows.iter().map(|row| row.1).collect();
            let found = goss.draw(&sizes, &Numbers { first: &first, second: &|row| rows[row].2 });
            prop_assert_eq!(found.iter().map(|(row, _)| *row).collect::<Vec<_>>(), expected.iter().map(|(row, _)| *row).collect::<Vec<_>>());
            prop_assert!(found.iter().zip(&expected).all(|(a, b)| (a.1 - b.1).abs() <= 1e-12 * b.1));
        }
    }

    #[test]
    fn the_first_rounds_see_all() {
        let goss = Goss::new(&crate::LoopSpec { learning_rate: 0.1, ..crate::LoopSpec::default() }.check().unwrap());
        assert_eq!((0..100).filter(|round| goss.is_warming_up(*round)).count(), 10);
    }
}
