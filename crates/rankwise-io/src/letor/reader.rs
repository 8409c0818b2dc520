//! Blocks of lines, parsed in parallel and put together in order.
//!
//! One thread reads and decompresses the next batch of blocks while the others parse the one before:
//!
//! ```text
//! read    batch 0 | batch 1 | batch 2 |
//! parse           | batch 0 | batch 1 | batch 2
//! merge                     ^         ^ in order: counts lines, reports the first fault
//! ```

use std::io::Read;
use std::path::{Path, PathBuf};

use rankwise_data::{Absent, Dataset, DatasetBuilder, RowBlock};
use rayon::prelude::*;

use super::line::{Fault, ParsedBlock, RowStart, parse_block};
use crate::blocks::{BLOCK_BYTES, BlockReader, ReadFault};
use crate::error::{IoError, is_stream};
use crate::problem::Problem;
use crate::side_files::{SideFiles, expected_sizes_path, without_compression};
use crate::source::Source;

/// Text that is read ahead for each thread. Enough that no thread waits long for the others.
const BATCH_BYTES_PER_THREAD: usize = 4 << 20;

/// Reads a data set; its content tells the format and the compression. `-` is standard input. Of the side files
/// `DATA.query`, `DATA.weight` and `DATA.query_weight` those that exist are read too.
pub fn read_dataset(path: &Path, absent: Absent) -> Result<Dataset, IoError> {
    let plain = without_compression(path);
    let ending = plain.as_deref().unwrap_or(path).extension();
    for (name, format) in [("csv", "a CSV file"), ("tsv", "a TSV file")] {
        if ending.is_some_and(|ending| ending.eq_ignore_ascii_case(name)) {
            // A name that leads nowhere is the more helpful error.
            Source::open(path)?;
            return Err(IoError::Format { path: path.into(), format });
        }
    }
    read_letor(path, absent)
}

/// Reads LETOR text, compressed with gzip, zstd or not at all, whatever its name. Side files and `-` as in
/// [`read_dataset`].
pub fn read_letor(path: &Path, absent: Absent) -> Result<Dataset, IoError> {
    let source = Source::open(path)?;
    if is_stream(path) {
        return read_blocks(BlockReader::new(source), path, SideFiles::default(), None, absent);
    }
    let side_files = SideFiles::read(path)?;
    read_blocks(BlockReader::new(source), path, side_files, Some(expected_sizes_path(path)), absent)
}

/// Reads LETOR text, compressed or not, from anywhere; `name` stands in errors. There are no side files.
pub fn read_letor_from(input: impl Read + Send, name: &Path, absent: Absent) -> Result<Dataset, IoError> {
    read_blocks(BlockReader::new(Source::new(input, name)?), name, SideFiles::default(), None, absent)
}

pub(super) fn read_blocks(
    mut reader: BlockReader<'_>,
    path: &Path,
    side_files: SideFiles,
    expected_sizes: Option<PathBuf>,
    absent: Absent,
) -> Result<Dataset, IoError> {
    let mut builder = DatasetBuilder::new(absent);
    let mut merger = Merger {
        path,
        sizes: side_files.sizes_path().map(Into::into),
        expected_sizes,
        builder: &mut builder,
        n_lines: 0,
        first: None,
    };
    let mut batch = read_batch(&mut reader);
    loop {
        let parse = || batch.blocks.par_iter().map(|text| parse_block(text)).collect::<Vec<_>>();
        let (next, parsed) = match batch.end {
            Some(_) => (None, parse()),
            None => rayon::join(|| Some(read_batch(&mut reader)), parse),
        };
        parsed.into_iter().try_for_each(|block| merger.add(block))?;
        match (batch.end, next) {
            (_, Some(next)) => batch = next,
            (Some(Err(fault)), _) => return Err(reader.error(fault, merger.n_lines)),
            _ => break,
        }
    }
    // A decoder may hold 128 MB, which ordering the rows can use better.
    drop(reader);
    let names = side_files.give_to(&mut builder);
    builder.finish().map_err(|error| names.explain(path, error))
}

/// Blocks that are parsed together. How the text is cut into blocks does not depend on the number of threads; how many
/// make a batch does, and matters to nobody.
struct Batch {
    blocks: Vec<Vec<u8>>,
    /// Whether and how the input ends after them.
    end: Option<Result<(), ReadFault>>,
}

fn read_batch(reader: &mut BlockReader<'_>) -> Batch {
    let mut batch = Batch { blocks: Vec::new(), end: None };
    let mut room = rayon::current_num_threads() * BATCH_BYTES_PER_THREAD;
    while room > 0 && batch.end.is_none() {
        match reader.next_block() {
            Ok(Some(block)) => {
                // Blocks of a few bytes are a matter of tests, but must not make endless batches.
                room = room.saturating_sub(block.len().max(BLOCK_BYTES / 2));
                batch.blocks.push(block);
            }
            Ok(None) => batch.end = Some(Ok(())),
            Err(fault) => batch.end = Some(Err(fault)),
        }
    }
    batch
}

/// Puts parsed blocks together in the order of the file.
struct Merger<'a> {
    path: &'a Path,
    sizes: Option<PathBuf>,
    expected_sizes: Option<PathBuf>,
    builder: &'a mut DatasetBuilder,
    n_lines: u64,
    /// The line of the first row, and whether it has a qid.
    first: Option<(u64, bool)>,
}

impl Merger<'_> {
    fn add(&mut self, block: ParsedBlock) -> Result<(), IoError> {
        let ParsedBlock { rows, n_lines, starts, fault } = block;
        starts.into_iter().try_for_each(|start| self.check_start(start))?;
        if let Some((line, fault)) = fault {
            return Err(self.error(line, fault));
        }
        self.n_lines += n_lines;
        self.push(rows);
        Ok(())
    }

    /// Blocks without rows must not pile up: a small compressed file can hold any number of empty lines.
    fn push(&mut self, rows: RowBlock) {
        if rows.n_rows() > 0 {
            self.builder.push_block(rows);
        }
    }

    /// All rows have a qid and there are no sizes, or none has and there are.
    fn check_start(&mut self, start: RowStart) -> Result<(), IoError> {
        let has_qid = start.qid.is_some();
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
        Err(self.error(start.line, Fault { offset: start.offset, found: start.qid.unwrap_or_default(), problem }))
    }

    fn error(&self, line: u64, fault: Fault) -> IoError {
        IoError::Line {
            path: self.path.into(),
            line: self.n_lines + line + 1,
            column: fault.offset + 1,
            found: fault.found,
            problem: fault.problem,
        }
    }
}
