//! Cutting planes (Teo et al., "Bundle methods for regularized risk minimization", 2010) for a convex loss R(w) that is
//! not smooth:
//!
//! ```text
//! R(w) >= a_k w + b_k                  a plane that touches R at the weights of iteration k
//! w = argmin |w|^2 / 2 + max_k (a_k w + b_k)
//!   = -sum alpha_k a_k, where the alphas maximise  sum alpha_k b_k - |sum alpha_k a_k|^2 / 2,  are >= 0 and sum to 1
//! ```
//!
//! The minimum under the planes is below the minimum of |w|^2 / 2 + R(w), and the best weights so far are above it, so
//! their distance says how far the best weights can be from the optimum.
//!
//! The minimum under few planes may be far off. So the best weights move along the line to it, as far as R falls, and the
//! next plane touches close to them (Franc and Sonnenburg, "Optimized cutting plane algorithm for support vector
//! machines", 2008).

use serde::{Deserialize, Serialize};

use super::OfScores;
use crate::learning::inputs::{Inputs, Reader};
use crate::learning::{Fitted, Learnt, Task};
use crate::{CheckpointError, TrainError};

/// Passes over the alphas in an iteration.
const MAX_PASSES: usize = 2000;
/// The alphas are good enough if no exchange between two of them gains more than this share of the objective.
const ALPHA_TOLERANCE: f64 = 1e-9;

/// Where the next plane touches, between the best weights and the minimum under the planes.
const SHARE_OF_MINIMUM: f64 = 0.1;
/// A step along a line is made shorter or longer by this power of two so often, until it is on the other side of the minimum.
const RESIZE: f64 = 8.0;
const RESIZES: i32 = 40;
/// Number of halvings of the interval with the minimum.
const HALVINGS: usize = 4;

/// A minimisation in progress.
pub(super) struct Bundle {
    reader: Reader,
    /// By set: the training data first.
    inputs: Vec<Inputs>,
    tolerance: f64,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// The slopes and heights of the planes.
    planes: Vec<(Vec<f64>, f64)>,
    alphas: Vec<f64>,
    /// Where the next plane touches.
    weights: Vec<f64>,
    best_weights: Vec<f64>,
    best_loss: f64,
    has_converged: bool,
}

impl Bundle {
    pub(super) fn new(task: &Task<'_>) -> Result<Self, TrainError> {
        let params = task.params.learner();
        let reader = Reader::new(task, params.is_log())?;
        let weights = vec![0.0; reader.n_features()];
        let state = State {
            planes: Vec::new(),
            alphas: Vec::new(),
            best_weights: weights.clone(),
            weights,
            best_loss: f64::INFINITY,
            has_converged: false,
        };
        let inputs = task.sets().map(|set| reader.inputs(set)).collect();
        Ok(Self { reader, inputs, tolerance: params.loss_tolerance(), state })
    }

    /// Adds a plane. R is `c` times a loss of scores.
    pub(super) fn step(&mut self, c: f64, loss: &dyn Fn(&[f64]) -> OfScores) -> Learnt {
        let Self { inputs, state, tolerance, .. } = self;
        if state.has_converged {
            return Learnt::Nothing;
        }
        let found = loss(&inputs[0].scores(&state.weights));
        let slopes: Vec<f64> = inputs[0].sums(&found.slopes).into_iter().map(|slope| c * slope).collect();
        let risk = c * found.loss;
        let total = dot(&state.weights, &state.weights) / 2.0 + risk;
        if total < state.best_loss {
            state.best_loss = total;
            state.best_weights.clone_from(&state.weights);
        }
        let height = risk - dot(&slopes, &state.weights);
        state.planes.push((slopes, height));
        state.alphas.push(if state.alphas.is_empty() { 1.0 } else { 0.0 });
        let bound = state.solve();
        let minimum = std::mem::take(&mut state.weights);
        state.descend(&inputs[0], &minimum, c, loss);
        let between = |(best, minimum): (&f64, &f64)| best + SHARE_OF_MINIMUM * (minimum - best);
        state.weights = state.best_weights.iter().zip(&minimum).map(between).collect();
        state.has_converged = state.best_loss - bound <= *tolerance * state.best_loss;
        Learnt::More
    }

    pub(super) fn scores(&self, set: usize) -> Vec<f64> {
        self.inputs[set].scores(&self.state.best_weights)
    }

    pub(super) fn fitted(&self) -> Result<Fitted, TrainError> {
        self.reader.ranker(&self.state.best_weights)
    }

