//! LETOR text: `label qid:ID feature:value ... # comment`, one document per line.

mod line;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use reader::{line_of_row, read_rows};
pub use reader::{read_letor, read_letor_from};
pub use writer::LetorWriter;
pub(crate) use writer::write_letor;
