//! Writes a dataset as a text table: label, query id, other columns, then the features. Missing values are empty.

use std::io::{self, Write};

use crate::number;
use crate::options::Role;
use crate::write::{Rows, push_value};

pub(crate) fn write_csv(out: &mut dyn Write, rows: &Rows<'_>, separator: u8) -> io::Result<()> {
    let data = rows.data;
    let mut roles = vec![Role::Label, Role::Qid];
    let more = [
        (Role::DocId, data.has_doc_ids()),
        (Role::Weight, data.has_weights()),
        (Role::QueryWeight, data.has_query_weights()),
        (Role::Position, data.positions().is_some()),
    ];
    roles.extend(more.into_iter().filter(|(_, is_there)| *is_there).map(|(role, _)| role));
    let features = rows.features();

    let mut header = Vec::new();
    let names = roles.iter().map(|role| role.usual_names()[0]).chain(features.iter().map(|(_, name)| name.as_str()));
    for (column, name) in names.enumerate() {
        if column > 0 {
            header.push(separator);
        }
        push_text(&mut header, name, separator);
    }
    header.push(b'\n');
    out.write_all(&header)?;

    // A named feature that no document has is an empty column.
    let columns: Vec<_> = features.iter().map(|(id, _)| data.column_of(*id)).collect();
    let nothing = data.absent().value();
    rows.write_text(out, |text, place| {
        for (column, role) in roles.iter().enumerate() {
            if column > 0 {
                text.push(separator);
            }
            push_field(text, rows, place, *role, separator);
        }
        for column in &columns {
            text.push(separator);
            match column {
                Some(column) if !column.get(place).is_nan() => push_value(text, column, place),
                None if !nothing.is_nan() => number::push_f32(text, nothing),
                _ => {}
            }
        }
        text.push(b'\n');
        Ok(())
    })
}

fn push_field(text: &mut Vec<u8>, rows: &Rows<'_>, place: usize, role: Role, separator: u8) {
    let data = rows.data;
    match role {
        Role::Label => number::push_f32(text, data.labels()[place]),
        Role::Qid => push_text(text, rows.qid(place), separator),
        Role::DocId => push_text(text, data.doc_id(place), separator),
        Role::Weight => number::push_f32(text, data.weight(place)),
        Role::QueryWeight => number::push_f32(text, data.query_weight(rows.query_of(place))),
        Role::Position => number::push_u32(text, data.positions().map_or(0, |positions| positions[place])),
        Role::Feature(_) | Role::Ignored => {}
    }
}

/// Quotes text if needed: an unquoted field ends at a separator and loses surrounding spaces.
fn push_text(text: &mut Vec<u8>, field: &str, separator: u8) {
    let bytes = field.as_bytes();
    let is_special = |byte: &u8| [separator, b'"', b'\n', b'\r'].contains(byte);
    if !bytes.iter().any(is_special) && bytes.trim_ascii().len() == bytes.len() {
        text.extend_from_slice(bytes);
        return;
    }
    text.push(b'"');
    for byte in bytes {
        text.push(*byte);
        if *byte == b'"' {
            text.push(b'"');
        }
    }
    text.push(b'"');
}
