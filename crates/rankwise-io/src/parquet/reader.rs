//! Reads a Parquet file into rows. Columns are decoded in parallel, a few rows at a time; features stay in columns.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, Length as _, RowGroupReader, SerializedFileReader};
use parquet::file::serialized_reader::SerializedPageReader;
use rankwise_data::{ColumnValues, DataError, Keep, MAX_ROWS, RowBlock};
use rayon::prelude::*;

use super::cells::{Cells, ColumnCells};
use super::file::{Checked, Part, SharedFile, check_description};
use super::guard::guarded;
use super::kind::{Kind, kind_for};
use super::pages::Stored;
use crate::byte_stream::ByteStream;
use crate::column_problem::ColumnProblem;
use crate::columns::{Columns, Names};
use crate::error::{Action, IoError};
use crate::options::Role;
use crate::problem::{Problem, name, shown};
use crate::read::{FileRows, Input};
use crate::resolved::Resolved;

/// Number of rows whose labels and ids are decoded together: few enough to stay in the cache, and to find an invalid
/// row early.
const CHUNK_ROWS: usize = 16 << 10;
/// Memory for values is reserved up to this many bytes, plus a number of bytes for each byte of the file.
const FREE_BYTES: u64 = 32 << 20;
const BYTES_PER_BYTE: u64 = 16;
/// Memory of a row besides its features.
const ROW_BYTES: u64 = 16;
/// The name that pandas gives its index column.
const PANDAS_INDEX: &str = "__index_level_";

/// Reads a file, or a whole stream, because the metadata is at the end.
pub(crate) fn read_rows(source: ByteStream<'_>, input: &Input<'_>) -> Result<FileRows, IoError> {
    if input.is_file {
        return read_chunks(&opened(source, input)?, input);
    }
    let mut source = checked(source, input)?;
    read_chunks(&Bytes::from(source.read_to_end()?), input)
}

/// Determines the roles of a file's columns.
pub(crate) fn read_columns(source: ByteStream<'_>, input: &Input<'_>) -> Result<Resolved, IoError> {
    Ok(OpenFile::new(&opened(source, input)?, input)?.resolved)
}

/// Checks the content, because the format may come from the name or an option.
fn checked<'a>(mut source: ByteStream<'a>, input: &Input<'_>) -> Result<ByteStream<'a>, IoError> {
    if let Some(codec) = source.codec() {
        return Err(IoError::PackedParquet { path: input.path.into(), codec });
    }
    if !source.begins_with(super::MAGIC)? {
        return Err(IoError::NotParquet { path: input.path.into() });
    }
    Ok(source)
}

fn opened(source: ByteStream<'_>, input: &Input<'_>) -> Result<SharedFile, IoError> {
    checked(source, input)?;
    let open = |source| IoError::File { path: input.path.into(), action: Action::Open, source };
    SharedFile::new(File::open(input.path).map_err(open)?).map_err(open)
}

pub(super) fn read_chunks<F: ChunkReader + Clone + 'static>(file: &F, input: &Input<'_>) -> Result<FileRows, IoError> {
    let open = OpenFile::new(file, input)?;
    let mut table = Table::new(&open.kinds, believed(open.n_rows, open.n_features(), file.len()));
    open.read(input, &mut table)?;
    Ok(FileRows { blocks: vec![table.into_block()], types: open.types(), resolved: Some(open.resolved) })
}

/// The rows of several files: one block per file, with the features in common columns.
pub(crate) struct PartTable {
    table: Option<Table>,
    /// The numbers of rows and bytes that all files state.
    n_stated: usize,
    n_bytes: u64,
    /// The rows so far.
    n_rows: usize,
}

impl PartTable {
    /// A table for the rows of these files. Invalid files are detected later, when they are read.
    pub(crate) fn expecting(paths: &[PathBuf]) -> Self {
        let mut table = Self { table: None, n_stated: 0, n_bytes: 0, n_rows: 0 };
        for file in paths.iter().filter_map(|path| File::open(path).and_then(SharedFile::new).ok()) {
            table.n_bytes = table.n_bytes.saturating_add(file.len());
            let reader = check_description(&file).and_then(|()| guarded(|| SerializedFileReader::new(Checked(file))));
            let n_rows = reader.map_or(0, |reader| reader.metadata().file_metadata().num_rows());
            table.n_stated = table.n_stated.saturating_add(usize::try_from(n_rows).unwrap_or(0));
        }
        table
    }

