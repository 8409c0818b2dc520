//! The loop.

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use rankwise_data::{Absent, BinnedDataset, Dataset, SimdLevel};
use rankwise_model::{AbsentFeature, ExpectedGain, Model, Output, Precision, TrainedOn, Tree};
use rankwise_objectives::{Objective, Round};
use rankwise_params::{ParamError, ParamValue};
use rankwise_trees::{Derivative, GrowInput, Grower, GrownTree};

use crate::bagging::Bag;
use crate::checkpoint::{Best, Origin, Shape, State};
use crate::langevin::{Langevin, later_factors, shrinkage};
use crate::validation::Validation;
use crate::{
    Checkpoint, CheckpointError, Flow, MetricValue, Observer, Phases, Progress, StopReason, TrainError, TrainParams,
    ValidSet,
};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The model, cut after the best tree where there was a validation set.
    pub model: Model,
    /// Trees grown, those that were cut off included.
    pub trees_grown: usize,
    /// The metrics of the model on the validation sets.
    pub values: Vec<MetricValue>,
    /// The scores of the training documents after the last tree that was grown, in canonical order.
    pub train_scores: Vec<f64>,
    /// Why it ended.
    pub stopped: StopReason,
    /// Where the time went.
    pub phases: Phases,
}

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
    checkpoint: Option<Checkpoint>,
    simd: Option<SimdLevel>,
}

