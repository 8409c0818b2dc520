//! Linear rankers that minimise an objective, by L-BFGS:
//!
//! ```text
//! |w|^2 / 2 + c * (loss of all queries)
//! ```
//!
//! Objectives that have gradients but no loss ([`rankwise_objectives::loss`]), such as LambdaRank's, are followed as if
//! they had one: near the weights w0 of the last iteration, where its gradient was g0, the loss at w with the gradient g
//! is taken to have grown by (w - w0) (g0 + g) / 2. For a smooth loss that is its growth up to the third order of w - w0.

use rankwise_data::{Dataset, Documents};
use rankwise_objectives::{Objective, Round, gradients};

use super::inputs::{Inputs, Reader};
use super::lbfgs::{Lbfgs, Point};
use super::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, LearnerParams, TrainError};

/// What `c=auto` is for one query.
const C_OF_QUERIES: f64 = 100.0;
/// What `tolerance=auto` is for a loss.
const LOSS_TOLERANCE: f64 = 1e-6;

impl LearnerParams {
    /// The weight of the loss for this data.
    pub(crate) fn c_for(&self, data: &Documents) -> f64 {
        self.c.unwrap_or(C_OF_QUERIES / data.n_queries().max(1) as f64)
    }

    /// The share of the loss by which it has to fall.
    pub(crate) fn loss_tolerance(&self) -> f64 {
        self.tolerance.unwrap_or(LOSS_TOLERANCE)
    }

    /// Whether values are replaced by their logarithms, where that is not the default.
    pub(crate) fn is_log(&self) -> bool {
        self.log1p.unwrap_or(false)
    }
}

/// A minimisation by the weights of inputs: what RankSVM and the linear rankers of objectives share.
pub(crate) struct Descent {
    reader: Reader,
    /// By set: the training data first.
    inputs: Vec<Inputs>,
    lbfgs: Lbfgs,
    tolerance: f64,
    /// Whether the last step fell short of the tolerance.
    has_converged: bool,
}

impl Descent {
    pub(crate) fn new(task: &Task<'_>) -> Result<Self, TrainError> {
        let params = task.params.learner();
        let reader = Reader::new(task, params.is_log())?;
        let inputs = task.sets().map(|set: &Dataset| reader.inputs(set)).collect();
        let lbfgs = Lbfgs::new(reader.n_features());
        Ok(Self { reader, inputs, lbfgs, tolerance: params.loss_tolerance(), has_converged: false })
    }

    /// Goes one iteration further down the loss, a function of the training inputs and the weights.
    pub(crate) fn descend(&mut self, loss: &dyn Fn(&Inputs, &[f64]) -> Point) -> Learnt {
        if self.has_converged {
            return Learnt::Nothing;
        }
        let Self { inputs, lbfgs, tolerance, has_converged, .. } = self;
        let fall = lbfgs.step(&|weights: &[f64]| loss(&inputs[0], weights));
        *has_converged = fall.is_some_and(|fall| fall < *tolerance);
        if fall.is_some() { Learnt::More } else { Learnt::Nothing }
    }

    /// [`Self::descend`] where the losses of points mean nothing, only their gradients.
    pub(crate) fn follow(&mut self, gradient: &dyn Fn(&Inputs, &[f64]) -> Vec<f64>) -> Learnt {
        let Self { inputs, lbfgs, .. } = self;
        let start = lbfgs.weights.clone();
        let first = gradient(&inputs[0], &start);
        lbfgs.set_point(Point { loss: 0.0, gradient: first.clone() });
        let grown = |weights: &[f64]| {
            let gradient = gradient(&inputs[0], weights);
            let slopes = gradient.iter().zip(&first).map(|(gradient, first)| f64::midpoint(*gradient, *first));
            let moves = weights.iter().zip(&start).map(|(weight, start)| weight - start);
            Point { loss: slopes.zip(moves).map(|(slope, by)| slope * by).sum(), gradient }
        };
        if lbfgs.step(&grown).is_some() { Learnt::More } else { Learnt::Nothing }
    }

