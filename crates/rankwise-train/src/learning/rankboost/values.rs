//! RankBoost with the values of features as weak rankers: a linear model of features that are scaled to 0..1 over the
//! training data, where missing values take the mean.
//!
//! The feature with the largest |r| is chosen. The alpha that minimises Z is found by a search, because Z is convex: Z at
//! some alpha is the total of the distribution at the scores F + alpha h over that at F, and its slope there has the
//! sign of -r of that distribution.

use super::pairs::Pairs;
use super::{LARGEST_ODDS, SMALLEST_ALPHA, Weighting, half_log_odds};
use crate::learning::inputs::{Inputs, Reader};
use crate::learning::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, TrainError};

/// When the search for the best alpha ends: by a change of alpha or a slope of Z, relative to themselves.
const TOLERANCE: f64 = 1e-9;
/// The largest number of steps of the search.
const MOST_STEPS: usize = 40;

/// RankBoost with values: a linear model.
pub(crate) struct Values<'a> {
    pairs: Pairs<'a>,
    reader: Reader,
    /// By set: the training data first.
    inputs: Vec<Inputs>,
    weights: Vec<f64>,
    weighting: Weighting,
}

impl<'a> Values<'a> {
    pub(super) fn new(task: &Task<'a>, pairs: Pairs<'a>, weighting: Weighting) -> Result<Self, TrainError> {
        let reader = Reader::from_0_to_1(task)?;
        let inputs = task.sets().map(|set| reader.inputs(set)).collect();
        let weights = vec![0.0; reader.n_features()];
        Ok(Self { pairs, reader, inputs, weights, weighting })
    }

    /// The best feature and its weight.
    fn best(&self) -> (usize, f64) {
        let scores = self.inputs[0].scores(&self.weights);
        let all_r = self.inputs[0].sums(&self.pairs.at(&scores).potentials);
        let feature =
            (0..all_r.len()).fold(0, |best, next| if all_r[next].abs() > all_r[best].abs() { next } else { best });
        let r = all_r[feature];
        let alpha = half_log_odds(1.0 + r, 1.0 - r);
        if self.weighting == Weighting::Correlation || alpha.abs() < SMALLEST_ALPHA {
            return (feature, alpha);
        }
        let h: Vec<f64> = self.inputs[0].column(feature).collect();
        (feature, minimise(&self.pairs, &scores, &h, alpha))
    }
}

/// The alpha with the smallest total at scores F + alpha h; `guess` has its sign.
///
/// There r is 0. The root is between the last alpha where Z falls and the first where it grows, and is found by the method
/// of false position with Illinois' change: an end that stays twice loses half of its weight.
fn minimise(pairs: &Pairs<'_>, scores: &[f64], h: &[f64], guess: f64) -> f64 {
    // Positive as long as the total falls away from 0.
    let fall = |size: f64| {
        let alpha = size.copysign(guess);
        let moved: Vec<f64> = scores.iter().zip(h).map(|(score, h)| score + alpha * h).collect();
        let r: f64 = pairs.at(&moved).potentials.iter().zip(h).map(|(potential, h)| potential * h).sum();
        r.copysign(r * guess)
    };
    let largest = libm::log(LARGEST_ODDS) / 2.0;
    let mut low = Point { size: 0.0, fall: fall(0.0) };
    let mut high = Point { size: guess.abs().min(largest), fall: fall(guess.abs().min(largest)) };
    while high.fall > 0.0 {
        if high.size >= largest {
            return largest.copysign(guess);
        }
        let size = (2.0 * high.size).min(largest);
        (low, high) = (high, Point { size, fall: fall(size) });
    }
    let mut size = high.size;
    // Whether the last step moved the lower end.
    let mut moved_low = None;
    for _ in 0..MOST_STEPS {
        if high.size - low.size <= TOLERANCE * high.size || low.fall <= high.fall {
            break;
        }
        size = low.size + (high.size - low.size) * (low.fall / (low.fall - high.fall));
        let next = Point { size, fall: fall(size) };
        if next.fall.abs() <= TOLERANCE {
            break;
        }
        let moves_low = next.fall > 0.0;
        let (moved, stays) = if moves_low { (&mut low, &mut high) } else { (&mut high, &mut low) };
        *moved = next;
        if moved_low.replace(moves_low) == Some(moves_low) {
            stays.fall /= 2.0;
        }
    }
    size.copysign(guess)
}

/// A size of alpha, and how fast the total falls there.
#[derive(Clone, Copy)]
struct Point {
    size: f64,
    fall: f64,
}

