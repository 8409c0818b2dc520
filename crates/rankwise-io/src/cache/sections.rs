//! Encodes lists as bytes, each with its length and a checksum.

use std::io::{self, Write};

use rankwise_data::StringTable;
use xxhash_rust::xxh3::xxh3_64;

pub(super) struct Writer<'a>(pub(super) &'a mut dyn Write);

impl Writer<'_> {
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(&(bytes.len() as u64).to_le_bytes())?;
        self.0.write_all(&xxh3_64(bytes).to_le_bytes())?;
        self.0.write_all(bytes)
    }

    pub(super) fn u32s(&mut self, numbers: impl IntoIterator<Item = u32>) -> io::Result<()> {
        self.bytes(&numbers.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
    }

    pub(super) fn u64s(&mut self, numbers: impl IntoIterator<Item = u64>) -> io::Result<()> {
        self.bytes(&numbers.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }

    pub(super) fn u128s(&mut self, numbers: impl IntoIterator<Item = u128>) -> io::Result<()> {
        self.bytes(&numbers.into_iter().flat_map(u128::to_le_bytes).collect::<Vec<u8>>())
    }

    pub(super) fn f32s(&mut self, numbers: impl IntoIterator<Item = f32>) -> io::Result<()> {
        self.bytes(&numbers.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
    }

    /// The end offsets of the strings, then their text.
    pub(super) fn strings<'s>(&mut self, strings: impl Iterator<Item = &'s str>) -> io::Result<()> {
        let mut text = String::new();
        let mut ends: Vec<u64> = Vec::new();
        for string in strings {
            text.push_str(string);
            ends.push(text.len() as u64);
        }
        self.u64s(ends)?;
        self.bytes(text.as_bytes())
    }
}

/// Takes sections off the front; `what` names the section in errors.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn bytes(&mut self, what: &'static str) -> Result<&'a [u8], &'static str> {
        let len = usize::try_from(self.number().ok_or(what)?).map_err(|_| what)?;
        let checksum = self.number().ok_or(what)?;
        let bytes = self.0.split_off(..len).ok_or(what)?;
        if xxh3_64(bytes) == checksum { Ok(bytes) } else { Err(what) }
    }

    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    pub(super) fn u32s(&mut self, what: &'static str) -> Result<Vec<u32>, &'static str> {
        self.numbers(what, u32::from_le_bytes)
    }

    pub(super) fn u64s(&mut self, what: &'static str) -> Result<Vec<u64>, &'static str> {
        self.numbers(what, u64::from_le_bytes)
    }

    pub(super) fn u128s(&mut self, what: &'static str) -> Result<Vec<u128>, &'static str> {
        self.numbers(what, u128::from_le_bytes)
    }

    pub(super) fn f32s(&mut self, what: &'static str) -> Result<Vec<f32>, &'static str> {
        self.numbers(what, f32::from_le_bytes)
    }

    fn numbers<T, const WIDTH: usize>(
        &mut self,
        what: &'static str,
        from: impl Fn([u8; WIDTH]) -> T,
    ) -> Result<Vec<T>, &'static str> {
        let (numbers, rest) = self.bytes(what)?.as_chunks();
        if rest.is_empty() { Ok(numbers.iter().map(|bytes| from(*bytes)).collect()) } else { Err(what) }
    }

    pub(super) fn strings(&mut self, what: &'static str) -> Result<StringTable, &'static str> {
        let ends = self.u64s(what)?;
        let text = std::str::from_utf8(self.bytes(what)?).map_err(|_| what)?;
        let mut table = StringTable::default();
        let mut start = 0;
        for end in ends {
            let end = usize::try_from(end).map_err(|_| what)?;
            table.push(text.get(start..end).ok_or(what)?);
            start = end;
        }
        if start == text.len() { Ok(table) } else { Err(what) }
    }

    pub(super) fn end(&self) -> Result<(), &'static str> {
        if self.0.is_empty() { Ok(()) } else { Err("the end") }
    }
}
