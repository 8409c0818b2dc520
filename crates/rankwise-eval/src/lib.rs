//! Scores of datasets, and statistics on metric values: significance tests, confidence intervals, comparisons of
//! systems.
//!
//! * [`predict`] applies a model to a dataset.
//! * [`QueryValues`] has one number per query: the values of a system, or the differences of two.
//! * [`fisher`], [`paired_t`], [`wilcoxon`] and [`shift_test`] test whether a difference could be chance; [`holm`]
//!   corrects p-values for multiple comparisons.
//! * [`intervals`] computes confidence intervals of means.
//! * [`Table`] has the values of all systems by query, and [`Comparison`] applies all of the above to them.
//!
//! ```
//! use rankwise_eval::{CompareSpec, Comparison, Table};
//! use rankwise_metrics::{Evaluation, MetricValues};
//!
//! // As a `rankwise_metrics::Evaluator` gives them: a value for each of four queries.
//! let measured = |values: [f64; 4]| Evaluation {
//!     metrics: vec![MetricValues {
//!         name: "ndcg@10".into(),
//!         is_larger_better: true,
//!         is_pooled: false,
//!         per_query: values.map(Some).to_vec(),
//!         mean: Some(values.iter().sum::<f64>() / 4.0),
//!     }],
//! };
//! let systems = vec![("new".into(), measured([0.9, 0.8, 0.7, 0.4])), ("old".into(), measured([0.8, 0.6, 0.4, 0.0]))];
//! let table = Table::new(["a", "b", "c", "d"].into_iter().collect(), &[1.0; 4], systems)?;
//! let comparison = Comparison::new(&table, &CompareSpec::default(), |_, _| {})?;
//! let pair = &comparison.pairs[0];
//! assert_eq!((pair.wins, pair.losses), (4, 0));
//! // All four have the same sign, and so would they under 2 of the 16 choices of signs.
//! assert_eq!(pair.p_value, Some(2.0 / 16.0));
//! # Ok::<(), rankwise_eval::EvalError>(())
//! ```
//!
//! The statistics know nothing of scores, labels or models. Random numbers depend only on the seed and on what is drawn,
//! so results do not depend on threads.
#![forbid(unsafe_code)]

mod bootstrap;
mod compare;
mod error;
mod fisher;
mod holm;
mod interval;
mod predict;
mod query_values;
mod scale;
mod special;
mod student;
mod table;
mod tail;
mod wilcoxon;

pub use bootstrap::{resampled_means, shift_test};
pub use compare::{Alternative, CompareSpec, Comparison, MAX_SYSTEMS, MIN_SYSTEMS, PERMUTATIONS, Pair, Summary, Test};
pub use error::EvalError;
pub use fisher::{MAX_ENUMERATED, fisher};
pub use holm::holm;
pub use interval::{Interval, IntervalMethod, IntervalSpec, RESAMPLES, bca, intervals, normal, percentile};
pub use predict::{DatasetRows, TASK_DOCS, UnroundedRows, for_each_task, predict, predict_canonical};
pub use query_values::QueryValues;
pub use scale::deviation_within_queries;
pub use student::paired_t;
pub use table::Table;
pub use tail::Tail;
pub use wilcoxon::wilcoxon;
