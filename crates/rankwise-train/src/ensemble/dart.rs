//! Dropout of trees (Vinayak and Gilad-Bachrach, "DART: Dropouts meet Multiple Additive Regression Trees", 2015), with
//! LightGBM's rules. Before a round, with probability 1 - `skip_drop`, each earlier round is dropped with probability
//! `drop_rate` times its factor over the mean factor (or simply `drop_rate` with `uniform_drop`). At most `max_drop`
//! rounds are dropped. The new trees learn from the scores without these k rounds. Then the factors are
//!
//! ```text
//!                         new trees                    multiply those of dropped rounds by
//! as in the paper         1 / (k + 1)                  k / (k + 1)
//! xgboost_dart_mode       1 / (k + learning_rate)      k / (k + learning_rate)           1 where k = 0
//! ```
//!
//! besides the learning rate, which leaf values already include.

use rankwise_data::{Draw, Purpose};

use crate::LoopParams;

/// The key of the draw that decides whether any tree is dropped. The keys for rounds are their numbers.
const SKIP: u64 = u64::MAX;

pub(crate) struct Dart {
    rate: f64,
    /// 0 means no limit.
    most: usize,
    skip: f64,
    is_uniform: bool,
    /// The share of the new trees, compared with k dropped rounds: 1, or the learning rate.
    own_share: f64,
    seed: u64,
    /// Rounds, ascending.
    dropped: Vec<usize>,
    /// The scores without the dropped rounds, if any are dropped.
    scores: Vec<f64>,
    n_dropped: usize,
}

impl Dart {
    pub(super) fn new(params: &LoopParams) -> Self {
        Self {
            rate: params.drop_rate,
            most: params.max_drop,
            skip: params.skip_drop,
            is_uniform: params.uniform_drop,
            own_share: if params.xgboost_dart_mode { params.learning_rate } else { 1.0 },
            seed: params.seed,
            dropped: Vec::new(),
            scores: Vec::new(),
            n_dropped: 0,
        }
    }

    /// Draws the rounds to drop among those with these factors.
    pub(super) fn drop_for(&mut self, round: u32, factors: &[f64]) {
        self.dropped.clear();
        let draw = Draw::new(self.seed, Purpose::Dropout, round);
        if !factors.is_empty() && draw.uniform(SKIP, 0) >= self.skip {
            let n_rounds = factors.len() as f64;
            let mean = factors.iter().sum::<f64>() / n_rounds;
            let bound = if self.most > 0 { self.most as f64 / n_rounds } else { 1.0 };
            let rate = self.rate.min(bound);
            let weight = |factor: f64| if self.is_uniform { 1.0 } else { factor / mean };
            let is_dropped = |round: &usize| draw.uniform(*round as u64, 0) < rate * weight(factors[*round]);
            let most = if self.most > 0 { self.most } else { usize::MAX };
            self.dropped.extend((0..factors.len()).filter(is_dropped).take(most));
        }
        self.n_dropped = self.dropped.len();
    }

    /// Computes the scores without the dropped rounds; `subtract(round, scores)` removes a round.
    pub(super) fn take_out(&mut self, scores: &[f64], mut subtract: impl FnMut(usize, &mut [f64])) {
        self.scores.clear();
        if !self.dropped.is_empty() {
            self.scores.extend_from_slice(scores);
            self.dropped.iter().for_each(|round| subtract(*round, &mut self.scores));
        }
    }

    /// The scores that the new trees learn from, if rounds are dropped.
    pub(super) fn scores(&self) -> Option<&[f64]> {
        (!self.scores.is_empty()).then_some(&self.scores)
    }

