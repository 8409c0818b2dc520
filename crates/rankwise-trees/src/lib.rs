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
//! [`Engine`] holds rows, gradients, bins and histograms, and answers for lists of nodes. The engine of this machine's memory
//! (`host.rs`) sums and searches in two ways: the plain one is short and obvious, the fast one is what runs, and both grow the same
//! trees. All sums over rows are integers (`fixed_point.rs`), so that any order of adding gives the same tree, in one machine
//! or in many. This crate never sees queries, labels or scores.
// `unsafe` only where `kernel/` uses instructions that were found on this machine, or asks for memory ahead of time.
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
pub use grow::{GrowInput, Grower, GrownTree, LeafNoise, PhaseTimes};
pub use growth::Growth;
use histogram::{Cell, Histogram, HistogramLayout};
pub use host::EngineSetup;
pub use monotone::Monotone;
pub use params::{Derivative, EngineKind, SetTrees, TreeParams, TreeSpec};
pub use scan::{Side, Split};
pub use schedule::LeavesSchedule;
