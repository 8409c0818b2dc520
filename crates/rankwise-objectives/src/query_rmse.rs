//! Squared error within a query, ignoring a constant offset of the scores in each query. CatBoost's QueryRMSE.
//!
//! ```text
//! r_i = s_i - label_i        m = sum w_j r_j / sum w_j        loss = 1/2 sum w_i (r_i - m)^2
//! g_i = w_i (r_i - m)        h_i = w_i (1 - w_i / sum w_j)
//! ```
//!
//! The Hessian is exact. If it were w_i, as elsewhere, a query with one document would count in the leaves without ever
//! having a gradient.

use rankwise_data::Share;

use crate::{GradientSlices, Objective, ObjectiveError, QueryDocs, Scratch, checks};

/// Half the squared error of each document, after subtracting the mean error of its query.
#[derive(Clone, Copy, Debug)]
pub struct QueryRmse;

impl QueryRmse {
    /// At least one query must have documents with different labels.
    pub fn new(share: &Share<'_>) -> Result<Self, ObjectiveError> {
        checks::has_pairs(share, "query-rmse")?;
        checks::has_weight(share)?;
        Ok(Self)
    }
}

impl Objective for QueryRmse {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, _: &mut Scratch) {
        let residual = |doc: usize| docs.scores[doc] - f64::from(docs.labels[doc]);
        let (mut total, mut sum) = (0.0, 0.0);
        for doc in 0..docs.n_docs() {
            total += docs.weight(doc);
            sum += docs.weight(doc) * residual(doc);
        }
        let mean = sum / total;
        for doc in 0..docs.n_docs() {
            out.grad[doc] = (residual(doc) - mean) as f32;
            out.hess[doc] = (1.0 - docs.weight(doc) / total) as f32;
        }
    }
}
