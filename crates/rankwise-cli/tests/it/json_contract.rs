//! The contract of `--json`: what every command prints follows its schema in `docs/schemas`, `outputs` are the files that
//! appeared, `seconds` add up, `warnings` are those of text mode, and errors are objects on stderr.

mod cases;
mod errors;
mod schema;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use self::cases::{CASES, Case, sandbox};
use self::schema::Schemas;
use crate::sandbox::{Outcome, Sandbox};

#[test]
fn every_command_has_a_schema_and_a_case() {
    let help = Sandbox::new().ok("--help");
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Further lines of a description stand further to the right.
    let first_lines = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names = first_lines.filter_map(|line| line.split(' ').next());
    let commands: BTreeSet<&str> = names.filter(|command| *command != "help").collect();
    assert!(commands.len() >= 14, "{help}");
    let in_cases: BTreeSet<&str> = CASES.iter().map(Case::command).collect();
    assert_eq!(in_cases, commands, "add a row to `CASES`");
    let files =
        std::fs::read_dir(schema::folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let expected = commands.iter().copied().chain(["common", "error"]).map(|name| format!("{name}.json"));
    assert_eq!(files.collect::<BTreeSet<_>>(), expected.collect(), "docs/schemas has one file for each command");
}

#[test]
fn results_follow_their_schemas() {
    let sandbox = sandbox();
    let mut schemas = Schemas::new();
    for case in CASES {
        let before = files(&sandbox);
        // On a slow machine there would be lines of progress.
        let quiet = if case.line.contains("--quiet") { "" } else { "--quiet" };
        let outcome = sandbox.run(&format!("{} --json {quiet}", case.line));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{}", case.line);
        let object = only_object(&outcome.stdout);
        schemas.check(case.command(), &object, case.line);
        check_outputs(&sandbox, &before, &object, case.line);
        check_seconds(&object, case.line);
        remove_new(&sandbox, &before);
        if case.command() != "demo" {
            check_warnings(&sandbox, case.line, &object);
            remove_new(&sandbox, &before);
        }
        let n_warnings = object["warnings"].as_array().unwrap().len();
        assert_eq!(n_warnings > 0, case.has_warnings, "{}: {}", case.line, object["warnings"]);
    }
}

fn only_object(text: &str) -> Value {
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The files below the sandbox, by their paths in it.
fn files(sandbox: &Sandbox) -> BTreeSet<PathBuf> {
    let root = sandbox.path("");
    let paths = sandbox.listing().into_iter().map(|(path, _)| path).filter(|path| path.is_file());
    paths.map(|path| path.strip_prefix(&root).unwrap().to_owned()).collect()
}

fn remove_new(sandbox: &Sandbox, before: &BTreeSet<PathBuf>) {
    for path in files(sandbox).difference(before) {
        std::fs::remove_file(sandbox.path(path.to_str().unwrap())).unwrap();
    }
}

fn check_outputs(sandbox: &Sandbox, before: &BTreeSet<PathBuf>, object: &Value, line: &str) {
    let outputs = object["outputs"].as_array().unwrap();
    let told: BTreeSet<PathBuf> = outputs.iter().map(|output| output["path"].as_str().unwrap().into()).collect();
    assert_eq!(told.len(), outputs.len(), "{line}: a file is listed twice: {outputs:?}");
    let appeared: BTreeSet<PathBuf> = files(sandbox).difference(before).cloned().collect();
    assert_eq!(told, appeared, "{line}");
}

fn check_seconds(object: &Value, line: &str) {
    let seconds = object["seconds"].as_object().unwrap();
    let of = |name: &str| seconds[name].as_f64().unwrap();
    let sum: f64 = seconds.keys().filter(|name| *name != "total").map(|name| of(name)).sum();
    assert!((sum - of("total")).abs() <= 1e-6, "{line}: {seconds:?}");
}

fn check_warnings(sandbox: &Sandbox, line: &str, object: &Value) {
    // The object has all warnings, also those that --quiet hides in text mode.
    let Outcome { code, stderr, .. } = sandbox.run(&line.replace(" --quiet", ""));
    assert_eq!(code, Some(0), "{line}: {stderr}");
    let advice = |line: &str| line.strip_prefix("warning: ").or_else(|| line.strip_prefix("note: ")).map(str::to_owned);
    let in_text: Vec<String> = stderr.lines().filter_map(advice).collect();
    assert_eq!(object["warnings"], Value::from(in_text), "{line}");
}

/// The result of a run that was stopped is still printed; it is no error.
#[cfg(unix)]
#[test]
fn an_interrupted_run_prints_its_result() {
    let sandbox = sandbox();
    let line = "train train.txt --valid vali.txt --out m.json --json --quiet --set num_trees=100000 \
                --checkpoint run --checkpoint-every 2";
    let mut command = sandbox.command(line.split_whitespace());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !sandbox.path("run/tree-0000004.checkpoint").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(2));
        if std::fs::read_dir(sandbox.path("run")).is_ok_and(|entries| entries.count() > 1) {
            break;
        }
    }
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let outcome = Outcome::from(child.wait_with_output().unwrap());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(130), ""));
    let object = only_object(&outcome.stdout);
    Schemas::new().check("train", &object, line);
    assert_eq!(object["stopped"], "interrupted");
    let kinds: Vec<&Value> = object["outputs"].as_array().unwrap().iter().map(|output| &output["kind"]).collect();
    assert_eq!(kinds, ["checkpoint", "checkpoint", "model"]);
}
