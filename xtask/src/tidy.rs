//! The repository's own checks, fast and without network:
//!
//! * [`crate_table`]: crates depend on each other only as the table in ARCHITECTURE.md allows;
//! * [`manifests`]: every crate takes version, edition and lints from the workspace;
//! * [`sources`]: `unsafe` is forbidden, there is no unfinished code and no machine path, files stay short;
//! * [`flags`]: libraries mention no flag or command of the command line;
//! * [`links`]: links in the documentation lead to existing files and headings.
//!
//! Every check takes text and returns findings, so that its tests need no files.

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

/// Whether a finding is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Remark,
}

/// Something to fix: `file:line: problem; remedy`.
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

/// The findings, and how much was checked.
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

/// Runs all checks on the repository.
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
