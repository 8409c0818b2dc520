//! Reads data from several files: finds the files, checks that their columns agree, and combines their rows in one
//! builder.
//!
//! ```text
//! paths, folders, patterns -> files -> columns of the first by path -> blocks of each file -> one builder
//!                                      (agreement)                     (side files spread)
//! ```
//!
//! Rows keep the order in which the files are given. The ids of named features and of queries without ids must not
//! depend on that order; they follow the sorted paths.

mod agreement;
mod find;
mod spread;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rankwise_data::{DataError, Dataset, DatasetBuilder, LoadedData, RowBlock};
use rayon::prelude::*;

pub(crate) use self::agreement::Agreement;
pub use self::agreement::PartProblem;
pub use self::find::find_data_files;
use self::spread::{Part, spread};
use crate::byte_stream::ByteStream;
use crate::error::IoError;
use crate::numbering;
use crate::options::{Format, QidScope, ReadOptions};
use crate::parquet::PartTable;
use crate::problem::Problem;
use crate::read::{self, FileRows, Input};
use crate::report::{PartReport, ReadData, ReadReport, SplitQueries};
use crate::resolved::Resolved;
use crate::row_lines::data_error;

/// Reads several files as one dataset. A path can be a file, a folder with data files, or a pattern such as
/// `part-*.parquet`; see [`find_data_files`].
///
/// The dataset is the same as from a single file with all rows, whatever the order of the files. Columns are matched by
/// name, and a query with rows in several files is one query (unless [`QidScope`] says otherwise). Results in input
/// order follow the files as given. Each file can have its own side files.
///
/// ```
/// use rankwise_data::Absent;
/// use rankwise_io::{ReadOptions, read_datasets};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// std::fs::write(folder.join("part-1.csv"), "label,qid,price,age\n1,shoes,9.5,3\n0,shoes,7,1\n").unwrap();
/// std::fs::write(folder.join("part-2.csv"), "qid,label,age,price\nhats,2,4,20\n").unwrap();
/// let data = read_datasets(&[folder.to_path_buf()], &ReadOptions::new(Absent::Missing))?;
/// assert_eq!((data.n_rows(), data.n_queries(), data.n_features()), (3, 2, 2));
/// # Ok::<(), rankwise_io::IoError>(())
/// ```
pub fn read_datasets(paths: &[PathBuf], options: &ReadOptions) -> Result<Dataset, IoError> {
    Ok(read_data(paths, options)?.data)
}

/// [`read_datasets`], with a report of what was found.
pub fn read_data(paths: &[PathBuf], options: &ReadOptions) -> Result<ReadData, IoError> {
    match &find_data_files(paths)?[..] {
        [] => Err(no_path()),
        [path] => read::read_file(path, options),
        files => read_files(files, options),
    }
}

/// [`read_data`] for training: a single file can also be a cache of binned data.
pub fn read_data_to_train(paths: &[PathBuf], options: &ReadOptions) -> Result<ReadData<LoadedData>, IoError> {
    let files = find_data_files(paths)?;
    match &files[..] {
        [] => return Err(no_path()),
        [path] => return read::read_training_file(path, options),
        _ => {}
    }
    let ReadData { data, report } = read_files(&files, options)?;
    Ok(ReadData { data: LoadedData::Values(data), report })
}

fn no_path() -> IoError {
    IoError::Part { path: "data files".into(), problem: PartProblem::NoPath }
}

