//! Options for reading data and for metric rules.

use std::path::Path;

use clap::ValueEnum;
use rankwise::data::Absent;
use rankwise::io::{Format, LayoutSpec, ReadOptions};
use rankwise::metrics::RulesSpec;
use rankwise::params::ParamError;

use crate::group_args::GroupArgs;

/// How to read data; applies to every data file of a command.
pub(crate) type DataArgs = GroupArgs<LayoutSpec>;

/// The rules of the metrics.
pub(crate) type RulesArgs = GroupArgs<RulesSpec>;

impl DataArgs {
    /// The typed options, for the reader.
    pub(crate) fn options(&self, absent: Absent) -> Result<ReadOptions, ParamError> {
        let mut options = ReadOptions::new(absent);
        self.apply(&mut options.layout)?;
        Ok(options)
    }
}

/// An output format of `convert-data`, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataTarget {
    /// LETOR text: `label qid:ID feature:value ...` per line.
    Letor,
    /// Comma-separated text.
    Csv,
    /// Tab-separated text.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Cache of binned data, for training.
    Cache,
}

impl DataTarget {
    /// The format that a file name's extension selects.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("rwcache")) {
            return Some(Self::Cache);
        }
        Some(match Format::of_name(path)? {
            Format::Letor => Self::Letor,
            Format::Csv => Self::Csv,
            Format::Tsv => Self::Tsv,
            Format::Parquet => Self::Parquet,
        })
    }

    /// The data format; `None` for a cache.
    pub(crate) fn format(self) -> Option<Format> {
        match self {
            Self::Letor => Some(Format::Letor),
            Self::Csv => Some(Format::Csv),
            Self::Tsv => Some(Format::Tsv),
            Self::Parquet => Some(Format::Parquet),
            Self::Cache => None,
        }
    }
}
