//! What the tests of all crates share: where public data is, and how a test says that it skipped something.
//!
//! A test harness shows nothing of a test that passes, so a test that returns early looks like one that ran. Here a test
//! reports what it skips with [`skip`]; `cargo xtask test` names a file in `RANKWISE_SKIPS`, to which reports are
//! appended, and lists them at the end.
#![forbid(unsafe_code)]

mod data;
mod skip;

pub use data::{DATA, public_data};
pub use skip::{SKIPS, Skip, SkipKind, skip};
