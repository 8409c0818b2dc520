//! Checks what source files must not contain, and their length.

use super::{Finding, has_ending};

/// A longer file probably has more than one purpose.
const MAX_LINES: usize = 700;
/// The length of a file that is easy to read, not counting tests.
const SOFT_LINES: usize = 400;

const FORBID_UNSAFE: &str = "#![forbid(unsafe_code)]";
const DENY_UNSAFE: &str = "#![deny(unsafe_code)]";

/// Root folders that differ between machines. They are written without slashes here, and the macros without exclamation
/// marks, so that this file does not report itself.
const MACHINE_FOLDERS: [&str; 6] = ["home", "root", "work", "tmp", "Users", "mnt"];
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];
const SKIPPED_TEST: &str = "ignore";

/// Checks that a crate's root forbids `unsafe`, or denies it in a crate that is allowed to use it.
pub(super) fn keeps_unsafe_out(file: &str, text: &str, is_unsafe_room: bool) -> Option<Finding> {
    let (wanted, why) = if is_unsafe_room {
        (DENY_UNSAFE, "the crate is marked (unsafe) in ARCHITECTURE.md and does not deny it")
    } else {
        (FORBID_UNSAFE, "the crate does not forbid unsafe code")
    };
    let is_there = text.lines().any(|line| line.trim() == wanted);
    (!is_there).then(|| Finding::error(file, 1, format!("{why}; write {wanted} below its documentation")))
}

/// Finds machine paths in any text; in Rust also unfinished code, skipped tests and long files.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_rust = has_ending(file, "rs");
    for (line, content) in (1..).zip(text.lines()) {
        findings.extend(machine_path(content).map(|path| {
            Finding::error(file, line, format!("'{path}' exists on some machines only; use a relative path"))
        }));
        if is_rust {
            findings.extend(unfinished(content).map(|what| Finding::error(file, line, what)));
        }
    }
    if is_rust || has_ending(file, "py") {
        findings.extend(length(file, text));
    }
    findings
}

fn machine_path(line: &str) -> Option<String> {
    let paths = MACHINE_FOLDERS.map(|folder| format!("/{folder}/"));
    // Inside a longer path or a URL, the folder is not at the root.
    let is_at_root =
        |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || ".-_~*/}>)".contains(before));
    paths.into_iter().find(|path| line.match_indices(path.as_str()).any(|(at, _)| is_at_root(at)))
}

fn unfinished(line: &str) -> Option<String> {
    let starts_word = |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    for name in UNFINISHED {
        let call = format!("{name}!");
        if line.match_indices(&call).any(|(at, _)| starts_word(at)) {
            return Some(format!("'{call}' is left in; finish the code or take it out"));
        }
    }
    let attribute = format!("#[{SKIPPED_TEST}");
    line.contains(&attribute).then(|| "a test is skipped; mend it or remove it".into())
}

fn length(file: &str, text: &str) -> Option<Finding> {
    let n_lines = text.lines().count();
    if n_lines > MAX_LINES {
        return Some(Finding::error(file, 1, format!("{n_lines} lines, more than {MAX_LINES}; divide the file")));
    }
    let n_code = if is_test(file) { 0 } else { lines_without_tests(text) };
    (n_code > SOFT_LINES)
        .then(|| Finding::remark(file, 1, format!("{n_code} lines without tests, more than {SOFT_LINES}; divide it?")))
}

fn is_test(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("/tests.rs")
}

/// Tests come last in a file.
fn lines_without_tests(text: &str) -> usize {
    let mut lines = text.lines();
    let n_lines = lines.clone().count();
    lines.position(|line| line == "#[cfg(test)]").unwrap_or(n_lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str, text: &str) -> Vec<String> {
        check(file, text).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_root_must_forbid_unsafe() {
        assert_eq!(keeps_unsafe_out("lib.rs", "//! Docs\n#![forbid(unsafe_code)]\n", false), None);
        for text in ["//! Docs\n", "// #![forbid(unsafe_code)]\n", "#![deny(unsafe_code)]\n"] {
            assert!(keeps_unsafe_out("lib.rs", text, false).is_some(), "{text}");
        }
        assert_eq!(keeps_unsafe_out("lib.rs", "#![deny(unsafe_code)]\n", true), None);
        for text in ["//! Docs\n", "#![forbid(unsafe_code)]\n"] {
            assert!(keeps_unsafe_out("lib.rs", text, true).is_some(), "{text}");
        }
    }

    #[test]
    fn machine_paths_are_found_in_every_file() {
        for folder in MACHINE_FOLDERS {
            for line in [format!("see /{folder}/me/x"), format!("\"/{folder}/x\""), format!("FILE=/{folder}/x")] {
                assert_eq!(texts("README.md", &format!("ok\n{line}")).len(), 1, "{line}");
            }
            for line in [format!("docs/{folder}/x"), format!("https://a.org/{folder}/x"), format!("a {folder} b")] {
                assert!(texts("a.rs", &line).is_empty(), "{line}");
            }
        }
        assert!(texts("a.rs", "/proc/self/status and /dev/null").is_empty());
    }

    #[test]
    fn unfinished_code_is_found_in_rust_only() {
        for name in UNFINISHED {
            let line = format!("    {name}!(\"x\")");
            assert!(texts("a.rs", &line)[0].starts_with("a.rs:1: "), "{line}");
            assert!(texts("a.md", &line).is_empty());
            assert!(texts("a.rs", &format!("my_{name}!()")).is_empty());
        }
        assert_eq!(texts("a.rs", &format!("#[{SKIPPED_TEST}]")).len(), 1);
        assert_eq!(texts("a.rs", &format!("#[{SKIPPED_TEST} = \"slow\"]")).len(), 1);
    }

    #[test]
    fn long_files_are_errors_and_longish_ones_remarks() {
        let lines = |n: usize| "x\n".repeat(n);
        assert!(texts("src/a.rs", &lines(SOFT_LINES)).is_empty());
        assert!(texts("src/a.rs", &lines(SOFT_LINES + 1))[0].contains("remark"));
        assert!(texts("src/a.rs", &format!("{}#[cfg(test)]\n{}", lines(300), lines(300))).is_empty());
        assert!(texts("a/tests/it/a.rs", &lines(MAX_LINES)).is_empty());
        let found = texts("a/tests/it/a.rs", &lines(MAX_LINES + 1));
        assert!(found.len() == 1 && !found[0].contains("remark"), "{found:?}");
        assert!(texts("a.md", &lines(MAX_LINES + 1)).is_empty());
    }
}
