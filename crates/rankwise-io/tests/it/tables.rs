//! CSV and TSV as users write them: headers, quotes, missing values, columns by name and by number.

use std::fs;

use rankwise_data::{Absent, Dataset};
use rankwise_io::{
    Format, Header, LayoutSpec, ReadOptions, Separator, SetLayout as _, read_dataset_with, write_atomically,
};

fn options(layout: LayoutSpec) -> ReadOptions {
    ReadOptions { layout, ..ReadOptions::new(Absent::Missing) }
}

/// Writes the files into a folder and reads the first one; messages show file names without the folder.
fn read_files(files: &[(&str, &str)], options: &ReadOptions) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write_atomically(&folder.path().join(name), |output| output.write_all(text.as_bytes())).unwrap();
    }
    let mut options = options.clone();
    options.layout.column_description = options.layout.column_description.map(|path| folder.path().join(path));
    let prefix = format!("{}/", folder.path().display());
    read_dataset_with(&folder.path().join(files[0].0), &options).map_err(|error| error.to_string().replace(&prefix, ""))
}

fn read(text: &str, layout: LayoutSpec) -> Result<Dataset, String> {
    read_files(&[("d.csv", text)], &options(layout))
}

fn plain(text: &str) -> Dataset {
    read(text, LayoutSpec::default()).unwrap()
}

/// The rows in input order: qid, label, document, values of all features.
fn rows(data: &Dataset) -> Vec<String> {
    let mut rows = vec![String::new(); data.n_rows()];
    for query in data.queries() {
        for (doc, row) in query.rows.clone().enumerate() {
            let values: Vec<String> =
                (0..data.n_features()).map(|slot| data.column(slot).get(row).to_string()).collect();
            let (id, label) = (query.id, query.labels[doc]);
            rows[query.input_rows[doc] as usize] = format!("{id} {label} {} {}", query.doc_id(doc), values.join(" "));
        }
    }
    rows
}

#[test]
fn columns_are_found_by_their_usual_names() {
    let data = plain("f2,Query ID,docid,relevance,f1\n0.5,a,D1,2,7\n,b,,0,1e3\n");
    assert_eq!(rows(&data), ["a 2 D1 7 0.5", "b 0  1000 NaN"]);
    assert_eq!((data.feature_ids(), data.feature_names()), (&[1, 2][..], &[][..]));
}

#[test]
fn without_a_header_the_label_comes_first_and_the_qid_second() {
    let data = plain("2,a,0.5,7\n0,b,,-\n");
    assert_eq!(rows(&data), ["a 2  0.5 7", "b 0  NaN NaN"]);
    assert_eq!(data.feature_ids(), [0, 1]);
    let sizes = read_files(&[("d.csv", "2,0.5\n0,7\n"), ("d.csv.query", "2\n")], &options(LayoutSpec::default()));
    assert_eq!(rows(&sizes.unwrap()), ["1 2  0.5", "1 0  7"]);
}

#[test]
fn a_header_can_be_forced() {
    let numbers = "0,1,2\n3,4,5\n";
    let with = |header| {
        read(
            numbers,
            LayoutSpec { header, label_column: Some("0".into()), qid_column: Some("1".into()), ..Default::default() },
        )
    };
    assert_eq!(with(Header::Auto).unwrap().n_rows(), 2);
    assert_eq!(with(Header::No).unwrap().n_rows(), 2);
    let data = with(Header::Yes).unwrap();
    assert_eq!((data.n_rows(), data.feature_ids()), (1, &[2][..]));
}

#[test]
fn quotes_separators_and_line_ends_are_understood() {
    let text = "\u{feff}label;qid;note;\"a\"\"b\";c\r\n1;\"x; \"\"y\"\"\";\"line\nbreak\";\"0.5\"; 2 \r\n\r\n0;z;;.5;3";
    let columns =
        LayoutSpec { separator: Separator::new(b';'), ignore_columns: vec!["note".into()], ..Default::default() };
    let data = read(text, columns).unwrap();
    assert_eq!(rows(&data), ["x; \"y\" 1  0.5 2", "z 0  0.5 3"]);
    assert_eq!(data.feature_names(), [(0, "a\"b".to_owned()), (1, "c".to_owned())]);
}

