//! The arguments of `rankwise compare`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};

use crate::args::integer;
use crate::data_args::{DataArgs, RulesArgs};
use crate::report::ReportArgs;
use crate::system::System;
use crate::trees_args::TreesArgs;

/// Enough for the smallest useful p-value; takes some minutes.
const MAX_PERMUTATIONS: u32 = 1_000_000_000;

/// Compare rankers on the same queries, with significance tests and confidence intervals.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Labelled documents: files, folders or quoted patterns; - is standard input. Not needed for runs with --qrels.
    #[arg(value_name = "DATA", required_unless_present_any = ["qrels", "run"], conflicts_with = "qrels")]
    pub(crate) data: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) systems: Systems,
    /// TREC judgements (qrels) for the runs, with lines `query 0 document grade`.
    #[arg(long, value_name = "FILE")]
    pub(crate) qrels: Option<PathBuf>,
    /// Metrics to compare by, such as ndcg@10 or map,p@5,mrr: any metric of `eval` except auc.
    #[arg(long, value_name = "LIST", default_value = "ndcg@10")]
    pub(crate) metric: String,
    /// Significance test.
    #[arg(long, value_enum, default_value = "fisher")]
    pub(crate) test: TestKind,
    /// One-sided test: is the first system of a pair better than the second?
    #[arg(long)]
    pub(crate) one_sided: bool,
    /// Number of random permutations for fisher (if there are too many to enumerate) or of resamples for bootstrap [default:
    /// 100000 for fisher, 10000 for bootstrap]
    #[arg(long, value_name = "N", value_parser = permutations)]
    pub(crate) permutations: Option<u32>,
    /// Significance level of the corrected p-values. The confidence level of intervals is 1 - LEVEL.
    #[arg(long, value_name = "LEVEL", default_value = "0.05", value_parser = alpha)]
    pub(crate) alpha: f64,
    /// Comma-separated names of the systems, in their order [default: the file names].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) names: Option<Vec<String>>,
    /// Compare each of the other systems with this one only.
    #[arg(long, value_name = "NAME")]
    pub(crate) baseline: Option<String>,
    /// Write the metrics of each query to a TSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) per_query: Option<PathBuf>,
    /// For each pair, show this many of the queries with the largest gains and losses.
    #[arg(long, value_name = "N", default_value = "3", value_parser = top)]
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

/// A significance test, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestKind {
    /// Fisher's randomisation test of the mean difference; makes the fewest assumptions.
    Fisher,
    /// Student's paired t-test.
    T,
    /// Wilcoxon's signed-rank test.
    Wilcoxon,
    /// Bootstrap shift test.
    Bootstrap,
}

impl TestKind {
    /// The name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Fisher => "fisher",
            Self::T => "t",
            Self::Wilcoxon => "wilcoxon",
            Self::Bootstrap => "bootstrap",
        }
    }
}

/// The systems of all kinds, in the order in which they were typed.
#[derive(Clone, Debug)]
pub(crate) struct Systems(pub(crate) Vec<System>);

/// An option that adds a system: its name, its constructor and its help.
type Kind = (&'static str, fn(PathBuf) -> System, &'static str);

const KINDS: [Kind; 3] = [
    ("model", System::Model, "Model to compare. --model, --scores and --run can be repeated and mixed, in any order"),
    ("scores", System::Scores, "Score file to compare, with one score per row of DATA"),
    ("run", System::Run, "TREC run to compare, with lines `query Q0 document rank score tag`"),
];

impl FromArgMatches for Systems {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut typed: Vec<(usize, System)> = Vec::new();
        for (name, make, _) in KINDS {
            if let (Some(places), Some(paths)) = (matches.indices_of(name), matches.get_many::<PathBuf>(name)) {
                typed.extend(places.zip(paths.map(|path| make(path.clone()))));
            }
        }
        typed.sort_by_key(|(place, _)| *place);
        Ok(Self(typed.into_iter().map(|(_, system)| system).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Systems {
    fn augment_args(command: Command) -> Command {
        KINDS.into_iter().fold(command, |command, (name, _, help)| {
            command.arg(
                Arg::new(name)
                    .long(name)
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .action(ArgAction::Append)
                    .help(help),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn permutations(typed: &str) -> Result<u32, String> {
    integer(typed, &(1..=MAX_PERMUTATIONS))
}

fn alpha(typed: &str) -> Result<f64, String> {
    let level = typed.parse().ok().filter(|level| *level > 0.0 && *level < 1.0);
    level.ok_or_else(|| "expected a number between 0 and 1, such as 0.05".into())
}

fn top(typed: &str) -> Result<usize, String> {
    typed.parse().map_err(|_| "expected an integer of at least 0".into())
}
