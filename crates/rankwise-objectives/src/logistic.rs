//! Logistic loss: the sigmoid of a document's score should equal its label, a probability.
//!
//! ```text
//! p = 1 / (1 + exp(-s))        loss = -label ln p - (1 - label) ln(1 - p)        g = p - label        h = p (1 - p)
//! ```

use rankwise_data::{Documents, Share};

use crate::{GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch, checks};

/// Cross-entropy of each document's label with its probability.
#[derive(Clone, Copy, Debug)]
pub struct Logistic {
    log_odds: f64,
}

impl Logistic {
    /// The base score is the log-odds of the weighted mean label.
    pub fn new(share: &Share<'_>) -> Result<Self, ObjectiveError> {
        share.agree(check_probabilities(share.data))?;
        let mean = checks::mean_label(share)?;
        // 1 minus the mean, without cancellation.
        let rest = checks::mean(share, |label| 1.0 - f64::from(label))?;
        if mean == 0.0 || rest == 0.0 {
            return Err(ObjectiveError::OneLabel { objective: "logistic", label: mean as f32 });
        }
        Ok(Self { log_odds: libm::log(mean) - libm::log(rest) })
    }
}

fn check_probabilities(data: &Documents) -> Result<(), ObjectiveError> {
    for query in data.queries() {
        if let Some(label) = query.labels.iter().find(|label| !(0.0..=1.0).contains(*label)) {
            return Err(ObjectiveError::NoProbability { label: *label, query: query.id.to_owned() });
        }
    }
    Ok(())
}

impl Objective for Logistic {
    fn base_score(&self) -> f64 {
        self.log_odds
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, _: &mut Scratch) {
        for (doc, label) in docs.labels.iter().enumerate() {
            let score = docs.scores[doc];
            // The smaller of the two probabilities is exact; the larger is 1 minus it.
            let power = libm::exp(-score.abs());
            let (small, large) = (power / (1.0 + power), 1.0 / (1.0 + power));
            let (yes, no) = if score < 0.0 { (small, large) } else { (large, small) };
            let label = f64::from(*label);
            // p - label, without cancellation if both are near 1.
            out.grad[doc] = ((1.0 - label) * yes - label * no) as f32;
            out.hess[doc] = (small * large) as f32;
        }
    }

    fn query_loss(&self, docs: QueryDocs<'_>) -> Option<f64> {
        // ln(1 + exp(s)) - label * s
        let cost = |doc: usize| {
            let score = docs.scores[doc];
            score.max(0.0) + libm::log1p(libm::exp(-score.abs())) - f64::from(docs.labels[doc]) * score
        };
        Some((0..docs.n_docs()).map(|doc| docs.weight(doc) * cost(doc)).sum())
    }
}
