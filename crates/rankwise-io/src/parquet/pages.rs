//! Reads the pages of a feature: plain values, or dictionary indices, which stay indices.
//!
//! This covers what most files contain: numbers of 4 or 8 bytes, plain or with a dictionary. The `parquet` crate reads
//! everything else, but expands dictionaries.

use bytes::Bytes;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use rankwise_data::{ColumnValues, Dictionary, Keep};

use super::hybrid::{Hybrid, Integer};
use super::kind::Kind;

/// Number of rows decoded together.
const BATCH: usize = 1024;

/// How the values of a column are stored.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    physical: Type,
    kind: Kind,
    is_optional: bool,
    keep: Keep,
}

impl Stored {
    /// `None` if values of this type cannot be read here.
    pub(super) fn new(physical: Type, kind: Kind, is_optional: bool, keep: Keep) -> Option<Self> {
        let is_known = matches!(physical, Type::FLOAT | Type::DOUBLE | Type::INT32 | Type::INT64);
        (is_known && keep != Keep::All).then_some(Self { physical, kind, is_optional, keep })
    }

    /// Appends the values of `n_rows` rows, NaN if missing. Returns false if something is stored in another way, or if
    /// values must be kept that cannot be recovered from their f32. Some values may already have been appended then.
    pub(super) fn read(self, pages: &mut dyn PageReader, n_rows: usize, values: &mut ColumnValues) -> Result<bool> {
        let mut n_left = n_rows;
        let mut dictionary = None;
        while n_left > 0 {
            let page = pages.get_next_page()?.ok_or_else(|| general(format!("{n_left} rows are missing")))?;
            if let Page::DictionaryPage { buf, num_values, encoding, .. } = &page {
                if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                    return Ok(false);
                }
                if dictionary.is_some() {
                    return Err(general("there are two dictionaries"));
                }
                let Some(read) = self.dictionary(buf, *num_values as usize, values)? else { return Ok(false) };
                values.begin_dictionary(dictionary.insert(read));
                continue;
            }
            if page.num_values() == 0 {
                continue;
            }
            let Some(mut rows) = self.rows_of(&page)? else { return Ok(false) };
            let n_rows = n_left.min(page.num_values() as usize);
            match page.encoding() {
                Encoding::PLAIN => {
                    if !self.read_plain(&mut rows, n_rows, values)? {
                        return Ok(false);
                    }
                }
                Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                    let dictionary = dictionary.as_ref().ok_or_else(|| general("there is no dictionary"))?;
                    read_coded(&mut rows, n_rows, dictionary, values)?;
                }
                _ => return Ok(false),
            }
            if let Page::DataPageV2 { num_nulls, .. } = &page
                && n_rows == page.num_values() as usize
                && rows.n_missing != *num_nulls as usize
            {
                return Err(general(format!("{} nulls in place of {num_nulls}", rows.n_missing)));
            }
            n_left -= n_rows;
        }
        Ok(true)
    }

    /// The content of a page of values; `None` if levels are stored in another way.
    fn rows_of(self, page: &Page) -> Result<Option<Rows<'_>>> {
        let too_short = || general("a page is shorter than its parts");
        let (levels, values) = match page {
            Page::DataPage { buf, def_level_encoding, .. } if self.is_optional => {
                if *def_level_encoding != Encoding::RLE {
                    return Ok(None);
                }
                let (length, rest) = buf.split_first_chunk::<4>().ok_or_else(too_short)?;
                rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(too_short)?
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let rest = buf.get(*rep_levels_byte_len as usize..).ok_or_else(too_short)?;
                rest.split_at_checked(*def_levels_byte_len as usize).ok_or_else(too_short)?
            }
            other => (&[][..], &other.buffer()[..]),
        };
        let levels = if self.is_optional { Some(Hybrid::new(levels, 1)?) } else { None };
        Ok(Some(Rows { levels, values, n_missing: 0 }))
    }

    /// Returns false if values cannot be recovered from their f32.
    fn read_plain(self, rows: &mut Rows<'_>, n_rows: usize, values: &mut ColumnValues) -> Result<bool> {
        let mut bytes = rows.values;
        let mut are_told = true;
        rows.each_batch(n_rows, |batch| {
            let n_bytes = batch.n_there * self.value_bytes();
            let (taken, rest) = bytes.split_at_checked(n_bytes).ok_or_else(|| general("values are missing"))?;
            bytes = rest;
            let mut numbers = [0.0; BATCH];
            are_told = are_told && self.numbers(taken, &mut numbers[..batch.n_there], values);
            batch.spread(&mut numbers, f32::NAN);
            values.append_told(|values| values.extend_from_slice(&numbers[..batch.n_rows]));
            Ok(())
        })?;
        Ok(are_told)
    }

    /// `None` if values cannot be recovered from their f32.
    fn dictionary(self, bytes: &Bytes, n_values: usize, values: &mut ColumnValues) -> Result<Option<Dictionary>> {
        // Check the size before allocating.
        if bytes.len() / self.value_bytes() < n_values {
            return Err(general("its dictionary is cut off"));
        }
        let mut numbers = vec![0.0; n_values];
        Ok(self.numbers(bytes, &mut numbers, values).then(|| Dictionary::new(numbers)))
    }

    /// The size of a plain value.
    fn value_bytes(self) -> usize {
        if matches!(self.physical, Type::FLOAT | Type::INT32) { 4 } else { 8 }
    }

    /// Converts through f64, as for text, so that the f32 of a value does not depend on the format. Returns false if
    /// values cannot be recovered from their f32, provided the caller needs that.
    fn numbers(self, bytes: &[u8], out: &mut [f32], column: &mut ColumnValues) -> bool {
        if self.physical == Type::FLOAT {
            each(bytes, out, f32::from_le_bytes);
            column.tell_f32();
            return true;
        }
        let mut are_told = true;
        let mut numbers = [0.0; BATCH];
        for (bytes, out) in bytes.chunks(BATCH * self.value_bytes()).zip(out.chunks_mut(BATCH)) {
            let numbers = &mut numbers[..out.len()];
            match (self.physical, self.kind) {
                (Type::DOUBLE, _) => each(bytes, numbers, f64::from_le_bytes),
                (Type::INT32, kind) => each(bytes, numbers, |bytes| kind.number_of_32(i32::from_le_bytes(bytes))),
                (_, kind) => each(bytes, numbers, |bytes| kind.number_of_64(i64::from_le_bytes(bytes))),
            }
            out.iter_mut().zip(&*numbers).for_each(|(out, number)| *out = *number as f32);
            are_told = are_told && (self.keep == Keep::Rounded || column.tell(numbers));
        }
        if self.keep == Keep::Rounded {
            column.tell_f32();
        }
        are_told
    }
}

