//! Langevin boosting (Ustimenko and Prokhorenkova, "SGLB: Stochastic Gradient Langevin Boosting", 2021): noise on the
//! gradients, and a model that shrinks a little before each tree. Together they help training to escape local optima.
//!
//! ```text
//! c = sqrt(2 / (learning_rate * diffusion_temperature))
//! search of splits:   each gradient + c N(0, 1)
//! leaf:               sum of gradients + c sqrt(sum of weights + l2) N(0, 1)
//! before tree i >= 1: all scores *= 1 - rate * learning_rate (constant) or 1 - rate / i (decreasing)
//! ```
//!
//! In leaves with a Newton step, the sum of Hessians replaces the sum of weights.

use rankwise_data::{Documents, Draw, Purpose};
use rankwise_trees::LeafNoise;
use rayon::prelude::*;

use crate::LoopParams;
use crate::params::ShrinkMode;

/// Number of rows per task.
const ROWS_PER_TASK: usize = 4096;

/// The noise of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Langevin {
    scale: f64,
    seed: u64,
}

impl Langevin {
    /// `None` if the parameters disable it.
    pub(crate) fn new(params: &LoopParams) -> Option<Self> {
        let scale = libm::sqrt(2.0 / (params.learning_rate * params.diffusion_temperature));
        params.langevin.then_some(Self { scale, seed: params.seed })
    }

    /// Writes the gradients with the noise of a tree to `noisy`.
    pub(crate) fn add_noise(&self, data: &Documents, tree: u32, grad: &[f32], noisy: &mut Vec<f32>) {
        let draw = Draw::new(self.seed, Purpose::GradientNoise, tree);
        let largest = f64::from(f32::MAX);
        noisy.resize(grad.len(), 0.0);
        noisy.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each(|(task, noisy)| {
            let first = task * ROWS_PER_TASK;
            let keys = data.doc_keys(first..first + noisy.len());
            for (doc, noisy) in noisy.iter_mut().enumerate() {
                let (key, ordinal) = keys.of(doc);
                let noise = self.scale * draw.normals(key, ordinal)[0];
                *noisy = (f64::from(grad[first + doc]) + noise).clamp(-largest, largest) as f32;
            }
        });
    }

    /// The noise on the leaves of a tree.
    pub(crate) fn leaf_noise(&self, tree: u32) -> LeafNoise {
        LeafNoise { scale: self.scale, draw: Draw::new(self.seed, Purpose::LeafNoise, tree) }
    }
}

/// The factor for all scores before the trees of a round, counted from 0.
pub(crate) fn shrinkage(params: &LoopParams, round: usize) -> f64 {
    let rate = params.shrink_rate();
    match params.model_shrink_mode {
        _ if round == 0 => 1.0,
        ShrinkMode::Constant => 1.0 - rate * params.learning_rate,
        ShrinkMode::Decreasing => 1.0 - rate / round as f64,
    }
}

/// The factor of each round in a model with `n_rounds` rounds: the product of all later factors.
pub(crate) fn later_factors(params: &LoopParams, n_rounds: usize) -> Vec<f64> {
    let mut factors = vec![1.0; n_rounds];
    for round in (1..n_rounds).rev() {
        factors[round - 1] = factors[round] * shrinkage(params, round);
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LoopSpec;

    #[test]
    fn earlier_trees_are_multiplied_by_all_later_factors() {
        let factors = |mode: ShrinkMode, rate: f64| {
            let (model_shrink_rate, learning_rate) = (Some(rate), 0.5);
            let spec = LoopSpec { model_shrink_rate, model_shrink_mode: mode, learning_rate, ..LoopSpec::default() };
            later_factors(&spec.check().unwrap(), 3)
        };
        assert_eq!(factors(ShrinkMode::Constant, 0.5), [0.75 * 0.75, 0.75, 1.0]);
        assert_eq!(factors(ShrinkMode::Decreasing, 0.5), [0.5 * 0.75, 0.75, 1.0]);
        assert_eq!(later_factors(&LoopSpec::default().check().unwrap(), 2), [1.0, 1.0]);
    }
}
