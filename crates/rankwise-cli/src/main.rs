//! The binary `rankwise`: one file per subcommand in `command/`.
//!
//! Results go to stdout, progress and messages to stderr. Exit 0: done; 2: something the user can mend; 130 or
//! 143: stopped by Ctrl-C or SIGTERM; 1: anything else.
#![forbid(unsafe_code)]

mod args;
mod blend_args;
mod checkpoint;
mod command;
mod compare_args;
mod comparison;
mod config;
mod convert_args;
mod data_args;
mod data_paths;
mod failure;
mod files;
mod group_args;
mod mean_count;
mod memory;
mod output;
mod progress;
mod reading;
mod refit_prune_args;
mod system;
mod text;
mod trace;
mod trees_args;

fn main() -> std::process::ExitCode {
    failure::report_panics();
    failure::survive_file_limits();
    let cli = args::parse().unwrap_or_else(|error| error.exit());
    match command::run(cli) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}
