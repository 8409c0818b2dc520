//! Checks what every crate must inherit from the workspace.

use super::Finding;

const INHERITED: [(&str, &str); 3] = [("package", "version"), ("package", "edition"), ("lints", "")];

/// Looks for `version.workspace`, `edition.workspace` and `[lints] workspace`.
pub(super) fn check(file: &str, manifest: &str) -> Vec<Finding> {
    let missing = INHERITED.into_iter().filter(|(section, key)| !inherits(manifest, section, key));
    let findings = missing.map(|(section, key)| {
        let line = manifest.lines().position(|line| header(line) == Some(section)).map_or(1, |position| position + 1);
        let (what, write) = match key {
            "" => (section.to_owned(), "`workspace = true`".to_owned()),
            key => (key.to_owned(), format!("`{key}.workspace = true`")),
        };
        Finding::error(file, line, format!("{what} is not the workspace's; write {write} under [{section}]"))
    });
    findings.collect()
}

/// Whether a section has `key.workspace = true`, or `workspace = true` for an empty key.
fn inherits(manifest: &str, section: &str, key: &str) -> bool {
    let short = if key.is_empty() { "workspace=true".to_owned() } else { format!("{key}.workspace=true") };
    let long = format!("{key}={{workspace=true}}");
    let mut current = "";
    manifest.lines().any(|line| {
        current = header(line).unwrap_or(current);
        let line: String = line.split('#').next().unwrap_or("").split_whitespace().collect();
        current == section && (line == short || line == long)
    })
}

/// The name in `[name]`.
fn header(line: &str) -> Option<&str> {
    line.trim().strip_prefix('[')?.strip_suffix(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
[package]
name = \"a\"
version.workspace = true
edition = { workspace = true } # as all

[lints]
workspace = true
";

    #[test]
    fn inheriting_all_passes_and_each_omission_is_found() {
        assert_eq!(check("Cargo.toml", MANIFEST), []);
        for (from, to, line, problem) in [
            ("version.workspace = true", "version = \"1.0.0\"", 1, "version is not"),
            ("edition = { workspace = true }", "edition = \"2021\"", 1, "edition is not"),
            ("workspace = true\n", "workspace = false\n", 6, "lints is not"),
            ("[lints]\n", "[other]\n", 1, "lints is not"),
        ] {
            // Only the last `workspace = true` is alone on its line.
            let at = MANIFEST.rfind(from).unwrap();
            let changed = format!("{}{to}{}", &MANIFEST[..at], &MANIFEST[at + from.len()..]);
            let found = check("Cargo.toml", &changed);
            assert!(found.len() == 1 && found[0].line == line && found[0].text.contains(problem), "{found:?}");
        }
    }
}
