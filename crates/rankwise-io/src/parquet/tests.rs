//! All supported types, unsupported types, and files with false metadata.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType,
    Int32Type, Int64Type, Int96, Int96Type,
};
use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use rankwise_data::{Absent, Dataset};

use super::reader::read_chunks;
use crate::options::ReadOptions;
use crate::read::Input;

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

fn put<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, None).unwrap();
    column.close().unwrap();
}

/// A file with a label and a query id for each of two rows, and the columns that `rest` adds.
fn file(columns: &str, properties: WriterProperties, rest: impl Fn(&mut Group<'_>)) -> Vec<u8> {
    let message = format!("message schema {{ required float label; required binary qid (UTF8); {columns} }}");
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    put::<FloatType>(&mut group, &[1.0, 0.0], None);
    put::<ByteArrayType>(&mut group, &["a".into(), "a".into()], None);
    rest(&mut group);
    group.close().unwrap();
    writer.into_inner().unwrap()
}

fn plain() -> WriterProperties {
    WriterProperties::builder().build()
}

fn read(bytes: Vec<u8>) -> Result<Dataset, String> {
    let options = ReadOptions::new(Absent::Missing);
    let input = Input::without_side_files(Path::new("f"), &options);
    read_chunks(&Bytes::from(bytes), &input).and_then(|rows| input.build(rows)).map_err(|error| error.to_string())
}

/// The values of one more column, in input order.
fn values<T: DataType>(column: &str, values: &[T::T]) -> Result<Vec<f32>, String> {
    let data = read(file(column, plain(), |group| put::<T>(group, values, None)))?;
    let column = data.column(0);
    Ok(data.to_input_order(&(0..2).map(|row| column.get(row)).collect::<Vec<_>>()))
}

#[test]
fn all_kinds_of_numbers_are_read() {
    let both = |first, second| Ok(vec![first, second]);
    assert_eq!(values::<FloatType>("required float f;", &[0.5, -0.25]), both(0.5, -0.25));
    assert_eq!(values::<DoubleType>("required double f;", &[0.1, 1e300]), both(0.1, f32::MAX));
    assert_eq!(values::<BoolType>("required boolean f;", &[true, false]), both(1.0, 0.0));
    assert_eq!(values::<Int32Type>("required int32 f;", &[-7, 8]), both(-7.0, 8.0));
    assert_eq!(values::<Int32Type>("required int32 f (INT_8);", &[-7, 8]), both(-7.0, 8.0));
    assert_eq!(values::<Int32Type>("required int32 f (UINT_32);", &[-1, 1]), both(4_294_967_295.0, 1.0));
    assert_eq!(values::<Int64Type>("required int64 f;", &[-(1 << 40), 3]), both(-1_099_511_627_776.0, 3.0));
    assert_eq!(values::<Int64Type>("required int64 f (UINT_64);", &[-1, 1]), both(18_446_744_073_709_551_615.0, 1.0));
    assert_eq!(values::<Int32Type>("required int32 f (DECIMAL(9,2));", &[123, -5]), both(1.23, -0.05));
    assert_eq!(values::<Int64Type>("required int64 f (DECIMAL(18,1));", &[123, -5]), both(12.3, -0.5));
    let bytes = |bytes: Vec<u8>| FixedLenByteArray::from(bytes);
    assert_eq!(
        values::<FixedLenByteArrayType>(
            "required fixed_len_byte_array(3) f (DECIMAL(6,2));",
            &[bytes(vec![0, 1, 0]), bytes(vec![0xff, 0xff, 0xff])]
        ),
        both(2.56, -0.01)
    );
    assert_eq!(
        values::<FixedLenByteArrayType>(
            "required fixed_len_byte_array(2) f (FLOAT16);",
            &[bytes(vec![0, 0x3c]), bytes(vec![0, 0xc0])]
        ),
        both(1.0, -2.0)
    );
}

#[test]
fn nulls_are_missing_in_any_encoding() {
    for dictionary in [true, false] {
        let properties = WriterProperties::builder().set_dictionary_enabled(dictionary).build();
        let bytes = file("optional double f; optional int32 g;", properties, |group| {
            put::<DoubleType>(group, &[2.5], Some(&[0, 1]));
            put::<Int32Type>(group, &[], Some(&[0, 0]));
        });
        let data = read(bytes).unwrap();
        assert_eq!(data.feature_names(), [(0, "f".to_owned()), (1, "g".to_owned())]);
        assert_eq!(data.feature_ids(), [0]);
        let row = data.input_row().iter().position(|row| *row == 1).unwrap();
        assert!(data.column(0).get(row) == 2.5 && data.column(0).get(1 - row).is_nan());
    }
}

#[test]
fn other_types_are_refused_by_name() {
    let advice = "but should be a number; convert it to numbers, or ignore it with `ignore_columns`";
    let text = [ByteArray::from("x"), ByteArray::from("y")];
    let cases = [
        ("text", values::<ByteArrayType>("required binary \"f\" (UTF8);".replace('"', "").as_str(), &text)),
        ("dates", values::<Int32Type>("required int32 f (DATE);", &[1, 2])),
        ("times", values::<Int64Type>("required int64 f (TIME_MICROS);", &[1, 2])),
        ("timestamps", values::<Int64Type>("required int64 f (TIMESTAMP_MILLIS);", &[1, 2])),
        ("timestamps", values::<Int96Type>("required int96 f;", &[Int96::new(), Int96::new()])),
    ];
    for (found, result) in cases {
        assert_eq!(result, Err(format!("f: column \"f\" contains {found}, {advice}")));
    }
    let nested = file("optional group g { optional int32 f; }", plain(), |group| {
        put::<Int32Type>(group, &[1, 2], Some(&[2, 2]));
    });
    assert_eq!(read(nested).err(), Some(format!("f: column \"g.f\" contains nested values, {advice}")));
    let list = file("repeated int32 f;", plain(), |group| {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[1, 2], Some(&[1, 1]), Some(&[0, 0])).unwrap();
        column.close().unwrap();
    });
    assert_eq!(read(list).err(), Some(format!("f: column \"f\" contains nested values, {advice}")));
}

