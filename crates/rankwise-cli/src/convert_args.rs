//! What can be typed after `rankwise convert`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueHint};
use rankwise::formats::Target;

use crate::data_args::DataArgs;
use crate::trees_args::TreesArgs;

/// Write a model for another program.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The model: ours, or one of LightGBM, XGBoost, CatBoost or RankLib.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// What to write: lightgbm (text), xgboost (JSON), onnx, ranklib (XML), solr (JSON for its model store), xgboost-dump (JSON
    /// for the plugins of Elasticsearch and OpenSearch), or c (source in C99).
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, value_parser = PossibleValuesParser::new(Target::ALL.map(Target::name)).try_map(target))]
    pub(crate) to: Target,
    /// File to write.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// Data (a file, a folder or a quoted pattern) to score with the model and with what is to be written, as the other program would; if a score differs, nothing is
    /// written. - is standard input.
    #[arg(long, value_name = "DATA")]
    pub(crate) check: Option<PathBuf>,
    /// Let values and thresholds be rounded to what the other program can hold. Without it, this is refused.
    #[arg(long)]
    pub(crate) allow_rounding: bool,
    /// Let missing values count as 0 where the other program knows nothing else (ranklib, solr, xgboost-dump). Without it, models
    /// that send them elsewhere are refused.
    #[arg(long)]
    pub(crate) missing_as_zero: bool,
    /// How many columns the data has, for lightgbm, xgboost, onnx and c, some of which take no other number. By default up to
    /// the last feature that the trees ask for.
    #[arg(long, value_name = "N", value_parser = columns)]
    pub(crate) columns: Option<u32>,
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

fn columns(typed: &str) -> Result<u32, String> {
    typed.parse().map_err(|_| "give an integer, such as 136".into())
}

fn target(typed: String) -> Result<Target, String> {
    Target::parse(&typed).ok_or(typed)
}
