//! Rankwise: learning to rank, from data files to models and rankings.
//!
//! ```standalone_crate
//! use rankwise::prelude::*;
//!
//! fn main() -> Result<(), rankwise::Error> {
//! #   let folder = tempfile::tempdir().unwrap();
//! #   std::env::set_current_dir(folder.path()).unwrap();
//! #   for (seed, name) in (1..).zip(["train.txt", "vali.txt", "test.txt"]) {
//! #       use rankwise::data::synth::{Preset, SynthSpec};
//! #       let data = SynthSpec { preset: Preset::Web, rows: 2000, features: Some(20), seed }.check()?.dataset();
//! #       rankwise::io::write_dataset(&data, name.as_ref(), rankwise::io::Format::Letor)?;
//! #   }
//!     let data = Dataset::read("train.txt")?;
//!     let (valid, test) = (Dataset::read("vali.txt")?, Dataset::read("test.txt")?);
//!     let params = TrainSpec::default().num_leaves(15).learning_rate(0.1).early_stopping_rounds(10).check()?;
//!     let valid_sets = [ValidSet { name: "vali", data: &valid }];
//!     let trained = train(&params, &data, &valid_sets, &mut Silent)?;
//!     println!("{}", evaluate(&test, &predict(&trained.model, &test), "ndcg@10,map")?);
//!     trained.model.save("model.json")?;
//!     let model = Model::load("model.json")?;
//!     for (row, score) in predict(&model, &Dataset::read_for("test.txt", &model)?).iter().enumerate() {
//!         println!("row {row}: {score}");
//!     }
//! #   let scores = predict(&model, &test);
//! #   assert_eq!(scores, predict(&trained.model, &test));
//! #   let upside_down: Vec<f64> = scores.iter().map(|score| -score).collect();
//! #   let ndcg = |scores: &[f64]| evaluate(&test, scores, "ndcg@10").unwrap().mean("ndcg@10").unwrap();
//! #   assert!(ndcg(&scores) > 2.0 * ndcg(&upside_down), "{} {}", ndcg(&scores), ndcg(&upside_down));
//!     Ok(())
//! }
//! ```
//!
//! This crate re-exports all parts and adds functions that need several of them. The [`prelude`] has what most programs
//! need:
//!
//! * data: [`Dataset::read`](DatasetFile::read) and the readers in [`io`], or values in memory with
//!   [`Dataset::from_dense`](data::Dataset::from_dense) and its siblings;
//! * parameters: [`TrainSpec`](train::TrainSpec), set by methods, fields or text, and its `check`;
//! * training: [`train`](train::train), or [`Training`](train::Training) with more options; a closure can observe and
//!   stop it ([`Observer`](train::Observer));
//! * models: [`Model::load`](ModelFile::load) and [`Model::save`](ModelFile::save); [`predict`] scores a dataset, and a
//!   [`Scorer`](score::Scorer) scores other documents;
//! * evaluation: [`evaluate()`] and [`compare()`], and [`Evaluator`](metrics::Evaluator) with custom metrics.
//!
//! Scores are in input order, like the documents, unless a name says `canonical`. Each part has its own error type;
//! [`Error`] wraps them all. `examples/` has complete programs.
#![forbid(unsafe_code)]

mod baseline;
mod blend;
mod check_export;
mod checkpoints;
pub mod config;
mod error;
mod feature_match;
mod files;
pub mod help;
mod judge;
mod measure;
mod trace;

pub use baseline::{BestFeature, best_feature};
pub use blend::{Blend, BlendError, blend, blend_canonical};
pub use check_export::{CheckExportError, ExportAgreement, ExportDifference, check_export, check_network_export};
pub use checkpoints::{CheckpointFolder, CheckpointFolderError, FoundCheckpoint};
pub use error::{Error, column_names};
pub use feature_match::{FeatureRemark, ShiftRemedy, WantedFeatures, match_features, share_offset};
pub use files::{DatasetFile, ModelFile, is_named_by_lightgbm, keep_for};
pub use judge::{JudgeError, JudgedRun, judge_run, judge_run_by_data};
pub use measure::{Compared, compare, compare_runs, compare_with, evaluate, evaluate_run, evaluate_with};
pub use rankwise_data as data;
pub use rankwise_eval as eval;
pub use rankwise_eval::{predict, predict_canonical};
pub use rankwise_explain as explain;
pub use rankwise_formats as formats;
pub use rankwise_io as io;
pub use rankwise_metrics as metrics;
pub use rankwise_model as model;
pub use rankwise_objectives as objectives;
pub use rankwise_params as params;
pub use rankwise_score as score;
pub use rankwise_train as train;
pub use rankwise_trees as trees;
pub use rankwise_tune as tune;
pub use trace::Trace;

