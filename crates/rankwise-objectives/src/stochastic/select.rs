//! Selection with order (Vorobev et al. 2019): the order of documents is given, and a score above 0 selects a document.
//! Learned for DCG-RR, the sum of the selected documents' gains, each divided by its rank among the selected.
//!
//! Only the sign of a score counts, so the metric jumps only at 0:
//!
//! ```text
//! dM/dz_j = 1/sigma * E [ M(j selected) - M(j not) ] phi(z_j / sigma)      the others selected by their noisy scores
//! ```

use rankwise_data::{QueryView, Share};
use rankwise_metrics::Rules;

use super::{INV_SQRT_TAU, Smoothing};
use crate::checks::has_weight;
use crate::params::Estimator;
use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch};

/// The smoothed gradient of DCG-RR.
#[derive(Clone, Debug)]
pub struct SelectWithOrder {
    smoothing: Smoothing,
    bounds: Vec<usize>,
    /// The documents of each query in the order in which they would be shown: by position if given, then in input
    /// order.
    order: Vec<u32>,
    /// By row.
    gains: Vec<f64>,
}

impl SelectWithOrder {
    /// Binds it to data.
    pub fn new(params: &ObjectiveParams, share: &Share<'_>, rules: &Rules) -> Result<Self, ObjectiveError> {
        has_weight(share)?;
        let data = share.data;
        share.agree(rules.gain.check(data).map_err(ObjectiveError::from))?;
        if !share.any(data.labels().iter().any(|label| rules.gain.of(*label) > 0.0)) {
            return Err(ObjectiveError::NothingRelevant { objective: "select-with-order" });
        }
        let in_order = |query: QueryView<'_>| {
            let mut order: Vec<u32> = (0..query.n_docs() as u32).collect();
            let position = |doc: u32| data.positions().map_or(0, |all| all[query.rows.start + doc as usize]);
            order.sort_unstable_by_key(|doc| (position(*doc), query.input_rows[*doc as usize]));
            order
        };
        Ok(Self {
            // Scores are relative to 0 here, so there is no shift.
            smoothing: Smoothing { mu: 0.0, ..Smoothing::new(params) },
            bounds: data.bounds().to_vec(),
            order: data.queries().flat_map(in_order).collect(),
            gains: data.labels().iter().map(|label| rules.gain.of(*label)).collect(),
        })
    }
}

impl Objective for SelectWithOrder {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, mut out: GradientSlices<'_>, scratch: &mut Scratch) {
        let Smoothing { sigma, samples, estimator, .. } = self.smoothing;
        let rows = self.bounds[docs.query]..self.bounds[docs.query + 1];
        let list = Shown { order: &self.order[rows.clone()], gains: &self.gains[rows] };
        let [noisy, ascent, ..] = &mut scratch.wide;
        ascent.clear();
        ascent.resize(docs.scores.len(), 0.0);
        let share = 1.0 / (sigma * f64::from(samples));
        let without_noise = list.value(docs.scores);
        for sample in 0..samples {
            noisy.clear();
            let noise = |doc: usize| Smoothing::noise(&docs, doc, sample);
            noisy.extend(docs.scores.iter().enumerate().map(|(doc, score)| score + sigma * noise(doc)));
            if estimator == Estimator::Reinforce {
                let change = (list.value(noisy) - without_noise) * share;
                let drawn = noisy.iter().zip(docs.scores).map(|(noisy, score)| (noisy - score) / sigma);
                ascent.iter_mut().zip(drawn).for_each(|(ascent, noise)| *ascent += change * noise);
            } else {
                list.for_each_jump(noisy, |doc, jump| {
                    let distance = docs.scores[doc] / sigma;
                    ascent[doc] += jump * share * INV_SQRT_TAU * libm::exp(-0.5 * distance * distance);
                });
            }
        }
        self.smoothing.finish(ascent, docs.scores, &mut out);
    }
}

/// The documents of a query, to be selected from.
struct Shown<'a> {
    order: &'a [u32],
    gains: &'a [f64],
}

impl Shown<'_> {
    fn value(&self, scores: &[f64]) -> f64 {
        let (mut total, mut n_selected) = (0.0, 0.0);
        for doc in self.order.iter().map(|doc| *doc as usize).filter(|doc| scores[*doc] > 0.0) {
            n_selected += 1.0;
            total += self.gains[doc] / n_selected;
        }
        total
    }

    /// The effect of selecting each document, from the last to the first: its own gain, minus what later documents lose
    /// by moving down one rank.
    fn for_each_jump(&self, scores: &[f64], mut visit: impl FnMut(usize, f64)) {
        let mut n_before = scores.iter().filter(|score| **score > 0.0).count() as f64;
        // The loss of later selected documents: if this one is added, and if it is already selected.
        let (mut lost_if_new, mut lost_if_in) = (0.0, 0.0);
        for doc in self.order.iter().rev().map(|doc| *doc as usize) {
            let is_selected = scores[doc] > 0.0;
            n_before -= f64::from(u8::from(is_selected));
            let lost = if is_selected { lost_if_in } else { lost_if_new };
            let gain = self.gains[doc];
            visit(doc, gain / (n_before + 1.0) - lost);
            if is_selected {
                lost_if_new += gain / (n_before + 1.0) - gain / (n_before + 2.0);
                // No document before the first selected one can be removed.
                lost_if_in += if n_before > 0.0 { gain / n_before - gain / (n_before + 1.0) } else { 0.0 };
            }
        }
    }
}