fn each<const N: usize, T>(bytes: &[u8], out: &mut [T], number: impl Fn([u8; N]) -> T) {
    for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *out = number(*bytes);
    }
}

fn read_coded(rows: &mut Rows<'_>, n_rows: usize, dictionary: &Dictionary, values: &mut ColumnValues) -> Result<()> {
    // If no row has a value, the page may be empty.
    let (width, packed) = rows.values.split_first().map_or((0, &[][..]), |(width, packed)| (*width, packed));
    let places = Hybrid::new(packed, width.into())?;
    // 16-bit integers are unpacked in half the time.
    match u16::try_from(dictionary.missing_place()) {
        Ok(missing) if u32::from(width) <= u16::BITS => {
            read_places(rows, n_rows, places, missing, |places| values.append_places(dictionary, places))
        }
        _ => {
            let missing = dictionary.missing_place() as u32;
            read_places(rows, n_rows, places, missing, |places| values.append_places(dictionary, places))
        }
    }
}

fn read_places<T: Integer>(
    rows: &mut Rows<'_>,
    n_rows: usize,
    mut places: Hybrid<'_>,
    missing: T,
    mut append: impl FnMut(&[T]),
) -> Result<()> {
    rows.each_batch(n_rows, |batch| {
        let mut found = [T::default(); BATCH];
        let there = &mut found[..batch.n_there];
        places.fill(there)?;
        let last = there.iter().fold(T::default(), |last, place| last.max(*place));
        if !there.is_empty() && last >= missing {
            return Err(general("a place beyond the end of the dictionary"));
        }
        batch.spread(&mut found, missing);
        append(&found[..batch.n_rows]);
        Ok(())
    })
}

/// The parts of a page.
struct Rows<'a> {
    /// Whether each row has a value; `None` if all have one.
    levels: Option<Hybrid<'a>>,
    values: &'a [u8],
    /// The number of rows so far without a value.
    n_missing: usize,
}

impl Rows<'_> {
    /// Iterates over the rows in batches.
    fn each_batch(&mut self, n_rows: usize, mut take: impl FnMut(&Batch) -> Result<()>) -> Result<()> {
        if let Some(levels) = &mut self.levels
            && levels.is_run_of(1, n_rows)?
        {
            self.levels = None;
        }
        let mut batch = Batch { n_rows: 0, n_there: 0, levels: [1; BATCH] };
        for start in (0..n_rows).step_by(BATCH) {
            batch.n_rows = BATCH.min(n_rows - start);
            batch.n_there = batch.n_rows;
            if let Some(levels) = &mut self.levels {
                levels.fill(&mut batch.levels[..batch.n_rows])?;
                batch.n_there = batch.levels[..batch.n_rows].iter().map(|level| *level as usize).sum();
                self.n_missing += batch.n_rows - batch.n_there;
            }
            take(&batch)?;
        }
        Ok(())
    }
}

/// A few rows.
struct Batch {
    n_rows: usize,
    /// The number of rows with a value.
    n_there: usize,
    /// 1 for a row with a value, 0 for others.
    levels: [u32; BATCH],
}

impl Batch {
    /// Moves the values, which are at the front, to their rows.
    fn spread<T: Copy>(&self, values: &mut [T; BATCH], missing: T) {
        if self.n_there == self.n_rows {
            return;
        }
        // From the back, so that no value is overwritten before it is moved.
        let mut n_left = self.n_there;
        for row in (0..self.n_rows).rev() {
            let is_there = self.levels[row] == 1;
            n_left -= usize::from(is_there);
            values[row] = if is_there { values[n_left] } else { missing };
        }
    }
}

fn general(text: impl Into<String>) -> ParquetError {
    ParquetError::General(text.into())
}

#[cfg(test)]
mod tests;
