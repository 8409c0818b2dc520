//! The error type of this crate. Messages are complete: place, problem, remedy.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rankwise_data::DataError;

use crate::blocks::PARQUET;
use crate::column_problem::ColumnProblem;
use crate::options::FeatureOwner;
use crate::parts::PartProblem;
use crate::problem::Problem;
use crate::unpack::Excess;

/// Input that cannot be read, or output that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// An invalid line.
    #[error("{}:{line}:{column}: {}", input(path), problem.describe(found))]
    Line {
        /// The file; `-` is standard input.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The byte in the line, from 1.
        column: usize,
        /// The text at that place, shortened and escaped.
        found: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A file operation failed.
    #[error("{}: cannot {action}: {}", if *action == Action::Write { output(path) } else { input(path) }, reason(*action, source))]
    File {
        /// The file; `-` is standard input or output.
        path: PathBuf,
        /// What was being done.
        action: Action,
        /// What the system said.
        source: io::Error,
    },
    /// Compressed data is truncated or corrupt.
    #[error(
        "{}: the {codec} data is damaged or cut off{} ({source}); copy or compress the file again",
        input(path),
        after(*line)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// `gzip` or `zstd`.
        codec: &'static str,
        /// The last whole line that could be read.
        line: u64,
        /// What the decoder said.
        source: io::Error,
    },
    /// Compressed data that would take excessive memory or time.
    #[error("{}: the {codec} data {excess}; {}", input(path), excess.advice())]
    Excess {
        /// The file.
        path: PathBuf,
        /// `gzip` or `zstd`.
        codec: &'static str,
        /// What is excessive.
        excess: Excess,
    },
    /// Another format than expected.
    #[error("{}: this is {format}; {}", input(path), format_advice(format))]
    Format {
        /// The file.
        path: PathBuf,
        /// The detected format.
        format: &'static str,
    },
    /// A cache of binned data, but values are needed.
    #[error("{}: {}; use the data that it was made from", input(path), cache_problem(*reader))]
    CacheHere {
        /// The file.
        path: PathBuf,
        /// What needs the values.
        reader: FeatureOwner,
    },
    /// A damaged cache of binned data.
    #[error("{}: the cache is damaged ({what}); make it again with convert-data", input(path))]
    Cache {
        /// The file.
        path: PathBuf,
        /// The invalid part.
        what: &'static str,
    },
    /// The columns of a table are not as needed.
    #[error("{}: {problem}", input(path))]
    Columns {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: ColumnProblem,
    },
    /// Column options for a file without columns.
    #[error(
        "{}: this is read as {form}, which has no named columns; remove the column options, or set `data_format` csv or tsv",
        input(path)
    )]
    NoColumns {
        /// The file.
        path: PathBuf,
        /// Its format.
        form: &'static str,
    },
    /// Pairs for a cache, whose row keys were computed without them.
    #[error(
        "{}: a cache of binned data has its own pairs; remove `pairs`, or make the cache again from data with a file \
         DATA.pairs next to it",
        input(path)
    )]
    PairsForCache {
        /// The file.
        path: PathBuf,
    },
    /// A file of pairs without any.
    #[error(
        "{}: there are no pairs; write one pair per line: the row numbers of the better and the worse document",
        input(path)
    )]
    NoPairs {
        /// The file.
        path: PathBuf,
    },
    /// The same information comes from two places.
    #[error("{}: {other} gives {what} too; keep one of them", input(path))]
    GivenTwice {
        /// The file to fix.
        path: PathBuf,
        /// The other place.
        other: String,
        /// The information.
        what: &'static str,
    },
    /// Files that cannot be read as one dataset.
    #[error("{}: {problem}", input(path))]
    Part {
        /// The file, folder or pattern to fix.
        path: PathBuf,
        /// What is wrong.
        problem: PartProblem,
    },
    /// A value in a binary table does not have the type of its column. Rows count from 1.
    #[error("{}: row {row}: {}", input(path), problem.describe(found))]
    Row {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u64,
        /// The value, shortened.
        found: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// Not a Parquet file, although one was expected.
    #[error(
        "{}: not a Parquet file (no PAR1 header); set `data_format` to the actual format: letor, csv or tsv",
        input(path)
    )]
    NotParquet {
        /// The file.
        path: PathBuf,
    },
    /// A Parquet file that was compressed as a whole; such files cannot be read in parts.
    #[error(
        "{}: this Parquet file is compressed with {codec}; decompress it, since Parquet has its own compression",
        input(path)
    )]
    PackedParquet {
        /// The file.
        path: PathBuf,
        /// `gzip` or `zstd`.
        codec: &'static str,
    },
    /// A truncated or corrupt Parquet file.
    #[error("{}: the Parquet data is damaged or cut off{place} ({reason}); write or copy the file again", input(path))]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Where, or empty.
        place: String,
        /// What the decoder said.
        reason: String,
    },
    /// The output format cannot represent something in the data.
    #[error("{}: cannot write: {reason}", output(path))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What it cannot represent, and the remedy.
        reason: String,
    },
    /// All lines are valid, but together they do not make a dataset. The file is the one to fix: the data or a side
    /// file.
    #[error("{}: {source}", input(path))]
    Data {
        /// The file.
        path: PathBuf,
        /// The error.
        source: DataError,
    },
}

