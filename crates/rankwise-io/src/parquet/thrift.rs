//! Checks data in Thrift's compact protocol before the decoder trusts it. The decoder allocates memory for as many
//! entries as a list claims to have; if the system cannot provide it, the process ends.
//!
//! ```text
//! 0x15 0x04   field 1 (0 + 1), a 32-bit integer: 2
//! 0x29 0x3c   field 3 (1 + 2), a list of 3 structures
//! 0x00        the end of a structure
//! ```

use super::varint;

/// No real file nests deeper.
const MAX_DEPTH: usize = 32;

/// Walks through a structure.
pub(super) struct Walker<'a> {
    bytes: &'a [u8],
    path: Vec<i16>,
    /// The integers so far, by the path of field numbers.
    pub(super) integers: Vec<(Vec<i16>, i64)>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, path: Vec::new(), integers: Vec::new() }
    }

    /// The integer of a field already read.
    pub(super) fn integer(&self, path: &[i16]) -> Option<i64> {
        self.integers.iter().find(|(found, _)| found == path).map(|(_, value)| *value)
    }

    /// Walks through a structure; `None` if it is truncated or impossible.
    pub(super) fn structure(&mut self) -> Option<()> {
        let mut field = 0i16;
        loop {
            let head = self.take(1)?[0];
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => i16::try_from(signed(self.varint()?)).ok()?,
                delta => field.checked_add(delta.into())?,
            };
            self.path.push(field);
            self.value(head & 0x0f)?;
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8) -> Option<()> {
        if self.path.len() > MAX_DEPTH {
            return None;
        }
        match kind {
            // Booleans are part of the field header.
            1 | 2 => {}
            3 => drop(self.take(1)?),
            4..=6 => {
                let value = signed(self.varint()?);
                self.integers.push((self.path.clone(), value));
            }
            7 => drop(self.take(8)?),
            8 => {
                let length = self.varint()?;
                self.take(usize::try_from(length).ok()?)?;
            }
            9 | 10 => self.list()?,
            12 => self.structure()?,
            _ => return None,
        }
        Some(())
    }

    /// A list cannot have more entries than bytes.
    fn list(&mut self) -> Option<()> {
        let head = self.take(1)?[0];
        let size = match head >> 4 {
            15 => usize::try_from(self.varint()?).ok()?,
            size => size.into(),
        };
        if size > self.bytes.len() {
            return None;
        }
        self.path.push(0);
        for _ in 0..size {
            match head & 0x0f {
                1 | 2 => drop(self.take(1)?),
                kind => self.value(kind)?,
            }
        }
        self.path.pop();
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        varint::take(&mut self.bytes)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }
}

/// Zigzag encoding: 0, -1, 1, -2, ...
fn signed(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_longer_than_their_bytes_are_refused() {
        let mut walker = Walker::new(&[0x15, 0x04, 0x29, 0x2c, 0x15, 0x01, 0x00, 0x00, 0x18, 0x01, b'x', 0x00]);
        assert_eq!(walker.structure(), Some(()));
        assert_eq!((walker.integer(&[1]), walker.integer(&[3, 0, 1])), (Some(2), Some(-1)));
        for bytes in [&[0x19, 0xfc, 0xff, 0xff, 0x7f, 0x00][..], &[0x18, 0x7f, 0x00], &[0x15], &[0x1b, 0x01, 0x00], &[]]
        {
            assert_eq!(Walker::new(bytes).structure(), None, "{bytes:?}");
        }
        assert_eq!(Walker::new(&[0x1c; 1000]).structure(), None);
    }
}
