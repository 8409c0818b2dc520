//! The lines of rows: what is counted in rows is reported in lines, which an editor can show.

use std::path::Path;

use rankwise_data::DataError;

use crate::byte_stream::ByteStream;
use crate::error::{IoError, is_stream};
use crate::options::{Format, ReadOptions};
use crate::problem::Problem;
use crate::read::{Input, format_of};
use crate::{csv, letor};

/// The line, from 1, in which a row of a text file begins. Rows count from 1. `None` for a stream, a binary file, or a file
/// that has no such row. Reads the file again, up to the row.
pub fn line_of_row(path: &Path, options: &ReadOptions, row: usize) -> Option<u64> {
    if is_stream(path) {
        return None;
    }
    let mut source = ByteStream::open(path).ok()?;
    match format_of(&mut source, path, options).ok()? {
        Format::Letor => letor::line_of_row(source, row),
        Format::Csv => csv::line_of_row(source, b',', &Input::of(path, options).ok()?, row),
        Format::Tsv => csv::line_of_row(source, b'\t', &Input::of(path, options).ok()?, row),
        Format::Parquet => None,
    }
}

/// The error of a file whose rows make no dataset, with the line if it is about one row of a text file.
pub(crate) fn data_error(path: &Path, options: &ReadOptions, source: DataError) -> IoError {
    let (row, problem) = match &source {
        DataError::QueryWeightDiffers { row, weight, first } => {
            (*row, Problem::QueryWeightDiffers { weight: weight.to_string().into(), first: first.to_string().into() })
        }
        DataError::WeightProduct { row } => (*row, Problem::WeightProduct),
        _ => return IoError::Data { path: path.into(), source },
    };
    match line_of_row(path, options, row) {
        Some(line) => IoError::Line { path: path.into(), line, column: 1, found: String::new(), problem },
        None => IoError::Data { path: path.into(), source },
    }
}