#[test]
fn ids_may_be_integers_and_bad_rows_are_named() {
    let schema = |label: &str, more: &str| format!("message schema {{ {label}; {more} }}");
    let write = |message: &str, labels: &[f32], levels: Option<&[i16]>, qids: &[i64]| {
        let schema = Arc::new(parse_message_type(message).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(plain())).unwrap();
        let mut group = writer.next_row_group().unwrap();
        put::<FloatType>(&mut group, labels, levels);
        put::<Int64Type>(&mut group, qids, None);
        group.close().unwrap();
        writer.into_inner().unwrap()
    };
    let message = schema("required float label", "required int64 qid;");
    let data = read(write(&message, &[1.0, 0.0], None, &[-3, 12])).unwrap();
    assert_eq!((data.query(0).id, data.query(1).id), ("-3", "12"));
    let negative = read(write(&message, &[1.0, -2.0], None, &[1, 1])).err();
    assert_eq!(
        negative.unwrap(),
        "f: row 2: \"-2\" in column \"label\" is not a label; labels are numbers from 0 to 3.4e38"
    );
    let message = schema("optional float label", "required int64 qid;");
    let missing = read(write(&message, &[1.0], Some(&[1, 0]), &[1, 1])).err();
    assert_eq!(missing.unwrap(), "f: row 2: no label in column \"label\"; labels are numbers from 0 to 3.4e38");
}

