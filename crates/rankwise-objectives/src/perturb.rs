//! Scores with noise, for the expected variants of objectives (Bruch et al. 2020). The gradient is the mean over
//! samples of scores with Gumbel noise, drawn again for every tree. So its ranks are samples from the Plackett-Luce
//! model instead of the current ranks.

use rankwise_data::SimdLevel;

use crate::kernel::noise::add_gumbel;
use crate::params::NoiseKind;
use crate::words::Words;
use crate::{ObjectiveParams, QueryDocs};

/// How scores are perturbed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Perturbation {
    /// 0 leaves scores unchanged.
    strength: f32,
    pub(crate) n_samples: u32,
}

impl Perturbation {
    pub(crate) fn new(params: &ObjectiveParams) -> Self {
        match params.noise {
            NoiseKind::None => Self { strength: 0.0, n_samples: 1 },
            NoiseKind::Gumbel => {
                Self { strength: params.noise_strength as f32, n_samples: params.samples.unwrap_or(1) as u32 }
            }
        }
    }

    /// The scores of a sample, as f32. Samples are requested in ascending order from 0.
    pub(crate) fn scores(
        self,
        docs: QueryDocs<'_>,
        sample: u32,
        simd: SimdLevel,
        words: &mut Words,
        out: &mut Vec<f32>,
    ) {
        out.clear();
        if self.strength == 0.0 {
            out.extend(docs.scores.iter().map(|score| *score as f32));
        } else {
            let word = words.of_sample(docs, sample, simd);
            out.resize(docs.scores.len(), 0.0);
            add_gumbel(simd, docs.scores, self.strength, words.all(), word, out);
        }
    }
}
