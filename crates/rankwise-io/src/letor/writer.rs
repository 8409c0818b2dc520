//! Writes rows as LETOR text. [`super::read_letor`] reads it back bit for bit.

use std::io::{self, Write};

use rankwise_data::{Absent, Column, Row};

use crate::number;
use crate::write::{Rows, push_value};

/// Writes a dataset as LETOR text.
pub(crate) fn write_letor(out: &mut dyn Write, rows: &Rows<'_>) -> io::Result<()> {
    let columns: Vec<(u32, &Column)> = rows.columns().collect();
    let is_wide = columns.iter().any(|(_, column)| matches!(column, Column::Wide(_)));
    rows.write_text(out, |text, place| {
        let (qid, label, doc_id) = (rows.qid(place), rows.data.labels()[place], rows.data.doc_id(place));
        let row = Row { qid, label, doc_id, features: &[] };
        let present = columns.iter().filter(|(_, column)| !is_absent(column, place, rows.data.absent()));
        if is_wide {
            let push = |line: &mut Vec<u8>, column: &&Column| push_value(line, column, place);
            let features: Vec<(u32, &Column)> = present.copied().collect();
            return LetorWriter::new(text).write_line(&row, &features, push);
        }
        let features: Vec<(u32, f32)> = present.map(|(id, column)| (*id, column.get(place))).collect();
        LetorWriter::new(text).write_row(&Row { features: &features, ..row })
    })
}

/// Writes one line per row, with one call per line; the output should be buffered.
#[derive(Debug)]
pub struct LetorWriter<W: Write> {
    output: W,
    line: Vec<u8>,
}

impl<W: Write> LetorWriter<W> {
    /// A writer to `output`.
    pub fn new(output: W) -> Self {
        Self { output, line: Vec::new() }
    }

    /// Writes a row: its label, its query id if any, its features in ascending order, and its document id if any. A row
    /// that could not be read back is an error of kind `InvalidInput`, and nothing is written.
    pub fn write_row(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.write_line(row, row.features, |line, value| number::push_f32(line, *value))
    }

    /// Writes a row with the given features instead of its own; `push` writes a value.
    fn write_line<T>(
        &mut self,
        row: &Row<'_>,
        features: &[(u32, T)],
        push: impl Fn(&mut Vec<u8>, &T),
    ) -> io::Result<()> {
        self.line.clear();
        if !(row.label.is_finite() && row.label >= 0.0) {
            return refuse(format!("label {} is not a number from 0 to 3.4e38", row.label));
        }
        number::push_f32(&mut self.line, row.label);
        if !row.qid.is_empty() {
            check_name("qid", row.qid)?;
            self.line.extend_from_slice(b" qid:");
            self.line.extend_from_slice(row.qid.as_bytes());
        }
        if let Some(pair) = features.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            return refuse(format!(
                "feature {} comes after feature {}; features must be in ascending order",
                pair[1].0, pair[0].0
            ));
        }
        for (feature, value) in features {
            self.line.push(b' ');
            number::push_u32(&mut self.line, *feature);
            self.line.push(b':');
            push(&mut self.line, value);
        }
        if !row.doc_id.is_empty() {
            check_name("document id", row.doc_id)?;
            // A reader would parse an id with this prefix as `docid = ...`.
            let prefix = if row.doc_id.starts_with("docid") { " # docid = " } else { " # " };
            self.line.extend_from_slice(prefix.as_bytes());
            self.line.extend_from_slice(row.doc_id.as_bytes());
        }
        self.line.push(b'\n');
        self.output.write_all(&self.line)
    }

    /// Flushes and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Whether a value means the same as an absent feature.
fn is_absent(column: &Column, place: usize, absent: Absent) -> bool {
    match (column, absent) {
        (Column::Wide(values), Absent::Missing) => values[place].is_nan(),
        (Column::Wide(values), Absent::Zero) => values[place] == 0.0,
        _ => absent.matches(column.get(place)),
    }
}

fn check_name(what: &str, name: &str) -> io::Result<()> {
    if name.bytes().any(|byte| byte == b' ' || byte.is_ascii_control()) {
        return refuse(format!(
            "{what} {name:?} contains white space or a control character, which LETOR does not allow"
        ));
    }
    Ok(())
}

fn refuse(message: String) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}
