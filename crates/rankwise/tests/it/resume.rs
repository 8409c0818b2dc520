//! A run that resumes from a checkpoint trains the same model, from whichever tree it resumes.

use rankwise::data::DatasetBuilder;
use rankwise::prelude::*;
use rankwise::train::{Checkpoint, CheckpointError, Flow, Observer, Pass, Progress, StopReason, TrainError, Training};
use rankwise::{CheckpointFolder, CheckpointFolderError};

use crate::{Doc, dataset, params, web_docs};

type Settings<'a> = &'a [(&'a str, &'a str)];

/// Every kind of state that a run carries from tree to tree. With the sixth, most trees have no split.
const SETTINGS: [Settings<'static>; 17] = [
    &[("num_leaves", "15")],
    &[("bagging_fraction", "0.6"), ("bagging_freq", "3"), ("feature_fraction", "0.5")],
    &[("sample", "query-bagging"), ("bagging_fraction", "0.5"), ("bagging_freq", "2"), ("objective", "rmse")],
    &[("early_stopping_rounds", "4"), ("learning_rate", "0.7"), ("metric", "ndcg@5,dcg@3"), ("ties", "random")],
    &[("grow", "oblivious"), ("feature_fraction_bynode", "0.5"), ("structure", "gradient"), ("ties", "input")],
    &[("bagging_fraction", "0.4"), ("bagging_freq", "1"), ("min_gain_to_split", "1.5"), ("feature_fraction", "0.1")],
    &[("objective", "multiclass"), ("bagging_fraction", "0.6"), ("bagging_freq", "3"), ("min_gain_to_split", "2")],
    &[("objective", "listmle"), ("feature_fraction", "0.5")],
    &[("langevin", "true"), ("objective", "stochasticrank"), ("target", "mrr"), ("diffusion_temperature", "1e9")],
    &[("sample", "high-low"), ("sample_every", "5"), ("p_high", "30")],
    &[("sample", "goss"), ("learning_rate", "0.2")],
    &[("sample", "mvs"), ("bagging_fraction", "0.5"), ("leaf_estimation", "gradient")],
    &[("sample", "negatives"), ("sample_every", "5")],
    &[("sample", "inliers"), ("outlier_trees", "6")],
    &[("learner", "dart"), ("drop_rate", "0.5"), ("skip_drop", "0.2"), ("early_stopping_rounds", "6")],
    &[("learner", "dart"), ("xgboost_dart_mode", "true"), ("uniform_drop", "true"), ("objective", "multiclass")],
    &[("learner", "random-forest"), ("bagging_fraction", "0.6"), ("bagging_freq", "1"), ("min_gain_to_split", "1.5")],
];

/// Learners that are not boosting, with each way of learning that has a state of its own.
pub(crate) const LEARNERS: [Settings<'static>; 12] = [
    &[("learner", "linear")],
    &[("learner", "linear"), ("objective", "lambdamart"), ("scaling", "query"), ("early_stopping_rounds", "3")],
    &[("learner", "ranksvm"), ("log1p", "true")],
    &[("learner", "ranksvm"), ("svm_loss", "hinge"), ("scaling", "none")],
    &[("learner", "adarank"), ("target", "map")],
    &[("learner", "coordinate-ascent"), ("restarts", "2"), ("tolerance", "0.01")],
    &[("learner", "adaboost")],
    &[("learner", "adaboost"), ("weak_learner", "tree"), ("impurity", "entropy")],
    &[("learner", "rankboost")],
    &[("learner", "rankboost"), ("weak_ranker", "search")],
    &[("learner", "neural"), ("epochs", "6"), ("hidden", "8"), ("heads", "2"), ("batch_queries", "2")],
    &[("learner", "neural"), ("epochs", "6"), ("hidden", "8"), ("network", "mlp"), ("norm", "batch")],
];

/// Keeps the checkpoint of every tree, and can stop.
#[derive(Default)]
struct Keeper {
    checkpoints: Vec<Vec<u8>>,
    is_last: Vec<bool>,
    stop_after: Option<usize>,
}

impl Observer for Keeper {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        if progress.pass == Pass::Outliers {
            return Flow::Continue;
        }
        self.checkpoints.extend(progress.checkpoint());
        self.is_last.push(progress.is_last);
        if self.stop_after == Some(progress.round) { Flow::Stop } else { Flow::Continue }
    }
}

