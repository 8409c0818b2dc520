//! Detects the format of a file and reads it with its side files.

use std::path::{Path, PathBuf};

use rankwise_data::{Absent, CachedDataset, Dataset, LoadedData, RowBlock};

use crate::byte_stream::ByteStream;
use crate::column_problem::ColumnProblem;
use crate::columns::{Names, resolve};
use crate::description::kind_of;
use crate::error::{IoError, is_stream};
use crate::options::{Format, ReadOptions, Role};
use crate::parts::Agreement;
use crate::report::{PartReport, ReadData, ReadReport};
use crate::resolved::Resolved;
use crate::side_files::{SideFiles, expected_sizes_path};
use crate::{cache, csv, letor, numbering, parquet};

/// Reads a dataset. Content and name determine the format; content determines the compression. `-` is standard input.
/// The side files `DATA.query`, `DATA.weight`, `DATA.query_weight`, `DATA.group_weights`, `DATA.position` and
/// `DATA.pairs` are read if they exist.
pub fn read_dataset(path: &Path, absent: Absent) -> Result<Dataset, IoError> {
    read_dataset_with(path, &ReadOptions::new(absent))
}

/// [`read_dataset`] with options.
pub fn read_dataset_with(path: &Path, options: &ReadOptions) -> Result<Dataset, IoError> {
    Ok(read_file(path, options)?.data)
}

/// [`read_dataset_with`], with a report of what was found.
pub(crate) fn read_file(path: &Path, options: &ReadOptions) -> Result<ReadData, IoError> {
    let mut source = ByteStream::open(path)?;
    if is_cache(&mut source, options)? {
        return Err(IoError::CacheHere { path: path.into(), reader: options.feature_owner });
    }
    read_opened(source, path, options)
}

/// [`read_dataset_with`] for training: the file can also be a cache of binned data.
pub fn read_training_data(path: &Path, options: &ReadOptions) -> Result<LoadedData, IoError> {
    Ok(read_training_file(path, options)?.data)
}

/// [`read_training_data`], with a report of what was found.
pub(crate) fn read_training_file(path: &Path, options: &ReadOptions) -> Result<ReadData<LoadedData>, IoError> {
    let mut source = ByteStream::open(path)?;
    if is_cache(&mut source, options)? {
        let data = read_cache(source, path, options)?;
        let part = PartReport { path: path.into(), format: None, rows: data.n_rows(), side_files: Vec::new() };
        let report = ReadReport { parts: vec![part], ..ReadReport::default() };
        return Ok(ReadData { data: LoadedData::Cached(data), report });
    }
    let ReadData { data, report } = read_opened(source, path, options)?;
    Ok(ReadData { data: LoadedData::Values(data), report })
}

/// [`read_dataset_with`] from any source; `name` is used in errors and to detect the format, like a file name. Without
/// side files.
pub fn read_dataset_from(
    input: impl std::io::Read + Send,
    name: &Path,
    options: &ReadOptions,
) -> Result<Dataset, IoError> {
    let mut source = ByteStream::new(input, name)?;
    if is_cache(&mut source, options)? {
        return Err(IoError::CacheHere { path: name.into(), reader: options.feature_owner });
    }
    let format = format_of(&mut source, name, options)?;
    let input = Input::without_side_files(name, options).with_pairs()?;
    let rows = read_rows(source, format, &input)?;
    input.build(rows)
}

/// Reads a cache of binned data from any source; `name` is used in errors.
pub fn read_cache_from(input: impl std::io::Read + Send, name: &Path) -> Result<CachedDataset, IoError> {
    cache::read_source(ByteStream::new(input, name)?, name)
}