impl<'a> Training<'a> {
    /// A run over the data.
    pub fn new(params: &'a TrainParams, data: &'a Dataset) -> Self {
        Self { params, data, valid: &[], own_objective: None, checkpoint: None, simd: None }
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
        let origin = Origin::new(params, &objective_name, data, valid);
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
        let mut phases = Phases::default();
        let binned = timed(&mut phases.bin, || data.binned(params.binning()))?;
        if binned.n_features() == 0 {
            return Err(TrainError::NoFeatures);
        }
        let output = output_of(objective);
        let base_scores = output.base_scores(objective.base_score());
        let validation = timed(&mut phases.bin, || {
            let rules = (&params.boosting().metric[..], params.rules());
            let sets = valid.iter().map(|set| Validation::new(*set, &binned, rules, &base_scores));
            sets.collect::<Result<Vec<_>, _>>()
        })?;
        let grower = timed(&mut phases.bin, || Grower::new(&binned, params.trees(), params.boosting().seed, simd));
        let mut run = Run {
            params,
            data,
            binned: &binned,
            grower,
            bag: Bag::new(data, params.boosting()),
            weights: row_weights(params, data),
            scores: base_scores.iter().flat_map(|score| std::iter::repeat_n(*score, data.n_rows())).collect(),
            grad: vec![0.0; base_scores.len() * data.n_rows()],
            hess: vec![0.0; base_scores.len() * data.n_rows()],
            langevin: Langevin::new(params.boosting()),
            noisy_grad: Vec::new(),
            objective,
            output,
            objective_name,
            validation,
            origin,
            n_tried: 0,
            trees: Vec::new(),
            best: Best::default(),
            phases,
        };
        if let Some(Checkpoint(state)) = self.checkpoint {
            run.restore(state)?;
        }
        let stopped = run.boost(observer)?;
        Ok(run.finish(stopped, started.elapsed()))
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
fn output_of(objective: &dyn Objective) -> Output {
    objective.classes().map_or(Output::Sum, |classes| {
        Output::ExpectedGain(ExpectedGain { gains: classes.gains.clone(), base_scores: classes.base_scores.clone() })
    })
}

/// The weight of each row, where a step needs it in place of the second derivative.
fn row_weights(params: &TrainParams, data: &Dataset) -> Vec<f32> {
    let trees = params.trees();
    if trees.structure == Derivative::Newton && trees.leaf_estimation == Derivative::Newton {
        return Vec::new();
    }
    let by_query = |query: usize| data.query_rows(query).map(move |row| data.query_weight(query) * data.weight(row));
    (0..data.n_queries()).flat_map(by_query).collect()
}

struct Run<'a> {
    params: &'a TrainParams,
    data: &'a Dataset,
    binned: &'a BinnedDataset,
    objective: &'a dyn Objective,
    objective_name: String,
    output: Output,
    grower: Grower<'a>,
    bag: Bag<'a>,
    weights: Vec<f32>,
    /// Of the first output, then of the second, ...; so are the next two.
    scores: Vec<f64>,
    grad: Vec<f32>,
    hess: Vec<f32>,
    langevin: Option<Langevin>,
    /// The gradients with noise, where there is any.
    noisy_grad: Vec<f32>,
    validation: Vec<Validation<'a>>,
    origin: Origin,
    /// Rounds grown or tried in vain, of a tree for each output, and so the number of the next one.
    n_tried: usize,
    trees: Vec<Tree>,
    best: Best,
    phases: Phases,
}

impl Run<'_> {
    fn boost(&mut self, observer: &mut dyn Observer) -> Result<StopReason, TrainError> {
        // Another sample may find a split where this one has none.
        let may_differ = self.bag.is_sampled()
            || self.params.trees().feature_fraction < 1.0
            || self.params.trees().feature_fraction_bynode < 1.0
            || self.langevin.is_some();
        loop {
            // Here, since a run that goes on from its last tree must end as it did.
            if let Some(reason) = self.ending() {
                return Ok(reason);
            }
            self.shrink();
            timed(&mut self.phases.gradients, || {
                let round = Round { tree: self.n_tried as u32, seed: self.params.boosting().seed };
                let derivatives = (&mut self.grad[..], &mut self.hess[..]);
                rankwise_objectives::gradients(self.objective, self.data, round, &self.scores, derivatives);
            });
            if !self.grow_round() {
                if !may_differ {
                    return Ok(StopReason::NothingToLearn);
                }
                if self.is_shrinking() {
                    // They stand for their round, by whose number the trees before them shrink.
                    let empty = Tree::constant(0.0, self.data.n_rows() as u64);
                    self.trees.extend(std::iter::repeat_n(empty, self.output.n_outputs()));
                }
            }
            self.n_tried += 1;
            let values = self.measure()?;
            let progress = Progress {
                tree: self.n_tried,
                num_trees: self.params.boosting().num_trees,
                values: &values,
                best_tree: self.best.n_trees / self.output.n_outputs(),
                is_last: self.ending().is_some(),
                state: self.state(),
            };
            if observer.after_tree(&progress) == Flow::Stop {
                return Ok(StopReason::Interrupted);
            }
        }
    }

    fn is_shrinking(&self) -> bool {
        self.params.boosting().shrink_rate() > 0.0
    }

    /// Multiplies all scores before a tree; the trees themselves follow at the end.
    fn shrink(&mut self) {
        if self.is_shrinking() {
            let factor = shrinkage(self.params.boosting(), self.n_tried);
            let all = self.validation.iter_mut().map(|set| &mut set.scores).chain([&mut self.scores]);
            all.flatten().for_each(|score| *score *= factor);
        }
    }

    /// Why there is no next tree, if there is none.
    fn ending(&self) -> Option<StopReason> {
        let boosting = self.params.boosting();
        let patience = boosting.early_stopping_rounds;
        if patience > 0 && self.n_tried - self.best.iteration >= patience {
            Some(StopReason::EarlyStopping)
        } else {
            (self.n_tried >= boosting.num_trees).then_some(StopReason::Finished)
        }
    }