/// Where an error is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file; `-` is standard input or output.
    pub path: PathBuf,
    /// The line, from 1, if known.
    pub line: Option<u64>,
    /// The byte in the line, from 1, if known.
    pub column: Option<u64>,
}

impl Place {
    /// A file as a whole.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), line: None, column: None }
    }
}

impl IoError {
    /// The file to fix, and the place in it.
    pub fn place(&self) -> Place {
        match self {
            Self::Line { path, line, column, .. } => {
                Place { path: path.clone(), line: Some(*line), column: Some(*column as u64) }
            }
            Self::File { path, .. }
            | Self::Damaged { path, .. }
            | Self::Excess { path, .. }
            | Self::Format { path, .. }
            | Self::CacheHere { path, .. }
            | Self::Cache { path, .. }
            | Self::Columns { path, .. }
            | Self::NoColumns { path, .. }
            | Self::PairsForCache { path }
            | Self::NoPairs { path }
            | Self::GivenTwice { path, .. }
            | Self::Part { path, .. }
            | Self::Row { path, .. }
            | Self::NotParquet { path }
            | Self::PackedParquet { path, .. }
            | Self::Parquet { path, .. }
            | Self::Unwritable { path, .. }
            | Self::Data { path, .. } => Place::file(path),
        }
    }
}

/// A file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Opening it for reading.
    Open,
    /// Reading from it.
    Read,
    /// Creating, writing or renaming it.
    Write,
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Open => "open",
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// Whether a path means standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn input(path: &Path) -> String {
    if is_stream(path) { "<stdin>".into() } else { path.display().to_string() }
}

fn output(path: &Path) -> String {
    if is_stream(path) { "<stdout>".into() } else { path.display().to_string() }
}

fn cache_problem(reader: FeatureOwner) -> &'static str {
    match reader {
        FeatureOwner::Model => "this is a cache of binned data, which can only be used for training",
        FeatureOwner::StartModel => "a start model needs feature values, but this is a cache of binned data",
        FeatureOwner::TrainingData => "this is a cache of binned data, which cannot be used for validation",
    }
}

fn format_advice(format: &str) -> &'static str {
    if format == PARQUET { "use text here, or set `data_format` parquet" } else { "convert it to UTF-8" }
}

fn after(line: u64) -> String {
    if line == 0 { String::new() } else { format!(" after line {line}") }
}

fn reason(action: Action, error: &io::Error) -> String {
    match (error.kind(), action) {
        (ErrorKind::NotFound, Action::Write) => "its folder does not exist; create the folder first".into(),
        (ErrorKind::NotFound, _) => "no such file; check the name and the current folder".into(),
        (ErrorKind::IsADirectory, _) => "this is a folder; give a file".into(),
        (ErrorKind::AlreadyExists, Action::Write) => "a file with this name exists; give a folder".into(),
        (ErrorKind::NotADirectory, _) => "a part of the path is a file, not a folder; check the path".into(),
        (ErrorKind::PermissionDenied, Action::Write) => {
            "permission denied; use another place or change the permissions of the folder".into()
        }
        (ErrorKind::PermissionDenied, _) => {
            "permission denied; change the permissions of the file or its folder".into()
        }
        (ErrorKind::StorageFull, _) => "the disk is full; free some space or use another place".into(),
        (ErrorKind::QuotaExceeded, _) => "the disk quota is exceeded; free some space or use another place".into(),
        (ErrorKind::FileTooLarge, _) => "the file size limit is exceeded; raise the limit (ulimit -f)".into(),
        (ErrorKind::ReadOnlyFilesystem, _) => "the file system is read-only; use another place".into(),
        _ => error.to_string(),
    }
}
