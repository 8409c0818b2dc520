//! Results on stdout, remarks on stderr.

use std::io::Write as _;

use crate::args::Global;

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

    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Prints the result of a command: the text, or with --json the object.
    pub(crate) fn result(&self, text: &str, json: &serde_json::Value) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        if self.is_json {
            writeln!(stdout, "{json}")?;
        } else {
            stdout.write_all(text.as_bytes())?;
        }
        Ok(stdout.flush()?)
    }

    /// Tells what is going on.
    pub(crate) fn remark(&self, text: &str) {
        if !self.is_quiet {
            eprintln!("{text}");
        }
    }
}
