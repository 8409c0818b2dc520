//! What can be typed after the commands that make a model of a model.

use std::path::PathBuf;

use clap::Args;

use crate::data_args::DataArgs;

/// Give a model new leaf values from other data; its splits stay.
#[derive(Debug, Args)]
pub(crate) struct Refit {
    /// The model, ours or another program's.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Documents with labels; - is standard input.
    #[arg(value_name = "DATA")]
    pub(crate) data: PathBuf,
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