#[test]
fn several_row_groups_make_one_table() {
    let schema =
        Arc::new(parse_message_type("message s { required float y; required int32 qid; required int64 f; }").unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(plain())).unwrap();
    let n_rows = 40_000i64;
    for part in 0..3i64 {
        let mut group = writer.next_row_group().unwrap();
        put::<FloatType>(&mut group, &vec![part as f32; n_rows as usize], None);
        put::<Int32Type>(&mut group, &(0..n_rows as i32).map(|row| row % 7).collect::<Vec<_>>(), None);
        put::<Int64Type>(&mut group, &(0..n_rows).map(|row| part * n_rows + row).collect::<Vec<_>>(), None);
        group.close().unwrap();
    }
    let data = read(writer.into_inner().unwrap()).unwrap();
    assert_eq!((data.n_rows(), data.n_queries()), (120_000, 7));
    let inputs = data.to_input_order(&(0..data.n_rows()).map(|row| data.column(0).get(row)).collect::<Vec<_>>());
    assert!(inputs.iter().enumerate().all(|(row, value)| *value == row as f32));
}

/// The file with another size of the third column of a row group in its metadata.
fn with_size(bytes: &[u8], group: usize, change: impl Fn(i64) -> i64) -> Vec<u8> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(bytes)).unwrap();
    let footer = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[footer..footer + 4].try_into().unwrap()) as usize;
    let mut out = bytes[..footer - length].to_vec();
    let mut builder = metadata.into_builder();
    let mut groups = builder.take_row_groups();
    let mut changed = groups.remove(group).into_builder();
    let mut columns = changed.take_columns();
    let size = change(columns[2].compressed_size());
    columns[2] = columns[2].clone().into_builder().set_total_compressed_size(size).build().unwrap();
    groups.insert(group, changed.set_column_metadata(columns).build().unwrap());
    ParquetMetaDataWriter::new(&mut out, &builder.set_row_groups(groups).build()).finish().unwrap();
    out
}

/// Some writers state more bytes than a column has; fewer are an error.
#[test]
fn columns_need_not_be_as_long_as_they_say() {
    let message = "message schema { required float label; required binary qid (UTF8); required float f; }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(plain())).unwrap();
    for n_rows in [2, 0, 1] {
        let mut group = writer.next_row_group().unwrap();
        put::<FloatType>(&mut group, &vec![1.0; n_rows], None);
        put::<ByteArrayType>(&mut group, &vec!["a".into(); n_rows], None);
        put::<FloatType>(&mut group, &vec![1.0; n_rows], None);
        group.close().unwrap();
    }
    let bytes = writer.into_inner().unwrap();
    for group in 0..3 {
        for more in [0, 100, 100_000] {
            assert_eq!(
                read(with_size(&bytes, group, |size| size + more)).map(|data| data.n_rows()),
                Ok(3),
                "{group} {more}"
            );
        }
    }
    let error = read(with_size(&bytes, 2, |size| size - 5)).unwrap_err();
    assert!(error.starts_with("f: the Parquet data is damaged or cut off in row group 2, column \"f\""), "{error}");
}

/// How to store a column.
#[derive(Clone, Debug)]
struct Stored {
    dictionary: bool,
    /// A larger dictionary is abandoned in the middle.
    dictionary_bytes: usize,
    page_rows: usize,
    group_rows: usize,
    is_second_version: bool,
    encoding: Option<Encoding>,
    compression: Compression,
}

impl Stored {
    fn properties(&self) -> WriterProperties {
        let version = if self.is_second_version { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let builder = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(self.dictionary)
            .set_dictionary_page_size_limit(self.dictionary_bytes)
            .set_data_page_row_count_limit(self.page_rows)
            .set_write_batch_size(7)
            .set_compression(self.compression);
        match self.encoding {
            Some(encoding) => builder.set_encoding(encoding).build(),
            None => builder.build(),
        }
    }

    /// Writes one column next to a label and a query id, and reads it back.
    fn round_trip<T: DataType>(&self, column: &str, cells: &[Option<T::T>]) -> Vec<f32> {
        let message = format!("message schema {{ required float label; required int32 qid; {column} }}");
        let schema = Arc::new(parse_message_type(&message).unwrap());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(self.properties())).unwrap();
        for cells in cells.chunks(self.group_rows) {
            let mut group = writer.next_row_group().unwrap();
            put::<FloatType>(&mut group, &vec![0.0; cells.len()], None);
            put::<Int32Type>(&mut group, &vec![1; cells.len()], None);
            let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
            put::<T>(&mut group, &values, column.starts_with("optional").then_some(&levels[..]));
            group.close().unwrap();
        }
        let data = read(writer.into_inner().unwrap()).unwrap();
        let value = |row| data.column_of(0).map_or(f32::NAN, |column| column.get(row));
        data.to_input_order(&(0..data.n_rows()).map(value).collect::<Vec<_>>())
    }
}

