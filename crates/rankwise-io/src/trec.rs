//! TREC files: judgements (qrels) and runs.
//!
//! ```text
//! qrels:  301 0  FR940202-2-00150 1                  query, iteration, document, grade
//! run:    301 Q0 FR940202-2-00150 1 12.75 bm25       query, Q0, document, rank, score, tag
//! ```
//!
//! Iteration, Q0, rank and tag are not used: only the score orders a run. Lines may be in any order; empty lines are
//! ignored.

mod line;
mod table;

use std::io::Read;
use std::path::Path;

use self::line::{Form, Line};
use self::table::TableBuilder;
pub use self::table::{TrecEntry, TrecTable};
use crate::blocks::BlockReader;
use crate::byte_stream::ByteStream;
use crate::error::IoError;
use crate::number;
use crate::problem::Problem;

/// Grades by query and document. Negative grades are kept; metrics treat them as not relevant.
pub type Qrels = TrecTable<i32>;

/// Scores by query and document.
pub type TrecRun = TrecTable<f64>;

/// Reads judgements, compressed or not; `-` is standard input.
pub fn read_qrels(path: &Path) -> Result<Qrels, IoError> {
    read_table(ByteStream::open(path)?, Form::Qrels, parse_grade)
}

/// Reads judgements from any source; `name` is used in errors.
pub fn read_qrels_from(input: impl Read + Send, name: &Path) -> Result<Qrels, IoError> {
    read_table(ByteStream::new(input, name)?, Form::Qrels, parse_grade)
}

/// Reads a run, compressed or not; `-` is standard input.
pub fn read_run(path: &Path) -> Result<TrecRun, IoError> {
    read_table(ByteStream::open(path)?, Form::Run, parse_score)
}

/// Reads a run from any source; `name` is used in errors.
pub fn read_run_from(input: impl Read + Send, name: &Path) -> Result<TrecRun, IoError> {
    read_table(ByteStream::new(input, name)?, Form::Run, parse_score)
}

fn parse_grade(text: &[u8]) -> Result<i32, Problem> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(Problem::Grade)
}

fn parse_score(text: &[u8]) -> Result<f64, Problem> {
    number::parse(text).filter(|score| score.is_finite()).ok_or(Problem::Score)
}

fn read_table<T: Copy>(
    source: ByteStream<'_>,
    form: Form,
    parse: impl Fn(&[u8]) -> Result<T, Problem>,
) -> Result<TrecTable<T>, IoError> {
    let path = source.path.clone();
    let mut reader = BlockReader::new(source);
    let mut builder = TableBuilder::default();
    let mut n_lines = 0;
    loop {
        let block = match reader.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => return builder.finish(&path),
            Err(fault) => return Err(reader.error(fault, n_lines)),
        };
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &block) {
            n_lines += 1;
            let line = Line { path: &path, number: n_lines, text: &block[start..newline] };
            if let Some(fields) = line.fields(form)? {
                let value = parse(line.at(&fields.value)).map_err(|problem| line.error(&fields.value, problem))?;
                let (qid, doc) = (line.name(&fields.qid, "query id")?, line.name(&fields.doc, "document id")?);
                builder.add(qid, doc, value, n_lines);
            }
            start = newline + 1;
        }
    }
}
