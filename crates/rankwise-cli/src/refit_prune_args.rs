//! The arguments of `rankwise refit` and `rankwise prune`.

use std::path::PathBuf;

use clap::Args;

use crate::data_args::{DataArgs, RulesArgs};

/// Recompute the leaf values of a model on other data, keeping its splits.
#[derive(Debug, Args)]
pub(crate) struct Refit {
    /// Model of Rankwise or another program.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Labelled documents: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Model file to write.
    #[arg(long, value_name = "NEW")]
    pub(crate) out: PathBuf,
    /// Weight of the old leaf values, from 0 to 1: a leaf becomes SHARE * old + (1 - SHARE) * refitted.
    #[arg(long, value_name = "SHARE", default_value = "0.9", value_parser = decay)]
    pub(crate) decay: f64,
    /// Objective [default: the objective of the model]. Required for models of other programs.
    #[arg(long, value_name = "NAME")]
    pub(crate) objective: Option<String>,
    /// Override a training parameter of the model, such as learning_rate=0.05. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Remove trees that contribute little, for faster scoring, and reweight the others.
#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Model of Rankwise or another program.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Labelled documents to measure the metric on: a file, a folder or a quoted pattern; - is standard input.
    #[arg(long, value_name = "DATA")]
    pub(crate) valid: PathBuf,
    /// Largest allowed drop of the metric.
    #[arg(long, value_name = "LOSS", default_value = "0.001", value_parser = max_loss)]
    pub(crate) max_loss: f64,
    /// Metric to preserve, such as ndcg@10.
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub(crate) metric: String,
    /// Model file to write.
    #[arg(long, value_name = "NEW")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

fn decay(typed: &str) -> Result<f64, String> {
    let share = typed.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".into())
}

fn max_loss(typed: &str) -> Result<f64, String> {
    let loss = typed.parse().ok().filter(|loss| *loss >= 0.0);
    loss.ok_or_else(|| "expected a number of at least 0".into())
}
