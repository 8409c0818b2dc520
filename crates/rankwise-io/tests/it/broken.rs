//! Invalid inputs and their exact messages.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use rankwise_data::Absent;
use rankwise_io::{IoError, Problem, read_dataset, read_letor_from};

fn message(text: &[u8]) -> String {
    read_letor_from(text, Path::new("f"), Absent::Missing).map_or_else(|error| error.to_string(), |_| "read".into())
}

const CASES: &[(&[u8], &str)] = &[
    (b"x qid:1 1:1", r#"f:1:1: label "x" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#),
    (b"qid:1 1:1", r#"f:1:1: label "qid:1" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#),
    (b"1:1 2:2", r#"f:1:1: label "1:1" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#),
    (b"1,2,3", r#"f:1:1: label "1,2,3" is not a number; if this is a table, set `data_format` csv"#),
    (b"qid\tlabel\tf1", r#"f:1:1: label "qid" is not a number; if this is a table, set `data_format` tsv"#),
    (
        b"0 qid:1\n--1 qid:1",
        r#"f:2:1: label "--1" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#,
    ),
    (b"-1 qid:1", r#"f:1:1: label "-1" is out of range; labels are numbers from 0 to 3.4e38"#),
    (b"nan qid:1", r#"f:1:1: label "nan" is out of range; labels are numbers from 0 to 3.4e38"#),
    (b"inf qid:1", r#"f:1:1: label "inf" is out of range; labels are numbers from 0 to 3.4e38"#),
    (b"1e39 qid:1", r#"f:1:1: label "1e39" is out of range; labels are numbers from 0 to 3.4e38"#),
    (b"1e400 qid:1", r#"f:1:1: label "1e400" is out of range; labels are numbers from 0 to 3.4e38"#),
    (b"0x1 qid:1", r#"f:1:1: label "0x1" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#),
    (
        b"\0\0\0\0",
        r#"f:1:1: label "\0\0\0\0" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#,
    ),
    (
        b"\x89PNG\r\n\x1a\n",
        r#"f:1:1: label "\x89PNG" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#,
    ),
    (b"\xff\xfe1\0 \0", "f: this is UTF-16 text; convert it to UTF-8"),
    (b"PAR1\x15\x04", "f: this is a Parquet file; use text here, or set `data_format` parquet"),
    (
        b"this line begins with many more words than anyone wants to see",
        r#"f:1:1: label "this" is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#,
    ),
    (
        b"thislinebeginswithaverylongwordthatnobodywantstosee qid:1",
        r#"f:1:1: label "thislinebeginswithaverylongwordthatnobod..." is not a number; each line must start with a label, as in "2 qid:7 1:0.5""#,
    ),
    (b"1 qid:", r#"f:1:3: "qid:" has no id; write the query's id right after the colon"#),
    (b"1 qid: 5 1:1", r#"f:1:3: "qid:" has no id; write the query's id right after the colon"#),
    (b"1 qid:a qid:b", r#"f:1:9: unexpected "qid:b"; write one qid, right after the label"#),
    (b"1 1:1 qid:a", r#"f:1:7: unexpected "qid:a"; write one qid, right after the label"#),
    (b"1 QID:a 1:1", "f:1:3: no qid; write qid:ID after every label"),
    (b"0 qid:1\n\n# c\n1 1:1", "f:4:3: no qid here, but line 1 has one; write qid:ID after every label"),
    (b"0 qid:1\n1", "f:2:2: no qid here, but line 1 has one; write qid:ID after every label"),
    (b"1 1:1\n1 qid:1", "f:1:3: no qid; write qid:ID after every label"),
    (b"1 qid:a\xff", r#"f:1:7: qid "a\xff" is not valid UTF-8; save the file as UTF-8"#),
    (b"1 qid:a\0b", r#"f:1:7: qid "a\0b" contains a control character; remove it"#),
    (b"1 qid:a\x1b[31m", r#"f:1:7: qid "a\u{1b}[31m" contains a control character; remove it"#),
    (b"1 qid:a\rb", r#"f:1:7: qid "a\rb" contains a control character; remove it"#),
    (b"1 qid:1 5", r#"f:1:9: "5" is not feature:value; write an integer, a colon and a number, without spaces"#),
    (
        b"1 qid:1 1:1 abc",
        r#"f:1:13: "abc" is not feature:value; write an integer, a colon and a number, without spaces"#,
    ),
    (b"1 qid:1 1 :5", r#"f:1:9: "1" is not feature:value; write an integer, a colon and a number, without spaces"#),
    (b"1 qid:1 1: 5", r#"f:1:12: "5" is not feature:value; write an integer, a colon and a number, without spaces"#),
    (b"1 qid:1 :5", r#"f:1:9: ":5" is not feature:value; write an integer, a colon and a number, without spaces"#),
    (b"1 qid:1 -1:5", r#"f:1:9: feature "-1" is not an integer of at least 0; number the features 0, 1, 2 and so on"#),
    (b"1 qid:1 +1:5", r#"f:1:9: feature "+1" is not an integer of at least 0; number the features 0, 1, 2 and so on"#),
    (
        b"1 qid:1 1.5:5",
        r#"f:1:9: feature "1.5" is not an integer of at least 0; number the features 0, 1, 2 and so on"#,
    ),
    (
        b"1 qid:1 colour:red",
        r#"f:1:9: feature "colour" is not an integer of at least 0; number the features 0, 1, 2 and so on"#,
    ),
    (b"1 qid:1 4294967296:1", "f:1:9: feature 4294967296 is too large; the largest is 4294967295"),
    (b"1 qid:1 99999999999999999999:1", "f:1:9: feature 99999999999999999999 is too large; the largest is 4294967295"),
    (b"1 qid:1 1:abc", r#"f:1:11: value "abc" of feature 1 is not a number; write one, or nan if it is missing"#),
    (b"1 qid:1 1:2:3", r#"f:1:11: value "2:3" of feature 1 is not a number; write one, or nan if it is missing"#),
    (b"1 qid:1 1:2,5", r#"f:1:11: value "2,5" of feature 1 is not a number; write one, or nan if it is missing"#),
    (b"1 qid:1 1:1.2.3", r#"f:1:11: value "1.2.3" of feature 1 is not a number; write one, or nan if it is missing"#),
    (b"1 qid:1 1:-", r#"f:1:11: value "-" of feature 1 is not a number; write one, or nan if it is missing"#),
    (b"1 qid:1 1:1e", r#"f:1:11: value "1e" of feature 1 is not a number; write one, or nan if it is missing"#),
    (b"1 qid:1 1:0\0", r#"f:1:11: value "0\0" of feature 1 is not a number; write one, or nan if it is missing"#),
    (
        "1 qid:1 1:\u{a0}2".as_bytes(),
        r#"f:1:11: value "\u{a0}2" of feature 1 is not a number; write one, or nan if it is missing"#,
    ),
    (b"1 qid:1 1:1 2:2 1:1", "f:1:17: feature 1 is given twice in this line; keep one value"),
    (b"1 qid:1 3:1 01:2 1:3 # c", "f:1:18: feature 1 is given twice in this line; keep one value"),
    (b"1 qid:1 1:nan 1:nan", "f:1:15: feature 1 is given twice in this line; keep one value"),
    (b"1 qid:1 1:1 # ok \xc3\x28 x", r#"f:1:18: comment "\xc3(" is not valid UTF-8; save the file as UTF-8"#),
    (b"1 qid:1 1:1 # a\0b", r#"f:1:16: comment "\0b" contains a control character; remove it"#),
    (b"1 qid:1 1:1 # a\x07b", r#"f:1:15: document id "a\u{7}b" contains a control character; remove it"#),
    (b"# \xff\n1 qid:1", r#"f:1:3: comment "\xff" is not valid UTF-8; save the file as UTF-8"#),
    (b"", "f: there are no rows; a dataset needs at least one document"),
    (b"\n \n# only this\n", "f: there are no rows; a dataset needs at least one document"),
    (b"\x1f\x8b", "f: the gzip data is damaged or cut off (unexpected end of file); copy or compress the file again"),
    (
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03",
        "f: the gzip data is damaged or cut off (incomplete deflate stream); copy or compress the file again",
    ),
    (
        b"\x1f\x8bnot gzip at all",
        "f: the gzip data is damaged or cut off (invalid gzip header); copy or compress the file again",
    ),
    (b"\x28\xb5\x2f\xfd", "f: the zstd data is damaged or cut off (incomplete frame); copy or compress the file again"),
    (
        b"\x28\xb5\x2f\xfdnot zstd at all",
        "f: the zstd data is damaged or cut off (Unsupported frame parameter); copy or compress the file again",
    ),
];

#[test]
fn broken_lines_are_explained() {
    // Report all cases at once, so that a reworded message shows all its uses.
    let wrong: Vec<String> = CASES
        .iter()
        .map(|(text, expected)| (text, expected, message(text)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(text, expected, found)| format!("{}\n  expected: {expected}\n  found:    {found}", text.escape_ascii()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn places_are_given_as_facts() {
    let error = read_letor_from(&b"1 qid:1\n0 qid:1\t 7:x"[..], Path::new("f"), Absent::Missing).unwrap_err();
    let IoError::Line { path, line, column, found, problem } = error else { panic!("{error}") };
    assert_eq!((path.to_str(), line, column, found.as_str()), (Some("f"), 2, 12, "x"));
    assert_eq!(problem, Problem::Value { feature: 7 });
}

#[test]
fn files_that_cannot_be_opened_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    for (name, expected) in [
        ("none.txt", "none.txt: cannot open: no such file; check the name and the current folder"),
        ("none.csv", "none.csv: cannot open: no such file; check the name and the current folder"),
        ("sub", "sub: cannot read: this is a folder; give a file"),
        ("file/x", "file/x: cannot open: a part of the path is a file, not a folder; check the path"),
    ] {
        let error = read_dataset(&folder.path().join(name), Absent::Missing).unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }
}

/// Some text, then a system error.
struct Failing(io::Cursor<&'static str>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk fell out")),
            n => Ok(n),
        }
    }
}

#[test]
fn a_failing_disk_is_reported_after_the_faults_before_it() {
    let read = |text| {
        let input = Failing(io::Cursor::new(text));
        read_letor_from(input, Path::new("f"), Absent::Missing).unwrap_err().to_string()
    };
    assert_eq!(read("1 qid:1\n0 qid:1\n2 qi"), "f: cannot read: the disk fell out");
    assert_eq!(read("1 qid:1\n0 qid:\n2 qi"), "f:2:3: \"qid:\" has no id; write the query's id right after the colon");
}
