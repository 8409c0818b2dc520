//! The hot loops. Each has a plain version and, if that is not fast enough, one for AVX-512; tests compare them.

// Kernels must be compiled for each instruction set.
#![allow(clippy::inline_always)]

pub(crate) mod leaves;
pub(crate) mod masks;
pub(crate) mod rank;
pub(crate) mod reach;
pub(crate) mod trees;