    pub(super) fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.state).expect("numbers and lists always have a form")
    }

    pub(super) fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let state: State = postcard::from_bytes(bytes).map_err(|_| CheckpointError::inconsistent())?;
        let n_weights = self.reader.n_features();
        let fits = |list: &[f64]| list.len() == n_weights && list.iter().all(|number| number.is_finite());
        let is_whole = fits(&state.weights)
            && fits(&state.best_weights)
            && !state.best_loss.is_nan()
            && state.alphas.len() == state.planes.len()
            && state.alphas.iter().all(|alpha| (0.0..=1.0).contains(alpha))
            && state.planes.iter().all(|(slopes, height)| fits(slopes) && height.is_finite());
        if !is_whole {
            return Err(CheckpointError::inconsistent());
        }
        self.state = state;
        Ok(())
    }
}

impl State {
    /// Moves the best weights along the line to others, to where the loss is least.
    fn descend(&mut self, inputs: &Inputs, to: &[f64], c: f64, loss: &dyn Fn(&[f64]) -> OfScores) {
        let direction: Vec<f64> = self.best_weights.iter().zip(to).map(|(best, to)| to - best).collect();
        let (scores, changes) = (inputs.scores(&self.best_weights), inputs.scores(&direction));
        let (slope, curvature) = (dot(&self.best_weights, &direction), dot(&direction, &direction));
        let at = |step: f64| {
            let moved: Vec<f64> = scores.iter().zip(&changes).map(|(score, change)| score + step * change).collect();
            loss(&moved)
        };
        let rises = |step: f64| slope + step * curvature + c * dot(&at(step).slopes, &changes) > 0.0;
        let Some((mut low, mut high)) = bracket(rises) else { return };
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if rises(middle) { high = middle } else { low = middle }
        }
        let moved: Vec<f64> =
            self.best_weights.iter().zip(&direction).map(|(best, direction)| best + low * direction).collect();
        // Scores of the weights themselves, because those of the line are rounded in another way.
        let total = dot(&moved, &moved) / 2.0 + c * loss(&inputs.scores(&moved)).loss;
        if total < self.best_loss {
            (self.best_weights, self.best_loss) = (moved, total);
        }
    }

    /// Moves to the minimum under the planes, and returns it.
    fn solve(&mut self) -> f64 {
        let n_planes = self.planes.len();
        let products: Vec<f64> =
            self.planes.iter().flat_map(|(a, _)| self.planes.iter().map(move |(b, _)| dot(a, b))).collect();
        let product = |a: usize, b: usize| products[a * n_planes + b];
        // The gain of raising each alpha alone: its height minus its slope along the sum.
        let along = |alphas: &[f64], plane: usize| {
            alphas.iter().enumerate().map(|(other, alpha)| alpha * product(plane, other)).sum::<f64>()
        };
        let mut gains: Vec<f64> =
            (0..n_planes).map(|plane| self.planes[plane].1 - along(&self.alphas, plane)).collect();
        for _ in 0..MAX_PASSES * n_planes {
            // The largest gain, and among the alphas above 0 the smallest: the exchange that violates optimality most.
            let up = (0..n_planes).fold(0, |best, plane| if gains[plane] > gains[best] { plane } else { best });
            let used = (0..n_planes).filter(|plane| self.alphas[*plane] > 0.0);
            let Some(down) = used.reduce(|best, plane| if gains[plane] < gains[best] { plane } else { best }) else {
                break;
            };
            let violation = gains[up] - gains[down];
            let curvature = product(up, up) + product(down, down) - 2.0 * product(up, down);
            if violation <= ALPHA_TOLERANCE * self.best_loss.abs() || curvature <= 0.0 {
                break;
            }
            let moved = (violation / curvature).min(self.alphas[down]);
            self.alphas[up] = (self.alphas[up] + moved).min(1.0);
            self.alphas[down] = (self.alphas[down] - moved).max(0.0);
            for (plane, gain) in gains.iter_mut().enumerate() {
                *gain -= moved * (product(plane, up) - product(plane, down));
            }
        }
        self.weights.fill(0.0);
        for ((slopes, _), alpha) in self.planes.iter().zip(&self.alphas) {
            self.weights.iter_mut().zip(slopes).for_each(|(weight, slope)| *weight -= alpha * slope);
        }
        let heights: f64 = self.planes.iter().zip(&self.alphas).map(|((_, height), alpha)| alpha * height).sum();
        heights - dot(&self.weights, &self.weights) / 2.0
    }
}

/// Steps between which the loss stops falling; `None` if it falls nowhere. The minimum under one plane may be many orders
/// of magnitude too far.
fn bracket(rises: impl Fn(f64) -> bool) -> Option<(f64, f64)> {
    let steps = |ratio: f64| (0..RESIZES).map(move |n| ratio.powi(n));
    if rises(1.0) {
        let low = steps(1.0 / RESIZE).skip(1).find(|step| !rises(*step))?;
        return Some((low, low * RESIZE));
    }
    let high = steps(RESIZE).skip(1).find(|step| rises(*step))?;
    Some((high / RESIZE, high))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
