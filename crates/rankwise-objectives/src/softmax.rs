//! Cross-entropy of two distributions over the documents of a query: one from the labels, one from the scores.
//!
//! ```text
//! p_i = exp(s_i) / sum w_j exp(s_j)                       loss = -S sum w_i t_i ln p_i
//! t_i = label_i / S,  S = sum w_j label_j                 softmax (CatBoost's QuerySoftMax)
//! t_i = exp(label_i) / sum w_j exp(label_j),  S = 1       listnet (Cao et al. 2007, top one)
//! g_i = S w_i (p_i - t_i)        h_i = S w_i p_i (1 - w_i p_i)
//! ```
//!
//! With `softmax`, a query counts as much as its labels say: S is what makes the loss of a query the sum over its labels.
//! A document with weight w counts as w documents. A query without relevant documents has no label distribution. With
//! `softmax` it has no gradient; with `listnet` it pulls scores together.

use rankwise_data::Share;

use crate::{GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch, checks};

/// The distribution of labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Labels {
    Share,
    Softmax,
}

/// Cross-entropy between the distributions of labels and scores.
#[derive(Clone, Copy, Debug)]
pub struct Softmax {
    labels: Labels,
}

impl Softmax {
    /// A label's probability is its share of the sum of labels.
    pub fn new(share: &Share<'_>) -> Result<Self, ObjectiveError> {
        Self::checked(share, "softmax", Labels::Share)
    }

    /// A label's probability is its softmax.
    pub fn listnet(share: &Share<'_>) -> Result<Self, ObjectiveError> {
        Self::checked(share, "listnet", Labels::Softmax)
    }

    fn checked(share: &Share<'_>, name: &'static str, labels: Labels) -> Result<Self, ObjectiveError> {
        checks::has_pairs(share, name)?;
        checks::has_weight(share)?;
        Ok(Self { labels })
    }
}

impl Objective for Softmax {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let n_docs = docs.n_docs();
        let [found, wanted, ..] = &mut scratch.wide;
        distribution(docs, |doc| docs.scores[doc], found);
        let label = |doc: usize| f64::from(docs.labels[doc]);
        let mut total = 1.0;
        match self.labels {
            Labels::Softmax => distribution(docs, label, wanted),
            Labels::Share => {
                total = (0..n_docs).map(|doc| docs.weight(doc) * label(doc)).sum();
                wanted.clear();
                if total > 0.0 {
                    wanted.extend((0..n_docs).map(|doc| label(doc) / total));
                } else {
                    // No target distribution: no gradient.
                    out.grad.fill(0.0);
                    out.hess.fill(0.0);
                    return;
                }
            }
        }
        for doc in 0..n_docs {
            out.grad[doc] = (total * (found[doc] - wanted[doc])) as f32;
            out.hess[doc] = (total * found[doc] * (1.0 - docs.weight(doc) * found[doc])) as f32;
        }
    }

    fn query_loss(&self, docs: QueryDocs<'_>) -> Option<f64> {
        let n_docs = docs.n_docs();
        let label = |doc: usize| f64::from(docs.labels[doc]);
        let mut wanted = Vec::new();
        match self.labels {
            Labels::Share => wanted.extend((0..n_docs).map(label)),
            Labels::Softmax => distribution(docs, label, &mut wanted),
        }
        let counts = |doc: &usize| docs.weight(*doc) > 0.0;
        let largest = (0..n_docs).filter(counts).map(|doc| docs.scores[doc]).fold(f64::NEG_INFINITY, f64::max);
        let power = |doc: usize| docs.weight(doc) * libm::exp(docs.scores[doc] - largest);
        let log_sum = libm::log((0..n_docs).filter(counts).map(power).sum());
        // -ln p, without a difference of large scores.
        let cost = |doc: usize| docs.weight(doc) * wanted[doc] * (log_sum - (docs.scores[doc] - largest));
        Some((0..n_docs).filter(counts).map(cost).sum())
    }
}

/// exp(value) over its weighted sum, for each document; 0 for documents without weight. The largest value is subtracted
/// first to avoid overflow.
pub(crate) fn distribution(docs: QueryDocs<'_>, value: impl Fn(usize) -> f64, out: &mut Vec<f64>) {
    let counts = |doc: &usize| docs.weight(*doc) > 0.0;
    let largest = (0..docs.n_docs()).filter(counts).map(&value).fold(f64::NEG_INFINITY, f64::max);
    out.clear();
    let mut sum = 0.0;
    for doc in 0..docs.n_docs() {
        let power = if counts(&doc) { libm::exp(value(doc) - largest) } else { 0.0 };
        sum += docs.weight(doc) * power;
        out.push(power);
    }
    if sum > 0.0 {
        for power in out.iter_mut() {
            *power /= sum;
        }
    }
}
