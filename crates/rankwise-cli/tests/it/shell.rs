//! Completions and man pages.

use rankwise_testing::{SkipKind, skip};

use crate::sandbox::Sandbox;

const COMMANDS: [&str; 18] = [
    "auto",
    "cv",
    "tune",
    "demo",
    "synth",
    "inspect",
    "explain",
    "train",
    "predict",
    "eval",
    "compare",
    "blend",
    "refit",
    "prune",
    "convert",
    "convert-data",
    "completions",
    "man",
];

#[test]
fn completions_know_every_command_and_option() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.ok(&format!("completions {shell}"));
        for word in COMMANDS.into_iter().chain(["init-model", "qid-scope", "relevant-from"]) {
            assert!(script.contains(word), "{shell}: no {word}");
        }
        assert_eq!(sandbox.json(&format!("completions {shell}"))["script"], script.as_str());
    }
    sandbox.refused(&["completions", "cmd"], &["invalid value 'cmd'", "bash"]);
}

/// The script does in a shell what it is for.
#[test]
fn bash_completes_commands_and_options() {
    let sandbox = Sandbox::new();
    let script = sandbox.ok("completions bash");
    sandbox.write("complete.sh", script);
    let bash = |line: &str| {
        let mut bash = std::process::Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", line]).current_dir(sandbox.path(".")).output()
    };
    if bash("true").is_err() {
        return skip(SkipKind::Missing, "bash");
    }
    let complete = |words: &[&str]| {
        let line = format!(
            "source ./complete.sh; COMP_WORDS=({}); COMP_CWORD={}; _rankwise rankwise '{}' ''; echo \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1,
            words.last().unwrap()
        );
        String::from_utf8(bash(&line).unwrap().stdout).unwrap()
    };
    assert_eq!(complete(&["rankwise", "pre"]), "predict\n");
    assert_eq!(complete(&["rankwise", "train", "--init"]), "--init-model\n");
    assert_eq!(complete(&["rankwise", "completions", "z"]), "zsh\n");
}

#[test]
fn man_writes_a_page_for_each_command() {
    let sandbox = Sandbox::new();
    let told = sandbox.ok("man --out share/man1");
    assert!(told.starts_with("wrote 19 man pages to share/man1"), "{told}");
    let program = sandbox.text("share/man1/rankwise.1");
    for command in COMMANDS {
        assert!(program.contains(&format!("rankwise\\-{}(1)", command.replace('-', "\\-"))), "{command}:\n{program}");
        let page = sandbox.text(&format!("share/man1/rankwise-{command}.1"));
        assert!(page.contains(".SH SYNOPSIS") && page.contains("\\-\\-threads"), "{command}:\n{page}");
    }
    let train = sandbox.text("share/man1/rankwise-train.1");
    for option in ["\\-\\-init\\-model", "\\-\\-valid", "\\-\\-label\\-column"] {
        assert!(train.contains(option), "{option}:\n{train}");
    }
    let said = sandbox.json("man --out again");
    assert_eq!(said["outputs"].as_array().unwrap().len(), COMMANDS.len() + 1);
    sandbox.write("file", "");
    sandbox.refused(&["man", "--out", "file"], &["file: cannot write"]);
}
