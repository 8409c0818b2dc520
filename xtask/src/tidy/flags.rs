//! Flags and commands belong to the command line: messages of libraries must also make sense to callers from Rust or
//! Python. Libraries name their options in backticks, and `rankwise-cli/src/failure.rs` turns them into flags.

use super::{Finding, has_ending};

/// The command line itself, programs that run it, and the page with its parameters.
const EXCEPT: [&str; 3] = ["crates/rankwise-cli/", "crates/rankwise-fuzz/", "crates/rankwise/src/help.rs"];
/// Flags of other programs that messages may mention: this one is zstd's.
const OF_OTHERS: [&str; 1] = ["--long"];
const COMMANDS: [&str; 12] = [
    "blend", "compare", "convert", "demo", "eval", "explain", "inspect", "predict", "prune", "refit", "synth", "train",
];

/// Finds flags and commands in the code of libraries, except in comments.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let is_library = file.starts_with("crates/") && file.contains("/src/") && has_ending(file, "rs");
    if !is_library || EXCEPT.iter().any(|except| file.starts_with(except)) {
        return Vec::new();
    }
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .filter_map(|(number, line)| {
            let found = flag(line).or_else(|| command(line))?;
            let advice = "name the option in backticks, and let rankwise-cli/src/failure.rs translate it";
            Some(Finding::error(file, number, format!("a library names '{found}' of the command line; {advice}")))
        })
        .collect()
}

fn flag(line: &str) -> Option<String> {
    let flags = line.match_indices("--").filter(|(at, _)| !line[..*at].ends_with('-')).map(|(at, _)| &line[at..]);
    flags
        .filter(|rest| rest[2..].starts_with(|first: char| first.is_ascii_lowercase()))
        .map(|rest| rest.split(|char: char| char != '-' && !char.is_ascii_alphanumeric()).next().unwrap_or(rest))
        .find(|flag| !OF_OTHERS.contains(flag))
        .map(str::to_owned)
}

fn command(line: &str) -> Option<String> {
    let commands = COMMANDS.map(|name| format!("rankwise {name}"));
    let ends_there = |at: usize| !line[at..].starts_with(|char: char| char.is_alphanumeric() || char == '_');
    commands.into_iter().find(|name| line.match_indices(name.as_str()).any(|(at, _)| ends_there(at + name.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_in_libraries_only() {
        let n_found = |file: &str, line: &str| check(file, &format!("ok\n{line}\n")).len();
        for line in ["\"give --valid\"", "\"--set a=b\"", "(\"--label-column\", 1)", "\"see `rankwise train`\""] {
            assert_eq!(n_found("crates/rankwise-io/src/error.rs", line), 1, "{line}");
            assert_eq!(n_found("crates/rankwise-cli/src/args.rs", line), 0, "{line}");
            assert_eq!(n_found("crates/rankwise-io/tests/it/main.rs", line), 0, "{line}");
        }
        for line in
            ["// --valid", "/// as --set", "\"a -- b\"", "\"---\"", "\"--1\"", "\"zstd --long\"", "rankwise trained"]
        {
            assert_eq!(n_found("crates/rankwise-io/src/error.rs", line), 0, "{line}");
        }
    }
}
