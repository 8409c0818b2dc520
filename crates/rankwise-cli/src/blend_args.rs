//! The arguments of `rankwise blend`.

use std::path::PathBuf;

use clap::Args;

use crate::data_args::{DataArgs, RulesArgs};

/// Find the optimal linear combination of two rankers.
#[derive(Debug, Args)]
pub(crate) struct Blend {
    /// First model, or score file with one line per row of DATA.
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// Second model or score file.
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Labelled documents: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Metric to optimise: ndcg, dcg, map, mrr, err, p, recall, hits, pfound or rbp, with or without @k.
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub(crate) metric: String,
    /// Write the scores of the combination to this file, one per row of DATA.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}
