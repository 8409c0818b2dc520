//! The hot loops: slices in, slices out, compiled for each instruction set, with identical results on all.

// Without inlining, a function would be compiled once, for the oldest supported machine, instead of for each
// instruction set.
#![allow(clippy::inline_always)]
// Lanes are numbered, and must not branch.
#![allow(clippy::needless_range_loop, clippy::needless_bitwise_bool)]

pub(crate) mod clocks;
pub(crate) mod exp;
pub(crate) mod jumps;
pub(crate) mod ln;
pub(crate) mod neighbours;
pub(crate) mod noise;
pub(crate) mod pairs;
pub(crate) mod soft_ranks;

use std::ops::AddAssign;

/// The sum of the lanes, in a fixed order: the halves are added repeatedly.
#[inline(always)]
fn fold<T: AddAssign + Copy, const N: usize>(mut lanes: [T; N]) -> T {
    let mut width = N / 2;
    while width > 0 {
        for lane in 0..width {
            let other = lanes[lane + width];
            lanes[lane] += other;
        }
        width /= 2;
    }
    lanes[0]
}
