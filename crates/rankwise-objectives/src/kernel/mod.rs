//! The hot loops: slices in, slices out, compiled for each instruction set, the same bits on all of them.

// Without it a function would be compiled once, for the oldest machine, and not anew for each instruction set.
#![allow(clippy::inline_always)]
// Lanes are numbered, and a lane that branches is no lane.
#![allow(clippy::needless_range_loop, clippy::needless_bitwise_bool)]

pub(crate) mod clocks;
pub(crate) mod exp;
pub(crate) mod jumps;
pub(crate) mod ln;
pub(crate) mod neighbours;
pub(crate) mod noise;
pub(crate) mod pairs;
pub(crate) mod soft_ranks;