    /// Reads one more file, which must have the same features as those before. The returned block has no values.
    pub(crate) fn read(&mut self, source: ByteStream<'_>, input: &Input<'_>) -> Result<FileRows, IoError> {
        let file = opened(source, input)?;
        let open = OpenFile::new(&file, input)?;
        self.n_rows = check_count(self.n_rows.saturating_add(open.n_rows), input)?;
        let n_expected = believed(self.n_stated, open.n_features(), self.n_bytes);
        let table = self.table.get_or_insert_with(|| Table::new(&open.kinds, n_expected));
        table.turn_to(&open.kinds);
        open.read(input, table)?;
        let blocks = vec![std::mem::take(&mut table.rows)];
        Ok(FileRows { blocks, types: open.types(), resolved: Some(open.resolved) })
    }

    /// The features, ascending, and their columns.
    pub(crate) fn into_columns(self) -> (Vec<u32>, Vec<ColumnValues>) {
        self.table.map(Table::into_columns).unwrap_or_default()
    }
}

/// A file whose metadata has been read.
struct OpenFile<'f, F: ChunkReader + Clone + 'static> {
    file: &'f F,
    reader: SerializedFileReader<Checked<F>>,
    resolved: Resolved,
    /// The columns that are used.
    kinds: Vec<(usize, Role, Kind)>,
    n_rows: usize,
}

impl<'f, F: ChunkReader + Clone + 'static> OpenFile<'f, F> {
    fn new(file: &'f F, input: &Input<'_>) -> Result<Self, IoError> {
        let damage = |error: ParquetError| damaged(input, String::new(), &error);
        check_description(file).map_err(damage)?;
        let reader = guarded(|| SerializedFileReader::new(Checked(file.clone()))).map_err(damage)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
        let mut options = input.options.clone();
        options.layout.ignore_columns = ignored(&input.options.layout.ignore_columns, &names);
        let resolved = input.resolve(&Names::Stored(&names), &options)?;
        let kinds = used_columns(&resolved.columns)
            .map(|(column, role)| Ok((column, role, kind_for(&schema.column(column), role)?)))
            .collect::<Result<Vec<(usize, Role, Kind)>, _>>()
            .map_err(|problem| IoError::Columns { path: input.path.into(), problem })?;
        let groups = reader.metadata().row_groups().iter();
        // A negative number is detected when the row group is read.
        let n_rows = groups.fold(0i64, |sum, group| sum.saturating_add(group.num_rows()));
        let n_rows = check_count(usize::try_from(n_rows).unwrap_or(0), input)?;
        Ok(Self { file, reader, resolved, kinds, n_rows })
    }

    fn n_features(&self) -> usize {
        self.kinds.iter().filter(|(_, role, _)| matches!(role, Role::Feature(_))).count()
    }

    /// The types of the columns that are used, by name.
    fn types(&self) -> Vec<(String, &'static str)> {
        let shown = &self.resolved.columns.shown;
        self.kinds.iter().map(|(column, _, kind)| (shown[*column].clone(), kind.type_name())).collect()
    }

    fn read(&self, input: &Input<'_>, table: &mut Table) -> Result<(), IoError> {
        for number in 0..self.reader.num_row_groups() {
            let group = guarded(|| self.reader.get_row_group(number))
                .map_err(|error| damaged(input, format!(" in row group {number}"), &error))?;
            RowGroup { file: self.file, input, columns: &self.resolved.columns, number, group }
                .read(&self.kinds, table)?;
        }
        Ok(())
    }
}

/// The columns to ignore: all parts of a nested column, and the pandas index.
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

/// Checks the number of rows before decoding: a few bytes can encode any number of equal rows.
fn check_count(rows: usize, input: &Input<'_>) -> Result<usize, IoError> {
    if rows > MAX_ROWS {
        let source = DataError::TooManyRows { rows, limit: MAX_ROWS };
        return Err(IoError::Data { path: input.path.into(), source });
    }
    Ok(rows)
}

/// The number of rows to reserve memory for: the stated number if the file is large enough for it, else 0.
fn believed(n_rows: usize, n_features: usize, n_bytes: u64) -> usize {
    let row_bytes = (n_features as u64).saturating_mul(size_of::<f32>() as u64).saturating_add(ROW_BYTES);
    let needed = (n_rows as u64).saturating_mul(row_bytes);
    if needed <= n_bytes.saturating_mul(BYTES_PER_BYTE).saturating_add(FREE_BYTES) { n_rows } else { 0 }
}

