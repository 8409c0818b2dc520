//! A Parquet file into rows: columns are decoded in parallel, some rows at a time; features are kept as columns.

use std::fs::File;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use rankwise_data::{ColumnValues, DataError, Dataset, DatasetBuilder, MAX_ROWS, RowBlock};
use rayon::prelude::*;

use super::cells::{Cells, ColumnCells};
use super::file::{Checked, SharedFile, check_description};
use super::guard::guarded;
use super::kind::{Kind, kind_for};
use crate::columns::{ColumnProblem, Columns, Names};
use crate::error::{Action, IoError};
use crate::options::Role;
use crate::problem::{Problem, name, shown};
use crate::read::Input;
use crate::source::Source;

/// Rows that are decoded together: so many that the pages of a column are used up while they are in the cache, so few that a
/// bad label is found before much has been decoded in vain.
const CHUNK_ROWS: usize = 128 << 10;
/// What pandas calls the column of its index.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads a file, or a stream as a whole: the description of the columns stands at the end.
pub(crate) fn read_source(mut source: Source<'_>, input: Input<'_>) -> Result<Dataset, IoError> {
    if let Some(codec) = source.codec() {
        return Err(IoError::PackedParquet { path: input.path.into(), codec });
    }
    // The name or the user said that it is Parquet, which the content need not know.
    if !source.begins_with(super::MAGIC)? {
        return Err(IoError::NotParquet { path: input.path.into() });
    }
    if !input.is_file {
        return read_chunks(Bytes::from(source.read_to_end()?), input);
    }
    let open = |source| IoError::File { path: input.path.into(), action: Action::Open, source };
    let file = SharedFile::new(File::open(input.path).map_err(open)?).map_err(open)?;
    read_chunks(file, input)
}

pub(super) fn read_chunks(file: impl ChunkReader + 'static, input: Input<'_>) -> Result<Dataset, IoError> {
    let damage = |error: ParquetError| damaged(&input, String::new(), &error);
    check_description(&file).map_err(damage)?;
    let reader = guarded(|| SerializedFileReader::new(Checked(file))).map_err(damage)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let mut options = input.options.clone();
    options.columns.ignore = ignored(&input.options.columns.ignore, &names);
    let input = Input { options: &options, ..input };
    let columns = input.resolve(&Names::Given(&names))?;
    let kinds = used_columns(&columns)
        .map(|(column, role)| Ok((column, role, kind_for(&schema.column(column), role)?)))
        .collect::<Result<Vec<(usize, Role, Kind)>, _>>()
        .map_err(|problem| IoError::Columns { path: input.path.into(), problem })?;

    let n_rows = reader.metadata().row_groups().iter().fold(0i64, |sum, group| sum.saturating_add(group.num_rows()));
    check_count(n_rows, &input)?;
    let mut table = Table::new(&kinds);
    for group in 0..reader.num_row_groups() {
        let group = RowGroup { input: &input, columns: &columns, group };
        group.read(&reader, &kinds, &mut table)?;
    }
    let mut builder = DatasetBuilder::new(input.options.absent);
    builder.push_block(table.into_block());
    builder.feature_names(columns.feature_names.clone());
    let input = Input { options: input.options, ..input };
    input.finish(builder)
}

/// The columns to pass over: all parts of a nested one, and the index of pandas.
fn ignored(typed: &[String], names: &[String]) -> Vec<String> {
    let is_part =
        |name: &String, whole: &String| name.strip_prefix(whole.as_str()).is_some_and(|rest| rest.starts_with('.'));
    let parts = |whole: &String| {
        let parts: Vec<String> = names.iter().filter(|name| is_part(name, whole)).cloned().collect();
        if parts.is_empty() { vec![whole.clone()] } else { parts }
    };
    let index = names.iter().filter(|name| name.starts_with(PANDAS_INDEX)).cloned();
    typed.iter().flat_map(parts).chain(index).collect()
}

/// A few bytes can stand for any number of equal rows, so their number is checked before they are decoded.
fn check_count(n_rows: i64, input: &Input<'_>) -> Result<(), IoError> {
    match usize::try_from(n_rows) {
        Ok(rows) if rows > MAX_ROWS => {
            let source = DataError::TooManyRows { rows, limit: MAX_ROWS };
            Err(IoError::Data { path: input.path.into(), source })
        }
        _ => Ok(()),
    }
}

fn used_columns(columns: &Columns) -> impl Iterator<Item = (usize, Role)> {
    columns.roles.iter().copied().enumerate().filter(|(_, role)| *role != Role::Ignored)
}

fn damaged(input: &Input<'_>, place: String, error: &ParquetError) -> IoError {
    let reason = match error {
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text) => text.clone(),
        other => other.to_string(),
    };
    IoError::Parquet { path: input.path.into(), place, reason: shown(reason.as_bytes()) }
}

/// The rows so far: what each has beside its features, and the features by column.
struct Table {
    rows: RowBlock,
    /// In the order of the columns of the file; nothing where one is no feature.
    features: Vec<(Option<u32>, ColumnValues)>,
}

impl Table {
    fn new(kinds: &[(usize, Role, Kind)]) -> Self {
        let feature = |role: &Role| if let Role::Feature(id) = role { Some(*id) } else { None };
        let features = kinds.iter().map(|(_, role, _)| (feature(role), ColumnValues::default())).collect();
        Self { rows: RowBlock::default(), features }
    }

