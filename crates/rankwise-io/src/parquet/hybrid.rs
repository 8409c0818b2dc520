//! Parquet's RLE/bit-packing hybrid encoding: runs of one value, and runs of bit-packed values.
//!
//! ```text
//! header  n << 1          value of width/8 bytes, rounded up    the value, n times
//! header  n << 1 | 1      n * width bytes                       8 n values, from the lowest bit on
//! ```
//!
//! Headers are variable-length integers with 7 bits per byte. Dictionary indices and definition levels use this
//! encoding.

use parquet::errors::{ParquetError, Result};

use super::varint;

/// Number of values unpacked together.
const BLOCK: usize = 32;
/// Parquet integers have at most 32 bits.
const MAX_WIDTH: usize = 32;
/// The longest run, in values or in groups of eight.
const MAX_RUN: usize = i32::MAX as usize;

/// The type that integers are unpacked into; larger integers lose their upper bits.
pub(super) trait Integer: Copy + Default + Ord + Into<u32> {
    fn of(value: u32) -> Self;
}

impl Integer for u16 {
    fn of(value: u32) -> Self {
        value as Self
    }
}

impl Integer for u32 {
    fn of(value: u32) -> Self {
        value
    }
}

/// Reads integers from the front of some bytes.
pub(super) struct Hybrid<'a> {
    bytes: &'a [u8],
    width: usize,
    run: Run<'a>,
    /// Unpacked values not yet returned, at the end of the block.
    block: [u32; BLOCK],
    n_left: usize,
}

/// The rest of the current run.
enum Run<'a> {
    Equal { value: u32, count: usize },
    Packed { bytes: &'a [u8], count: usize },
}

impl<'a> Hybrid<'a> {
    pub(super) fn new(bytes: &'a [u8], width: usize) -> Result<Self> {
        if width > MAX_WIDTH {
            return Err(ParquetError::General(format!("integers of {width} bits")));
        }
        let run = Run::Equal { value: 0, count: 0 };
        Ok(Self { bytes, width, run, block: [0; BLOCK], n_left: 0 })
    }

    /// Whether the next `n` values are all `value`. Looks only at the next run, so `false` may also mean unknown.
    pub(super) fn is_run_of(&mut self, value: u32, n: usize) -> Result<bool> {
        if n > 0 && self.n_left == 0 && self.is_run_over() {
            self.next_run()?;
        }
        let is_one = matches!(self.run, Run::Equal { value: equal, count } if equal == value && count >= n);
        Ok(n == 0 || (self.n_left == 0 && is_one))
    }

    /// Fills `out` with the next values.
    pub(super) fn fill<T: Integer>(&mut self, mut out: &mut [T]) -> Result<()> {
        while !out.is_empty() {
            let n_filled = if self.n_left > 0 {
                let n_taken = self.n_left.min(out.len());
                let start = BLOCK - self.n_left;
                for (out, value) in out.iter_mut().zip(&self.block[start..start + n_taken]) {
                    *out = T::of(*value);
                }
                self.n_left -= n_taken;
                n_taken
            } else if self.is_run_over() {
                self.next_run()?;
                0
            } else {
                self.fill_from_run(out)
            };
            out = &mut out[n_filled..];
        }
        Ok(())
    }

    fn is_run_over(&self) -> bool {
        matches!(self.run, Run::Equal { count: 0, .. } | Run::Packed { count: 0, .. })
    }

