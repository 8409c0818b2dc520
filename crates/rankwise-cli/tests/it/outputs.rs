//! Places that cannot be written to: refused before the work begins, and nothing is left behind.

use crate::sandbox::{Outcome, Sandbox};

#[test]
fn folders_and_missing_folders_are_refused() {
    let sandbox = Sandbox::with_model();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let missing = "cannot write: its folder does not exist; create the folder first";
    let folder = "cannot write: this is a folder; give a file";
    let below_file = "cannot write: a part of the path is a file, not a folder; check the path";
    sandbox.write("scores", "1\n".repeat(900));
    for command in [
        "train train.txt --out",
        "synth --rows 10 --out",
        "predict model.json train.txt --out",
        "eval train.txt --scores scores --per-query",
    ] {
        for (out, problem) in
            [("no/where", missing), ("folder", folder), (".", folder), ("new/", folder), ("train.txt/x", below_file)]
        {
            let line = format!("{command} {out}");
            sandbox.refused(&line.split(' ').collect::<Vec<_>>(), &[&format!("{out}: {problem}")]);
        }
    }
    sandbox.all_refused(&[
        (
            "synth --rows 500 --split 0.5,0.5 --out train.txt",
            &["train.txt: cannot write: a file with this name exists"],
        ),
        ("demo --out train.txt", &["train.txt: cannot write: a file with this name exists; give a folder"]),
        ("convert-data train.txt folder", &["folder: cannot write: this is a folder; give a file"]),
        ("demo --out train.txt/x", &["train.txt/x: cannot write: a part of the path is a file"]),
    ]);
}

/// The system says of a new file in /proc that it does not exist.
#[test]
#[cfg(target_os = "linux")]
fn folders_that_accept_no_files_are_told_from_missing_ones() {
    let sandbox = Sandbox::with_model();
    let told: &[&str] = &["/proc/new: cannot write: its folder accepts no new files; use another folder"];
    for line in [
        "train train.txt --out /proc/new",
        "predict model.json train.txt --out /proc/new",
        "train train.txt --out m.json --checkpoint /proc/new",
        "train train.txt --out m.json --trace 1 --trace-out /proc/new",
        "synth --rows 500 --split 0.5,0.5 --out /proc/new",
        "man --out /proc/new",
    ] {
        sandbox.run(line).expect_refused(line, told);
    }
    let line = "train train.txt --out m.json --trace 1 --trace-out train.txt";
    sandbox.run(line).expect_refused(line, &["train.txt: cannot write: a file with this name exists; give a folder"]);
}

/// A place that turns out to be wrong after an hour of training would be a bad joke.
#[test]
fn the_output_is_checked_before_the_data_is_read() {
    let sandbox = Sandbox::new();
    sandbox.write("junk.txt", "junk\n");
    sandbox.refused(&["train", "junk.txt", "--out", "no/where"], &["no/where: cannot write"]);
}

#[test]
fn inputs_are_never_written_over() {
    let sandbox = Sandbox::with_model();
    sandbox.write("p.toml", "num_trees = 2\n");
    sandbox.write("scores", "1\n".repeat(900));
    let also = "cannot write: this file is also an input; use another name";
    sandbox.all_refused(&[
        ("train train.txt --out train.txt", &[also]),
        ("train train.txt --out ./train.txt", &["./train.txt: ", also]),
        ("train train.txt --valid vali.txt --out vali.txt", &[also]),
        ("train train.txt --config p.toml --out p.toml", &[also]),
        ("predict model.json train.txt --out model.json", &[also]),
        ("predict model.json train.txt --out train.txt", &[also]),
        ("eval train.txt --scores scores --per-query scores", &[also]),
    ]);
    sandbox.write("train.txt.weight", "1\n".repeat(900));
    sandbox.all_refused(&[
        ("eval train.txt --scores scores --per-query train.txt.weight", &["train.txt.weight: ", also]),
        ("predict model.json train.txt --out ./train.txt.weight", &[also]),
        ("train train.txt --out train.txt.weight", &[also]),
    ]);
    assert_eq!(sandbox.text("train.txt.weight"), "1\n".repeat(900));
}

