//! The arguments of `rankwise tune`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::positive;
use crate::data_args::{DataArgs, RulesArgs};
use crate::data_paths::ValidArgs;
use crate::param_args::ParamArgs;

/// Search for good parameters: train with many settings, and compare the best with the default.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// Training data: files, folders or quoted patterns; - is standard input. Without --valid, every fifth query is set aside
    /// for validation.
    #[arg(value_name = "DATA", required_unless_present = "valid")]
    pub(crate) data: Vec<PathBuf>,
    /// Model file to write: the model of the best trial, up to its best iteration.
    #[arg(long, value_name = "MODEL")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    /// Data on which the winner is compared with the default. Without it, half of the validation queries are kept for that.
    #[arg(long, value_name = "DATA", num_args = 1..)]
    pub(crate) test: Vec<PathBuf>,
    /// Number of trials.
    #[arg(long, value_name = "N", value_parser = positive, default_value = "50")]
    pub(crate) trials: usize,
    /// TOML file with the parameters to search, such as `learning_rate = { log = [0.01, 0.3] }`; docs/tune.md describes it. The
    /// default space has learning_rate, the size of trees and lambda_l2, or what the objective has instead.
    #[arg(long, value_name = "FILE")]
    pub(crate) space: Option<PathBuf>,
    /// How settings are chosen.
    #[arg(long, value_name = "SEARCH", value_enum, default_value = "tpe")]
    pub(crate) search: SearchKind,
    /// Stop a trial after a ninth and after a third of its trees if it is not among the best third at this point.
    #[arg(long)]
    pub(crate) halving: bool,
    /// Trials that may run at the same time: each learns from those that are at least this far before it. The result depends
    /// on this number, but not on --threads.
    #[arg(long, value_name = "N", value_parser = positive, default_value = "4")]
    pub(crate) parallel: usize,
    /// Write the winning parameters to a TOML file, for `train --config`.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_config: Option<PathBuf>,
    /// Folder for finished trials, so that an interrupted search can be resumed; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Use the trials that are already in the folder. Data and parameters must be unchanged; --trials may differ.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) params: ParamArgs,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchKind {
    /// Ten trials at random, then where earlier trials suggest good values (tree-structured Parzen estimator).
    Tpe,
    /// All trials at random.
    Random,
}
