//! Checks that links in the documentation lead to existing files and, after `#`, to existing headings.
//!
//! Pages in `docs/` link only to each other, because the book contains nothing else.

use std::path::{Component, Path, PathBuf};

use super::{Finding, has_ending};

/// The folder of the book.
const BOOK: &str = "docs";

/// A path relative to the root: whether it exists and, for Markdown, its text.
pub(super) enum Target {
    Absent,
    Markdown(String),
    Other,
}

impl Target {
    /// Looks a path up.
    pub(super) fn find(root: &Path, path: &Path) -> Self {
        let whole = root.join(path);
        match std::fs::read_to_string(&whole) {
            Ok(text) if has_ending(&path.to_string_lossy(), "md") => Self::Markdown(text),
            _ if whole.exists() => Self::Other,
            _ => Self::Absent,
        }
    }
}

/// Checks the relative links of a Markdown file with `find`, which takes a path relative to the root.
pub(super) fn check(file: &str, text: &str, find: impl Fn(&Path) -> Target) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, content) in prose(text) {
        for target in targets(&without_code(content)).filter(|target| is_relative(target)) {
            let problem = problem(Path::new(file), target, &find);
            findings
                .extend(problem.map(|problem| Finding::error(file, line, format!("the link '{target}' {problem}"))));
        }
    }
    findings
}

fn problem(file: &Path, target: &str, find: impl Fn(&Path) -> Target) -> Option<String> {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = resolve(file, path) else {
        return Some("leads out of the repository; link to a file inside".to_owned());
    };
    if file.starts_with(BOOK) && !path.starts_with(BOOK) {
        return Some("leads out of the book; name the file in backticks instead".to_owned());
    }
    match find(&path) {
        Target::Absent => Some(format!("leads to {}, which does not exist; correct it", path.display())),
        Target::Markdown(text) if !heading.is_empty() && !anchors(&text).iter().any(|anchor| anchor == heading) => {
            Some(format!("leads to a heading that {} does not have; correct it", path.display()))
        }
        Target::Markdown(_) | Target::Other => None,
    }
}

/// The lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// The anchors of headings: lower-case letters, digits, `-` and `_`. Spaces become `-`, and a repeated anchor gets a
/// number.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let name: String = heading
            .trim()
            .chars()
            .filter_map(|letter| match letter {
                ' ' => Some('-'),
                '-' | '_' => Some(letter),
                _ => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
            })
            .collect();
        let numbered = (1..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

/// The targets in `](...)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

/// The line without code in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn is_relative(target: &str) -> bool {
    !target.contains("://") && !target.starts_with("mailto:")
}

/// The path relative to the root; the file itself for an empty target. `None` if it is outside of the repository.
fn resolve(file: &Path, target: &str) -> Option<PathBuf> {
    if target.is_empty() {
        return Some(file.to_path_buf());
    }
    let mut path = PathBuf::new();
    for part in file.parent().unwrap_or(Path::new("")).join(target).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => path.pop().then_some(())?,
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "# Data\n\n## The *first*, `x` & more_\n\n```sh\n# no heading\n```\n\n### Trees\n### Trees\n";

    fn problems(file: &str, text: &str) -> Vec<(usize, String)> {
        let found = check(file, text, |path| match path.to_str() {
            Some("docs/data.md") => Target::Markdown(DATA.to_owned()),
            Some("README.md" | "docs/own.md") => Target::Markdown(text.to_owned()),
            Some("docs") => Target::Other,
            _ => Target::Absent,
        });
        found.into_iter().map(|finding| (finding.line, finding.text)).collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "# Here\n[a](docs/data.md#data) and [b](./README.md), [c](docs/), [d](#here), [e](https://a.org/x)";
        assert_eq!(problems("README.md", text), []);
        assert_eq!(problems("docs/own.md", "[beside](data.md)"), []);
        assert_eq!(problems("README.md", "`[no](link.md)`\n```\n[no](link.md)\n```"), []);
    }

    #[test]
    fn headings_are_called_as_browsers_show_them() {
        assert_eq!(anchors(DATA), ["data", "the-first-x--more_", "trees", "trees-1"]);
    }

    #[test]
    fn dead_links_are_found_by_line() {
        let found = problems("docs/own.md", "fine\n[x](README.md) [y](../../other) [z](../README.md)");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 2, 2]);
        for (found, part) in found.iter().zip(["docs/README.md", "out of the repository", "out of the book"]) {
            assert!(found.1.contains(part), "{found:?}");
        }
        let found = problems("README.md", "# Here\n[x](#there) [y](docs/data.md#no-heading)");
        assert!(found.len() == 2 && found[1].1.contains("a heading that docs/data.md"), "{found:?}");
    }
}
