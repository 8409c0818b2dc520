//! LETOR text: `label qid:ID feature:value ... # comment`, one document per line.

mod line;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{read_dataset, read_letor, read_letor_from};
pub use writer::LetorWriter;
