//! What can be typed after `rankwise blend`.

use std::path::PathBuf;

use clap::Args;

use crate::data_args::{DataArgs, RulesArgs};

/// Find the best linear mix of two rankers, exactly.
#[derive(Debug, Args)]
pub(crate) struct Blend {
    /// A model, or scores with one line per row of DATA.
    #[arg(value_name = "A")]
    pub(crate) first: PathBuf,
    /// Another.
    #[arg(value_name = "B")]
    pub(crate) second: PathBuf,
    /// Documents with labels: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// What the mix is to be best at: ndcg, dcg, map, mrr, err, p, recall, hits, pfound or rbp, with or without @k.
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub(crate) metric: String,
    /// Where to write the scores of the mix, one per row of DATA.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}
