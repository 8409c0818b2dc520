//! Score files.

use std::fs;

use proptest::prelude::*;
use rankwise_io::{read_scores, write_atomically, write_scores};

fn read(text: impl AsRef<[u8]>) -> Result<Vec<f64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores");
    fs::write(&path, text).unwrap();
    let prefix = format!("{}/", folder.path().display());
    read_scores(&path).map_err(|error| error.to_string().replace(&prefix, ""))
}

#[test]
fn numbers_are_read_and_all_else_is_refused() {
    assert_eq!(read("1\n-2.5e-3\r\n\t+3 \n0.1"), Ok(vec![1.0, -0.0025, 3.0, 0.1]));
    assert_eq!(read("\u{feff}1\n\n \n\n"), Ok(vec![1.0]));
    assert_eq!(read(""), Ok(vec![]));
    for (text, expected) in [
        ("1\n\n2\n", "scores:2:1: the line is empty; expected a finite number"),
        ("\n1\n", "scores:1:1: the line is empty; expected a finite number"),
        ("1\n  x y\n", "scores:2:3: \"x y\" is invalid; expected a finite number"),
        ("nan\n", "scores:1:1: \"nan\" is invalid; expected a finite number"),
        ("1\n1e999\n", "scores:2:1: \"1e999\" is invalid; expected a finite number"),
        ("1 # good\n", "scores:1:1: \"1 # good\" is invalid; expected a finite number"),
        ("1\0\n", "scores:1:1: \"1\\0\" is invalid; expected a finite number"),
    ] {
        assert_eq!(read(text), Err(expected.into()), "{text:?}");
    }
}

#[test]
fn scores_that_are_no_numbers_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores");
    let error = write_atomically(&path, |output| write_scores(output, &[1.0, f64::NAN])).unwrap_err().to_string();
    assert!(error.ends_with("scores: cannot write: the score of row 2 is NaN; scores must be finite"), "{error}");
    assert!(!path.exists());
}

proptest! {
    #[test]
    fn scores_come_back_bit_for_bit(bits in prop::collection::vec(any::<u64>(), 0..50)) {
        let scores: Vec<f64> = bits.into_iter().map(f64::from_bits).filter(|score| score.is_finite()).collect();
        let mut text = Vec::new();
        write_scores(&mut text, &scores).unwrap();
        let read: Vec<u64> = read(text).unwrap().into_iter().map(f64::to_bits).collect();
        prop_assert_eq!(read, scores.into_iter().map(f64::to_bits).collect::<Vec<_>>());
    }
}