fn read_opened(mut source: ByteStream<'_>, path: &Path, options: &ReadOptions) -> Result<ReadData, IoError> {
    let format = format_of(&mut source, path, options)?;
    let input = Input::of(path, options)?;
    let rows = read_rows(source, format, &input)?;
    let columns = rows.resolved.as_ref().map(Resolved::uses).unwrap_or_default();
    let side_files = input.side_files.list();
    let ignores_names = rows.resolved.as_ref().is_some_and(|resolved| ignores_names(resolved, options));
    let data = input.build(rows)?;
    let part = PartReport { path: path.into(), format: Some(format), rows: data.n_rows(), side_files };
    Ok(ReadData { data, report: ReadReport { parts: vec![part], columns, split_queries: None, ignores_names } })
}

/// Whether `feature_names` names features of a table that has names of its own.
pub(crate) fn ignores_names(resolved: &Resolved, options: &ReadOptions) -> bool {
    options.layout.feature_names.is_some() && !resolved.columns.feature_names.is_empty()
}

/// The rows of a file in blocks, in file order.
#[derive(Default)]
pub(crate) struct FileRows {
    pub(crate) blocks: Vec<RowBlock>,
    /// The columns of a table.
    pub(crate) resolved: Option<Resolved>,
    /// The types of the used columns of a binary table.
    pub(crate) types: Vec<(String, &'static str)>,
}

/// Reads the rows of a file.
pub(crate) fn read_rows(source: ByteStream<'_>, format: Format, input: &Input<'_>) -> Result<FileRows, IoError> {
    match format {
        Format::Letor => {
            refuse_columns(input.path, input.options, "LETOR text")?;
            letor::read_rows(source, input)
        }
        Format::Csv => csv::read_rows(source, b',', input),
        Format::Tsv => csv::read_rows(source, b'\t', input),
        Format::Parquet => parquet::read_rows(source, input),
    }
}

/// The roles of a file's columns; `None` if it has none.
pub(crate) fn read_columns(
    source: ByteStream<'_>,
    format: Format,
    input: &Input<'_>,
) -> Result<Option<Resolved>, IoError> {
    match format {
        Format::Letor => Ok(None),
        Format::Csv => csv::read_columns(source, b',', input),
        Format::Tsv => csv::read_columns(source, b'\t', input),
        Format::Parquet => parquet::read_columns(source, input).map(Some),
    }
}

pub(crate) fn is_cache(source: &mut ByteStream<'_>, options: &ReadOptions) -> Result<bool, IoError> {
    Ok(options.layout.data_format.is_none() && source.begins_with(cache::MAGIC)?)
}

fn read_cache(source: ByteStream<'_>, path: &Path, options: &ReadOptions) -> Result<CachedDataset, IoError> {
    let layout = &options.layout;
    if layout.feature_offset != 0 || layout.feature_names.is_some() {
        return Err(IoError::Columns { path: path.into(), problem: ColumnProblem::CacheNumbers });
    }
    refuse_columns(path, options, "a cache of binned data")?;
    if options.pairs.is_some() {
        return Err(IoError::PairsForCache { path: path.into() });
    }
    cache::read_source(source, path)
}

/// Options for columns are an error if the format has none.
fn refuse_columns(path: &Path, options: &ReadOptions, form: &'static str) -> Result<(), IoError> {
    if options.layout.has_columns() { Err(IoError::NoColumns { path: path.into(), form }) } else { Ok(()) }
}

/// The format from the options, the first bytes or the name, in this order.
pub(crate) fn format_of(source: &mut ByteStream<'_>, path: &Path, options: &ReadOptions) -> Result<Format, IoError> {
    if let Some(format) = options.layout.data_format {
        return Ok(format);
    }
    if source.begins_with(parquet::MAGIC)? {
        return Ok(Format::Parquet);
    }
    let described = options.layout.column_description.as_ref().map(|_| Format::Tsv);
    Ok(described.or_else(|| Format::of_name(path)).unwrap_or(Format::Letor))
}

/// A file to read, with everything known in advance.
pub(crate) struct Input<'a> {
    pub(crate) path: &'a Path,
    pub(crate) options: &'a ReadOptions,
    /// Whether the path is a file; otherwise the content comes from a stream.
    pub(crate) is_file: bool,
    pub(crate) side_files: SideFiles,
    /// Where query sizes would be; `None` for streams.
    pub(crate) expected_sizes: Option<PathBuf>,
    /// The columns to expect, if there are other files.
    pub(crate) agreement: Option<&'a Agreement>,
    /// The number of files read at the same time.
    pub(crate) n_readers: usize,
}

