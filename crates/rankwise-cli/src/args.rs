//! What can be typed.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rankwise::data::Absent;
use rankwise::data::synth::Preset;
use rankwise::help;
use rankwise::params::{ParamValue, normalise};
use rankwise::train::TrainSpec;

use crate::blend_args::Blend;
use crate::checkpoint::Schedule;
use crate::compare_args::Compare;
use crate::convert_args::Convert;
use crate::data_args::{DataArgs, DataTarget, RulesArgs};
use crate::data_paths::ValidArgs;
use crate::refit_prune_args::{Prune, Refit};
use crate::trees_args::TreesArgs;

/// More threads than any machine has cores for.
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
    /// Print one JSON object instead of text, and errors as a JSON object on stderr; docs/json.md has the schemas.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Threads to use; by default, and at most, one for each core. The results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = threads, allow_negative_numbers = true)]
    pub(crate) threads: Option<u16>,
    /// Seed of every random draw.
    #[arg(long, global = true, value_name = "S", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Print results and errors only: no progress, no remarks, no summary of what was written.
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    Synth(Synth),
    Inspect(Inspect),
    Train(Box<Train>),
    Predict(Predict),
    Eval(Box<Eval>),
    Compare(Box<Compare>),
    Blend(Box<Blend>),
    Refit(Box<Refit>),
    Prune(Box<Prune>),
    Convert(Box<Convert>),
    ConvertData(ConvertData),
    Completions(Completions),
    Man(ManPages),
}

/// From nothing to a trained ranker in under a minute, on data that it generates.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for the data and the model.
    #[arg(long, value_name = "DIR", default_value = "rankwise-demo")]
    pub(crate) out: PathBuf,
}

/// Make realistic synthetic data, as LETOR text.
#[derive(Debug, Args)]
pub(crate) struct Synth {
    /// Number of documents.
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub(crate) rows: usize,
    /// Number of features; by default the preset's own.
    #[arg(long, value_name = "F", value_parser = count, allow_negative_numbers = true)]
    pub(crate) features: Option<usize>,
    /// Kind of data: web (136 features, about 120 documents a query), long (60 features, about 2,500 documents, two in a
    /// thousand relevant) or wide (2,000 features, most of them missing).
    #[arg(long, value_name = "PRESET", default_value = "web", value_parser = preset)]
    pub(crate) preset: Preset,
    /// Shares of the queries for train.txt, vali.txt and test.txt in the folder PATH, such as 0.6,0.2,0.2.
    #[arg(long, value_name = "SHARES")]
    pub(crate) split: Option<String>,
    /// File to write, or with --split the folder. Names that end in .gz or .zst are compressed.
    #[arg(long, value_name = "PATH")]
    pub(crate) out: PathBuf,
}

/// Show what a data set or a model holds.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Data (files, folders or patterns; - is standard input) or a model.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Train a model.
#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Training data: LETOR, CSV or TSV text, also compressed with gzip or zstd, or Parquet; - is standard input. Several files,
    /// folders and quoted patterns ('part-*.csv') are read as one.
    #[arg(value_name = "DATA", required_unless_present_any = ["help_params", "valid"])]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write the model.
    #[arg(long, value_name = "MODEL", required_unless_present = "help_params")]
    pub(crate) out: Option<PathBuf>,
    /// Model to start from, ours or another program's: its scores are the first ones, its trees the first in MODEL. Data is
    /// read as it needs it.
    #[arg(long, value_name = "MODEL")]
    pub(crate) init_model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) valid: ValidArgs,
    /// What to learn, such as lambdamart, xendcg or rmse; --help-params lists all.
    #[arg(long, value_name = "NAME")]
    pub(crate) objective: Option<String>,
    /// Pairs of rows to learn from, for the objectives ranknet and hinge: in each line the row numbers of the better and the
    /// worse document, from 0, and perhaps a weight and a probability. DATA.pairs beside the data means the same.
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// What to measure, such as ndcg@10 or ndcg@5,dcg; the first decides.
    #[arg(long, value_name = "LIST")]
    pub(crate) metric: Option<String>,
    /// File of parameters, `name = value` in each line (TOML).
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// One parameter; may be given several times, and wins over --config.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Folder to save the run in, so that it can be gone on with; made if there is none. The last checkpoint stays when
    /// the run is finished.
    #[arg(long, value_name = "DIR")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// How often to save it: after so many trees (50), so many seconds (30s), or what comes first of both (50,30s)
    /// [default: 10s]
    #[arg(long, value_name = "WHEN", requires = "checkpoint", value_parser = Schedule::parse)]
    pub(crate) checkpoint_every: Option<Schedule>,
    /// Go on from the newest checkpoint in the folder; from the start if there is none yet. Data and parameters must be
    /// the same, but for more trees.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    /// Write the metrics on the validation sets after each round, as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Follow a query of DATA: write the ranks of its documents after each tree, as a table and as a picture (SVG); may be given
    /// several times.
    #[arg(long, value_name = "QUERY")]
    pub(crate) trace: Vec<String>,
    /// Folder for what --trace writes; by default beside MODEL.
    #[arg(long, value_name = "DIR", requires = "trace")]
    pub(crate) trace_out: Option<PathBuf>,
    /// List every parameter with its default, range and other names; with a word, those that are called so or speak of it.
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
    /// The model.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The documents; - is standard input. Several files, folders and quoted patterns are scored one after another.
    #[arg(value_name = "DATA", required = true)]
    pub(crate) data: Vec<PathBuf>,
    /// Where to write; by default standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// What to write for each document.
    #[arg(long, value_enum, default_value = "scores")]
    pub(crate) format: PredictFormat,
    /// Last column of a run, which names the system; by default the name of the model's file without its ending.
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PredictFormat {
    /// The score alone, one a line.
    Scores,
    /// Query, document and score, with a header.
    Tsv,
    /// A TREC run: queries with their documents from best to worst.
    Run,
}

