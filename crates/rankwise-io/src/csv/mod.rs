//! CSV and TSV: text tables with one document per row (RFC 4180, with any separator).

mod field;
mod header;
mod reader;
mod row;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use reader::{line_of_row, read_columns, read_rows};
pub(crate) use writer::write_csv;