#[test]
fn missing_values_and_truth_values_have_many_spellings() {
    for text in ["", " ", "NA", "na", "NaN", "n/a", "#N/A", "NULL", "None", "?", "-", "\\N", "\"\"", "\"NA\""] {
        assert_eq!(rows(&plain(&format!("label,qid,a,b\n0,q,{text},1\n"))), ["q 0  1"], "{text}");
    }
    let data = plain("label,qid,a,b,c\n1,q,True,inf,1e-50\n0,q,false,-1e60,-0\n");
    let max = f32::MAX;
    assert_eq!(rows(&data), [format!("q 1  1 {max} 0"), format!("q 0  0 -{max} -0")]);
}

#[test]
fn ids_are_in_the_names_or_by_place() {
    for (names, ids, kept) in [
        ("7,3,12", vec![3, 7, 12], false),
        ("f7,f3,f12", vec![3, 7, 12], false),
        ("feature_07,feature_3,feature_12", vec![3, 7, 12], false),
        ("f7,g3,f12", vec![0, 1, 2], true),
        ("f7,f07,f12", vec![0, 1, 2], true),
        ("f7,f,f12", vec![0, 1, 2], true),
        ("f7,f99999999999,f12", vec![0, 1, 2], true),
        ("price,age,size", vec![0, 1, 2], true),
    ] {
        let data = plain(&format!("label,qid,{names}\n1,q,1,2,3\n"));
        assert_eq!((data.feature_ids(), !data.feature_names().is_empty()), (&ids[..], kept), "{names}");
    }
}

#[test]
fn weights_and_positions_come_from_columns_or_files_but_not_both() {
    let text = "label,qid,weight,group_weight,position,a\n1,x,0.5,2,3,1\n0,y,1,4,0,1\n2,x,2,2,7,1\n";
    let data = plain(text);
    let in_order = |values: Vec<f32>| data.to_input_order(&values);
    assert_eq!(in_order((0..3).map(|row| data.weight(row)).collect()), [0.5, 1.0, 2.0]);
    assert_eq!((data.query_weight(0), data.query_weight(1)), (2.0, 4.0));
    assert_eq!(data.to_input_order(data.positions().unwrap()), [3, 0, 7]);

    let bare = "label,qid,a\n1,x,1\n0,y,1\n2,x,1\n";
    let files = [
        ("d.csv", bare),
        ("d.csv.weight", "0.5\n1\n2"),
        ("d.csv.query_weight", "2\n4"),
        ("d.csv.position", "3\n0\n7\n"),
    ];
    let defaults = options(LayoutSpec::default());
    assert_eq!(read_files(&files, &defaults).unwrap().fingerprint(), data.fingerprint());
    let by_id = [files[0], files[1], ("d.csv.group_weights", "y\t4\nx\t2\nother\t9\n"), files[3]];
    assert_eq!(read_files(&by_id, &defaults).unwrap().fingerprint(), data.fingerprint());

    for (side, content, what) in [
        ("d.csv.weight", "1\n1\n1\n", "weight\" of d.csv gives document weights"),
        ("d.csv.query_weight", "1\n1\n", "group_weight\" of d.csv gives query weights"),
        ("d.csv.group_weights", "x 1\ny 1\n", "group_weight\" of d.csv gives query weights"),
        ("d.csv.position", "1\n1\n1\n", "position\" of d.csv gives positions"),
        ("d.csv.query", "3\n", "qid\" of d.csv gives the queries"),
    ] {
        let error = read_files(&[("d.csv", text), (side, content)], &defaults).err();
        assert_eq!(error, Some(format!("{side}: column \"{what} too; keep one of them")));
    }
    let none = LayoutSpec { weight_column: Some("none".into()), ..Default::default() };
    assert_eq!(read_files(&[("d.csv", text)], &options(none)).unwrap().n_features(), 2);
}

