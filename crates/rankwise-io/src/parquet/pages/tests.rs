//! Compares pages of all kinds with what the `parquet` crate reads.

use std::collections::VecDeque;
use std::sync::Arc;

use parquet::column::page::PageMetadata;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::FloatType;
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type as SchemaType};
use proptest::prelude::*;

use super::*;
use crate::parquet::guard::guarded;
use crate::parquet::varint;

struct Pages(VecDeque<Page>);

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        Ok(self.0.pop_front())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.get_next_page().map(|_| ())
    }
}

/// The values that the crate reads.
fn theirs(pages: &[Page], n_rows: usize, is_optional: bool) -> Result<Vec<Option<f32>>> {
    let primitive = SchemaType::primitive_type_builder("f", Type::FLOAT).build()?;
    let column = ColumnDescriptor::new(Arc::new(primitive), i16::from(is_optional), 0, ColumnPath::from("f"));
    let mut reader = ColumnReaderImpl::<FloatType>::new(Arc::new(column), Box::new(Pages(pages.to_vec().into())));
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let (n_read, ..) = guarded(|| reader.read_records(n_rows, Some(&mut levels), None, &mut values))?;
    if n_read != n_rows {
        return Err(general("rows are missing"));
    }
    let mut values = values.into_iter();
    if !is_optional {
        return Ok(values.map(Some).collect());
    }
    Ok(levels.iter().map(|level| if *level > 0 { values.next() } else { None }).collect())
}

/// The values that we read; `None` if it is left to the crate.
fn ours(pages: &[Page], n_rows: usize, is_optional: bool) -> Result<Option<Vec<Option<f32>>>> {
    let mut column = ColumnValues::expecting(n_rows / 2);
    let stored = Stored::new(Type::FLOAT, Kind::Float, is_optional, Keep::Rounded).expect("floats are known");
    let is_done = stored.read(&mut Pages(pages.to_vec().into()), n_rows, &mut column)?;
    let mut values = Vec::new();
    column.append(|all| values.clone_from(all));
    Ok(is_done.then(|| values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect()))
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn dictionary(values: &[f32]) -> Page {
    Page::DictionaryPage {
        buf: floats(values.iter().copied()).into(),
        num_values: values.len() as u32,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    }
}

fn first_version(levels: Option<&[u8]>, values: &[u8], n_rows: usize, encoding: Encoding) -> Page {
    let levels = levels.map(|levels| [&(levels.len() as u32).to_le_bytes(), levels].concat()).unwrap_or_default();
    Page::DataPage {
        buf: [&levels, values].concat().into(),
        num_values: n_rows as u32,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    }
}

fn second_version(levels: &[u8], values: &[u8], n_rows: usize, n_nulls: usize, encoding: Encoding) -> Page {
    Page::DataPageV2 {
        buf: [levels, values].concat().into(),
        num_values: n_rows as u32,
        encoding,
        num_nulls: n_nulls as u32,
        num_rows: n_rows as u32,
        def_levels_byte_len: levels.len() as u32,
        rep_levels_byte_len: 0,
        is_compressed: false,
        statistics: None,
    }
}

/// Random numbers (xorshift): a test case needs many.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Packs integers in runs of any kind; the last run may be truncated.
    fn pack(&mut self, values: &[u32], width: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = values;
        while let Some(first) = rest.first() {
            let n_equal = rest.iter().take_while(|value| *value == first).count();
            if self.below(3) == 0 || (n_equal > 8 && self.below(4) > 0) {
                let some = 1 + self.below(n_equal);
                let count = self.of(&[n_equal, some]);
                varint::put((count as u64) << 1, &mut out);
                out.extend(&first.to_le_bytes()[..width.div_ceil(8)]);
                rest = &rest[count..];
                continue;
            }
            let n_groups = (1 + self.below(80)).min(rest.len().div_ceil(8));
            let (packed, after) = rest.split_at(rest.len().min(n_groups * 8));
            varint::put((n_groups as u64) << 1 | 1, &mut out);
            let mut bytes = vec![0u8; n_groups * width];
            for (idx, value) in packed.iter().enumerate() {
                for at in (0..width).filter(|bit| value >> bit & 1 == 1).map(|bit| idx * width + bit) {
                    bytes[at / 8] |= 1 << (at % 8);
                }
            }
            if after.is_empty() && self.below(3) == 0 {
                bytes.truncate((packed.len() * width).div_ceil(8));
            }
            out.extend(bytes);
            rest = after;
        }
        out
    }

    /// Whether each row has a value.
    fn levels(&mut self, n_rows: usize) -> Vec<u32> {
        let mode = self.below(5);
        let mut last = 1;
        let mut level = || match mode {
            0 => 1,
            1 => 0,
            2 => self.below(2) as u32,
            3 => u32::from(self.below(40) > 0),
            _ => {
                last ^= u32::from(self.below(50) == 0);
                last
            }
        };
        (0..n_rows).map(|_| level()).collect()
    }

    fn page(&mut self, n_different: usize, n_rows: usize, is_optional: bool) -> Page {
        let levels = if is_optional { self.levels(n_rows) } else { vec![1; n_rows] };
        let n_there = levels.iter().sum::<u32>() as usize;
        let is_coded = n_different > 0 && self.below(4) > 0;
        let values = if is_coded {
            let least = n_different.next_power_of_two().trailing_zeros() as usize;
            let wider = least + self.below(33 - least);
            let width = self.of(&[least, least, wider]);
            let mut place = 0;
            let mut next = || {
                let other = self.below(n_different);
                place = self.of(&[place, other, other]);
                place as u32
            };
            let places: Vec<u32> = (0..n_there).map(|_| next()).collect();
            [vec![width as u8], self.pack(&places, width)].concat()
        } else {
            floats((0..n_there).map(|value| value as f32 * -0.25))
        };
        let coded = self.of(&[Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY]);
        let encoding = if is_coded { coded } else { Encoding::PLAIN };
        let levels = if is_optional { Some(self.pack(&levels, 1)) } else { None };
        match self.below(2) {
            0 => first_version(levels.as_deref(), &values, n_rows, encoding),
            _ => second_version(&levels.unwrap_or_default(), &values, n_rows, n_rows - n_there, encoding),
        }
    }
}

