//! One step: a model of the portfolio, trained and measured on both halves of the validation queries.

use std::time::Instant;

use rankwise_data::Dataset;
use rankwise_eval::predict_canonical;
use rankwise_model::{Model, ModelError};
use rankwise_train::{Flow, Pass, Progress, TrainParams, Training, ValidSet};

use super::halves::{Halves, View};
use crate::jobs::Watch;

/// A model stops when no half has improved for this many rounds.
const PATIENCE: usize = 50;

/// After this many rounds a model is compared with those before it.
const FIRST_CHECK: usize = 100;

/// A model is dropped if its metric is below this share of the best one's.
const HOPELESS: f64 = 0.9;

/// The result of a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// What it is, such as `oblivious lambdamart, bag 1`.
    pub(crate) name: String,
    /// What became of it.
    pub(crate) outcome: Outcome,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// It can be combined.
    Trained(Box<TrainedMember>),
    /// It was so much worse than others after some rounds that it was not trained further.
    Dropped {
        /// The rounds that it was trained for.
        rounds: usize,
        /// Its best value.
        value: f64,
    },
    /// It cannot be trained on this data.
    Failed {
        /// Why.
        problem: String,
    },
}

/// A trained model with its scores of the validation documents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TrainedMember {
    /// With the rounds of the longest view.
    pub(crate) model: Model,
    /// The metric on each half after each round.
    pub(crate) curves: [Vec<f64>; 2],
    /// The best number of rounds by the first half, by the second, and by both.
    pub(crate) rounds: [usize; 3],
    /// The scores of the validation documents after so many rounds, in canonical order.
    pub(crate) scores: [Vec<f64>; 3],
}

impl TrainedMember {
    pub(crate) fn new(model: &Model, curves: [Vec<f64>; 2], halves: &Halves<'_>) -> Result<Self, ModelError> {
        let both = halves.join(&curves);
        let rounds = [&curves[0], &curves[1], &both].map(|curve| halves.best_round(curve));
        let ensemble = model.tree_ensemble()?;
        let cut = |rounds: usize| model.with_ranker(ensemble.first_rounds(rounds));
        let mut scores = [const { Vec::new() }; 3];
        for view in View::ALL {
            scores[view as usize] = predict_canonical(&cut(rounds[view as usize])?, halves.data);
        }
        let longest = rounds.into_iter().max().unwrap_or(0);
        Ok(Self { model: cut(longest)?, curves, rounds, scores })
    }

    /// The model after the best number of rounds.
    pub(crate) fn best_model(&self) -> Result<Model, ModelError> {
        let rounds = self.rounds[View::Both as usize];
        self.model.with_ranker(self.model.tree_ensemble()?.first_rounds(rounds))
    }

    /// The best value on all validation queries.
    pub(crate) fn value(&self, halves: &Halves<'_>) -> f64 {
        halves.join(&self.curves)[self.rounds[View::Both as usize] - 1]
    }

    /// The best number of rounds.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds[View::Both as usize]
    }
}

/// What a step is trained with.
pub(crate) struct Step<'a> {
    pub(crate) name: String,
    pub(crate) params: &'a TrainParams,
    pub(crate) train: &'a Dataset,
    pub(crate) halves: &'a Halves<'a>,
    /// The best value of earlier steps.
    pub(crate) best_before: Option<f64>,
    pub(crate) deadline: Option<Instant>,
    /// Whether a model is kept that ran out of time.
    pub(crate) keeps_unfinished: bool,
}

impl Step<'_> {
    /// Trains the model; `None` if the time is over or the user stopped it.
    pub(crate) fn run(self, watch: &dyn Watch) -> Option<Member> {
        let mut race = Race {
            halves: self.halves,
            curves: [const { Vec::new() }; 2],
            best: [f64::NEG_INFINITY; 3],
            best_at: [0; 3],
            end: None,
        };
        let sets = [
            ValidSet { name: "the first half of the validation data", data: self.halves.part(View::First) },
            ValidSet { name: "the second half of the validation data", data: self.halves.part(View::Second) },
        ];
        let mut observer = |progress: &Progress<'_>| {
            if progress.pass == Pass::Outliers {
                return if watch.is_stopped() { Flow::Stop } else { Flow::Continue };
            }
            race.add(progress);
            race.end = self.end_of(&race, watch);
            if race.end.is_some() { Flow::Stop } else { Flow::Continue }
        };
        let trained = Training::new(self.params, self.train).valid(&sets).keep_all_rounds().run(&mut observer);
        let Race { curves, best, end, .. } = race;
        let failed = |problem: String| Some(Member { name: self.name.clone(), outcome: Outcome::Failed { problem } });
        let trained = match trained {
            Ok(trained) => trained,
            Err(error) => return failed(error.to_string()),
        };
        let rounds = curves[0].len();
        match end {
            Some(End::OutOfTime) if !self.keeps_unfinished => return None,
            Some(End::OutOfTime) if rounds == 0 => return None,
            Some(End::Hopeless) => {
                let value = self.halves.sign * best[View::Both as usize];
                return Some(Member { name: self.name.clone(), outcome: Outcome::Dropped { rounds, value } });
            }
            _ => {}
        }
        if let Some(reason) = &trained.no_trees {
            return failed(reason.to_string());
        }
        match TrainedMember::new(&trained.model, curves, self.halves) {
            Ok(member) => Some(Member { name: self.name.clone(), outcome: Outcome::Trained(Box::new(member)) }),
            Err(error) => failed(error.to_string()),
        }
    }

    fn end_of(&self, race: &Race<'_>, watch: &dyn Watch) -> Option<End> {
        let round = race.curves[0].len();
        if watch.is_stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Some(End::OutOfTime);
        }
        if race.best_at.iter().all(|best| round - best >= PATIENCE) {
            return Some(End::Converged);
        }
        let best = self.halves.sign * race.best[View::Both as usize];
        let is_hopeless = |before: f64| {
            before > 0.0 && if self.halves.sign > 0.0 { best < HOPELESS * before } else { best > before / HOPELESS }
        };
        (round == FIRST_CHECK && self.best_before.is_some_and(is_hopeless)).then_some(End::Hopeless)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Converged,
    Hopeless,
    OutOfTime,
}

/// A model in training.
struct Race<'a> {
    halves: &'a Halves<'a>,
    curves: [Vec<f64>; 2],
    /// The best values by view, larger being better, and their rounds.
    best: [f64; 3],
    best_at: [usize; 3],
    end: Option<End>,
}

impl Race<'_> {
    fn add(&mut self, progress: &Progress<'_>) {
        let values = [progress.values[0].value, progress.values[1].value];
        self.curves.iter_mut().zip(values).for_each(|(curve, value)| curve.push(value));
        let all = [values[0], values[1], self.halves.join_values(values)];
        for (view, value) in all.into_iter().enumerate() {
            if self.halves.sign * value > self.best[view] {
                self.best[view] = self.halves.sign * value;
                self.best_at[view] = progress.round;
            }
        }
    }
}
