//! The step size of a tree.
//!
//! ```text
//! shrinkage   learning_rate times the tree
//! line        learning_rate times the multiple of the tree at which the loss is least: where the sum over documents of
//!             gradient times tree is 0
//! exact       the multiple of the tree at which the mean of the target metric over the training queries is largest, over all
//!             places where two documents pass each other
//! ```
//!
//! The step is at most [`LIMIT`] times the tree's own values.

use rankwise_data::{Documents, Share};
use rankwise_metrics::{AdditiveMetric, best_step};
use rankwise_params::{ParamError, param_enum};

use crate::{TrainError, TrainParams};

/// The largest step, as a multiple of the tree's own values.
const LIMIT: f64 = 10.0;
/// Number of bisections of the interval with the minimum.
const HALVINGS: usize = 12;

param_enum! {
    /// How far to go along a tree.
    pub enum StepKind {
        /// The learning rate.
        Shrinkage = "shrinkage",
        /// The learning rate times the step that minimises the loss.
        Line = "line",
        /// The step that maximises the target metric.
        Exact = "exact",
    }
}

/// How the step is determined.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Line,
    Exact(AdditiveMetric),
}

impl Step {
    /// `None` if the step is the learning rate.
    pub(crate) fn new(params: &TrainParams, data: &Documents, n_outputs: usize) -> Result<Option<Self>, TrainError> {
        let refuse = |problem: String| Err(ParamError::conflict("step", problem).into());
        let step = match params.boosting().step {
            StepKind::Shrinkage => return Ok(None),
            StepKind::Line => Self::Line,
            StepKind::Exact => {
                let target = &params.objective().target;
                let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
                let Some(metric) = AdditiveMetric::new(target, params.rules(), longest) else {
                    let (target, known) = (target.as_str(), AdditiveMetric::KNOWN);
                    return refuse(format!("the exact step is not supported for target={target}; use {known}"));
                };
                Self::Exact(metric)
            }
        };
        if n_outputs > 1 {
            return refuse("the scores of this objective are not sums of trees; use step=shrinkage".into());
        }
        Ok(Some(step))
    }

    /// The factor for a tree that already includes the learning rate. `direction` is what the tree would add to the
    /// scores, and `slope(t)` the derivative of the loss with respect to t at scores + t direction.
    pub(crate) fn factor(
        &self,
        share: &Share<'_>,
        (scores, direction): (&[f64], &[f64]),
        learning_rate: f64,
        slope: impl FnMut(f64) -> f64,
    ) -> f64 {
        match self {
            Self::Exact(metric) => {
                best_step(share, metric, (scores, direction), LIMIT, 1.0).map_or(1.0, |best| best.step)
            }
            Self::Line => least_loss(slope).map_or(1.0, |least| least * learning_rate),
        }
    }
}

/// The minimum of a convex loss, given its slope; `None` if the loss does not decrease at 0.
fn least_loss(mut slope: impl FnMut(f64) -> f64) -> Option<f64> {
    if slope(0.0) >= 0.0 {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while slope(high) < 0.0 {
        (low, high) = (high, 2.0 * high);
        if low >= LIMIT {
            return Some(LIMIT);
        }
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if slope(middle) < 0.0 { low = middle } else { high = middle }
    }
    Some((0.5 * (low + high)).min(LIMIT))
}

/// The derivative of the loss along a direction, summed within each query, then over queries in canonical order.
pub(crate) fn slope_along(share: &Share<'_>, grad: &[f32], direction: &[f64]) -> f64 {
    let slope = |query: usize| {
        let rows = share.data.query_rows(query);
        let terms = grad[rows.clone()].iter().zip(&direction[rows]);
        terms.fold(0.0, |sum, (grad, step)| sum + f64::from(*grad) * step)
    };
    share.sum_by_query((0..share.data.n_queries()).map(slope).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_a_parabola_is_found_or_the_limit() {
        for least in [0.01, 0.3, 1.0, 3.7, 9.0] {
            let found = least_loss(|at| at - least).unwrap();
            assert!((found - least).abs() < 2e-3, "{found} for {least}");
        }
        assert_eq!(least_loss(|at| at - 1e9), Some(LIMIT));
        assert_eq!(least_loss(|_| 1.0), None);
    }
}