#[test]
fn pairs_are_read_for_every_format() {
    let letor = "1 qid:x 1:1\n0 qid:y 1:2\n2 qid:x 1:3\n";
    let csv = "label,qid,f1\n1,x,1\n0,y,2\n2,x,3\n";
    let defaults = options(LayoutSpec::default());
    for (name, text) in [("d.txt", letor), ("d.csv", csv), ("d.csv.gz", csv)] {
        let side = |content: &'static str| {
            let side = format!("{name}.pairs");
            read_files(&[(name, text), (&side, content)], &defaults)
        };
        let data = side("2\t0\n0 2 0.5\n\n").unwrap();
        assert_eq!((data.pairs().len(), data.query_pairs(0).len()), (2, 2));
        assert_eq!(data.pairs(), side("0 2 0.5\n2 0 1\n").unwrap().pairs());
        for (content, problem) in [
            (
                "0 1\n",
                "1:1: its rows belong to the queries \"x\" and \"y\"; both must be of the same query (pairs count rows from 0)",
            ),
            ("2 0\n0 3\n", "2:1: there is no row 3; pairs count rows from 0, so the last one is 2"),
            ("2 0\n2 2\n", "2:1: row 2, counted from 0, is both winner and loser; name two rows"),
            (
                "2\n",
                "1:1: \"2\" is invalid; expected the row numbers of winner and loser, counted from 0, then optionally a weight of at least 0 and a \
                 probability from 0 to 1",
            ),
        ] {
            assert_eq!(side(content).err(), Some(format!("{name}.pairs:{problem}")));
        }
    }
}

#[test]
fn features_can_be_asked_for_by_name() {
    let wanted = Some(vec![(4, "b".to_owned()), (9, "a".to_owned())]);
    let options = ReadOptions { features: wanted, ..ReadOptions::new(Absent::Missing) };
    let data = read_files(&[("d.csv", "a,text,label,b,qid\n1,hello,0,2,q\n")], &options).unwrap();
    assert_eq!((rows(&data), data.feature_ids()), (vec!["q 0  2 1".to_owned()], &[4, 9][..]));
    let error = read_files(&[("d.csv", "b,label,qid\n1,0,q\n")], &options).err();
    assert_eq!(
        error.unwrap(),
        "d.csv: no column \"a\", which is a feature of the model; the columns are \"b\", \"label\", \"qid\""
    );
    assert_eq!(read_files(&[("d.csv", "0,q,1,2\n")], &options).unwrap().feature_ids(), [0, 1]);
}

