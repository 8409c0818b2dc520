//! Files in, datasets out, and results back into files.
//!
//! * [`read_dataset`] tells a file's format (LETOR, CSV, TSV, Parquet) by its content and its name and reads it, with its
//!   side files, into a [`Dataset`](rankwise_data::Dataset); [`ReadOptions`] say what else is known about it.
//! * [`read_datasets`] reads several files, folders and patterns as one dataset; [`read_data`] also says what became of columns
//!   and side files.
//! * [`write_dataset`] writes a dataset in any of these formats, so that it reads back as the same.
//! * [`write_cache`] writes its bins instead, which training reads faster than any text.
//! * [`read_letor`], [`read_letor_from`] and [`LetorWriter`] read and write LETOR text alone.
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
mod batches;
mod blocks;
mod byte_stream;
mod cache;
mod column_problem;
mod columns;
mod csv;
#[cfg(test)]
mod damage;
mod description;
mod error;
mod letor;
mod lists;
mod number;
mod numbering;
mod options;
mod parquet;
mod parts;
mod problem;
mod read;
mod report;
mod resolved;
mod row_lines;
mod scores;
mod side_files;
mod trec;
mod unpack;
mod write;

pub use atomic::{check_writable, remove_unfinished_files, write_atomically};
pub use byte_stream::read_bytes;
pub use cache::write_cache;
pub use column_problem::ColumnProblem;
pub use error::{Action, IoError, Place};
pub use letor::{LetorWriter, read_letor, read_letor_from};
pub use numbering::read_feature_names;
pub use options::{Format, Header, LayoutParams, LayoutSpec, QidScope, ReadOptions, Separator, SetLayout};
pub use parquet::is_decoding;
pub use parts::{PartProblem, find_data_files, read_data, read_data_to_train, read_datasets};
pub use problem::Problem;
pub use read::{read_cache_from, read_dataset, read_dataset_from, read_dataset_with, read_training_data};
pub use report::{ColumnUse, PartReport, ReadData, ReadReport, SideFile, SplitQueries};
pub use row_lines::line_of_row;
pub use scores::{read_scores, read_scores_from, write_scores};
pub use side_files::side_file_paths;
pub use trec::{Qrels, TrecEntry, TrecRun, TrecTable, read_qrels, read_qrels_from, read_run, read_run_from};
pub use unpack::Excess;
pub use write::write_dataset;