    /// Returns how many values were written; the block may contain more.
    fn fill_from_run<T: Integer>(&mut self, out: &mut [T]) -> usize {
        match &mut self.run {
            Run::Equal { value, count } => {
                let n_taken = out.len().min(*count);
                out[..n_taken].fill(T::of(*value));
                *count -= n_taken;
                n_taken
            }
            Run::Packed { bytes, count } => {
                let n_whole = out.len().min(*count) / BLOCK;
                if n_whole > 0 {
                    let (whole, rest) = bytes.split_at(n_whole * BLOCK / 8 * self.width);
                    unpack_blocks(whole, self.width, &mut out[..n_whole * BLOCK]);
                    (*bytes, *count) = (rest, *count - n_whole * BLOCK);
                    return n_whole * BLOCK;
                }
                // Less than a block is requested or left. The padding after the end is never used.
                let mut padded = [0; BLOCK / 8 * MAX_WIDTH];
                let n_bytes = bytes.len().min(BLOCK / 8 * self.width);
                padded[..n_bytes].copy_from_slice(&bytes[..n_bytes]);
                let mut values = [0; BLOCK];
                unpack_blocks(&padded[..BLOCK / 8 * self.width], self.width, &mut values);
                self.n_left = BLOCK.min(*count);
                self.block = [0; BLOCK];
                self.block[BLOCK - self.n_left..].copy_from_slice(&values[..self.n_left]);
                (*bytes, *count) = (&bytes[n_bytes..], *count - self.n_left);
                0
            }
        }
    }

    fn next_run(&mut self) -> Result<()> {
        let header = varint::take(&mut self.bytes).ok_or_else(cut_off)?;
        // Some writers end with an empty run.
        let count =
            usize::try_from(header >> 1).ok().filter(|count| (1..=MAX_RUN).contains(count)).ok_or_else(cut_off)?;
        if header & 1 == 0 {
            let n_bytes = self.width.div_ceil(8);
            let (value, rest) = self.bytes.split_at_checked(n_bytes).ok_or_else(cut_off)?;
            let value = value.iter().rev().fold(0u32, |value, byte| value << 8 | u32::from(*byte));
            if u64::from(value) >> self.width > 0 {
                return Err(ParquetError::General(format!("{value} in {} bits", self.width)));
            }
            (self.run, self.bytes) = (Run::Equal { value, count }, rest);
            return Ok(());
        }
        // Some writers omit the padding bytes of the last group.
        let n_there = (self.bytes.len() * 8).checked_div(self.width).unwrap_or(usize::MAX);
        let n_values = count.saturating_mul(8).min(n_there);
        let n_bytes = count.saturating_mul(self.width).min(self.bytes.len());
        let (bytes, rest) = self.bytes.split_at(n_bytes);
        if n_values == 0 {
            return Err(cut_off());
        }
        (self.run, self.bytes) = (Run::Packed { bytes, count: n_values }, rest);
        Ok(())
    }
}

fn cut_off() -> ParquetError {
    ParquetError::General("its integers end too early".into())
}

