//! The loop of learners that are not boosting: rounds, validation, early stopping, checkpoints.

use std::borrow::Cow;
use std::time::Instant;

use rankwise_data::{Absent, Dataset, Documents, Share, SimdLevel};
use rankwise_model::{AbsentFeature, Header, Model, Precision};
use rankwise_objectives::Objective;
use rankwise_params::ParamValue as _;

use super::{Fitted, Learning, Learnt, Snapshot, Task, start};
use crate::boost::{names_of, timed};
use crate::checkpoint::{BestRound, Content, Origin, RoundsState};
use crate::observe::InProgress;
use crate::refit::trained_on_all;
use crate::validation::{MeasuredSet, OwnMetrics, measure_all};
use crate::{
    Checkpoint, CheckpointError, Flow, History, Learner, MetricValue, Observer, Pass, Phases, Progress, StopReason,
    TrainError, TrainParams, Trained,
};

/// A run that is ready to start.
pub(crate) struct Prepared<'a> {
    pub(crate) params: &'a TrainParams,
    pub(crate) train: &'a Dataset,
    pub(crate) share: Share<'a>,
    pub(crate) valid: &'a [&'a Dataset],
    pub(crate) measured: Vec<MeasuredSet<'a>>,
    pub(crate) objective: Option<&'a dyn Objective>,
    /// The objective, or the learner if it has none.
    pub(crate) objective_name: String,
    pub(crate) simd: SimdLevel,
    pub(crate) origin: Origin,
    pub(crate) own_metrics: OwnMetrics<'a>,
    /// Whether the last round counts as the best one.
    pub(crate) keeps_all_rounds: bool,
    pub(crate) started: Instant,
}

/// Runs the learner of the parameters, from the start or from a checkpoint.
pub(crate) fn run(
    prepared: &Prepared<'_>,
    checkpoint: Option<Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Trained, TrainError> {
    let Prepared { params, train, valid, objective, simd, .. } = *prepared;
    let mut phases = Phases::default();
    let task = Task { params, train, valid, objective, simd };
    let learner = timed(&mut phases.bin, || start(task))?;
    let mut rounds =
        Rounds { of: prepared, learner, n_done: 0, best: BestRound::default(), history: Vec::new(), phases };
    if let Some(Checkpoint(content)) = checkpoint {
        rounds.restore(content)?;
    }
    let stopped = rounds.run(observer)?;
    rounds.finish(stopped)
}

/// A run in progress.
struct Rounds<'a> {
    of: &'a Prepared<'a>,
    learner: Box<dyn Learning + 'a>,
    /// Rounds so far.
    n_done: usize,
    best: BestRound,
    /// The metrics after each round: for the first set, then for the second, ...
    history: Vec<f64>,
    phases: Phases,
}

