//! Written data reads back bit for bit.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use proptest::prelude::*;
use rankwise_data::{Absent, Dataset, Row};
use rankwise_io::{LetorWriter, read_letor, read_letor_from, write_atomically};

#[derive(Clone, Debug)]
struct Document {
    qid: String,
    label: f32,
    doc_id: String,
    features: Vec<(u32, f32)>,
}

impl Document {
    fn row(&self) -> Row<'_> {
        Row { qid: &self.qid, label: self.label, doc_id: &self.doc_id, features: &self.features }
    }
}

fn document() -> impl Strategy<Value = Document> {
    let name = || "[^\\x00-\\x20\\x7f]{1,6}";
    let doc_id = prop_oneof![Just(String::new()), name(), name().prop_map(|rest| format!("docid{rest}"))];
    let label =
        any::<u32>().prop_map(|bits| f32::from_bits(bits & 0x7fff_ffff)).prop_filter("finite", |l| l.is_finite());
    let value = prop_oneof![
        any::<u32>().prop_map(f32::from_bits).prop_filter("not infinite", |value| !value.is_infinite()),
        (-9999i32..9999).prop_map(|value| value as f32 / 100.0),
    ];
    let feature = prop_oneof![0u32..20, any::<u32>()];
    (name(), label, doc_id, prop::collection::btree_map(feature, value, 0..8)).prop_map(
        |(qid, label, doc_id, features)| Document { qid, label, doc_id, features: features.into_iter().collect() },
    )
}

fn text_of(documents: &[Document]) -> Vec<u8> {
    let mut writer = LetorWriter::new(Vec::new());
    for document in documents {
        writer.write_row(&document.row()).unwrap();
    }
    writer.finish().unwrap()
}

/// Compares each row of the dataset with its document.
fn check(data: &Dataset, documents: &[Document]) {
    assert_eq!(data.n_rows(), documents.len());
    for query in data.queries() {
        for (doc, input_row) in query.input_rows.iter().enumerate() {
            let document = &documents[*input_row as usize];
            assert_eq!(query.id, document.qid);
            assert_eq!(query.labels[doc].to_bits(), document.label.to_bits());
            assert_eq!(query.doc_id(doc), document.doc_id);
            let values: BTreeMap<u32, f32> = document.features.iter().copied().collect();
            for id in data.feature_ids().iter().chain(values.keys()) {
                let read = data.column_of(*id).map_or(f32::NAN, |column| column.get(query.rows.start + doc));
                let written = values.get(id).copied().unwrap_or(f32::NAN);
                assert!(read.to_bits() == written.to_bits() || (read.is_nan() && written.is_nan()), "feature {id}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn rows_come_back_bit_for_bit(documents in prop::collection::vec(document(), 1..20)) {
        let text = text_of(&documents);
        check(&read_letor_from(&*text, Path::new("memory"), Absent::Missing).unwrap(), &documents);
    }
}

#[test]
fn lines_look_as_people_write_them() {
    let mut writer = LetorWriter::new(Vec::new());
    let features = [(0, 0.1), (7, -3.0), (9, 1e-9), (10, f32::NAN), (11, f32::INFINITY), (12, 123.456), (13, -0.0)];
    writer.write_row(&Row { qid: "q1", label: 2.0, doc_id: "D", features: &features }).unwrap();
    writer.write_row(&Row { label: 0.5, ..Row::default() }).unwrap();
    let text = String::from_utf8(writer.finish().unwrap()).unwrap();
    assert_eq!(text, "2 qid:q1 0:0.1 7:-3 9:1e-9 10:nan 11:inf 12:123.456 13:-0 # D\n0.5\n");
}

#[test]
fn rows_that_could_not_be_read_back_are_refused() {
    let mut writer = LetorWriter::new(Vec::new());
    for row in [
        Row { label: -1.0, ..Row::default() },
        Row { label: f32::NAN, ..Row::default() },
        Row { qid: "a b", ..Row::default() },
        Row { qid: "a", doc_id: "d\n0 qid:b", ..Row::default() },
        Row { qid: "a", features: &[(2, 0.0), (1, 0.0)], ..Row::default() },
        Row { qid: "a", features: &[(1, 0.0), (1, 0.0)], ..Row::default() },
    ] {
        assert_eq!(writer.write_row(&row).unwrap_err().kind(), ErrorKind::InvalidInput, "{row:?}");
    }
    assert!(writer.finish().unwrap().is_empty());
}

#[test]
fn compression_is_told_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let text = "1 qid:a 1:0.5 # x\n0 qid:a 2:3 # y\n".repeat(1000);
    let mut prints = Vec::new();
    for name in ["plain.txt", "a.gz", "b.zst", "C.GZ"] {
        let path = folder.path().join(name);
        write_atomically(&path, |output| output.write_all(text.as_bytes())).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        assert_eq!(size < 1000, name != "plain.txt", "{name} has {size} bytes");
        // For reading, the name does not matter.
        let renamed = folder.path().join(format!("{name}.data"));
        std::fs::rename(&path, &renamed).unwrap();
        prints.push(read_letor(&renamed, Absent::Missing).unwrap().fingerprint());
    }
    assert!(prints.iter().all(|print| *print == prints[0]));
}

#[test]
fn parts_of_gzip_and_zstd_may_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["gz", "zst"] {
        let mut both = Vec::new();
        for (part, text) in ["1 qid:a 1:0.5\n0 qi", "d:a 2:3\n"].iter().enumerate() {
            let path = folder.path().join(format!("{part}.{ending}"));
            write_atomically(&path, |output| output.write_all(text.as_bytes())).unwrap();
            both.extend(std::fs::read(&path).unwrap());
        }
        assert_eq!(read_letor_from(&*both, Path::new("both"), Absent::Zero).unwrap().n_rows(), 2);
    }
}

#[test]
fn absent_zero_differs_from_missing() {
    let text = "1 qid:a 1:5\n0 qid:a 1:nan 2:1\n";
    for (absent, expected) in [(Absent::Missing, None), (Absent::Zero, Some(0.0))] {
        let data = read_letor_from(text.as_bytes(), Path::new("memory"), absent).unwrap();
        let row = data.labels().iter().position(|label| *label == 1.0).unwrap();
        let value = data.column_of(2).unwrap().get(row);
        assert_eq!((!value.is_nan()).then_some(value), expected);
        assert!(data.column_of(1).unwrap().get(1 - row).is_nan());
    }
}
