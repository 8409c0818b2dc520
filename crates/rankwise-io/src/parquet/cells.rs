//! Reads the values of one column in some rows.

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use rankwise_data::StringTable;

use super::kind::Kind;
use crate::options::Role;

/// Decoded values of a column that is not a feature, one per row.
pub(super) enum Cells {
    /// Labels, weights or positions; NaN if missing.
    Numbers(Vec<f64>),
    /// Ids; empty if missing.
    Names(StringTable),
}

/// A column of a row group, read from start to end.
pub(super) struct ColumnCells {
    pub(super) kind: Kind,
    pub(super) reader: ColumnReader,
}

impl ColumnCells {
    /// The next values of a column that is not a feature.
    pub(super) fn read(&mut self, role: Role, n_rows: usize) -> Result<Cells> {
        if let Role::Qid | Role::DocId = role {
            return self.names(n_rows).map(Cells::Names);
        }
        let mut numbers = Vec::with_capacity(n_rows);
        self.numbers(n_rows, |number| numbers.push(number))?;
        Ok(Cells::Numbers(numbers))
    }

    /// Passes on the next values, NaN if missing. They are converted through f64, as for text, so that the f32 of a
    /// value does not depend on the format.
    pub(super) fn numbers(&mut self, n_rows: usize, mut push: impl FnMut(f64)) -> Result<()> {
        use ColumnReader as R;
        let kind = self.kind;
        match (&mut self.reader, kind) {
            (R::FloatColumnReader(reader), _) => each(reader, n_rows, |v| push(v.map_or(f64::NAN, |v| f64::from(*v)))),
            (R::DoubleColumnReader(reader), _) => each(reader, n_rows, |v| push(v.map_or(f64::NAN, |v| *v))),
            (R::BoolColumnReader(reader), _) => {
                each(reader, n_rows, |v| push(v.map_or(f64::NAN, |v| f64::from(u8::from(*v)))))
            }
            (R::Int32ColumnReader(reader), _) => {
                each(reader, n_rows, |v| push(v.map_or(f64::NAN, |v| kind.number_of_32(*v))))
            }
            (R::Int64ColumnReader(reader), _) => {
                each(reader, n_rows, |v| push(v.map_or(f64::NAN, |v| kind.number_of_64(*v))))
            }
            (R::FixedLenByteArrayColumnReader(reader), Kind::Decimal { divisor }) => {
                each(reader, n_rows, |v| push(v.map_or(f64::NAN, |v| big_endian(v.data()) as f64 / divisor)))
            }
            (R::FixedLenByteArrayColumnReader(reader), Kind::Half) => {
                each(reader, n_rows, |v| push(v.map_or(f64::NAN, |v| half(v.data()))))
            }
            _ => Err(other_type()),
        }
    }

    fn names(&mut self, n_rows: usize) -> Result<StringTable> {
        use ColumnReader as R;
        let mut names = StringTable::default();
        let mut fault = None;
        match (&mut self.reader, self.kind) {
            (R::ByteArrayColumnReader(reader), _) => each(reader, n_rows, |v| {
                let text = v.map_or(Ok(""), |v| std::str::from_utf8(v.data()));
                names.push(text.unwrap_or_default());
                if text.is_err() {
                    fault = Some(ParquetError::General("a string is not UTF-8".into()));
                }
            }),
            (R::Int32ColumnReader(reader), Kind::Unsigned) => {
                number_names(reader, n_rows, &mut names, |v| (v as u32).to_string())
            }
            (R::Int64ColumnReader(reader), Kind::Unsigned) => {
                number_names(reader, n_rows, &mut names, |v| (v as u64).to_string())
            }
            (R::Int32ColumnReader(reader), _) => number_names(reader, n_rows, &mut names, |v| v.to_string()),
            (R::Int64ColumnReader(reader), _) => number_names(reader, n_rows, &mut names, |v| v.to_string()),
            (R::FloatColumnReader(reader), _) => number_names(reader, n_rows, &mut names, |v| float_name(f64::from(v))),
            (R::DoubleColumnReader(reader), _) => number_names(reader, n_rows, &mut names, float_name),
            _ => Err(other_type()),
        }?;
        fault.map_or(Ok(names), Err)
    }
}

/// Reads `n_rows` rows and passes on each value, `None` if missing.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n_rows: usize,
    mut take: impl FnMut(Option<&T::T>),
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let (n_read, ..) = reader.read_records(n_rows, Some(&mut levels), None, &mut values)?;
    if n_read != n_rows {
        return Err(ParquetError::General(format!("{} rows are missing", n_rows - n_read)));
    }
    if values.len() == n_rows {
        for value in &values {
            take(Some(value));
        }
        return Ok(());
    }
    let mut values = values.iter();
    for level in levels {
        take(if level > 0 { values.next() } else { None });
    }
    Ok(())
}

/// Reads numeric ids, empty if missing. Documents of a query are usually adjacent, so the id is often the same as in
/// the row before.
fn number_names<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n_rows: usize,
    names: &mut StringTable,
    shown: impl Fn(T::T) -> String,
) -> Result<()> {
    let (mut last, mut text) = (None, String::new());
    each(reader, n_rows, |value| {
        if value != last.as_ref() {
            last = value.cloned();
            text = last.clone().map(&shown).unwrap_or_default();
        }
        names.push(&text);
    })
}

/// The schema declares another type. It was checked before, so only a damaged file gets here.
fn other_type() -> ParquetError {
    ParquetError::General("the values are not of the type that the schema gives".into())
}

/// Other programs convert integers to floats if one is missing; convert them back.
fn float_name(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

fn big_endian(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|first| *first >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |value: i128, byte| (value << 8) | i128::from(*byte))
}

/// A 16-bit float: 1 bit for the sign, 5 for the exponent and 10 for the fraction.
fn half(bytes: &[u8]) -> f64 {
    let [low, high] = bytes else { return f64::NAN };
    let bits = u16::from_le_bytes([*low, *high]);
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (fraction + 1024.0) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_and_decimals_are_understood() {
        for (bits, value) in
            [(0x3c00u16, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (1, 2f64.powi(-24)), (0x3555, 0.333_251_953_125)]
        {
            assert_eq!(half(&bits.to_le_bytes()), value, "{bits:x}");
        }
        assert!(half(&0x7e00u16.to_le_bytes()).is_nan());
        assert_eq!(big_endian(&[0xff, 0x00]), -256);
        assert_eq!(big_endian(&[0x01, 0x00]), 256);
        assert_eq!([17.0, f64::NAN, 0.5].map(float_name), ["17", "", "0.5"]);
    }
}