    /// Where the run stands.
    fn state(&self) -> State<'_> {
        State {
            origin: Cow::Borrowed(&self.origin),
            n_tried: self.n_tried,
            best: Cow::Borrowed(&self.best),
            trees: Cow::Borrowed(&self.trees),
            scores: Cow::Borrowed(&self.scores),
            valid_scores: self.validation.iter().map(|set| Cow::Borrowed(&set.scores[..])).collect(),
        }
    }

    /// Goes where another run of the same origin stood.
    fn restore(&mut self, state: State<'_>) -> Result<(), CheckpointError> {
        let valid_rows: Vec<usize> = self.validation.iter().map(|set| set.scores.len()).collect();
        let metrics = self.params.boosting().metric.len();
        let (rows, features) = (self.scores.len(), self.binned.n_features());
        let outputs = self.output.n_outputs();
        state.check_fit(&Shape { outputs, rows, features, valid_rows: &valid_rows, metrics })?;
        let num_trees = self.params.boosting().num_trees;
        if state.n_tried > num_trees {
            return Err(CheckpointError::TooFar { trees: state.n_tried, num_trees });
        }
        self.n_tried = state.n_tried;
        self.trees = state.trees.into_owned();
        self.scores = state.scores.into_owned();
        self.best = state.best.into_owned();
        // The sets may go by other names now.
        let names = self.validation.iter().flat_map(|set| std::iter::repeat_n(set.name, metrics));
        self.best.values.iter_mut().zip(names).for_each(|(value, name)| name.clone_into(&mut value.set));
        for (set, scores) in self.validation.iter_mut().zip(state.valid_scores) {
            set.scores = scores.into_owned();
        }
        Ok(())
    }

    /// Grows a tree for each output; whether one of them has a split. Then all are kept, so that trees and outputs stay in step.
    fn grow_round(&mut self) -> bool {
        let (n_trees, n_outputs) = (self.trees.len(), self.output.n_outputs());
        let mut has_split = false;
        for output in 0..n_outputs {
            let grown = self.grow(output);
            if grown.tree.n_leaves() > 1 {
                self.add(output, &grown);
                has_split = true;
            } else {
                self.trees.push(Tree::constant(0.0, grown.rows.len() as u64));
            }
        }
        if !has_split {
            self.trees.truncate(n_trees);
        }
        has_split
    }

    /// The documents' part of an output in scores and derivatives.
    fn plane(&self, output: usize) -> Range<usize> {
        let n_rows = self.data.n_rows();
        output * n_rows..(output + 1) * n_rows
    }

    fn grow(&mut self, output: usize) -> GrownTree {
        let (round, plane) = (self.n_tried as u32, self.plane(output));
        let tree = round * self.output.n_outputs() as u32 + output as u32;
        if let Some(langevin) = &self.langevin {
            langevin.add_noise(self.data, tree, &self.grad[plane.clone()], &mut self.noisy_grad);
        }
        let derivatives = |which: Derivative| match which {
            Derivative::Newton => &self.hess[plane.clone()],
            Derivative::Gradient => &self.weights[..],
        };
        let grown = self.grower.grow(&GrowInput {
            tree,
            structure_grad: if self.langevin.is_some() { &self.noisy_grad } else { &self.grad[plane.clone()] },
            leaf_grad: &self.grad[plane.clone()],
            structure_hess: derivatives(self.params.trees().structure),
            leaf_hess: derivatives(self.params.trees().leaf_estimation),
            rows: self.bag.rows(round),
            learning_rate: self.params.boosting().learning_rate,
            leaf_noise: self.langevin.map(|langevin| langevin.leaf_noise(tree)),
        });
        self.phases.histograms += grown.times.histograms;
        self.phases.splits += grown.times.splits;
        self.phases.partition += grown.times.partition;
        grown
    }

    /// Adds a tree of an output to the model and to all scores.
    fn add(&mut self, output: usize, grown: &GrownTree) {
        let plane = self.plane(output);
        timed(&mut self.phases.scores, || {
            let values = &grown.tree.parts().leaf_value;
            let scores = &mut self.scores[plane];
            for (rows, value) in grown.leaf_rows.iter().zip(values) {
                for row in &grown.rows[rows.clone()] {
                    scores[*row as usize] += value;
                }
            }
            // The tree has not seen the rows outside the bag: they walk it.
            if self.bag.is_sampled() {
                let mut in_bag = vec![false; scores.len()];
                grown.rows.iter().for_each(|row| in_bag[*row as usize] = true);
                for row in (0..in_bag.len()).filter(|row| !in_bag[*row]) {
                    scores[row] += values[grown.leaf_of(self.binned, row)];
                }
            }
        });
        timed(&mut self.phases.validation, || {
            self.validation.iter_mut().for_each(|validation| validation.add(output, grown));
        });
        self.trees.push(grown.tree.clone());
    }

    fn measure(&mut self) -> Result<Vec<MetricValue>, TrainError> {
        let values = timed(&mut self.phases.validation, || {
            self.validation.iter().map(|set| set.measure(&self.output)).collect::<Result<Vec<_>, _>>()
        })?
        .concat();
        if let Some(first) = values.first() {
            let kind = self.params.boosting().metric[0].kind();
            let is_better = self.best.values.first().is_none_or(|best| kind.is_better(first.value, best.value));
            if is_better {
                self.best = Best { iteration: self.n_tried, n_trees: self.trees.len(), values: values.clone() };
            }
        }
        Ok(values)
    }

    fn finish(mut self, stopped: StopReason, total: Duration) -> Trained {
        let trees_grown = self.trees.len();
        if !self.best.values.is_empty() {
            self.trees.truncate(self.best.n_trees);
        }
        let train_scores = self.output.scores(&self.scores).into_owned();
        let mut base_score = self.objective.base_score();
        if self.is_shrinking() {
            let n_outputs = self.output.n_outputs();
            let factors = later_factors(self.params.boosting(), self.trees.len() / n_outputs);
            let first = factors.first().copied().unwrap_or(1.0);
            base_score *= first;
            self.output.scale_base_scores(first);
            let scaled = self.trees.iter().enumerate().map(|(idx, tree)| tree.scaled(factors[idx / n_outputs]));
            self.trees = scaled.collect();
        }
        let (features, trees) = keep_used_features(self.binned.feature_ids(), &self.trees);
        let model = Model {
            objective: self.objective_name,
            params: self.params.changed().into_iter().map(|setting| (setting.name.to_owned(), setting.value)).collect(),
            trained_on: TrainedOn {
                fingerprint: format!("{:032x}", self.data.fingerprint()),
                rows: self.data.n_rows() as u64,
                queries: self.data.n_queries() as u64,
            },
            absent: match self.data.absent() {
                Absent::Missing => AbsentFeature::Missing,
                Absent::Zero => AbsentFeature::Zero,
            },
            precision: Precision::F32,
            base_score,
            output: self.output,
            feature_names: names_of(self.data, &features),
            features,
            trees,
        };
        self.phases.total = total;
        Trained { model, trees_grown, values: self.best.values, train_scores, stopped, phases: self.phases }
    }
}

/// The names of features, where the data has names.
fn names_of(data: &Dataset, features: &[u32]) -> Vec<String> {
    features.iter().filter_map(|feature| data.feature_name(*feature)).map(Into::into).collect()
}

/// The features that some tree asks for, and the trees with features numbered by that list.
fn keep_used_features(ids: &[u32], trees: &[Tree]) -> (Vec<u32>, Vec<Tree>) {
    let mut is_used = vec![false; ids.len()];
    trees.iter().flat_map(|tree| &tree.parts().feature).for_each(|feature| is_used[*feature as usize] = true);
    let used: Vec<usize> = (0..ids.len()).filter(|feature| is_used[*feature]).collect();
    let trees = trees
        .iter()
        .map(|tree| {
            let mut parts = tree.parts().clone();
            for feature in &mut parts.feature {
                *feature = used.binary_search(&(*feature as usize)).expect("every feature of a tree is used") as u32;
            }
            Tree::new(parts).expect("renumbering features keeps the shape")
        })
        .collect();
    (used.iter().map(|feature| ids[*feature]).collect(), trees)
}

fn timed<T>(phase: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *phase += started.elapsed();
    result
}
