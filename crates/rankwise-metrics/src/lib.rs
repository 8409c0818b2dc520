//! Every metric, with its gains, discounts, ties and empty-query rules spelled out.
//!
//! * [`Rules`] say what a number means.
//! * [`Results`] are what a system returned, query by query, with what is known about the documents: scores for a dataset,
//!   or a run that may leave out judged documents.
//! * [`Measures`] are metrics under rules; they turn results into an [`Evaluation`]. [`Evaluator`] does so for the same data
//!   set again and again.
//! * [`AdditiveMetric`] is a metric that can be followed while documents move; [`best_step`] finds where on a line of scores
//!   it is largest.
//! * [`Metric`] is what a metric must do: it sees a list in rank order, never a model, never a feature.
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
