//! StochasticRank (Ustimenko and Prokhorenkova 2020): the gradient of a ranking metric itself, smoothed by noise.
//!
//! For a query with scores z and labels r:
//!
//! ```text
//! m = z - sigma mu r                          mu > 0 penalises ties
//! s = m + sigma e,  e normal                  one sample of noisy scores, sorted
//! dM/dz_j = 1/sigma * sum over others o of  J_j(o) phi((s_o - m_j) / sigma)
//! ```
//!
//! where J_j(o) is the change of the metric when document j passes o, with all others at their noisy scores, and phi is
//! the normal density. (Coordinate conditional sampling: the noise of j itself is integrated out.) The alternative
//! estimator, `reinforce`, is (M(s) - M(m)) e / sigma.
//!
//! Multiplying all scores by a number changes no ranking, so the component of the gradient along the scores is useless.
//! Scale-free acceleration removes it: g -= <g, z> z / (|z| + nu)^2 with z centred.
//!
//! The metric has no useful second derivative: Hessians are 1.

mod jumps;
mod metric;
mod select;

use std::ops::Range;

use rankwise_data::{Documents, Share, SimdLevel};
use rankwise_metrics::{AdditiveMetric, Rules, Ties, descending_bits};

use self::jumps::{JumpRooms, NoisyList, doc_of, order_of};
pub use self::metric::ScaleFreeMetric;
pub use self::select::SelectWithOrder;
use crate::checks::{has_order, has_weight};
use crate::params::Estimator;
use crate::target::additive;
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch};

/// 1 / sqrt(2 pi).
const INV_SQRT_TAU: f64 = 0.398_942_280_401_432_7;

/// How gradients are smoothed and estimated, whatever the metric.
#[derive(Clone, Copy, Debug)]
struct Smoothing {
    sigma: f64,
    mu: f64,
    samples: u32,
    estimator: Estimator,
    /// The smoothing of the norm in scale-free acceleration, and its minimum number of documents; `None` disables it.
    acceleration: Option<(f64, usize)>,
}

impl Smoothing {
    fn new(params: &ObjectiveParams) -> Self {
        Self {
            sigma: params.sigma,
            mu: params.mu.unwrap_or(0.0),
            samples: params.samples.unwrap_or(1) as u32,
            estimator: params.estimator,
            acceleration: params.sfa.then_some((params.nu, params.sfa_min_docs)),
        }
    }

    /// The noise of a document in a sample. Each draw gives two numbers, for two samples.
    fn noise(docs: &QueryDocs<'_>, doc: usize, sample: u32) -> f64 {
        docs.noise.normals(doc, sample / 2)[sample as usize % 2]
    }

    /// Removes the component of the ascent along the scores, and writes the rest as the gradient of a loss.
    fn finish(&self, ascent: &mut [f64], scores: &[f64], out: &mut GradientSlices<'_>) {
        if let Some((nu, min_docs)) = self.acceleration
            && scores.len() >= min_docs
        {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
            let norm = libm::sqrt(dot(scores, scores)) + nu;
            let along = dot(ascent, scores) / (norm * norm);
            // If all scores and nu are 0, there is no direction to remove.
            if along.is_finite() {
                ascent.iter_mut().zip(scores).for_each(|(ascent, score)| *ascent -= along * score);
            }
        }
        out.grad.iter_mut().zip(&*ascent).for_each(|(grad, ascent)| *grad = -ascent as f32);
        out.hess.fill(1.0);
    }
}

/// The metric to maximise.
#[derive(Debug)]
enum Measured {
    Target {
        metric: AdditiveMetric,
        /// The worth of each document, by row.
        worth: Vec<f64>,
    },
    Own(Box<dyn ScaleFreeMetric>),
}

impl Measured {
    fn target(
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        objective: &'static str,
    ) -> Result<Self, ObjectiveError> {
        has_weight(share)?;
        let data = share.data;
        if !has_order(share, |a, b| a != b) {
            return Err(ObjectiveError::NoPairs { objective });
        }
        let metric = share.agree(additive(objective, &params.target, data, rules))?;
        let mut worth = Vec::with_capacity(data.n_rows());
        data.queries().for_each(|query| metric.push_worth(query.labels, &mut worth));
        Ok(Self::Target { metric, worth })
    }
}

/// The gradient of a smoothed ranking metric.
#[derive(Debug)]
pub struct StochasticRank {
    measured: Measured,
    smoothing: Smoothing,
    ties: Ties,
    bounds: Vec<usize>,
    simd: SimdLevel,
}

