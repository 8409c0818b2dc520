//! The arguments of `rankwise convert`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueHint};
use rankwise::formats::Target;

use crate::data_args::DataArgs;
use crate::trees_args::TreesArgs;

/// Convert a model to another program's format.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// Model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Output format: lightgbm (text), xgboost (JSON), onnx, ranklib (XML), solr (JSON for the model store), xgboost-dump (JSON
    /// for the plugins of Elasticsearch and OpenSearch), or c (C99 source). Linear models: solr, or linear (JSON for the
    /// plugins of Elasticsearch and OpenSearch).
    #[arg(long, value_name = "FORMAT", hide_possible_values = true, value_parser = PossibleValuesParser::new(Target::NAMES).try_map(target))]
    pub(crate) to: Target,
    /// Output file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: PathBuf,
    /// Check the export on this data (a file, folder or quoted pattern; - is standard input): score it with the model and, as
    /// the other program would, with the exported model. If scores differ, nothing is written.
    #[arg(long, value_name = "DATA")]
    pub(crate) check: Option<PathBuf>,
    /// Allow leaf values and thresholds to be rounded to the precision of the other program. By default this is an error.
    #[arg(long)]
    pub(crate) allow_rounding: bool,
    /// Treat missing values as 0 for programs that do not support them (ranklib, solr, xgboost-dump, linear). By default, a model that
    /// treats them differently is an error.
    #[arg(long)]
    pub(crate) missing_as_zero: bool,
    /// Number of feature columns of the data, for lightgbm, xgboost, onnx and c: some of these programs accept only data with
    /// exactly this many [default: up to the last feature that the trees use].
    #[arg(long, value_name = "N", value_parser = columns)]
    pub(crate) columns: Option<u32>,
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

fn columns(typed: &str) -> Result<u32, String> {
    typed.parse().map_err(|_| "expected an integer of at least 1, such as 136".into())
}

fn target(typed: String) -> Result<Target, String> {
    Target::parse(&typed).ok_or(typed)
}
