//! The boosting loop.

mod finish;

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use rankwise_data::{BinnedDataset, DataError, Documents, Share, SimdLevel};
use rankwise_model::{Output, Tree};
use rankwise_objectives::{Objective, Round, gradients, gradients_of};
use rankwise_trees::{Derivative, Derivatives, GrowInput, Grower, GrownTree};

pub use self::finish::Trained;
pub(crate) use self::finish::names_of;
use crate::bagging::Bag;
use crate::checkpoint::{Best, Origin, Shape, State};
use crate::ensemble::Ensemble;
use crate::gradient_sampling::GradientSampling;
use crate::langevin::{Langevin, shrinkage};
use crate::observe::InProgress;
use crate::selection::{Part, Selection};
use crate::start::Start;
use crate::step::{Step, slope_along};
use crate::validation::{OwnMetrics, Validation, measure_all};
use crate::{
    CheckpointError, Flow, MetricValue, Observer, Pass, Phases, Progress, StopReason, TrainError, TrainParams,
};

/// A run in progress.
pub(crate) struct Run<'a> {
    pub(crate) params: &'a TrainParams,
    pub(crate) data: &'a Documents,
    /// The same data, with the connection to other members.
    pub(crate) share: Share<'a>,
    pub(crate) binned: &'a BinnedDataset,
    pub(crate) objective: &'a dyn Objective,
    pub(crate) objective_name: String,
    /// The start model; its trees are not in `trees`.
    pub(crate) start: Option<Start<'a>>,
    pub(crate) base_score: f64,
    pub(crate) output: Output,
    pub(crate) grower: Grower<'a>,
    pub(crate) is_own_objective: bool,
    pub(crate) bag: Bag<'a>,
    pub(crate) selection: Option<Selection>,
    /// The selected documents, if not all.
    pub(crate) part: Option<Part>,
    pub(crate) gradient_sampling: Option<GradientSampling>,
    pub(crate) weights: Vec<f32>,
    /// All documents for the first output, then for the second, ...; the next two have the same layout.
    pub(crate) scores: Vec<f64>,
    pub(crate) grad: Vec<f32>,
    pub(crate) hess: Vec<f32>,
    pub(crate) simd: SimdLevel,
    pub(crate) step: Option<Step>,
    pub(crate) langevin: Option<Langevin>,
    /// The gradients with noise, if there is any.
    pub(crate) noisy_grad: Vec<f32>,
    pub(crate) validation: Vec<Validation<'a>>,
    pub(crate) origin: Origin,
    pub(crate) own_metrics: OwnMetrics<'a>,
    /// One per round; empty for the parameter.
    pub(crate) learning_rates: &'a [f64],
    /// Whether the last round counts as the best one.
    pub(crate) keeps_all_rounds: bool,
    /// Rounds so far, with or without a split, and so the number of the next one. A round has one tree per output.
    pub(crate) n_tried: usize,
    /// Without later factors.
    pub(crate) trees: Vec<Tree>,
    pub(crate) ensemble: Ensemble,
    /// The factor of each round in `trees`; empty if all are 1.
    pub(crate) factors: Vec<f64>,
    pub(crate) best: Best,
    /// The metrics after each round, after those of the start model, if any: for the first set, then for the second,
    /// ...
    pub(crate) history: Vec<f64>,
    pub(crate) phases: Phases,
}

