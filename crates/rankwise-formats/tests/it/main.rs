//! Models written for other programs, and read again.

mod exports;
#[path = "../../../rankwise-score/tests/it/random.rs"]
mod random;
mod shown;
mod standalone;
