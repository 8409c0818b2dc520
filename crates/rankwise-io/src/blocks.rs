//! Splits a stream into blocks of whole lines.
//!
//! ```text
//! read:   "0 qid:1 1:3\n1 qid:1 2:" | "4\n0 qid:2\n2 qi" | "d:2 1:1"
//! blocks: "0 qid:1 1:3\n" | "1 qid:1 2:4\n0 qid:2\n" | "2 qid:2 1:1\n"
//! ```
//!
//! In tables, quoted fields may contain newlines; blocks then end at row ends.

use std::io;

use crate::byte_stream::ByteStream;
use crate::error::IoError;
use crate::problem::Problem;

/// Small enough that threads finish a batch at about the same time, large enough that the overhead per block is
/// negligible.
pub(crate) const BLOCK_BYTES: usize = 256 << 10;
/// Longer lines mean that the file is not text.
pub(crate) const MAX_LINE_BYTES: usize = 64 << 20;

const UTF8_BOM: &[u8] = &[0xef, 0xbb, 0xbf];
const UTF16_BOMS: [&[u8]; 2] = [&[0xff, 0xfe], &[0xfe, 0xff]];
/// What messages call a Parquet file where text is expected.
pub(crate) const PARQUET: &str = "a Parquet file";
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Splits a stream into blocks of whole lines; each line includes its newline.
pub(crate) struct BlockReader<'a> {
    source: ByteStream<'a>,
    cut: Cut,
    block_bytes: usize,
    /// The number of files read at the same time. They share the memory for reading ahead.
    pub(crate) n_readers: usize,
    /// A block that the caller returned.
    returned: Option<Vec<u8>>,
    /// The beginning of an incomplete line.
    carry: Vec<u8>,
    state: State,
}

/// Where blocks may end.
#[derive(Clone, Copy)]
pub(crate) enum Cut {
    /// After any newline.
    Lines,
    /// After a newline outside of quotes. A quoted field begins with a quote.
    Rows { separator: u8 },
}

enum State {
    Start,
    Inside,
    Ended(Option<ReadFault>),
}

/// Why reading stopped. The caller counts lines and knows the line number.
pub(crate) enum ReadFault {
    Io(io::Error),
    LineTooLong,
    Format(&'static str),
}

impl<'a> BlockReader<'a> {
    pub(crate) fn new(source: ByteStream<'a>) -> Self {
        Self::with_block_bytes(source, Cut::Lines, BLOCK_BYTES)
    }

    pub(crate) fn with_block_bytes(source: ByteStream<'a>, cut: Cut, block_bytes: usize) -> Self {
        Self { source, cut, block_bytes, n_readers: 1, returned: None, carry: Vec::new(), state: State::Start }
    }

    /// Returns a block, or the rest of it; it becomes the next block.
    pub(crate) fn give_back(&mut self, block: Vec<u8>) {
        self.returned = Some(block);
    }

    /// The next whole lines, or `None` at the end. Lines before a fault are returned before the fault.
    pub(crate) fn next_block(&mut self) -> Result<Option<Vec<u8>>, ReadFault> {
        if let Some(block) = self.returned.take() {
            return Ok(Some(block));
        }
        if let State::Ended(fault) = &mut self.state {
            return fault.take().map_or(Ok(None), Err);
        }
        let mut buffer = std::mem::take(&mut self.carry);
        let mut target = buffer.len() + self.block_bytes.max(PARQUET_MAGIC.len());
        loop {
            let searched = buffer.len();
            buffer.reserve_exact(target - searched);
            let filled = self.source.fill(&mut buffer, target);
            if matches!(self.state, State::Start) {
                self.state = State::Inside;
                if let Some(format) = strip_start(&mut buffer) {
                    return self.end(ReadFault::Format(format));
                }
            }
            match filled {
                Ok(true) => {}
                Ok(false) => return Ok(self.last_block(buffer)),
                Err(error) => return self.block_before(error, buffer),
            }
            if let Some(end) = self.cut.last_end(&buffer, searched) {
                self.carry = buffer.split_off(end);
                return Ok(Some(buffer));
            }
            if buffer.len() > MAX_LINE_BYTES {
                return self.end(ReadFault::LineTooLong);
            }
            // Doubling keeps the reading of a long line linear. The last step goes from at most half of the limit
            // directly to the limit, because a small step near the limit would briefly take twice its memory.
            let doubled = buffer.len() * 2;
            target = if doubled <= MAX_LINE_BYTES / 2 { doubled } else { MAX_LINE_BYTES + 1 };
        }
    }

