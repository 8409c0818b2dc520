//! The hot loops: slices in, slices out, compiled for each instruction set, the same bits on all of them.

// Without it a function would be compiled once, for the oldest machine, and not anew for each instruction set.
#![allow(clippy::inline_always)]

pub(crate) mod exp;
pub(crate) mod pairs;