fn read_files(files: &[PathBuf], options: &ReadOptions) -> Result<ReadData, IoError> {
    let at = |path: &Path, problem| IoError::Part { path: path.into(), problem };
    if let Some(pairs) = &options.pairs {
        return Err(at(pairs, PartProblem::Pairs));
    }
    let formats = files.iter().map(|path| format_of(path, options)).collect::<Result<Vec<Format>, _>>()?;
    // Indices of the files, sorted by path.
    let mut sorted: Vec<usize> = (0..files.len()).collect();
    sorted.sort_by_key(|place| &files[*place]);
    let agreement = agree(files, &formats, &sorted, options)?;
    for (path, format) in files.iter().zip(&formats) {
        agreement.check_format(path, *format)?;
    }
    let reader = PartReader { options, agreement: &agreement };
    let mut builder = options.builder();
    let mut parts = if formats.iter().all(|format| *format == Format::Parquet) {
        reader.read_tables(files, &mut builder)?
    } else {
        reader.read_in_parallel(files, &formats)?
    };
    let first_rows = spread(&mut parts, &sorted, options.layout.qid_scope == QidScope::File)?;

    let columns = agreement.resolved().map(Resolved::uses).unwrap_or_default();
    let split_queries = split_queries(&parts);
    let report = |part: &Part| PartReport {
        path: part.path.clone(),
        format: Some(part.format),
        rows: part.n_rows,
        side_files: part.side_files.clone(),
    };
    let ignores_names = agreement.resolved().is_some_and(|resolved| read::ignores_names(resolved, options));
    let report = ReadReport { parts: parts.iter().map(report).collect(), columns, split_queries, ignores_names };
    let mut pairs = Vec::new();
    for part in &mut parts {
        pairs.append(&mut part.pairs);
        for block in std::mem::take(&mut part.rows.blocks) {
            builder.push_block(block);
        }
    }
    if !pairs.is_empty() {
        builder.pairs(pairs);
    }
    builder.feature_names(agreement.into_feature_names());
    let data = builder.finish().map_err(|error| explain(error, &parts, &first_rows, options))?;
    let data = numbering::apply(data, options, &files[0])?;
    Ok(ReadData { data, report })
}

fn format_of(path: &Path, options: &ReadOptions) -> Result<Format, IoError> {
    let mut source = ByteStream::open(path)?;
    if read::is_cache(&mut source, options)? {
        return Err(IoError::Part { path: path.into(), problem: PartProblem::Cache });
    }
    read::format_of(&mut source, path, options)
}

/// The columns of the first file by path that has columns.
fn agree(files: &[PathBuf], formats: &[Format], sorted: &[usize], options: &ReadOptions) -> Result<Agreement, IoError> {
    for place in sorted {
        let (path, format) = (&files[*place], formats[*place]);
        let input = Input::of(path, options)?;
        let resolved = read::read_columns(ByteStream::open(path)?, format, &input)?;
        // A table without a first line is empty; it does not determine the columns.
        if resolved.is_some() || format == Format::Letor {
            return Ok(Agreement::new(path, format, resolved, &input.side_files));
        }
    }
    let path = &files[sorted[0]];
    Err(IoError::Data { path: path.clone(), source: DataError::Empty })
}

/// Reads files that are known to be compatible.
struct PartReader<'a> {
    options: &'a ReadOptions,
    agreement: &'a Agreement,
}

