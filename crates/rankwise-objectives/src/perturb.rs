//! Scores with noise: the expected variants of objectives (Bruch et al. 2020). The gradient is the mean of those for scores
//! with Gumbel noise, each sample drawn anew for every tree; so the ranks that the gradient follows are those of
//! a draw from the Plackett-Luce model, not always the present ones.

use crate::params::NoiseKind;
use crate::{ObjectiveParams, QueryDocs};

/// How scores are perturbed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Perturbation {
    /// 0 leaves scores as they are.
    strength: f64,
    pub(crate) n_samples: u32,
}

impl Perturbation {
    pub(crate) fn new(params: &ObjectiveParams) -> Self {
        match params.noise {
            NoiseKind::None => Self { strength: 0.0, n_samples: 1 },
            NoiseKind::Gumbel => {
                Self { strength: params.noise_strength, n_samples: params.samples.unwrap_or(1) as u32 }
            }
        }
    }

    /// The scores of a sample, in 32 bits.
    pub(crate) fn scores(self, docs: QueryDocs<'_>, sample: u32, out: &mut Vec<f32>) {
        out.clear();
        if self.strength == 0.0 {
            out.extend(docs.scores.iter().map(|score| *score as f32));
        } else {
            let noisy = |(doc, score): (usize, &f64)| {
                // A draw has two numbers: one for each of two samples.
                let uniform = docs.noise.uniforms(doc, sample / 2)[sample as usize % 2];
                (*score + self.strength * gumbel(uniform)) as f32
            };
            out.extend(docs.scores.iter().enumerate().map(noisy));
        }
    }
}

/// A number of the standard Gumbel distribution from a uniform one in (0, 1].
fn gumbel(uniform: f64) -> f64 {
    -libm::log((-libm::log(uniform)).max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distribution function is exp(-exp(-x)).
    #[test]
    fn quantiles_are_those_of_the_distribution() {
        for uniform in [1e-9, 0.1, 0.5, 0.9, 1.0 - 1e-9] {
            let x = gumbel(uniform);
            assert!(((-(-x).exp()).exp() - uniform).abs() < 1e-12, "{uniform}: {x}");
        }
        assert!(gumbel(1.0).is_finite());
    }
}