    fn end(&mut self, fault: ReadFault) -> Result<Option<Vec<u8>>, ReadFault> {
        self.state = State::Ended(None);
        Err(fault)
    }

    fn last_block(&mut self, mut buffer: Vec<u8>) -> Option<Vec<u8>> {
        self.state = State::Ended(None);
        if buffer.last().is_some_and(|last| *last != b'\n') {
            buffer.push(b'\n');
        }
        (!buffer.is_empty()).then_some(buffer)
    }

    /// Keeps the whole lines before a failed read; the rest may be corrupt.
    fn block_before(&mut self, error: io::Error, mut buffer: Vec<u8>) -> Result<Option<Vec<u8>>, ReadFault> {
        buffer.truncate(self.cut.last_end(&buffer, 0).unwrap_or(0));
        if buffer.is_empty() {
            return self.end(ReadFault::Io(error));
        }
        self.state = State::Ended(Some(ReadFault::Io(error)));
        Ok(Some(buffer))
    }

    /// The error for a fault after this many lines.
    pub(crate) fn error(&self, fault: ReadFault, lines: u64) -> IoError {
        let path = self.source.path.clone();
        match fault {
            ReadFault::Io(source) => self.source.read_error(source, lines),
            ReadFault::Format(format) => IoError::Format { path, format },
            ReadFault::LineTooLong => {
                let limit = MAX_LINE_BYTES;
                let problem = match self.cut {
                    Cut::Lines => Problem::LineTooLong { limit },
                    Cut::Rows { .. } => Problem::RowTooLong { limit },
                };
                IoError::Line { path, line: lines + 1, column: 1, found: String::new(), problem }
            }
        }
    }
}

impl Cut {
    /// The end of the last whole line or row. The first `searched` bytes contain no line end.
    fn last_end(self, text: &[u8], searched: usize) -> Option<usize> {
        let Self::Rows { separator } = self else {
            return memchr::memrchr(b'\n', &text[searched..]).map(|newline| searched + newline + 1);
        };
        let (mut at, mut end) = (0, None);
        loop {
            let quote = opening_quote(text, at, separator);
            let newline = memchr::memrchr(b'\n', &text[at..quote.unwrap_or(text.len())]);
            end = newline.map(|newline| at + newline + 1).or(end);
            // A quote at the very end may be the first of two.
            let close = quote.and_then(|quote| closing_quote(text, quote + 1)).filter(|close| close + 1 < text.len());
            match close {
                Some(close) => at = close + 1,
                None => return end,
            }
        }
    }
}

/// The next quote that opens a field, searching from outside of quotes.
fn opening_quote(text: &[u8], at: usize, separator: u8) -> Option<usize> {
    let opens = |quote: &usize| *quote == 0 || matches!(text[*quote - 1], b'\n') || text[*quote - 1] == separator;
    memchr::memchr_iter(b'"', &text[at..]).map(|offset| at + offset).find(opens)
}

/// The quote that closes a field whose text begins at `at`; two quotes are an escaped quote.
pub(crate) fn closing_quote(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let quote = at + memchr::memchr(b'"', &text[at..])?;
        if text.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}

/// Removes a byte order mark. Returns the format if this is not UTF-8 text.
fn strip_start(buffer: &mut Vec<u8>) -> Option<&'static str> {
    if buffer.starts_with(UTF8_BOM) {
        buffer.drain(..UTF8_BOM.len());
    }
    if buffer.starts_with(PARQUET_MAGIC) {
        return Some(PARQUET);
    }
    UTF16_BOMS.iter().any(|mark| buffer.starts_with(mark)).then_some("UTF-16 text")
}
