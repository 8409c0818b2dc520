//! Options of the commands, for messages about options and parameters that are confused with them.

use clap::CommandFactory as _;
use rankwise::io::LayoutSpec;
use rankwise::params::{ParamGroup as _, normalise};
use rankwise::train::TrainSpec;

use crate::args::Cli;

/// Names of other programs for our options.
const ALIASES: [(&str, &str); 10] = [
    ("n_jobs", "threads"),
    ("nthread", "threads"),
    ("num_thread", "threads"),
    ("num_threads", "threads"),
    ("thread_count", "threads"),
    ("group_column", "qid-column"),
    ("ignore_column", "ignore-columns"),
    ("input_model", "init-model"),
    ("output_model", "out"),
    ("query_column", "qid-column"),
];

/// Whether a name can be a training parameter. If it is an option of `train` instead, the error names that option.
pub(crate) fn check_parameter(typed: &str) -> Result<(), String> {
    let name = normalise(typed);
    let mut parameters = TrainSpec::tables().into_iter().flat_map(|(_, table)| table);
    if parameters.any(|info| info.answers_to(&name)) {
        return Ok(());
    }
    let flag = alias(&name).map_or_else(|| name.replace('_', "-"), str::to_owned);
    if !commands_with(&flag).contains(&"train".to_owned()) {
        return Ok(());
    }
    let is_of_data = LayoutSpec::table().iter().any(|info| info.name.replace('_', "-") == flag);
    let config =
        if is_of_data { format!(", or set {} in a --config file", flag.replace('-', "_")) } else { String::new() };
    Err(format!("'{typed}' is not a training parameter; use the option --{flag}{config}"))
}

/// Our option for a name of another program, in the form of [`normalise`].
pub(crate) fn alias(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours)
}

/// The commands that have an option.
pub(crate) fn commands_with(flag: &str) -> Vec<String> {
    let mut program = Cli::command();
    // Adds the options that all commands share.
    program.build();
    let has_flag = |command: &&clap::Command| {
        command.get_arguments().any(|argument| argument.get_long() == Some(flag) && !argument.is_hide_set())
    };
    program.get_subcommands().filter(has_flag).map(|command| command.get_name().to_owned()).collect()
}