/// Numbers of values around the limits of code widths.
const SIZES: [usize; 14] = [0, 1, 2, 3, 100, 255, 256, 257, 5_000, 65_534, 65_535, 65_536, 65_537, 70_000];

proptest! {
    /// For any pages, we read the same as the crate.
    #[test]
    fn pages_hold_what_the_crate_says(seed in 1u64.., is_optional in any::<bool>()) {
        let mut draws = Draws(seed);
        let n_different = draws.of(&SIZES);
        let mut pages = vec![dictionary(&(0..n_different).map(|value| value as f32 * 0.5).collect::<Vec<_>>())];
        let mut n_rows = 0;
        for _ in 0..=draws.below(4) {
            let most = draws.of(&[40, 5_000]);
            let n_page = 1 + draws.below(most);
            pages.push(draws.page(n_different, n_page, is_optional));
            n_rows += n_page;
        }
        // A page may have more rows than requested.
        let n_rows = n_rows - draws.below(3).min(n_rows - 1);
        let expected = theirs(&pages, n_rows, is_optional).unwrap();
        prop_assert_eq!(ours(&pages, n_rows, is_optional).unwrap(), Some(expected));
    }
}

#[test]
fn odd_pages_that_are_legal_are_read() {
    use Encoding::{PLAIN, RLE_DICTIONARY as CODED};
    let four = floats([1.0, 2.0, 3.0, 4.0]);
    let plain = Ok(Some([1.0, 2.0, 3.0, 4.0].map(Some).to_vec()));
    let none = Ok(Some(vec![None; 4]));
    let nines = Ok(Some(vec![Some(9.0); 4]));
    let read = |pages: &[Page], is_optional| ours(pages, 4, is_optional).map_err(|error| error.to_string());
    let whole = || first_version(Some(&[8, 1]), &four, 4, PLAIN);
    assert_eq!(read(&[first_version(Some(&[]), &[], 0, PLAIN), whole()], true), plain);
    assert_eq!(read(&[second_version(&[], &[], 0, 0, PLAIN), whole()], true), plain);
    assert_eq!(read(&[first_version(None, &[], 0, PLAIN), first_version(None, &four, 4, PLAIN)], false), plain);
    // No value at all, and no width byte.
    assert_eq!(read(&[dictionary(&[]), first_version(Some(&[8, 0]), &[], 4, CODED)], true), none);
    // With one value, codes have no bits, as a run and packed.
    assert_eq!(read(&[dictionary(&[9.0]), first_version(None, &[0, 8], 4, CODED)], false), nines);
    assert_eq!(read(&[dictionary(&[9.0]), first_version(None, &[0, 3], 4, CODED)], false), nines);
    // More bits than the number of values needs.
    assert_eq!(read(&[dictionary(&[8.0, 9.0]), first_version(None, &[17, 8, 1, 0, 0], 4, CODED)], false), nines);
    // Another encoding of levels is left to the crate.
    let Page::DataPage { buf, num_values, encoding, rep_level_encoding, statistics, .. } = whole() else {
        unreachable!("pages of the first version are such")
    };
    let def_level_encoding = Encoding::RLE_DICTIONARY;
    let other = Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, statistics };
    assert_eq!(read(&[other], true), Ok(None));
    assert_eq!(read(&[first_version(None, &four, 4, Encoding::BYTE_STREAM_SPLIT)], false), Ok(None));
}

