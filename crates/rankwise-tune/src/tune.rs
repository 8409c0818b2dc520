//! Searches for good values of parameters.
//!
//! Job 0 trains the default: the parameters without those of the space. Job i + 1 is trial i. What a trial tries depends on
//! the seed, its number, and the results of trials up to i - B, where B is how many may run at the same time; so neither
//! threads nor interruptions matter. The best trial is compared with the default on queries that had no part in the search.

mod trial;
mod trial_file;

use std::sync::Arc;

use rankwise_data::Dataset;
use rankwise_eval::{CompareSpec, Comparison, EvalError, IntervalSpec, Table, predict_canonical};
use rankwise_metrics::Evaluator;
use rankwise_model::Model;
use rankwise_params::ParamError;
use rankwise_train::{TrainParams, TrainSpec};

use self::trial::{Outcome, Run};
pub use self::trial::{Trial, TrialResult};
use self::trial_file::{VERSION, read_trial, write_trial};
use crate::jobs::{Watch, Workers};
use crate::split::Split;
use crate::store::{Origin, StepStore};
use crate::{Folds, Point, Search, Seen, Space, TuneError};

/// Rounds and patience of a trial, unless they are set or searched.
const ROUNDS: [(&str, &str); 2] = [("num_trees", "1000"), ("early_stopping_rounds", "50")];

/// What to search.
#[derive(Clone, Copy, Debug)]
pub struct Tuning<'a> {
    /// The data to train on, and to take every fifth query from for validation if there is no other validation data.
    pub data: &'a Dataset,
    /// Validation data. Without test data, half of its queries decide, and the other half tests.
    pub valid: Option<&'a Dataset>,
    /// Data on which the winner is compared with the default.
    pub test: Option<&'a Dataset>,
    /// Parameters of all trials. The first metric, with its rules, decides. Unless set, trials have at most 1000 trees and
    /// stop after 50 without improvement.
    pub spec: &'a TrainSpec,
    /// The parameters to search.
    pub space: &'a Space,
    /// How.
    pub search: Search,
    /// Which trials are stopped before their end.
    pub stopping: Stopping,
    /// The number of trials.
    pub trials: usize,
    /// How many trials may run at the same time: trial i learns from trials up to i - `parallel`. The result depends on it;
    /// it does not depend on how many do run at the same time.
    pub parallel: usize,
}

/// Which trials are stopped before their end, besides those that stop by early stopping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopping {
    /// None.
    #[default]
    Never,
    /// After a ninth and a third of the rounds, those that are not among the best third at this point.
    Halving,
}

/// Observes a search.
pub trait TuneWatch: Watch {
    /// Called after each trial, with its number from 0, or `None` for the default. Trials that run at the same time may end
    /// in any order.
    fn trial_done(&self, number: Option<usize>, trial: &Trial) {
        let _ = (number, trial);
    }
}

impl TuneWatch for () {}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The model of the best trial, cut at its best iteration.
    pub model: Model,
    /// The parameters of the best trial.
    pub params: TrainParams,
    /// The trials, in the order of their numbers.
    pub trials: Vec<Trial>,
    /// The best trial, as an index.
    pub best: usize,
    /// The default: the parameters without those of the space.
    pub default: Trial,
    /// What the winner was compared with the default on.
    pub tested_on: TestedOn,
    /// The values of the winner and the default by query, in this order.
    pub table: Table,
    /// The comparison of these two.
    pub comparison: Comparison,
    /// Number of queries that models were trained on, that decided, and that tested.
    pub n_queries: [usize; 3],
    /// Whether the user stopped the search.
    pub is_interrupted: bool,
}

/// What the winner was compared with the default on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestedOn {
    /// The test data.
    TestData,
    /// Validation queries that did not decide anything.
    HalfOfValidation,
}

