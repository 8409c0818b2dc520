//! The hot loops: slices in, slices out, compiled for each instruction set, the same bits on all of them.

pub(crate) mod exp;
pub(crate) mod pairs;
