//! Parses a block of LETOR lines into rows. It knows nothing about files: places are offsets in a line, and lines count
//! from the start of the block.
//!
//! ```text
//! 2   qid:10  1:0.5 7:3 9:nan  # docid = D1
//! ^label  ^qid    ^features        ^document id
//! ```

use rankwise_data::RowBlock;

use crate::batches::Fault;
use crate::blocks::MAX_LINE_BYTES;
use crate::number;
use crate::problem::{Problem, name, shown};

const QID: &[u8] = b"qid:";
const DOC_ID: &str = "docid";

/// The result of a block.
#[derive(Default)]
pub(super) struct ParsedBlock {
    pub(super) rows: RowBlock,
    pub(super) n_lines: u64,
    /// The first row, and the first row that differs from it in having a query id or not.
    pub(super) starts: Vec<RowStart>,
    /// The error that stopped parsing.
    pub(super) fault: Option<(u64, Fault)>,
}

/// Whether a row has a query id, and where it is or should be.
pub(super) struct RowStart {
    pub(super) line: u64,
    pub(super) offset: usize,
    pub(super) has_qid: bool,
    /// The text there, shortened.
    pub(super) token: String,
}

type Parsed<T> = Result<T, Fault>;

/// Parses lines up to the first error. `WIDE` keeps values that f32 cannot hold.
pub(super) fn parse_block<const WIDE: bool>(text: &[u8]) -> ParsedBlock {
    let mut block = ParsedBlock::default();
    if WIDE {
        block.rows.expect_decimals();
    }
    let mut start = 0;
    for newline in memchr::memchr_iter(b'\n', text) {
        let line = &text[start..newline];
        start = newline + 1;
        match block.add_line::<WIDE>(line.strip_suffix(b"\r").unwrap_or(line)) {
            Ok(true) => block.n_lines += 1,
            Ok(false) => break,
            Err(fault) => {
                block.fault = Some((block.n_lines, fault));
                break;
            }
        }
    }
    block
}

impl ParsedBlock {
    /// Adds the row of a line, if there is one. Returns whether to continue with the next line.
    fn add_line<const WIDE: bool>(&mut self, line: &[u8]) -> Parsed<bool> {
        if line.len() > MAX_LINE_BYTES {
            return Err(Fault::new(line, 0, 0, Problem::LineTooLong { limit: MAX_LINE_BYTES }));
        }
        let start = skip_blanks(line, 0);
        if start == line.len() {
            return Ok(true);
        }
        if line[start] == b'#' {
            parse_doc_id(line, start + 1)?;
            return Ok(true);
        }
        let (label, label_end) = parse_label(line, start)?;
        let (qid, qid_start, qid_end) = parse_qid(line, label_end)?;
        if !self.note_start(line, qid_start, qid_end, qid.is_some()) {
            return Ok(false);
        }
        // Only here, because a query id may contain a `#`.
        let features_end = memchr::memchr(b'#', &line[qid_end..]).map_or(line.len(), |offset| qid_end + offset);
        let doc_id = parse_doc_id(line, (features_end + 1).min(line.len()));
        self.rows.start_row(qid.unwrap_or(""), label, doc_id.as_ref().map_or("", |id| id));
        parse_features::<WIDE>(&line[..features_end], qid_end, &mut self.rows)?;
        self.rows.finish_row().map_err(|feature| duplicate(&line[..features_end], qid_end, feature))?;
        doc_id.map(|_| true)
    }

    /// Records the first row, and the first row that differs from it. The latter is always an error, but its message
    /// depends on blocks that are not visible here.
    fn note_start(&mut self, line: &[u8], start: usize, end: usize, has_qid: bool) -> bool {
        let unlike = self.starts.first().is_some_and(|first| first.has_qid != has_qid);
        if self.starts.is_empty() || unlike {
            let end = if has_qid { end } else { token_end(line, start) };
            let token = shown(&line[start..end]);
            self.starts.push(RowStart { line: self.n_lines, offset: start, has_qid, token });
        }
        !unlike
    }
}