/// Searches for good values of parameters.
///
/// ```
/// use rankwise_data::synth::{Preset, SynthSpec};
/// use rankwise_train::{SetBoosting, TrainSpec};
/// use rankwise_tune::{Search, Space, Stopping, Tuning, tune};
///
/// let data = SynthSpec { preset: Preset::Web, rows: 3000, features: Some(10), seed: 1 }.check()?.dataset();
/// let spec = TrainSpec::default().num_trees(20);
/// let space = Space::parse("learning_rate = { log = [0.01, 0.5] }")?;
/// let (search, stopping) = (Search::Tpe, Stopping::Never);
/// let tuning = Tuning {
///     data: &data, valid: None, test: None, spec: &spec, space: &space, search, stopping, trials: 3, parallel: 1,
/// };
/// let tuned = tune(&tuning, &(), &())?;
/// assert_eq!(tuned.trials.len(), 3);
/// assert_eq!(tuned.trials[tuned.best].settings[0].0, "learning_rate");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tune(tuning: &Tuning<'_>, watch: &dyn TuneWatch, store: &dyn StepStore) -> Result<Tuned, TuneError> {
    let base = tuning.base()?;
    let params = base.clone().check()?;
    let metrics = &params.boosting().metric;
    if let Some(pooled) = metrics.iter().find(|name| name.kind().is_pooled()) {
        return Err(EvalError::Pooled { metric: pooled.as_str().to_owned() }.into());
    }
    let seed = params.boosting().seed;
    let split = Split::new(tuning.data, tuning.valid, seed)?;
    let halves = if tuning.test.is_some() { None } else { Some(halves(split.valid(), seed)?) };
    let valid = halves.as_ref().map_or_else(|| split.valid(), |[deciding, _]| deciding);
    let origin = Origin::new(VERSION, &params, split.train(), valid).with_search(tuning.lines());
    let sign = if metrics[0].kind().is_larger_better() { 1.0 } else { -1.0 };
    let plan = Plan { tuning, base: &base, seed, train: split.train(), valid, sign, origin, watch, store };
    let runs = plan.run()?;
    let is_interrupted = watch.is_stopped() && runs.len() <= tuning.trials;
    let best = plan.best(&runs)?;
    let n_train = split.train().n_queries();
    let n_deciding = valid.n_queries();
    let [winner, default] = [Plan::model(&runs[best])?, Plan::model(&runs[0])?];
    let best_params = plan.params(&runs[best].points)?;
    let (tested_on, test) = match (tuning.test, &halves) {
        (None, Some([_, testing])) => (TestedOn::HalfOfValidation, testing),
        (test, _) => (TestedOn::TestData, test.unwrap_or(tuning.data)),
    };
    let scores = [&winner, &default].map(|model| predict_canonical(model, test));
    let table = table(test, &params, [("winner", &scores[0]), ("default", &scores[1])])?;
    let intervals = IntervalSpec { seed, ..IntervalSpec::default() };
    let comparison = Comparison::new(&table, &CompareSpec { intervals, ..CompareSpec::default() }, |_, _| {})?;
    Ok(Tuned {
        model: winner,
        params: best_params,
        trials: runs[1..].iter().map(|run| run.trial()).collect(),
        best: best - 1,
        default: runs[0].trial(),
        n_queries: [n_train, n_deciding, test.n_queries()],
        tested_on,
        table,
        comparison,
        is_interrupted,
    })
}

/// Two halves of the queries: one decides, the other tests.
fn halves(data: &Dataset, seed: u64) -> Result<[Dataset; 2], TuneError> {
    let folds = Folds::random(data, 2, seed)?;
    Ok([data.select_queries(&folds.queries(0))?, data.select_queries(&folds.queries(1))?])
}

/// The values of both systems by query.
fn table(test: &Dataset, params: &TrainParams, systems: [(&str, &[f64]); 2]) -> Result<Table, TuneError> {
    let evaluator = Evaluator::new(test, &params.boosting().metric, params.rules())?;
    let measured = systems
        .into_iter()
        .map(|(name, scores)| Ok((name.to_owned(), evaluator.evaluate_canonical(scores)?)))
        .collect::<Result<Vec<_>, TuneError>>()?;
    let weights: Vec<f32> = test.queries().map(|query| query.weight).collect();
    Ok(Table::new(test.queries().map(|query| query.id).collect(), &weights, measured)?)
}

impl Tuning<'_> {
    /// The parameters of the default.
    fn base(&self) -> Result<TrainSpec, TuneError> {
        if self.trials == 0 {
            return Err(TuneError::None { what: "trials" });
        }
        if self.parallel == 0 {
            return Err(TuneError::None { what: "trials that may run at the same time" });
        }
        self.space.check_with(self.spec)?;
        let mut base = self.spec.clone();
        for (name, value) in ROUNDS {
            if !self.spec.is_set(name) {
                base.set(name, value)?;
            }
        }
        Ok(base)
    }

    /// What must be the same to resume.
    fn lines(&self) -> Vec<String> {
        let search =
            format!("search {}, parallel {}, stopping {:?}", self.search.as_str(), self.parallel, self.stopping);
        self.space.lines().into_iter().chain([search]).collect()
    }
}

