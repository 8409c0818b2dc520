//! Results on stdout, remarks on stderr.

use std::io::Write as _;
use std::path::Path;

use rankwise::io::{Action, IoError};

use crate::args::Global;
use crate::failure::{say, user};
use crate::files::is_stream;

/// Where results and remarks go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    is_json: bool,
    is_quiet: bool,
}

impl Output {
    pub(crate) fn new(global: Global) -> Self {
        Self { is_json: global.json, is_quiet: global.quiet }
    }

    pub(crate) fn is_quiet(self) -> bool {
        self.is_quiet
    }

    /// Prints the result of a command: the text, or with --json the object.
    pub(crate) fn result(self, text: &str, json: &serde_json::Value) -> anyhow::Result<()> {
        let text = if self.is_json { format!("{json}\n") } else { text.to_owned() };
        let mut stdout = std::io::stdout().lock();
        let done = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        // The error that knows the words for a full disk.
        Ok(done.map_err(|source| IoError::File { path: "-".into(), action: Action::Write, source })?)
    }

    /// Tells what was done, where the result itself is a file and there is nothing else to say: not with --quiet.
    pub(crate) fn done(self, out: &Path, text: &str, json: &serde_json::Value) -> anyhow::Result<()> {
        if self.is_quiet && !self.is_json {
            return Ok(());
        }
        self.summary(out, text, json)
    }

    /// Tells what was done and found, where the result itself is a file: on stdout, or on stderr if the file took stdout.
    pub(crate) fn summary(self, out: &Path, text: &str, json: &serde_json::Value) -> anyhow::Result<()> {
        if is_stream(out) {
            self.remark(text.trim_end());
            return Ok(());
        }
        self.result(text, json)
    }

    /// Refuses to print a file and the object of --json to the same place.
    pub(crate) fn check_file(self, out: &Path, what: &str) -> anyhow::Result<()> {
        if self.is_json && is_stream(out) {
            return Err(user(format!("--json prints a summary, so the {what} a file: add --out FILE")));
        }
        Ok(())
    }

    /// Tells what may be wrong.
    pub(crate) fn warn(self, text: &str) {
        self.remark(&format!("warning: {text}"));
    }

    /// Tells what is going on.
    pub(crate) fn remark(self, text: &str) {
        if !self.is_quiet {
            say(text);
        }
    }
}
