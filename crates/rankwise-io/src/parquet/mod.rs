//! Parquet: binary tables in columns.

mod cells;
mod file;
mod guard;
mod hybrid;
mod kind;
mod pages;
mod reader;
#[cfg(test)]
mod tests;
mod thrift;
mod varint;
mod writer;

pub use guard::is_decoding;
pub(crate) use reader::{PartTable, read_columns, read_rows};
pub(crate) use writer::write_parquet;

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8] = b"PAR1";
