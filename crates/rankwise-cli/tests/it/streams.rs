//! Closed pipes, full disks and Ctrl-C.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use crate::sandbox::{Outcome, Sandbox};

/// Reads one line of stdout, closes it, and waits.
fn closed_after_a_line(sandbox: &Sandbox, line: &str) -> (String, Option<i32>, String) {
    let mut command = sandbox.command(line.split(' '));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    (first, output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let sandbox = Sandbox::with_model();
    // More than a pipe holds, so that the writer must notice.
    sandbox.ok("synth --rows 20000 --features 8 --out long.txt");
    for line in
        ["predict model.json long.txt", "synth --rows 20000 --out -", "predict model.json long.txt --format run"]
    {
        let (first, code, stderr) = closed_after_a_line(&sandbox, line);
        assert!(!first.is_empty(), "{line}");
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{line}");
    }
}

/// A pipe that nobody reads from any more.
fn closed_pipe() -> std::io::PipeWriter {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer
}

#[test]
fn closed_stdout_ends_commands_that_print_quietly() {
    let sandbox = Sandbox::with_model();
    for line in [
        "inspect train.txt --quiet",
        "inspect model.json --json",
        "predict model.json train.txt",
        "eval vali.txt --model model.json",
        "train train.txt --out m.json --set num_trees=2 --quiet",
        "train --help-params",
        "--help",
    ] {
        let output = sandbox.command(line.split(' ')).stdout(closed_pipe()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {output:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{line}");
    }
    assert!(!sandbox.bytes("m.json").is_empty(), "the model was written before");
}

/// `rankwise train ... 2>&1 | head -1` must still write the model.
#[test]
fn closed_stderr_does_not_stop_the_work() {
    let sandbox = Sandbox::with_data();
    let line = "train train.txt --out m.json --set num_trees=6 --set num_leaves=7";
    let output = sandbox.command(line.split(' ')).stderr(closed_pipe()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(sandbox.bytes("m.json"), sandbox.train("n.json", ""));
    let refused = sandbox.command(["inspect", "nosuch"]).stderr(closed_pipe()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_is_the_users_to_mend() {
    let sandbox = Sandbox::with_model();
    let full = "cannot write: the disk is full; free some space or use another place";
    sandbox.all_refused(&[
        ("train train.txt --out /dev/full --set num_trees=2", &["/dev/full: ", full]),
        ("predict model.json train.txt --out /dev/full", &["/dev/full: ", full]),
        ("synth --rows 100 --out /dev/full", &["/dev/full: ", full]),
        ("eval train.txt --model model.json --per-query /dev/full", &["/dev/full: ", full]),
    ]);
    for line in [
        "inspect train.txt",
        "inspect model.json --json",
        "train --help-params",
        "predict model.json train.txt",
        "synth --rows 100 --out -",
        "eval vali.txt --model model.json",
    ] {
        let stdout = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = sandbox.command(line.split(' ')).stdout(stdout).output().unwrap();
        Outcome::from(output).expect_refused(line, &["<stdout>: ", full]);
    }
}

/// Starts a training that would take far longer than the test, and waits for it to say that it has the data.
fn start_long_training(sandbox: &Sandbox, more: &str, awaited: &str) -> (Child, BufReader<std::process::ChildStderr>) {
    let line = format!("train train.txt --out m.json --set num_trees=1000000 --set learning_rate=0.0001{more}");
    let mut command = sandbox.command(line.split(' '));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    // A line of progress comes while trees are grown, when Ctrl-C is already looked after.
    let mut line = String::new();
    while !line.starts_with(awaited) {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "the training ended by itself");
    }
    (child, stderr)
}

#[test]
fn ctrl_c_keeps_the_trees_so_far() {
    interrupt("", "tree ");
}

/// The search for outliers, which comes before the model itself, shows its progress and can be stopped, too.
#[test]
fn ctrl_c_stops_the_search_for_outliers() {
    interrupt(" --set sample=inliers --set outlier_trees=1000000", "detecting outliers: tree ");
}

fn interrupt(more: &str, awaited: &str) {
    let sandbox = Sandbox::with_data();
    let (child, mut stderr) = start_long_training(&sandbox, more, awaited);
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let mut remarks = String::new();
    stderr.read_to_string(&mut remarks).unwrap();
    // As a shell counts, so that `train && deploy` goes no further.
    assert_eq!(output.status.code(), Some(130), "{remarks}");
    assert!(remarks.contains("stopping after this round"), "{remarks}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("; interrupted\n") && said.contains("\nwrote m.json\nuse --checkpoint DIR"), "{said}");
    let trees = sandbox.json("inspect m.json")["trees"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&trees), "{trees}");
    assert_eq!(sandbox.ok("predict m.json vali.txt").lines().count(), 900);
}
