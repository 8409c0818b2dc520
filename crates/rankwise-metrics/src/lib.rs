//! All metrics, with explicit rules for gains, discounts, ties and empty queries.
//!
//! * [`Rules`] define what a number means.
//! * [`Results`] are what a system returned, query by query, with the labels: scores for a dataset, or a run that may
//!   miss judged documents.
//! * [`Measures`] are metrics with their rules; they turn results into an [`Evaluation`]. [`Evaluator`] does this
//!   repeatedly for one dataset.
//! * [`AdditiveMetric`] is a metric that can be updated while documents move; [`best_step`] finds its maximum along a
//!   line of scores.
//! * [`Metric`] is the interface of metrics: they see a list in rank order, never a model or a feature.
#![forbid(unsafe_code)]

mod additive;
mod auc;
mod cascade;
mod convention;
mod dcg;
mod discount;
mod error;
mod evaluate;
mod gain;
mod hits;
mod line;
mod name;
mod order;
mod pairwise;
mod placement;
mod ranking;
mod results;
mod rules;

pub use additive::{AdditiveMetric, Context};
pub use dcg::{Dcg, Ndcg, ideal_dcg};
pub use discount::{Discount, Discounts};
pub use error::MetricError;
pub use evaluate::{Evaluation, Evaluator, Measures, MetricValues};
pub use gain::Gain;
pub use hits::{MapDenominator, PrecisionDenominator};
pub use line::{BestStep, best_step};
pub use name::{MetricKind, MetricName};
pub use order::descending_bits;
pub use ranking::{Metric, Needs, RankedList};
pub use results::{Found, QueryResult, Results, RunResults};
pub use rules::{Convention, Empty, MissingQueries, Rules, RulesSpec, SetRules, Ties};