    pub(crate) fn scores(&self, set: usize) -> Vec<f64> {
        self.inputs[set].scores(&self.lbfgs.weights)
    }

    pub(crate) fn fitted(&self) -> Result<Fitted, TrainError> {
        self.reader.ranker(&self.lbfgs.weights)
    }

    pub(crate) fn save(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.has_converged)];
        bytes.extend(self.lbfgs.save());
        bytes
    }

    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let (has_converged, rest) = bytes.split_first().ok_or_else(CheckpointError::inconsistent)?;
        self.lbfgs.load(rest)?;
        self.has_converged = *has_converged != 0;
        Ok(())
    }
}

/// Half the squared length of the weights plus `c` times a loss of scores, with its gradient.
pub(crate) fn regularised(inputs: &Inputs, weights: &[f64], c: f64, loss: f64, of_scores: &[f64]) -> Point {
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    let slopes = inputs.sums(of_scores);
    let gradient = weights.iter().zip(slopes).map(|(weight, slope)| weight + c * slope).collect();
    Point { loss: squares / 2.0 + c * loss, gradient }
}

/// A linear ranker of the parameters' objective.
pub(crate) struct Linear<'a> {
    descent: Descent,
    of: OfObjective<'a>,
    has_loss: bool,
    n_rounds: u32,
}

/// The objective as a function of scores.
#[derive(Clone, Copy)]
struct OfObjective<'a> {
    objective: &'a dyn Objective,
    data: &'a Documents,
    c: f64,
    seed: u64,
}

impl<'a> Linear<'a> {
    pub(crate) fn new(task: Task<'a>) -> Result<Self, TrainError> {
        let descent = Descent::new(&task)?;
        let of = OfObjective {
            objective: task.objective.expect("linear rankers have an objective"),
            data: task.train,
            c: task.params.learner().c_for(task.train),
            seed: task.params.boosting().seed,
        };
        let has_loss = of.loss(&vec![0.0; task.train.n_rows()], 0).is_some();
        Ok(Self { descent, of, has_loss, n_rounds: 0 })
    }
}

impl OfObjective<'_> {
    fn round(&self, n_rounds: u32) -> Round {
        Round { tree: n_rounds, seed: self.seed }
    }

    fn loss(&self, scores: &[f64], n_rounds: u32) -> Option<f64> {
        rankwise_objectives::loss(self.objective, self.data, self.round(n_rounds), scores)
    }

    /// The regularised loss at some weights; 0 for the loss of an objective without one.
    fn at(&self, inputs: &Inputs, weights: &[f64], n_rounds: u32) -> Point {
        let scores = inputs.scores(weights);
        let (mut grad, mut hess) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
        gradients(self.objective, self.data, self.round(n_rounds), &scores, (&mut grad, &mut hess));
        let grad: Vec<f64> = grad.into_iter().map(f64::from).collect();
        regularised(inputs, weights, self.c, self.loss(&scores, n_rounds).unwrap_or(0.0), &grad)
    }
}

impl Learning for Linear<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        let (of, n_rounds) = (self.of, self.n_rounds);
        self.n_rounds += 1;
        Ok(if self.has_loss {
            // The same function in all rounds.
            self.descent.descend(&|inputs, weights| of.at(inputs, weights, 0))
        } else {
            self.descent.follow(&|inputs, weights| of.at(inputs, weights, n_rounds).gradient)
        })
    }

    fn scores(&self, set: usize) -> Vec<f64> {
        self.descent.scores(set)
    }

    fn fitted(&self) -> Result<Fitted, TrainError> {
        self.descent.fitted()
    }

    fn save(&self) -> Vec<u8> {
        let mut bytes = self.n_rounds.to_le_bytes().to_vec();
        bytes.extend(self.descent.save());
        bytes
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let (n_rounds, rest) = bytes.split_first_chunk().ok_or_else(CheckpointError::inconsistent)?;
        self.descent.load(rest)?;
        self.n_rounds = u32::from_le_bytes(*n_rounds);
        Ok(())
    }
}
