//! Reports what a reader found: the files, and how it used columns and side files.

use std::path::PathBuf;

use rankwise_data::Dataset;

use crate::options::Format;

/// Data with a report of its files.
#[derive(Debug)]
pub struct ReadData<D = Dataset> {
    /// The data.
    pub data: D,
    /// What was found in the files.
    pub report: ReadReport,
}

/// What was found in the files of a dataset.
#[derive(Clone, Debug, Default)]
pub struct ReadReport {
    /// The files, in the order of the rows.
    pub parts: Vec<PartReport>,
    /// The columns of a table, in the order of the first file by path.
    pub columns: Vec<ColumnUse>,
    /// Queries with rows in several files.
    pub split_queries: Option<SplitQueries>,
    /// Whether `feature_names` was ignored, because the columns have names.
    pub ignores_names: bool,
}

impl ReadReport {
    /// The side files of all parts.
    pub fn side_files(&self) -> impl Iterator<Item = &SideFile> {
        self.parts.iter().flat_map(|part| &part.side_files)
    }
}

/// One file.
#[derive(Clone, Debug)]
pub struct PartReport {
    /// The file; `-` is standard input.
    pub path: PathBuf,
    /// Its format; `None` for a cache of binned data.
    pub format: Option<Format>,
    /// The number of its rows.
    pub rows: usize,
    /// The side files that were read.
    pub side_files: Vec<SideFile>,
}

/// A side file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideFile {
    /// The file.
    pub path: PathBuf,
    /// What it holds: `query sizes`, `document weights`, `query weights`, `positions` or `pairs`.
    pub role: &'static str,
}

/// How a column was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnUse {
    /// Its name, or its number from 0.
    pub name: String,
    /// `label`, `qid`, `doc`, `weight`, `query_weight`, `position`, `feature` or `ignored`.
    pub role: &'static str,
    /// The feature id, for features.
    pub feature: Option<u32>,
}

/// Queries that have rows in more than one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitQueries {
    /// How many there are.
    pub count: usize,
    /// The id of one of them: the first by id.
    pub qid: String,
    /// Two of the files that hold its rows.
    pub paths: [PathBuf; 2],
}
