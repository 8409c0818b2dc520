//! Results on stdout, notes and warnings on stderr.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rankwise::io::{Action, IoError, write_atomically};
use serde_json::{Map, Value};

use crate::args::Global;
use crate::failure::{say, user};
use crate::files::is_stream;
use crate::record::{FileKind, Record};

/// Where results and messages go, and the record of the run for `--json`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    is_json: bool,
    is_quiet: bool,
    record: &'static Record,
}

impl Output {
    /// One per process. Its record is never freed, since a signal may come at any time.
    pub(crate) fn new(global: Global) -> Self {
        Self { is_json: global.json, is_quiet: global.quiet, record: Box::leak(Box::new(Record::new())) }
    }

    pub(crate) fn is_json(self) -> bool {
        self.is_json
    }

    pub(crate) fn is_quiet(self) -> bool {
        self.is_quiet
    }

    /// Whether warnings are not shown anywhere.
    pub(crate) fn hides_warnings(self) -> bool {
        self.is_quiet && !self.is_json
    }

    /// The warnings so far.
    pub(crate) fn warnings(self) -> Vec<String> {
        self.record.warnings()
    }

    /// Names the phases of the command, for `seconds`; see [`Self::phase`].
    pub(crate) fn set_phases(self, names: &[&'static str]) {
        self.record.set_phases(names);
    }

    /// Starts a phase; time counts for `other` if the command did not name it.
    pub(crate) fn phase(self, name: &str) {
        self.record.start_phase(name);
    }

    /// Adds time that was measured elsewhere to a phase.
    pub(crate) fn add_time(self, name: &str, time: Duration) {
        self.record.add_time(name, time);
    }

    /// The time since the program started.
    pub(crate) fn elapsed(self) -> Duration {
        self.record.elapsed()
    }

    /// Writes a file atomically.
    pub(crate) fn write(
        self,
        path: &Path,
        kind: FileKind,
        content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        write_atomically(path, content)?;
        self.wrote(path, kind);
        Ok(())
    }

    /// Writes a text file atomically.
    pub(crate) fn write_text(self, path: &Path, kind: FileKind, text: &str) -> anyhow::Result<()> {
        self.write(path, kind, |out| out.write_all(text.as_bytes()))
    }

    /// Remembers a file that a library wrote.
    pub(crate) fn wrote(self, path: &Path, kind: FileKind) {
        self.record.add_output(path, kind);
    }

    /// Prints the result of a command: the text, or with --json the object with the common fields.
    pub(crate) fn result(self, text: &str, json: Value) -> anyhow::Result<()> {
        let text = if self.is_json { format!("{}\n", self.record.complete(fields(json))) } else { text.to_owned() };
        let mut stdout = std::io::stdout().lock();
        let done = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        // This error has a message for a full disk.
        Ok(done.map_err(|source| IoError::File { path: "-".into(), action: Action::Write, source })?)
    }

    /// Prints what was done if the result is a file; not with --quiet.
    pub(crate) fn done(self, out: &Path, text: &str, json: Value) -> anyhow::Result<()> {
        if self.is_quiet && !self.is_json {
            return Ok(());
        }
        self.summary(out, text, json)
    }

    /// Prints a summary if the result is a file: on stdout, or on stderr if the file is written to stdout.
    pub(crate) fn summary(self, out: &Path, text: &str, json: Value) -> anyhow::Result<()> {
        if is_stream(out) {
            self.remark(text.trim_end());
            return Ok(());
        }
        self.result(text, json)
    }

    /// Rejects writing a file and the --json object both to stdout.
    pub(crate) fn check_file(self, out: &Path, what: &str) -> anyhow::Result<()> {
        if self.is_json && is_stream(out) {
            return Err(user(format!(
                "--json prints its object to standard output, so the {what} a file; name an output file"
            )));
        }
        Ok(())
    }

    /// Prints a warning.
    pub(crate) fn warn(self, text: &str) {
        self.advise("warning", text);
    }

    /// Prints a note about something unexpected.
    pub(crate) fn note(self, text: &str) {
        self.advise("note", text);
    }

    /// Prints a warning even with --quiet.
    pub(crate) fn warn_always(self, text: &str) {
        Self { is_quiet: false, ..self }.warn(text);
    }

    /// Prints a progress message; not with --json, where the object has the facts.
    pub(crate) fn remark(self, text: &str) {
        if !self.is_quiet && !self.is_json {
            say(text);
        }
    }

    fn advise(self, kind: &str, text: &str) {
        self.record.add_warning(text);
        self.remark(&format!("{kind}: {text}"));
    }
}

fn fields(json: Value) -> Map<String, Value> {
    match json {
        Value::Object(fields) => fields,
        other => unreachable!("a result is an object: {other}"),
    }
}
