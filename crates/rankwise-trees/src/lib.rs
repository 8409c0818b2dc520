//! From gradients to one tree.
//!
//! ```text
//! gradients -> fixed point -> root histogram -> best split -> queue
//!                                 ^                             |
//!                                 |         policy: which next, | which together
//!                              children <- partition rows <-----+
//! ```
//!
//! [`Grower::grow`] is the expand loop; [`Growth`] decides the order of nodes and which of them must share a split; an
//! engine (`engine.rs`) sums histograms and finds splits for lists of nodes. There are two: the plain one is short and
//! obvious, the fast one is what runs, and both grow the same trees. All sums over rows are integers (`fixed_point.rs`),
//! so that any order of adding gives the same tree. This crate never sees queries, labels or scores.
// `unsafe` only where `kernel/` uses instructions that were found on this machine, or asks for memory ahead of time.
#![deny(unsafe_code)]

mod awake;
mod bounds;
mod context;
mod engine;
mod fast;
mod fixed_point;
mod grow;
mod growth;
mod histogram;
mod kernel;
mod leaf;
mod monotone;
mod node_features;
mod params;
mod partition;
mod plain;
mod question;
mod scan;
mod schedule;
#[cfg(test)]
mod testing;

use fixed_point::{FixedPoint, Sums};
pub use grow::{GrowInput, Grower, GrownTree, LeafNoise, PhaseTimes, add_multiple};
pub use growth::Growth;
use histogram::{Cell, Histogram, HistogramLayout};
pub use monotone::Monotone;
pub use params::{Derivative, EngineKind, TreeParams, TreeSpec};
pub use schedule::LeavesSchedule;