fn stored() -> impl Strategy<Value = Stored> {
    use Compression as C;
    let encoding =
        prop_oneof![3 => Just(None), 1 => Just(Some(Encoding::PLAIN)), 1 => Just(Some(Encoding::BYTE_STREAM_SPLIT))];
    let compression = prop_oneof![Just(C::UNCOMPRESSED), Just(C::SNAPPY), Just(C::LZ4_RAW)];
    (any::<bool>(), 8usize..200, 1usize..90, 1usize..200, any::<bool>(), encoding, compression).prop_map(
        |(dictionary, dictionary_bytes, page_rows, group_rows, is_second_version, encoding, compression)| Stored {
            dictionary,
            dictionary_bytes,
            page_rows,
            group_rows,
            is_second_version,
            encoding,
            compression,
        },
    )
}

fn same(found: &[f32], expected: &[f32]) -> bool {
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    bits(found) == bits(expected)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// However the writer stores it, each row has its value, or NaN if missing.
    #[test]
    fn values_do_not_depend_on_how_they_are_stored(
        stored in stored(), numbers in prop::collection::vec(prop::option::weighted(0.8, -40i8..40), 1..300),
        scattered in any::<bool>(),
    ) {
        // With few or many different values.
        let scale = if scattered { 1.25 } else { 0.0 };
        let number = |row: usize, number: i8| f32::from(number) + (row as f32) * scale;
        let cells: Vec<Option<f32>> = numbers.iter().enumerate().map(|(row, cell)| cell.map(|cell| number(row, cell))).collect();
        let expected: Vec<f32> = cells.iter().map(|cell| cell.unwrap_or(f32::NAN)).collect();
        prop_assert!(same(&stored.round_trip::<FloatType>("optional float f;", &cells), &expected));
        let doubles: Vec<Option<f64>> = cells.iter().map(|cell| cell.map(f64::from)).collect();
        prop_assert!(same(&stored.round_trip::<DoubleType>("optional double f;", &doubles), &expected));
        let ints: Vec<Option<i64>> = cells.iter().map(|cell| cell.map(|cell| cell as i64)).collect();
        let whole: Vec<f32> = ints.iter().map(|cell| cell.map_or(f32::NAN, |cell| cell as f32)).collect();
        prop_assert!(same(&stored.round_trip::<Int64Type>("optional int64 f;", &ints), &whole));
        let required: Vec<Option<i32>> = ints.iter().map(|cell| Some(cell.unwrap_or(-1) as i32)).collect();
        let unsigned: Vec<f32> = required.iter().flatten().map(|cell| *cell as u32 as f32).collect();
        prop_assert!(same(&stored.round_trip::<Int32Type>("required int32 f (UINT_32);", &required), &unsigned));
    }
}

/// A small file with all encodings that our writer and others use.
fn sample() -> Vec<u8> {
    file("optional double f; optional binary docid (UTF8); required int32 weight;", plain(), |group| {
        put::<DoubleType>(group, &[2.5], Some(&[0, 1]));
        put::<ByteArrayType>(group, &["d1".into(), "d2".into()], Some(&[1, 1]));
        put::<Int32Type>(group, &[1, 2], None);
    })
}

#[test]
fn cut_files_are_refused() {
    let whole = sample();
    assert!(read(whole.clone()).is_ok());
    for length in 0..whole.len() {
        let error = read(whole[..length].to_vec()).err().unwrap_or_else(|| panic!("{length} bytes were read"));
        assert!(error.starts_with("f: the Parquet data is damaged or cut off"), "{length}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// Damaged files give data or an error, never a panic.
    #[test]
    fn changed_bytes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut bytes = sample();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read(bytes);
    }
}
