//! Coordinate ascent (Metzler and Croft, "Linear feature-based models for information retrieval", 2007): a linear ranker
//! that maximises a metric of the training queries, one weight at a time.
//!
//! ```text
//! round = sweep:   for each feature, in an order drawn for the round:
//!                      try the weights 0 and w +- s, w +- 3 s, w +- 7 s, ... and keep the best if it improves the metric
//!                  divide the weights by the sum of their sizes, which changes no ranking
//! ```
//!
//! A start ends with a sweep that improves the metric by less than the tolerance. The first start has equal weights, the
//! others have random ones; the best weights of all starts are the ranker.

use rankwise_data::{Draw, Purpose};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::goal::Goal;
use super::inputs::{Inputs, Reader};
use super::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, TrainError};

/// The first step s, for weights whose sizes add up to 1; it is smaller where a weight is.
const FIRST_STEP: f64 = 0.001;
/// The first step is at most this share of a weight.
const SHARE_OF_WEIGHT: f64 = 0.05;
/// Number of steps in each direction; each is about twice as long as the one before it.
const N_STEPS: u32 = 20;
/// What `tolerance=auto` is here.
const TOLERANCE: f64 = 0.001;

/// A linear ranker that maximises a metric.
pub(crate) struct CoordinateAscent<'a> {
    goal: Goal<'a>,
    reader: Reader,
    /// By set: the training data first.
    inputs: Vec<Inputs>,
    seed: u64,
    restarts: usize,
    tolerance: f64,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// Sweeps so far.
    n_sweeps: u32,
    /// The current start, from 0.
    start: usize,
    has_ended: bool,
    current: Place,
    best: Place,
}

/// Weights with their metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Place {
    weights: Vec<f64>,
    value: f64,
}

impl<'a> CoordinateAscent<'a> {
    pub(crate) fn new(task: Task<'a>) -> Result<Self, TrainError> {
        let params = task.params.learner();
        let goal = Goal::new(&task)?;
        let reader = Reader::new(&task, params.is_log())?;
        let inputs: Vec<Inputs> = task.sets().map(|set| reader.inputs(set)).collect();
        let first = Place::new(vec![1.0 / reader.n_features() as f64; reader.n_features()], &inputs[0], &goal)?;
        Ok(Self {
            goal,
            reader,
            inputs,
            seed: task.params.boosting().seed,
            restarts: params.restarts,
            tolerance: params.tolerance.unwrap_or(TOLERANCE),
            state: State { n_sweeps: 0, start: 0, has_ended: false, best: first.clone(), current: first },
        })
    }

    /// Improves each weight once.
    fn sweep(&mut self) -> Result<(), TrainError> {
        let Self { goal, inputs, state, .. } = self;
        let (inputs, current) = (&inputs[0], &mut state.current);
        let mut scores = inputs.scores(&current.weights);
        for feature in order(&self.reader.features, Draw::new(self.seed, Purpose::LinearWeights, state.n_sweeps)) {
            let column: Vec<f64> = inputs.column(feature).collect();
            let others: Vec<f64> =
                scores.iter().zip(&column).map(|(score, input)| score - current.weights[feature] * input).collect();
            let with = |weight: f64, scores: &mut Vec<f64>| {
                scores.clear();
                scores.extend(others.iter().zip(&column).map(|(other, input)| other + weight * input));
            };
            let candidates = candidates(current.weights[feature]);
            let measured = candidates.par_iter().map_init(Vec::new, |scores, weight| {
                with(*weight, scores);
                goal.mean(scores)
            });
            let measured: Vec<f64> = measured.collect::<Result<_, TrainError>>()?;
            for (weight, value) in candidates.into_iter().zip(measured) {
                if value > current.value {
                    (current.value, current.weights[feature]) = (value, weight);
                }
            }
            with(current.weights[feature], &mut scores);
        }
        let size: f64 = current.weights.iter().map(|weight| weight.abs()).sum();
        if size > 0.0 {
            current.weights.iter_mut().for_each(|weight| *weight /= size);
        }
        // Rounding may have changed a tie.
        *current = Place::new(std::mem::take(&mut current.weights), inputs, goal)?;
        Ok(())
    }

    /// Weights from -1 to 1, before they are divided by the sum of their sizes.
    fn random_start(&self, start: usize) -> Result<Place, TrainError> {
        let draw = Draw::new(self.seed, Purpose::LinearWeights, 0);
        let weight = |feature: &u32| 2.0 * draw.uniform(u64::from(*feature), start as u32) - 1.0;
        let mut weights: Vec<f64> = self.reader.features.iter().map(weight).collect();
        let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
        for weight in &mut weights {
            *weight /= size.max(f64::MIN_POSITIVE);
        }
        Place::new(weights, &self.inputs[0], &self.goal)
    }
}

impl Place {
    fn new(weights: Vec<f64>, inputs: &Inputs, goal: &Goal<'_>) -> Result<Self, TrainError> {
        let value = goal.mean(&inputs.scores(&weights))?;
        Ok(Self { weights, value })
    }
}

