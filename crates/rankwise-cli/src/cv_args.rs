//! The arguments of `rankwise cv`.

use std::path::PathBuf;

use clap::Args;

use crate::args::positive;
use crate::data_args::{DataArgs, RulesArgs};
use crate::param_args::ParamArgs;

/// Cross-validate: train without each fold of the queries, and measure on that fold.
#[derive(Debug, Args)]
pub(crate) struct Cv {
    /// Labelled documents: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Number of folds [default: 5]. Queries are assigned at random, by --seed; a query is never split.
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "letor")]
    pub(crate) folds: Option<usize>,
    /// Use the fold before the measured one for validation: it selects the best iteration and allows early stopping.
    #[arg(long)]
    pub(crate) rotate: bool,
    /// Take each file of DATA as a fold, in the given order, and rotate as LETOR does: with S1 to S5, Fold1 trains on S1, S2
    /// and S3, validates on S4 and measures on S5. Includes --rotate.
    #[arg(long)]
    pub(crate) letor: bool,
    /// Parameters to try, separated by spaces, on top of --config and --set, such as 'grow=oblivious num_leaves=64'. Can be
    /// repeated; the results are then compared. '' stands for no further parameters.
    #[arg(long = "try", value_name = "SETTINGS")]
    pub(crate) tries: Vec<String>,
    /// Write the score of each document by the model that was trained without its fold, one per row of DATA. With
    /// several --try, the scores of the first.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write the learning curve to a CSV file: the mean of the first metric over the measured folds, after each round.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Write the metrics of each query to a TSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) per_query: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) params: ParamArgs,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}
