//! Rankwise: learning to rank, from a file to a model and back to a ranking.
//!
//! This crate is the front door: it re-exports the parts and adds what needs several of them.
//!
//! ```
//! use rankwise::prelude::*;
//!
//! // Two queries; feature 1 tells which document is relevant.
//! let mut builder = DatasetBuilder::default();
//! for (qid, label, value) in [("a", 1.0, 0.9), ("a", 0.0, 0.1), ("b", 0.0, 0.2), ("b", 2.0, 0.7)] {
//!     builder.push(&Row { qid, label, doc_id: "", features: &[(1, value)] })?;
//! }
//! let data = builder.finish()?;
//!
//! let mut spec = TrainSpec::default();
//! spec.set("num_trees", "10")?;
//! spec.set("min_data_in_leaf", "1")?;
//! let trained = train(&spec.check()?, &data, &[], &mut Silent)?;
//!
//! let scores = predict(&trained.model, &data);
//! let metrics = [MetricName::parse("ndcg@10").unwrap()];
//! let evaluation = Evaluator::new(&data, &metrics, &Rules::default())?.evaluate(&scores)?;
//! assert_eq!(evaluation.metrics[0].mean, Some(1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod baseline;
mod blend;
mod check_export;
mod checkpoints;
pub mod config;
pub mod help;
mod judge;
mod predict;
mod trace;

pub use baseline::{BestFeature, best_feature};
pub use blend::{Blend, BlendError, blend, blend_canonical};
pub use check_export::{CheckExportError, ExportAgreement, ExportDifference, check_export};
pub use checkpoints::{CheckpointFolder, CheckpointFolderError, FoundCheckpoint};
pub use judge::{JudgeError, JudgedRun, judge_run, judge_run_by_data};
pub use predict::{predict, predict_canonical};
pub use rankwise_data as data;
pub use rankwise_eval as eval;
pub use rankwise_formats as formats;
pub use rankwise_io as io;
pub use rankwise_metrics as metrics;
pub use rankwise_model as model;
pub use rankwise_objectives as objectives;
pub use rankwise_params as params;
pub use rankwise_score as score;
pub use rankwise_train as train;
pub use rankwise_trees as trees;
pub use trace::Trace;

/// What most programs need.
pub mod prelude {
    pub use rankwise_data::{Dataset, DatasetBuilder, Row};
    pub use rankwise_metrics::{Evaluation, Evaluator, MetricName, Rules};
    pub use rankwise_model::Model;
    pub use rankwise_params::ParamValue;
    pub use rankwise_train::{Silent, TrainParams, TrainSpec, Trained, ValidSet, train};

    pub use crate::predict;
}
