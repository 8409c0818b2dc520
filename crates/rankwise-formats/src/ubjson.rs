//! UBJSON, the binary JSON format of XGBoost.
//!
//! A value begins with a letter for its type; lengths are values too. `[$d#L` and 8 bytes begin a list of that many
//! f32.

use crate::FormatError;
use crate::value::{List, Value};

/// Maximum nesting of objects and lists; a model needs ten levels.
const MAX_DEPTH: usize = 64;

/// Reads one value.
pub(crate) fn read(format: &'static str, bytes: &[u8]) -> Result<Value, FormatError> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.kind().and_then(|kind| reader.value(kind, 0)).and_then(|value| match reader.peek() {
        None => Ok(value),
        Some(_) => Err("there are bytes after the model"),
    });
    value.map_err(|problem| FormatError::Byte { format, byte: reader.at, problem: problem.into() })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Read<T> = Result<T, &'static str>;

impl<'a> Reader<'a> {
    fn take(&mut self, n_bytes: usize) -> Read<&'a [u8]> {
        let end = self.at.checked_add(n_bytes).filter(|end| *end <= self.bytes.len()).ok_or("the file is cut off")?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The next type letter.
    fn kind(&mut self) -> Read<u8> {
        loop {
            match self.take(1)?[0] {
                b'N' => {}
                kind => return Ok(kind),
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn value(&mut self, kind: u8, depth: usize) -> Read<Value> {
        if depth > MAX_DEPTH {
            return Err("lists are nested too deeply");
        }
        match kind {
            b'Z' => Ok(Value::Null),
            b'T' => Ok(Value::Number(1.0)),
            b'F' => Ok(Value::Number(0.0)),
            b'S' => Ok(Value::Text(self.text()?)),
            b'C' => Ok(Value::Text(char::from(self.take(1)?[0]).into())),
            b'[' => self.list(depth),
            b'{' => self.object(depth),
            kind => Ok(Value::Number(self.number(kind)?)),
        }
    }

    fn number(&mut self, kind: u8) -> Read<f64> {
        let bytes = self.take(number_bytes(kind).ok_or("unknown type of value")?)?;
        let whole = |bytes: &[u8]| {
            let sign = if bytes[0] >= 0x80 { -1 } else { 0 };
            bytes.iter().fold(sign, |number: i64, byte| number << 8 | i64::from(*byte))
        };
        Ok(match kind {
            b'U' => f64::from(bytes[0]),
            b'd' => f32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into(),
            b'D' => bytes.try_into().map(f64::from_be_bytes).map_err(|_| "the file is cut off")?,
            _ => whole(bytes) as f64,
        })
    }

    /// A number of values or bytes that follow.
    fn length(&mut self) -> Read<usize> {
        let kind = self.kind()?;
        if matches!(kind, b'd' | b'D') {
            return Err("a length is not an integer");
        }
        let length = self.number(kind)?;
        if length < 0.0 { Err("a length is negative") } else { Ok(length as usize) }
    }

    fn text(&mut self) -> Read<String> {
        let n_bytes = self.length()?;
        String::from_utf8(self.take(n_bytes)?.to_vec()).map_err(|_| "a string is not UTF-8")
    }

    /// The optional header of a list or an object: the type of its values and their number.
    fn header(&mut self) -> Read<(Option<u8>, Option<usize>)> {
        let mut of_kind = None;
        if self.peek() == Some(b'$') {
            self.take(1)?;
            of_kind = Some(self.take(1)?[0]);
        }
        if self.peek() == Some(b'#') {
            self.take(1)?;
            return Ok((of_kind, Some(self.length()?)));
        }
        if of_kind.is_some() { Err("a typed list without a length") } else { Ok((None, None)) }
    }

    fn list(&mut self, depth: usize) -> Read<Value> {
        let (of_kind, count) = self.header()?;
        if let (Some(kind), Some(count)) = (of_kind, count) {
            // Values without bytes could be any number; no program writes such lists.
            let n_bytes = number_bytes(kind).ok_or("a typed list of something else than numbers")?;
            if count > (self.bytes.len() - self.at) / n_bytes {
                return Err("a list is longer than the file");
            }
            return (0..count).map(|_| self.number(kind)).collect::<Read<_>>().map(Value::Numbers);
        }
        let mut list = List::default();
        loop {
            if count == Some(list.len()) {
                break;
            }
            match self.kind()? {
                b']' if count.is_none() => break,
                kind => list.push(self.value(kind, depth + 1)?),
            }
        }
        Ok(list.finish())
    }

    fn object(&mut self, depth: usize) -> Read<Value> {
        let (of_kind, count) = self.header()?;
        let mut fields = Vec::new();
        loop {
            if count == Some(fields.len()) {
                break;
            }
            if count.is_none() && self.peek() == Some(b'}') {
                self.take(1)?;
                break;
            }
            let name = self.text()?;
            let kind = of_kind.map_or_else(|| self.kind(), Ok)?;
            fields.push((name, self.value(kind, depth + 1)?));
        }
        Ok(Value::Object(fields))
    }
}

fn number_bytes(kind: u8) -> Option<usize> {
    match kind {
        b'i' | b'U' => Some(1),
        b'I' => Some(2),
        b'l' | b'd' => Some(4),
        b'L' | b'D' => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind() {
        let bytes =
            b"{L\0\0\0\0\0\0\0\x01a[$d#L\0\0\0\0\0\0\0\x02\x3f\x80\0\0\xbf\0\0\0i\x01b[i\xffZ]i\x01cSi\x02hei\x01dT}";
        let Value::Object(fields) = read("x", bytes).unwrap() else { panic!("it is an object") };
        let expected = [
            ("a", Value::Numbers(vec![1.0, -0.5])),
            ("b", Value::List(vec![Value::Number(-1.0), Value::Null])),
            ("c", Value::Text("he".into())),
            ("d", Value::Number(1.0)),
        ];
        assert_eq!(fields, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn what_lies_is_refused() {
        let deep = [b'['; 1000];
        let lies: [&[u8]; 9] = [
            b"",
            b"TT",
            b"{",
            b"[$Z#l\x7f\xff\xff\xff",
            b"[$d#l\x7f\xff\xff\xff",
            b"Sl\x7f\xff\xff\xff",
            b"Si\xff",
            b"?",
            &deep,
        ];
        for bytes in lies {
            assert!(read("x", bytes).is_err(), "{bytes:?}");
        }
    }
}
