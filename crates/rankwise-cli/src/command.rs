//! The subcommands.

mod demo;
mod eval;
mod inspect;
mod predict;
mod synth;
mod train;

use anyhow::Context as _;

use crate::args::{Cli, Command};
use crate::output::Output;

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    if let Some(threads) = cli.global.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build_global()
            .context("cannot start the threads")?;
    }
    let output = Output::new(cli.global);
    match cli.command {
        Command::Demo(args) => demo::run(&args, cli.global, &output),
        Command::Synth(args) => synth::run(&args, cli.global, &output),
        Command::Inspect(args) => inspect::run(&args, &output),
        Command::Train(args) => train::run(&args, cli.global, &output),
        Command::Predict(args) => predict::run(&args, &output),
        Command::Eval(args) => eval::run(&args, cli.global, &output),
    }
}
