//! Blocks of text, parsed in parallel and merged in order.
//!
//! One thread reads and decompresses the next batch of blocks while the others parse the one before:
//!
//! ```text
//! read    batch 0 | batch 1 | batch 2 |
//! parse           | batch 0 | batch 1 | batch 2
//! merge                     ^         ^ in order: counts lines, reports the first fault
//! ```

use std::path::Path;

use rankwise_data::RowBlock;
use rayon::prelude::*;

use crate::blocks::{BLOCK_BYTES, BlockReader, ReadFault};
use crate::error::IoError;
use crate::problem::{Problem, shown};

/// Text read ahead per thread: enough that no thread waits long for the others.
const BATCH_BYTES_PER_THREAD: usize = 4 << 20;

/// An error in a line.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The byte offset in the line.
    pub(crate) offset: usize,
    /// The text there, shortened.
    pub(crate) found: String,
    pub(crate) problem: Problem,
}

impl Fault {
    #[cold]
    pub(crate) fn new(line: &[u8], start: usize, end: usize, problem: Problem) -> Self {
        Self { offset: start, found: shown(&line[start..end]), problem }
    }

    /// The error for a fault in this line, counted from 1.
    pub(crate) fn at(self, path: &Path, line: u64) -> IoError {
        let Self { offset, found, problem } = self;
        IoError::Line { path: path.into(), line, column: offset + 1, found, problem }
    }
}

/// Merges parsed blocks in file order.
pub(crate) trait Merge {
    /// A parsed block.
    type Block: Send;

    /// Adds the next block, or returns its error.
    fn add(&mut self, block: Self::Block) -> Result<(), IoError>;

    /// The number of lines in the blocks so far.
    fn n_lines(&self) -> u64;
}

/// Parses all blocks and merges them.
pub(crate) fn parse_blocks<M: Merge>(
    mut reader: BlockReader<'_>,
    parse: impl Fn(&[u8]) -> M::Block + Sync,
    merger: &mut M,
) -> Result<(), IoError> {
    let batch_bytes = rayon::current_num_threads() * BATCH_BYTES_PER_THREAD / reader.n_readers;
    let mut batch = read_batch(&mut reader, batch_bytes);
    loop {
        let parse_batch = || batch.blocks.par_iter().map(|text| parse(text)).collect::<Vec<_>>();
        let (next, parsed) = match batch.end {
            Some(_) => (None, parse_batch()),
            None => rayon::join(|| Some(read_batch(&mut reader, batch_bytes)), parse_batch),
        };
        parsed.into_iter().try_for_each(|block| merger.add(block))?;
        match (batch.end, next) {
            (_, Some(next)) => batch = next,
            (Some(Err(fault)), _) => return Err(reader.error(fault, merger.n_lines())),
            _ => return Ok(()),
        }
    }
}

/// Drops blocks without rows: a small compressed file can contain any number of empty lines.
pub(crate) fn push_rows(blocks: &mut Vec<RowBlock>, rows: RowBlock) {
    if rows.n_rows() > 0 {
        blocks.push(rows);
    }
}

/// Blocks that are parsed together. The block boundaries do not depend on the number of threads. The number of blocks
/// per batch does, but it does not affect the result.
struct Batch {
    blocks: Vec<Vec<u8>>,
    /// Whether the input ends after these blocks, and how.
    end: Option<Result<(), ReadFault>>,
}

fn read_batch(reader: &mut BlockReader<'_>, batch_bytes: usize) -> Batch {
    let mut batch = Batch { blocks: Vec::new(), end: None };
    let mut room = batch_bytes;
    while room > 0 && batch.end.is_none() {
        match reader.next_block() {
            Ok(Some(block)) => {
                // Tiny blocks occur only in tests, but must not make endless batches.
                room = room.saturating_sub(block.len().max(BLOCK_BYTES / 2));
                batch.blocks.push(block);
            }
            Ok(None) => batch.end = Some(Ok(())),
            Err(fault) => batch.end = Some(Err(fault)),
        }
    }
    batch
}
