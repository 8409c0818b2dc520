//! From gradients to one tree.
//!
//! ```text
//! gradients -> fixed point -> root histogram -> best split -> queue
//!                                 ^                             |
//!                                 |         policy: which next, | which together
//!                              children <- partition rows <-----+
//! ```
//!
//! [`Grower::grow`] is the expand loop; [`Growth`] decides the order of nodes and which of them must share a split;
//! [`HistogramSource`] is all that the loop asks of the data, so another engine can stand behind it. All sums over rows
//! are integers ([`FixedPoint`]), so that any order of adding gives the same tree. This crate never sees queries, labels
//! or scores.
#![forbid(unsafe_code)]

mod bounds;
mod fixed_point;
mod grow;
mod growth;
mod histogram;
mod leaf;
mod monotone;
mod node_features;
mod params;
mod partition;
mod scan;
#[cfg(test)]
mod testing;

pub use fixed_point::{FixedPoint, Sums};
pub use grow::{GrowInput, Grower, GrownTree, PhaseTimes};
pub use growth::Growth;
pub use histogram::{Cell, Histogram, HistogramLayout, HistogramSource, PlainHistograms};
pub use monotone::Monotone;
pub use params::{Derivative, TreeParams, TreeSpec};
