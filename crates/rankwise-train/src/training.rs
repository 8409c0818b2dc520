//! Prepares a run, up to its first tree.

use std::time::Instant;

use rankwise_data::{Alone, Dataset, Documents, Reduce, Share, SimdLevel, TrainingData};
use rankwise_model::{ExpectedGain, Model, Output};
use rankwise_objectives::Objective;
use rankwise_params::{ParamError, ParamValue};
use rankwise_trees::{Derivative, EngineSetup, Grower, MakeEngine};

use crate::bagging::Bag;
use crate::boost::{Run, timed};
use crate::checkpoint::{Best, Content, Origin};
use crate::ensemble::Ensemble;
use crate::gradient_sampling::GradientSampling;
use crate::langevin::Langevin;
use crate::learning::{self, Prepared};
use crate::outliers::{self, Recorder};
use crate::selection::Selection;
use crate::start::{self, Start};
use crate::step::Step;
use crate::validation::{MeasuredSet, OwnMetric, OwnMetrics, Validation};
use crate::values::outputs_of;
use crate::{
    Checkpoint, CheckpointError, Observer, Phases, Sample, StopReason, TrainError, TrainParams, Trained, ValidSet,
};

/// The largest learning rate, as in the parameters.
const MAX_LEARNING_RATE: f64 = 10.0;

/// Trains a model.
pub fn train<'a>(
    params: &'a TrainParams,
    data: impl Into<TrainingData<'a>>,
    valid: &'a [ValidSet<'a>],
    observer: &mut dyn Observer,
) -> Result<Trained, TrainError> {
    Training::new(params, data).valid(valid).run(observer)
}

/// A run that is about to start, with options that most runs do not need.
///
/// ```
/// use rankwise_data::Dataset;
/// use rankwise_train::{Flow, Progress, SetBoosting, TrainSpec, Training};
/// use rankwise_trees::SetTrees;
///
/// let data = Dataset::from_dense(&[0.9, 0.1, 0.2, 0.7], 1).labels(&[1, 0, 0, 2]).group_sizes(&[2, 2]).build()?;
/// let params = TrainSpec::default().num_trees(50).min_data_in_leaf(1).check()?;
/// // An observer sees each round and may stop the run, which keeps what is trained.
/// let mut until_ten = |progress: &Progress<'_>| if progress.round < 10 { Flow::Continue } else { Flow::Stop };
/// let first = Training::new(&params, &data).run(&mut until_ten)?.model;
/// assert_eq!(first.tree_ensemble()?.n_trees(), 10);
/// // Another run may start from its model.
/// let second = Training::new(&params, &data).start(&first).run(&mut until_ten)?.model;
/// assert_eq!(second.tree_ensemble()?.n_trees(), 20);
/// # Ok::<(), rankwise_train::TrainError>(())
/// ```
#[derive(Clone)]
pub struct Training<'a> {
    params: &'a TrainParams,
    data: TrainingData<'a>,
    valid: &'a [ValidSet<'a>],
    own_objective: Option<(&'a str, &'a dyn Objective)>,
    own_metrics: OwnMetrics<'a>,
    learning_rates: &'a [f64],
    keeps_all_rounds: bool,
    start: Option<&'a Model>,
    checkpoint: Option<Checkpoint>,
    simd: Option<SimdLevel>,
    reduce: &'a dyn Reduce,
    engine: Option<&'a dyn MakeEngine>,
}

impl<'a> Training<'a> {
    /// A run over the data.
    pub fn new(params: &'a TrainParams, data: impl Into<TrainingData<'a>>) -> Self {
        Self {
            params,
            data: data.into(),
            valid: &[],
            own_objective: None,
            own_metrics: OwnMetrics { metrics: &[], come_first: false },
            learning_rates: &[],
            keeps_all_rounds: false,
            start: None,
            checkpoint: None,
            simd: None,
            reduce: &Alone,
            engine: None,
        }
    }

