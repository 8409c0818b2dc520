//! Reads a text table, from its first line to its rows.

use std::borrow::Cow;
use std::path::Path;

use rankwise_data::{Keep, RowBlock};

use super::field::Fields;
use super::header::{Start, read_start};
use super::row::{ParsedBlock, parse_block};
use crate::batches::{Merge, parse_blocks, push_rows};
use crate::blocks::{BLOCK_BYTES, BlockReader, Cut};
use crate::byte_stream::ByteStream;
use crate::column_problem::ColumnProblem;
use crate::columns::Names;
use crate::description::Description;
use crate::error::IoError;
use crate::options::{ReadOptions, Separator};
use crate::read::{FileRows, Input};
use crate::resolved::Resolved;

/// Reads a table; the options can set another separator.
pub(crate) fn read_rows(source: ByteStream<'_>, separator: u8, input: &Input<'_>) -> Result<FileRows, IoError> {
    let (table, reader) = open(source, separator, input)?;
    table.read_rows(reader)
}

/// Determines the roles of the columns of a table; `None` if it is empty, without even a header.
pub(crate) fn read_columns(
    source: ByteStream<'_>,
    separator: u8,
    input: &Input<'_>,
) -> Result<Option<Resolved>, IoError> {
    let (table, mut reader) = open(source, separator, input)?;
    table.resolve(&mut reader, &mut 0)
}

/// The line in which a row begins, both from 1.
pub(crate) fn line_of_row(source: ByteStream<'_>, separator: u8, input: &Input<'_>, row: usize) -> Option<u64> {
    let (table, mut reader) = open(source, separator, input).ok()?;
    let (mut n_lines, mut n_rows) = (0, 0);
    table.find_start(&mut reader, &mut n_lines).ok()??;
    while let Ok(Some(block)) = reader.next_block() {
        let mut fields = Fields::new(&block, table.separator);
        while fields.find_row() {
            n_rows += 1;
            if n_rows == row {
                return Some(n_lines + fields.line + 1);
            }
            loop {
                let field = fields.next().ok()?;
                fields.finish(field);
                if !fields.pass_separator() {
                    break;
                }
            }
            fields.pass_end();
        }
        n_lines += fields.line;
    }
    None
}

fn open<'s, 'a>(
    source: ByteStream<'s>,
    separator: u8,
    input: &'a Input<'a>,
) -> Result<(TextTable<'a>, BlockReader<'s>), IoError> {
    let layout = &input.options.layout;
    let separator = layout.separator.map_or(separator, Separator::byte);
    let mut reader = BlockReader::with_block_bytes(source, Cut::Rows { separator }, BLOCK_BYTES);
    reader.n_readers = input.n_readers;
    if let (Some(file), Some(option)) = (&layout.column_description, layout.described_option()) {
        let problem = ColumnProblem::OptionAndDescription { option, file: file.display().to_string() };
        return Err(IoError::Columns { path: input.path.into(), problem });
    }
    let description = layout.column_description.as_deref().map(Description::read).transpose()?;
    let options = match &description {
        Some(description) => Cow::Owned(description.apply(input.options)),
        None => Cow::Borrowed(input.options),
    };
    Ok((TextTable { separator, input, options, description }, reader))
}

/// A table with its options and description.
pub(super) struct TextTable<'a> {
    pub(super) separator: u8,
    pub(super) input: &'a Input<'a>,
    /// The options of the input, or those that follow from the column description.
    pub(super) options: Cow<'a, ReadOptions>,
    pub(super) description: Option<Description>,
}

impl TextTable<'_> {
    pub(super) fn read_rows(self, mut reader: BlockReader<'_>) -> Result<FileRows, IoError> {
        let mut n_lines = 0;
        let Some(resolved) = self.resolve(&mut reader, &mut n_lines)? else { return Ok(FileRows::default()) };
        let mut blocks = Vec::new();
        let mut merger = Merger { path: self.input.path, blocks: &mut blocks, n_lines };
        let (separator, columns) = (self.separator, &resolved.columns);
        if self.options.keep == Keep::Rounded {
            parse_blocks(reader, |text| parse_block::<false>(text, separator, columns), &mut merger)?;
        } else {
            parse_blocks(reader, |text| parse_block::<true>(text, separator, columns), &mut merger)?;
        }
        Ok(FileRows { blocks, resolved: Some(resolved), ..FileRows::default() })
    }

    /// Reads the first line and determines the roles of the columns; `None` if the file has no rows at all.
    fn resolve(&self, reader: &mut BlockReader<'_>, n_lines: &mut u64) -> Result<Option<Resolved>, IoError> {
        let Some(Start { names, n_columns, .. }) = self.find_start(reader, n_lines)? else { return Ok(None) };
        let names = names.or_else(|| self.description.as_ref().and_then(|description| description.names(n_columns)));
        if n_columns == 1 && self.input.side_files.sizes_path().is_none() {
            let path = self.input.path.into();
            return Err(IoError::Columns { path, problem: self.one_column(names.as_deref()) });
        }
        let names = names.as_deref().map_or(Names::Count(n_columns), Names::Header);
        self.input.resolve(&names, &self.options).map(Some)
    }

    fn one_column(&self, names: Option<&[String]>) -> ColumnProblem {
        if names.and_then(|names| names.first()).is_some_and(|name| name.contains(" qid:")) {
            return ColumnProblem::LooksLikeLetor;
        }
        let typed = self.input.options.layout.separator;
        let separator = typed.or_else(|| Separator::new(self.separator)).expect("a separator");
        ColumnProblem::OneColumn { separator, is_typed: typed.is_some() }
    }

    /// Takes the header off the first block with rows; `None` if the file has no rows at all.
    fn find_start(&self, reader: &mut BlockReader<'_>, n_lines: &mut u64) -> Result<Option<Start>, IoError> {
        let has_sizes = self.input.side_files.sizes_path().is_some();
        loop {
            let block = match reader.next_block() {
                Ok(Some(block)) => block,
                Ok(None) => return Ok(None),
                Err(fault) => return Err(reader.error(fault, *n_lines)),
            };
            let start = read_start(&block, self.separator, &self.options, has_sizes)
                .map_err(|(line, fault)| fault.at(self.input.path, *n_lines + line + 1))?;
            if let Some(start) = start {
                *n_lines += start.n_lines;
                reader.give_back(block[start.n_bytes..].to_vec());
                return Ok(Some(start));
            }
            *n_lines += memchr::memchr_iter(b'\n', &block).count() as u64;
        }
    }
}

struct Merger<'a> {
    path: &'a Path,
    blocks: &'a mut Vec<RowBlock>,
    n_lines: u64,
}

impl Merge for Merger<'_> {
    type Block = ParsedBlock;

    fn add(&mut self, block: ParsedBlock) -> Result<(), IoError> {
        if let Some((line, fault)) = block.fault {
            return Err(fault.at(self.path, self.n_lines + line + 1));
        }
        self.n_lines += block.n_lines;
        push_rows(self.blocks, block.rows);
        Ok(())
    }

    fn n_lines(&self) -> u64 {
        self.n_lines
    }
}
