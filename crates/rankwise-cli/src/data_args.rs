//! What can be typed about data and about the rules of metrics.

use std::path::Path;

use clap::ValueEnum;
use rankwise::data::Absent;
use rankwise::io::{Format, LayoutSpec, ReadOptions};
use rankwise::metrics::RulesSpec;
use rankwise::params::ParamError;

use crate::group_args::GroupArgs;

/// How to read the data. The same holds for every data file of a command.
pub(crate) type DataArgs = GroupArgs<LayoutSpec>;

/// The rules of the metrics.
pub(crate) type RulesArgs = GroupArgs<RulesSpec>;

impl DataArgs {
    /// What was typed, for the reader.
    pub(crate) fn options(&self, absent: Absent) -> Result<ReadOptions, ParamError> {
        let mut options = ReadOptions::new(absent);
        self.apply(&mut options.layout)?;
        Ok(options)
    }
}

/// What data can be turned into, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataTarget {
    /// `label qid:ID feature:value ...` in each line.
    Letor,
    /// Text with commas.
    Csv,
    /// Text with tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Bins, for training.
    Cache,
}

impl DataTarget {
    /// What the name of a file calls for.
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

    /// The format of data, if it is one that other programs read too.
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
