//! The hot loops: slices in, slices out. Each is compared with a plain twin, by its own tests or by those of the engine.

// Without it a function would be compiled once, for the oldest machine, and not anew for each instruction set.
#![allow(clippy::inline_always)]
// Lanes are numbered, and a lane that branches is no lane.
#![allow(clippy::needless_range_loop, clippy::needless_bitwise_bool)]

pub(crate) mod accumulate;
pub(crate) mod halves;
pub(crate) mod joint;
pub(crate) mod lane;
pub(crate) mod level;
pub(crate) mod peaks;
mod prefetch;
pub(crate) mod sides;

use crate::blocks::BLOCK_FEATURES;

/// One bin of the 16 features of a block: packed sums.
pub(crate) type CellRow = [u64; BLOCK_FEATURES];