fn parse_label(line: &[u8], start: usize) -> Parsed<(f32, usize)> {
    let end = token_end(line, start);
    let label = number::parse(&line[start..end]).ok_or_else(|| Fault::new(line, start, end, Problem::Label))? as f32;
    if label.is_finite() && label >= 0.0 {
        Ok((label, end))
    } else {
        Err(Fault::new(line, start, end, Problem::LabelRange))
    }
}

/// The query id, and the range of its token. Without one, the range is empty, at the place where it should be.
fn parse_qid(line: &[u8], label_end: usize) -> Parsed<(Option<&str>, usize, usize)> {
    let start = skip_blanks(line, label_end);
    if !line[start..].starts_with(QID) {
        return late_qid(line, start).map_or(Ok((None, start, start)), Err);
    }
    let (id_start, end) = (start + QID.len(), token_end(line, start));
    if id_start == end {
        return Err(Fault::new(line, start, end, Problem::QidEmpty));
    }
    parse_name(line, id_start, end, "qid").map(|id| (Some(id), start, end))
}

/// The error for a query id that comes too late in the line. Every line without a query id is checked; otherwise the
/// message would depend on the block boundaries.
fn late_qid(line: &[u8], start: usize) -> Option<Fault> {
    let at = start + memchr::memmem::find(&line[start..], QID)?;
    let in_comment = memchr::memchr(b'#', &line[start..at]).is_some();
    (is_blank(line[at - 1]) && !in_comment).then(|| Fault::new(line, at, token_end(line, at), Problem::QidLate))
}

/// Parses `feature:value` pairs up to the end of the line. The comment has been removed.
fn parse_features<const WIDE: bool>(line: &[u8], mut at: usize, rows: &mut RowBlock) -> Parsed<()> {
    loop {
        at = skip_blanks(line, at);
        if at == line.len() {
            return Ok(());
        }
        let start = at;
        let mut feature = 0u64;
        // Ten digits cannot overflow 64 bits; the slow path handles the few longer ids.
        while at < line.len() && line[at].is_ascii_digit() && at - start < 10 {
            feature = feature * 10 + u64::from(line[at] - b'0');
            at += 1;
        }
        let feature = match u32::try_from(feature) {
            Ok(feature) if at > start && line.get(at) == Some(&b':') => {
                at += 1;
                feature
            }
            _ => {
                let (feature, value_start) = parse_odd_index(line, start)?;
                at = value_start;
                feature
            }
        };
        match number::parse_short(&line[at..]) {
            Some(short) if line.get(at + short.len).is_none_or(|byte| is_blank(*byte)) => {
                if WIDE && !short.is_told() {
                    rows.keep_decimal(short.value, short.digits, short.n_decimals);
                }
                rows.push_finite(feature, short.value as f32);
                at += short.len;
            }
            _ => {
                let end = token_end(line, at);
                let value = parse_odd_value(&line[at..end])
                    .ok_or_else(|| Fault::new(line, at, end, Problem::Value { feature }))?;
                if WIDE {
                    rows.push_f64(feature, value);
                } else {
                    rows.push_value(feature, value as f32);
                }
                at = end;
            }
        }
    }
}

/// An id with leading zeros, or something else. Returns the id and the start of its value.
#[cold]
fn parse_odd_index(line: &[u8], start: usize) -> Parsed<(u32, usize)> {
    let end = token_end(line, start);
    let token = &line[start..end];
    if token.starts_with(QID) {
        return Err(Fault::new(line, start, end, Problem::QidLate));
    }
    let colon = match memchr::memchr(b':', token) {
        None | Some(0) => return Err(Fault::new(line, start, end, Problem::NotPair)),
        Some(colon) => start + colon,
    };
    let digits = &line[start..colon];
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(Fault::new(line, start, colon, Problem::Index));
    }
    let index = digits.iter().try_fold(0u32, |index, digit| index.checked_mul(10)?.checked_add((digit - b'0').into()));
    index.map(|index| (index, colon + 1)).ok_or_else(|| Fault::new(line, start, colon, Problem::IndexTooLarge))
}

