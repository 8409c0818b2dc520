//! L-BFGS, one iteration at a time, in a form that can be saved. The optimiser is that of the `argmin` crate, with the line
//! search of Moré and Thuente.

use std::cell::RefCell;

use argmin::core::{CostFunction, Error, Gradient, IterState, Problem, Solver, State as _};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::quasinewton::LBFGS;
use serde::{Deserialize, Serialize};

use crate::CheckpointError;

/// Number of earlier steps that an iteration looks at.
const MEMORY: usize = 10;
/// Bounds of a step, relative to its direction: those of the search's author, but finite.
const SMALLEST_STEP: f64 = 1e-20;
const LARGEST_STEP: f64 = 1e20;

/// A loss of weights with a gradient.
pub(crate) trait Smooth {
    /// The loss and its gradient.
    fn at(&self, weights: &[f64]) -> Point;
}

impl<F: Fn(&[f64]) -> Point> Smooth for F {
    fn at(&self, weights: &[f64]) -> Point {
        self(weights)
    }
}

/// A loss with its gradient.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) loss: f64,
    pub(crate) gradient: Vec<f64>,
}

type Search = MoreThuenteLineSearch<Vec<f64>, Vec<f64>, f64>;
type Optimiser = LBFGS<Search, Vec<f64>, Vec<f64>, f64>;
type Iteration = IterState<Vec<f64>, Vec<f64>, (), (), (), f64>;

/// A minimisation in progress.
pub(crate) struct Lbfgs {
    optimiser: Optimiser,
    /// Iterations since the memory was empty.
    n_iterations: u64,
    pub(crate) weights: Vec<f64>,
    /// The loss at the weights; `None` before the first iteration.
    point: Option<Point>,
}

/// What is saved of it.
#[derive(Serialize, Deserialize)]
struct Saved {
    optimiser: Optimiser,
    n_iterations: u64,
    weights: Vec<f64>,
    point: Option<Point>,
}

impl Lbfgs {
    /// Begins at weights of 0.
    pub(crate) fn new(n_weights: usize) -> Self {
        Self { optimiser: optimiser(), n_iterations: 0, weights: vec![0.0; n_weights], point: None }
    }

    /// Sets the loss at the current weights and its gradient, if they are not those of the last iteration.
    pub(crate) fn set_point(&mut self, point: Point) {
        self.point = Some(point);
    }

    /// Goes one iteration further. Returns by which share of itself the loss fell, `None` if no step lowers it.
    pub(crate) fn step(&mut self, loss: &dyn Smooth) -> Option<f64> {
        let before = match self.point.take() {
            Some(point) => point,
            None => loss.at(&self.weights),
        };
        let fall = self.try_step(loss, &before).or_else(|| {
            // Steps of another region may mislead: once more along the gradient.
            let has_memory = std::mem::take(&mut self.n_iterations) > 0;
            self.optimiser = optimiser();
            if has_memory { self.try_step(loss, &before) } else { None }
        });
        self.point.get_or_insert(before);
        fall
    }

    fn try_step(&mut self, loss: &dyn Smooth, before: &Point) -> Option<f64> {
        let mut problem = Problem::new(Cached { loss, last: RefCell::new(None) });
        let mut state =
            Iteration::new().param(self.weights.clone()).cost(before.loss).gradient(before.gradient.clone());
        state.iter = self.n_iterations;
        let (mut state, _) = self.optimiser.next_iter(&mut problem, state).ok()?;
        let (weights, gradient, after) = (state.take_param()?, state.take_gradient()?, state.get_cost());
        let is_finite = after.is_finite() && weights.iter().chain(&gradient).all(|number| number.is_finite());
        if !is_finite || after >= before.loss {
            return None;
        }
        self.n_iterations += 1;
        self.weights = weights;
        self.point = Some(Point { loss: after, gradient });
        Some((before.loss - after) / before.loss.abs().max(f64::MIN_POSITIVE))
    }

