//! A run before its first tree: what it is given, and what it makes ready.

use std::time::Instant;

use rankwise_data::{Dataset, SimdLevel};
use rankwise_model::{ExpectedGain, Model, Output};
use rankwise_objectives::Objective;
use rankwise_params::{ParamError, ParamValue};
use rankwise_trees::{Derivative, Grower};

use crate::bagging::Bag;
use crate::boost::{Run, timed};
use crate::checkpoint::{Best, Origin};
use crate::ensemble::Ensemble;
use crate::gradient_sampling::GradientSampling;
use crate::langevin::Langevin;
use crate::outliers::{self, Recorder};
use crate::selection::Selection;
use crate::start::{self, Start};
use crate::step::Step;
use crate::validation::Validation;
use crate::values::outputs_of;
use crate::{Checkpoint, Observer, Phases, Sample, StopReason, TrainError, TrainParams, Trained, ValidSet};

/// Trains a model.
pub fn train(
    params: &TrainParams,
    data: &Dataset,
    valid: &[ValidSet<'_>],
    observer: &mut dyn Observer,
) -> Result<Trained, TrainError> {
    Training::new(params, data).valid(valid).run(observer)
}

/// A run that is about to start, with what most runs do not need.
#[derive(Clone)]
pub struct Training<'a> {
    params: &'a TrainParams,
    data: &'a Dataset,
    valid: &'a [ValidSet<'a>],
    own_objective: Option<(&'a str, &'a dyn Objective)>,
    start: Option<&'a Model>,
    checkpoint: Option<Checkpoint>,
    simd: Option<SimdLevel>,
}

impl<'a> Training<'a> {
    /// A run over the data.
    pub fn new(params: &'a TrainParams, data: &'a Dataset) -> Self {
        Self { params, data, valid: &[], own_objective: None, start: None, checkpoint: None, simd: None }
    }