/// With weights for some queries, which the fingerprint also covers.
fn weighted(docs: &[Doc]) -> Dataset {
    let n_queries = dataset(docs).n_queries();
    let mut builder = DatasetBuilder::default();
    for doc in docs {
        let row = Row { qid: &doc.qid, label: doc.label, doc_id: &doc.doc_id, features: &doc.features };
        builder.push(&row).unwrap();
    }
    builder.query_weights((0..n_queries).map(|query| 1.0 + (query % 3) as f32).collect());
    builder.finish().unwrap()
}

struct Job {
    train: Dataset,
    valid: Dataset,
}

impl Job {
    fn new() -> Self {
        Self { train: weighted(&web_docs(600, 12, 1)), valid: dataset(&web_docs(300, 12, 2)) }
    }

    fn params(settings: Settings<'_>, num_trees: &str) -> TrainParams {
        let common = [("num_trees", num_trees), ("min_data_in_leaf", "5")];
        params(&[&common, settings].concat())
    }

    fn valid(&self) -> [ValidSet<'_>; 1] {
        [ValidSet { name: "valid", data: &self.valid }]
    }

    fn train(&self, params: &TrainParams, keeper: &mut Keeper) -> Trained {
        train(params, &self.train, &self.valid(), keeper).unwrap()
    }

    fn resume(&self, bytes: &[u8], params: &TrainParams, threads: usize) -> Result<Trained, TrainError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let checkpoint = Checkpoint::read(bytes).unwrap();
            let training = Training::new(params, &self.train).from_checkpoint(checkpoint);
            training.valid(&self.valid()).run(&mut Keeper::default())
        })
    }
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

#[test]
fn every_tree_is_a_place_to_go_on_from() {
    let job = Job::new();
    for settings in SETTINGS.into_iter().chain(LEARNERS) {
        let params = Job::params(settings, "12");
        let mut keeper = Keeper::default();
        let whole = job.train(&params, &mut keeper);
        let n_last = keeper.is_last.iter().filter(|is_last| **is_last).count();
        // A learner notices only in the round after its last one that nothing is left to learn.
        if whole.stopped != StopReason::NothingToLearn || params.boosting().learner.is_boosting() {
            assert_eq!((n_last, keeper.is_last.last()), (1, Some(&true)), "{settings:?}");
        }
        assert!(keeper.checkpoints.len() > 1, "{settings:?}");
        for (idx, bytes) in keeper.checkpoints.iter().enumerate() {
            let resumed = job.resume(bytes, &params, 1 + idx % 3).unwrap();
            assert_eq!(resumed.model.to_json(), whole.model.to_json(), "{settings:?} from tree {}", idx + 1);
            assert_eq!(bits(&resumed.train_scores_canonical), bits(&whole.train_scores_canonical));
            assert_eq!((resumed.stopped, resumed.trees_grown), (whole.stopped, whole.trees_grown));
            assert_eq!(resumed.values, whole.values);
        }
    }
}

#[test]
fn the_settings_reach_what_they_are_for() {
    let job = Job::new();
    let ends = |settings| job.train(&Job::params(settings, "12"), &mut Keeper::default());
    assert_eq!(ends(SETTINGS[3]).stopped, StopReason::EarlyStopping);
    let sparse = ends(SETTINGS[5]);
    assert!(sparse.stopped == StopReason::Finished && (1..12).contains(&sparse.trees_grown), "{}", sparse.trees_grown);
}

#[test]
fn more_trees_and_another_engine_may_be_asked_for() {
    let job = Job::new();
    let settings = SETTINGS[1];
    let mut keeper = Keeper { stop_after: Some(5), ..Keeper::default() };
    let first = job.train(&Job::params(settings, "8"), &mut keeper);
    assert_eq!(first.stopped, StopReason::Interrupted);
    let more = Job::params(&[settings, &[("engine", "plain"), ("histogram_pool_mb", "64")]].concat(), "14");
    let resumed = job.resume(&keeper.checkpoints[4], &more, 2).unwrap();
    let whole = job.train(&Job::params(settings, "14"), &mut Keeper::default());
    assert_eq!(resumed.model.to_json(), whole.model.to_json());

    let error = job.resume(&keeper.checkpoints[4], &Job::params(settings, "4"), 1).unwrap_err();
    assert_eq!(error, CheckpointError::TooFar { trees: 5, num_trees: 4 }.into());
}

