//! AdaRank (Xu and Li, "AdaRank: a boosting algorithm for information retrieval", 2007): a linear ranker built of single
//! features, with weights of queries that grow where the metric E is low.
//!
//! ```text
//! round:   x = the feature, upwards or downwards, with the largest  m = sum over queries of P(q) E(q, x)
//!          f = f + alpha x        alpha = ln((1 + m) / (1 - m)) / 2
//!          P(q) = exp(-E(q, f)) times the weight of the query, divided by the sum over queries
//! ```
//!
//! Single features may be chosen again and again, and may make the ranking worse. So a feature is set aside once it was
//! chosen several times in a row or lowered the metric, until another one is chosen.

use rankwise_data::{Documents, reduce};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::goal::Goal;
use super::inputs::{Inputs, Reader};
use super::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, TrainError};

/// A feature is set aside after it was chosen so often in a row.
const MOST_IN_A_ROW: u32 = 5;
/// What `tolerance=auto` is here: how much a round may lower the metric.
const TOLERANCE: f64 = 0.002;
/// A feature that ranks every query perfectly has no finite weight.
const LARGEST_MEAN: f64 = 1.0 - 1e-9;

/// A linear ranker that grows by single features.
pub(crate) struct AdaRank<'a> {
    data: &'a Documents,
    goal: Goal<'a>,
    reader: Reader,
    /// By set: the training data first.
    inputs: Vec<Inputs>,
    /// The metric of each query for each weak ranker: feature 0 upwards, feature 0 downwards, feature 1 upwards, ...
    values: Vec<Vec<f64>>,
    tolerance: f64,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    weights: Vec<f64>,
    /// The weight of each query, P; they add up to 1.
    shares: Vec<f64>,
    /// The metric of the ranker.
    value: f64,
    /// The weak ranker of the last round, and how often in a row it was chosen.
    last: Option<(usize, u32)>,
    /// The weak rankers that are set aside, ascending.
    set_aside: Vec<usize>,
}

impl<'a> AdaRank<'a> {
    pub(crate) fn new(task: Task<'a>) -> Result<Self, TrainError> {
        let params = task.params.learner();
        let goal = Goal::new(&task)?;
        let reader = Reader::new(&task, params.is_log())?;
        let inputs: Vec<Inputs> = task.sets().map(|set| reader.inputs(set)).collect();
        let values = values_of_features(task.params, &goal, &inputs[0])?;
        let no_scores = goal.by_query(&vec![0.0; task.train.n_rows()])?;
        let data: &Documents = task.train;
        let start = vec![0.0; reader.n_features()];
        let state = State {
            shares: shares(data, no_scores.iter().map(|value| value.map(|_| 0.0))),
            value: f64::MIN,
            weights: start,
            last: None,
            set_aside: Vec::new(),
        };
        let tolerance = params.tolerance.unwrap_or(TOLERANCE);
        Ok(Self { data, goal, reader, inputs, values, tolerance, state })
    }