    /// Measures on these sets after each tree.
    #[must_use]
    pub fn valid(self, valid: &'a [ValidSet<'a>]) -> Self {
        Self { valid, ..self }
    }

    /// Learns an objective of the caller's own, which the model names so, in place of the one that the parameters name.
    #[must_use]
    pub fn own_objective(self, name: &'a str, objective: &'a dyn Objective) -> Self {
        Self { own_objective: Some((name, objective)), ..self }
    }

    /// Starts from a model, if there is one, whoever trained it: its scores are the first ones, and its trees come first in what is
    /// trained.
    #[must_use]
    pub fn start(self, model: impl Into<Option<&'a Model>>) -> Self {
        Self { start: model.into(), ..self }
    }

    /// Goes on with a run that was interrupted, if there is one, on the same data and with the same parameters, to the model that it would
    /// have come to. There may be more trees than were wanted then, other threads and another engine.
    #[must_use]
    pub fn from_checkpoint(self, checkpoint: impl Into<Option<Checkpoint>>) -> Self {
        Self { checkpoint: checkpoint.into(), ..self }
    }

    /// Uses these instructions in place of the best that the machine has or those that `RANKWISE_SIMD` names. They change
    /// nothing but the time it takes.
    #[must_use]
    pub fn simd(self, simd: SimdLevel) -> Self {
        Self { simd: Some(simd), ..self }
    }

    /// Trains.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Trained, TrainError> {
        let started = Instant::now();
        let Self { params, data, valid, .. } = self;
        check_against_data(params, data, valid)?;
        let simd = self.simd.map_or_else(SimdLevel::from_env, Ok)?;
        let objective_name =
            self.own_objective.map_or_else(|| params.objective().objective.render(), |(name, _)| name.into());
        let start = self.start.map(Start::new).transpose()?;
        let origin = Origin::new(params, (&objective_name, start), data, valid);
        if let Some(Checkpoint(state)) = &self.checkpoint {
            origin.check_same(&state.origin)?;
        }
        let bound;
        let objective = if let Some((_, objective)) = self.own_objective {
            objective
        } else {
            bound = params.objective().bind(data, params.rules(), simd)?;
            &*bound
        };
        let mut inliers = None;
        if params.boosting().sample == Sample::Inliers && self.checkpoint.is_none() {
            let first_params = outliers::first_pass(params)?;
            let mut recorder = Recorder::new(params.boosting(), data, observer);
            let first = Training { params: &first_params, valid: &[], ..self.clone() }.run(&mut recorder)?;
            if first.stopped == StopReason::Interrupted {
                return Ok(first);
            }
            inliers = Some(recorder.inliers());
        }
        let mut phases = Phases::default();
        let binned = timed(&mut phases.bin, || data.binned(params.binning()))?;
        if binned.n_features() == 0 {
            return Err(TrainError::NoFeatures);
        }
        let (output, base_score) = match start {
            Some(start) => {
                let output = output_of(objective);
                let sets = valid.iter().map(|set| set.data).chain([data]);
                sets.into_iter().try_for_each(|data| start::check(start, data, &output))?;
                (start.ensemble.output().clone(), start.ensemble.base_score())
            }
            None => (output_of(objective), objective.base_score()),
        };
        let first_scores = |data: &Dataset| -> Vec<f64> {
            let base_scores = output.base_scores(base_score);
            let of_base = || base_scores.iter().flat_map(|score| std::iter::repeat_n(*score, data.n_rows())).collect();
            start.map_or_else(of_base, |start| outputs_of(start, data))
        };
        let n_outputs = output.n_outputs();
        let validation = timed(&mut phases.bin, || {
            let rules = (&params.boosting().metric[..], params.rules());
            let sets = valid.iter().map(|set| Validation::new(*set, &binned, rules, first_scores(set.data)));
            sets.collect::<Result<Vec<_>, _>>()
        })?;
        let grower = timed(&mut phases.bin, || Grower::new(&binned, params.trees(), params.boosting().seed, simd));
        let mut run = Run {
            params,
            data,
            binned: &binned,
            grower,
            is_own_objective: self.own_objective.is_some(),
            bag: Bag::new(data, params.boosting()),
            selection: Selection::new(params),
            part: None,
            gradient_sampling: GradientSampling::new(params),
            weights: row_weights(params, data),
            scores: first_scores(data),
            grad: vec![0.0; n_outputs * data.n_rows()],
            hess: vec![0.0; n_outputs * data.n_rows()],
            simd,
            step: Step::new(params, data, n_outputs)?,
            langevin: Langevin::new(params.boosting()),
            noisy_grad: Vec::new(),
            objective,
            start,
            base_score,
            output,
            objective_name,
            validation,
            origin,
            n_tried: 0,
            trees: Vec::new(),
            ensemble: Ensemble::Boosted,
            factors: Vec::new(),
            best: Best::default(),
            phases,
        };
        let valid_starts = run.validation.iter().map(|set| &set.scores[..]);
        run.ensemble = Ensemble::new(params.boosting(), &run.scores, valid_starts);
        run.part = inliers.and_then(|rows| run.part_of(rows));
        if let Some(Checkpoint(state)) = self.checkpoint {
            run.restore(state)?;
        }
        let stopped = run.boost(observer)?;
        run.finish(stopped, started.elapsed())
    }
}

fn check_against_data(params: &TrainParams, data: &Dataset, valid: &[ValidSet<'_>]) -> Result<(), TrainError> {
    if params.boosting().early_stopping_rounds > 0 && valid.is_empty() {
        let problem = "early stopping needs a validation set; give one with --valid";
        return Err(ParamError::conflict("early_stopping_rounds", problem).into());
    }
    let known = data.feature_ids();
    match params.trees().monotone_constraints.features().find(|feature| known.binary_search(feature).is_err()) {
        Some(feature) => Err(TrainError::UnknownFeature { feature }),
        None => Ok(()),
    }
}

/// How the outputs of an objective become a score.
pub(crate) fn output_of(objective: &dyn Objective) -> Output {
    objective.classes().map_or(Output::Sum, |classes| {
        Output::ExpectedGain(ExpectedGain { gains: classes.gains.clone(), base_scores: classes.base_scores.clone() })
    })
}

/// The weight of each row, where a step needs it in place of the second derivative.
pub(crate) fn row_weights(params: &TrainParams, data: &Dataset) -> Vec<f32> {
    let trees = params.trees();
    if trees.structure == Derivative::Newton && trees.leaf_estimation == Derivative::Newton {
        return Vec::new();
    }
    let by_query = |query: usize| data.query_rows(query).map(move |row| data.query_weight(query) * data.weight(row));
    (0..data.n_queries()).flat_map(by_query).collect()
}
