//! Links in the documents lead somewhere.

use std::path::{Component, Path, PathBuf};

use super::Finding;

/// Relative links of a Markdown file, each checked with `exists`, which takes a path from the root.
pub(super) fn check(file: &str, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<Finding> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    let mut in_code = false;
    for (line, content) in (1..).zip(text.lines()) {
        if content.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for target in targets(&without_code(content)).filter(|target| is_relative(target)) {
            let path = target.split('#').next().unwrap_or("");
            match resolve(folder, path) {
                Some(path) if path.as_os_str().is_empty() || exists(&path) => {}
                Some(path) => {
                    let text =
                        format!("the link '{target}' leads to {}, which does not exist; correct it", path.display());
                    findings.push(Finding::error(file, line, text));
                }
                None => {
                    let text = format!("the link '{target}' leads out of the repository; link to a file inside");
                    findings.push(Finding::error(file, line, text));
                }
            }
        }
    }
    findings
}

/// What stands in `](...)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next())
}

/// The line without what stands in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn is_relative(target: &str) -> bool {
    !target.starts_with('#') && !target.contains("://") && !target.starts_with("mailto:")
}

/// The path from the root; `None` where it leads out of it.
fn resolve(folder: &Path, target: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in folder.join(target).components() {
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

    fn problems(file: &str, text: &str) -> Vec<(usize, String)> {
        let known = ["README.md", "docs/data.md", "docs"];
        let found = check(file, text, |path| known.iter().any(|known| Path::new(known) == path));
        found.into_iter().map(|finding| (finding.line, finding.text)).collect()
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        let text = "[a](docs/data.md#top) and [b](./README.md), [c](docs/), [d](#here), [e](https://example.org/x)";
        assert_eq!(problems("README.md", text), []);
        assert_eq!(problems("docs/data.md", "[up](../README.md) [beside](data.md)"), []);
        assert_eq!(problems("README.md", "`[no](link.md)`\n```\n[no](link.md)\n```"), []);
    }

    #[test]
    fn dead_links_are_found_by_line() {
        let found = problems("docs/data.md", "fine\n[x](README.md) [y](../../other)");
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 2]);
        assert!(found[0].1.contains("docs/README.md") && found[1].1.contains("out of the repository"), "{found:?}");
    }
}