impl PartReader<'_> {
    /// Reads as many files at a time as there are threads. They share the read-ahead memory of one file. Threads
    /// without a file help to parse.
    fn read_in_parallel(&self, files: &[PathBuf], formats: &[Format]) -> Result<Vec<Part>, IoError> {
        let (mut parts, mut types) = (Vec::with_capacity(files.len()), Types::default());
        let n_readers = rayon::current_num_threads();
        for (files, formats) in files.chunks(n_readers).zip(formats.chunks(n_readers)) {
            let read = |(path, format): (&PathBuf, &Format)| {
                self.read(path, *format, files.len(), |source, input| read::read_rows(source, *format, input))
            };
            let wave: Vec<Result<Part, IoError>> = files.par_iter().zip(formats).map(read).collect();
            for part in wave {
                let part = part?;
                types.add(&part.path, &part.rows.types)?;
                parts.push(part);
            }
        }
        Ok(parts)
    }

    /// Reads binary tables one after another, with all columns in parallel, so that the values of a feature stay
    /// contiguous.
    fn read_tables(&self, files: &[PathBuf], builder: &mut DatasetBuilder) -> Result<Vec<Part>, IoError> {
        let (mut parts, mut types) = (Vec::with_capacity(files.len()), Types::default());
        let mut table = PartTable::expecting(files);
        for path in files {
            let part = self.read(path, Format::Parquet, 1, |source, input| table.read(source, input))?;
            types.add(&part.path, &part.rows.types)?;
            parts.push(part);
        }
        let (features, columns) = table.into_columns();
        builder.columns(features, columns);
        Ok(parts)
    }

    fn read(
        &self,
        path: &Path,
        format: Format,
        n_readers: usize,
        read: impl FnOnce(ByteStream<'_>, &Input<'_>) -> Result<FileRows, IoError>,
    ) -> Result<Part, IoError> {
        let input = Input { agreement: Some(self.agreement), n_readers, ..Input::of(path, self.options)? };
        self.agreement.check_side_files(path, &input.side_files)?;
        let rows = read(ByteStream::open(path)?, &input)?;
        Ok(Part::new(path, format, rows, input.side_files))
    }
}

/// The type of each column, and the first file that has it.
#[derive(Default)]
struct Types(HashMap<String, (&'static str, PathBuf)>);

impl Types {
    fn add(&mut self, path: &Path, types: &[(String, &'static str)]) -> Result<(), IoError> {
        for (column, found) in types {
            let (expected, other) = self.0.entry(column.clone()).or_insert_with(|| (*found, path.into()));
            if expected != found {
                let (column, other) = (column.clone(), other.clone());
                let problem = PartProblem::Type { column, found, other, expected };
                return Err(IoError::Part { path: path.into(), problem });
            }
        }
        Ok(())
    }
}

/// Queries with rows in several files.
fn split_queries(parts: &[Part]) -> Option<SplitQueries> {
    let mut first_part: HashMap<&str, usize> = HashMap::new();
    let mut split: Vec<(&str, usize, usize)> = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        for (qid, _) in part.rows.blocks.iter().flat_map(RowBlock::qid_runs) {
            let first = *first_part.entry(qid).or_insert(place);
            if first != place {
                split.push((qid, first, place));
            }
        }
    }
    split.sort_unstable();
    split.dedup_by_key(|(qid, ..)| *qid);
    let (qid, first, second) = *split.first()?;
    let paths = [first, second].map(|place| parts[place].path.clone());
    Some(SplitQueries { count: split.len(), qid: qid.into(), paths })
}

/// Adds the file to fix to an error; rows and pairs count from 1 in each file.
fn explain(error: DataError, parts: &[Part], first_rows: &[usize], options: &ReadOptions) -> IoError {
    let part_of = |row: usize| {
        let place = first_rows.partition_point(|first| *first < row).saturating_sub(1);
        (&parts[place], row - first_rows[place])
    };
    let (path, source) = match error {
        DataError::Pair { mut pair, problem } => {
            for part in parts {
                if let Some(path) = &part.pairs_path {
                    if pair <= part.n_pairs {
                        let (path, line) = (path.clone(), pair as u64);
                        let problem = Problem::Pair(part.local(problem));
                        return IoError::Line { path, line, column: 1, found: String::new(), problem };
                    }
                    pair -= part.n_pairs;
                }
            }
            (parts[0].path.clone(), DataError::Pair { pair, problem })
        }
        DataError::WeightProduct { row } => {
            let (part, row) = part_of(row);
            (part.path.clone(), DataError::WeightProduct { row })
        }
        DataError::QueryWeightDiffers { row, weight, first } => {
            let (part, row) = part_of(row);
            (part.path.clone(), DataError::QueryWeightDiffers { row, weight, first })
        }
        other => (parts[0].path.clone(), other),
    };
    data_error(&path, options, source)
}
