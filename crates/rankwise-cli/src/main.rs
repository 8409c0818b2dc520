//! The binary `rankwise`: one file per subcommand in `command/`.
//!
//! Results go to stdout, progress and messages to stderr. Exit codes: 0 success; 2 an error that the user can fix; 130 or 143
//! interrupted by Ctrl-C or SIGTERM; 1 anything else.
#![forbid(unsafe_code)]

mod args;
mod auto_args;
mod blend_args;
mod checkpoint;
mod command;
mod compare_args;
mod comparison;
mod config;
mod convert_args;
mod cv_args;
mod data_args;
mod data_paths;
mod explain_args;
mod failure;
mod files;
mod group_args;
mod inputs;
mod mean_count;
mod memory;
mod metric_names;
mod options;
mod output;
mod param_args;
mod progress;
mod reading;
mod record;
mod refit_prune_args;
mod report;
mod search;
mod system;
mod text;
mod trace;
mod trees_args;
mod tune_args;
mod usage;

use failure::ErrorForm;
use output::Output;

fn main() -> std::process::ExitCode {
    let form = ErrorForm::of_command_line();
    failure::report_panics(form);
    failure::survive_file_limits();
    let cli = match usage::parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error, form),
    };
    let output = Output::new(cli.global);
    match command::run(cli, output) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => failure::report(&error, output),
    }
}
