//! From gradients to one tree.
//!
//! ```text
//! gradients -> fixed point -> root histogram -> best split -> queue
//!                                 ^                             |
//!                                 |         policy: which next, | which together
//!                              children <- partition rows <-----+
//! ```
//!
//! [`Grower::grow`] is the expand loop. [`Growth`] decides the order of nodes and which of them share a split. An [`Engine`] holds
//! rows, gradients, bins and histograms, and answers for lists of nodes. The engine in this machine's memory (`host.rs`) has two
//! implementations of sums and search: a plain one that is short and obvious, and a fast one that runs by default. Both grow the
//! same trees. All sums over rows are integers (`fixed_point.rs`), so the order of additions does not matter, on one machine or on
//! many. This crate knows nothing of queries, labels or scores.
// `unsafe` occurs only in `kernel/`: for instructions that were detected on this machine, and for prefetching.
#![deny(unsafe_code)]

mod apply;
mod awake;
mod blocks;
mod bounds;
mod context;
mod counts;
mod engine;
mod fast;
mod fixed_point;
mod grow;
mod growth;
mod histogram;
mod histograms;
mod host;
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
mod tasks;
#[cfg(test)]
mod testing;

pub use apply::add_tree;
pub use bounds::Bounds;
pub use context::Judge;
pub use engine::{
    Derivatives, Engine, Group, GroupNode, GroupSplit, LeafSums, MakeEngine, OpenTree, Root, TreeInput, Width,
};
pub use fixed_point::{FixedPoint, Scales, Sums, WideScale};
pub use grow::{GrowInput, Grower, GrownTree, LeafNoise, PhaseTimes, is_worth_threads};
pub use growth::Growth;
use histogram::{Cell, Histogram, HistogramLayout};
pub use host::EngineSetup;
pub use monotone::Monotone;
pub use params::{Derivative, EngineKind, SetTrees, TreeParams, TreeSpec};
pub use scan::{Side, Split};
pub use schedule::LeavesSchedule;