#[test]
fn stdout_is_not_used_for_two_things() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        (
            "predict model.json train.txt --json",
            &["--json prints its object to standard output, so the scores need a file; name an output file"],
        ),
        ("predict model.json train.txt --json --out -", &["so the scores need a file"]),
        ("train train.txt --out - --json", &["--json prints its object to standard output, so the model needs a file"]),
        ("synth --rows 10 --out - --json", &["--json prints its object to standard output, so the data needs a file"]),
        (
            "synth --rows 10 --split 0.5,0.5 --out -",
            &["--split writes several files", "be used; set --out to a folder"],
        ),
        ("eval train.txt --model model.json --per-query -", &["standard output is used for the means; give a file"]),
    ]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let sandbox = Sandbox::with_model();
    std::os::unix::fs::symlink("model.json", sandbox.path("latest.json")).unwrap();
    let old = sandbox.bytes("model.json");
    let new = sandbox.train("latest.json", "--set learning_rate=0.3");
    assert_ne!(new, old);
    assert_eq!(sandbox.bytes("model.json"), new);
    assert!(std::fs::symlink_metadata(sandbox.path("latest.json")).unwrap().is_symlink());
}

/// Runs where no file may grow beyond 4 kB, as on a disk that is nearly full.
#[cfg(unix)]
fn run_limited(sandbox: &Sandbox, line: &str) -> Outcome {
    let binary = assert_cmd::cargo::cargo_bin!("rankwise");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -f 8; exec \"$0\" \"$@\""]).arg(binary).args(line.split_whitespace());
    shell.current_dir(sandbox.path("")).output().unwrap().into()
}

#[cfg(unix)]
#[test]
fn a_write_that_fails_half_way_leaves_the_old_file_whole() {
    let sandbox = Sandbox::with_model();
    let outputs = ["train.json", "scores.txt", "table.tsv", "synth.txt", "synth.txt.gz", "data/train.txt"];
    std::fs::create_dir(sandbox.path("data")).unwrap();
    for (name, line) in outputs.iter().zip([
        "train train.txt --out train.json --set num_trees=50",
        "predict model.json train.txt --out scores.txt",
        "eval train.txt --model model.json --per-query table.tsv --metric ndcg@1,ndcg@2,ndcg@3,ndcg@4,ndcg@5,dcg,ndcg",
        "synth --rows 500 --out synth.txt",
        "synth --rows 500 --out synth.txt.gz",
        "synth --rows 500 --split 0.5,0.5 --out data",
    ]) {
        // The table has a line for each of the queries: make them many.
        if *name == "table.tsv" {
            let rows: String = (0..900).map(|row| format!("{} qid:{} 1:{row}\n", row % 3, row / 2)).collect();
            sandbox.write("train.txt", rows);
        }
        sandbox.write(name, "old\n");
        let before = sandbox.listing();
        let problem = "cannot write: the file size limit is exceeded; raise the limit (ulimit -f)";
        run_limited(&sandbox, line).expect_refused(line, &[&format!("{name}: {problem}")]);
        assert_eq!(sandbox.text(name), "old\n", "{line}");
        assert_eq!(sandbox.listing(), before, "{line} left something behind");
    }
    let line = "synth --rows 500 --split 0.5,0.5 --out fresh";
    run_limited(&sandbox, line).expect_refused(line, &["fresh/train.txt: cannot write: "]);
    assert!(!sandbox.path("fresh").exists());
}

#[cfg(unix)]
#[test]
fn a_checkpoint_that_cannot_be_saved_is_told_once_and_the_run_goes_on() {
    let sandbox = Sandbox::with_data();
    let line =
        "train train.txt --out m.json --set num_trees=3 --set num_leaves=2 --checkpoint run --checkpoint-every 1";
    let outcome = run_limited(&sandbox, line);
    let said = "warning: cannot save the checkpoint of tree 1: run/tree-0000001.checkpoint: cannot write: ";
    assert_eq!(outcome.stderr.matches("cannot save the checkpoint").count(), 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    outcome.expect_ok(line);
    assert_eq!(sandbox.json("inspect m.json")["trees"], 3);
    assert!(!sandbox.path("run").exists(), "nothing was saved in this data");
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_half_written_file_behind() {
    for (signal, exit_code) in [("INT", 130), ("TERM", 143)] {
        let sandbox = Sandbox::new();
        // More rows than can be written before the signal comes.
        let mut child =
            sandbox.command("synth --rows 50000000 --features 9 --out data.txt".split(' ')).spawn().unwrap();
        while sandbox.listing().is_empty() {
            assert!(child.try_wait().unwrap().is_none(), "it has not begun to write");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(exit_code));
        assert_eq!(sandbox.listing(), []);
    }
}