#[test]
fn damaged_pages_are_refused() {
    use Encoding::{PLAIN, RLE_DICTIONARY as CODED};
    let four = floats([1.0, 2.0, 3.0, 4.0]);
    let coded = |bytes: &[u8]| first_version(None, bytes, 4, CODED);
    let cases: [(&str, bool, &[Page]); 16] = [
        ("2 in 1 bits", true, &[first_version(Some(&[4, 2, 4, 0]), &four, 4, PLAIN)]),
        ("3 in 1 bits", true, &[first_version(Some(&[8, 3]), &floats([1.0; 12]), 4, PLAIN)]),
        ("2 in 1 bits", false, &[dictionary(&[5.0, 6.0, 7.0]), coded(&[1, 8, 2])]),
        ("there are two dictionaries", false, &[dictionary(&[1.0]), dictionary(&[2.0]), coded(&[1, 8, 0])]),
        ("there is no dictionary", false, &[coded(&[1, 8, 0])]),
        ("a place beyond the end of the dictionary", false, &[dictionary(&[1.0]), coded(&[1, 8, 1])]),
        ("a place beyond the end of the dictionary", false, &[dictionary(&[]), coded(&[0, 8])]),
        ("a place beyond the end of the dictionary", false, &[dictionary(&[1.0, 2.0]), coded(&[17, 8, 1, 0, 1])]),
        ("integers of 33 bits", false, &[dictionary(&[1.0]), coded(&[33, 8, 0])]),
        ("its integers end too early", false, &[dictionary(&[1.0]), coded(&[1, 4, 0])]),
        ("0 nulls in place of 3", true, &[second_version(&[8, 1], &four, 4, 3, PLAIN)]),
        ("0 nulls in place of 2", false, &[second_version(&[], &four, 4, 2, PLAIN)]),
        ("values are missing", false, &[first_version(None, &four[..15], 4, PLAIN)]),
        ("1 rows are missing", false, &[first_version(None, &four, 3, PLAIN)]),
        ("a page is shorter than its parts", true, &[first_version(None, &[9, 0, 0, 0, 8, 1], 4, PLAIN)]),
        (
            "its dictionary is cut off",
            false,
            &[Page::DictionaryPage { buf: vec![0; 7].into(), num_values: 2, encoding: PLAIN, is_sorted: false }],
        ),
    ];
    for (message, is_optional, pages) in cases {
        let found = ours(pages, 4, is_optional);
        let error = found.map_or_else(|error| error.to_string(), |found| format!("{found:?}"));
        assert!(error.ends_with(message), "{message}: {error}");
    }
}