impl StochasticRank {
    /// Learns the target metric of the parameters. Documents whose noisy scores are equal are ordered worst first, or
    /// in input order if the rules say so.
    pub fn new(
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        let measured = Measured::target(params, share, rules, "stochasticrank")?;
        Ok(Self::bound(measured, Smoothing::new(params), share.data, rules, simd))
    }

    /// SoftRank (Taylor et al. 2008) in this framework: the same gradient without acceleration and shift.
    pub fn soft_rank(
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Self, ObjectiveError> {
        let measured = Measured::target(params, share, rules, "softrank")?;
        let smoothing = Smoothing { mu: 0.0, acceleration: None, ..Smoothing::new(params) };
        Ok(Self::bound(measured, smoothing, share.data, rules, simd))
    }

    /// Learns a custom metric.
    pub fn of_metric(
        metric: Box<dyn ScaleFreeMetric>,
        params: &ObjectiveParams,
        share: &Share<'_>,
        rules: &Rules,
    ) -> Result<Self, ObjectiveError> {
        has_weight(share)?;
        Ok(Self::bound(Measured::Own(metric), Smoothing::new(params), share.data, rules, SimdLevel::PORTABLE))
    }

    fn bound(measured: Measured, smoothing: Smoothing, data: &Documents, rules: &Rules, simd: SimdLevel) -> Self {
        Self { measured, smoothing, ties: rules.ties, bounds: data.bounds().to_vec(), simd }
    }

    fn rows(&self, query: usize) -> Range<usize> {
        self.bounds[query]..self.bounds[query + 1]
    }

    /// The documents sorted by noisy score, highest first.
    fn rank(&self, docs: &QueryDocs<'_>, noisy: &[f64], keys: &mut Vec<u128>) {
        keys.clear();
        keys.extend(noisy.iter().enumerate().map(|(doc, score)| {
            let tie = if self.ties == Ties::Input { docs.input_rows[doc] } else { docs.labels[doc].to_bits() };
            u128::from(descending_bits(*score)) << 64 | u128::from(tie) << 32 | doc as u128
        }));
        keys.sort_unstable();
    }

    fn value(&self, docs: &QueryDocs<'_>, keys: &[u128]) -> f64 {
        match &self.measured {
            Measured::Target { metric, worth } => {
                let worth = &worth[self.rows(docs.query)];
                metric.value(keys.iter().map(|key| worth[doc_of(*key)]))
            }
            Measured::Own(metric) => metric.value(docs.query, docs.labels, &order_of(keys)),
        }
    }
}

impl Objective for StochasticRank {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, mut out: GradientSlices<'_>, scratch: &mut Scratch) {
        let Smoothing { sigma, mu, samples, estimator, .. } = self.smoothing;
        let n_docs = docs.scores.len();
        let Scratch { wide_keys: keys, columns, wide: [centred, means, noisy, ranked, ascent, _], .. } = scratch;
        let middle = docs.scores.iter().fold(0.0, |sum, score| sum + score) / n_docs as f64;
        centred.clear();
        centred.extend(docs.scores.iter().map(|score| score - middle));
        means.clear();
        means.extend(centred.iter().zip(docs.labels).map(|(score, label)| score - sigma * mu * f64::from(*label)));
        ascent.clear();
        ascent.resize(n_docs, 0.0);
        let is_undecided = match &self.measured {
            Measured::Target { worth, .. } => {
                let worth = &worth[self.rows(docs.query)];
                worth.iter().any(|one| *one != worth[0])
            }
            Measured::Own(_) => n_docs > 1,
        };
        if is_undecided {
            let without_noise = if estimator == Estimator::Reinforce {
                self.rank(&docs, means, keys);
                self.value(&docs, keys)
            } else {
                0.0
            };
            let share = 1.0 / f64::from(samples);
            for sample in 0..samples {
                noisy.clear();
                let noise = |doc: usize| Smoothing::noise(&docs, doc, sample);
                noisy.extend(means.iter().enumerate().map(|(doc, mean)| mean + sigma * noise(doc)));
                self.rank(&docs, noisy, keys);
                let list = NoisyList { keys, means, noisy, sigma };
                match &self.measured {
                    _ if estimator == Estimator::Reinforce => {
                        let change = self.value(&docs, keys) - without_noise;
                        list.add_change(change, ascent, share);
                    }
                    Measured::Target { metric, worth } => {
                        let worth = &worth[self.rows(docs.query)];
                        let rooms = JumpRooms { simd: self.simd, scores: ranked, columns };
                        list.add_jumps(metric, worth, rooms, ascent, share);
                    }
                    Measured::Own(metric) => list.add_own_jumps(&**metric, &docs, ascent, share),
                }
            }
        }
        self.smoothing.finish(ascent, centred, &mut out);
    }
}
