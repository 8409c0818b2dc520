//! Squared error: each document's score should equal its label. The pointwise baseline.

use rankwise_data::Share;

use crate::{GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch, checks};

/// Half the squared error of each document.
#[derive(Clone, Copy, Debug)]
pub struct Rmse {
    mean: f64,
}

impl Rmse {
    /// The base score is the weighted mean label.
    pub fn new(share: &Share<'_>) -> Result<Self, ObjectiveError> {
        Ok(Self { mean: checks::mean_label(share)? })
    }
}

impl Objective for Rmse {
    fn base_score(&self) -> f64 {
        self.mean
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, _: &mut Scratch) {
        for (doc, label) in docs.labels.iter().enumerate() {
            out.grad[doc] = (docs.scores[doc] - f64::from(*label)) as f32;
            out.hess[doc] = 1.0;
        }
    }

    fn query_loss(&self, docs: QueryDocs<'_>) -> Option<f64> {
        let error = |doc: usize| docs.scores[doc] - f64::from(docs.labels[doc]);
        Some((0..docs.n_docs()).map(|doc| docs.weight(doc) * error(doc) * error(doc) / 2.0).sum())
    }
}
