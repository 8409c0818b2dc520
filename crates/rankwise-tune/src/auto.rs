//! From data to the best ranker, without choosing anything.
//!
//! Step by step, models of the [portfolio](crate::portfolio) are trained. Then they are combined into one ordinary tree
//! ensemble. A step depends on the data, the parameters and its number, and on the results of steps well before it, so the
//! result is the same for any number of threads, and after an interruption.

mod choice;
mod halves;
mod member;
mod step_file;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rankwise_data::Dataset;
use rankwise_eval::{EvalError, IntervalSpec, QueryValues, Summary, intervals};
use rankwise_model::{Header, Model};
use rankwise_objectives::ObjectiveKind;
use rankwise_params::ParamValue as _;
use rankwise_train::{Flow, Learner, Pass, Progress, TrainParams, TrainSpec, Training};

pub use choice::Rule;
use choice::{Choice, Pool, Values, random_order};
use halves::{Halves, View};
use member::{Member, Outcome, Step, TrainedMember};
use step_file::{VERSION, read_step, write_step};

use crate::TuneError;
use crate::jobs::{Watch, Workers};
use crate::portfolio::{self, Row};
use crate::split::Split;
use crate::store::{Origin, StepStore};

/// A step sees the results of the steps this far before it, so up to as many can run at the same time.
const LAG: usize = 8;

/// Cycles through the portfolio; more than that gains next to nothing.
const MAX_CYCLES: usize = 3;

/// The share of the rows, the best ones, that later cycles repeat.
const REPEATED: f64 = 2.0 / 3.0;

/// The share of the time for training, if the chosen models are trained again afterwards.
const SHARE_BEFORE_REFIT: f64 = 0.45;

/// What to find a ranker for.
#[derive(Clone, Copy, Debug)]
pub struct Auto<'a> {
    /// The data to train on, and to take validation queries from if there is no other validation data.
    pub data: &'a Dataset,
    /// Data for choices: numbers of rounds, which models are combined, and how.
    pub valid: Option<&'a Dataset>,
    /// Parameters that every model has. The first metric, with its rules, is what counts.
    pub spec: &'a TrainSpec,
    /// When to stop.
    pub budget: Budget,
    /// All data: the chosen models are trained again on it, with as many rounds.
    pub refit: Option<&'a Dataset>,
}

/// When to stop training models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// After this much time.
    Time(Duration),
    /// After so many models.
    Steps(usize),
}

/// Observes a search.
pub trait AutoWatch: Watch {
    /// Called after each step, with its number. Steps that run at the same time may end in any order.
    fn step_done(&self, step: usize, tried: &Tried) {
        let _ = (step, tried);
    }
}

impl AutoWatch for () {}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct AutoRanker {
    /// The combined model.
    pub model: Model,
    /// What was tried, in the order of steps.
    pub tried: Vec<Tried>,
    /// Which models are combined.
    pub rule: Rule,
    /// Estimates from random order to the combined model, each with what it adds.
    pub rungs: Vec<Rung>,
    /// The gain of the second half of the models over the first half alone; `None` if there are too few.
    pub last_doubling: Option<Difference>,
    /// The number of queries for validation, and of those in the data that models were trained on.
    pub n_valid_queries: usize,
    /// See above.
    pub n_train_queries: usize,
    /// Whether the user stopped the search.
    pub is_interrupted: bool,
}

/// One step of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// What was trained.
    pub name: String,
    /// What became of it.
    pub result: TriedResult,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum TriedResult {
    /// A trained model.
    Trained {
        /// Its metric on the validation data, which chose its number of rounds and is therefore optimistic.
        value: f64,
        /// Its rounds.
        rounds: usize,
        /// The factor of its scores in the combination; `None` if it has no part in it.
        factor: Option<f64>,
    },
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

/// An estimate on queries that had no part in the choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// What is estimated.
    pub name: String,
    /// The mean of the metric, with its interval.
    pub summary: Summary,
    /// The difference from the rung before.
    pub gain: Option<Difference>,
    /// The difference from random order.
    pub over_random: Option<Difference>,
}

/// A mean difference with its interval.
pub type Difference = Summary;

