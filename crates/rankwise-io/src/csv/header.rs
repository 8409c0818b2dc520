//! Reads the first line of a table: whether it is a header, and the number of columns.

use std::borrow::Cow;

use super::field::Fields;
use super::row::value_of;
use crate::batches::Fault;
use crate::columns::{Names, resolve};
use crate::options::{Header, ReadOptions, Role};
use crate::problem::Problem;

/// A name takes a hundred times the memory of a comma, and a few compressed bytes can expand to millions of commas.
const MAX_COLUMNS: usize = 1 << 20;

/// The first row of a table.
pub(super) struct Start {
    /// The names of the columns, if the first row is a header.
    pub(super) names: Option<Vec<String>>,
    pub(super) n_columns: usize,
    /// The number of bytes before the first row of data.
    pub(super) n_bytes: usize,
    pub(super) n_lines: u64,
}

/// Reads the first row of a block; `None` if all lines are empty. An error comes with its line.
pub(super) fn read_start(
    text: &[u8],
    separator: u8,
    options: &ReadOptions,
    has_sizes: bool,
) -> Result<Option<Start>, (u64, Fault)> {
    let mut fields = Fields::new(text, separator);
    if !fields.find_row() {
        return Ok(None);
    }
    let (blank_lines, blank_bytes) = (fields.line, fields.at);
    let (mut texts, mut fault) = (Vec::new(), None);
    loop {
        let field = fields.next().map_err(|fault| (fields.line, fault))?;
        let text = fields.content(field);
        if fault.is_none() && std::str::from_utf8(&text).is_err() {
            fault = Some((fields.line, fields.field_fault(field, Problem::Utf8 { part: "column name" })));
        }
        if texts.len() == MAX_COLUMNS {
            return Err((fields.line, fields.field_fault(field, Problem::TooManyColumns { limit: MAX_COLUMNS })));
        }
        texts.push(text);
        fields.finish(field);
        if !fields.pass_separator() {
            break;
        }
    }
    if !is_header(&texts, options, has_sizes) {
        let n_columns = texts.len();
        return Ok(Some(Start { names: None, n_columns, n_bytes: blank_bytes, n_lines: blank_lines }));
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    let names: Vec<String> = texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    fields.pass_end();
    Ok(Some(Start { n_columns: names.len(), names: Some(names), n_bytes: fields.at, n_lines: fields.line }))
}

/// A first line is a header if it has something else where a number is expected. Columns that are given by name need a
/// header.
fn is_header(texts: &[Cow<'_, [u8]>], options: &ReadOptions, has_sizes: bool) -> bool {
    match options.layout.header {
        Header::Yes => return true,
        Header::No => return false,
        Header::Auto => {}
    }
    let Ok(columns) = resolve(&Names::Count(texts.len()), options, has_sizes) else { return true };
    columns.roles.iter().zip(texts).any(|(role, text)| match role {
        Role::Qid | Role::DocId | Role::Ignored => false,
        _ => value_of(text).is_none(),
    })
}
