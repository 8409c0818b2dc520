//! Score files: one score per line, in row order.

use std::io::{self, Read, Write};
use std::path::Path;

use crate::byte_stream::ByteStream;
use crate::error::IoError;
use crate::lists::read_list;
use crate::number;

/// Size of the output buffer.
const OUTPUT_BUFFER_BYTES: usize = 64 << 10;

/// Reads one finite number per line; `-` is standard input.
pub fn read_scores(path: &Path) -> Result<Vec<f64>, IoError> {
    read_from(ByteStream::open(path)?)
}

/// Reads one finite number per line from any source; `name` is used in errors.
pub fn read_scores_from(input: impl Read + Send, name: &Path) -> Result<Vec<f64>, IoError> {
    read_from(ByteStream::new(input, name)?)
}

fn read_from(source: ByteStream<'_>) -> Result<Vec<f64>, IoError> {
    read_list(source, "a finite number", |line| number::parse(line).filter(|score| score.is_finite()))
}

/// Writes one score per line, each as the shortest text that reads back as the same bits. A score that is not finite is
/// an error of kind `InvalidInput`.
pub fn write_scores(mut output: impl Write, scores: &[f64]) -> io::Result<()> {
    let mut text = Vec::with_capacity(OUTPUT_BUFFER_BYTES);
    for (idx, score) in scores.iter().enumerate() {
        if !score.is_finite() {
            let message = format!("the score of row {} is {score}; scores must be finite", idx + 1);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        number::push_f64(&mut text, *score);
        text.push(b'\n');
        if text.len() >= OUTPUT_BUFFER_BYTES {
            output.write_all(&text)?;
            text.clear();
        }
    }
    output.write_all(&text)
}