/// Finds a ranker.
///
/// ```
/// use rankwise_data::synth::{Preset, SynthSpec};
/// use rankwise_train::TrainSpec;
/// use rankwise_tune::{Auto, Budget, auto};
///
/// let data = SynthSpec { preset: Preset::Web, rows: 3000, features: Some(10), seed: 1 }.check()?.dataset();
/// let spec = TrainSpec::default();
/// let search = Auto { data: &data, valid: None, spec: &spec, budget: Budget::Steps(2), refit: None };
/// let found = auto(&search, &(), &())?;
/// assert_eq!(found.tried.len(), 2);
/// assert!(found.model.tree_ensemble()?.n_trees() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn auto(search: &Auto<'_>, watch: &dyn AutoWatch, store: &dyn StepStore) -> Result<AutoRanker, TuneError> {
    let started = Instant::now();
    let params = search.spec.clone().check()?;
    let metric = &params.boosting().metric[0];
    if metric.kind().is_pooled() {
        return Err(EvalError::Pooled { metric: metric.as_str().to_owned() }.into());
    }
    if params.objective().objective == ObjectiveKind::Multiclass {
        return Err(TuneError::SeveralScores);
    }
    if params.boosting().learner == Learner::Dart {
        return Err(TuneError::Dropout);
    }
    if !params.boosting().learner.is_boosting() {
        return Err(TuneError::NotBoosting { learner: params.boosting().learner.render() });
    }
    let split = Split::new(search.data, search.valid, params.boosting().seed)?;
    let halves = Halves::new(split.valid(), metric, params.rules(), params.boosting().seed)?;
    let rows = portfolio::rows(search.spec, split.train().n_rows())?;
    let (max_steps, time) = match search.budget {
        Budget::Steps(steps) => (steps, None),
        Budget::Time(time) => (MAX_CYCLES * rows.len(), Some(time)),
    };
    let share = if search.refit.is_some() { SHARE_BEFORE_REFIT } else { 1.0 };
    let deadline = time.and_then(|time| started.checked_add(time.mul_f64(share)));
    let origin = Origin::new(VERSION, &params, split.train(), halves.data);
    let plan = Plan { train: split.train(), halves: &halves, rows: &rows, deadline, origin, watch, store };
    let members = plan.train(max_steps)?;
    let found = plan.conclude(&members, &params)?;
    let refitted = match search.refit.filter(|_| !watch.is_stopped()) {
        Some(data) => match plan.refit(&members, &found.choice, data) {
            // The search is over; what it found is kept.
            Err(TuneError::Interrupted) => None,
            refitted => Some((refitted?, data)),
        },
        None => None,
    };
    let is_interrupted = watch.is_stopped();
    let (model, whole) = match refitted {
        Some(refitted) => refitted,
        None => (combined(&members, &found.choice)?, plan.train),
    };
    Ok(AutoRanker {
        model: labelled(&model, &params, members.len(), &found.choice, whole)?,
        tried: (0..members.len()).map(|step| tried(&members[step], &halves, found.choice.factor(step))).collect(),
        rule: found.choice.rule,
        rungs: found.rungs,
        last_doubling: found.last_doubling,
        n_valid_queries: halves.data.n_queries(),
        n_train_queries: plan.train.n_queries(),
        is_interrupted,
    })
}

/// What is trained, and for how long.
struct Plan<'a> {
    train: &'a Dataset,
    halves: &'a Halves<'a>,
    rows: &'a [Row],
    deadline: Option<Instant>,
    origin: Origin,
    watch: &'a dyn AutoWatch,
    store: &'a dyn StepStore,
}

