//! TREC judgements and runs.

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use rankwise_io::{IoError, Qrels, TrecRun, read_qrels, read_qrels_from, read_run_from, write_atomically};

fn qrels(text: &str) -> Result<Qrels, IoError> {
    read_qrels_from(text.as_bytes(), Path::new("q"))
}

fn run(text: &str) -> Result<TrecRun, IoError> {
    read_run_from(text.as_bytes(), Path::new("r"))
}

#[test]
fn judgements_are_sorted_and_found_by_name() {
    let table = qrels("9 0 b 2\n10 0 a -1\r\n\n9\t0  a 0 \n 10 x é +3").unwrap();
    assert_eq!((table.n_queries(), table.n_entries()), (2, 4));
    let all: Vec<(&str, &str, i32, u64)> = (0..2)
        .flat_map(|query| table.entries(query).map(move |entry| (query, entry)))
        .map(|(query, entry)| (table.qid(query), entry.doc, entry.value, entry.line))
        .collect();
    assert_eq!(all, [("10", "a", -1, 2), ("10", "é", 3, 5), ("9", "a", 0, 4), ("9", "b", 2, 1)]);
    assert_eq!((table.find_query("9"), table.find_query("8")), (Some(1), None));
    assert_eq!(table.find(1, "b").map(|entry| entry.value), Some(2));
    assert_eq!(table.find(1, "é"), None);
    assert_eq!(qrels("").unwrap().n_queries(), 0);
}

#[test]
fn a_run_is_its_scores() {
    let table = run("1 Q0 d2 7 -1.5e-3 tag\n1 Q0 d1 junk 12 tag\n2 Q0 d1 1 0 other\n").unwrap();
    let scores: Vec<(&str, f64)> = table.entries(0).map(|entry| (entry.doc, entry.value)).collect();
    assert_eq!(scores, [("d1", 12.0), ("d2", -1.5e-3)]);
    assert_eq!(table.entries(1).len(), 1);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        ("1 0 a 1\n1 0 b\n", "q:2:6: the line is too short; expected \"query 0 document grade\""),
        ("1 0 a 1 x\n", "q:1:9: \"x\" is one field too many; expected \"query 0 document grade\""),
        ("1 0 a 1.5\n", "q:1:7: grade \"1.5\" is not an integer; expected a number such as 0 or 2"),
        ("1 0 a 99999999999\n", "q:1:7: grade \"99999999999\" is not an integer"),
        ("1 0 a\x01 2\n", "q:1:5: document id \"a\\u{1}\" contains a control character; remove it"),
        (
            "1 0 a 1\n2 0 a 1\n1 0 b 0\n2 0 a 2\n1 0 a 1\n",
            "q:4:1: document \"a\" of query \"2\" is in line 2 too; keep one of the lines",
        ),
    ];
    for (text, problem) in cases {
        let said = qrels(text).unwrap_err().to_string();
        assert!(said.starts_with(problem), "{said}");
    }
    let cases = [
        ("1 Q0 a 1 nan t\n", "r:1:10: score \"nan\" is not a finite number; expected a number such as 12.75"),
        ("1 Q0 a 1 1e999 t\n", "r:1:10: score \"1e999\" is not a finite number"),
        ("1 Q0 a 1 2\n", "r:1:11: the line is too short; expected \"query Q0 document rank score tag\""),
    ];
    for (text, problem) in cases {
        let said = run(text).unwrap_err().to_string();
        assert!(said.starts_with(problem), "{said}");
    }
    let said = read_qrels_from(&b"1 0 \xff 1\n"[..], Path::new("q")).unwrap_err().to_string();
    assert!(said.starts_with("q:1:5: document id \"\\xff\" is not valid UTF-8"), "{said}");
}

#[test]
fn compressed_files_are_read_and_damage_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for row in 0..2000 {
        writeln!(text, "q{} 0 d{row} {}", row % 7, row % 3).unwrap();
    }
    for name in ["plain", "a.gz", "a.zst"] {
        let path = folder.path().join(name);
        write_atomically(&path, |out| out.write_all(text.as_bytes())).unwrap();
        assert_eq!(read_qrels(&path).unwrap(), qrels(&text).unwrap());
    }
    let path = folder.path().join("a.gz");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    assert!(matches!(read_qrels(&path), Err(IoError::Damaged { codec: "gzip", .. })));
    assert!(matches!(read_qrels(&folder.path().join("none")), Err(IoError::File { .. })));
}

proptest! {
    /// Compares with the obvious way: a map of all pairs.
    #[test]
    fn a_table_is_the_map_of_its_lines(lines in prop::collection::vec((0..6u32, 0..8u32, -2..5i32), 0..40)) {
        let mut map = std::collections::BTreeMap::new();
        let (mut text, mut twice) = (String::new(), false);
        for (query, doc, grade) in &lines {
            writeln!(text, "q{query} 0 d{doc} {grade}").unwrap();
            twice |= map.insert((format!("q{query}"), format!("d{doc}")), *grade).is_some();
        }
        match qrels(&text) {
            Ok(table) => {
                prop_assert!(!twice);
                let read: Vec<((String, String), i32)> = (0..table.n_queries())
                    .flat_map(|query| table.entries(query).map(move |entry| (query, entry)))
                    .map(|(query, entry)| ((table.qid(query).to_owned(), entry.doc.to_owned()), entry.value))
                    .collect();
                prop_assert_eq!(read, map.into_iter().collect::<Vec<_>>());
            }
            Err(error) => prop_assert!(twice, "{}", error),
        }
    }
}
