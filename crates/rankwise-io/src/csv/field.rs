//! Splits a block of rows into fields.
//!
//! ```text
//! 1.5,"a ""b"", c",\n
//! ^plain ^in quotes ^empty
//! ```

use std::borrow::Cow;

use crate::batches::Fault;
use crate::blocks::closing_quote;
use crate::problem::Problem;

/// Iterates over the fields of whole rows; the last row ends in a newline.
#[derive(Clone)]
pub(super) struct Fields<'a> {
    pub(super) text: &'a [u8],
    /// The start of the next field, or the separator or newline after the last one.
    pub(super) at: usize,
    pub(super) separator: u8,
    /// The number of lines before the current one, then the start of the current line.
    pub(super) line: u64,
    line_start: usize,
}

/// One field, as a range of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) start: usize,
    pub(super) end: usize,
    is_quoted: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(text: &'a [u8], separator: u8) -> Self {
        Self { text, at: 0, separator, line: 0, line_start: 0 }
    }

    /// Skips empty lines; returns whether a row follows.
    pub(super) fn find_row(&mut self) -> bool {
        loop {
            match &self.text[self.at..] {
                [] => return false,
                [b'\n', ..] => self.at += 1,
                [b'\r', b'\n', ..] => self.at += 2,
                _ => return true,
            }
            self.start_line(self.at);
        }
    }

    fn start_line(&mut self, at: usize) {
        self.line += 1;
        self.line_start = at;
    }

    /// The next field of the row. Afterwards, the position is at a separator or at the end of the row.
    pub(super) fn next(&mut self) -> Result<Field, Fault> {
        let start = self.at;
        if self.text[start] == b'"' {
            return self.next_quoted();
        }
        let length = memchr::memchr2(self.separator, b'\n', &self.text[start..]).unwrap_or(self.text.len() - start);
        let mut end = start + length;
        if self.text.get(end) == Some(&b'\n') && end > start && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        self.at = end;
        Ok(Field { start, end, is_quoted: false })
    }

    fn next_quoted(&mut self) -> Result<Field, Fault> {
        let start = self.at;
        let Some(close) = closing_quote(self.text, start + 1) else {
            return Err(self.fault(start, self.text.len() - 1, Problem::QuoteOpen));
        };
        let end = close + 1;
        let rest = &self.text[end..];
        if !(rest[0] == self.separator || rest.starts_with(b"\n") || rest.starts_with(b"\r\n")) {
            let rest_end = end + memchr::memchr2(self.separator, b'\n', rest).unwrap_or(rest.len());
            self.pass_newlines(start, end);
            return Err(self.fault(end, rest_end, Problem::QuoteRest));
        }
        self.at = end;
        Ok(Field { start, end, is_quoted: true })
    }

    /// Skips the separator; `false` at the end of the row.
    pub(super) fn pass_separator(&mut self) -> bool {
        let is_one = self.text[self.at] == self.separator;
        self.at += usize::from(is_one);
        is_one
    }

    /// Skips the end of the row; `false` if there is another field.
    pub(super) fn pass_end(&mut self) -> bool {
        self.at += match &self.text[self.at..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return false,
        };
        self.start_line(self.at);
        true
    }

    /// The text of a field. Quotes are removed; unquoted text loses surrounding spaces.
    pub(super) fn content(&self, field: Field) -> Cow<'a, [u8]> {
        let text = &self.text[field.start..field.end];
        if !field.is_quoted {
            return Cow::Borrowed(text.trim_ascii());
        }
        let inner = &text[1..text.len() - 1];
        if memchr::memchr(b'"', inner).is_none() {
            return Cow::Borrowed(inner);
        }
        let mut plain = Vec::with_capacity(inner.len());
        let mut at = 0;
        for quote in memchr::memchr_iter(b'"', inner) {
            // Skip the second of two quotes.
            if quote >= at {
                plain.extend_from_slice(&inner[at..=quote]);
                at = quote + 2;
            }
        }
        plain.extend_from_slice(&inner[at.min(inner.len())..]);
        Cow::Owned(plain)
    }

    /// Counts the newlines in a field already read.
    pub(super) fn pass_newlines(&mut self, start: usize, end: usize) {
        for newline in memchr::memchr_iter(b'\n', &self.text[start..end]) {
            self.start_line(start + newline + 1);
        }
    }

    /// Counts the lines of a field once it is known to be valid.
    pub(super) fn finish(&mut self, field: Field) {
        if field.is_quoted {
            self.pass_newlines(field.start, field.end);
        }
    }

    /// An error in a field that begins in the current line.
    #[cold]
    pub(super) fn fault(&self, start: usize, end: usize, problem: Problem) -> Fault {
        let fault = Fault::new(self.text, start, end.max(start), problem);
        Fault { offset: start - self.line_start, ..fault }
    }

    #[cold]
    pub(super) fn field_fault(&self, field: Field, problem: Problem) -> Fault {
        self.fault(field.start, field.end, problem)
    }
}