impl Plan<'_> {
    /// Trains the models.
    fn train(&self, max_steps: usize) -> Result<Vec<Arc<Member>>, TuneError> {
        let workers = Workers::for_training(self.train.n_rows(), self.train.n_features());
        let members = workers.run(max_steps, LAG, |step, seen| self.step(step, seen))?;
        if members.is_empty() {
            return Err(if self.watch.is_stopped() { TuneError::Interrupted } else { TuneError::NoTime });
        }
        Ok(members)
    }

    /// Whether the time is over or the user stopped the search.
    fn is_over(&self) -> bool {
        self.watch.is_stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Trains the model of a step, or loads it. It may look at the results of the steps that it sees.
    fn step(&self, step: usize, seen: &[Arc<Member>]) -> Result<Option<Member>, TuneError> {
        let (row, cycle) = self.row_of(step, seen);
        let name = row.name(cycle);
        if let Some(content) = self.store.load(step) {
            let member = read_step(&content, &self.origin, &name, self.halves);
            return member.map(Some).map_err(|source| TuneError::Step { step: step + 1, source });
        }
        if self.watch.is_stopped() || (step > 0 && self.is_over()) {
            return Ok(None);
        }
        let params = row.params(cycle)?;
        let best_before = seen
            .iter()
            .filter_map(|member| self.value(member))
            .reduce(|a, b| if self.halves.sign * a >= self.halves.sign * b { a } else { b });
        let step_run = Step {
            name,
            params: &params,
            train: self.train,
            halves: self.halves,
            best_before,
            deadline: self.deadline,
            keeps_unfinished: step == 0,
        };
        let member = step_run.run(self.watch);
        if let Some(member) = &member {
            // The first model is used as far as it was trained when all ends, but it is not a finished step.
            if step > 0 || !self.is_over() {
                self.store.save(step, &write_step(member, &self.origin));
            }
            self.watch.step_done(step, &tried(member, self.halves, None));
        }
        Ok(member)
    }

    /// The first cycle takes all rows in order. Each later cycle takes the best of those seen, each once, as long as there are
    /// any.
    fn row_of(&self, step: usize, seen: &[Arc<Member>]) -> (&Row, usize) {
        let n_rows = self.rows.len();
        if step < n_rows {
            return (&self.rows[step], 0);
        }
        let n_repeated = (REPEATED * n_rows as f64).ceil() as usize;
        let (cycle, place) = ((step - n_rows) / n_repeated, (step - n_rows) % n_repeated);
        let mut taken: Vec<usize> = Vec::new();
        for earlier in step - place..=step {
            let n_seen = (earlier + 1).saturating_sub(LAG).min(n_rows);
            let values = seen[..n_seen].iter().enumerate();
            let mut best: Vec<(usize, f64)> =
                values.filter_map(|(row, member)| Some((row, self.halves.sign * self.value(member)?))).collect();
            best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            // Of rows that are not seen yet, the first.
            let mut rows = best.iter().map(|(row, _)| *row).chain(0..n_rows);
            taken.push(rows.find(|row| !taken.contains(row)).unwrap_or(0));
        }
        (&self.rows[taken[place]], cycle + 1)
    }

    fn value(&self, member: &Member) -> Option<f64> {
        match &member.outcome {
            Outcome::Trained(trained) => Some(trained.value(self.halves)),
            Outcome::Dropped { .. } | Outcome::Failed { .. } => None,
        }
    }

    /// Chooses what to combine, and estimates what it is worth.
    fn conclude(&self, members: &[Arc<Member>], params: &TrainParams) -> Result<Conclusion, TuneError> {
        let places: Vec<usize> = (0..members.len()).filter(|step| trained(&members[*step]).is_some()).collect();
        let usable: Vec<&TrainedMember> = places.iter().filter_map(|step| trained(&members[*step])).collect();
        if usable.is_empty() {
            return Err(nothing_trained(members));
        }
        let n_usable = usable.len();
        let (metric, rules) = (&params.boosting().metric[0], params.rules());
        let pool = Pool::new(usable, self.halves, metric, rules)?;
        let mut choice = pool.choose(View::Both)?;
        if choice.members.is_empty() {
            return Err(TuneError::NoDifference);
        }
        let chosen = [pool.choose(View::First)?, pool.choose(View::Second)?];
        let random = random_order(self.halves.data, metric, rules)?;
        let mut rungs = vec![("random order".to_owned(), random.clone())];
        rungs.push((format!("{} alone", members[places[0]].name), pool.cross_fitted(pool.first(1))?));
        if n_usable > 1 {
            rungs.push(("best single model".into(), pool.cross_fitted(pool.by_rule(Rule::Best(1)))?));
            rungs.push((format!("mean of {n_usable} models"), pool.cross_fitted(pool.by_rule(Rule::All))?));
            rungs.push(("chosen combination".into(), pool.cross_fitted(|view| chosen[view as usize].clone())?));
        }
        let spec = IntervalSpec { seed: params.boosting().seed, ..IntervalSpec::default() };
        let estimate = Estimate { weights: pool.weights(), spec };
        let last_doubling = if n_usable >= 4 {
            let [half, all] = [n_usable / 2, n_usable].map(|n_members| pool.cross_fitted(pool.first(n_members)));
            Some(estimate.difference(&all?, &half?))
        } else {
            None
        };
        choice.members.iter_mut().for_each(|(place, _)| *place = places[*place]);
        Ok(Conclusion { choice, rungs: estimate.ladder(&rungs), last_doubling })
    }

    /// Trains the chosen models again, on all data.
    fn refit(&self, members: &[Arc<Member>], choice: &Choice, data: &Dataset) -> Result<Model, TuneError> {
        let workers = Workers::for_training(data.n_rows(), data.n_features());
        let n_jobs = choice.members.len();
        let models = workers.run(n_jobs, n_jobs, |job, _| {
            let (step, factor) = choice.members[job];
            let seen: Vec<Arc<Member>> = members[..(step + 1).saturating_sub(LAG)].to_vec();
            let (row, cycle) = self.row_of(step, &seen);
            let params = row.params(cycle)?;
            let rounds = trained(&members[step]).ok_or(TuneError::Refit)?.rounds();
            let mut stop = |progress: &Progress<'_>| {
                let is_done = progress.pass == Pass::Model && progress.round >= rounds;
                if is_done || self.watch.is_stopped() { Flow::Stop } else { Flow::Continue }
            };
            let model = Training::new(&params, data).run(&mut stop).map_err(|_| TuneError::Refit)?.model;
            Ok::<_, TuneError>((!self.watch.is_stopped()).then_some((factor, model)))
        })?;
        if models.len() < n_jobs {
            return Err(TuneError::Interrupted);
        }
        let terms: Vec<(f64, &Model)> = models.iter().map(|job| (job.0, &job.1)).collect();
        Ok(Model::weighted_sum(&terms)?)
    }
}