fn used_columns(columns: &Columns) -> impl Iterator<Item = (usize, Role)> {
    columns.roles.iter().copied().enumerate().filter(|(_, role)| *role != Role::Ignored)
}

fn damaged(input: &Input<'_>, place: String, error: &ParquetError) -> IoError {
    let reason = match error {
        ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text) => text.clone(),
        other => other.to_string(),
    };
    // The first sentence says what is wrong; the rest gives internal details.
    let sentence = reason.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let reason = if sentence.starts_with("Parquet file too small") {
        "the file is too small".into()
    } else {
        shown(sentence.as_bytes())
    };
    IoError::Parquet { path: input.path.into(), place, reason }
}

/// The rows so far: everything but features by row, and the features by column.
struct Table {
    rows: RowBlock,
    /// In the order of the file's columns.
    features: Vec<Feature>,
}

struct Feature {
    id: u32,
    column: usize,
    kind: Kind,
    values: ColumnValues,
}

impl Table {
    fn new(kinds: &[(usize, Role, Kind)], n_expected: usize) -> Self {
        let feature = |(column, role, kind): &(usize, Role, Kind)| match role {
            Role::Feature(id) => {
                Some(Feature { id: *id, column: *column, kind: *kind, values: ColumnValues::expecting(n_expected) })
            }
            _ => None,
        };
        let mut rows = RowBlock::default();
        rows.reserve(n_expected);
        Self { rows, features: kinds.iter().filter_map(feature).collect() }
    }

    /// Continues with another file, which may have the same features in other columns.
    fn turn_to(&mut self, kinds: &[(usize, Role, Kind)]) {
        let features = self.features.drain(..).map(|feature| (feature.id, feature.values));
        let mut values: HashMap<u32, ColumnValues> = features.collect();
        self.features.extend(kinds.iter().filter_map(|(column, role, kind)| match role {
            Role::Feature(id) => {
                Some(Feature { id: *id, column: *column, kind: *kind, values: values.remove(id).unwrap_or_default() })
            }
            _ => None,
        }));
    }

    fn into_block(mut self) -> RowBlock {
        let mut rows = std::mem::take(&mut self.rows);
        let (ids, columns) = self.into_columns();
        rows.set_columns(&ids, columns);
        rows
    }

    fn into_columns(mut self) -> (Vec<u32>, Vec<ColumnValues>) {
        self.features.sort_unstable_by_key(|feature| feature.id);
        self.features.into_iter().map(|feature| (feature.id, feature.values)).unzip()
    }
}

struct RowGroup<'a, F> {
    file: &'a F,
    input: &'a Input<'a>,
    columns: &'a Columns,
    number: usize,
    group: Box<dyn RowGroupReader + 'a>,
}

