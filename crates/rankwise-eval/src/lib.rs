//! What the values of metrics prove: tests of differences between systems, intervals, comparisons.
//!
//! * [`Sample`] holds a number for each query: the values of a system, or the differences of two.
//! * [`fisher`], [`paired_t`], [`wilcoxon`] and [`shift_test`] ask whether a difference could be chance; [`holm`] corrects
//!   their answers where many are asked for.
//! * [`intervals`] says how far a mean may be off.
//! * [`Table`] puts systems side by side, query by query, and [`Comparison`] is all of the above for them.
//!
//! Nothing here knows of scores, labels or models. Every draw is a function of the seed and of what is drawn, so that no
//! answer depends on threads.
#![forbid(unsafe_code)]

mod bootstrap;
mod compare;
mod error;
mod fisher;
mod holm;
mod interval;
mod sample;
mod special;
mod student;
mod table;
mod tail;
mod wilcoxon;

pub use bootstrap::{resampled_means, shift_test};
pub use compare::{Alternative, CompareSpec, Comparison, MAX_SYSTEMS, MIN_SYSTEMS, Pair, Summary, Test};
pub use error::EvalError;
pub use fisher::fisher;
pub use holm::holm;
pub use interval::{Interval, IntervalMethod, IntervalSpec, bca, intervals, normal, percentile};
pub use sample::Sample;
pub use student::paired_t;
pub use table::Table;
pub use tail::Tail;
pub use wilcoxon::wilcoxon;
