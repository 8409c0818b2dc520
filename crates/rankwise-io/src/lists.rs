//! Files with one number per line: scores, weights, sizes.

use std::path::Path;

use crate::blocks::{BlockReader, MAX_LINE_BYTES};
use crate::byte_stream::ByteStream;
use crate::error::IoError;
use crate::problem::{Problem, shown};

/// Reads one item per line. `parse` gets a line without surrounding spaces; `expected` describes what it accepts. Empty
/// lines are allowed only at the end.
pub(crate) fn read_list<T>(
    source: ByteStream<'_>,
    expected: &'static str,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<Vec<T>, IoError> {
    let path = source.path.clone();
    let mut reader = BlockReader::new(source);
    let mut list = List { path: &path, expected, parse, items: Vec::new(), n_lines: 0, blank_line: None };
    loop {
        match reader.next_block() {
            Ok(Some(block)) => list.add(&block)?,
            Ok(None) => return Ok(list.items),
            Err(fault) => return Err(reader.error(fault, list.n_lines)),
        }
    }
}

struct List<'a, T, P> {
    path: &'a Path,
    expected: &'static str,
    parse: P,
    items: Vec<T>,
    n_lines: u64,
    /// The first of the empty lines just before.
    blank_line: Option<u64>,
}

impl<T, P: Fn(&[u8]) -> Option<T>> List<'_, T, P> {
    fn add(&mut self, block: &[u8]) -> Result<(), IoError> {
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', block) {
            self.n_lines += 1;
            self.add_line(&block[start..newline])?;
            start = newline + 1;
        }
        Ok(())
    }

    fn add_line(&mut self, line: &[u8]) -> Result<(), IoError> {
        let text = line.trim_ascii();
        if text.is_empty() {
            self.blank_line.get_or_insert(self.n_lines);
            return Ok(());
        }
        if let Some(blank) = self.blank_line {
            return Err(self.error(blank, 0, b"", Problem::Blank { expected: self.expected }));
        }
        if line.len() > MAX_LINE_BYTES {
            return Err(self.error(self.n_lines, 0, b"", Problem::LineTooLong { limit: MAX_LINE_BYTES }));
        }
        let Some(item) = (self.parse)(text) else {
            let offset = line.len() - line.trim_ascii_start().len();
            return Err(self.error(self.n_lines, offset, text, Problem::NotOne { expected: self.expected }));
        };
        self.items.push(item);
        Ok(())
    }

    fn error(&self, line: u64, offset: usize, found: &[u8], problem: Problem) -> IoError {
        IoError::Line { path: self.path.into(), line, column: offset + 1, found: shown(found), problem }
    }
}
