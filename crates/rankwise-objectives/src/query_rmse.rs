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
        let (total, mean) = mean_residual(docs);
        for doc in 0..docs.n_docs() {
            out.grad[doc] = (residual(docs, doc) - mean) as f32;
            out.hess[doc] = (1.0 - docs.weight(doc) / total) as f32;
        }
    }

    fn query_loss(&self, docs: QueryDocs<'_>) -> Option<f64> {
        let (total, mean) = mean_residual(docs);
        if total == 0.0 {
            return Some(0.0);
        }
        let error = |doc: usize| residual(docs, doc) - mean;
        Some((0..docs.n_docs()).map(|doc| docs.weight(doc) * error(doc) * error(doc) / 2.0).sum())
    }
}

fn residual(docs: QueryDocs<'_>, doc: usize) -> f64 {
    docs.scores[doc] - f64::from(docs.labels[doc])
}

/// The sum of the weights, and the weighted mean of the residuals.
fn mean_residual(docs: QueryDocs<'_>) -> (f64, f64) {
    let (mut total, mut sum) = (0.0, 0.0);
    for doc in 0..docs.n_docs() {
        total += docs.weight(doc);
        sum += docs.weight(doc) * residual(docs, doc);
    }
    (total, sum / total)
}
