//! Every metric, with its gains, discounts, ties and empty-query rules spelled out.
//!
//! [`Rules`] say what a number means; [`Evaluator`] applies metrics to scores under them, query by query; [`Metric`] is
//! what a metric must do: it sees a list in rank order, never a model, never a feature.
#![forbid(unsafe_code)]

mod convention;
mod dcg;
mod error;
mod evaluate;
mod gain;
mod name;
mod ranking;
mod rules;

pub use dcg::{Dcg, Discounts, Ndcg, ideal_dcg};
pub use error::MetricError;
pub use evaluate::{Evaluation, Evaluator, MetricValues};
pub use gain::Gain;
pub use name::MetricName;
pub use ranking::{Metric, RankedList};
pub use rules::{Convention, Empty, Rules, RulesSpec, Ties};
