//! Contents of files: text, and what has to be made.

use std::io::Write as _;
use std::sync::Arc;

use flate2::{Compression, write::GzEncoder};
use parquet::data_type::{BoolType, ByteArrayType, DataType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::sandbox::Sandbox;

/// What a row finds under its name.
pub(super) enum Content {
    /// What is there already, or nothing.
    AsItIs,
    /// A folder.
    Folder,
    Text(&'static str),
    Bytes(&'static [u8]),
    Made(fn() -> Vec<u8>),
    /// A data file and one beside it, with the ending of its name.
    Beside(&'static str, &'static str, &'static str),
}

impl Content {
    pub(super) fn write(&self, sandbox: &Sandbox, name: &str) {
        match self {
            Self::AsItIs => {}
            Self::Folder => std::fs::create_dir(sandbox.path(name)).unwrap(),
            Self::Text(text) => sandbox.write(name, text),
            Self::Bytes(bytes) => sandbox.write(name, bytes),
            Self::Made(make) => sandbox.write(name, make()),
            Self::Beside(data, suffix, side) => {
                // The row is about the side file.
                sandbox.write(name.strip_suffix(suffix).unwrap(), data);
                sandbox.write(name, side);
            }
        }
    }

    pub(super) fn remove(&self, sandbox: &Sandbox, name: &str) {
        match self {
            Self::AsItIs => {}
            Self::Folder => std::fs::remove_dir(sandbox.path(name)).unwrap(),
            _ => std::fs::remove_file(sandbox.path(name)).unwrap(),
        }
        if let Self::Beside(_, suffix, _) = self {
            std::fs::remove_file(sandbox.path(name.strip_suffix(suffix).unwrap())).unwrap();
        }
    }
}

const ROWS: &str = "2 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:3\n1 qid:2 1:4 2:1\n0 qid:2 1:1 2:2\n";

/// Bytes without any pattern, always the same.
pub(super) fn junk() -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..64 << 10).map(|_| next()).collect()
}

pub(super) fn long_word() -> Vec<u8> {
    vec![b'x'; 10 << 20]
}

pub(super) fn long_value() -> Vec<u8> {
    [b"1 qid:1 7:", &vec![b'1'; 10 << 20][..], b"x\n"].concat()
}

pub(super) fn endless_line() -> Vec<u8> {
    vec![b' '; 65 << 20]
}

pub(super) fn too_many_columns() -> Vec<u8> {
    vec![b','; 1 << 20]
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

fn cut(bytes: &[u8]) -> Vec<u8> {
    bytes[..bytes.len() - 12].to_vec()
}

pub(super) fn empty_gzip() -> Vec<u8> {
    gzip(b"")
}

pub(super) fn cut_gzip() -> Vec<u8> {
    cut(&gzip(ROWS.as_bytes()))
}

pub(super) fn cut_zstd() -> Vec<u8> {
    cut(&zstandard(ROWS.as_bytes()))
}

/// The checksum at the end is another.
pub(super) fn spoilt_gzip() -> Vec<u8> {
    let mut bytes = gzip(ROWS.as_bytes());
    let at = bytes.len() - 8;
    bytes[at] ^= 1;
    bytes
}

/// Two gzip files, one behind the other, and the second is cut.
pub(super) fn cut_second_gzip() -> Vec<u8> {
    [gzip(ROWS.as_bytes()), cut_gzip()].concat()
}

pub(super) fn bad_row_in_gzip() -> Vec<u8> {
    gzip(format!("{ROWS}1 qid:2 1:x\n").as_bytes())
}

/// As `zstd --long=27` writes it.
pub(super) fn wide_window() -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.write_all(ROWS.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn gzip_in_gzip() -> Vec<u8> {
    gzip(&gzip(ROWS.as_bytes()))
}

/// Packed, and again and again: every part holds 16 MB.
fn again_and_again(pack: fn(&[u8]) -> Vec<u8>, text: &[u8], times: usize) -> Vec<u8> {
    pack(&text.repeat((16 << 20) / text.len())).repeat(times)
}

/// 4 GB of empty lines in 4 MB.
pub(super) fn gzip_of_newlines() -> Vec<u8> {
    again_and_again(gzip, b"\n", 256)
}

/// 64 GB of empty lines.
pub(super) fn zstd_of_newlines() -> Vec<u8> {
    again_and_again(zstandard, b"\n", 4096)
}

pub(super) fn gzip_of_one_line() -> Vec<u8> {
    again_and_again(gzip, b"1", 256)
}

pub(super) fn zstd_of_one_line() -> Vec<u8> {
    again_and_again(zstandard, b"1", 4096)
}

pub(super) fn zstd_of_rows() -> Vec<u8> {
    again_and_again(zstandard, b"1 qid:1 1:1 2:2\n", 1024)
}

pub(super) fn zstd_of_numbers() -> Vec<u8> {
    again_and_again(zstandard, b"0.125\n", 1024)
}

pub(super) fn zstd_of_fields() -> Vec<u8> {
    again_and_again(zstandard, b"1,a,2\n", 1024)
}

/// The columns of a Parquet file, one after the other.
type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

fn put<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: [Option<&[i16]>; 2]) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels[0], levels[1]).unwrap();
    column.close().unwrap();
}

const PLAIN: [Option<&[i16]>; 2] = [None, None];
const QID: &str = "required binary qid (UTF8);";

fn put_qids(group: &mut Group<'_>) {
    put::<ByteArrayType>(group, &["a".into(), "a".into()], PLAIN);
}

/// A file of two rows with these columns, and what `fill` writes into them.
fn parquet(columns: &str, fill: impl Fn(&mut Group<'_>)) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(&format!("message schema {{ {columns} }}")).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::default())).unwrap();
    let mut group = writer.next_row_group().unwrap();
    fill(&mut group);
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// Whole labels and queries, and one more column.
fn with_column<T: DataType>(column: &str, values: &[T::T], levels: [Option<&[i16]>; 2]) -> Vec<u8> {
    parquet(&format!("required float label; {QID} {column}"), |group| {
        put::<FloatType>(group, &[1.0, 0.0], PLAIN);
        put_qids(group);
        put::<T>(group, values, levels);
    })
}

/// These labels, whole queries.
fn with_labels<T: DataType>(column: &str, values: &[T::T], levels: Option<&[i16]>) -> Vec<u8> {
    parquet(&format!("{column} {QID}"), |group| {
        put::<T>(group, values, [levels, None]);
        put_qids(group);
    })
}

fn whole_parquet() -> Vec<u8> {
    with_column::<FloatType>("required float f1;", &[1.0, 2.0], PLAIN)
}

pub(super) fn cut_parquet() -> Vec<u8> {
    let bytes = whole_parquet();
    bytes[..bytes.len() / 2].to_vec()
}

pub(super) fn gzipped_parquet() -> Vec<u8> {
    gzip(&whole_parquet())
}

pub(super) fn text_feature() -> Vec<u8> {
    with_column::<ByteArrayType>("required binary title (UTF8);", &["x".into(), "y".into()], PLAIN)
}

pub(super) fn date_feature() -> Vec<u8> {
    with_column::<Int32Type>("required int32 day (DATE);", &[1, 2], PLAIN)
}

pub(super) fn timestamp_feature() -> Vec<u8> {
    with_column::<Int64Type>("required int64 seen (TIMESTAMP_MILLIS);", &[1, 2], PLAIN)
}

pub(super) fn list_feature() -> Vec<u8> {
    let column = "optional group vector (LIST) { repeated group list { optional float element; } }";
    with_column::<FloatType>(column, &[1.0, 2.0, 3.0], [Some(&[3, 3, 3]), Some(&[0, 1, 0])])
}

pub(super) fn group_feature() -> Vec<u8> {
    let column = "required group price { optional int32 amount; }";
    with_column::<Int32Type>(column, &[1, 2], [Some(&[1, 1]), None])
}

pub(super) fn text_label() -> Vec<u8> {
    with_labels::<ByteArrayType>("required binary label (UTF8);", &["good".into(), "bad".into()], None)
}

pub(super) fn negative_label() -> Vec<u8> {
    with_labels::<FloatType>("required float label;", &[1.0, -2.0], None)
}

pub(super) fn infinite_label() -> Vec<u8> {
    with_labels::<FloatType>("required float label;", &[f32::INFINITY, 0.0], None)
}

pub(super) fn null_label() -> Vec<u8> {
    with_labels::<FloatType>("optional float label;", &[1.0], Some(&[1, 0]))
}

pub(super) fn bool_qid() -> Vec<u8> {
    parquet("required float label; required boolean qid;", |group| {
        put::<FloatType>(group, &[1.0, 0.0], PLAIN);
        put::<BoolType>(group, &[true, false], PLAIN);
    })
}

pub(super) fn no_rows() -> Vec<u8> {
    parquet(&format!("required float label; {QID}"), |group| {
        put::<FloatType>(group, &[], PLAIN);
        put::<ByteArrayType>(group, &[], PLAIN);
    })
}

pub(super) fn no_label_column() -> Vec<u8> {
    parquet(QID, put_qids)
}
