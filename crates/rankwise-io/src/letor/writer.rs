//! Rows as LETOR text that [`super::read_letor`] reads back bit for bit.

use std::io::{self, Write};

use rankwise_data::{Column, Row};

use crate::number;
use crate::write::Rows;

/// A data set as LETOR text.
pub(crate) fn write_letor(out: &mut dyn Write, rows: &Rows<'_>) -> io::Result<()> {
    let columns: Vec<(u32, &Column)> = rows.columns().collect();
    rows.write_text(out, |text, place| {
        let value = |(id, column): &(u32, &Column)| (*id, column.get(place));
        let features: Vec<(u32, f32)> =
            columns.iter().map(value).filter(|(_, value)| !rows.data.absent().matches(*value)).collect();
        let (qid, label, doc_id) = (rows.qid(place), rows.data.labels()[place], rows.data.doc_id(place));
        LetorWriter::new(text).write_row(&Row { qid, label, doc_id, features: &features })
    })
}

/// Writes one line per row. The output should be buffered: it gets one call per line.
#[derive(Debug)]
pub struct LetorWriter<W: Write> {
    output: W,
    line: Vec<u8>,
}

impl<W: Write> LetorWriter<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self { output, line: Vec::new() }
    }

    /// Writes a row: its label, its qid if it has one, its features, which must ascend, and its document id if it has
    /// one. A row that could not be read back is an error of kind `InvalidInput`, and nothing of it is written.
    pub fn write_row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.line.clear();
        if !(row.label.is_finite() && row.label >= 0.0) {
            return refuse(format!("label {} is not a finite number of 0 or more", row.label));
        }
        number::push_f32(&mut self.line, row.label);
        if !row.qid.is_empty() {
            check_name("qid", row.qid)?;
            self.line.extend_from_slice(b" qid:");
            self.line.extend_from_slice(row.qid.as_bytes());
        }
        if let Some(pair) = row.features.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return refuse(format!("feature {} comes after feature {}; features must ascend", pair[1].0, pair[0].0));
        }
        for (feature, value) in row.features {
            self.line.push(b' ');
            number::push_u32(&mut self.line, *feature);
            self.line.push(b':');
            number::push_f32(&mut self.line, *value);
        }
        if !row.doc_id.is_empty() {
            check_name("document id", row.doc_id)?;
            // A reader would look for the name behind an id that begins like this.
            let prefix = if row.doc_id.starts_with("docid") { " # docid = " } else { " # " };
            self.line.extend_from_slice(prefix.as_bytes());
            self.line.extend_from_slice(row.doc_id.as_bytes());
        }
        self.line.push(b'\n');
        self.output.write_all(&self.line)
    }

    /// Flushes and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

fn check_name(what: &str, name: &str) -> io::Result<()> {
    if name.bytes().any(|byte| byte == b' ' || byte.is_ascii_control()) {
        return refuse(format!(
            "{what} {name:?} holds white space or a control character, which LETOR text cannot hold"
        ));
    }
    Ok(())
}

fn refuse(message: String) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}
