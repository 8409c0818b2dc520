//! RankBoost (Freund, Iyer, Schapire and Singer 2003): a sum of weak rankers h with weights alpha. Each round minimises
//!
//! ```text
//! Z = sum over pairs of D(x, y) exp(-alpha (h(y) - h(x)))          y is better than x
//! ```
//!
//! where D is the distribution over pairs at the scores so far ([`pairs`]). The weight of the training pairs in the wrong
//! order or tied is at most the product of all Z. A negative alpha turns a weak ranker around: it takes the place of
//! 1 - h.
//!
//! With r = sum over pairs of D(x, y) (h(y) - h(x)), the correlation of h with the order of pairs, alpha is one of
//!
//! ```text
//! exact           the alpha that minimises Z
//! correlation     ln((1 + r) / (1 - r)) / 2       which gives Z at most sqrt(1 - r^2) (equation 8 of the paper)
//! ```
//!
//! For h in {0, 1}, the second counts half of the pairs that h leaves tied as right and half as wrong. It is smaller, and the
//! better ranker on MQ2008 (`docs/boosters.md`).
//!
//! Weak rankers say whether a feature is above a threshold ([`threshold`]), or they are features scaled to 0..1
//! ([`values`]).

pub(crate) mod pairs;
mod threshold;
mod values;

pub(crate) use self::threshold::Thresholds;
pub(crate) use self::values::Values;
use super::{Learning, Task};
use crate::{TrainError, WeakRanker};

/// The largest ratio of the weights of right and wrong pairs that counts, which keeps alpha finite.
const LARGEST_ODDS: f64 = 1e10;
/// A smaller alpha changes nothing.
const SMALLEST_ALPHA: f64 = 1e-12;

/// How a weak ranker gets its alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weighting {
    Correlation,
    Exact,
}

/// Prepares RankBoost with the weak rankers of the parameters.
pub(crate) fn start<'a>(task: &Task<'a>) -> Result<Box<dyn Learning + 'a>, TrainError> {
    let pairs = pairs::Pairs::new(task.train);
    if pairs.are_empty() {
        return Err(TrainError::NoPairs { learner: "rankboost".into() });
    }
    Ok(match task.params.learner().weak_ranker {
        WeakRanker::Threshold => Box::new(Thresholds::new(task, pairs, Weighting::Correlation)?),
        WeakRanker::ThresholdExact => Box::new(Thresholds::new(task, pairs, Weighting::Exact)?),
        WeakRanker::Correlation => Box::new(Values::new(task, pairs, Weighting::Correlation)?),
        WeakRanker::Search => Box::new(Values::new(task, pairs, Weighting::Exact)?),
    })
}

/// The logarithm of the odds of two weights, halved.
fn half_log_odds(right: f64, wrong: f64) -> f64 {
    let odds = (right.max(0.0) / wrong.max(0.0)).clamp(1.0 / LARGEST_ODDS, LARGEST_ODDS);
    libm::log(odds) / 2.0
}