    /// Evaluates these validation sets after each round.
    #[must_use]
    pub fn valid(self, valid: &'a [ValidSet<'a>]) -> Self {
        Self { valid, ..self }
    }

    /// Uses a custom objective instead of the one in the parameters. The model records this name.
    #[must_use]
    pub fn own_objective(self, name: &'a str, objective: &'a dyn Objective) -> Self {
        Self { own_objective: Some((name, objective)), ..self }
    }

    /// Computes custom metrics after each round, before or after those of the parameters. The first metric of all on the
    /// first validation set decides which round is best.
    #[must_use]
    pub fn own_metrics(self, metrics: &'a [&'a dyn OwnMetric], come_first: bool) -> Self {
        Self { own_metrics: OwnMetrics { metrics, come_first }, ..self }
    }

    /// Uses these learning rates, one per round, instead of the parameter. Later rounds use the last one. Neither
    /// the model nor a checkpoint records them, so a resumed run must be given the same ones.
    #[must_use]
    pub fn learning_rates(self, rates: &'a [f64]) -> Self {
        Self { learning_rates: rates, ..self }
    }

    /// Keeps the trees of all rounds: the validation sets are measured, but do not decide how long the model is.
    #[must_use]
    pub fn keep_all_rounds(self) -> Self {
        Self { keeps_all_rounds: true, ..self }
    }

    /// Starts from a model, if given, whatever program trained it: its scores are the initial scores, and its trees
    /// come first in the new model.
    #[must_use]
    pub fn start(self, model: impl Into<Option<&'a Model>>) -> Self {
        Self { start: model.into(), ..self }
    }

    /// Resumes an interrupted run, if given, with the same data and parameters. The result is the same model as without
    /// the interruption. The number of trees may be larger than before, and threads and engine may differ.
    #[must_use]
    pub fn from_checkpoint(self, checkpoint: impl Into<Option<Checkpoint>>) -> Self {
        Self { checkpoint: checkpoint.into(), ..self }
    }

    /// Uses this instruction set, instead of the best one available or the one that `RANKWISE_SIMD` names. It affects
    /// nothing but speed.
    #[must_use]
    pub fn simd(self, simd: SimdLevel) -> Self {
        Self { simd: Some(simd), ..self }
    }

    /// Trains together with other members. Each calls this with its own queries of the training data and of every
    /// validation set, and with the same parameters. Each gets the same model as one member with all queries.
    #[must_use]
    pub fn together(self, reduce: &'a dyn Reduce) -> Self {
        Self { reduce, ..self }
    }

    /// Grows trees with another engine than the one in the parameters. It must grow the same trees.
    #[must_use]
    pub fn engine(self, engine: &'a dyn MakeEngine) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Trains.
    pub fn run(self, observer: &mut dyn Observer) -> Result<Trained, TrainError> {
        let started = Instant::now();
        let Self { params, valid, reduce, .. } = self;
        let data = self.data.docs();
        let share = Share::new(data, reduce)?;
        share.agree(check_against_data(params, &share, valid))?;
        share.agree(self.check_options(&share))?;
        let simd = share.agree(self.simd.map_or_else(SimdLevel::from_env, Ok).map_err(TrainError::from))?;
        let name = self.objective_name();
        let start = share.agree(self.start.map(Start::new).transpose().map_err(TrainError::from))?;
        let origin = Origin::new(params, &name, start, data, valid);
        let resumed = self.checkpoint.as_ref().map_or(Ok(()), |found| origin.check_same(found.origin()));
        share.agree(resumed.map_err(TrainError::from))?;
        let bound;
        let objective = if let Some((_, objective)) = self.own_objective {
            Some(objective)
        } else if params.boosting().learner.follows_objective() {
            bound = params.objective().bind_share(&share, params.rules(), simd)?;
            Some(&*bound)
        } else {
            None
        };
        let basis = Basis { share, objective_name: name, simd, origin, started };
        match objective {
            Some(objective) if params.boosting().learner.is_boosting() => {
                self.boost(basis, (objective, start), observer)
            }
            objective => self.learn(basis, objective, observer),
        }
    }

    /// Trains by gradient boosting, from a start model if there is one.
    fn boost(
        self,
        basis: Basis<'_>,
        (objective, start): (&dyn Objective, Option<Start<'_>>),
        observer: &mut dyn Observer,
    ) -> Result<Trained, TrainError> {
        let Basis { share, objective_name: name, simd, origin, started } = basis;
        let Self { params, valid, reduce, .. } = self;
        let data = self.data.docs();
        let inliers = match self.find_inliers(observer)? {
            FirstPass::Interrupted(first) => return Ok(*first),
            FirstPass::Inliers(rows) => Some(rows),
            FirstPass::None => None,
        };
        let mut phases = Phases::default();
        let binned = timed(&mut phases.bin, || self.data.binned(&share, params.reading(), params.binning()))?;
        if binned.n_features() == 0 {
            let is_empty = share.all_feature_ids().is_empty();
            return Err(if is_empty { TrainError::NoFeatures } else { TrainError::ConstantFeatures });
        }
        let (output, base_score) = match start {
            Some(start) => {
                let output = output_of(objective);
                let mut sets = valid.iter().map(|set| set.data.into()).chain([self.data]);
                share.agree(sets.try_for_each(|data| start::check(start, data, &output)).map_err(TrainError::from))?;
                (start.ensemble.output().clone(), start.ensemble.base_score())
            }
            None => (output_of(objective), objective.base_score()),
        };
        let first_scores = FirstScores { start, base_scores: output.base_scores(base_score) };
        let n_outputs = output.n_outputs();
        let validation = timed(&mut phases.bin, || {
            let metrics = &params.boosting().metric;
            let set = |set: &ValidSet<'a>| {
                let share = Share::new(set.data, reduce)?;
                let measured = MeasuredSet::new(*set, share.clone(), metrics, params.rules())?;
                Validation::new(measured, set.data, &share, &binned, first_scores.of(set.data.into()))
            };
            valid.iter().map(set).collect::<Result<Vec<_>, TrainError>>()
        })?;
        let setup = EngineSetup { data: &binned, params: params.trees(), simd, reduce };
        let grower = timed(&mut phases.bin, || match self.engine {
            Some(engine) => Grower::with_engine(setup, engine.make(setup), params.boosting().seed),
            None => Grower::new(setup, params.boosting().seed),
        });
        let scores = first_scores.of(self.data);
        let step = share.agree(Step::new(params, data, n_outputs))?;
        let mut run = Run {
            params,
            ensemble: Ensemble::new(params.boosting(), &scores, validation.iter().map(|set| &set.scores[..])),
            data,
            binned: &binned,
            grower,
            is_own_objective: self.own_objective.is_some(),
            bag: Bag::new(data, params.boosting(), simd),
            selection: Selection::new(params),
            part: None,
            gradient_sampling: GradientSampling::new(params, simd),
            weights: row_weights(params, data),
            scores,
            grad: vec![0.0; n_outputs * data.n_rows()],
            hess: vec![0.0; n_outputs * data.n_rows()],
            simd,
            step,
            langevin: Langevin::new(params.boosting()),
            noisy_grad: Vec::new(),
            objective,
            start,
            base_score,
            output,
            objective_name: name,
            validation,
            origin,
            own_metrics: self.own_metrics,
            learning_rates: self.learning_rates,
            keeps_all_rounds: self.keeps_all_rounds,
            n_tried: 0,
            trees: Vec::new(),
            factors: Vec::new(),
            best: Best::default(),
            history: Vec::new(),
            phases,
            share,
        };
        run.part = inliers.and_then(|rows| run.part_of(rows));
        if let Some(Checkpoint(content)) = self.checkpoint {
            let restored = match content {
                Content::Boosting(state) => run.restore(state),
                Content::Rounds(_) => Err(CheckpointError::inconsistent()),
            };
            let restored = restored.map_err(TrainError::from);
            run.share.agree(restored)?;
        }
        let stopped = run.boost(observer)?;
        run.finish(stopped, started.elapsed())
    }

    fn check_options(&self, share: &Share<'_>) -> Result<(), TrainError> {
        let range = |rate: &&f64| !(**rate > 0.0 && **rate <= MAX_LEARNING_RATE);
        if let Some(rate) = self.learning_rates.iter().find(range) {
            let problem =
                format!("a schedule has the rate {rate}; expected numbers above 0, up to {MAX_LEARNING_RATE}");
            return Err(ParamError::conflict("learning_rate", problem).into());
        }
        if self.keeps_all_rounds && self.params.boosting().early_stopping_rounds > 0 {
            let problem = "a run that keeps all rounds cannot stop early; set one of the two";
            return Err(ParamError::conflict("early_stopping_rounds", problem).into());
        }
        let has_noise = Langevin::new(self.params.boosting()).is_some() || self.params.boosting().shrink_rate() > 0.0;
        if !self.learning_rates.is_empty() && has_noise {
            let problem =
                "a schedule of rates cannot be used with `langevin` or `model_shrink_rate`, which depend on one rate";
            return Err(ParamError::conflict("learning_rate", problem).into());
        }
        if !self.own_metrics.metrics.is_empty() && !share.is_alone() {
            let problem = "custom metrics see one member's documents only; use the metrics by name";
            return Err(ParamError::conflict("metric", problem).into());
        }
        Ok(())
    }

    /// What models and checkpoints call the objective.
    fn objective_name(&self) -> String {
        let learner = self.params.boosting().learner;
        match self.own_objective {
            Some((name, _)) => name.into(),
            None if learner.follows_objective() => self.params.objective().objective.render(),
            None => learner.render(),
        }
    }

    /// Trains with a learner that is not boosting.
    fn learn(
        self,
        basis: Basis<'_>,
        objective: Option<&dyn Objective>,
        observer: &mut dyn Observer,
    ) -> Result<Trained, TrainError> {
        let Basis { share, objective_name, simd, origin, started } = basis;
        let train = self.check_learner(&share, objective)?;
        let metrics = &self.params.boosting().metric;
        let measured = |set: &ValidSet<'a>| {
            MeasuredSet::new(*set, Share::new(set.data, self.reduce)?, metrics, self.params.rules())
        };
        let valid: Vec<&Dataset> = self.valid.iter().map(|set| set.data).collect();
        let prepared = Prepared {
            params: self.params,
            train,
            share,
            valid: &valid,
            measured: self.valid.iter().map(measured).collect::<Result<_, TrainError>>()?,
            objective,
            objective_name,
            simd,
            origin,
            own_metrics: self.own_metrics,
            keeps_all_rounds: self.keeps_all_rounds,
            started,
        };
        learning::run(&prepared, self.checkpoint, observer)
    }

    /// Checks that a learner that is not boosting can do what is asked, and returns its data.
    fn check_learner(&self, share: &Share<'_>, objective: Option<&dyn Objective>) -> Result<&'a Dataset, TrainError> {
        let name = self.params.boosting().learner.render();
        let refused = |parameter: &str, problem: String| Err(self.params.conflict(parameter, problem).into());
        if self.start.is_some() {
            return refused("learner", format!("learner={name} cannot start from a model; remove `init_model`"));
        }
        if !share.is_alone() {
            return refused("learner", format!("learner={name} cannot be trained by several members; use one process"));
        }
        if !self.learning_rates.is_empty() {
            return refused("learning_rate", format!("learner={name} has no learning rate; remove the schedule"));
        }
        if objective.is_some_and(|objective| objective.classes().is_some()) {
            return refused(
                "objective",
                format!("learner={name} has one output, but this objective needs several; use another"),
            );
        }
        let Some(train) = self.data.values() else {
            return refused(
                "learner",
                format!("learner={name} needs feature values, but this data has bins only; use the original data"),
            );
        };
        if train.n_features() == 0 { Err(TrainError::NoFeatures) } else { Ok(train) }
    }

    /// Trains the preliminary model of `sample=inliers`, which finds the outliers. A resumed run already knows them.
    fn find_inliers(&self, observer: &mut dyn Observer) -> Result<FirstPass, TrainError> {
        if self.params.boosting().sample != Sample::Inliers || self.checkpoint.is_some() {
            return Ok(FirstPass::None);
        }
        let params = outliers::first_pass(self.params)?;
        let mut recorder = Recorder::new(self.params.boosting(), self.data.docs(), observer);
        let first = Training { params: &params, valid: &[], learning_rates: &[], ..self.clone() }.run(&mut recorder)?;
        if first.stopped == StopReason::Interrupted {
            return Ok(FirstPass::Interrupted(Box::new(first)));
        }
        Ok(FirstPass::Inliers(recorder.inliers()))
    }
}