/// Unpacks whole blocks. The width is a compile-time constant, so all shifts are constant.
fn unpack_blocks<T: Integer>(bytes: &[u8], width: usize, out: &mut [T]) {
    macro_rules! for_width {
        ($($width:literal)*) => {
            match width {
                $($width => blocks_of_width::<$width, T>(bytes, out),)*
                _ => out.fill(T::of(0)),
            }
        };
    }
    for_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

fn blocks_of_width<const WIDTH: usize, T: Integer>(bytes: &[u8], out: &mut [T]) {
    for (block, out) in bytes.chunks_exact(BLOCK / 8 * WIDTH).zip(out.as_chunks_mut::<BLOCK>().0) {
        // Groups of eight values start at a byte boundary.
        for (group, out) in block.as_chunks::<WIDTH>().0.iter().zip(out.as_chunks_mut::<8>().0) {
            unpack_group(group, out);
        }
    }
}

/// Unpacks eight values.
#[inline]
fn unpack_group<const WIDTH: usize, T: Integer>(group: &[u8; WIDTH], out: &mut [T; 8]) {
    *out = std::array::from_fn(|place| {
        let (byte, shift) = (place * WIDTH / 8, place * WIDTH % 8);
        // A value spans at most five bytes.
        let at = |offset: usize| group.get(byte + offset).map_or(0, |byte| u64::from(*byte) << (8 * offset));
        let bits = at(0) | at(1) | at(2) | at(3) | at(4);
        T::of((bits >> shift) as u32 & (u32::MAX >> (32 - WIDTH)))
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Packs bit by bit: a run with a count repeats one value, others list their values, padded to a multiple of 8.
    fn pack(runs: &[(Option<usize>, Vec<u32>)], width: usize) -> (Vec<u8>, Vec<u32>) {
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        for (repeat, run) in runs {
            let run: Vec<u32> = run.iter().map(|value| (u64::from(*value) & ((1u64 << width) - 1)) as u32).collect();
            if let Some(repeat) = repeat {
                varint::put((*repeat as u64) << 1, &mut bytes);
                bytes.extend(&run[0].to_le_bytes()[..width.div_ceil(8)]);
                values.extend(std::iter::repeat_n(run[0], *repeat));
                continue;
            }
            let n_groups = run.len().div_ceil(8);
            varint::put((n_groups as u64) << 1 | 1, &mut bytes);
            let start = bytes.len();
            bytes.resize(start + n_groups * width, 0);
            for (idx, value) in run.iter().enumerate() {
                for bit in 0..width {
                    let at = idx * width + bit;
                    bytes[start + at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
                }
            }
            values.extend(&run);
            values.resize(values.len() + n_groups * 8 - run.len(), 0);
        }
        (bytes, values)
    }

    fn runs() -> impl Strategy<Value = Vec<(Option<usize>, Vec<u32>)>> {
        prop::collection::vec((prop::option::of(1usize..100), prop::collection::vec(any::<u32>(), 1..150)), 0..8)
    }

    proptest! {
        /// Compares with packing bit by bit, read in parts of any size.
        #[test]
        fn what_was_packed_comes_out(runs in runs(), width in 0usize..=32, parts in prop::collection::vec(1usize..80, 1..40)) {
            let (bytes, expected) = pack(&runs, width);
            let mut hybrid = Hybrid::new(&bytes, width).unwrap();
            let mut found = Vec::new();
            for part in parts {
                let n = part.min(expected.len() - found.len());
                let next = &expected[found.len()..found.len() + n];
                if hybrid.is_run_of(1, n).unwrap() {
                    prop_assert!(next.iter().all(|value| *value == 1));
                }
                // Also as short integers, if they fit.
                let mut out = vec![7u32; n];
                let mut short = vec![7u16; n];
                if width <= 16 {
                    hybrid.fill(&mut short).unwrap();
                    out = short.into_iter().map(u32::from).collect();
                } else {
                    hybrid.fill(&mut out).unwrap();
                }
                prop_assert_eq!(&out, next);
                found.extend(out);
            }
        }

        /// Arbitrary bytes give values or an error.
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0usize..40, n in 0usize..300) {
            if let Ok(mut hybrid) = Hybrid::new(&bytes, width) {
                let _ = hybrid.is_run_of(0, n);
                let _ = hybrid.fill(&mut vec![0u16; n]);
            }
        }
    }

    #[test]
    fn values_that_fill_up_the_last_group_may_be_left_out() {
        let (mut bytes, values) = pack(&[(None, (0..12).collect())], 5);
        bytes.truncate(bytes.len() - 2);
        let mut out = [0; 12];
        Hybrid::new(&bytes, 5).unwrap().fill(&mut out).unwrap();
        assert_eq!(out, values[..12]);
        assert!(Hybrid::new(&bytes, 5).unwrap().fill(&mut [0u32; 16]).is_err());
        assert!(Hybrid::new(&[], 5).unwrap().fill(&mut [0u16; 1]).is_err());
        assert!(Hybrid::new(&[], 33).is_err());
    }

    #[test]
    fn runs_that_cannot_be_are_refused() {
        let read = |bytes: &[u8], width| Hybrid::new(bytes, width).unwrap().fill(&mut [0u16; 2]);
        assert!(read(&[4, 1], 1).is_ok());
        // 2 in one bit, an empty run before a full one, more than 2^31 values.
        for bytes in [&[4, 2][..], &[0, 0, 4, 1], &[0x80, 0x80, 0x80, 0x80, 0x40, 1]] {
            assert!(read(bytes, 1).is_err(), "{bytes:?}");
        }
    }
}
