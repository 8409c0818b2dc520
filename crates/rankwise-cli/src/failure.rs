//! How the program fails: what it prints, and with which exit code.

use std::io::Write as _;
use std::process::ExitCode;

use rankwise::CheckpointFolderError;
use rankwise::data::synth::SynthError;
use rankwise::data::{DataError, SimdError};
use rankwise::eval::EvalError;
use rankwise::io::IoError;
use rankwise::metrics::MetricError;
use rankwise::model::ModelError;
use rankwise::params::ParamError;
use rankwise::train::TrainError;

/// Something the user can mend: a message of this program's own.
#[derive(Debug)]
pub(crate) struct UserError(pub(crate) String);

impl std::fmt::Display for UserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UserError {}

/// An error with a message for the user.
pub(crate) fn user(message: impl Into<String>) -> anyhow::Error {
    UserError(message.into()).into()
}

/// The work was stopped by a signal; what was done so far is kept, and all was said. The exit code is the one that shells give
/// to a program that the signal ended, so that `train && deploy` goes no further.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupted {
    pub(crate) exit_code: u8,
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Prints the error and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        return ExitCode::from(interrupted.exit_code);
    }
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    if can_be_mended(error) {
        // The errors of the libraries are whole sentences that hold their causes; the chain would say them twice.
        say(&format!("error: {}", with_flags(&error.to_string())));
        ExitCode::from(2)
    } else {
        say(&format!("error: {}", with_flags(&format!("{error:#}"))));
        ExitCode::from(1)
    }
}

/// Options that the libraries name in their messages, in backticks: `ignore_columns` is --ignore-columns here.
const OPTIONS: [&str; 22] = [
    "allow_rounding",
    "columns",
    "data_format",
    "doc_column",
    "empty",
    "err_max_grade",
    "feature_names",
    "feature_offset",
    "header",
    "ignore_columns",
    "label_column",
    "missing_as_zero",
    "names",
    "pairs",
    "position_column",
    "qid_column",
    "qrels",
    "query_weight_column",
    "separator",
    "ties",
    "valid",
    "weight_column",
];

/// What else the libraries name in backticks, and what it is called here.
const COMMANDS: [(&str, &str); 4] = [
    ("check_export", "--check DATA"),
    ("docs/parameters.md", "`rankwise train --help-params`"),
    ("predict", "rankwise predict"),
    ("train", "`rankwise train`"),
];

/// A message of the libraries in the words of the command line.
pub(crate) fn with_flags(message: &str) -> String {
    let options = OPTIONS.into_iter().map(|name| (name, format!("--{}", name.replace('_', "-"))));
    let commands = COMMANDS.into_iter().map(|(name, here)| (name, here.to_owned()));
    options.chain(commands).fold(message.to_owned(), |text, (name, here)| text.replace(&format!("`{name}`"), &here))
}

/// Prints a line to stderr. Nobody may be reading it any more (`2>&1 | head`), which is no reason to stop working:
/// `eprintln!` would panic.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Whoever reads our output has seen enough (`rankwise ... | head`).
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

fn can_be_mended(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<UserError>()
            || cause.is::<rankwise::Error>()
            || cause.is::<CheckpointFolderError>()
            || cause.is::<DataError>()
            || cause.is::<EvalError>()
            || cause.is::<IoError>()
            || cause.is::<MetricError>()
            || cause.is::<ModelError>()
            || cause.is::<ParamError>()
            || cause.is::<SimdError>()
            || cause.is::<SynthError>()
            || cause.is::<TrainError>()
    })
}

/// A file that grows beyond `ulimit -f` would end the process in the middle of its work. With the signal caught, the
/// write fails like any other: it is reported, and what was half written is removed.
pub(crate) fn survive_file_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// A panic is a defect of ours: say so, and exit with 1.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // Damaged input, which the reader reports as such.
        if rankwise::io::is_decoding() {
            return;
        }
        say(&format!("error: rankwise has a defect: {panic}"));
        say("Please report it with the command and, if you can, the data that led to it.");
        std::process::exit(1);
    }));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn options_of_the_libraries_become_flags_that_exist() {
        let mut flags: Vec<String> = Vec::new();
        for command in crate::args::Cli::command().get_subcommands() {
            flags.extend(command.get_arguments().filter_map(|argument| argument.get_long()).map(str::to_owned));
        }
        for name in OPTIONS {
            let flag = name.replace('_', "-");
            assert!(flags.contains(&flag), "--{flag}");
            assert_eq!(with_flags(&format!("a; give `{name}` b")), format!("a; give --{flag} b"));
        }
        for flag in ["check", "help-params"] {
            assert!(flags.contains(&flag.to_owned()), "--{flag}");
        }
        assert_eq!(with_flags("'x'; `docs/parameters.md` lists all"), "'x'; `rankwise train --help-params` lists all");
        assert_eq!(with_flags("write `name = value`, `predict --trees`"), "write `name = value`, `predict --trees`");
    }
}
