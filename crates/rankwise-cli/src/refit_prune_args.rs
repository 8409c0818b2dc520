//! What can be typed after the commands that make a model of a model.

use std::path::PathBuf;

use clap::Args;

use crate::data_args::{DataArgs, RulesArgs};

/// Give a model new leaf values from other data; its splits stay.
#[derive(Debug, Args)]
pub(crate) struct Refit {
    /// The model, ours or another program's.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Documents with labels: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write the new model.
    #[arg(long, value_name = "NEW")]
    pub(crate) out: PathBuf,
    /// The share of the old values, from 0 to 1; the rest is what the objective asks for on DATA.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9, allow_negative_numbers = true)]
    pub(crate) decay: f64,
    /// What to learn; by default what the model was trained for. Needed for another program's model.
    #[arg(long, value_name = "NAME")]
    pub(crate) objective: Option<String>,
    /// One parameter of training, such as learning_rate=0.05, where it is to differ from the model's; may be given several
    /// times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Drop trees that a model can do without, so that it scores faster; the others get new weights.
#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// The model, ours or another program's.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Documents with labels that decide how many trees are needed: a file, a folder or a quoted pattern; - is standard input.
    #[arg(long, value_name = "DATA")]
    pub(crate) valid: PathBuf,
    /// How much worse the metric may become.
    #[arg(long, value_name = "LOSS", default_value_t = 0.001, allow_negative_numbers = true)]
    pub(crate) max_loss: f64,
    /// What is to stay, such as ndcg@10.
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub(crate) metric: String,
    /// Where to write the new model.
    #[arg(long, value_name = "NEW")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}
