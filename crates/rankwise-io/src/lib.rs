//! Files in, data sets out, and results back into files.
//!
//! * [`read_dataset`] tells a file's format by its content and reads it, with its side files, into a
//!   [`Dataset`](rankwise_data::Dataset); [`read_letor`] and [`read_letor_from`] take LETOR text, compressed or not.
//! * [`LetorWriter`] writes rows as LETOR text.
//! * [`read_scores`] and [`write_scores`] handle one score per line.
//! * [`read_qrels`] and [`read_run`] take the judgements and runs of TREC.
//! * [`write_atomically`] puts a whole file in place or leaves the old one as it was; [`check_writable`] tells beforehand
//!   whether it could.
//! * [`read_bytes`] gives a file of any other kind, uncompressed.
//! * [`IoError`] says where input is wrong, `FILE:LINE:COL`, and what to do about it.
//!
//! Input is never trusted: any bytes give a result or an error, and memory stays within a constant times what the rows
//! themselves take. This crate knows nothing of models, metrics or training.
#![forbid(unsafe_code)]

mod atomic;
mod blocks;
mod error;
mod letor;
mod lists;
mod number;
mod problem;
mod scores;
mod side_files;
mod source;
mod trec;

pub use atomic::{check_writable, write_atomically};
pub use error::{Action, IoError};
pub use letor::{LetorWriter, read_dataset, read_letor, read_letor_from};
pub use problem::Problem;
pub use scores::{read_scores, read_scores_from, write_scores};
pub use source::read_bytes;
pub use trec::{Qrels, Run, TrecEntry, TrecTable, read_qrels, read_qrels_from, read_run, read_run_from};
