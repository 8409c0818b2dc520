//! A dataset reads back as the same dataset in every format, also after conversion through others.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rankwise_data::{Absent, Dataset, DatasetBuilder, Pair, Row};
use rankwise_io::{Format, read_dataset, read_letor_from, write_dataset};

const TARGETS: [(&str, Format); 7] = [
    ("d.txt", Format::Letor),
    ("d.csv", Format::Csv),
    ("d.tsv", Format::Tsv),
    ("d.parquet", Format::Parquet),
    ("e.txt.zst", Format::Letor),
    ("e.csv.gz", Format::Csv),
    ("e.tsv.zst", Format::Tsv),
];

/// Everything in a dataset, in input order.
fn content(data: &Dataset) -> Vec<String> {
    let mut rows = vec![String::new(); data.n_rows()];
    for (idx, query) in data.queries().enumerate() {
        for (doc, row) in query.rows.clone().enumerate() {
            let values: Vec<String> = data
                .feature_ids()
                .iter()
                .enumerate()
                .map(|(slot, id)| format!("{id}:{:?}", data.column(slot).get(row)))
                .collect();
            rows[query.input_rows[doc] as usize] = format!(
                "{} {:?} {} {} {} {:?} {}",
                query.id,
                query.labels[doc],
                query.doc_id(doc),
                data.weight(row),
                data.query_weight(idx),
                data.positions().map(|positions| positions[row]),
                values.join(" ")
            );
        }
    }
    let in_input = |row: u32| data.input_row()[row as usize];
    let mut pairs: Vec<String> = data
        .pairs()
        .iter()
        .map(|pair| {
            format!("{} over {} by {} {}", in_input(pair.winner), in_input(pair.loser), pair.weight, pair.probability)
        })
        .collect();
    pairs.sort();
    rows.extend(pairs);
    rows
}

fn check_all(data: &Dataset, targets: &[(&str, Format)]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in targets {
        let path = folder.path().join(name);
        write_dataset(data, &path, *format).unwrap();
        let back = read_dataset(&path, data.absent()).unwrap();
        assert_eq!(content(&back), content(data), "{name}");
        assert_eq!(back.fingerprint(), data.fingerprint(), "{name}");
        if *format != Format::Letor {
            assert_eq!(back.feature_names(), data.feature_names(), "{name}");
        }
    }
}

/// Qid, label, document id, features.
type Document = (String, f32, String, Vec<(u32, f32)>);

#[derive(Clone, Debug)]
struct Table {
    rows: Vec<Document>,
    extras: [bool; 5],
    absent: Absent,
}

impl Table {
    fn build(&self) -> Dataset {
        let mut builder = DatasetBuilder::new(self.absent);
        for (qid, label, doc_id, features) in &self.rows {
            builder.push(&Row { qid, label: *label, doc_id, features }).unwrap();
        }
        let n_rows = self.rows.len();
        let number = |row: usize| (row * 7 % 5) as f32 / 4.0;
        let mut qids: Vec<&String> = Vec::new();
        for (qid, ..) in &self.rows {
            if !qids.contains(&qid) {
                qids.push(qid);
            }
        }
        let [weights, query_weights, positions, pairs, names] = self.extras;
        if weights {
            builder.row_weights((0..n_rows).map(number).collect());
        }
        if query_weights {
            builder.query_weights((0..qids.len()).map(number).collect());
        }
        if positions {
            builder.positions((0..n_rows as u32).map(|row| row.wrapping_mul(1_000_000_007)).collect());
        }
        if pairs {
            let same = |a: usize, b: usize| a != b && self.rows[a].0 == self.rows[b].0;
            let all = (0..n_rows).flat_map(|a| (0..n_rows).map(move |b| (a, b))).filter(|(a, b)| same(*a, *b));
            let pair = |(a, b): (usize, usize)| {
                let probability = if b % 2 == 0 { 1.0 } else { number(a + b).fract() };
                Pair { winner: a as u32, loser: b as u32, weight: number(a + b), probability }
            };
            builder.pairs(all.step_by(3).map(pair).collect());
        }
        if names {
            builder.feature_names((0..20).map(|id| (id, format!("name, \"{}\"", (b'a' + id as u8) as char))).collect());
        }
        builder.finish().unwrap()
    }
}