impl Run<'_> {
    /// Grows trees until there is a reason to stop.
    pub(crate) fn boost(&mut self, observer: &mut dyn Observer) -> Result<StopReason, TrainError> {
        // Another sample may allow a split where this one does not.
        let may_differ = self.bag.is_sampled()
            || self.selection.is_some()
            || self.gradient_sampling.is_some()
            || self.params.trees().feature_fraction < 1.0
            || self.params.trees().feature_fraction_bynode < 1.0
            || self.langevin.is_some()
            || self.ensemble.has_factors();
        if self.start.is_some() && self.n_tried == 0 {
            // The start model alone may be the best one.
            self.measure()?;
        }
        loop {
            // Checked here, because a run resumed after its last tree must end the same way.
            if let Some(reason) = self.ending() {
                return Ok(reason);
            }
            self.shrink();
            self.drop_trees();
            self.compute_gradients();
            if !self.grow_round() {
                if !may_differ {
                    return Ok(StopReason::NothingToLearn);
                }
                if self.is_shrinking() {
                    // Constant trees keep the place of this round, because shrinkage of earlier trees depends on the
                    // round number.
                    let empty = Tree::constant(0.0, self.share.all_rows() as u64);
                    self.trees.extend(std::iter::repeat_n(empty, self.output.n_outputs()));
                }
            }
            self.n_tried += 1;
            let values = self.measure()?;
            if let Some(problem) = self.share.reduce.failure() {
                return Err(DataError::MembersLost { problem }.into());
            }
            let progress = Progress {
                pass: Pass::Model,
                round: self.n_tried,
                num_rounds: self.params.boosting().num_trees,
                values: &values,
                best_round: self.best.n_trees / self.output.n_outputs(),
                is_last: self.ending().is_some(),
                run: InProgress::Boosting { output: &self.output, state: Box::new(self.state()) },
            };
            if self.share.any(observer.after_round(&progress) == Flow::Stop) {
                return Ok(StopReason::Interrupted);
            }
        }
    }

    /// Computes the gradients and Hessians of all documents, or of the selected ones.
    pub(crate) fn compute_gradients(&mut self) {
        let started = Instant::now();
        let round = self.round();
        if let Some(selection) = self.selection.filter(|selection| selection.is_due(round)) {
            let scores = self.ensemble.scores().unwrap_or(&self.scores);
            let rows = selection.rows(self.data, &self.output.scores(scores), round);
            self.part = self.part_of(rows);
        }
        self.fill_gradients(Reach::Sample);
        if let Some(sampling) = &mut self.gradient_sampling {
            sampling.draw(&self.share, round, (&mut self.grad, &mut self.hess), &self.weights);
        }
        self.phases.gradients += started.elapsed();
    }

    /// Computes gradients and Hessians at the scores that the next tree learns from.
    fn fill_gradients(&mut self, reach: Reach) {
        let round = Round { tree: self.round(), seed: self.params.boosting().seed };
        let derivatives = (&mut self.grad[..], &mut self.hess[..]);
        let scores = self.ensemble.scores().unwrap_or(&self.scores);
        match (&mut self.part, reach) {
            (Some(part), _) => part.gradients(self.objective, round, scores, derivatives, self.output.n_outputs()),
            (None, Reach::Sample) => {
                let has_query = self.bag.has_query(round.tree);
                gradients_of(self.objective, self.data, has_query, round, scores, derivatives);
            }
            (None, Reach::All) => gradients(self.objective, self.data, round, scores, derivatives),
        }
    }

    /// Scales the new tree of an output by the step.
    fn scale_by_step(&mut self, output: usize, grown: &mut GrownTree) {
        let Some(step) = self.step.clone() else { return };
        let started = Instant::now();
        let mut direction = vec![0.0; self.data.n_rows()];
        self.grower.add_grown(output, &grown.tree, &mut direction);
        if self.part.is_some() {
            // Documents that are not selected have no gradient in this round.
            self.grad.fill(0.0);
        }
        let (share, learning_rate) = (self.share.clone(), self.learning_rate());
        let start = self.scores.clone();
        let factor = step.factor(&share, (&start, &direction), learning_rate, |at| {
            self.scores
                .iter_mut()
                .zip(&start)
                .zip(&direction)
                .for_each(|((score, start), step)| *score = start + at * step);
            self.fill_gradients(Reach::All);
            slope_along(&share, &self.grad, &direction)
        });
        self.scores = start;
        grown.tree = grown.tree.scaled(factor);
        self.phases.gradients += started.elapsed();
    }

    /// The given rows as seen by the objective; `None` if these are all rows.
    pub(crate) fn part_of(&self, rows: Vec<u32>) -> Option<Part> {
        let is_part = self.share.any(rows.len() < self.data.n_rows());
        is_part.then(|| Part::new(self.params, &self.share, rows, self.is_own_objective, self.simd))
    }

    /// The learning rate of the next round.
    fn learning_rate(&self) -> f64 {
        let scheduled = self.learning_rates.get(self.n_tried).or(self.learning_rates.last());
        scheduled.copied().unwrap_or(self.params.boosting().learning_rate)
    }

    fn is_shrinking(&self) -> bool {
        self.params.boosting().shrink_rate() > 0.0
    }

    /// Shrinks all scores before a tree; the trees themselves are scaled at the end.
    fn shrink(&mut self) {
        if self.is_shrinking() {
            let factor = shrinkage(self.params.boosting(), self.n_tried);
            let all = self.validation.iter_mut().map(|set| &mut set.scores).chain([&mut self.scores]);
            all.flatten().for_each(|score| *score *= factor);
        }
    }

    /// The reason to stop, if there is one.
    fn ending(&self) -> Option<StopReason> {
        let boosting = self.params.boosting();
        let patience = boosting.early_stopping_rounds;
        if patience > 0 && self.n_tried - self.best.iteration >= patience {
            Some(StopReason::EarlyStopping)
        } else {
            (self.n_tried >= boosting.num_trees).then_some(StopReason::Finished)
        }
    }

    /// The state of the run.
    fn state(&self) -> State<'_> {
        State {
            origin: Cow::Borrowed(&self.origin),
            n_tried: self.n_tried,
            best: Cow::Borrowed(&self.best),
            history: Cow::Borrowed(&self.history),
            trees: Cow::Borrowed(&self.trees),
            factors: Cow::Borrowed(&self.factors),
            scores: Cow::Borrowed(&self.scores),
            valid_scores: self.validation.iter().map(|set| Cow::Borrowed(&set.scores[..])).collect(),
            selected: self.part.as_ref().map_or(Cow::Borrowed(&[]), |part| Cow::Borrowed(&part.rows)),
        }
    }

    /// Restores the state of another run with the same origin.
    pub(crate) fn restore(&mut self, state: State<'_>) -> Result<(), CheckpointError> {
        let valid_rows: Vec<usize> = self.validation.iter().map(|set| set.scores.len()).collect();
        let metrics = self.params.boosting().metric.len() + self.own_metrics.metrics.len();
        let (rows, features) = (self.scores.len(), self.binned.n_features());
        let outputs = self.output.n_outputs();
        let (has_factors, has_start) = (self.ensemble.has_factors(), self.start.is_some());
        let shape = Shape { outputs, rows, features, valid_rows: &valid_rows, metrics, has_factors, has_start };
        state.check_fit(&shape)?;
        let num_trees = self.params.boosting().num_trees;
        if state.n_tried > num_trees {
            return Err(CheckpointError::TooFar { trees: state.n_tried, num_trees });
        }
        self.n_tried = state.n_tried;
        self.trees = state.trees.into_owned();
        self.factors = state.factors.into_owned();
        self.scores = state.scores.into_owned();
        self.best = state.best.into_owned();
        self.history = state.history.into_owned();
        self.part = if state.selected.is_empty() { None } else { self.part_of(state.selected.into_owned()) };
        // The sets may have other names now.
        let names = self.validation.iter().flat_map(|set| std::iter::repeat_n(set.set.name, metrics));
        self.best.values.iter_mut().zip(names).for_each(|(value, name)| name.clone_into(&mut value.set));
        for (set, scores) in self.validation.iter_mut().zip(state.valid_scores) {
            set.scores = scores.into_owned();
        }
        Ok(())
    }

    /// Grows a tree for each output, and returns whether any has a split. If so, all are kept, because every round
    /// needs a tree for each output.
    fn grow_round(&mut self) -> bool {
        let round: Vec<GrownTree> = (0..self.output.n_outputs()).map(|output| self.grow(output)).collect();
        let has_split = |grown: &GrownTree| grown.tree.n_leaves() > 1;
        if !round.iter().any(has_split) {
            return false;
        }
        let factor = self.make_room();
        for (output, mut grown) in round.into_iter().enumerate() {
            if has_split(&grown) {
                self.scale_by_step(output, &mut grown);
                self.add(output, grown.tree, factor);
            } else {
                self.trees.push(Tree::constant(0.0, grown.n_rows));
            }
        }
        true
    }

    /// The round number for random draws. It includes the rounds of a start model, so that new trees do not repeat the
    /// draws of its trees.
    pub(crate) fn round(&self) -> u32 {
        let start = self.start.map_or(0, |start| start.ensemble.n_trees() / self.output.n_outputs());
        (start + self.n_tried) as u32
    }

    /// The range of an output in scores, gradients and Hessians.
    fn plane(&self, output: usize) -> Range<usize> {
        let n_rows = self.data.n_rows();
        output * n_rows..(output + 1) * n_rows
    }

    fn grow(&mut self, output: usize) -> GrownTree {
        let (round, plane) = (self.round(), self.plane(output));
        let learning_rate = if self.ensemble.is_forest() { 1.0 } else { self.learning_rate() };
        let tree = round * self.output.n_outputs() as u32 + output as u32;
        if let Some(langevin) = &self.langevin {
            langevin.add_noise(self.data, tree, &self.grad[plane.clone()], &mut self.noisy_grad);
        }
        let (rows, weights) = match (&self.gradient_sampling, &self.part) {
            (Some(sampling), _) => (&sampling.rows[..], &sampling.weights[..]),
            (None, Some(part)) => (&part.rows[..], &self.weights[..]),
            (None, None) => (self.bag.rows(round), &self.weights[..]),
        };
        let second = |which: Derivative| match which {
            Derivative::Newton => &self.hess[plane.clone()],
            Derivative::Gradient => weights,
        };
        let (trees, grad) = (self.params.trees(), &self.grad[plane.clone()]);
        let structure_grad = if self.langevin.is_some() { &self.noisy_grad } else { grad };
        let grown = self.grower.grow(&GrowInput {
            tree,
            output,
            num_leaves: trees.leaves_of(round as usize),
            structure: Derivatives { grad: structure_grad, hess: second(trees.structure) },
            leaves: Derivatives { grad, hess: second(trees.leaf_estimation) },
            rows,
            learning_rate,
            leaf_noise: self.langevin.map(|langevin| langevin.leaf_noise(tree)),
        });
        self.phases.histograms += grown.times.histograms;
        self.phases.splits += grown.times.splits;
        self.phases.partition += grown.times.partition;
        grown
    }

    /// Adds a tree of an output to the model, and adds `factor` times the tree to all scores.
    fn add(&mut self, output: usize, tree: Tree, factor: f64) {
        self.trees.push(tree);
        if factor != 1.0 {
            return self.add_multiple(output, self.trees.len() - 1, factor);
        }
        let plane = self.plane(output);
        let tree = &self.trees[self.trees.len() - 1];
        timed(&mut self.phases.scores, || self.grower.add_grown(output, tree, &mut self.scores[plane]));
        timed(&mut self.phases.validation, || {
            self.validation.iter_mut().for_each(|set| set.add(output, tree, 1.0, self.simd));
        });
    }

    fn measure(&mut self) -> Result<Vec<MetricValue>, TrainError> {
        let started = Instant::now();
        let scored = self.validation.iter().map(|valid| (&valid.set, self.output.scores(&valid.scores)));
        let measured = measure_all(scored, self.own_metrics, &self.params.boosting().metric)?;
        self.phases.validation += started.elapsed();
        self.history.extend(measured.values.iter().map(|value| value.value));
        let is_best = measured.is_better_than(&self.best.values);
        if is_best || (self.keeps_all_rounds && !measured.values.is_empty()) {
            let (n_trees, factors) = (self.trees.len(), self.factors.clone());
            self.best = Best { iteration: self.n_tried, n_trees, factors, values: measured.values.clone() };
        }
        Ok(measured.values)
    }
}

/// The queries that need gradients.
#[derive(Clone, Copy)]
enum Reach {
    /// The queries in the sample of the tree.
    Sample,
    /// All queries.
    All,
}

/// Runs `work` and adds its time to a phase.
pub(crate) fn timed<T>(phase: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    *phase += started.elapsed();
    result
}
