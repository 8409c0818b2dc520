//! Squared error: each document's score should equal its label. The pointwise baseline.

use rankwise_data::{Dataset, reduce};

use crate::{GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch};

/// Half the squared error of each document.
#[derive(Clone, Copy, Debug)]
pub struct Rmse {
    mean: f64,
}

impl Rmse {
    /// Starts from the weighted mean of the labels.
    pub fn new(data: &Dataset) -> Result<Self, ObjectiveError> {
        // Summed inside each query first, then over queries in canonical order.
        let (sums, weights): (Vec<f64>, Vec<f64>) = data
            .queries()
            .map(|query| {
                let weight = |doc: usize| f64::from(query.weight) * f64::from(query.doc_weight(doc));
                let sum = reduce::sum((0..query.n_docs()).map(|doc| f64::from(query.labels[doc]) * weight(doc)));
                (sum, reduce::sum((0..query.n_docs()).map(weight)))
            })
            .unzip();
        let total = reduce::sum(weights);
        if total > 0.0 { Ok(Self { mean: reduce::sum(sums) / total }) } else { Err(ObjectiveError::NoWeight) }
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
}