#[test]
fn what_differs_is_named() {
    let mut job = Job::new();
    let mut keeper = Keeper::default();
    let params = Job::params(&[("ties", "input")], "3");
    job.train(&params, &mut keeper);
    let bytes = &keeper.checkpoints[1];
    let said = |job: &Job, params: &TrainParams| job.resume(bytes, params, 1).unwrap_err().to_string();

    let others = Job::params(&[("ties", "input"), ("num_leaves", "7"), ("seed", "3")], "3");
    let text = said(&job, &others);
    assert!(text.contains("seed is 3, was 0, num_leaves is 7, was auto"), "{text}");

    job.valid = dataset(&web_docs(300, 12, 3));
    let text = said(&job, &params);
    assert!(text.contains("other data in validation set 1"), "{text}");
    let mut docs = web_docs(300, 12, 2);
    docs.reverse();
    job.valid = dataset(&docs);
    let text = said(&job, &params);
    assert!(text.contains("are in another order, which matters with ties=input"), "{text}");
    job.train = dataset(&web_docs(600, 12, 1));
    let text = said(&job, &params);
    assert!(text.contains("other training data: same number of documents"), "other weights: {text}");
    job.train = dataset(&web_docs(590, 12, 1));
    let text = said(&job, &params);
    assert!(
        text.contains("other training data: 590 documents of ") && text.contains(" queries now, 600 of "),
        "{text}"
    );
}

#[test]
fn the_order_of_rows_does_not_matter_elsewhere() {
    let mut job = Job::new();
    let mut keeper = Keeper::default();
    let params = Job::params(SETTINGS[0], "6");
    let whole = job.train(&params, &mut keeper);
    let mut docs = web_docs(300, 12, 2);
    docs.reverse();
    job.valid = dataset(&docs);
    let resumed = job.resume(&keeper.checkpoints[2], &params, 1).unwrap();
    assert_eq!(resumed.model.to_json(), whole.model.to_json());
}

#[test]
fn a_folder_keeps_two_and_falls_back_on_the_older() {
    let job = Job::new();
    let mut keeper = Keeper::default();
    job.train(&Job::params(SETTINGS[0], "4"), &mut keeper);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    let names = || {
        let mut names: Vec<String> =
            std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let [third, fourth] = ["tree-0000003.checkpoint", "tree-0000004.checkpoint"];
    {
        let mut folder = CheckpointFolder::open(&path).unwrap();
        assert!(folder.is_empty().unwrap() && folder.newest().unwrap().is_none());
        for (idx, bytes) in keeper.checkpoints.iter().enumerate() {
            folder.save(idx + 1, bytes).unwrap();
        }
        let busy = CheckpointFolder::open(&path).unwrap_err();
        assert!(matches!(busy, CheckpointFolderError::InUse { .. }), "{busy}");
    }
    assert_eq!(names(), [third, fourth]);

    // As left by a process that was killed while saving.
    std::fs::write(path.join(".tree-0000005.checkpoint.17.0.tmp"), "half").unwrap();
    std::fs::write(path.join(fourth), &keeper.checkpoints[3][..100]).unwrap();
    let mut folder = CheckpointFolder::open(&path).unwrap();
    assert_eq!(names(), [third, fourth]);
    let found = folder.newest().unwrap().unwrap();
    assert_eq!((found.checkpoint.tree(), found.damaged), (3, vec![path.join(fourth)]));
    // The damaged one is removed; the one that was read stays.
    folder.save(5, &keeper.checkpoints[3]).unwrap();
    assert_eq!(names(), [third, "tree-0000005.checkpoint"]);

    for name in names() {
        std::fs::write(path.join(name), "").unwrap();
    }
    let error = folder.newest().unwrap_err().to_string();
    assert!(error.contains("all checkpoints are damaged (the newest, tree-0000005.checkpoint: "), "{error}");
    assert!(!folder.is_empty().unwrap());
}

#[test]
fn a_folder_that_stays_empty_is_removed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    drop(CheckpointFolder::open(&path).unwrap());
    assert!(!path.exists());
    std::fs::create_dir(&path).unwrap();
    drop(CheckpointFolder::open(&path).unwrap());
    assert!(path.exists(), "the user's own");
}
