//! One trial: training with the metric on the deciding queries after each round.

use std::sync::Arc;

use rankwise_model::Model;
use rankwise_train::{Flow, Pass, Progress, TrainParams, Training, ValidSet};

use super::{Plan, Stopping};
use crate::Point;
use crate::halving::{Other, is_hopeless, rungs};

/// One trial of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The parameters that were searched, with their values.
    pub settings: Vec<(&'static str, String)>,
    /// What became of it.
    pub result: TrialResult,
}

/// What became of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialResult {
    /// It was trained to its end.
    Finished {
        /// Its best value. It is the value of the best iteration, and therefore optimistic.
        value: f64,
        /// The best iteration.
        rounds: usize,
    },
    /// It was stopped, because too many others were better at this point.
    Stopped {
        /// Its best value until then.
        value: f64,
        /// The rounds until then.
        rounds: usize,
    },
    /// It cannot be trained.
    Failed {
        /// Why.
        problem: String,
    },
}

impl TrialResult {
    /// The best value, if it has one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Finished { value, .. } | Self::Stopped { value, .. } => Some(*value),
            Self::Failed { .. } => None,
        }
    }
}

/// A trial with what later trials need of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) points: Vec<Option<Point>>,
    pub(super) settings: Vec<(&'static str, String)>,
    pub(super) outcome: Outcome,
}

/// What became of a trial.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Trained {
        /// The metric after each round.
        curve: Vec<f64>,
        /// The best round, counted from 1, as training has found it.
        best_round: usize,
        is_stopped: bool,
        /// Cut at the best round; `None` if the trial cannot win.
        model: Option<Box<Model>>,
    },
    Failed {
        problem: String,
    },
}

impl Run {
    pub(super) fn value(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Trained { curve, best_round, .. } => curve.get(best_round - 1).copied(),
            Outcome::Failed { .. } => None,
        }
    }

    pub(super) fn trial(&self) -> Trial {
        let result = match &self.outcome {
            Outcome::Trained { curve, best_round, is_stopped, .. } => {
                let value = curve[best_round - 1];
                if *is_stopped {
                    TrialResult::Stopped { value, rounds: curve.len() }
                } else {
                    TrialResult::Finished { value, rounds: *best_round }
                }
            }
            Outcome::Failed { problem } => TrialResult::Failed { problem: problem.clone() },
        };
        Trial { settings: self.settings.clone(), result }
    }

    pub(super) fn without_model_if(mut self, is_useless: bool) -> Self {
        if let Outcome::Trained { model, .. } = &mut self.outcome
            && is_useless
        {
            *model = None;
        }
        self
    }
}

impl Plan<'_> {
    /// Trains; `None` if the user stopped it.
    pub(super) fn train_one(&self, params: &TrainParams, seen: &[Arc<Run>]) -> Option<Outcome> {
        let sets = [ValidSet { name: "the validation data", data: self.valid }];
        let rungs: Vec<usize> = match self.tuning.stopping {
            Stopping::Never => Vec::new(),
            Stopping::Halving => rungs(params.boosting().num_trees).collect(),
        };
        let (mut curve, mut best, mut best_round) = (Vec::new(), f64::NEG_INFINITY, 0);
        let mut is_stopped = false;
        let mut observer = |progress: &Progress<'_>| {
            if self.watch.is_stopped() {
                return Flow::Stop;
            }
            if progress.pass == Pass::Outliers {
                return Flow::Continue;
            }
            let value = progress.values[0].value;
            curve.push(value);
            best = f64::max(best, self.sign * value);
            best_round = progress.best_round;
            let is_rung = !progress.is_last && rungs.contains(&progress.round);
            is_stopped = is_rung && is_hopeless(progress.round, best, self.others(seen));
            if is_stopped { Flow::Stop } else { Flow::Continue }
        };
        let trained = Training::new(params, self.train).valid(&sets).run(&mut observer);
        if self.watch.is_stopped() {
            return None;
        }
        Some(match trained {
            Err(error) => Outcome::Failed { problem: error.to_string() },
            Ok(trained) => match trained.no_trees {
                Some(reason) => Outcome::Failed { problem: reason.to_string() },
                None if best_round == 0 => Outcome::Failed { problem: "no round was better than none".into() },
                None => Outcome::Trained { curve, best_round, is_stopped, model: Some(Box::new(trained.model)) },
            },
        })
    }

    /// The trials that another is compared with.
    fn others<'a>(&self, seen: &'a [Arc<Run>]) -> impl Iterator<Item = Other<'a>> {
        let sign = self.sign;
        seen.iter().skip(1).filter_map(move |run| match &run.outcome {
            Outcome::Trained { curve, is_stopped, .. } => Some(Other { curve, sign, is_stopped: *is_stopped }),
            Outcome::Failed { .. } => None,
        })
    }
}
