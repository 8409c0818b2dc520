//! A file that several threads read at once, each at a place of its own, and whose pages are of a size to be believed.

use std::fs::File;
use std::io::{self, BufReader, Chain, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Clones share the file. Where it stands belongs to whoever holds the lock: handles that the system duplicates would move
/// each other.
#[derive(Clone)]
pub(super) struct SharedFile {
    file: Arc<Mutex<File>>,
    length: u64,
}

impl SharedFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(Mutex::new(file)), length })
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read(buffer)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(Cursor { file: self.clone(), offset: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Lengths are input: they are compared with the file before memory is taken for them.
        let fits = start.checked_add(length as u64).is_some_and(|end| end <= self.length);
        if !fits {
            return Err(ParquetError::EOF("a part lies beyond the end of the file".into()));
        }
        let mut buffer = vec![0; length];
        Cursor { file: self.clone(), offset: start }.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}

/// Reads on from a place.
pub(super) struct Cursor {
    file: SharedFile,
    offset: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.offset, buffer)?;
        self.offset += read as u64;
        Ok(read)
    }
}

/// No writer makes pages near this size. The decoder takes the memory for a page before it looks into it.
const MAX_PAGE_BYTES: i64 = 64 << 20;
/// What begins the header of a page: three fields of at most 6 bytes.
const HEADER_START_BYTES: u64 = 18;
/// The length of the description and the magic bytes, at the end of a file.
const FOOTER_BYTES: u64 = 8;

/// Looks at the header of each page before the decoder does.
pub(super) struct Checked<R>(pub(super) R);

impl<R: ChunkReader> Length for Checked<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Checked<R> {
    type T = Chain<io::Cursor<Vec<u8>>, R::T>;

    /// Called for the footer and for every header of a page.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut rest = self.0.get_read(start)?;
        let mut head = Vec::with_capacity(HEADER_START_BYTES as usize);
        rest.by_ref().take(HEADER_START_BYTES).read_to_end(&mut head)?;
        let is_footer = start.saturating_add(FOOTER_BYTES) >= self.len();
        match page_bytes(&head) {
            Some(bytes) if bytes > MAX_PAGE_BYTES && !is_footer => {
                Err(ParquetError::General(format!("a page of {} MB", bytes >> 20)))
            }
            _ => Ok(io::Cursor::new(head).chain(rest)),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// The uncompressed size in the header of a page: its second field, in Thrift's compact form, where a 32-bit integer that is
/// the next field begins with 0x15.
fn page_bytes(head: &[u8]) -> Option<i64> {
    let (_, rest) = integer(head)?;
    integer(rest).map(|(bytes, _)| bytes)
}

fn integer(head: &[u8]) -> Option<(i64, &[u8])> {
    let rest = head.strip_prefix(&[0x15])?;
    let mut value = 0u64;
    for (idx, byte) in rest.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * idx);
        if byte & 0x80 == 0 {
            // Signs alternate: 0, -1, 1, -2, ...
            return Some(((value >> 1) as i64 ^ -((value & 1) as i64), &rest[idx + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_belief_is_refused_before_memory_is_taken() {
        // Type 0, 1,000,000 bytes, 500 bytes compressed; then 2 GB.
        let honest = [0x15, 0x00, 0x15, 0x80, 0x89, 0x7a, 0x15, 0xe8, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let lying = [0x15, 0x00, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0xe8, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!((page_bytes(&honest), page_bytes(&lying)), (Some(1_000_000), Some(i64::from(i32::MAX))));
        let read = |bytes: &[u8]| {
            let mut whole = Vec::new();
            let file = Checked(Bytes::copy_from_slice(bytes));
            file.get_read(0).map(|mut read| read.read_to_end(&mut whole).map(|_| whole.clone()).unwrap())
        };
        assert_eq!(read(&honest).unwrap(), honest);
        assert!(read(&lying).unwrap_err().to_string().contains("a page of 2047 MB"));
        assert_eq!(page_bytes(&[]), None);
        assert_eq!(page_bytes(&[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x15]), None);
    }
}