/// What was found out about the trained models.
struct Conclusion {
    /// Members are steps.
    choice: Choice,
    rungs: Vec<Rung>,
    last_doubling: Option<Difference>,
}

fn trained(member: &Member) -> Option<&TrainedMember> {
    match &member.outcome {
        Outcome::Trained(trained) => Some(trained),
        Outcome::Dropped { .. } | Outcome::Failed { .. } => None,
    }
}

/// The error if no model could be trained: the reason of the first.
fn nothing_trained(members: &[Arc<Member>]) -> TuneError {
    let problem = members.iter().find_map(|member| match &member.outcome {
        Outcome::Failed { problem } => Some(format!("{}: {problem}", member.name)),
        _ => None,
    });
    TuneError::NothingTrained { problem: problem.unwrap_or_default() }
}

/// The chosen models as one.
fn combined(members: &[Arc<Member>], choice: &Choice) -> Result<Model, TuneError> {
    let models = choice.members.iter().filter_map(|(step, factor)| Some((*factor, trained(&members[*step])?)));
    let models: Vec<(f64, Model)> = models
        .map(|(factor, member)| Ok((factor, member.best_model()?)))
        .collect::<Result<_, rankwise_model::ModelError>>()?;
    let terms: Vec<(f64, &Model)> = models.iter().map(|(factor, model)| (*factor, model)).collect();
    Ok(Model::weighted_sum(&terms)?)
}

/// The model with what it records about its origin.
fn labelled(
    model: &Model,
    params: &TrainParams,
    n_steps: usize,
    choice: &Choice,
    data: &Dataset,
) -> Result<Model, TuneError> {
    let metric = params.boosting().metric[0].as_str();
    let record = format!("steps={n_steps} combined={} metric={metric}", choice.members.len());
    let mut recorded: BTreeMap<String, String> =
        params.changed().into_iter().map(|setting| (setting.name.to_owned(), setting.value)).collect();
    recorded.insert("auto".into(), record);
    let trained_on = rankwise_train::trained_on(data);
    let header = Header { objective: "auto".into(), params: recorded, trained_on, ..model.header().clone() };
    Ok(Model::new(header, model.ranker().clone())?)
}

fn tried(member: &Member, halves: &Halves<'_>, factor: Option<f64>) -> Tried {
    let result = match &member.outcome {
        Outcome::Trained(trained) => {
            TriedResult::Trained { value: trained.value(halves), rounds: trained.rounds(), factor }
        }
        Outcome::Dropped { rounds, value } => TriedResult::Dropped { rounds: *rounds, value: *value },
        Outcome::Failed { problem } => TriedResult::Failed { problem: problem.clone() },
    };
    Tried { name: member.name.clone(), result }
}

/// Means with intervals.
struct Estimate<'a> {
    weights: &'a [f64],
    spec: IntervalSpec,
}

impl Estimate<'_> {
    fn summary(&self, values: &QueryValues) -> Summary {
        Summary { mean: values.mean(), interval: intervals(&[values], &self.spec)[0], n_queries: values.len() }
    }

    fn difference(&self, first: &Values, second: &Values) -> Difference {
        self.summary(&QueryValues::of_differences(first, second, self.weights))
    }

    fn ladder(&self, rungs: &[(String, Values)]) -> Vec<Rung> {
        let rung = |place: usize| {
            let (name, values) = &rungs[place];
            let against = |other: usize| (place > 0).then(|| self.difference(values, &rungs[other].1));
            Rung {
                name: name.clone(),
                summary: self.summary(&QueryValues::new(values, self.weights)),
                gain: against(place.saturating_sub(1)),
                over_random: against(0),
            }
        };
        (0..rungs.len()).map(rung).collect()
    }
}
