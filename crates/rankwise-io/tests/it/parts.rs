//! Several files as one dataset: results must not depend on how rows are distributed over files.

use std::path::PathBuf;

use proptest::prelude::*;
use rankwise_data::Absent;
use rankwise_io::{Format, ReadOptions, find_data_files, read_data, read_datasets, write_atomically, write_dataset};
use tempfile::TempDir;

fn options() -> ReadOptions {
    ReadOptions::new(Absent::Missing)
}

/// A folder with these files; compressed if their names say so.
fn folder(files: &[(String, String)]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        write_atomically(path, |file| file.write_all(text.as_bytes())).unwrap();
    }
    (folder, paths)
}

fn letor(rows: &[(u8, u8, i8)]) -> String {
    let line = |(qid, label, value): &(u8, u8, i8)| format!("{label} qid:{qid} 1:{value} {}:1\n", 2 + label);
    rows.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// However rows are distributed over files, in any order and with any number of threads, the dataset is that of one
    /// file.
    #[test]
    fn any_parts_in_any_order_are_one_data_set(
        rows in prop::collection::vec((0u8..6, 0u8..3, -20i8..20), 1..60),
        n_parts in 2usize..9, turn in 0usize..9, n_threads in 1usize..4, packed in any::<bool>(),
    ) {
        let (_one, whole) = folder(&[("all.txt".into(), letor(&rows))]);
        let expected = read_datasets(&whole, &options()).unwrap();
        let ending = if packed { "txt.zst" } else { "txt" };
        let part = |part: usize| letor(&rows.iter().copied().skip(part).step_by(n_parts).collect::<Vec<_>>());
        let files: Vec<(String, String)> = (0..n_parts).map(|number| (format!("{number}.{ending}"), part(number))).collect();
        let (_parts, mut paths) = folder(&files);
        paths.rotate_left(turn % n_parts);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let read = pool.install(|| read_data(&paths, &options())).unwrap();
        prop_assert_eq!(read.data.fingerprint(), expected.fingerprint());
        prop_assert_eq!(read.data.feature_ids(), expected.feature_ids());
        prop_assert_eq!(read.report.parts.iter().map(|part| part.rows).sum::<usize>(), rows.len());
        // Rows keep the order of the files.
        let labels = read.data.to_input_order(read.data.labels());
        let order = (0..n_parts).map(|place| (place + turn) % n_parts);
        let given: Vec<f32> =
            order.flat_map(|part| rows.iter().skip(part).step_by(n_parts)).map(|(_, label, _)| f32::from(*label)).collect();
        prop_assert_eq!(labels, given);
    }
}

#[test]
fn parquet_parts_with_columns_in_other_places_keep_their_values() {
    let text = "label,qid,b,a\n1,q,1.5,2\n0,q,,7\n2,r,3,\n";
    let other = "a,label,qid,b\n9,1,q,4.5\n";
    let (folder, paths) = folder(&[("1.csv".into(), text.into()), ("2.csv".into(), other.into())]);
    let tables: Vec<PathBuf> = paths.iter().map(|path| path.with_extension("parquet")).collect();
    for (csv, table) in paths.iter().zip(&tables) {
        let data = read_datasets(std::slice::from_ref(csv), &options()).unwrap();
        write_dataset(&data, table, Format::Parquet).unwrap();
    }
    let expected = read_datasets(&paths, &options()).unwrap();
    for files in [tables.clone(), vec![tables[1].clone(), tables[0].clone()], vec![paths[0].clone(), tables[1].clone()]]
    {
        let data = read_datasets(&files, &options()).unwrap();
        assert_eq!(data.fingerprint(), expected.fingerprint(), "{files:?}");
        assert_eq!(data.feature_names(), [(0, "b".to_owned()), (1, "a".to_owned())]);
    }
    drop(folder);
}

/// The first invalid file in the given order is reported, whatever the number of threads.
#[test]
fn the_first_error_does_not_depend_on_threads() {
    let bad = |name: &str| (name.to_owned(), "1 qid:1 1:x\n".to_owned());
    let (_folder, paths) =
        folder(&[("a.txt".into(), "1 qid:1 1:1\n".into()), bad("b.txt"), bad("c.txt"), bad("d.txt")]);
    for n_threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let error = pool.install(|| read_datasets(&paths, &options())).unwrap_err().to_string();
        assert!(error.contains("b.txt:1:11: value \"x\""), "{error}");
    }
}

#[test]
fn no_path_is_an_error_and_a_folder_is_sorted() {
    assert!(read_datasets(&[], &options()).unwrap_err().to_string().contains("give at least one file"));
    let empty = || String::new();
    let names = ["b.csv.gz", "a.txt", "c.weight", "d.csv.query", ".x.csv", "_y.csv", "e.PQ", "f.json"];
    let (folder, _) = folder(&names.map(|name| (name.to_owned(), empty())));
    let found = find_data_files(&[folder.path().to_path_buf()]).unwrap();
    let found: Vec<&str> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(found, ["a.txt", "b.csv.gz", "e.PQ"]);
}
