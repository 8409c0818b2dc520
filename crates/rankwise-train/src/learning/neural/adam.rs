//! Adam (Kingma and Ba 2015, algorithm 1): steps of a size that does not depend on the size of gradients.

use serde::{Deserialize, Serialize};

/// How fast the mean of gradients forgets, and the mean of their squares: those of the paper.
const FORGET: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;

/// The moments of the gradients so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Adam {
    n_steps: u64,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Adam {
    pub(super) fn new(n_weights: usize) -> Self {
        Self { n_steps: 0, first: vec![0.0; n_weights], second: vec![0.0; n_weights] }
    }

    pub(super) fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Whether it has finite moments for this many weights.
    pub(super) fn fits(&self, n_weights: usize) -> bool {
        let is_moment = |moments: &[f32]| moments.len() == n_weights && moments.iter().all(|moment| moment.is_finite());
        is_moment(&self.first) && is_moment(&self.second) && self.second.iter().all(|moment| *moment >= 0.0)
    }

    /// Moves weights against a gradient. Those whose gradient or new value is no finite number stay where they are.
    pub(super) fn step(&mut self, rate: f64, gradient: &[f32], weights: &mut [f32]) {
        self.n_steps += 1;
        let n_steps = self.n_steps as f64;
        let [first, second] = FORGET.map(|forget| 1.0 - libm::pow(f64::from(forget), n_steps));
        let (rate, root) = ((rate / first) as f32, (1.0 / second.sqrt()) as f32);
        let [keep_first, keep_second] = FORGET;
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((weight, slope), (first, second)) in weights.iter_mut().zip(gradient).zip(moments) {
            let new_first = keep_first * *first + (1.0 - keep_first) * slope;
            let new_second = keep_second * *second + (1.0 - keep_second) * slope * slope;
            let new = *weight - rate * new_first / (new_second.sqrt() * root + EPSILON);
            if new_first.is_finite() && new_second.is_finite() && new.is_finite() {
                (*first, *second, *weight) = (new_first, new_second, new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_size_of_the_rate() {
        let mut weights = vec![1.0, 1.0, 1.0, 1.0];
        let mut adam = Adam::new(4);
        adam.step(0.1, &[1e-3, -5.0, 0.0, f32::NAN], &mut weights);
        for (weight, expected) in weights.iter().zip([0.9, 1.1, 1.0, 1.0]) {
            assert!((weight - expected).abs() < 1e-5, "{weights:?}");
        }
        assert!(adam.fits(4) && !adam.fits(3));
    }

    #[test]
    fn it_finds_the_least_of_a_bowl() {
        let (mut weights, mut adam) = (vec![3.0, -2.0], Adam::new(2));
        for _ in 0..2000 {
            let gradient = [2.0 * (weights[0] - 1.0), 20.0 * (weights[1] - 0.5)];
            adam.step(0.01, &gradient, &mut weights);
        }
        assert!((weights[0] - 1.0).abs() < 1e-3 && (weights[1] - 0.5).abs() < 1e-3, "{weights:?}");
    }
}