impl Rounds<'_> {
    /// Learns until there is a reason to stop.
    fn run(&mut self, observer: &mut dyn Observer) -> Result<StopReason, TrainError> {
        loop {
            // Checked here, because a run resumed after its last round must end the same way.
            if let Some(reason) = self.ending() {
                return Ok(reason);
            }
            let learner = &mut self.learner;
            if timed(&mut self.phases.gradients, || learner.round())? == Learnt::Nothing {
                return Ok(StopReason::NothingToLearn);
            }
            self.n_done += 1;
            let values = self.measure()?;
            let progress = Progress {
                pass: Pass::Model,
                round: self.n_done,
                num_rounds: self.max_rounds(),
                values: &values,
                best_round: self.best.round,
                is_last: self.ending().is_some(),
                run: InProgress::Learning(self),
            };
            if observer.after_round(&progress) == Flow::Stop {
                return Ok(StopReason::Interrupted);
            }
        }
    }

    fn max_rounds(&self) -> usize {
        self.of.params.max_rounds()
    }

    fn ending(&self) -> Option<StopReason> {
        let patience = self.of.params.boosting().early_stopping_rounds;
        if patience > 0 && self.n_done - self.best.round >= patience {
            Some(StopReason::EarlyStopping)
        } else {
            (self.n_done >= self.max_rounds()).then_some(StopReason::Finished)
        }
    }

    fn measure(&mut self) -> Result<Vec<MetricValue>, TrainError> {
        if self.of.measured.is_empty() {
            return Ok(Vec::new());
        }
        let started = Instant::now();
        let scored = self.of.measured.iter().enumerate();
        let scored = scored.map(|(idx, set)| (set, Cow::Owned(self.learner.scores(idx + 1))));
        let measured = measure_all(scored, self.of.own_metrics, &self.of.params.boosting().metric)?;
        self.history.extend(measured.values.iter().map(|value| value.value));
        if measured.is_better_than(&self.best.values) || self.of.keeps_all_rounds {
            let values = measured.values.clone();
            self.best = BestRound { round: self.n_done, values, learner: self.learner.save() };
        }
        self.phases.validation += started.elapsed();
        Ok(measured.values)
    }

    /// Goes to the state of another run with the same origin.
    fn restore(&mut self, content: Content<'static>) -> Result<(), CheckpointError> {
        let Content::Rounds(state) = content else { return Err(CheckpointError::inconsistent()) };
        let n_metrics = self.of.params.boosting().metric.len() + self.of.own_metrics.metrics.len();
        state.check_fit(n_metrics * self.of.measured.len())?;
        let max_rounds = self.max_rounds();
        if state.n_rounds > max_rounds {
            return Err(CheckpointError::TooFar { trees: state.n_rounds, num_trees: max_rounds });
        }
        if state.best.round > 0 {
            // Checked now, so that it cannot fail at the end.
            self.learner.load(&state.best.learner)?;
        }
        self.learner.load(&state.learner)?;
        self.n_done = state.n_rounds;
        self.history = state.history.into_owned();
        self.best = state.best.into_owned();
        // The sets may have other names now.
        let names = self.of.measured.iter().flat_map(|set| std::iter::repeat_n(set.name, n_metrics));
        self.best.values.iter_mut().zip(names).for_each(|(value, name)| name.clone_into(&mut value.set));
        Ok(())
    }

    /// Builds the model of the best round.
    fn finish(mut self, stopped: StopReason) -> Result<Trained, TrainError> {
        if self.n_done == 0 && stopped == StopReason::NothingToLearn {
            return Err(TrainError::NothingLearnt { learner: self.of.params.boosting().learner.render() });
        }
        let train_scores_canonical = self.learner.scores(0);
        if self.best.round > 0 && self.best.round < self.n_done {
            self.learner.load(&self.best.learner)?;
        }
        let rounds_kept = if self.best.round > 0 { self.best.round } else { self.n_done };
        let model = self.of.model(self.learner.fitted()?)?;
        self.phases.total = self.of.started.elapsed();
        Ok(Trained {
            model,
            start_trees: 0,
            trees_grown: self.n_done,
            rounds_kept,
            history: History::new(1, &self.best.values, &self.history),
            values: self.best.values,
            train_scores_canonical,
            outliers: None,
            stopped,
            no_trees: None,
            phases: self.phases,
        })
    }
}

impl Snapshot for Rounds<'_> {
    fn train_scores(&self) -> Vec<f64> {
        self.learner.scores(0)
    }

    fn checkpoint(&self) -> Content<'_> {
        Content::Rounds(RoundsState {
            origin: Cow::Borrowed(&self.of.origin),
            n_rounds: self.n_done,
            best: Cow::Borrowed(&self.best),
            history: Cow::Borrowed(&self.history),
            learner: self.learner.save(),
        })
    }
}

impl Prepared<'_> {
    fn model(&self, fitted: Fitted) -> Result<Model, TrainError> {
        let data: &Documents = self.train;
        let Fitted { ranker, features } = fitted;
        let f64_features: Vec<u32> =
            features.iter().copied().filter(|id| data.f64_features().binary_search(id).is_ok()).collect();
        let params = self.params.changed().into_iter().map(|setting| (setting.name.to_owned(), setting.value));
        let header = Header {
            objective: self.objective_name.clone(),
            params: params.collect(),
            trained_on: trained_on_all(&self.share),
            absent: match data.absent() {
                Absent::Missing => AbsentFeature::Missing,
                Absent::Zero => AbsentFeature::Zero,
            },
            precision: if f64_features.is_empty() { Precision::F32 } else { Precision::F64 },
            feature_names: names_of(&self.share, &features),
            features,
            f64_features,
        };
        Ok(Model::new(header, ranker)?)
    }
}

impl TrainParams {
    /// Maximum number of rounds.
    pub fn max_rounds(&self) -> usize {
        match self.boosting().learner {
            Learner::Neural => self.learner().epochs,
            _ => self.boosting().num_trees,
        }
    }
}
