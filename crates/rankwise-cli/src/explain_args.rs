//! The arguments of `rankwise explain`.

use std::path::PathBuf;

use clap::Args;

use crate::data_args::{DataArgs, RulesArgs};
use crate::report::ReportArgs;
use crate::trees_args::TreesArgs;

/// Show what a model relies on, and why it ranks documents as it does.
///
/// Without DATA: how often trees split on each feature, and the gains. With DATA: what the metric loses if a feature's values are
/// exchanged at random, and mean absolute SHAP values. With --query: SHAP values of each document of a query.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Model file, of Rankwise, LightGBM, XGBoost, CatBoost or RankLib.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Documents to explain: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "DATA")]
    pub(crate) data: Vec<PathBuf>,
    /// Explain the documents of this query.
    #[arg(long, value_name = "QID", requires = "data")]
    pub(crate) query: Option<String>,
    /// Explain why document A of the query is above B, and find the smallest changes with which B would overtake A. A and B are document ids, or
    /// places in the ranking, such as 1,2.
    #[arg(long, value_name = "A,B", requires = "query")]
    pub(crate) why: Option<String>,
    /// Show how score and place follow this feature, given by id or name. Can be repeated.
    #[arg(long, value_name = "FEATURE", requires = "data")]
    pub(crate) feature: Vec<String>,
    /// Show which pairs of features interact: what both add to a score together, beyond what each adds without the other.
    #[arg(long, requires = "data")]
    pub(crate) interactions: bool,
    /// Write the SHAP values of all documents to this tab-separated file, in input order.
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(crate) contributions: Option<PathBuf>,
    /// Metric of the permutation importance.
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub(crate) metric: String,
    /// How often the values of each feature are exchanged; 0 for no permutation importance, which needs labels.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) repeats: u32,
    /// Number of features, and of documents of a query, in the text.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = top)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// A number of rows of a table.
pub(crate) fn top(typed: &str) -> Result<usize, String> {
    typed.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected a number of at least 1, such as 10".into())
}
