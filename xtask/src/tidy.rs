//! Checks of our own, fast and without network:
//!
//! * [`crate_table`]: crates use each other only as the table in ARCHITECTURE.md allows;
//! * [`manifests`]: every crate takes version, edition and lints from the workspace;
//! * [`sources`]: `unsafe` is forbidden, nothing unfinished or machine-bound is left in, files stay short;
//! * [`flags`]: libraries name no flag and no command of the command line;
//! * [`links`]: what the documents link to exists, headings included.
//!
//! Every check takes text and gives findings, so that its tests need no files.

mod crate_table;
mod flags;
mod links;
mod manifests;
mod sources;
mod workspace;

use std::fmt;
use std::path::Path;

use anyhow::Context as _;

use self::workspace::Workspace;

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// Whether a finding stops us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Remark,
}

/// Something to put right: `file:line: what; what to do`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    file: String,
    line: usize,
    text: String,
    level: Level,
}

impl Finding {
    fn error(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, text: text.into(), level: Level::Error }
    }

    fn remark(file: &str, line: usize, text: impl Into<String>) -> Self {
        Self { level: Level::Remark, ..Self::error(file, line, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.level == Level::Remark { "remark: " } else { "" };
        write!(f, "{}:{}: {mark}{}", self.file, self.line, self.text)
    }
}

/// What was found, and in how much.
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    pub(crate) n_crates: usize,
    pub(crate) n_files: usize,
}

impl Report {
    pub(crate) fn n_errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level == Level::Error).count()
    }
}

/// Runs every check on the repository.
pub(crate) fn check(root: &Path) -> anyhow::Result<Report> {
    let workspace = Workspace::read(root)?;
    let architecture = std::fs::read_to_string(root.join(ARCHITECTURE)).context(ARCHITECTURE)?;
    let mut findings = Vec::new();
    match crate_table::parse(&architecture) {
        Ok(table) => {
            findings.extend(crate_table::check(&table, &workspace.crates));
            for member in &workspace.crates {
                let is_unsafe_room = table.iter().any(|row| row.name == member.name && row.is_unsafe_room);
                let keeps_out = |(file, text): &(String, String)| sources::keeps_unsafe_out(file, text, is_unsafe_room);
                findings.extend(member.roots.iter().filter_map(keeps_out));
            }
        }
        Err(finding) => findings.push(finding),
    }
    for member in &workspace.crates {
        findings.extend(manifests::check(&member.manifest, &member.manifest_text));
    }
    for (file, text) in &workspace.files {
        findings.extend(sources::check(file, text));
        findings.extend(flags::check(file, text));
        if has_ending(file, "md") {
            findings.extend(links::check(file, text, |target| links::Target::find(root, target)));
        }
    }
    Ok(Report { findings, n_crates: workspace.crates.len(), n_files: workspace.files.len() })
}

fn has_ending(file: &str, ending: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
