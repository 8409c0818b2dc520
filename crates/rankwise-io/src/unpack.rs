//! Decoders that a hostile file cannot use against us: a few bytes can stand for gigabytes, and can ask for as much memory.

use std::fmt;
use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

/// Compressed bytes that are read at once.
const INPUT_BUFFER_BYTES: usize = 256 << 10;
/// How much larger than its file content may be. Text of numbers shrinks to a fifth, wide tables of zeros to a hundredth;
/// gzip ends near 1000, zstd near 30,000.
pub(crate) const MAX_RATIO: u64 = 500;
/// So much content is free, whatever it came from: small files shrink by chance.
const FREE_BYTES: u64 = 64 << 20;
/// The window of zstd, which its decoder keeps in memory: 128 MB, as much as the `zstd` command takes without being asked. All
/// levels and plain `--long` need no more.
const MAX_WINDOW_LOG: u32 = 27;
/// What the library says of a larger window; it gives no number to compare.
const WINDOW_TOO_LARGE: &str = "Frame requires too much memory for decoding";

/// What a file asks for that it does not get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Content out of all proportion to the file.
    Content,
    /// A window beyond any use.
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
    /// What an error of a decoder is about, if it is about this.
    pub(crate) fn of(error: &io::Error) -> Option<Self> {
        let inner = error.get_ref()?;
        inner.downcast_ref().copied().or_else(|| (inner.to_string() == WINDOW_TOO_LARGE).then_some(Self::Window))
    }

    /// What the user can do.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Content => "check where it comes from, or decompress it first if it is right",
            Self::Window => "compress the file again with a window of 128 MB or less, or decompress it first",
        }
    }
}

type Input<R> = BufReader<Counted<R>>;

/// Undoes gzip.
pub(crate) fn gzip<'a>(input: impl Read + Send + 'a) -> Box<dyn Read + Send + 'a> {
    Box::new(Bounded::new(MultiGzDecoder::new(counted(input)), |decoder| n_used(decoder.get_ref())))
}

/// Undoes zstd.
pub(crate) fn zstd<'a>(input: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut decoder = zstd::Decoder::with_buffer(counted(input))?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    Ok(Box::new(Bounded::new(decoder, |decoder| n_used(decoder.get_ref()))))
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    n_bytes: u64,
}

fn counted<R: Read>(inner: R) -> Input<R> {
    BufReader::with_capacity(INPUT_BUFFER_BYTES, Counted { inner, n_bytes: 0 })
}

/// The bytes that a decoder has taken from its input.
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

/// A decoder that stops when its content outgrows its input.
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

    /// So many equal bytes, compressed, then some more.
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

    /// Real text is not touched: numbers that do not repeat.
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

    /// The words of the library are all there is to tell this error by.
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