    fn into_block(mut self) -> RowBlock {
        let features = self.features.into_iter().filter_map(|(id, values)| Some((id?, values)));
        let mut features: Vec<(u32, ColumnValues)> = features.collect();
        features.sort_unstable_by_key(|(id, _)| *id);
        let (ids, columns): (Vec<u32>, Vec<ColumnValues>) = features.into_iter().unzip();
        self.rows.set_columns(&ids, columns);
        self.rows
    }
}

struct RowGroup<'a> {
    input: &'a Input<'a>,
    columns: &'a Columns,
    group: usize,
}

impl RowGroup<'_> {
    fn read<F: ChunkReader + 'static>(
        &self,
        file: &SerializedFileReader<F>,
        kinds: &[(usize, Role, Kind)],
        table: &mut Table,
    ) -> Result<(), IoError> {
        let group = guarded(|| file.get_row_group(self.group)).map_err(|error| self.damaged(None, &error))?;
        let mut readers = Vec::with_capacity(kinds.len());
        for (column, role, kind) in kinds {
            self.check_codec(*column, group.metadata().column(*column).compression())?;
            let reader =
                guarded(|| group.get_column_reader(*column)).map_err(|error| self.damaged(Some(*column), &error))?;
            readers.push(ColumnCells { role: *role, kind: *kind, reader });
        }
        let negative = || ParquetError::General("the number of rows is negative".into());
        let mut left = usize::try_from(group.metadata().num_rows()).map_err(|_| self.damaged(None, &negative()))?;
        while left > 0 {
            let n_rows = left.min(CHUNK_ROWS);
            let columns = readers.par_iter_mut().zip(&mut table.features);
            let decoded: Vec<_> =
                columns.map(|(reader, (_, values))| guarded(|| reader.read(n_rows, values))).collect();
            let mut others = Vec::new();
            for (column, (number, role, _)) in decoded.into_iter().zip(kinds) {
                let cells = column.map_err(|error| self.damaged(Some(*number), &error))?;
                others.extend(cells.map(|cells| (cells, *number, *role)));
            }
            self.push_rows(&others, n_rows, &mut table.rows)?;
            left -= n_rows;
        }
        Ok(())
    }

    fn check_codec(&self, column: usize, codec: Compression) -> Result<(), IoError> {
        let codec = match codec {
            Compression::BROTLI(_) => "brotli",
            Compression::LZO => "lzo",
            _ => return Ok(()),
        };
        let problem = ColumnProblem::Codec { column: self.columns.shown[column].clone(), codec };
        Err(IoError::Columns { path: self.input.path.into(), problem })
    }

    /// Adds rows, each with what it has beside its features.
    fn push_rows(&self, cells: &[(Cells, usize, Role)], n_rows: usize, rows: &mut RowBlock) -> Result<(), IoError> {
        let first_row = rows.n_rows();
        for row in 0..n_rows {
            let mut ids = Ids::default();
            for (cells, column, role) in cells {
                ids.add(rows, cells, *role, row).map_err(|(found, problem)| {
                    let cell = || Problem::Cell { column: self.columns.shown[*column].clone(), noun: role.noun() };
                    let problem = problem.unwrap_or_else(cell);
                    let row = (first_row + row + 1) as u64;
                    IoError::Row { path: self.input.path.into(), row, found: shown(found.as_bytes()), problem }
                })?;
            }
            rows.start_row(ids.qid, ids.label, ids.doc_id);
        }
        Ok(())
    }

    fn damaged(&self, column: Option<usize>, error: &ParquetError) -> IoError {
        let column = column.map_or_else(String::new, |column| format!(", column {}", self.columns.shown[column]));
        damaged(self.input, format!(" in row group {}{column}", self.group), error)
    }
}

/// What a row has beside its features.
#[derive(Default)]
struct Ids<'a> {
    label: f32,
    qid: &'a str,
    doc_id: &'a str,
}

impl<'a> Ids<'a> {
    /// Takes the value of one column, or gives it back with what is wrong beside its kind.
    fn add(
        &mut self,
        block: &mut RowBlock,
        cells: &'a Cells,
        role: Role,
        row: usize,
    ) -> Result<(), (String, Option<Problem>)> {
        match cells {
            Cells::Names(names) => {
                let text = names.get(row);
                name(text.as_bytes(), role.noun()).map_err(|problem| (text.to_owned(), Some(problem)))?;
                match role {
                    Role::Qid if text.is_empty() => return Err((String::new(), None)),
                    Role::Qid => self.qid = text,
                    _ => self.doc_id = text,
                }
            }
            Cells::Numbers(numbers) => {
                let (number, weight) = (numbers[row], numbers[row] as f32);
                let found = || if number.is_nan() { String::new() } else { number.to_string() };
                match role {
                    Role::Position if (0.0..=f64::from(u32::MAX)).contains(&number) && number.fract() == 0.0 => {
                        block.push_position(number as u32);
                    }
                    Role::Position => return Err((found(), None)),
                    _ if !(weight.is_finite() && weight >= 0.0) => return Err((found(), None)),
                    Role::Label => self.label = weight,
                    Role::Weight => block.push_weight(weight),
                    _ => block.push_query_weight(weight),
                }
            }
        }
        Ok(())
    }
}
