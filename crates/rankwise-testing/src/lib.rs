//! Shared by the tests of all crates: the location of public data, and reports of skips.
//!
//! A test harness prints nothing about tests that pass, so a test that returns early looks like one that ran. A test
//! therefore reports what it skips with [`skip`]. `cargo xtask test` sets `RANKWISE_SKIPS` to a file, to which reports
//! are appended, and lists them at the end.
#![forbid(unsafe_code)]

mod data;
mod skip;

pub use data::{DATA, public_data};
pub use skip::{SKIPS, Skip, SkipKind, skip};
