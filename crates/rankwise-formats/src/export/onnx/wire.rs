//! The part of the protocol buffers encoding that a model needs.
//!
//! A field is a tag, `number << 3 | kind`, and a value: a variable-length integer, or a length and that many bytes.

use super::FORMAT;
use crate::FormatError;

const INTEGER: u64 = 0;
const BYTES: u64 = 2;

/// A message to write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn integer(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3 | INTEGER).varint(value)
    }

    pub(crate) fn text(&mut self, field: u64, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    pub(crate) fn message(&mut self, field: u64, value: &Self) -> &mut Self {
        self.bytes(field, &value.0)
    }

    pub(crate) fn floats(&mut self, field: u64, values: &[f32]) -> &mut Self {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.bytes(field, &bytes)
    }

    pub(crate) fn integers(&mut self, field: u64, values: &[i64]) -> &mut Self {
        let mut packed = Self::default();
        for value in values {
            packed.varint(*value as u64);
        }
        self.bytes(field, &packed.0)
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn bytes(&mut self, field: u64, value: &[u8]) -> &mut Self {
        self.varint(field << 3 | BYTES).varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    fn varint(&mut self, mut value: u64) -> &mut Self {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
        self
    }
}

/// The fields of a message.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    parts: Vec<Part<'a>>,
    /// Numbers of fields, with their values.
    integers: Vec<(u64, u64)>,
}

/// A length-delimited field.
pub(crate) struct Part<'a> {
    field: u64,
    bytes: &'a [u8],
}

impl<'a> Part<'a> {
    /// Reads a message.
    pub(crate) fn all(mut bytes: &'a [u8]) -> Result<Parts<'a>, FormatError> {
        let mut parts = Parts::default();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let value = varint(&mut bytes)?;
            match tag & 7 {
                INTEGER => parts.integers.push((tag >> 3, value)),
                BYTES if value <= bytes.len() as u64 => {
                    let (part, rest) = bytes.split_at(value as usize);
                    parts.parts.push(Part { field: tag >> 3, bytes: part });
                    bytes = rest;
                }
                _ => return Err(error("an unknown field")),
            }
        }
        Ok(parts)
    }
}

impl<'a> Parts<'a> {
    /// The first field with this number.
    pub(crate) fn find(&self, field: u64) -> Option<&'a [u8]> {
        self.parts.iter().find(|part| part.field == field).map(|part| part.bytes)
    }

    /// The first integer with this number.
    pub(crate) fn number(&self, field: u64) -> Option<u64> {
        self.integers.iter().find(|(number, _)| *number == field).map(|(_, value)| *value)
    }

    /// All fields with this number.
    pub(crate) fn every(&self, field: u64) -> Vec<&'a [u8]> {
        self.parts.iter().filter(|part| part.field == field).map(|part| part.bytes).collect()
    }
}

pub(crate) fn integers(mut bytes: &[u8]) -> Result<Vec<u64>, FormatError> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        values.push(varint(&mut bytes)?);
    }
    Ok(values)
}

pub(crate) fn floats(bytes: &[u8]) -> Result<Vec<f32>, FormatError> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(error("a list of numbers is cut off"));
    }
    Ok(chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn varint(bytes: &mut &[u8]) -> Result<u64, FormatError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or_else(|| error("the file ends too early"))?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(error("a number has too many bytes"))
}

fn error(problem: &str) -> FormatError {
    FormatError::Field { format: FORMAT, field: String::new(), problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_bytes_and_back() {
        let mut message = Message::default();
        message.integer(1, 300).text(2, "ab").integers(3, &[1, 128]).floats(4, &[1.5]);
        let bytes = message.into_bytes();
        assert_eq!(bytes[..7], [0x08, 0xac, 0x02, 0x12, 2, b'a', b'b']);
        let parts = Part::all(&bytes).unwrap();
        assert_eq!((parts.find(1), parts.find(2)), (None, Some(&b"ab"[..])));
        assert_eq!((parts.number(1), parts.number(2)), (Some(300), None));
        assert_eq!(integers(parts.find(3).unwrap()).unwrap(), [1, 128]);
        assert_eq!(floats(parts.find(4).unwrap()).unwrap(), [1.5]);
        assert!(Part::all(&bytes[..bytes.len() - 1]).is_err());
    }
}
