//! XE-NDCG (Bruch 2021), in LightGBM's form: cross-entropy with gains that are drawn again for each tree, plus two more
//! terms that approximate the inverse Hessian.
//!
//! ```text
//! rho = softmax(s)        gamma_i = 2^label_i - u_i        P_i = gamma_i / sum gamma        u_i uniform in (0, 1]
//! t1 = rho - P            a = t1 / (1 - rho)
//! t2 = rho (sum a - a)    b = t2 / (1 - rho)
//! t3 = rho (sum b - b)
//! g  = t1 + t2 + t3       h = rho (1 - rho)
//! ```
//!
//! Queries with one document have no gradient. Weights multiply the results.

use rankwise_data::Share;
use rankwise_metrics::Gain;

use crate::{GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch, checks};

/// The minimum of 1 - rho, for a document with nearly all of the probability; LightGBM divides by 0 there.
const LEAST_REST: f64 = 1e-15;

/// XE-NDCG.
#[derive(Clone, Copy, Debug)]
pub struct XeNdcg;

impl XeNdcg {
    /// It is an error if a label is too large for a power of two.
    pub fn new(share: &Share<'_>) -> Result<Self, ObjectiveError> {
        share.agree(Gain::Exp.check(share.data).map_err(ObjectiveError::from))?;
        checks::has_pairs(share, "xendcg")?;
        checks::has_weight(share)?;
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

/// The formulas for given uniform numbers.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Label, score, uniform number, gradient, Hessian.
    type Doc = (f32, f64, f64, f32, f32);

    /// The results of LightGBM 4.7 for two queries (`python3 peers/listwise.py --golden`).
    const LIGHTGBM: [&[Doc]; 2] = [
        &[
            (0.0, 0.3, 0.001_861_572_265_625, 0.045_453_5, 0.082_719_3),
            (2.0, -1.2, 0.531_677_246_093_75, -0.134_379_6, 0.019_892_6),
            (1.0, 0.0, 0.464_324_951_171_875, 0.001_185_3, 0.062_870_0),
            (4.0, 2.5, 0.214_843_75, 0.087_740_8, 0.146_779_2),
        ],
        &[
            (1.0, -0.98, 0.001_953_125, -0.134_744_3, 0.021_471_7),
            (0.0, -0.26, 0.859_680_175_781_25, 0.041_934_3, 0.043_068_2),
            (0.0, 2.5, 0.009_490_966_796_875, 0.532_909_9, 0.204_796_6),
            (3.0, 0.99, 0.949_188_232_421_875, -0.359_594_4, 0.132_640_9),
            (1.0, -2.46, 0.788_421_630_859_375, -0.093_467_5, 0.004_972_5),
            (0.0, -0.01, 0.318_695_068_359_375, 0.012_962_1, 0.054_558_8),
        ],
    ];

    #[test]
    fn lightgbms_numbers_give_lightgbms_gradients() {
        for docs in LIGHTGBM {
            let labels: Vec<f32> = docs.iter().map(|doc| doc.0).collect();
            let scores: Vec<f64> = docs.iter().map(|doc| doc.1).collect();
            let (mut grad, mut hess) = (vec![0.0; docs.len()], vec![0.0; docs.len()]);
            let mut out = GradientSlices { grad: &mut grad, hess: &mut hess };
            derivatives((&labels, &scores), |doc| docs[doc].2, &mut out, &mut Scratch::default());
            for (doc, (_, _, _, first, second)) in docs.iter().enumerate() {
                assert!((grad[doc] - first).abs() < 3e-7, "{} is not {first}", grad[doc]);
                assert!((hess[doc] - second).abs() < 3e-7, "{} is not {second}", hess[doc]);
            }
        }
    }
}