impl Learning for Values<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        let (feature, alpha) = self.best();
        if alpha.abs() < SMALLEST_ALPHA {
            return Ok(Learnt::Nothing);
        }
        self.weights[feature] += alpha;
        Ok(Learnt::More)
    }

    fn scores(&self, set: usize) -> Vec<f64> {
        self.inputs[set].scores(&self.weights)
    }

    fn fitted(&self) -> Result<Fitted, TrainError> {
        self.reader.ranker(&self.weights)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.weights).expect("a list of numbers always has a form")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let weights: Vec<f64> = postcard::from_bytes(bytes).map_err(|_| CheckpointError::inconsistent())?;
        if weights.len() != self.weights.len() || weights.iter().any(|weight| !weight.is_finite()) {
            return Err(CheckpointError::inconsistent());
        }
        self.weights = weights;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::Dataset;
    use rankwise_data::synth::{Preset, SynthSpec};

    use super::*;
    use crate::learning::rankboost::pairs::tests::{explicit, log_total};
    use crate::learning::tests::with_task;
    use crate::learning::votes::tests::{check_rounds, with_learner};
    use crate::{Learner, SetBoosting as _, SetLearner as _, TrainSpec, WeakRanker};

    fn spec(weak: WeakRanker) -> TrainSpec {
        TrainSpec::default().learner(Learner::RankBoost).weak_ranker(weak)
    }

    fn dataset(values: &[f32], n_features: usize, labels: &[u8]) -> Dataset {
        Dataset::from_dense(values, n_features).labels(labels).group_sizes(&[labels.len()]).build().unwrap()
    }

    /// Values 0, 2 and 4 become 0, 1/2 and 1. The pairs (0, 4) and (2, 4) have h(y) - h(x) = 1 and 1/2, so r = 3/4.
    #[test]
    fn an_example_by_hand() {
        let data = dataset(&[0.0, 2.0, 4.0], 1, &[0, 0, 1]);
        with_task(spec(WeakRanker::Correlation), &data, |task| {
            let learner = Values::new(&task, Pairs::new(&data), Weighting::Correlation).unwrap();
            let (feature, alpha) = learner.best();
            assert_eq!(feature, 0);
            assert!((alpha - libm::log(7.0) / 2.0).abs() < 1e-12);
        });
        // Pairs (0, 4), (2, 0) and (2, 4): Z = (e^-a + e^(a/2) + e^(-a/2)) / 3, which is smallest where
        // e^-a = (e^(a/2) - e^(-a/2)) / 2, that is t^3 - t = 2 for t = e^(a/2).
        let data = Dataset::from_dense(&[0.0f32, 2.0, 4.0], 1)
            .labels(&[0u8; 3])
            .group_sizes(&[3])
            .pairs(&[(2, 0), (0, 1), (2, 1)].map(|(winner, loser)| rankwise_data::Pair::new(winner, loser)));
        let data = data.build().unwrap();
        with_task(spec(WeakRanker::Search), &data, |task| {
            let (_, alpha) = Values::new(&task, Pairs::new(&data), Weighting::Exact).unwrap().best();
            let t = libm::exp(alpha / 2.0);
            assert!((t * t * t - t - 2.0).abs() < 1e-6, "{alpha}");
        });
    }

    #[test]
    fn rounds_survive_a_stop_and_any_number_of_threads() {
        let data = SynthSpec { preset: Preset::Web, rows: 900, features: Some(6), seed: 5 }.check().unwrap().dataset();
        for weak in [WeakRanker::Correlation, WeakRanker::Search] {
            check_rounds(&spec(weak), &data, 6);
        }
    }

    #[test]
    fn features_of_any_scale_give_finite_scores() {
        let value = |row: u16| f32::from(row * 11 % 17) - 5.0;
        let row = |row: u16| [value(row) * 1e-30, value(row) * value(row) * 1e30, f32::NAN, 7.0, -value(row) * 1e37];
        let values: Vec<f32> = (0..40).flat_map(row).collect();
        let labels: Vec<u8> = (0..40u16).map(|row| (row * 11 % 17 / 6) as u8).collect();
        for weak in [WeakRanker::Correlation, WeakRanker::Search] {
            let data = dataset(&values, 5, &labels);
            check_rounds(&spec(weak), &data, 2);
            with_learner(spec(weak), &data, |learner| {
                let mut learner = learner.unwrap();
                (0..5).for_each(|_| assert!(learner.round().is_ok()));
                assert!(learner.scores(0).iter().all(|score| score.is_finite()));
            });
        }
    }

    proptest! {
        /// The share of wrong and tied pairs is at most the product of Z, and Z is at most sqrt(1 - r^2).
        #[test]
        fn misordering_is_at_most_the_product_of_z(
            docs in prop::collection::vec((0u8..3, prop::option::of(0u8..6), 0u8..9), 4..30),
            (n_rounds, searches) in (1usize..6, any::<bool>()),
        ) {
            let value = |value: Option<u8>| value.map_or(f32::NAN, f32::from);
            let values: Vec<f32> = docs.iter().flat_map(|doc| [value(doc.1), f32::from(doc.2)]).collect();
            let labels: Vec<u8> = docs.iter().map(|doc| doc.0).collect();
            let data = dataset(&values, 2, &labels);
            let weighting = if searches { Weighting::Exact } else { Weighting::Correlation };
            with_task(spec(WeakRanker::Correlation), &data, |task| {
                let pairs = || Pairs::new(&data);
                let Some(mut learner) = Values::new(&task, pairs(), weighting).ok().filter(|_| !pairs().are_empty()) else {
                    return;
                };
                let all = explicit(&data);
                let total = |scores: &[f64]| log_total(&data, &pairs().at(scores));
                for _ in 0..n_rounds {
                    let before = learner.scores(0);
                    let potentials = pairs().at(&before).potentials;
                    let r = learner.inputs[0].sums(&potentials).into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                    if learner.round().unwrap() == Learnt::Nothing {
                        break;
                    }
                    let z = libm::exp(total(&learner.scores(0)) - total(&before));
                    let bound = libm::sqrt((1.0 - r * r).max(0.0));
                    // The limit of alpha keeps Z from 0, and values of 1 may be rounded up.
                    assert!(z <= bound + 2e-5, "{z} is above {bound}");
                }
                let scores = learner.scores(0);
                let wrong = all.iter().filter(|(worse, better, _)| scores[*worse] >= scores[*better]).count();
                let product = libm::exp(total(&scores) - total(&vec![0.0; scores.len()]));
                assert!(wrong as f64 / all.len() as f64 <= product * (1.0 + 1e-9));
            });
        }
    }
}