impl<'a> Input<'a> {
    pub(crate) fn of(path: &'a Path, options: &'a ReadOptions) -> Result<Self, IoError> {
        if is_stream(path) {
            return Self::without_side_files(path, options).with_pairs();
        }
        let side_files = SideFiles::read(path)?;
        let expected_sizes = Some(expected_sizes_path(path));
        Self { is_file: true, side_files, expected_sizes, ..Self::without_side_files(path, options) }.with_pairs()
    }

    pub(crate) fn without_side_files(path: &'a Path, options: &'a ReadOptions) -> Self {
        let side_files = SideFiles::default();
        Self { path, options, is_file: false, side_files, expected_sizes: None, agreement: None, n_readers: 1 }
    }

    /// Reads the file of pairs that the options name.
    fn with_pairs(self) -> Result<Self, IoError> {
        Ok(Self { side_files: self.side_files.with_pairs(self.options.pairs.as_deref())?, ..self })
    }

    /// Determines the role of each column of a table, and checks that nothing is missing or given twice. The options
    /// are those of the input, or those that follow from a column description.
    pub(crate) fn resolve(&self, names: &Names<'_>, options: &ReadOptions) -> Result<Resolved, IoError> {
        let at_path = |problem| IoError::Columns { path: self.path.into(), problem };
        let has_sizes = self.side_files.sizes_path().is_some();
        let described = options.layout.column_description.as_deref();
        let not_described = |role: Role, sizes: Option<String>, file: &Path| {
            let file = file.display().to_string();
            at_path(ColumnProblem::NotDescribed { noun: role.noun(), kind: kind_of(role), file, sizes })
        };
        let n_columns = names.len();
        let columns = resolve(names, options, has_sizes).map_err(|problem| match (problem, described) {
            (ColumnProblem::Unknown { typed, .. }, Some(file)) => {
                let problem = ColumnProblem::Described { number: typed, last: n_columns.saturating_sub(1) };
                IoError::Columns { path: file.into(), problem }
            }
            (ColumnProblem::NoLabel { .. }, Some(file)) => not_described(Role::Label, None, file),
            (problem, _) => at_path(problem),
        })?;
        for (role, name) in columns.roles.iter().zip(&columns.shown) {
            if let Some(side) = self.side_files.path_of(*role) {
                let what = match role {
                    Role::Qid => "the queries",
                    Role::Weight => "document weights",
                    Role::QueryWeight => "query weights",
                    _ => "positions",
                };
                let other = format!("column {name} of {}", self.path.display());
                return Err(IoError::GivenTwice { path: side.into(), other, what });
            }
        }
        if !has_sizes && !columns.roles.contains(&Role::Qid) {
            let sizes = self.expected_sizes.as_ref().map(|path| path.display().to_string());
            if let Some(file) = described {
                return Err(not_described(Role::Qid, sizes, file));
            }
            let taken = columns.taken(names, &options.layout, Role::Qid);
            return Err(at_path(ColumnProblem::NoQueries { taken, sizes, columns: columns.list() }));
        }
        let resolved = Resolved::new(names, columns);
        match self.agreement {
            Some(agreement) => agreement.apply(self.path, resolved),
            None => Ok(resolved),
        }
    }

    /// Builds a dataset from this file alone.
    pub(crate) fn build(self, rows: FileRows) -> Result<Dataset, IoError> {
        let mut builder = self.options.builder();
        rows.blocks.into_iter().for_each(|block| builder.push_block(block));
        if let Some(resolved) = rows.resolved {
            builder.feature_names(resolved.columns.feature_names);
        }
        let names = self.side_files.give_to(&mut builder);
        let data = builder.finish().map_err(|error| names.explain(self.path, self.options, error))?;
        numbering::apply(data, self.options, self.path)
    }
}
