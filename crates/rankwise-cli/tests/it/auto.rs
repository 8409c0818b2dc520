//! `rankwise auto`

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("synth --rows 5000 --features 8 --seed 3 --split 0.6,0.2,0.2 --out d --quiet");
    sandbox
}

const SETTINGS: &str = "--set num_trees=25 --set learning_rate=0.2";

#[test]
fn the_model_is_an_ordinary_one() {
    let sandbox = sandbox();
    let told = sandbox.ok(&format!("auto d/train.txt --valid d/vali.txt --out m.json --steps 6 {SETTINGS}"));
    assert!(told.contains("mean of 6 models") && told.contains("wrote m.json: "), "{told}");
    let scores = sandbox.ok("predict m.json d/test.txt");
    for target in ["lightgbm", "onnx", "c", "xgboost"] {
        sandbox.ok(&format!("convert m.json --to {target} --out m.out --check d/test.txt"));
    }
    assert!(sandbox.ok("inspect m.json").contains("objective auto"));
    assert_eq!(scores.lines().count(), sandbox.text("d/test.txt").lines().count());
    let better = sandbox.json("eval d/test.txt --model m.json");
    assert!(better["metrics"]["ndcg@10"].as_f64().unwrap() > 0.25, "{better}");
    sandbox.run("refit m.json d/test.txt --out r.json").expect_refused("auto", &["combines several"]);
}

#[test]
fn steps_are_resumed_with_the_same_result() {
    let sandbox = sandbox();
    let line = |out: &str, steps: usize, more: &str| {
        format!("auto d/train.txt --out {out} --steps {steps} --quiet {SETTINGS} {more}")
    };
    sandbox.ok(&line("whole.json", 5, "--threads 1"));
    sandbox.ok(&line("part.json", 2, "--checkpoint run"));
    sandbox.ok(&line("rest.json", 5, "--checkpoint run --resume"));
    assert_eq!(sandbox.text("rest.json"), sandbox.text("whole.json"));
    assert_ne!(sandbox.text("part.json"), sandbox.text("whole.json"));
    // Nothing is left to train.
    sandbox.ok(&line("again.json", 5, "--checkpoint run --resume"));
    assert_eq!(sandbox.text("again.json"), sandbox.text("whole.json"));
    sandbox
        .run(&line("x.json", 5, "--checkpoint run"))
        .expect_refused("auto", &["run: this folder already has models; add --resume"]);
    // Also if the first one is not among them.
    std::fs::remove_file(sandbox.path("run/step-0001.json")).unwrap();
    sandbox
        .run(&line("x.json", 5, "--checkpoint run"))
        .expect_refused("auto", &["run: this folder already has models; add --resume"]);
    sandbox.ok(&line("again.json", 5, "--checkpoint run --resume"));
    sandbox
        .run(&line("x.json", 5, "--checkpoint run --resume --metric map"))
        .expect_refused("auto", &["run/step-0001.json: saved with other parameters"]);
    sandbox.write("run/step-0002.json", "half a fi");
    sandbox
        .run(&line("x.json", 5, "--checkpoint run --resume"))
        .expect_refused("damaged", &["run/step-0002.json: not a saved step", "delete it"]);
    std::fs::remove_file(sandbox.path("run/step-0002.json")).unwrap();
    sandbox.ok(&line("again.json", 5, "--checkpoint run --resume"));
    assert_eq!(sandbox.text("again.json"), sandbox.text("whole.json"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_keeps_what_it_has() {
    let sandbox = sandbox();
    let line = "auto d/train.txt --out m.json --time 1h --set num_trees=200 --set learning_rate=0.01 --checkpoint run";
    let mut command = sandbox.command(line.split_whitespace());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !sandbox.path("run/step-0001.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted; the model combines"));
    sandbox.ok("predict m.json d/test.txt --out s.txt");
}

#[test]
fn the_time_limits_the_search() {
    let sandbox = sandbox();
    let found = sandbox.json("auto d/train.txt --out m.json --time 1s --set learning_rate=0.01");
    // Loading and writing are included, but a busy machine may take longer than asked for.
    assert!(!found["steps"].as_array().unwrap().is_empty(), "{found}");
    assert!(found["seconds"]["total"].as_f64().unwrap() < 20.0, "{}", found["seconds"]);
}

#[test]
fn mistakes_are_explained() {
    let sandbox = sandbox();
    sandbox.write("few.txt", "1 qid:1 1:2\n0 qid:1 1:3\n0 qid:2 1:1\n1 qid:2 1:9\n");
    sandbox.all_refused(&[
        ("auto d/train.txt --out m.json --time 0s", &["expected a time, such as 60s, 10m or 1h"]),
        ("auto d/train.txt --out m.json --time 5s --steps 3", &["cannot be used with"]),
        ("auto d/train.txt --out m.json --steps -1", &["expected an integer of at least 1"]),
        ("auto d/train.txt --steps 3", &["--out"]),
        ("auto --out m.json", &["DATA"]),
        (
            "auto few.txt --out m.json --steps 1",
            &["few.txt: 2 queries are too few: one fifth is set aside for validation, which needs at least 4; give at least 16 queries"],
        ),
        ("auto d/train.txt --valid few.txt --out m.json --steps 1", &["few.txt: 2 queries are too few to choose by"]),
        ("auto d/train.txt --valid d/vali.txt --valid d/test.txt --out m.json --steps 1", &["one validation set"]),
        ("auto d/train.txt --out m.json --steps 1 --metric auc", &["auc"]),
        ("auto d/train.txt --out d/train.txt --steps 1", &["d/train.txt"]),
        ("auto d/train.txt --out m.json --steps 1 --resume", &["--checkpoint"]),
        ("auto d/train.txt --out m.json --steps 1 --set num_leafs=3", &["did you mean 'num_leaves'?"]),
    ]);
}
