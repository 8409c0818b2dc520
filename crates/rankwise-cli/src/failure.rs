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

/// Prints the error and chooses the exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    if can_be_mended(error) {
        // The errors of the libraries are whole sentences that hold their causes; the chain would say them twice.
        say(&format!("error: {error}"));
        ExitCode::from(2)
    } else {
        say(&format!("error: {error:#}"));
        ExitCode::from(1)
    }
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