/// A search that is about to start.
struct Plan<'a> {
    tuning: &'a Tuning<'a>,
    base: &'a TrainSpec,
    seed: u64,
    train: &'a Dataset,
    valid: &'a Dataset,
    /// 1 if larger values of the metric are better, otherwise -1.
    sign: f64,
    origin: Origin,
    watch: &'a dyn TuneWatch,
    store: &'a dyn StepStore,
}

impl Plan<'_> {
    /// Runs the default and the trials.
    fn run(&self) -> Result<Vec<Arc<Run>>, TuneError> {
        let workers = Workers::for_training(self.train.n_rows(), self.train.n_features());
        let runs = workers.run(self.tuning.trials + 1, self.tuning.parallel, |job, seen| self.job(job, seen))?;
        if runs.len() < 2 { Err(TuneError::Interrupted) } else { Ok(runs) }
    }

    /// Trains a trial or the default, or loads it; `None` if the user stopped it.
    fn job(&self, job: usize, seen: &[Arc<Run>]) -> Result<Option<Run>, TuneError> {
        let points = if job == 0 { Vec::new() } else { self.points(job - 1, seen.get(1..).unwrap_or_default()) };
        let settings = self.tuning.space.settings(&points);
        if let Some(content) = self.store.load(job) {
            let run = read_trial(&content, &self.origin, points, settings);
            return run.map(Some).map_err(|source| TuneError::Step { step: job, source });
        }
        if self.watch.is_stopped() {
            return Ok(None);
        }
        let run = match self.params(&points) {
            Ok(params) => match self.train_one(&params, seen) {
                Some(outcome) => Run { points, settings, outcome },
                None => return Ok(None),
            },
            Err(error) => Run { points, settings, outcome: Outcome::Failed { problem: error.to_string() } },
        };
        let is_useless = job > 0 && !self.may_win(&run, seen);
        let run = run.without_model_if(is_useless);
        self.store.save(job, &write_trial(&run, &self.origin));
        self.watch.trial_done(job.checked_sub(1), &run.trial());
        Ok(Some(run))
    }

    /// What a trial tries. Trials that it must not see the results of are known by what they try.
    fn points(&self, trial: usize, seen: &[Arc<Run>]) -> Vec<Option<Point>> {
        let n_seen = |trial: usize| (trial + 1).saturating_sub(self.tuning.parallel);
        let mut points: Vec<Vec<Option<Point>>> = seen.iter().map(|run| run.points.clone()).collect();
        for next in points.len()..=trial {
            let value = |idx: usize| if idx < n_seen(next) { self.value(&seen[idx]) } else { None };
            let known: Vec<Seen<'_>> =
                points.iter().enumerate().map(|(idx, points)| Seen { points, value: value(idx) }).collect();
            points.push(self.tuning.search.suggest(self.tuning.space, self.seed, next, &known));
        }
        points.pop().expect("the last one is that of the trial")
    }

    fn params(&self, points: &[Option<Point>]) -> Result<TrainParams, ParamError> {
        let mut spec = self.base.clone();
        self.tuning.space.settings(points).iter().try_for_each(|(name, value)| spec.set(name, value))?;
        spec.check()
    }

    /// Its value, larger being better; `None` if it has none.
    fn value(&self, run: &Run) -> Option<f64> {
        run.value().map(|value| self.sign * value)
    }

    /// Whether a trial is better than all that it sees. Others cannot win, so that their models are not needed.
    fn may_win(&self, run: &Run, seen: &[Arc<Run>]) -> bool {
        let value = self.value(run);
        value.is_some() && seen.iter().skip(1).all(|other| value > self.value(other))
    }

    /// The best trial, as a job; the first of several.
    fn best(&self, runs: &[Arc<Run>]) -> Result<usize, TuneError> {
        let mut best: Option<(f64, usize)> = None;
        for (job, run) in runs.iter().enumerate().skip(1) {
            if let Some(value) = self.value(run)
                && best.is_none_or(|(highest, _)| value > highest)
            {
                best = Some((value, job));
            }
        }
        let problem = || {
            runs.iter().find_map(|run| match &run.outcome {
                Outcome::Failed { problem } => Some(problem.clone()),
                Outcome::Trained { .. } => None,
            })
        };
        match best {
            Some((_, job)) if runs[0].value().is_some() => Ok(job),
            _ => Err(TuneError::NothingTrained { problem: problem().unwrap_or_default() }),
        }
    }

    /// The model of a job that may win.
    fn model(run: &Run) -> Result<Model, TuneError> {
        match &run.outcome {
            Outcome::Trained { model: Some(model), .. } => Ok((**model).clone()),
            _ => Err(TuneError::NothingTrained { problem: "a saved trial has no model".into() }),
        }
    }
}

#[cfg(test)]
mod tests;
