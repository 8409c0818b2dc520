//! A file that several threads read at once, each at its own position, with checks of the page sizes.

use std::fs::File;
use std::io::{self, BufReader, Chain, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::buf::Reader;
use bytes::{Buf as _, Bytes};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use super::thrift::Walker;

/// Clones share the file. The file position belongs to whoever holds the lock, because duplicated handles would share
/// one position.
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
        // Lengths are input: compare them with the file size before allocating.
        let fits = start.checked_add(length as u64).is_some_and(|end| end <= self.length);
        if !fits {
            return Err(beyond_the_end());
        }
        let mut buffer = vec![0; length];
        Cursor { file: self.clone(), offset: start }.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}

/// Reads from a position on.
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

/// A part of a file, read as a whole. Positions are relative to the file.
pub(super) struct Part {
    bytes: Bytes,
    start: u64,
    file_length: u64,
}

impl Part {
    /// Reads as much as there is. If something is missing, reading it later fails.
    pub(super) fn read(file: &impl ChunkReader, start: u64, length: u64) -> Result<Self> {
        let length = length.min(file.len().checked_sub(start).ok_or_else(beyond_the_end)?);
        let n_bytes = usize::try_from(length).map_err(|_| beyond_the_end())?;
        Ok(Self { bytes: file.get_bytes(start, n_bytes)?, start, file_length: file.len() })
    }

    /// Everything from a position on.
    fn rest(&self, start: u64) -> Result<Bytes> {
        let offset = start.checked_sub(self.start).and_then(|offset| usize::try_from(offset).ok());
        let offset = offset.filter(|offset| *offset <= self.bytes.len()).ok_or_else(beyond_the_end)?;
        Ok(self.bytes.slice(offset..))
    }
}

impl Length for Part {
    fn len(&self) -> u64 {
        self.file_length
    }
}

impl ChunkReader for Part {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.rest(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let rest = self.rest(start)?;
        if length > rest.len() { Err(beyond_the_end()) } else { Ok(rest.slice(..length)) }
    }
}

fn beyond_the_end() -> ParquetError {
    ParquetError::EOF("an offset is beyond the end of the file".into())
}

/// No writer makes pages close to this size. The decoder allocates memory for a page before it looks into it.
const MAX_PAGE_BYTES: i64 = 32 << 20;
/// The start of a page header, up to the number of values: six fields of at most 6 bytes.
const HEADER_START_BYTES: u64 = 36;
/// The length of the metadata and the magic bytes, at the end of a file.
const FOOTER_BYTES: u64 = 8;

/// Checks each page header before the decoder reads it.
pub(super) struct Checked<R>(pub(super) R);

impl<R: ChunkReader> Length for Checked<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Checked<R> {
    type T = Chain<io::Cursor<Vec<u8>>, R::T>;

    /// Called for the footer and for every page header.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut rest = self.0.get_read(start)?;
        let mut head = Vec::with_capacity(HEADER_START_BYTES as usize);
        rest.by_ref().take(HEADER_START_BYTES).read_to_end(&mut head)?;
        let is_footer = start.saturating_add(FOOTER_BYTES) >= self.len();
        if !is_footer {
            check_page(&head)?;
        }
        Ok(Read::chain(io::Cursor::new(head), rest))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Checks a page header. Its second field is the uncompressed size of the page. Its seventh field is the header of a
/// dictionary, which begins with the number of values.
fn check_page(head: &[u8]) -> Result<()> {
    let mut header = Walker::new(head);
    // The header usually continues, but the relevant fields are here.
    let _ = header.structure();
    let n_bytes = header.integer(&[2]).unwrap_or(0);
    if n_bytes > MAX_PAGE_BYTES {
        return Err(ParquetError::General(format!("a page of {} MB", n_bytes >> 20)));
    }
    match header.integer(&[7, 1]) {
        Some(n_values) if n_values > n_bytes => {
            Err(ParquetError::General(format!("{n_values} values in {n_bytes} bytes")))
        }
        _ => Ok(()),
    }
}

/// Checks that no list in the metadata at the end of a file claims more entries than it has bytes. The decoder finds
/// all other errors.
pub(super) fn check_description(file: &impl ChunkReader) -> Result<()> {
    let Some(end) = file.len().checked_sub(FOOTER_BYTES) else { return Ok(()) };
    let footer = file.get_bytes(end, FOOTER_BYTES as usize)?;
    let length = u32::from_le_bytes([footer[0], footer[1], footer[2], footer[3]]);
    let Some(start) = end.checked_sub(length.into()) else { return Ok(()) };
    let description = file.get_bytes(start, length as usize)?;
    let is_sound = Walker::new(&description).structure().is_some();
    is_sound.then_some(()).ok_or_else(|| ParquetError::General("its metadata is inconsistent".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_belief_is_refused_before_memory_is_taken() {
        // Type 0, 1,000,000 bytes, 500 bytes compressed; then 2 GB.
        let honest = [0x15, 0x00, 0x15, 0x80, 0x89, 0x7a, 0x15, 0xe8, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let lying = [0x15, 0x00, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0xe8, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let read = |bytes: &[u8]| {
            let mut whole = Vec::new();
            let file = Checked(Bytes::copy_from_slice(bytes));
            file.get_read(0).map(|mut read| read.read_to_end(&mut whole).map(|_| whole.clone()).unwrap())
        };
        assert_eq!(read(&honest).unwrap(), honest);
        assert!(read(&lying).unwrap_err().to_string().contains("a page of 2047 MB"));
        // A dictionary with 2,000 values in 1,000 bytes.
        let dictionary = [0x15, 0x04, 0x15, 0xd0, 0x0f, 0x15, 0x10, 0x4c, 0x15, 0xa0, 0x1f, 0x15, 0, 0, 0];
        assert!(check_page(&dictionary).unwrap_err().to_string().contains("2000 values in 1000 bytes"));
        assert!(check_page(&[]).is_ok());
    }
}