/// The places of the features in a random order.
fn order(features: &[u32], draw: Draw) -> Vec<usize> {
    let mut order: Vec<usize> = (0..features.len()).collect();
    // Ordinal 0 is for the order; random starts have the others.
    order.sort_by_cached_key(|place| (draw.bits(u64::from(features[*place]), 0), *place));
    order
}

/// The weights to try in place of one.
fn candidates(weight: f64) -> Vec<f64> {
    let first = if weight == 0.0 { FIRST_STEP } else { FIRST_STEP.min(SHARE_OF_WEIGHT * weight.abs()) };
    let steps = (1..=N_STEPS).map(|doublings| first * f64::from((1u32 << doublings) - 1));
    let mut candidates: Vec<f64> = steps.flat_map(|step| [weight + step, weight - step]).collect();
    candidates.push(0.0);
    candidates
}

impl Learning for CoordinateAscent<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        if self.state.has_ended {
            return Ok(Learnt::Nothing);
        }
        let before = self.state.current.value;
        self.sweep()?;
        self.state.n_sweeps += 1;
        if self.state.current.value > self.state.best.value {
            self.state.best = self.state.current.clone();
        }
        if self.state.current.value - before < self.tolerance {
            self.state.has_ended = self.state.start >= self.restarts;
            if !self.state.has_ended {
                self.state.start += 1;
                self.state.current = self.random_start(self.state.start)?;
            }
        }
        Ok(Learnt::More)
    }

    fn scores(&self, set: usize) -> Vec<f64> {
        self.inputs[set].scores(&self.state.best.weights)
    }

    fn fitted(&self) -> Result<Fitted, TrainError> {
        self.reader.ranker(&self.state.best.weights)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).expect("numbers and lists always have a form")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: State = postcard::from_bytes(bytes).map_err(|_| CheckpointError::inconsistent())?;
        let fits = |place: &Place| {
            place.weights.len() == self.reader.n_features()
                && place.value.is_finite()
                && place.weights.iter().all(|weight| weight.is_finite())
        };
        if !fits(&state.current) || !fits(&state.best) || state.start > self.restarts {
            return Err(CheckpointError::inconsistent());
        }
        self.state = state;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rankwise_data::Dataset;

    use super::*;
    use crate::learning::tests::with_task;
    use crate::{Learner, SetBoosting as _, SetLearner as _, TrainSpec};

    fn spec() -> TrainSpec {
        TrainSpec::default().learner(Learner::CoordinateAscent).restarts(2)
    }

    /// Feature 0 is against the labels, feature 1 is noise, feature 2 corrects feature 0.
    fn data() -> Dataset {
        let noise = |row: usize| ((row * 37 + 11) % 17) as f32;
        let label = |row: usize| ((row * 7 + row / 10) % 3) as f32;
        let twist = |row: usize| ((row * 13) % 5) as f32;
        let values: Vec<f32> =
            (0..200).flat_map(|row| [3.0 * twist(row) - 2.0 * label(row), noise(row), twist(row)]).collect();
        let labels: Vec<f32> = (0..200).map(label).collect();
        Dataset::from_dense(&values, 3).labels(&labels).group_sizes(&[20; 10]).build().unwrap()
    }

    #[test]
    fn a_perfect_combination_is_found() {
        with_task(spec(), &data(), |task| {
            let mut learner = CoordinateAscent::new(task).unwrap();
            let first = learner.state.best.value;
            while learner.round().unwrap() == Learnt::More {}
            let State { best, start, .. } = &learner.state;
            assert!(first < 0.9 && best.value == 1.0 && *start == 2, "{first} {best:?}");
            assert!(best.weights[0] < 0.0 && best.weights[2] > 0.0, "{best:?}");
            let size: f64 = best.weights.iter().map(|weight| weight.abs()).sum();
            assert!((size - 1.0).abs() < 1e-12);
        });
    }

    #[test]
    fn a_sweep_never_lowers_the_metric() {
        with_task(spec(), &data(), |task| {
            let mut learner = CoordinateAscent::new(task).unwrap();
            for _ in 0..4 {
                let before = learner.state.current.value;
                learner.sweep().unwrap();
                assert!(learner.state.current.value >= before - 1e-9);
                learner.state.n_sweeps += 1;
            }
        });
    }

    #[test]
    fn candidates_surround_a_weight_and_include_0() {
        for weight in [0.0, 0.5, -0.001, 1e-9] {
            let found = candidates(weight);
            assert!(found.contains(&0.0) && found.iter().all(|candidate| candidate.is_finite()));
            for pair in found[..found.len() - 1].chunks(2) {
                assert!(pair[0] > weight && pair[1] < weight);
                assert!((pair[0] + pair[1] - 2.0 * weight).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_saved_run_goes_on_as_if_it_had_not_been_saved() {
        with_task(spec(), &data(), |task| {
            let (mut plain, mut saved) = (CoordinateAscent::new(task).unwrap(), CoordinateAscent::new(task).unwrap());
            while plain.round().unwrap() == Learnt::More {
                saved.round().unwrap();
                let mut next = CoordinateAscent::new(task).unwrap();
                next.load(&saved.save()).unwrap();
                saved = next;
                assert_eq!(plain.save(), saved.save());
            }
            assert!(saved.load(&[]).is_err());
        });
    }
}