/// What is known of a run before its data is prepared.
struct Basis<'r> {
    share: Share<'r>,
    objective_name: String,
    simd: SimdLevel,
    origin: Origin,
    started: Instant,
}

/// The result of a preliminary model.
enum FirstPass {
    /// No preliminary model was needed.
    None,
    /// The observer stopped it.
    Interrupted(Box<Trained>),
    /// The rows that are not outliers, ascending.
    Inliers(Vec<u32>),
}

/// The scores before the first tree.
struct FirstScores<'a> {
    start: Option<Start<'a>>,
    base_scores: Vec<f64>,
}

impl FirstScores<'_> {
    /// For all rows and the first output, then for the second, ...
    fn of(&self, data: TrainingData<'_>) -> Vec<f64> {
        let n_rows = data.docs().n_rows();
        match (self.start, data.values()) {
            (Some(start), Some(data)) => outputs_of(start, data),
            // With a start model, data without values has already been rejected.
            _ => self.base_scores.iter().flat_map(|score| std::iter::repeat_n(*score, n_rows)).collect(),
        }
    }
}

fn check_against_data(params: &TrainParams, share: &Share<'_>, valid: &[ValidSet<'_>]) -> Result<(), TrainError> {
    if params.boosting().early_stopping_rounds > 0 && valid.is_empty() {
        let problem = "early stopping needs a validation set; add one with `valid`";
        return Err(params.conflict("early_stopping_rounds", problem).into());
    }
    match params.trees().monotone_constraints.problem(share.all_feature_ids()) {
        Some(problem) => Err(params.conflict("monotone_constraints", problem).into()),
        None => Ok(()),
    }
}

/// How the outputs of an objective make a score.
pub(crate) fn output_of(objective: &dyn Objective) -> Output {
    objective.classes().map_or(Output::Sum, |classes| {
        Output::ExpectedGain(ExpectedGain { gains: classes.gains.clone(), base_scores: classes.base_scores.clone() })
    })
}

/// The weight of each row, if the step uses it in place of the Hessian.
pub(crate) fn row_weights(params: &TrainParams, data: &Documents) -> Vec<f32> {
    let trees = params.trees();
    if trees.structure == Derivative::Newton && trees.leaf_estimation == Derivative::Newton {
        return Vec::new();
    }
    let by_query = |query: usize| data.query_rows(query).map(move |row| data.query_weight(query) * data.weight(row));
    (0..data.n_queries()).flat_map(by_query).collect()
}
