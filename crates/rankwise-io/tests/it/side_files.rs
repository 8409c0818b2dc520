//! `DATA.query`, `DATA.weight` and `DATA.query_weight`, and detection of formats.

use std::fs;

use rankwise_data::{Absent, Dataset};
use rankwise_io::{read_dataset, write_atomically};

const NO_QIDS: &str = "1 1:1\n0 1:2\n2 1:3\n";
const QIDS: &str = "1 qid:b 1:1\n0 qid:a 1:2\n2 qid:b 1:3\n";

/// Writes the files into a folder and reads the first one; messages show file names without the folder.
fn read(files: &[(&str, &str)]) -> Result<Dataset, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write_atomically(&folder.path().join(name), |output| output.write_all(text.as_bytes())).unwrap();
    }
    let prefix = format!("{}/", folder.path().display());
    read_dataset(&folder.path().join(files[0].0), Absent::Missing)
        .map_err(|error| error.to_string().replace(&prefix, ""))
}

fn sizes(data: &Dataset) -> Vec<usize> {
    data.queries().map(|query| query.n_docs()).collect()
}

#[test]
fn sizes_make_queries() {
    let data = read(&[("d", NO_QIDS), ("d.query", "1\n2\n")]).unwrap();
    assert_eq!((sizes(&data), data.query(0).id), (vec![1, 2], "1"));
}

#[test]
fn compressed_data_has_them_beside_either_name() {
    for name in ["d.txt.gz", "d.txt.zst"] {
        assert_eq!(sizes(&read(&[(name, NO_QIDS), ("d.txt.query", "2\r\n1")]).unwrap()), [2, 1]);
        let beside = format!("{name}.query");
        let both = [(name, NO_QIDS), ("d.txt.query", "3"), (&beside, "2\n1\n\n")];
        assert_eq!(sizes(&read(&both).unwrap()), [2, 1]);
    }
}

#[test]
fn weights_reach_rows_and_queries() {
    let data = read(&[("d", QIDS), ("d.weight", "0.5\n1\n2\n"), ("d.query_weight", "3\n0\n")]).unwrap();
    let of_input: Vec<f32> = data.to_input_order(&(0..3).map(|row| data.weight(row)).collect::<Vec<_>>());
    assert_eq!(of_input, [0.5, 1.0, 2.0]);
    assert_eq!((data.query(0).id, data.query_weight(0), data.query_weight(1)), ("a", 0.0, 3.0));
}

#[test]
fn what_does_not_fit_names_the_file_to_mend() {
    let whole = "give the number of rows of each query";
    for (files, expected) in [
        (
            vec![("d", QIDS), ("d.query", "3")],
            "d:1:3: \"qid:b\" here, but d.query gives query sizes too; remove that file or the qids".to_string(),
        ),
        (
            vec![("d", NO_QIDS)],
            "d:1:3: no qid; write qid:ID after every label, or write the number of rows of each query to d.query, one per line"
                .into(),
        ),
        (
            vec![("d", "\n1 1:1\n0 qid:4 1:2\n"), ("d.query", "2")],
            "d:3:3: \"qid:4\" here, but line 2 has no qid; give every line a qid or none of them".into(),
        ),
        (
            vec![("d", NO_QIDS), ("d.query", "1\n1\n")],
            format!("d.query: the query sizes add up to 2, but there are 3 rows; {whole}"),
        ),
        (
            vec![("d", NO_QIDS), ("d.query", "18446744073709551615\n2\n")],
            format!("d.query: the query sizes add up to 18446744073709551615, but there are 3 rows; {whole}"),
        ),
        (
            vec![("d", NO_QIDS), ("d.query", "18446744073709551616\n")],
            "d.query:1:1: \"18446744073709551616\" is invalid; expected the number of rows of a query".into(),
        ),
        (
            vec![("d", NO_QIDS), ("d.query", "1\n+2\n")],
            "d.query:2:1: \"+2\" is invalid; expected the number of rows of a query".into(),
        ),
        (
            vec![("d", NO_QIDS), ("d.query", "1\n\n2\n")],
            "d.query:2:1: the line is empty; expected the number of rows of a query".into(),
        ),
        (vec![("d", QIDS), ("d.weight", "1\n")], "d.weight: the number of document weights is 1, but the number of rows is 3; the two must be equal".into()),
        (
            vec![("d", QIDS), ("d.weight", "1\n-2\n3\n")],
            "d.weight:2:1: \"-2\" is invalid; expected a weight of at least 0".into(),
        ),
        (
            vec![("d", QIDS), ("d.weight", "1\n2\n1e39\n")],
            "d.weight:3:1: \"1e39\" is invalid; expected a weight of at least 0".into(),
        ),
        (
            vec![("d", QIDS), ("d.query_weight", "1\n2\n3\n")],
            "d.query_weight: the number of query weights is 3, but the number of queries is 2; the two must be equal".into(),
        ),
        (
            vec![("d", QIDS), ("d.query_weight", "1\nx\n")],
            "d.query_weight:2:1: \"x\" is invalid; expected a weight of at least 0".into(),
        ),
    ] {
        assert_eq!(read(&files).err(), Some(expected), "{files:?}");
    }
}

#[test]
fn a_side_file_that_is_a_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("d");
    fs::write(&data, QIDS).unwrap();
    fs::create_dir(folder.path().join("d.weight")).unwrap();
    let error = read_dataset(&data, Absent::Missing).unwrap_err().to_string();
    assert!(error.ends_with("d.weight: cannot read: this is a folder; give a file"), "{error}");
}

#[test]
fn a_name_too_long_for_side_files_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("d".repeat(250));
    fs::write(&data, QIDS).unwrap();
    assert_eq!(read_dataset(&data, Absent::Missing).unwrap().n_rows(), 3);
}
