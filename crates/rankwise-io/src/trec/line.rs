//! Splits a line of a TREC file into fields.

use std::ops::Range;
use std::path::Path;

use crate::blocks::MAX_LINE_BYTES;
use crate::error::IoError;
use crate::problem::{Problem, shown};

/// The largest number of fields.
const MAX_FIELDS: usize = 6;

/// What the fields of a line are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Qrels,
    Run,
}

impl Form {
    /// The number of fields, the index of the value, and a description for errors.
    fn describe(self) -> (usize, usize, &'static str) {
        match self {
            Self::Qrels => (4, 3, "query 0 document grade"),
            Self::Run => (6, 4, "query Q0 document rank score tag"),
        }
    }
}

/// A line with its file and number.
pub(super) struct Line<'a> {
    pub(super) path: &'a Path,
    pub(super) number: u64,
    pub(super) text: &'a [u8],
}

/// The ranges of the fields that are used.
pub(super) struct Fields {
    pub(super) qid: Range<usize>,
    pub(super) doc: Range<usize>,
    pub(super) value: Range<usize>,
}

impl<'a> Line<'a> {
    /// The fields; `None` if the line is empty.
    pub(super) fn fields(&self, form: Form) -> Result<Option<Fields>, IoError> {
        if self.text.len() > MAX_LINE_BYTES {
            return Err(self.error(&(0..0), Problem::LineTooLong { limit: MAX_LINE_BYTES }));
        }
        let (n_fields, value, names) = form.describe();
        let mut found: [Range<usize>; MAX_FIELDS] = Default::default();
        let (mut count, mut at) = (0, 0);
        while let Some(field) = next_field(self.text, at) {
            at = field.end;
            if count == n_fields {
                return Err(self.error(&field, Problem::Fields { expected: names, is_more: true }));
            }
            found[count] = field;
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        if count < n_fields {
            let end = self.text.trim_ascii_end().len();
            return Err(self.error(&(end..end), Problem::Fields { expected: names, is_more: false }));
        }
        let [qid, _, doc, ..] = &found;
        Ok(Some(Fields { qid: qid.clone(), doc: doc.clone(), value: found[value].clone() }))
    }

    /// The text of a field.
    pub(super) fn at(&self, field: &Range<usize>) -> &'a [u8] {
        &self.text[field.clone()]
    }

    /// The text of a query or document id.
    pub(super) fn name(&self, field: &Range<usize>, part: &'static str) -> Result<&'a str, IoError> {
        let name = std::str::from_utf8(self.at(field)).map_err(|_| self.error(field, Problem::Utf8 { part }))?;
        if name.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(self.error(field, Problem::Control { part }));
        }
        Ok(name)
    }

    #[cold]
    pub(super) fn error(&self, field: &Range<usize>, problem: Problem) -> IoError {
        IoError::Line {
            path: self.path.into(),
            line: self.number,
            column: field.start + 1,
            found: shown(self.at(field)),
            problem,
        }
    }
}

/// The next bytes from `at` on that are not white space.
fn next_field(text: &[u8], at: usize) -> Option<Range<usize>> {
    let start = at + text[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    let len = text[start..].iter().position(u8::is_ascii_whitespace);
    Some(start..len.map_or(text.len(), |len| start + len))
}
