//! Reads datasets from files and writes results to files.
//!
//! * [`read_dataset`] detects a file's format (LETOR, CSV, TSV, Parquet) from content and name, and reads it with its
//!   side files into a [`Dataset`](rankwise_data::Dataset). [`ReadOptions`] describe the file where detection is not
//!   enough.
//! * [`read_datasets`] reads several files, folders and patterns as one dataset; [`read_data`] also reports how columns
//!   and side files were used.
//! * [`write_dataset`] writes a dataset in any of these formats; it reads back as the same dataset.
//! * [`write_cache`] writes binned data, which training reads faster than any text.
//! * [`read_letor`], [`read_letor_from`] and [`LetorWriter`] read and write LETOR text alone.
//! * [`read_scores`] and [`write_scores`] handle one score per line.
//! * [`read_qrels`] and [`read_run`] read TREC judgements and runs.
//! * [`write_atomically`] replaces a file as a whole or not at all; [`check_writable`] checks beforehand whether that
//!   would succeed.
//! * [`read_bytes`] reads any other file, decompressed.
//! * [`IoError`] says where input is invalid, `FILE:LINE:COL`, and how to fix it.
//!
//! Input is never trusted: any bytes give a result or an error, and memory use is bounded by a constant times the size
//! of the rows. This crate knows nothing of models, metrics or training.
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

pub use atomic::{check_writable, create_folder, create_folders, remove_unfinished_files, write_atomically};
pub use byte_stream::read_bytes;
pub use cache::write_cache;
pub use column_problem::{ColumnProblem, TakenColumn};
pub use columns::names_among_ids;
pub use error::{Action, IoError, Place};
pub use letor::{LetorWriter, read_letor, read_letor_from};
pub use numbering::read_feature_names;
pub use options::{
    FeatureOwner, Format, Header, LayoutParams, LayoutSpec, QidScope, ReadOptions, Separator, SetLayout,
};
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
