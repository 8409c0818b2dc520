//! Opens files and decompresses them. Compression is detected by content, never by name.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::error::{Action, IoError, is_stream};
use crate::unpack::{self, Excess};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The decompressed content of a file, at most `limit` bytes; `-` is standard input.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, IoError> {
    let mut source = ByteStream::open(path)?;
    let mut bytes = Vec::new();
    let done = source.reader.by_ref().take(limit).read_to_end(&mut bytes);
    let n_lines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
    done.map_err(|error| source.read_error(error, n_lines))?;
    Ok(bytes)
}

/// A stream of decompressed bytes, with its path.
pub(crate) struct ByteStream<'a> {
    pub(crate) path: PathBuf,
    codec: Option<&'static str>,
    reader: Box<dyn Read + Send + 'a>,
}

impl ByteStream<'static> {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, IoError> {
        if is_stream(path) {
            return Self::new(io::stdin(), path);
        }
        let file =
            File::open(path).map_err(|source| IoError::File { path: path.into(), action: Action::Open, source })?;
        Self::new(file, path)
    }
}

impl<'a> ByteStream<'a> {
    /// Looks at the first bytes and selects the decoder.
    pub(crate) fn new(mut input: impl Read + Send + 'a, path: &Path) -> Result<Self, IoError> {
        let read_error = |source| IoError::File { path: path.into(), action: Action::Read, source };
        let mut magic = Vec::with_capacity(ZSTD_MAGIC.len());
        input.by_ref().take(ZSTD_MAGIC.len() as u64).read_to_end(&mut magic).map_err(read_error)?;
        let is_gzip = magic.starts_with(&GZIP_MAGIC);
        let is_zstd = magic.starts_with(&ZSTD_MAGIC);
        let whole = Cursor::new(magic).chain(input);
        let (codec, reader): (_, Box<dyn Read + Send + 'a>) = if is_gzip {
            (Some("gzip"), unpack::gzip(whole))
        } else if is_zstd {
            (Some("zstd"), unpack::zstd(whole).map_err(read_error)?)
        } else {
            (None, Box::new(whole))
        };
        Ok(Self { path: path.into(), codec, reader })
    }

    /// Whether the decompressed content begins with `magic`; this consumes nothing.
    pub(crate) fn begins_with(&mut self, magic: &[u8]) -> Result<bool, IoError> {
        let mut start = Vec::with_capacity(magic.len());
        let done = self.fill(&mut start, magic.len());
        let is_it = start == magic;
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(start).chain(rest));
        done.map(|_| is_it).map_err(|error| self.read_error(error, 0))
    }

    /// The compression format, if any.
    pub(crate) fn codec(&self) -> Option<&'static str> {
        self.codec
    }

    /// The rest of the content.
    pub(crate) fn read_to_end(&mut self) -> Result<Vec<u8>, IoError> {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).map_err(|error| self.read_error(error, 0))?;
        Ok(bytes)
    }

    /// Reads until `buffer` has `len` bytes or the stream ends; returns whether there may be more. On an error, bytes
    /// read before it stay in the buffer.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, len: usize) -> io::Result<bool> {
        let missing = len.saturating_sub(buffer.len());
        let read = self.reader.by_ref().take(missing as u64).read_to_end(buffer)?;
        Ok(read == missing)
    }

    /// The error for a failed read after this many whole lines.
    pub(crate) fn read_error(&self, source: io::Error, line: u64) -> IoError {
        let path = self.path.clone();
        match self.codec {
            Some(codec) if let Some(excess) = Excess::of(&source) => IoError::Excess { path, codec, excess },
            // System errors have an OS error code; decoder errors do not.
            Some(codec) if source.raw_os_error().is_none() => IoError::Damaged { path, codec, line, source },
            _ => IoError::File { path, action: Action::Read, source },
        }
    }
}
