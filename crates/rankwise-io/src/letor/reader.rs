//! Merges blocks of LETOR lines. Either all rows have a query id or none has.

use std::io::Read;
use std::path::{Path, PathBuf};

use rankwise_data::{Absent, Dataset, Keep, RowBlock};

use super::line::{ParsedBlock, RowStart, parse_block};
use crate::batches::{Fault, Merge, parse_blocks, push_rows};
use crate::blocks::BlockReader;
use crate::byte_stream::ByteStream;
use crate::error::IoError;
use crate::options::ReadOptions;
use crate::problem::Problem;
use crate::read::{FileRows, Input};

/// Reads LETOR text, plain or compressed with gzip or zstd, whatever its name. Side files and `-` work as in
/// [`crate::read_dataset`].
pub fn read_letor(path: &Path, absent: Absent) -> Result<Dataset, IoError> {
    let options = ReadOptions::new(absent);
    let source = ByteStream::open(path)?;
    let input = Input::of(path, &options)?;
    let rows = read_rows(source, &input)?;
    input.build(rows)
}

/// Reads LETOR text, compressed or not, from any source; `name` is used in errors. Without side files.
pub fn read_letor_from(input: impl Read + Send, name: &Path, absent: Absent) -> Result<Dataset, IoError> {
    let options = ReadOptions::new(absent);
    let source = ByteStream::new(input, name)?;
    let input = Input::without_side_files(name, &options);
    let rows = read_rows(source, &input)?;
    input.build(rows)
}

/// The line in which a row stands, both from 1.
pub(crate) fn line_of_row(source: ByteStream<'_>, row: usize) -> Option<u64> {
    let mut reader = BlockReader::new(source);
    let (mut n_lines, mut n_rows) = (0, 0);
    while let Ok(Some(block)) = reader.next_block() {
        for line in block.split_inclusive(|byte| *byte == b'\n') {
            n_lines += 1;
            n_rows += usize::from(!matches!(line.trim_ascii_start(), [] | [b'#', ..]));
            if n_rows == row {
                return Some(n_lines);
            }
        }
    }
    None
}

pub(crate) fn read_rows(source: ByteStream<'_>, input: &Input<'_>) -> Result<FileRows, IoError> {
    let mut reader = BlockReader::new(source);
    reader.n_readers = input.n_readers;
    read_blocks(reader, input)
}

pub(super) fn read_blocks(reader: BlockReader<'_>, input: &Input<'_>) -> Result<FileRows, IoError> {
    let mut blocks = Vec::new();
    let mut merger = Merger {
        path: input.path,
        sizes: input.side_files.sizes_path().map(Into::into),
        expected_sizes: input.expected_sizes.clone(),
        blocks: &mut blocks,
        n_lines: 0,
        first: None,
    };
    // Drop the reader after parsing: its decoder may hold 128 MB, and sorting the rows needs memory.
    let parse = if input.options.keep == Keep::Rounded { parse_block::<false> } else { parse_block::<true> };
    parse_blocks(reader, parse, &mut merger)?;
    Ok(FileRows { blocks, ..FileRows::default() })
}

struct Merger<'a> {
    path: &'a Path,
    sizes: Option<PathBuf>,
    expected_sizes: Option<PathBuf>,
    blocks: &'a mut Vec<RowBlock>,
    n_lines: u64,
    /// The line of the first row, and whether it has a query id.
    first: Option<(u64, bool)>,
}

impl Merge for Merger<'_> {
    type Block = ParsedBlock;

    fn add(&mut self, block: ParsedBlock) -> Result<(), IoError> {
        let ParsedBlock { rows, n_lines, starts, fault } = block;
        starts.into_iter().try_for_each(|start| self.check_start(start))?;
        if let Some((line, fault)) = fault {
            return Err(self.error(line, fault));
        }
        self.n_lines += n_lines;
        push_rows(self.blocks, rows);
        Ok(())
    }

    fn n_lines(&self) -> u64 {
        self.n_lines
    }
}

impl Merger<'_> {
    /// Either all rows have a query id and there is no file of sizes, or no row has one and there is such a file.
    fn check_start(&mut self, start: RowStart) -> Result<(), IoError> {
        let has_qid = start.has_qid;
        let problem = match (self.first, has_qid, &self.sizes) {
            (None, true, Some(sizes)) => Problem::QidAndSizes { sizes: sizes.clone() },
            (None, false, None) => Problem::NoQueries { sizes: self.expected_sizes.clone() },
            (None, ..) => {
                self.first = Some((self.n_lines + start.line + 1, has_qid));
                return Ok(());
            }
            (Some((first_line, true)), false, _) => Problem::QidMissing { first_line },
            (Some((first_line, false)), true, _) => Problem::QidUnexpected { first_line },
            _ => return Ok(()),
        };
        Err(self.error(start.line, Fault { offset: start.offset, found: start.token, problem }))
    }

    fn error(&self, line: u64, fault: Fault) -> IoError {
        fault.at(self.path, self.n_lines + line + 1)
    }
}