    /// The weak ranker with the largest mean that is not set aside, and the mean. The first one wins ties.
    fn best_weak_ranker(&self) -> Option<(usize, f64)> {
        let State { shares, set_aside, .. } = &self.state;
        let mean = |values: &Vec<f64>| reduce::sum(shares.iter().zip(values).map(|(share, value)| share * value));
        let means: Vec<f64> = self.values.par_iter().map(mean).collect();
        let free = means.into_iter().enumerate().filter(|(weak, _)| set_aside.binary_search(weak).is_err());
        free.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Adds a weak ranker with its mean, unless the metric falls.
    fn try_weak_ranker(&mut self, weak: usize, mean: f64) -> Result<bool, TrainError> {
        let mean = mean.min(LARGEST_MEAN);
        let alpha = 0.5 * libm::log((1.0 + mean) / (1.0 - mean));
        let mut weights = self.state.weights.clone();
        weights[weak / 2] += if weak.is_multiple_of(2) { alpha } else { -alpha };
        let scores = self.inputs[0].scores(&weights);
        let value = self.goal.mean(&scores)?;
        if value < self.state.value - self.tolerance {
            return Ok(false);
        }
        let by_query = self.goal.by_query(&scores)?;
        self.state.shares = shares(self.data, by_query.into_iter());
        (self.state.weights, self.state.value) = (weights, value);
        Ok(true)
    }

    fn set_aside(&mut self, weak: usize) {
        if let Err(place) = self.state.set_aside.binary_search(&weak) {
            self.state.set_aside.insert(place, weak);
        }
    }
}

/// The metric of each query for each feature, upwards and downwards.
fn values_of_features(
    params: &crate::TrainParams,
    goal: &Goal<'_>,
    inputs: &Inputs,
) -> Result<Vec<Vec<f64>>, TrainError> {
    let refused = |problem: &str| {
        let problem =
            format!("learner=adarank needs a metric from 0 to 1 for each query, but {} {problem}", goal.metric());
        Err(params.conflict("target", problem).into())
    };
    if goal.is_pooled() {
        return refused("is one number over all documents");
    }
    let weak_rankers: Vec<(usize, f64)> =
        (0..inputs.n_features()).flat_map(|feature| [(feature, 1.0), (feature, -1.0)]).collect();
    let values = weak_rankers.into_par_iter().map(|(feature, sign)| {
        let scores: Vec<f64> = inputs.column(feature).map(|input| sign * input).collect();
        let values = goal.by_query(&scores)?;
        Ok(values.into_iter().map(|value| value.unwrap_or(0.0)).collect())
    });
    let values: Vec<Vec<f64>> = values.collect::<Result<_, TrainError>>()?;
    if let Some(value) = values.iter().flatten().find(|value| !(0.0..=1.0).contains(*value)) {
        return refused(&format!("is {value} for a query"));
    }
    Ok(values)
}

/// The weights of queries whose ranker has these values; queries without a value have no weight.
fn shares(data: &Documents, values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let weight = |(query, value): (usize, Option<f64>)| {
        value.map_or(0.0, |value| f64::from(data.query_weight(query)) * libm::exp(-value))
    };
    let weights: Vec<f64> = values.enumerate().map(weight).collect();
    let sum = reduce::sum(weights.iter().copied());
    weights.into_iter().map(|weight| weight / sum).collect()
}

impl Learning for AdaRank<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        while let Some((weak, mean)) = self.best_weak_ranker().filter(|(_, mean)| *mean > 0.0) {
            if !self.try_weak_ranker(weak, mean)? {
                self.set_aside(weak);
                continue;
            }
            let in_a_row = match self.state.last {
                Some((last, in_a_row)) if last == weak => in_a_row + 1,
                _ => {
                    self.state.set_aside.clear();
                    1
                }
            };
            self.state.last = Some((weak, in_a_row));
            if in_a_row >= MOST_IN_A_ROW {
                self.set_aside(weak);
            }
            return Ok(Learnt::More);
        }
        Ok(Learnt::Nothing)
    }

    fn scores(&self, set: usize) -> Vec<f64> {
        self.inputs[set].scores(&self.state.weights)
    }

    fn fitted(&self) -> Result<Fitted, TrainError> {
        self.reader.ranker(&self.state.weights)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).expect("numbers and lists always have a form")
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: State = postcard::from_bytes(bytes).map_err(|_| CheckpointError::inconsistent())?;
        let is_weak = |weak: usize| weak < self.values.len();
        let fits = state.weights.len() == self.reader.n_features()
            && state.shares.len() == self.data.n_queries()
            && state.weights.iter().chain(&state.shares).all(|number| number.is_finite())
            && state.value.is_finite()
            && state.last.is_none_or(|(weak, _)| is_weak(weak))
            && state.set_aside.iter().all(|weak| is_weak(*weak))
            && state.set_aside.is_sorted();
        if !fits {
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
    use crate::{Learner, SetBoosting as _, TrainSpec};

    fn spec(target: &str) -> TrainSpec {
        let mut spec = TrainSpec::default().learner(Learner::AdaRank);
        spec.set("target", target).unwrap();
        spec
    }

    /// Two queries of two documents. Feature 0 ranks only the first query rightly, feature 1 both.
    fn two_queries() -> Dataset {
        let values = [2.0, 5.0, 1.0, 4.0, 2.0, 3.0, 1.0, 9.0];
        Dataset::from_dense(&values, 2).labels(&[1, 0, 0, 1]).group_sizes(&[2, 2]).build().unwrap()
    }

    /// By hand: with MRR, feature 0 upwards has 1 and 1/2, feature 1 upwards 1 and 1.
    #[test]
    fn the_first_rounds_are_those_worked_out_by_hand() {
        with_task(spec("mrr"), &two_queries(), |task| {
            let mut learner = AdaRank::new(task).unwrap();
            assert_eq!(learner.values[0], [1.0, 0.5], "{:?}", learner.values);
            assert_eq!(learner.values[2], [1.0, 1.0]);
            assert_eq!(learner.state.shares, [0.5, 0.5]);
            assert_eq!(learner.round().unwrap(), Learnt::More);
            let alpha = 0.5 * ((1.0 + LARGEST_MEAN) / (1.0 - LARGEST_MEAN)).ln();
            assert!((learner.state.weights[1] - alpha).abs() < 1e-9 && learner.state.weights[0] == 0.0);
            assert_eq!(learner.state.value, 1.0);
        });
    }

    #[test]
    fn hard_queries_gain_weight() {
        // Only feature 0 of the two features: the second query is ranked wrongly.
        let values = [2.0, 1.0, 1.0, 2.0];
        let data = Dataset::from_dense(&values, 1).labels(&[1, 0, 1, 0]).group_sizes(&[2, 2]).build().unwrap();
        with_task(spec("mrr"), &data, |task| {
            let mut learner = AdaRank::new(task).unwrap();
            learner.round().unwrap();
            // m = (1 + 1/2) / 2, alpha = ln(1.75 / 0.25) / 2.
            assert!((learner.state.weights[0].abs() - 0.5 * 7f64.ln()).abs() < 1e-9 * 20.0);
            let ratio = learner.state.shares.iter().copied().fold(f64::MIN, f64::max);
            let expected = (-0.5f64).exp() / ((-0.5f64).exp() + (-1f64).exp());
            assert!((ratio - expected).abs() < 1e-12);
        });
    }

    #[test]
    fn a_feature_is_set_aside_until_another_is_chosen() {
        with_task(spec("mrr"), &two_queries(), |task| {
            let mut learner = AdaRank::new(task).unwrap();
            for _ in 0..MOST_IN_A_ROW {
                learner.round().unwrap();
            }
            assert_eq!((learner.state.last, &learner.state.set_aside[..]), (Some((2, MOST_IN_A_ROW)), &[2][..]));
            learner.round().unwrap();
            assert!(learner.state.last.unwrap().0 != 2);
        });
    }

    #[test]
    fn metrics_beyond_1_are_refused() {
        let data = Dataset::from_dense(&[2.0, 5.0], 1).labels(&[3, 0]).group_sizes(&[2]).build().unwrap();
        with_task(spec("dcg"), &data, |task| {
            let error = AdaRank::new(task).err().unwrap();
            assert!(error.to_string().contains("needs a metric from 0 to 1"), "{error}");
        });
    }

    #[test]
    fn a_saved_run_goes_on_as_if_it_had_not_been_saved() {
        with_task(spec("ndcg"), &two_queries(), |task| {
            let (mut plain, mut saved) = (AdaRank::new(task).unwrap(), AdaRank::new(task).unwrap());
            for _ in 0..12 {
                assert_eq!(plain.round().unwrap(), saved.round().unwrap());
                let mut next = AdaRank::new(task).unwrap();
                next.load(&saved.save()).unwrap();
                saved = next;
                assert_eq!(plain.save(), saved.save());
            }
            assert!(saved.load(&[7]).is_err());
        });
    }
}