/// Measure models or single features, or scores or a run made elsewhere.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("system"))]
#[command(group = clap::ArgGroup::new("systems").required(true).multiple(true))]
pub(crate) struct Eval {
    /// Documents with labels: files, folders or quoted patterns; - is standard input. Not needed for a run that is measured
    /// by --qrels.
    #[arg(value_name = "DATA", required_unless_present = "qrels", conflicts_with = "qrels")]
    pub(crate) data: Vec<PathBuf>,
    /// Model to measure; may be given several times, for a table.
    #[arg(long, value_name = "FILE", groups = ["system", "systems"])]
    pub(crate) model: Vec<PathBuf>,
    /// Feature of DATA to measure as a ranker, by id or by the name of its column: larger values come first, missing ones last.
    /// May be given several times, also beside models.
    #[arg(long, value_name = "FEATURE", group = "systems", conflicts_with_all = ["scores", "run"])]
    pub(crate) feature: Vec<String>,
    /// Scores to measure, one per row of DATA.
    #[arg(long, value_name = "FILE", groups = ["system", "systems"])]
    pub(crate) scores: Option<PathBuf>,
    /// TREC run to measure: a line `query Q0 document rank score tag` for each document.
    #[arg(long, value_name = "FILE", groups = ["system", "systems"])]
    pub(crate) run: Option<PathBuf>,
    /// TREC judgements to measure a run by: a line `query 0 document grade` for each document.
    #[arg(long, value_name = "FILE", requires = "run")]
    pub(crate) qrels: Option<PathBuf>,
    #[arg(long, value_name = "LIST", default_value = "ndcg@10", help = help::metric_option())]
    pub(crate) metric: String,
    /// Write a table with the value of each query.
    #[arg(long, value_name = "FILE")]
    pub(crate) per_query: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trees: TreesArgs,
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Turn data into another form, with all that it says.
#[derive(Debug, Args)]
pub(crate) struct ConvertData {
    /// The data: files, folders or quoted patterns; - is standard input.
    #[arg(value_name = "IN", required = true, num_args = 1..)]
    pub(crate) input: Vec<PathBuf>,
    /// File to write. The end of its name tells the form: .txt (LETOR), .csv, .tsv, .parquet, or .rwcache for a cache of
    /// binned data, which train reads in place of the data; text is compressed if .gz or .zst follows.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Form to write, whatever the name of OUT.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) to: Option<DataTarget>,
    /// Parameter of the bins of a cache: max_bin or bin_construct_sample_cnt. Training must ask for the same.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// What a feature left out of a LETOR line means, in IN and in OUT: missing or zero.
    #[arg(long, value_name = "MEANING", default_value = "missing", value_parser = absent)]
    pub(crate) absent: Absent,
    #[command(flatten)]
    pub(crate) read: DataArgs,
}

/// Print a script that completes commands and options in a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell. For bash: rankwise completions bash > ~/.local/share/bash-completion/completions/rankwise
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
    Preset::parse(typed).ok_or_else(|| format!("give {}", Preset::kind()))
}

fn absent(typed: &str) -> Result<Absent, String> {
    Absent::parse(typed).ok_or_else(|| format!("give {}", Absent::kind()))
}

fn threads(typed: &str) -> Result<u16, String> {
    let threads = typed.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or_else(|| format!("give an integer from 1 to {MAX_THREADS}"))
}

fn seed(typed: &str) -> Result<u64, String> {
    typed.parse().map_err(|_| format!("give an integer from 0 to {}", u64::MAX))
}

/// The limits are those of the generator, which names them.
fn count(typed: &str) -> Result<usize, String> {
    typed.parse().map_err(|_| "give an integer, such as 10000".into())
}

/// Reads the command line. `--num-leaves 3` is what people try first: say how a parameter is given.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    Cli::try_parse().map_err(|error| {
        let typed = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(typed)) if error.kind() == ErrorKind::UnknownArgument => typed.as_str(),
            _ => return error,
        };
        let name = normalise(typed.trim_start_matches('-'));
        let mut tables = TrainSpec::tables().into_iter().flat_map(|(_, table)| table);
        if !typed.starts_with("--") || !tables.any(|info| info.answers_to(&name)) {
            return error;
        }
        let advice = format!("'{typed}' is a parameter of training; write `rankwise train ... --set {name}=VALUE`\n");
        clap::Error::raw(ErrorKind::UnknownArgument, advice)
    })
}
