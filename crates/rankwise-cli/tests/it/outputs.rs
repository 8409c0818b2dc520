//! Places that cannot be written to: refused before the work begins, and nothing is left behind.

use crate::sandbox::Sandbox;

#[test]
fn folders_and_missing_folders_are_refused() {
    let sandbox = Sandbox::with_model();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    let missing = "cannot write: its folder does not exist; make the folder first";
    let folder = "cannot write: this is a folder; name a file";
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
        ("synth --rows 10 --split 0.5,0.5 --out train.txt", &["train.txt: cannot write: there is a file of this name"]),
        ("demo --out train.txt", &["train.txt: cannot write: there is a file of this name; name a folder"]),
        ("demo --out train.txt/x", &["train.txt/x: cannot write: a part of the path is a file"]),
    ]);
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
    let also = "cannot write: this file is also an input; choose another name";
    sandbox.all_refused(&[
        ("train train.txt --out train.txt", &[also]),
        ("train train.txt --out ./train.txt", &["./train.txt: ", also]),
        ("train train.txt --valid vali.txt --out vali.txt", &[also]),
        ("train train.txt --config p.toml --out p.toml", &[also]),
        ("predict model.json train.txt --out model.json", &[also]),
        ("predict model.json train.txt --out train.txt", &[also]),
        ("eval train.txt --scores scores --per-query scores", &[also]),
    ]);
}

#[test]
fn stdout_is_not_used_for_two_things() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        (
            "predict model.json train.txt --json",
            &["--json prints a summary, so the scores need a file: add --out FILE"],
        ),
        ("predict model.json train.txt --json --out -", &["so the scores need a file"]),
        ("train train.txt --out - --json", &["--json prints a summary, so the model needs a file"]),
        ("synth --rows 10 --out - --json", &["--json prints a summary, so the data need a file"]),
        ("synth --rows 10 --split 0.5,0.5 --out -", &["--split writes several files", "name a folder with --out"]),
        ("eval train.txt --model model.json --per-query -", &["standard output takes the means; name a file"]),
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