/// A missing value, an infinite value or a long number.
fn parse_odd_value(token: &[u8]) -> Option<f64> {
    if token.is_empty() || token.eq_ignore_ascii_case(b"na") {
        return Some(f64::NAN);
    }
    number::parse_any(token)
}

/// Finds the second occurrence of a feature that is known to occur twice.
#[cold]
fn duplicate(line: &[u8], mut at: usize, feature: u32) -> Fault {
    let mut seen = false;
    loop {
        let start = skip_blanks(line, at);
        let end = token_end(line, start);
        let is_it = parse_odd_index(line, start).is_ok_and(|(index, _)| index == feature);
        if start == end || (is_it && seen) {
            return Fault::new(line, start, end, Problem::Duplicate { feature });
        }
        seen |= is_it;
        at = end;
    }
}

/// The document id in the comment that starts at `start`: the value of `docid =`, otherwise the first word.
fn parse_doc_id(line: &[u8], start: usize) -> Parsed<&str> {
    let comment = &line[start..];
    if comment.is_empty() {
        return Ok("");
    }
    if let Some(nul) = memchr::memchr(0, comment) {
        let at = start + nul;
        return Err(Fault::new(line, at, token_end(line, at), Problem::Control { part: "comment" }));
    }
    let text = std::str::from_utf8(comment).map_err(|error| {
        let at = start + error.valid_up_to();
        Fault::new(line, at, token_end(line, at), Problem::Utf8 { part: "comment" })
    })?;
    let word = named_doc_id(text).unwrap_or_else(|| text.trim_start_matches(BLANKS));
    let id_start = line.len() - word.len();
    parse_name(line, id_start, token_end(line, id_start), "document id")
}

/// The text after `docid =`, `docid=` or `docid:`, up to the end of the comment.
fn named_doc_id(comment: &str) -> Option<&str> {
    comment.match_indices(DOC_ID).find_map(|(at, _)| {
        let is_word_start = at == 0 || is_blank(comment.as_bytes()[at - 1]);
        let rest = comment[at + DOC_ID.len()..].trim_start_matches(BLANKS);
        let id = rest.strip_prefix(['=', ':'])?;
        is_word_start.then(|| id.trim_start_matches(BLANKS))
    })
}

fn parse_name<'a>(line: &'a [u8], start: usize, end: usize, part: &'static str) -> Parsed<&'a str> {
    name(&line[start..end], part).map_err(|problem| Fault::new(line, start, end, problem))
}

const BLANKS: [char; 2] = [' ', '\t'];

#[inline]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

#[inline]
fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && is_blank(line[at]) {
        at += 1;
    }
    at
}

#[inline]
fn token_end(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && !is_blank(line[at]) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc_id(comment: &str) -> &str {
        parse_doc_id(comment.as_bytes(), 0).unwrap()
    }

    #[test]
    fn the_document_id_is_named_or_comes_first() {
        for comment in
            ["docid = D1 inc = 1", "docid=D1", "docid: D1\tx", " x docid:D1", "D1", "\t D1 other", "D1 mydocid=2"]
        {
            assert_eq!(doc_id(comment), "D1", "{comment}");
        }
        for comment in ["", "  ", "docid =", "docid: "] {
            assert_eq!(doc_id(comment), "", "{comment}");
        }
        assert_eq!(doc_id("docid D1"), "docid");
        assert_eq!(doc_id("docid = docid=1"), "docid=1");
    }

    #[test]
    fn lines_without_rows_are_counted() {
        let block = parse_block::<false>(b"\n  \t\n# comment\r\n1 qid:a\n\r\n");
        assert_eq!((block.n_lines, block.rows.n_rows(), block.starts[0].line), (5, 1, 3));
        assert!(block.fault.is_none());
    }
}
