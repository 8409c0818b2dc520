//! The command-line arguments.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rankwise::data::Absent;
use rankwise::data::synth::{MAX_FEATURES, MAX_ROWS, Preset};
use rankwise::help;
use rankwise::params::ParamValue;

use crate::auto_args::Auto;
use crate::blend_args::Blend;
use crate::checkpoint::Schedule;
use crate::compare_args::Compare;
use crate::convert_args::Convert;
use crate::cv_args::Cv;
use crate::data_args::{DataArgs, DataTarget, RulesArgs};
use crate::data_paths::ValidArgs;
use crate::explain_args::Explain;
use crate::param_args::ParamArgs;
use crate::refit_prune_args::{Prune, Refit};
use crate::report::ReportArgs;
use crate::trees_args::TreesArgs;
use crate::tune_args::Tune;

/// More than any machine has cores.
const MAX_THREADS: u16 = 1024;

/// Learning to rank: train, evaluate, compare and score ranking models.
#[derive(Debug, Parser)]
#[command(name = "rankwise", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Global {
    /// Print the result as one JSON object on stdout, and errors as one on stderr; docs/json.md describes them.
    #[arg(long, global = true, display_order = 900)]
    pub(crate) json: bool,
    /// Number of threads, at most one per core [default: one per core]. The result does not depend on it.
    #[arg(long, global = true, display_order = 901, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<u16>,
    /// Random seed [default: 0].
    #[arg(long, global = true, display_order = 902, value_name = "S", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Print only results and errors: no progress, notes, warnings or summaries.
    #[arg(long, global = true, display_order = 903)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    Synth(Synth),
    Inspect(Inspect),
    Auto(Box<Auto>),
    Train(Box<Train>),
    Cv(Box<Cv>),
    Tune(Box<Tune>),
    Predict(Predict),
    Eval(Box<Eval>),
    Compare(Box<Compare>),
    Explain(Box<Explain>),
    Blend(Box<Blend>),
    Refit(Box<Refit>),
    Prune(Box<Prune>),
    Convert(Box<Convert>),
    ConvertData(ConvertData),
    Completions(Completions),
    Man(ManPages),
}

/// Generate data, train two rankers and compare them, in under a minute.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for the data, the models and the report.
    #[arg(long, value_name = "DIR", default_value = "rankwise-demo")]
    pub(crate) out: PathBuf,
}

/// Generate realistic synthetic data in LETOR format.
#[derive(Debug, Args)]
pub(crate) struct Synth {
    /// Number of documents.
    #[arg(long, value_name = "N", value_parser = rows)]
    pub(crate) rows: usize,
    /// Number of features [default: depends on the preset].
    #[arg(long, value_name = "F", value_parser = features)]
    pub(crate) features: Option<usize>,
    /// Kind of data: web (136 features, about 120 documents per query), long (60 features, about 2,500 documents per query, 0.2
    /// % of them relevant) or wide (2,000 features, most values missing).
    #[arg(long, value_name = "PRESET", default_value = "web", value_parser = preset)]
    pub(crate) preset: Preset,
    /// Split the queries into train.txt, vali.txt and test.txt in the folder PATH, by these fractions, such as 0.6,0.2,0.2.
    /// Queries are drawn at random; each file gets at least one.
    #[arg(long, value_name = "SHARES")]
    pub(crate) split: Option<String>,
    /// Output file, or output folder with --split. Files whose names end in .gz or .zst are compressed.
    #[arg(long, value_name = "PATH")]
    pub(crate) out: PathBuf,
}

/// Summarise a dataset or a model.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// A model, or a dataset: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Show the distribution of each feature, how well it agrees with the labels, and what could leak them.
    #[arg(long)]
    pub(crate) features: bool,
    /// Compare with other data, such as that of last month or the training data: which features drifted, and which queries both have.
    #[arg(long, value_name = "OTHER")]
    pub(crate) against: Option<PathBuf>,
    /// Number of features in the text.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = crate::explain_args::top)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Train a model.
