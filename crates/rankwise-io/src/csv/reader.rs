//! A table as text, from its first line to its rows.

use std::path::Path;

use rankwise_data::{Dataset, DatasetBuilder};

use super::header::{Start, read_start};
use super::row::{ParsedBlock, parse_block};
use crate::batches::{Merge, parse_blocks, push_rows};
use crate::blocks::{BLOCK_BYTES, BlockReader, Cut};
use crate::byte_stream::ByteStream;
use crate::column_problem::ColumnProblem;
use crate::columns::Names;
use crate::description::Description;
use crate::error::IoError;
use crate::options::Separator;
use crate::read::Input;

/// Reads a table; the options may name another separator.
pub(crate) fn read_source(source: ByteStream<'_>, separator: u8, input: Input<'_>) -> Result<Dataset, IoError> {
    let separator = input.options.layout.separator.map_or(separator, Separator::byte);
    let reader = BlockReader::with_block_bytes(source, Cut::Rows { separator }, BLOCK_BYTES);
    let Some(path) = &input.options.layout.column_description else {
        return read_blocks(reader, separator, input, None);
    };
    let description = Description::read(path)?;
    let options = description.apply(input.options);
    let input = Input { options: &options, ..input };
    read_blocks(reader, separator, input, Some(&description))
}

pub(super) fn read_blocks(
    mut reader: BlockReader<'_>,
    separator: u8,
    input: Input<'_>,
    description: Option<&Description>,
) -> Result<Dataset, IoError> {
    let mut builder = DatasetBuilder::new(input.options.absent);
    let mut n_lines = 0;
    let start = find_start(&mut reader, separator, &input, &mut n_lines)?;
    let Some(Start { names, n_columns, .. }) = start else { return input.finish(builder) };
    let names = names.or_else(|| description.and_then(|description| description.names(n_columns)));
    let names = names.as_deref().map_or(Names::Count(n_columns), Names::Given);
    if n_columns == 1 && input.side_files.sizes_path().is_none() {
        let separator = if separator == b'\t' { "tabs" } else { "commas" };
        return Err(IoError::Columns { path: input.path.into(), problem: ColumnProblem::OneColumn { separator } });
    }
    let columns = input.resolve(&names)?;
    let mut merger = Merger { path: input.path, builder: &mut builder, n_lines };
    parse_blocks(reader, |text| parse_block(text, separator, &columns), &mut merger)?;
    builder.feature_names(columns.feature_names);
    input.finish(builder)
}

/// Takes the header off the first block that is not empty; `None` if the file holds no row at all.
fn find_start(
    reader: &mut BlockReader<'_>,
    separator: u8,
    input: &Input<'_>,
    n_lines: &mut u64,
) -> Result<Option<Start>, IoError> {
    let has_sizes = input.side_files.sizes_path().is_some();
    loop {
        let block = match reader.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(None),
            Err(fault) => return Err(reader.error(fault, *n_lines)),
        };
        let start = read_start(&block, separator, input.options, has_sizes)
            .map_err(|(line, fault)| fault.at(input.path, *n_lines + line + 1))?;
        if let Some(start) = start {
            *n_lines += start.n_lines;
            reader.give_back(block[start.n_bytes..].to_vec());
            return Ok(Some(start));
        }
        *n_lines += memchr::memchr_iter(b'\n', &block).count() as u64;
    }
}

struct Merger<'a> {
    path: &'a Path,
    builder: &'a mut DatasetBuilder,
    n_lines: u64,
}

impl Merge for Merger<'_> {
    type Block = ParsedBlock;

    fn add(&mut self, block: ParsedBlock) -> Result<(), IoError> {
        if let Some((line, fault)) = block.fault {
            return Err(fault.at(self.path, self.n_lines + line + 1));
        }
        self.n_lines += block.n_lines;
        push_rows(self.builder, block.rows);
        Ok(())
    }

    fn n_lines(&self) -> u64 {
        self.n_lines
    }
}