fn table(name: &'static str) -> impl Strategy<Value = Table> {
    let value = prop_oneof![
        any::<u32>().prop_map(f32::from_bits).prop_filter("not infinite", |value| !value.is_infinite()),
        (-99i32..99).prop_map(|value| value as f32 / 10.0),
        Just(0.0),
        Just(f32::NAN),
    ];
    let features = prop::collection::btree_map(0u32..20, value, 0..6).prop_map(|map| map.into_iter().collect());
    let label = (0u32..0x7f80_0000).prop_map(f32::from_bits);
    let doc_id = prop_oneof![Just(String::new()), name, (0u32..99).prop_map(|id| id.to_string())];
    let qid = prop_oneof![name, (0u32..4).prop_map(|id| id.to_string())];
    let rows = prop::collection::vec((qid, label, doc_id, features), 1..12);
    let absent = prop_oneof![Just(Absent::Missing), Just(Absent::Zero)];
    (rows, any::<[bool; 5]>(), absent).prop_map(|(rows, extras, absent)| Table { rows, extras, absent })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nothing_is_lost_in_any_format(table in table("[^\\x00-\\x20\\x7f]{1,6}")) {
        check_all(&table.build(), &TARGETS);
    }

    /// Names that LETOR cannot represent.
    #[test]
    fn tables_hold_any_names(table in table("[^\\x00-\\x1f\\x7f]{0,4}[\",;'a]")) {
        check_all(&table.build(), &TARGETS[1..4]);
    }
}

#[test]
fn many_rows_keep_their_order() {
    let line = |row: usize| format!("{} qid:{} 1:{row} 3:0.5", row % 3, row * 7919 % 101);
    let text = (0..20_000).map(line).collect::<Vec<_>>().join("\n") + "\n";
    let data = read_letor_from(text.as_bytes(), Path::new("memory"), Absent::Missing).unwrap();
    check_all(&data, &TARGETS[..4]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("back.txt");
    write_dataset(&data, &path, Format::Letor).unwrap();
    assert!(fs::read_to_string(&path).unwrap() == text);
}

#[test]
fn the_same_data_gives_the_same_bytes() {
    let data = read_letor_from(&b"1 qid:a 1:2\n0 qid:a 2:3 # x\n"[..], Path::new("memory"), Absent::Missing).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, format) in TARGETS {
        let [first, second] = ["1", "2"].map(|part| folder.path().join(format!("{part}{name}")));
        write_dataset(&data, &first, format).unwrap();
        write_dataset(&data, &second, format).unwrap();
        assert!(fs::read(first).unwrap() == fs::read(second).unwrap(), "{name}");
    }
}

#[test]
fn what_could_not_be_read_back_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let data = |qid: &str, name: &str| {
        let mut builder = DatasetBuilder::default();
        builder.push(&Row { qid, features: &[(0, 1.0)], ..Row::default() }).unwrap();
        builder.feature_names(vec![(0, name.to_owned())]);
        builder.row_weights(vec![2.0]);
        builder.finish().unwrap()
    };
    let write = |data: &Dataset, name: &str, format| {
        let error = write_dataset(data, &folder.path().join(name), format).err().unwrap().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    let plain = data("q", "price");
    assert_eq!(
        write(&data("q", "Weight"), "d.csv", Format::Csv),
        "d.csv: cannot write: a feature called \"Weight\" would be read as the document weight; rename it"
    );
    assert_eq!(
        write(&data("a b", "price"), "d.txt", Format::Letor),
        "d.txt: cannot write: qid \"a b\" contains white space or a control character, which LETOR does not allow"
    );
    assert_eq!(
        write(&plain, "d.parquet.gz", Format::Parquet),
        "d.parquet.gz: cannot write: Parquet has its own compression; use a name without .gz or .zst"
    );
    assert_eq!(
        write_dataset(&plain, Path::new("-"), Format::Letor).err().unwrap().to_string(),
        "<stdout>: cannot write: the data needs FILE.weight next to it; give a file"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    fs::write(folder.path().join("d.csv.query"), "1\n").unwrap();
    for name in ["d.csv", "d.csv.gz"] {
        let error = write(&plain, name, Format::Csv);
        assert_eq!(error, format!("{name}: cannot write: d.csv.query would be read with it; remove that file"));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