#[test]
fn a_column_description_tells_all() {
    let table = "junk\tq1\t1\t0.5\t2\nx\tq1\t0\t\t3\n";
    let with = |description: &str| {
        let layout = LayoutSpec { column_description: Some("cd".into()), ..Default::default() };
        read_files(&[("d", table), ("cd", description)], &options(layout))
    };
    let data = with("0\tAuxiliary\n1\tGroupId\n2\tLabel\n").unwrap();
    assert_eq!((rows(&data)[0].as_str(), data.feature_ids()), ("q1 1  0.5 2", &[0, 1][..]));
    let named = with("0\tDocId\n1\tQueryId\n2\tTarget\n3\tNum\tprice\n").unwrap();
    assert_eq!((rows(&named)[0].as_str(), named.feature_name(0)), ("q1 1 junk 0.5 2", Some("price")));
    for (description, expected) in [
        ("0\tCateg\n", "cd:1:1: \"0\\tCateg\" is invalid; expected a column number from 0, a tab, and Label"),
        ("x\tNum\n", "cd:1:1: \"x\\tNum\" is invalid; expected a column number"),
        ("1\tGroupId\n1\tLabel\n", "cd: column 1 has two lines; keep one of them"),
        ("1\tLabel\n2\tTarget\n", "cd: columns 1 and 2 are both Label; keep one of them"),
        ("1\tGroupId\n9\tLabel\n", "cd: column 9 does not exist; the table has columns 0 to"),
        ("1\tGroupId\n", "d: no label column"),
    ] {
        let error = with(description).err().unwrap();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_format_can_be_forced() {
    let forced = |format| ReadOptions::new(Absent::Missing).data_format(Some(format));
    assert_eq!(read_files(&[("d.dat", "1,q,2\n")], &forced(Format::Csv)).unwrap().n_rows(), 1);
    assert_eq!(read_files(&[("d.csv", "1\tq\t2\n")], &forced(Format::Tsv)).unwrap().n_rows(), 1);
    assert_eq!(read_files(&[("d.csv", "1 qid:q 1:2\n")], &forced(Format::Letor)).unwrap().n_rows(), 1);
    let error = read_files(&[("d.csv", "1,q,2\n")], &forced(Format::Parquet)).err().unwrap();
    assert!(error.starts_with("d.csv: not a Parquet file (no PAR1 header); set"), "{error}");
}

/// Invalid tables and their exact messages.
const BROKEN: &[(&str, &str)] = &[
    ("", "d.csv: there are no rows; a dataset needs at least one document"),
    ("\n\r\n\n", "d.csv: there are no rows; a dataset needs at least one document"),
    ("label,qid,a\n", "d.csv: there are no rows; a dataset needs at least one document"),
    ("label;qid;a\n1;2;3\n", "d.csv: there is only one column; if fields are not separated by commas, set `separator`"),
    ("label,qid,a\n1,q\n", "d.csv:2:4: this row has 2 fields, but the table has 3 columns; add the missing fields"),
    (
        "label,qid,a\n1,q,1,2,\"3\"\n",
        "d.csv:2:6: this row has 5 fields, but the table has 3 columns; quote fields that contain a separator",
    ),
    (
        "label,qid,a\n1,q,1\n0,q,one\n",
        "d.csv:3:5: \"one\" in column \"a\" is not a number; write a number, or leave the field empty if the value is \
         missing; `ignore_columns` skips columns",
    ),
    ("1,q,0.5\nx,q,1\n", "d.csv:2:1: \"x\" in column 0 is not a label; labels are numbers from 0 to 3.4e38"),
    (
        "label,qid,a\n-1,q,1\n",
        "d.csv:2:1: \"-1\" in column \"label\" is not a label; labels are numbers from 0 to 3.4e38",
    ),
    (
        "label,qid,a\nnan,q,1\n",
        "d.csv:2:1: \"nan\" in column \"label\" is not a label; labels are numbers from 0 to 3.4e38",
    ),
    ("label,qid,a\n,q,1\n", "d.csv:2:1: no label in column \"label\"; labels are numbers from 0 to 3.4e38"),
    ("label,qid,a\n1,,1\n", "d.csv:2:3: no qid in column \"qid\"; every row needs the id of its query"),
    (
        "label,qid,weight\n1,q,-2\n",
        "d.csv:2:5: \"-2\" in column \"weight\" is not a document weight; weights are numbers from 0 to 3.4e38",
    ),
    (
        "label,qid,query_weight\n1,q,x\n",
        "d.csv:2:5: \"x\" in column \"query_weight\" is not a query weight; weights are numbers from 0 to 3.4e38",
    ),
    (
        "label,qid,query_weight\n1,q,1\n1,q,2\n",
        "d.csv:3:1: the query weight is 2 here, but 1 in an earlier row; use one weight per query",
    ),
    (
        "label,qid,position\n1,q,1.5\n",
        "d.csv:2:5: \"1.5\" in column \"position\" is not a position; positions are integers from 0 to 4294967295",
    ),
    ("label,qid,a,a\n1,q,1,1\n", "d.csv: two columns are named \"a\"; rename one of them"),
    (
        ",label,qid,a\n0,1,q,1\n",
        "d.csv: column 0, counted from 0, has no name; name it, or ignore it with `ignore_columns` 0",
    ),
    (
        "a,b,c\n1,2,3\n",
        "d.csv: no label column; name it with `label_column`, or set `header` no if the first line is not a header; the columns are \"a\", \"b\", \"c\"",
    ),
    (
        "label,b,c\n1,2,3\n",
        "d.csv: no qid column; name it with `qid_column`, or write the number of rows of each query to d.csv.query, one per line; the columns are \"label\", \"b\", \"c\"",
    ),
    (
        "label,target,qid\n1,2,3\n",
        "d.csv: columns \"label\" and \"target\" could both be the label; choose one with `label_column`, and ignore the other with `ignore_columns`",
    ),
    (
        "label,qid,a\n1,q,\"1\n0,q,2\n",
        "d.csv:2:5: the quoted field that starts with \"1\\n0,q,2\" is never closed; add the closing quote, and write quotes inside the field as \"\"",
    ),
    (
        "label,qid,a\n1,\"q\"x,1\n",
        "d.csv:2:6: unexpected \"x\" after a closing quote; write quotes inside a quoted field as \"\"",
    ),
    ("label,qid,a\n1,\"q\nr\",1\n", "d.csv:2:3: qid \"\"q\\nr\"\" contains a control character; remove it"),
    ("label,qid,docid\n1,q,\u{7}\n", "d.csv:2:5: document id \"\\u{7}\" contains a control character; remove it"),
];

#[test]
fn broken_tables_are_explained() {
    let wrong: Vec<String> = BROKEN
        .iter()
        .map(|(text, expected)| (text, expected, read(text, LayoutSpec::default()).err().unwrap_or("read".into())))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(text, expected, found)| format!("{text:?}\n  expected: {expected}\n  found:    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn columns_that_are_not_there_are_told_with_what_there_is() {
    let text = "relevance,qid,price\n1,q,2\n";
    for (columns, expected) in [
        (
            LayoutSpec { label_column: Some("relevanse".into()), ..Default::default() },
            "`label_column` relevanse: no such column; did you mean \"relevance\"? The columns are \"relevance\", \"qid\", \"price\"",
        ),
        (
            LayoutSpec { ignore_columns: vec!["7".into()], ..Default::default() },
            "`ignore_columns` 7: no such column; the columns are \"relevance\", \"qid\", \"price\"",
        ),
        (
            LayoutSpec { qid_column: Some("price".into()), weight_column: Some("2".into()), ..Default::default() },
            "column \"price\" is used as qid and document weight; use different columns",
        ),
    ] {
        assert_eq!(read(text, columns).err(), Some(format!("d.csv: {expected}")));
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.csv");
    let message = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let error = read_dataset_with(&path, &ReadOptions::new(Absent::Missing)).unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(
        message(b"label,qid,\xff\n1,q,1\n"),
        "d.csv:1:11: column name \"\\xff\" is not valid UTF-8; save the file as UTF-8"
    );
    assert_eq!(message(b"label,qid\n1,\xff\n"), "d.csv:2:3: qid \"\\xff\" is not valid UTF-8; save the file as UTF-8");
    assert!(message(b"\xff\xfel\0a\0").starts_with("d.csv: this is UTF-16 text"));
    assert!(message(&[0; 100]).starts_with("d.csv: there is only one column"));
    let mut long = b"label,qid,a\n1,q,\"".to_vec();
    long.resize(65 << 20, b'x');
    assert_eq!(message(&long), "d.csv:2:1: the row is longer than 64 MB; check that every quote is closed");
    let wide = format!("label,qid{}\n", ",a".repeat(2 << 20));
    let expected = "d.csv:1:2097159: the table has more than 1048576 columns; check the separator and the quotes";
    assert_eq!(message(wide.as_bytes()), expected);
}
