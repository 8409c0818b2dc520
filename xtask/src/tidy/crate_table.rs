//! Compares the table of crates in ARCHITECTURE.md with the dependencies in the manifests.
//!
//! ```text
//! | crate           | holds | may use                           |
//! |-----------------|-------|-----------------------------------|
//! | `a`             | ...   | -                                 |
//! | `b` (unsafe)    | ...   | `a`                               |
//! ```
//!
//! `(unsafe)` marks a crate that needs `unsafe` for SIMD or foreign functions: it denies `unsafe`, all others forbid
//! it.

use std::collections::BTreeSet;

use super::workspace::Crate;
use super::{ARCHITECTURE, Finding};

const HEADER: [&str; 3] = ["crate", "holds", "may use"];
const UNSAFE_MARK: &str = "(unsafe)";

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) may_use: BTreeSet<String>,
    pub(super) is_unsafe_room: bool,
}

/// Reads the table.
pub(super) fn parse(architecture: &str) -> Result<Vec<Row>, Finding> {
    let error = |line: usize, text: String| Finding::error(ARCHITECTURE, line, text);
    let mut lines = (1..).zip(architecture.lines()).skip_while(|(_, line)| cells(line) != HEADER);
    let Some((header_line, _)) = lines.next() else {
        return Err(error(1, format!("there is no table of crates; add one with the columns {}", HEADER.join(" | "))));
    };
    let mut rows: Vec<Row> = Vec::new();
    // The line below the header is made of dashes.
    for (line, text) in lines.skip(1).take_while(|(_, line)| line.trim_start().starts_with('|')) {
        let [name, _, may_use] = cells(text)[..] else {
            return Err(error(line, format!("a row needs {} cells; put | between them", HEADER.len())));
        };
        let [name_alone] = &quoted(name)[..] else {
            return Err(error(line, format!("'{name}' names no crate; write one name in backticks")));
        };
        let used = quoted(may_use);
        if used.is_empty() && may_use != "-" {
            return Err(error(line, format!("'{may_use}' names no crate; write names in backticks, or - for none")));
        }
        if rows.iter().any(|row| row.name == *name_alone) {
            return Err(error(line, format!("crate {name_alone} has two rows; keep one")));
        }
        rows.push(Row {
            name: name_alone.clone(),
            line,
            may_use: used.into_iter().collect(),
            is_unsafe_room: name.contains(UNSAFE_MARK),
        });
    }
    if rows.is_empty() {
        Err(error(header_line, "the table of crates is empty; add a row for each".into()))
    } else {
        Ok(rows)
    }
}

/// Compares the table with the existing crates.
pub(super) fn check(table: &[Row], crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in table {
        if !crates.iter().any(|member| member.name == row.name) {
            let text = format!("there is no crate {}; remove its row", row.name);
            findings.push(Finding::error(ARCHITECTURE, row.line, text));
        }
        for used in row.may_use.iter().filter(|used| table.iter().all(|row| row.name != **used)) {
            let text = format!("{} may use {used}, which has no row; correct the name", row.name);
            findings.push(Finding::error(ARCHITECTURE, row.line, text));
        }
    }
    for member in crates {
        let Some(row) = table.iter().find(|row| row.name == member.name) else {
            let text = format!("crate {} has no row in {ARCHITECTURE}; add one that says what it holds", member.name);
            findings.push(Finding::error(&member.manifest, 1, text));
            continue;
        };
        for used in member.uses.difference(&row.may_use) {
            let text = format!(
                "{} uses {used}, which its row in {ARCHITECTURE} (line {}) does not allow; remove the dependency, or \
                 change the row if the design has changed",
                member.name, row.line
            );
            findings.push(Finding::error(&member.manifest, dependency_line(&member.manifest_text, used), text));
        }
    }
    findings
}

/// The cells of a row, without its outer bars.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let inner = line.strip_prefix('|').and_then(|line| line.strip_suffix('|'));
    inner.map_or_else(Vec::new, |inner| inner.split('|').map(str::trim).collect())
}

/// The texts in backticks.
fn quoted(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn dependency_line(manifest: &str, name: &str) -> usize {
    let names_it = |line: &str| {
        let rest = line.trim_start().strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    manifest.lines().position(names_it).map_or(1, |position| position + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
# Map

| crate | holds | may use |
|---|---|---|
| `a` | data | - |
| `b` (unsafe) | sums of `u64` | `a` |

after
";

    fn member(name: &str, uses: &[&str]) -> Crate {
        Crate {
            name: name.into(),
            manifest: format!("crates/{name}/Cargo.toml"),
            manifest_text: "[dependencies]\nab = \"1\"\na.workspace = true\n".into(),
            uses: uses.iter().map(|used| (*used).to_owned()).collect(),
            roots: Vec::new(),
        }
    }

    #[test]
    fn rows_have_names_lines_and_marks() {
        let rows = parse(TABLE).unwrap();
        let row = |name: &str, line, uses: &[&str], is_unsafe_room| Row {
            name: name.into(),
            line,
            may_use: uses.iter().map(|used| (*used).to_owned()).collect(),
            is_unsafe_room,
        };
        assert_eq!(rows, [row("a", 5, &[], false), row("b", 6, &["a"], true)]);
    }

    #[test]
    fn what_is_no_table_is_refused_by_line() {
        for (from, to, line, problem) in [
            ("| crate |", "| folder |", 1, "there is no table"),
            ("| data | - |", "| data |", 5, "needs 3 cells"),
            ("| `a` |", "| a |", 5, "names no crate"),
            ("| data | - |", "| data | nothing |", 5, "or - for none"),
            ("`b` (unsafe)", "`a`", 6, "two rows"),
        ] {
            let error = parse(&TABLE.replace(from, to)).unwrap_err();
            assert!(error.line == line && error.text.contains(problem), "{error}");
        }
        assert!(parse("| crate | holds | may use |\n|---|---|---|\n").unwrap_err().text.contains("empty"));
    }

    #[test]
    fn allowed_uses_pass_and_others_are_named_with_their_line() {
        let table = parse(TABLE).unwrap();
        assert_eq!(check(&table, &[member("a", &[]), member("b", &["a"])]), []);

        let found = check(&table, &[member("a", &["b"]), member("b", &["a"])]);
        assert!(found.len() == 1 && found[0].text.contains("a uses b"), "{found:?}");
        let narrow = parse(&TABLE.replace("`u64` | `a` |", "`u64` | - |")).unwrap();
        let found = check(&narrow, &[member("a", &[]), member("b", &["a"])]);
        assert_eq!((found.len(), found[0].file.as_str(), found[0].line), (1, "crates/b/Cargo.toml", 3));
    }

    #[test]
    fn crates_and_rows_belong_together() {
        let table = parse(TABLE).unwrap();
        let found = check(&table, &[member("a", &[])]);
        assert!(found.len() == 1 && found[0].text.contains("no crate b"), "{found:?}");
        let found = check(&table, &[member("a", &[]), member("b", &[]), member("c", &[])]);
        assert!(found.len() == 1 && found[0].text.contains("c has no row"), "{found:?}");
        let typo = parse(&TABLE.replace("| `a` |\n\n", "| `aa` |\n\n")).unwrap();
        let found = check(&typo, &[member("a", &[]), member("b", &[])]);
        assert!(found.len() == 1 && found[0].text.contains("aa, which has no row"), "{found:?}");
    }
}
