//! All formats find the features with different values that are equal as f32, whatever their values, and lose no value.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use rankwise_data::{Absent, Dataset, Keep};
use rankwise_io::{Format, ReadOptions, read_datasets, write_dataset};

const N_FEATURES: usize = 4;

/// Columns, mostly of one kind: seconds, prices with cents, integers, long decimals, f32 written as f64, and special
/// values.
fn columns() -> impl Strategy<Value = Vec<Vec<f64>>> {
    let kind = prop_oneof![
        (0u32..40, 1u32..300).prop_map(|(low, step)| (0u8, low, step)),
        (0u32..40, 1u32..300).prop_map(|(low, step)| (1u8, low, step)),
        (2u8..6, 0u32..40, 1u32..300),
    ];
    let odd = prop_oneof![
        Just(f64::NAN),
        Just(f64::NAN),
        Just(0.0),
        Just(-0.0),
        Just(1e-60),
        Just(1e300),
        Just(f64::INFINITY),
        Just(0.1),
        Just(f64::from(0.1f32)),
        any::<f64>(),
    ];
    let value = |(kind, low, step): (u8, u32, u32), draw: u32| match kind {
        0 => 1.7e9 + f64::from(low + step * (draw % 50)),
        1 => (f64::from(low) * 1e5 + f64::from(step * (draw % 80))) / 100.0,
        2 => f64::from(low + draw % 7),
        3 => f64::from(draw % 997) / 997.0,
        4 => f64::from((draw % 997) as f32 / 997.0),
        _ => f64::from(draw % 99_999_999) / 1e8,
    };
    (1usize..60).prop_flat_map(move |n_rows| {
        let cells = prop::collection::vec(
            (any::<u32>(), prop_oneof![30 => Just(None), 1 => odd.clone().prop_map(Some)]),
            n_rows,
        );
        let column = (kind.clone(), cells).prop_map(move |(kind, cells)| {
            cells.into_iter().map(|(draw, odd)| odd.unwrap_or_else(|| value(kind, draw))).collect::<Vec<f64>>()
        });
        prop::collection::vec(column, N_FEATURES)
    })
}

/// The definition: two different values with the same f32. Absent values are 0 or missing.
fn has_twins(values: &[f64]) -> bool {
    let near = |value: f64| (value as f32).clamp(-f32::MAX, f32::MAX);
    values.iter().any(|a| values.iter().any(|b| a != b && near(*a) == near(*b)))
}

fn texts(columns: &[Vec<f64>]) -> [(PathBuf, String); 2] {
    let (mut letor, mut csv) = (String::new(), "label,qid,f0,f1,f2,f3\n".to_owned());
    for row in 0..columns[0].len() {
        let (label, qid) = (row % 3, row / 7);
        let values: Vec<String> = columns.iter().map(|column| column[row].to_string()).collect();
        let pairs: Vec<String> = values.iter().enumerate().map(|(id, value)| format!("{id}:{value}")).collect();
        let _ = writeln!(letor, "{label} qid:{qid} {}", pairs.join(" "));
        let _ = writeln!(csv, "{label},{qid},{}", values.join(","));
    }
    [("data.txt".into(), letor), ("data.csv".into(), csv)]
}

fn check(data: &Dataset, columns: &[Vec<f64>], what: &str) {
    let expected: Vec<u32> = (0..).zip(columns).filter(|(_, column)| has_twins(column)).map(|(id, _)| id).collect();
    assert_eq!(data.f64_features(), expected, "{what}");
    for (id, column) in (0u32..).zip(columns) {
        let Some(values) = data.f64_values_of(id) else { continue };
        for (row, input_row) in data.input_row().iter().enumerate() {
            let (found, expected) = (values.get(row), column[*input_row as usize]);
            assert!(found == expected || (found.is_nan() && expected.is_nan()), "{what} {id}: {found} {expected}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_format_finds_the_same_features(columns in columns(), is_zero: bool) {
        let absent = if is_zero { Absent::Zero } else { Absent::Missing };
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &std::path::Path, keep: Keep| {
            let options = ReadOptions { keep, ..ReadOptions::new(absent) };
            read_datasets(&[folder.path().join(name)], &options).unwrap()
        };
        let mut fingerprints = Vec::new();
        for (name, text) in texts(&columns) {
            fs::write(folder.path().join(&name), text).unwrap();
            for keep in [Keep::WhereNeeded, Keep::All] {
                let data = read(&name, keep);
                check(&data, &columns, &format!("{name:?} {keep:?}"));
                fingerprints.push(data.fingerprint());
            }
        }
        let data = read(std::path::Path::new("data.csv"), Keep::All);
        write_dataset(&data, &folder.path().join("data.parquet"), Format::Parquet).unwrap();
        let data = read(std::path::Path::new("data.parquet"), Keep::WhereNeeded);
        check(&data, &columns, "Parquet");
        fingerprints.push(data.fingerprint());
        let memory = Dataset::from_columns(&columns)
            .labels(&(0..columns[0].len()).map(|row| (row % 3) as u8).collect::<Vec<_>>())
            .qids(&(0..columns[0].len()).map(|row| row / 7).collect::<Vec<_>>())
            .absent(absent)
            .build()
            .unwrap();
        check(&memory, &columns, "memory");
        fingerprints.push(memory.fingerprint());
        fingerprints.dedup();
        prop_assert_eq!(fingerprints.len(), 1);
    }
}
