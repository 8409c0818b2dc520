//! What can be typed about the data of a command.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rankwise::data::Absent;
use rankwise::io::{ColumnOptions, Format, Header, ReadOptions};

use crate::failure::user;

/// How to read the data. The same holds for every data file of a command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Form of the data")]
pub(crate) struct DataArgs {
    /// Form of the data; by default its content and its name tell.
    #[arg(long, value_name = "FORMAT", value_enum)]
    data_format: Option<DataFormat>,
    /// Column with the labels, by name or by number from 0; none if there is none. So with the next five. By default
    /// columns are found by their usual names; without a header the label comes first, then the qid.
    #[arg(long, value_name = "COLUMN")]
    label_column: Option<String>,
    /// Column with the ids of the queries.
    #[arg(long, value_name = "COLUMN")]
    qid_column: Option<String>,
    /// Column with the ids of the documents.
    #[arg(long, value_name = "COLUMN")]
    doc_column: Option<String>,
    /// Column with the weights of the documents.
    #[arg(long, value_name = "COLUMN")]
    weight_column: Option<String>,
    /// Column with the weights of the queries.
    #[arg(long, value_name = "COLUMN")]
    query_weight_column: Option<String>,
    /// Column with the positions at which documents were shown.
    #[arg(long, value_name = "COLUMN")]
    position_column: Option<String>,
    /// Columns to pass over, separated by commas.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore_columns: Vec<String>,
    /// Whether the first line of CSV or TSV names the columns [default: auto]
    #[arg(long, value_name = "WHEN", value_enum)]
    header: Option<HeaderArg>,
    /// What separates the fields of CSV or TSV: one character, or tab.
    #[arg(long, value_name = "CHAR", value_parser = separator)]
    separator: Option<u8>,
    /// File that says which column is what, as CatBoost reads it.
    #[arg(long, value_name = "FILE")]
    column_description: Option<PathBuf>,
}

/// A form of data, as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataFormat {
    /// `label qid:ID feature:value ...` in each line.
    Letor,
    /// Text with commas.
    Csv,
    /// Text with tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
}

impl From<DataFormat> for Format {
    fn from(typed: DataFormat) -> Self {
        match typed {
            DataFormat::Letor => Self::Letor,
            DataFormat::Csv => Self::Csv,
            DataFormat::Tsv => Self::Tsv,
            DataFormat::Parquet => Self::Parquet,
        }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum HeaderArg {
    Auto,
    Yes,
    No,
}

fn separator(typed: &str) -> Result<u8, String> {
    let byte = match typed.as_bytes() {
        b"tab" | b"\\t" => b'\t',
        [byte] if byte.is_ascii() => *byte,
        _ => return Err("give one ASCII character, or tab".into()),
    };
    if byte.is_ascii_alphanumeric() || b"\"+-.\n\r".contains(&byte) {
        return Err("numbers, ids or lines hold this character; give another".into());
    }
    Ok(byte)
}

impl DataArgs {
    /// What was typed, for the reader.
    pub(crate) fn options(&self, absent: Absent) -> ReadOptions {
        let columns = ColumnOptions {
            label: self.label_column.clone(),
            qid: self.qid_column.clone(),
            doc_id: self.doc_column.clone(),
            weight: self.weight_column.clone(),
            query_weight: self.query_weight_column.clone(),
            position: self.position_column.clone(),
            ignore: self.ignore_columns.clone(),
            header: match self.header {
                None | Some(HeaderArg::Auto) => Header::Auto,
                Some(HeaderArg::Yes) => Header::Yes,
                Some(HeaderArg::No) => Header::No,
            },
            separator: self.separator,
            description: self.column_description.clone(),
            is_label_optional: false,
        };
        ReadOptions { format: self.data_format.map(Into::into), columns, ..ReadOptions::new(absent) }
    }

    /// Takes an entry of a configuration file, which gives way to what was typed. Says whether it is one of these.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> anyhow::Result<bool> {
        let text = |place: &mut Option<String>| {
            place.get_or_insert_with(|| value.to_owned());
        };
        let bad = |expected: String| user(format!("'{name}' cannot be '{value}'; {expected}"));
        match name.replace('-', "_").as_str() {
            "label_column" => text(&mut self.label_column),
            "qid_column" => text(&mut self.qid_column),
            "doc_column" => text(&mut self.doc_column),
            "weight_column" => text(&mut self.weight_column),
            "query_weight_column" => text(&mut self.query_weight_column),
            "position_column" => text(&mut self.position_column),
            "ignore_columns" if self.ignore_columns.is_empty() => {
                self.ignore_columns = value.split(',').map(Into::into).collect();
            }
            "data_format" => {
                let typed =
                    DataFormat::from_str(value, true).map_err(|_| bad("give letor, csv, tsv or parquet".into()))?;
                self.data_format.get_or_insert(typed);
            }
            "header" => {
                let typed = HeaderArg::from_str(value, true).map_err(|_| bad("give auto, yes or no".into()))?;
                self.header.get_or_insert(typed);
            }
            "separator" => {
                let typed = separator(value).map_err(bad)?;
                self.separator.get_or_insert(typed);
            }
            "column_description" => {
                self.column_description.get_or_insert_with(|| value.into());
            }
            "ignore_columns" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}
