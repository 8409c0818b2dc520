//! Gradient-based one-side sampling (Ke et al., "LightGBM", 2017), by LightGBM's rule:
//!
//! ```text
//! size = |g h|
//! the floor(top_rate * n) largest, at least one   stay as they are
//! each other one with probability p               g, h are divided by p        p = other_rate / (1 - top_rate)
//! ```
//!
//! The first 1/`learning_rate` rounds see all rows. Equal sizes stand in an order that is drawn for each round.

use rankwise_metrics::descending_bits;
use rayon::prelude::*;

use super::Drawn;
use crate::LoopParams;

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

    /// Whether a round, counted from 0, comes before sampling begins.
    pub(super) fn is_warming_up(&self, round: u32) -> bool {
        round < self.warm_up
    }

    /// Rows by size; of the two numbers that a row draws, the first decides whether it is kept, the second between equal sizes.
    pub(super) fn draw(&self, sizes: &[f64], uniforms: impl Fn(usize) -> [f64; 2] + Sync) -> Vec<Drawn> {
        let n_top = ((self.top_rate * sizes.len() as f64) as usize).max(1);
        if n_top >= sizes.len() {
            return (0..sizes.len() as u32).map(|row| (row, 1.0)).collect();
        }
        let probability = (self.other_rate / (1.0 - self.top_rate)).min(1.0);
        let mut keys: Vec<(u64, u64, u32, bool)> = (0..sizes.len())
            .into_par_iter()
            .map(|row| {
                let [kept, tie] = uniforms(row);
                (descending_bits(sizes[row]), tie.to_bits(), row as u32, kept <= probability)
            })
            .collect();
        keys.select_nth_unstable(n_top - 1);
        let (top, others) = keys.split_at(n_top);
        let others = others.iter().filter(|(_, _, _, is_kept)| *is_kept).map(|key| (key.2, 1.0 / probability));
        let mut drawn: Vec<Drawn> = top.iter().map(|key| (key.2, 1.0)).chain(others).collect();
        drawn.sort_unstable_by_key(|(row, _)| *row);
        drawn
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
            let found = goss.draw(&sizes, |row| [rows[row].1, rows[row].2]);
            prop_assert_eq!(found.iter().map(|(row, _)| *row).collect::<Vec<_>>(), expected.iter().map(|(row, _)| *row).collect::<Vec<_>>());
            prop_assert!(found.iter().zip(&expected).all(|(a, b)| (a.1 - b.1).abs() <= 1e-12 * b.1));
        }
    }

    #[test]
    fn the_first_rounds_see_all() {
        let goss = Goss::new(&crate::LoopSpec::default().check().unwrap());
        assert_eq!((0..100).filter(|round| goss.is_warming_up(*round)).count(), 10);
    }
}
