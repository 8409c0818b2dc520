//! XE-NDCG (Bruch 2021), in LightGBM's form: cross-entropy with gains that are drawn anew for each tree, and two further terms
//! of what the inverse Hessian makes of it.
//!
//! ```text
//! rho = softmax(s)        gamma_i = 2^label_i - u_i        P_i = gamma_i / sum gamma        u_i uniform in (0, 1]
//! t1 = rho - P            a = t1 / (1 - rho)
//! t2 = rho (sum a - a)    b = t2 / (1 - rho)
//! t3 = rho (sum b - b)
//! g  = t1 + t2 + t3       h = rho (1 - rho)
//! ```
//!
//! Queries of one document have no gradient. Weights multiply what comes out.

use rankwise_data::Dataset;
use rankwise_metrics::Gain;

use crate::{GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch, checks};

/// What is left of 1 beside the probability of one document that has nearly all of it; LightGBM divides by 0 there.
const LEAST_REST: f64 = 1e-15;

/// XE-NDCG.
#[derive(Clone, Copy, Debug)]
pub struct XeNdcg;

impl XeNdcg {
    /// Labels must be small enough for powers of two.
    pub fn new(data: &Dataset) -> Result<Self, ObjectiveError> {
        Gain::Exp.check(data)?;
        checks::has_pairs(data, "xendcg")?;
        checks::has_weight(data)?;
        Ok(Self)
    }
}

impl Objective for XeNdcg {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, mut out: GradientSlices<'_>, scratch: &mut Scratch) {
        let uniform = |doc: usize| docs.noise.uniforms(doc, 0)[0];
        derivatives((docs.labels, docs.scores), uniform, &mut out, scratch);
    }
}

/// The formulas, for given uniform numbers.
fn derivatives(
    (labels, scores): (&[f32], &[f64]),
    uniform: impl Fn(usize) -> f64,
    out: &mut GradientSlices<'_>,
    scratch: &mut Scratch,
) {
    let n_docs = labels.len();
    if n_docs <= 1 {
        out.grad.fill(0.0);
        out.hess.fill(0.0);
        return;
    }
    let [rho, rest, term, total, ..] = &mut scratch.wide;
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    rho.clear();
    rho.extend(scores.iter().map(|score| libm::exp(score - largest)));
    let powers: f64 = rho.iter().sum();
    for rho in rho.iter_mut() {
        *rho /= powers;
    }
    rest.clear();
    rest.extend(rho.iter().map(|rho| (1.0 - rho).max(LEAST_REST)));

    term.clear();
    term.extend((0..n_docs).map(|doc| libm::exp2(f64::from(labels[doc])) - uniform(doc)));
    let gammas: f64 = term.iter().sum();
    total.clear();
    total.resize(n_docs, 0.0);
    for doc in 0..n_docs {
        let share = if gammas > 0.0 { term[doc] / gammas } else { 0.0 };
        term[doc] = rho[doc] - share;
        total[doc] = term[doc];
    }
    for _ in 0..2 {
        let sum: f64 = (0..n_docs).map(|doc| term[doc] / rest[doc]).sum();
        for doc in 0..n_docs {
            term[doc] = rho[doc] * (sum - term[doc] / rest[doc]);
            total[doc] += term[doc];
        }
    }
    for doc in 0..n_docs {
        out.grad[doc] = total[doc] as f32;
        out.hess[doc] = (rho[doc] * (1.0 - rho[doc])) as f32;
    }
}
