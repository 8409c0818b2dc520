//! How the program fails: what it prints, and with which exit code.

mod object;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use rankwise::CheckpointFolderError;
use rankwise::data::synth::SynthError;
use rankwise::data::{DataError, SimdError};
use rankwise::eval::EvalError;
use rankwise::explain::ExplainError;
use rankwise::io::{IoError, Place};
use rankwise::metrics::MetricError;
use rankwise::model::ModelError;
use rankwise::params::ParamError;
use rankwise::train::TrainError;
use rankwise::tune::TuneError;

use self::object::ErrorObject;
use crate::files;
use crate::output::Output;

/// An error of the command line that the user can fix.
#[derive(Debug)]
pub(crate) struct UserError {
    /// The offending file, if there is one.
    place: Option<Place>,
    message: String,
}

impl std::fmt::Display for UserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(place) = &self.place {
            f.write_str(&files::shown(&place.path))?;
            for number in [place.line, place.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for UserError {}

/// An error with a message for the user.
pub(crate) fn user(message: impl Into<String>) -> anyhow::Error {
    UserError { place: None, message: message.into() }.into()
}

/// An error in a file; its name precedes the message.
pub(crate) fn user_at(path: &Path, message: impl Into<String>) -> anyhow::Error {
    user_in(Place::file(path), message)
}

/// An error at a place in a file.
pub(crate) fn user_in(place: Place, message: impl Into<String>) -> anyhow::Error {
    UserError { place: Some(place), message: message.into() }.into()
}

/// A signal stopped the work; the results so far are kept. The exit code is the one that shells use for a program ended by this
/// signal, so that `train && deploy` stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupted {
    pub(crate) exit_code: u8,
    /// The message to print; `None` if the result was printed.
    pub(crate) message: Option<&'static str>,
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message.unwrap_or("interrupted"))
    }
}

impl std::error::Error for Interrupted {}

/// Whether errors are printed as text or as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorForm {
    Text,
    Json,
}

impl ErrorForm {
    /// The typed choice, even if the rest of the command line is invalid.
    pub(crate) fn of_command_line() -> Self {
        let mut options = std::env::args_os().skip(1).take_while(|argument| argument != "--");
        if options.any(|argument| argument == "--json") { Self::Json } else { Self::Text }
    }
}

/// Prints the error and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error, output: Output) -> ExitCode {
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        match interrupted.message {
            Some(message) if output.is_json() => {
                ErrorObject::new(message, interrupted.exit_code).print(&output.warnings());
            }
            Some(message) => say(message),
            None => {}
        }
        return ExitCode::from(interrupted.exit_code);
    }
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    // Library errors already include their causes; printing the chain would repeat them.
    let (message, exit_code) = if can_be_mended(error) { (error.to_string(), 2) } else { (format!("{error:#}"), 1) };
    let message = with_flags(&message);
    if output.is_json() {
        ErrorObject::new(&message, exit_code).at(place(error)).print(&output.warnings());
    } else {
        say(&format!("error: {message}"));
    }
    ExitCode::from(exit_code)
}

/// Prints a usage error, or the requested help.
pub(crate) fn report_usage(error: &clap::Error, form: ErrorForm) -> ExitCode {
    match u8::try_from(error.exit_code()) {
        Ok(exit_code @ 1..) if form == ErrorForm::Json => {
            ErrorObject::of_usage(error, exit_code).print(&[]);
            ExitCode::from(exit_code)
        }
        _ => error.exit(),
    }
}

/// The offending file.
fn place(error: &anyhow::Error) -> Option<Place> {
    error.chain().find_map(|cause| {
        let of_user = cause.downcast_ref::<UserError>().and_then(|error| error.place.clone());
        of_user
            .or_else(|| cause.downcast_ref::<IoError>().map(IoError::place))
            .or_else(|| cause.downcast_ref::<rankwise::Error>().and_then(rankwise::Error::place))
            .or_else(|| cause.downcast_ref::<CheckpointFolderError>().map(CheckpointFolderError::place))
    })
}

/// Options that the libraries name in their messages, in backticks: `ignore_columns` is --ignore-columns here.
const OPTIONS: [&str; 25] = [
    "allow_rounding",
    "columns",
    "convention",
    "data_format",
    "doc_column",
    "empty",
    "err_max_grade",
    "feature_names",
    "feature_offset",
    "gain",
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
    "rotate",
    "separator",
    "ties",
    "valid",
    "weight_column",
];

/// Other names in backticks, and their equivalents on the command line.
const COMMANDS: [(&str, &str); 4] = [
    ("check_export", "--check DATA"),
    ("docs/parameters.md", "`rankwise train --help-params`"),
    ("predict", "rankwise predict"),
    ("train", "`rankwise train`"),
];

/// A library message with options written as flags.
pub(crate) fn with_flags(message: &str) -> String {
    let options = OPTIONS.into_iter().map(|name| (name, format!("--{}", name.replace('_', "-"))));
    let commands = COMMANDS.into_iter().map(|(name, here)| (name, here.to_owned()));
    options.chain(commands).fold(message.to_owned(), |text, (name, here)| text.replace(&format!("`{name}`"), &here))
}

/// Prints a line to stderr. Unlike `eprintln!`, it does not panic if stderr is closed (`2>&1 | head`).
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The reader of our output has closed the pipe (`rankwise ... | head`).
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
            || cause.is::<ExplainError>()
            || cause.is::<IoError>()
            || cause.is::<MetricError>()
            || cause.is::<ModelError>()
            || cause.is::<ParamError>()
            || cause.is::<SimdError>()
            || cause.is::<SynthError>()
            || cause.is::<TrainError>()
            || cause.is::<TuneError>()
    })
}

/// Exceeding `ulimit -f` would kill the process. With the signal caught, the write fails like any other: it is reported, and
/// the partial file is removed.
pub(crate) fn survive_file_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// Ctrl-C and SIGTERM end the process, but no half-written file stays behind. For commands that do not stop by themselves.
pub(crate) fn remove_files_on_signals() {
    #[cfg(unix)]
    if let Ok(mut signals) =
        signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM])
    {
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                rankwise::io::remove_unfinished_files();
                std::process::exit(128 + signal);
            }
        });
    }
}

/// Reports a panic as an internal error and exits with 1.
pub(crate) fn report_panics(form: ErrorForm) {
    const ADVICE: &str = "Please report it with the command and, if possible, the data.";
    std::panic::set_hook(Box::new(move |panic| {
        // Damaged input; the reader reports it.
        if rankwise::io::is_decoding() {
            return;
        }
        let message = format!("internal error: this is a bug in rankwise: {panic}");
        match form {
            ErrorForm::Json => ErrorObject::new(&message, 1).with_remedy(ADVICE).print(&[]),
            ErrorForm::Text => say(&format!("error: {message}\n{ADVICE}")),
        }
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