    pub(super) fn take_dropped(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.dropped)
    }

    /// The factor for the factors of dropped rounds.
    pub(super) fn kept_share(&self) -> f64 {
        self.n_dropped as f64 / (self.n_dropped as f64 + self.own_share)
    }

    /// The factor of the new trees.
    pub(super) fn new_factor(&self) -> f64 {
        if self.n_dropped == 0 { 1.0 } else { 1.0 / (self.n_dropped as f64 + self.own_share) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Learner, LoopSpec};

    fn dart(change: impl FnOnce(&mut LoopSpec)) -> Dart {
        let mut spec = LoopSpec { learner: Learner::Dart, ..LoopSpec::default() };
        change(&mut spec);
        Dart::new(&spec.check().unwrap())
    }

    fn dropped(dart: &mut Dart, round: u32, factors: &[f64]) -> Vec<usize> {
        dart.drop_for(round, factors);
        dart.take_dropped()
    }

    #[test]
    fn as_many_are_dropped_as_expected_and_heavy_ones_more_often() {
        let mut factors = vec![1.0; 50];
        factors.extend([0.25; 50]);
        let counts = |dart: &mut Dart| {
            let (mut heavy, mut light, mut skipped) = (0, 0, 0);
            for round in 0..4000 {
                let dropped = dropped(dart, round, &factors);
                assert!(dropped.is_sorted_by(|a, b| a < b));
                heavy += dropped.iter().filter(|one| **one < 50).count();
                light += dropped.iter().filter(|one| **one >= 50).count();
                skipped += usize::from(dropped.is_empty());
            }
            (heavy as f64 / 4000.0, light as f64 / 4000.0, skipped as f64 / 4000.0)
        };
        let close = |a: f64, b: f64| (a - b).abs() < 0.06 * b;
        // Half of the rounds drop nothing. The others drop ten of a hundred, in proportion to the factors 1 and 0.25.
        let (heavy, light, skipped) = counts(&mut dart(|_| ()));
        assert!(close(heavy, 4.0) && close(light, 1.0) && close(skipped, 0.5), "{heavy} {light} {skipped}");
        let (heavy, light, skipped) = counts(&mut dart(|spec| (spec.uniform_drop, spec.skip_drop) = (true, 0.0)));
        assert!(close(heavy, 5.0) && close(light, 5.0) && skipped < 0.01, "{heavy} {light} {skipped}");
        let (heavy, light, _) = counts(&mut dart(|spec| (spec.max_drop, spec.skip_drop) = (5, 0.0)));
        assert!(heavy + light > 3.0 && heavy + light <= 5.0, "{heavy} {light}");
    }

    #[test]
    fn the_bounds_hold() {
        let factors = vec![1.0; 30];
        let mut all = dart(|spec| (spec.drop_rate, spec.skip_drop, spec.max_drop) = (1.0, 0.0, 0));
        assert_eq!(dropped(&mut all, 0, &factors), (0..30).collect::<Vec<_>>());
        assert!(dropped(&mut all, 0, &[]).is_empty());
        let mut none = dart(|spec| spec.skip_drop = 1.0);
        assert!((0..100).all(|round| dropped(&mut none, round, &factors).is_empty()));
        let mut few = dart(|spec| (spec.drop_rate, spec.skip_drop, spec.max_drop) = (1.0, 0.0, 3));
        assert!((0..100).all(|round| dropped(&mut few, round, &factors).len() <= 3));
    }

    #[test]
    fn factors_are_those_of_both_forms() {
        let mut paper = dart(|spec| (spec.drop_rate, spec.skip_drop) = (1.0, 0.0));
        dropped(&mut paper, 0, &[1.0; 3]);
        assert_eq!((paper.new_factor(), paper.kept_share()), (0.25, 0.75));
        dropped(&mut paper, 0, &[]);
        assert_eq!(paper.new_factor(), 1.0);
        let mut xgboost = dart(|spec| {
            (spec.drop_rate, spec.skip_drop, spec.xgboost_dart_mode, spec.learning_rate) = (1.0, 0.0, true, 0.5);
        });
        dropped(&mut xgboost, 0, &[1.0; 3]);
        assert_eq!((xgboost.new_factor(), xgboost.kept_share()), (1.0 / 3.5, 3.0 / 3.5));
        dropped(&mut xgboost, 0, &[]);
        assert_eq!(xgboost.new_factor(), 1.0);
    }
}
