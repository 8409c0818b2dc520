//! Safe decompression of untrusted files: a few bytes can expand to gigabytes, or make the decoder allocate as much.

use std::fmt;
use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// Number of compressed bytes read at once.
const INPUT_BUFFER_BYTES: usize = 256 << 10;
/// The maximum ratio of content to compressed size. Numbers in text shrink to a fifth, wide tables of zeros to a
/// hundredth. The maximum is near 1000 for gzip and near 30,000 for zstd.
pub(crate) const MAX_RATIO: u64 = 500;
/// The ratio is not checked up to this size: small files can have any ratio.
const FREE_BYTES: u64 = 64 << 20;
/// The maximum window of zstd, which the decoder keeps in memory: 128 MB, the default limit of the `zstd` command. All
/// levels and plain `--long` stay within it.
const MAX_WINDOW_LOG: u32 = 27;
/// The library's message for a larger window; there is no error code.
const WINDOW_TOO_LARGE: &str = "Frame requires too much memory for decoding";

/// A limit that a file exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Far too much content for the size of the file.
    Content,
    /// A window that is too large.
    Window,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content => write!(f, "expands to more than {MAX_RATIO} times its size"),
            Self::Window => write!(f, "needs more than {} MB of memory to decompress", (1 << MAX_WINDOW_LOG) >> 20),
        }
    }
}

impl std::error::Error for Excess {}

impl Excess {
    /// The limit that an error of a decoder is about, if any.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        let inner = error.get_ref()?;
        inner.downcast_ref().copied().or_else(|| (inner.to_string() == WINDOW_TOO_LARGE).then_some(Self::Window))
    }

    /// The remedy.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Content => "check where it comes from, or decompress it first if it is right",
            Self::Window => "compress the file again with a window of 128 MB or less, or decompress it first",
        }
    }
}

type Input<R> = BufReader<Counted<R>>;

/// Decompresses gzip.
pub(crate) fn gzip<'a>(input: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
    Box::new(Bounded::new(MultiGzDecoder::new(counted(input)), |decoder| n_used(decoder.get_ref())))
}

/// Decompresses zstd.
pub(crate) fn zstd<'a>(input: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut decoder = zstd::Decoder::with_buffer(counted(input))?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    Ok(Box::new(Bounded::new(decoder, |decoder| n_used(decoder.get_ref()))))
}

/// Counts the bytes read.
struct Counted<R> {
    inner: R,
    n_bytes: u64,
}

fn counted<R: Read>(inner: R) -> Input<R> {
    BufReader::with_capacity(INPUT_BUFFER_BYTES, Counted { inner, n_bytes: 0 })
}

/// The number of bytes that a decoder has consumed.
fn n_used<R>(input: &Input<R>) -> u64 {
    input.get_ref().n_bytes - input.buffer().len() as u64
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.n_bytes += read as u64;
        Ok(read)
    }
}

/// A decoder that stops when its output is too large for its input.
struct Bounded<D> {
    decoder: D,
    n_used: fn(&D) -> u64,
    n_given: u64,
}

impl<D> Bounded<D> {
    fn new(decoder: D, n_used: fn(&D) -> u64) -> Self {
        Self { decoder, n_used, n_given: 0 }
    }
}

impl<D: Read> Read for Bounded<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.n_given += read as u64;
        if self.n_given > FREE_BYTES + MAX_RATIO * (self.n_used)(&self.decoder) {
            return Err(io::Error::other(Excess::Content));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, copy, repeat, sink};

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    /// This many equal bytes, compressed, followed by `then`.
    fn gzipped(n_bytes: u64, then: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        copy(&mut repeat(b'\n').take(n_bytes), &mut encoder).unwrap();
        encoder.write_all(then).unwrap();
        encoder.finish().unwrap()
    }

    fn zstandard(n_bytes: u64, window_log: u32) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        copy(&mut repeat(b'\n').take(n_bytes), &mut encoder).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(mut decoder: impl Read) -> Result<u64, Option<Excess>> {
        copy(&mut decoder, &mut sink()).map_err(|error| Excess::of(&error))
    }

    #[test]
    fn content_may_not_outgrow_its_file() {
        assert_eq!(unpacked(gzip(&gzipped(FREE_BYTES, b"")[..])), Ok(FREE_BYTES));
        assert_eq!(unpacked(gzip(&gzipped(3 * FREE_BYTES, b"")[..])), Err(Some(Excess::Content)));
        assert_eq!(unpacked(zstd(&zstandard(FREE_BYTES, 20)[..]).unwrap()), Ok(FREE_BYTES));
        assert_eq!(unpacked(zstd(&zstandard(FREE_BYTES + (1 << 24), 20)[..]).unwrap()), Err(Some(Excess::Content)));
    }

    /// Ordinary text is not affected: numbers that do not repeat.
    #[test]
    fn honest_content_of_any_length_is_read() {
        let numbers: Vec<u8> =
            (0..20_000_000u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let len = numbers.len() as u64;
        assert!(len > FREE_BYTES);
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.write_all(&numbers).unwrap();
        assert_eq!(unpacked(zstd(&encoder.finish().unwrap()[..]).unwrap()), Ok(len));
    }

    /// This error can be recognised only by the library's message.
    #[test]
    fn a_window_beyond_the_limit_is_told_from_damage() {
        let n_bytes = 1 << 20;
        assert_eq!(unpacked(zstd(&zstandard(n_bytes, MAX_WINDOW_LOG)[..]).unwrap()), Ok(n_bytes));
        let large = zstandard(n_bytes, MAX_WINDOW_LOG + 1);
        assert_eq!(unpacked(zstd(&large[..]).unwrap()), Err(Some(Excess::Window)));
        assert_eq!(unpacked(zstd(&large[..large.len() / 2]).unwrap()), Err(Some(Excess::Window)));
        let whole = zstandard(n_bytes, 20);
        assert_eq!(unpacked(zstd(&whole[..whole.len() / 2]).unwrap()), Err(None));
    }
}
