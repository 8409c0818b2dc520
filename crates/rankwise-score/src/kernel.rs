//! The loops that take the time. Each is written plainly, and where that is not enough for AVX-512 too; tests compare them.

// Kernels must be compiled anew for each kind of machine.
#![allow(clippy::inline_always)]

pub(crate) mod leaves;
pub(crate) mod masks;
pub(crate) mod rank;
pub(crate) mod reach;
pub(crate) mod trees;