impl<F: ChunkReader> RowGroup<'_, F> {
    fn read(&self, kinds: &[(usize, Role, Kind)], table: &mut Table) -> Result<(), IoError> {
        for (column, ..) in kinds {
            self.check_codec(*column, self.group.metadata().column(*column).compression())?;
        }
        let negative = || ParquetError::General("the number of rows is negative".into());
        let n_rows = self.group.metadata().num_rows();
        let n_rows = usize::try_from(n_rows).map_err(|_| self.damaged(None, &negative()))?;
        if n_rows == 0 {
            return Ok(());
        }
        let is_feature = |role: &Role| matches!(role, Role::Feature(_));
        // Trust the number of rows only if some column really has that many.
        if kinds.iter().all(|(_, role, _)| is_feature(role)) {
            self.read_features(n_rows, &mut table.features)?;
            return self.push_rows(&[], n_rows, &mut table.rows);
        }
        let mut others = Vec::new();
        for (column, role, kind) in kinds.iter().filter(|(_, role, _)| !is_feature(role)) {
            let cells = guarded(|| self.cells(*column, *kind)).map_err(|error| self.damaged(Some(*column), &error))?;
            others.push((cells, *column, *role));
        }
        for start in (0..n_rows).step_by(CHUNK_ROWS) {
            let n_rows = CHUNK_ROWS.min(n_rows - start);
            let decoded = others.par_iter_mut().map(|(cells, column, role)| {
                guarded(|| cells.read(*role, n_rows))
                    .map(|cells| (cells, *column, *role))
                    .map_err(|error| self.damaged(Some(*column), &error))
            });
            let decoded = decoded.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>, _>>()?;
            self.push_rows(&decoded, n_rows, &mut table.rows)?;
        }
        self.read_features(n_rows, &mut table.features)
    }

    fn read_features(&self, n_rows: usize, features: &mut [Feature]) -> Result<(), IoError> {
        let read = |feature: &mut Feature| {
            guarded(|| self.read_feature(n_rows, feature)).map_err(|error| self.damaged(Some(feature.column), &error))
        };
        let done: Vec<_> = features.par_iter_mut().map(read).collect();
        // The first error in column order, whatever the number of threads.
        done.into_iter().collect()
    }

    fn read_feature(&self, n_rows: usize, feature: &mut Feature) -> parquet::errors::Result<()> {
        let Feature { column, kind, values, .. } = feature;
        let start = values.len();
        let chunk = self.group.metadata().column(*column);
        let descriptor = chunk.column_descr();
        let physical_type = descriptor.physical_type();
        let keep = if physical_type == Type::FLOAT { Keep::Rounded } else { self.input.options.keep };
        let is_done = match Stored::new(physical_type, *kind, descriptor.max_def_level() > 0, keep) {
            Some(stored) => {
                let (start, length) = chunk.byte_range();
                let part = Arc::new(Checked(Part::read(self.file, start, length)?));
                let mut pages = SerializedPageReader::new(part, chunk, n_rows, None)?;
                stored.read(&mut pages, n_rows, values)?
            }
            None => false,
        };
        if !is_done {
            values.truncate(start);
            let mut cells = self.cells(*column, *kind)?;
            for start in (0..n_rows).step_by(CHUNK_ROWS) {
                let n_rows = CHUNK_ROWS.min(n_rows - start);
                if keep == Keep::Rounded {
                    values.append(|values| cells.numbers(n_rows, |number| values.push(number as f32)))?;
                    continue;
                }
                let mut numbers = Vec::with_capacity(n_rows);
                cells.numbers(n_rows, |number| numbers.push(number))?;
                if keep == Keep::All {
                    values.append_f64(&numbers);
                } else {
                    values.append_where_needed(&numbers);
                }
            }
        }
        let is_whole = values.len() == start + n_rows;
        is_whole.then_some(()).ok_or_else(|| ParquetError::General("its rows cannot be counted".into()))
    }

    fn cells(&self, column: usize, kind: Kind) -> parquet::errors::Result<ColumnCells> {
        Ok(ColumnCells { kind, reader: self.group.get_column_reader(column)? })
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

    /// Adds rows, with everything but their features.
    fn push_rows(&self, cells: &[(Cells, usize, Role)], n_rows: usize, rows: &mut RowBlock) -> Result<(), IoError> {
        let first_row = rows.n_rows();
        let mut last_qid = "";
        for row in 0..n_rows {
            let mut ids = Ids { qid: last_qid, ..Ids::default() };
            for (cells, column, role) in cells {
                ids.add(rows, cells, *role, row).map_err(|(found, problem)| {
                    let cell = || Problem::Cell { column: self.columns.shown[*column].clone(), noun: role.noun() };
                    let problem = problem.unwrap_or_else(cell);
                    let row = (first_row + row + 1) as u64;
                    IoError::Row { path: self.input.path.into(), row, found: shown(found.as_bytes()), problem }
                })?;
            }
            rows.start_row(ids.qid, ids.label, ids.doc_id);
            last_qid = ids.qid;
        }
        Ok(())
    }

    fn damaged(&self, column: Option<usize>, error: &ParquetError) -> IoError {
        let column = column.map_or_else(String::new, |column| format!(", column {}", self.columns.shown[column]));
        damaged(self.input, format!(" in row group {}{column}", self.number), error)
    }
}

/// Everything in a row but its features.
#[derive(Default)]
struct Ids<'a> {
    label: f32,
    qid: &'a str,
    doc_id: &'a str,
}

impl<'a> Ids<'a> {
    /// Adds the value of one column. On an error, returns the value with the problem.
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
                // Already checked in the row before.
                if role == Role::Qid && text == self.qid && !text.is_empty() {
                    return Ok(());
                }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_for_as_many_rows_as_a_file_can_hold() {
        assert_eq!(believed(260_000, 136, 60 << 20), 260_000);
        assert_eq!(believed(1_000, 10, 500), 1_000);
        assert_eq!(believed(1 << 30, 1, 1_000), 0);
        assert_eq!(believed(1 << 30, 0, 1_000), 0);
        assert_eq!(believed(usize::MAX, usize::MAX, u64::MAX), usize::MAX);
        assert_eq!(believed(1 << 20, 1_000, 1 << 20), 0);
    }
}