#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Training data: LETOR, CSV or TSV, optionally compressed with gzip or zstd, or Parquet; - is standard input. Several
    /// files, folders and quoted patterns ('part-*.csv') are read as one dataset.
    #[arg(value_name = "DATA", required_unless_present_any = ["help_params", "valid"])]
    pub(crate) data: Vec<PathBuf>,
    /// Model file to write.
    #[arg(long, value_name = "MODEL", required_unless_present = "help_params")]
    pub(crate) out: Option<PathBuf>,
    /// Start model, of Rankwise or another program: training continues from its scores, and its trees come first in the new
    /// model. Features are matched to those of the start model.
    #[arg(long, value_name = "MODEL")]
    pub(crate) init_model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    #[command(flatten)]
    pub(crate) params: ParamArgs,
    /// Pairs to learn from, for the objectives ranknet and hinge. Each line has the row numbers of the better and the worse
    /// document, counted from 0, then optionally a weight of at least 0 and a probability from 0 to 1. Without this option, DATA.pairs
    /// is read if it exists; giving both is an error.
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// Folder for checkpoints, so that an interrupted run can be resumed; created if missing. The last checkpoint is kept when
    /// training ends.
    #[arg(long, value_name = "DIR")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// How often to save a checkpoint: after a number of trees (50), of seconds (30s), or whichever comes first (50,30s)
    /// [default: 10s]
    #[arg(long, value_name = "WHEN", requires = "checkpoint", value_parser = Schedule::parse)]
    pub(crate) checkpoint_every: Option<Schedule>,
    /// Resume from the newest checkpoint in the folder, or start from scratch if there is none. Data and parameters must be
    /// unchanged, except that num_trees may be larger.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    /// Write the validation metrics of each round to a CSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    /// Trace a training query, given by its id: write the ranks of its documents after each tree, as a table (TSV) and a
    /// picture (SVG). Can be repeated.
    #[arg(long, value_name = "QUERY")]
    pub(crate) trace: Vec<String>,
    /// Folder for the files of --trace [default: the folder of MODEL].
    #[arg(long, value_name = "DIR", requires = "trace")]
    pub(crate) trace_out: Option<PathBuf>,
    /// List all parameters with defaults, ranges and aliases; with NAME, only that parameter, or those that mention the word.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub(crate) help_params: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Score documents: one score per input row, in input order.
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// Model file.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Documents to score; - is standard input. Several files, folders and quoted patterns are scored in sequence.
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Output file [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Output format.
    #[arg(long, value_enum, default_value = "scores")]
    pub(crate) format: PredictFormat,
    /// Name of the system, in the last column of a run [default: the model's file name without extension].
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictFormat {
    /// One score per line.
    Scores,
    /// Query id, document id and score, with a header line.
    Tsv,
    /// TREC run: the documents of each query from best to worst.
    Run,
}

/// Evaluate models, single features, a score file or a TREC run.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("system"))]
#[command(group = clap::ArgGroup::new("systems").required(true).multiple(true))]
pub(crate) struct Eval {
    /// Labelled documents: files, folders or quoted patterns; - is standard input. Not needed for a run with --qrels.
    #[arg(value_name = "DATA", required_unless_present_any = ["qrels", "run"], conflicts_with = "qrels")]
    pub(crate) data: Vec<PathBuf>,
    /// Model to evaluate. Can be repeated; the result is then a table.
    #[arg(long, value_name = "FILE", groups = ["system", "systems"])]
    pub(crate) model: Vec<PathBuf>,
    /// Feature to evaluate as a ranker, by id or column name. Documents with larger values rank higher, those without a value
    /// last. Can be repeated and combined with --model.
    #[arg(long, value_name = "FEATURE", group = "systems", conflicts_with_all = ["scores", "run"])]
    pub(crate) feature: Vec<String>,
    /// Score file to evaluate, with one score per row of DATA.
    #[arg(long, value_name = "FILE", groups = ["system", "systems"])]
    pub(crate) scores: Option<PathBuf>,
    /// TREC run to evaluate, with lines `query Q0 document rank score tag`.
    #[arg(long, value_name = "FILE", groups = ["system", "systems"])]
    pub(crate) run: Option<PathBuf>,
    /// TREC judgements (qrels) for the run, with lines `query 0 document grade`.
    #[arg(long, value_name = "FILE", requires = "run")]
    pub(crate) qrels: Option<PathBuf>,
    #[arg(long, value_name = "LIST", default_value = "ndcg@10", help = help::metric_option())]
    pub(crate) metric: String,
    /// Write the metrics of each query to a TSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) per_query: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Convert a dataset to another format.
#[derive(Debug, Args)]
pub(crate) struct ConvertData {
    /// Input data: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "IN", required = true, num_args = 1..)]
    pub(crate) input: Vec<PathBuf>,
    /// Output file. Its extension selects the format: .txt (LETOR), .csv, .tsv, .parquet, or .rwcache for a cache of binned
    /// data, which `train` reads instead of the data. A further .gz or .zst compresses text formats.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Output format, regardless of the extension of OUT.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) to: Option<DataTarget>,
    /// Binning parameter of a cache: max_bin or bin_construct_sample_cnt. Training must use the same values. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// How features that are absent from a LETOR line are treated, in IN and in OUT: missing or zero.
    #[arg(long, value_name = "MEANING", default_value = "missing", value_parser = absent)]
    pub(crate) absent: Absent,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Print a shell completion script.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell. For bash: rankwise completions bash > ~/.local/share/bash-completion/completions/rankwise
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Write man pages, one for the program and one for each command.
#[derive(Debug, Args)]
pub(crate) struct ManPages {
    /// Folder to write to; created if missing.
    #[arg(long, value_name = "DIR", default_value = "man")]
    pub(crate) out: PathBuf,
}

fn preset(typed: &str) -> Result<Preset, String> {
    Preset::parse(typed).ok_or_else(|| format!("expected {}", Preset::kind()))
}

fn absent(typed: &str) -> Result<Absent, String> {
    Absent::parse(typed).ok_or_else(|| format!("expected {}", Absent::kind()))
}

/// An integer within limits, which an error names.
pub(crate) fn integer<T: FromStr + PartialOrd + Display>(typed: &str, limits: &RangeInclusive<T>) -> Result<T, String> {
    let number = typed.parse().ok().filter(|number| limits.contains(number));
    number.ok_or_else(|| format!("expected an integer from {} to {}", limits.start(), limits.end()))
}

fn threads(typed: &str) -> Result<u16, String> {
    integer(typed, &(1..=MAX_THREADS))
}

fn seed(typed: &str) -> Result<u64, String> {
    integer(typed, &(0..=u64::MAX))
}

/// A whole number of at least 1.
pub(crate) fn positive(typed: &str) -> Result<usize, String> {
    typed.parse().ok().filter(|number| *number > 0).ok_or_else(|| "expected an integer of at least 1".into())
}

fn rows(typed: &str) -> Result<usize, String> {
    integer(typed, &(1..=MAX_ROWS))
}

fn features(typed: &str) -> Result<usize, String> {
    integer(typed, &(1..=MAX_FEATURES))
}
