//! What is fuzzed. An entry says how an input is read. The test is that the call returns and that its result can be
//! used.

use std::path::Path;
use std::sync::LazyLock;

use rankwise::config;
use rankwise::data::Absent;
use rankwise::formats::import;
use rankwise::io::{
    ReadOptions, read_cache_from, read_dataset_from, read_letor, read_letor_from, read_qrels_from, read_run_from,
    read_scores_from,
};
use rankwise::prelude::*;
use rankwise::score::{Rows, Scorer, Scratch};
use rankwise::train::{Checkpoint, Training};
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::seeds;

/// A reader.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Valid inputs.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Reads an input; returns whether it was accepted.
    pub(crate) read: fn(&[u8]) -> bool,
}

/// All readers.
pub(crate) const TARGETS: [Target; 18] = [
    Target { name: "letor", seeds: seeds::letor, read: letor },
    Target { name: "csv", seeds: seeds::csv, read: |input| table(input, "data.csv") },
    Target { name: "parquet", seeds: seeds::parquet, read: |input| table(input, "data.parquet") },
    Target { name: "cache", seeds: seeds::cache, read: cache },
    Target { name: "side-files", seeds: seeds::side_files, read: side_files },
    Target {
        name: "scores",
        seeds: seeds::scores,
        read: |input| is_read(&read_scores_from(input, Path::new("scores"))),
    },
    Target { name: "qrels", seeds: seeds::qrels, read: |input| is_read(&read_qrels_from(input, Path::new("qrels"))) },
    Target { name: "run", seeds: seeds::run, read: |input| is_read(&read_run_from(input, Path::new("run"))) },
    Target { name: "config", seeds: seeds::config, read: config_file },
    Target { name: "params", seeds: seeds::params, read: params },
    Target { name: "model", seeds: seeds::model, read: model },
    Target { name: "checkpoint", seeds: seeds::checkpoint, read: checkpoint },
    Target { name: "lightgbm", seeds: seeds::lightgbm, read: imported },
    Target { name: "lightgbm-json", seeds: seeds::lightgbm_json, read: imported },
    Target { name: "xgboost", seeds: seeds::xgboost, read: imported },
    Target { name: "xgboost-ubj", seeds: seeds::xgboost_ubj, read: imported },
    Target { name: "catboost", seeds: seeds::catboost, read: imported },
    Target { name: "ranklib", seeds: seeds::ranklib, read: imported },
];

/// Whether a reader accepted its input. If not, its message must be readable: one line, with a place.
fn is_read<T, E: std::error::Error>(read: &Result<T, E>) -> bool {
    if let Err(error) = read {
        let text = error.to_string();
        assert!(!text.is_empty() && text.len() < 1000 && !text.contains(['\n', '\0']), "{text}");
    }
    read.is_ok()
}

fn letor(input: &[u8]) -> bool {
    let read = read_letor_from(input, Path::new("data"), Absent::Missing);
    if let Ok(data) = &read {
        assert!(data.n_rows() > 0 && data.bounds().last() == Some(&data.n_rows()));
    }
    is_read(&read)
}

fn table(input: &[u8], name: &str) -> bool {
    let read = read_dataset_from(input, Path::new(name), &ReadOptions::new(Absent::Missing));
    if let Ok(data) = &read {
        assert!(data.n_rows() > 0 && data.bounds().last() == Some(&data.n_rows()));
    }
    is_read(&read)
}

/// Inputs of at least this size were enlarged.
const LARGE_BYTES: usize = 1 << 16;

const CACHES_PER_TRAINING: u64 = 32;

/// An accepted cache is used for training, which must succeed or report an error.
fn cache(input: &[u8]) -> bool {
    let file = seeds::cache_of_lists(input);
    let read = read_cache_from(&file[..], Path::new("data"));
    if let Ok(data) = &read {
        assert!(data.n_rows() > 0 && data.bounds().last() == Some(&data.n_rows()));
        // Training takes as long as a thousand reads.
        if xxh3_64(&file).is_multiple_of(CACHES_PER_TRAINING) {
            let _ = train(&seeds::JOB.params, data, &[], &mut Silent);
        }
    }
    is_read(&read)
}

/// The first byte selects the kind of file.
fn side_files(input: &[u8]) -> bool {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("sized"), "1 1:1\n0 1:2\n2 1:3\n").expect("a file");
        std::fs::write(folder.path().join("named"), "1 qid:a 1:1\n0 qid:a 1:2\n2 qid:b 1:3\n").expect("a file");
        folder
    });
    let Some((which, content)) = input.split_first() else { return false };
    let kinds = [
        ("sized", ".query"),
        ("named", ".weight"),
        ("named", ".query_weight"),
        ("named", ".group_weights"),
        ("named", ".position"),
        ("named", ".pairs"),
    ];
    let (data, suffix) = kinds[usize::from(*which) % kinds.len()];
    let side = FOLDER.path().join(format!("{data}{suffix}"));
    std::fs::write(&side, content).expect("a file");
    let read = read_letor(&FOLDER.path().join(data), Absent::Missing);
    std::fs::remove_file(&side).expect("the file that was just written");
    is_read(&read)
}

fn config_file(input: &[u8]) -> bool {
    let mut spec = TrainSpec::default();
    std::str::from_utf8(input).is_ok_and(|text| config::apply(text, &mut spec).is_ok() && spec.check().is_ok())
}

/// `name=value` per line, as for `--set`.
fn params(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let mut spec = TrainSpec::default();
    let is_set = spec.set_all(text.lines().filter_map(|line| line.split_once('='))).is_ok();
    is_set & spec.check().is_ok()
}

fn model(input: &[u8]) -> bool {
    let Ok(model) = Model::from_json(input) else { return false };
    scores_alike(&model);
    assert_eq!(Model::from_json(model.to_json().as_bytes()).as_ref(), Ok(&model));
    true
}

/// The fast scorer and the reference give the same scores for a model.
fn scores_alike(model: &Model) {
    let n_features = model.features().len();
    let values: Vec<f64> = (0..n_features).map(|slot| [0.5, f64::NAN, -3.0, 1e300][slot % 4]).collect();
    let mut scores = [0.0];
    Scorer::new(model).score(&Rows::new(&values, n_features, 1), &mut scores, &mut Scratch::default());
    assert_eq!(scores[0].to_bits(), model.score(&values).to_bits());
}

/// A model of another program: if it can be read, it can be scored and saved as ours.
fn imported(input: &[u8]) -> bool {
    let read = import(input);
    if let Ok(model) = &read {
        scores_alike(model);
        // Another target reads native files, and it would take as long again.
        if input.len() < LARGE_BYTES {
            assert_eq!(Model::from_json(model.to_json().as_bytes()).as_ref(), Ok(model));
        }
    }
    is_read(&read)
}

/// Most inputs get a valid checksum; otherwise none would be accepted.
fn checkpoint(input: &[u8]) -> bool {
    let mut bytes = input.to_vec();
    if let Some(end) = bytes.len().checked_sub(size_of::<u64>())
        && !bytes.len().is_multiple_of(8)
    {
        let checksum = xxh3_64(&bytes[..end]);
        bytes[end..].copy_from_slice(&checksum.to_le_bytes());
    }
    let Ok(checkpoint) = Checkpoint::read(&bytes) else { return false };
    let job = &*seeds::JOB;
    let valid = job.valid();
    Training::new(&job.params, &job.data).valid(&valid).from_checkpoint(checkpoint).run(&mut Silent).is_ok()
}
