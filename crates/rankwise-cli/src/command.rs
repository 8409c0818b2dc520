//! The subcommands.

mod auto;
mod blend;
mod compare;
mod completions;
mod convert;
mod convert_data;
mod cv;
mod demo;
mod eval;
mod explain;
pub(crate) mod inspect;
mod man;
mod predict;
mod prune;
mod refit;
mod synth;
mod train;
mod tune;

use anyhow::Context as _;
use rankwise::data::SimdLevel;

use crate::args::{Cli, Command};
use crate::output::Output;
use crate::{failure, text};

/// Runs what was typed.
pub(crate) fn run(cli: Cli, output: Output) -> anyhow::Result<()> {
    // An invalid RANKWISE_SIMD is an error at once, even if the command would not use it.
    SimdLevel::from_env()?;
    // The command itself runs inside the pool: a parallel step that starts there costs less than one from outside.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads(cli.global.threads, output)).build();
    pool.context("cannot start the threads")?.install(|| dispatch(cli, output))
}

/// The requested number, or 0 for one per core. Never more than cores: eight threads on two cores were a fifth slower.
fn n_threads(asked: Option<u16>, output: Output) -> usize {
    let n_cores = std::thread::available_parallelism().map_or(usize::MAX, usize::from);
    let Some(asked) = asked.map(usize::from) else { return 0 };
    if asked > n_cores {
        let cores = text::count(n_cores, "core");
        output.warn(&format!("--threads {asked}: this machine has {cores}, so {n_cores} are used"));
    }
    asked.min(n_cores)
}

fn dispatch(cli: Cli, output: Output) -> anyhow::Result<()> {
    if !matches!(
        cli.command,
        Command::Auto(_) | Command::Cv(_) | Command::Demo(_) | Command::Train(_) | Command::Tune(_)
    ) {
        failure::remove_files_on_signals();
    }
    match cli.command {
        Command::Demo(args) => demo::run(&args, cli.global, output),
        Command::Synth(args) => synth::run(&args, cli.global, output),
        Command::Inspect(args) => inspect::run(&args, output),
        Command::Auto(args) => auto::run(&args, cli.global, output),
        Command::Train(args) => train::run(&args, cli.global, output),
        Command::Tune(args) => tune::run(&args, cli.global, output),
        Command::Cv(args) => cv::run(&args, cli.global, output),
        Command::Predict(args) => predict::run(&args, output),
        Command::Eval(args) => eval::run(&args, cli.global, output),
        Command::Compare(args) => compare::run(&args, cli.global, output),
        Command::Explain(args) => explain::run(&args, cli.global, output),
        Command::Blend(args) => blend::run(&args, cli.global, output),
        Command::Prune(args) => prune::run(&args, cli.global, output),
        Command::Refit(args) => refit::run(&args, cli.global, output),
        Command::Convert(args) => convert::run(&args, output),
        Command::ConvertData(args) => convert_data::run(&args, output),
        Command::Completions(args) => completions::run(&args, output),
        Command::Man(args) => man::run(&args, output),
    }
}