    pub(crate) fn save(&self) -> Vec<u8> {
        let saved = Saved {
            optimiser: self.optimiser.clone(),
            n_iterations: self.n_iterations,
            weights: self.weights.clone(),
            point: self.point.clone(),
        };
        postcard::to_stdvec(&saved).expect("numbers, strings and lists always have a form")
    }

    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let saved: Saved = postcard::from_bytes(bytes).map_err(|_| CheckpointError::inconsistent())?;
        let n_weights = self.weights.len();
        let has_room = |list: &[f64]| list.len() == n_weights && list.iter().all(|number| number.is_finite());
        let is_point = |point: &Point| point.loss.is_finite() && has_room(&point.gradient);
        let fits = has_room(&saved.weights)
            && saved.point.as_ref().is_none_or(is_point)
            && memory_fits(&saved.optimiser, n_weights);
        if !fits {
            return Err(CheckpointError::inconsistent());
        }
        self.optimiser = saved.optimiser;
        self.n_iterations = saved.n_iterations;
        self.weights = saved.weights;
        self.point = saved.point;
        Ok(())
    }
}

fn optimiser() -> Optimiser {
    let search = MoreThuenteLineSearch::new().with_bounds(SMALLEST_STEP, LARGEST_STEP);
    LBFGS::new(search.expect("the bounds are in order"), MEMORY)
}

/// Whether the steps in memory have this many weights. They are private to the optimiser, so it is asked for their JSON.
fn memory_fits(optimiser: &Optimiser, n_weights: usize) -> bool {
    let steps = |value: &serde_json::Value, name: &str| {
        let steps = value.get(name)?.as_array()?;
        let fits = |step: &serde_json::Value| step.as_array().is_some_and(|step| step.len() == n_weights);
        (steps.len() <= MEMORY && steps.iter().all(fits)).then_some(steps.len())
    };
    let Ok(value) = serde_json::to_value(optimiser) else { return false };
    steps(&value, "s").is_some_and(|n_steps| steps(&value, "y") == Some(n_steps))
}

/// The optimiser asks for the loss and then for its gradient at the same place.
struct Cached<'a> {
    loss: &'a dyn Smooth,
    last: RefCell<Option<(Vec<f64>, Point)>>,
}

impl Cached<'_> {
    fn at<T>(&self, weights: &[f64], take: impl FnOnce(&Point) -> T) -> T {
        let mut last = self.last.borrow_mut();
        match &*last {
            Some((at, point)) if at == weights => take(point),
            _ => {
                let point = self.loss.at(weights);
                take(&last.insert((weights.to_vec(), point)).1)
            }
        }
    }
}

impl CostFunction for Cached<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, weights: &Vec<f64>) -> Result<f64, Error> {
        Ok(self.at(weights, |point| point.loss))
    }
}

impl Gradient for Cached<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, weights: &Vec<f64>) -> Result<Vec<f64>, Error> {
        Ok(self.at(weights, |point| point.gradient.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's function of two weights: a curved valley with its bottom at (1, 1).
    struct Valley;

    impl Smooth for Valley {
        fn at(&self, weights: &[f64]) -> Point {
            let [x, y] = [weights[0], weights[1]];
            let (a, b) = (1.0 - x, y - x * x);
            Point { loss: a * a + 100.0 * b * b, gradient: vec![-2.0 * a - 400.0 * x * b, 200.0 * b] }
        }
    }

    fn minimised(mut lbfgs: Lbfgs, saves: bool) -> (Vec<u64>, usize) {
        let mut n_steps = 0;
        while let Some(fall) = lbfgs.step(&Valley) {
            assert!(fall > 0.0);
            n_steps += 1;
            if saves {
                let mut other = Lbfgs::new(2);
                other.load(&lbfgs.save()).unwrap();
                lbfgs = other;
            }
        }
        (lbfgs.weights.iter().map(|weight| weight.to_bits()).collect(), n_steps)
    }

    #[test]
    fn the_bottom_of_a_valley_is_found() {
        let (weights, n_steps) = minimised(Lbfgs::new(2), false);
        assert!(weights.iter().all(|bits| (f64::from_bits(*bits) - 1.0).abs() < 1e-6), "{weights:?}");
        assert!(n_steps < 60, "{n_steps}");
    }

    #[test]
    fn a_saved_run_goes_on_as_if_it_had_not_been_saved() {
        assert_eq!(minimised(Lbfgs::new(2), true), minimised(Lbfgs::new(2), false));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let mut lbfgs = Lbfgs::new(2);
        for _ in 0..3 {
            lbfgs.step(&Valley);
        }
        let bytes = lbfgs.save();
        assert!(Lbfgs::new(3).load(&bytes).is_err());
        for len in 0..bytes.len() {
            assert!(Lbfgs::new(2).load(&bytes[..len]).is_err(), "{len}");
        }
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let mut other = Lbfgs::new(2);
            if other.load(&damaged).is_ok() {
                other.step(&Valley);
            }
        }
    }
}