/// What most programs need.
pub mod prelude {
    pub use rankwise_data::{Absent, Dataset, DatasetBuilder, Row, SetBinning, SetReading};
    pub use rankwise_metrics::{Evaluation, Evaluator, MetricName, Rules, SetRules};
    pub use rankwise_model::Model;
    pub use rankwise_objectives::{ObjectiveKind, SetObjective};
    pub use rankwise_params::ParamValue;
    pub use rankwise_score::{Scorer, Scratch};
    pub use rankwise_train::{Flow, SetBoosting, Silent, TrainParams, TrainSpec, Trained, Training, ValidSet, train};
    pub use rankwise_trees::SetTrees;

    pub use crate::{DatasetFile, ModelFile, compare, evaluate, predict};
}

/// `cargo test --doc` compiles the Rust code in the documentation.
#[cfg(doctest)]
mod docs {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/SUMMARY.md")]
    mod summary {}
    #[doc = include_str!("../../../docs/boosters.md")]
    mod boosters {}
    #[doc = include_str!("../../../docs/boosting.md")]
    mod boosting {}
    #[doc = include_str!("../../../docs/checkpoints.md")]
    mod checkpoints {}
    #[doc = include_str!("../../../docs/choosing.md")]
    mod choosing {}
    #[doc = include_str!("../../../docs/compare.md")]
    mod compare {}
    #[doc = include_str!("../../../docs/data.md")]
    mod data {}
    #[doc = include_str!("../../../docs/export.md")]
    mod export {}
    #[doc = include_str!("../../../docs/first-ranker.md")]
    mod first_ranker {}
    #[doc = include_str!("../../../docs/import.md")]
    mod import {}
    #[doc = include_str!("../../../docs/json.md")]
    mod json {}
    #[doc = include_str!("../../../docs/lambdamart.md")]
    mod lambdamart {}
    #[doc = include_str!("../../../docs/listwise.md")]
    mod listwise {}
    #[doc = include_str!("../../../docs/metrics.md")]
    mod metrics {}
    #[doc = include_str!("../../../docs/model-file.md")]
    mod model_file {}
    #[doc = include_str!("../../../docs/linear.md")]
    mod linear {}
    #[doc = include_str!("../../../docs/neural.md")]
    mod neural {}
    #[doc = include_str!("../../../docs/numbers.md")]
    mod numbers {}
    #[doc = include_str!("../../../docs/objectives.md")]
    mod objectives {}
    #[doc = include_str!("../../../docs/one-answer.md")]
    mod one_answer {}
    #[doc = include_str!("../../../docs/own-data.md")]
    mod own_data {}
    #[doc = include_str!("../../../docs/pairwise.md")]
    mod pairwise {}
    #[doc = include_str!("../../../docs/papers.md")]
    mod papers {}
    #[doc = include_str!("../../../docs/parameters.md")]
    mod parameters {}
    #[doc = include_str!("../../../docs/pointwise.md")]
    mod pointwise {}
    #[doc = include_str!("../../../docs/python.md")]
    mod python {}
    #[doc = include_str!("../../../docs/report.md")]
    mod report {}
    #[doc = include_str!("../../../docs/rust.md")]
    mod rust {}
    #[doc = include_str!("../../../docs/sampling.md")]
    mod sampling {}
    #[doc = include_str!("../../../docs/scoring.md")]
    mod scoring {}
    #[doc = include_str!("../../../docs/speed.md")]
    mod speed {}
    #[doc = include_str!("../../../docs/stochasticrank.md")]
    mod stochasticrank {}
    #[doc = include_str!("../../../docs/auto.md")]
    mod auto {}
    #[doc = include_str!("../../../docs/cv.md")]
    mod cv {}
    #[doc = include_str!("../../../docs/explain.md")]
    mod explain {}
    #[doc = include_str!("../../../docs/tune.md")]
    mod tune {}
}
