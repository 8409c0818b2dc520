//! The flags that every command has, and which stream gets what.

use crate::sandbox::Sandbox;

#[test]
fn they_work_before_and_after_the_command() {
    let sandbox = Sandbox::with_model();
    let lines = ["inspect model.json --json", "--json inspect model.json"];
    let [after, before] = lines.map(|line| {
        let mut object: serde_json::Value = serde_json::from_str(&sandbox.ok(line)).unwrap();
        object["seconds"] = serde_json::json!(null);
        object
    });
    assert_eq!(before, after);

    let seeded = sandbox.ok("synth --rows 40 --features 3 --out - --seed 9 --threads 2");
    assert_eq!(sandbox.ok("--seed 9 --threads 2 synth --rows 40 --features 3 --out -"), seeded);
    assert_ne!(sandbox.ok("synth --rows 40 --features 3 --out -"), seeded);

    let settings = "train.txt --set num_trees=2 --set bagging_fraction=0.5 --set bagging_freq=1 --out";
    sandbox.ok(&format!("train {settings} after.json --seed 9"));
    sandbox.ok(&format!("--seed 9 train {settings} before.json"));
    assert_eq!(sandbox.bytes("before.json"), sandbox.bytes("after.json"));
    for line in ["--quiet train", "train --quiet"] {
        assert_eq!(sandbox.run(&format!("{line} {settings} m.json")).stderr, "", "{line}");
    }
}

#[test]
fn results_and_remarks_have_their_own_streams() {
    let sandbox = Sandbox::with_data();
    let line = "train train.txt --valid vali.txt --out m.json --set num_trees=3";
    let outcome = sandbox.run(line);
    assert!(outcome.stderr.contains("train.txt: 900 documents, "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("vali.txt: 900 documents, "), "{}", outcome.stderr);
    assert!(
        outcome.stdout.starts_with("grew 3 trees") && outcome.stdout.ends_with("wrote m.json\n"),
        "{}",
        outcome.stdout
    );

    let quiet = sandbox.run(&format!("{line} --quiet"));
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
    // Results, and nothing about what was done.
    assert!(quiet.stdout.starts_with("vali.txt: ndcg@10 0.") && quiet.stdout.lines().count() == 1, "{}", quiet.stdout);
    for line in
        ["predict m.json vali.txt --out s.txt", "convert m.json --to c --out m.c", "train train.txt --out n.json"]
    {
        assert_eq!(sandbox.ok(&format!("{line} --quiet")), "", "{line}");
        assert!(sandbox.json(&format!("{line} --quiet")).is_object(), "{line}");
    }
    assert!(sandbox.ok("eval vali.txt --model m.json --quiet").starts_with("metric "));
    let refused = sandbox.run("train nosuch.txt --out m.json --quiet");
    refused.expect_refused("quiet", &["nosuch.txt: cannot open"]);
}

#[test]
fn a_file_on_stdout_has_it_for_itself() {
    let sandbox = Sandbox::with_data();
    let model = sandbox.train("m.json", "");
    let printed = sandbox.run("train train.txt --out - --set num_trees=6 --set num_leaves=7");
    assert_eq!(printed.stdout.as_bytes(), model);
    assert!(printed.stderr.contains("grew 6 trees"), "{}", printed.stderr);
    let data = sandbox.run("synth --rows 900 --features 8 --seed 1 --out -");
    assert_eq!(data.stdout, sandbox.text("train.txt"));
}

#[test]
fn training_tells_where_its_time_went() {
    let sandbox = Sandbox::with_data();
    let said = sandbox.json("train train.txt --valid vali.txt --out m.json --set num_trees=20");
    let keys: Vec<&String> = said["seconds"].as_object().unwrap().keys().collect();
    let mut expected =
        ["load", "bin", "gradients", "histograms", "splits", "partition", "scores", "validation", "other", "total"];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    let seconds = |name: &str| said["seconds"][name].as_f64().unwrap();
    let parts: f64 = expected.iter().filter(|name| **name != "total").map(|name| seconds(name)).sum();
    assert!((parts - seconds("total")).abs() <= 0.01 * seconds("total"), "{said}");
    assert!(expected.iter().all(|name| seconds(name) >= 0.0), "{said}");
    assert_eq!(said["model"], "m.json");
    assert!(said["valid"]["ndcg@10"].as_f64().is_some_and(|value| (0.0..=1.0).contains(&value)), "{said}");
    assert!(said["trees"].as_u64().unwrap() >= 1 && said["best_iteration"].is_u64(), "{said}");
    // A process that has read the data has taken a megabyte at least.
    assert!(cfg!(not(target_os = "linux")) || said["peak_memory_bytes"].as_u64().unwrap() > 1 << 20, "{said}");
}

#[test]
fn without_validation_there_are_no_values() {
    let sandbox = Sandbox::with_data();
    let said = sandbox.json("train train.txt --out m.json --set num_trees=2");
    assert_eq!((&said["valid"], &said["trees"]), (&serde_json::json!({}), &serde_json::json!(2)));
}

#[test]
fn help_and_version_are_results() {
    let sandbox = Sandbox::new();
    assert!(sandbox.ok("--version").starts_with("rankwise "));
    for command in ["demo", "synth", "inspect", "train", "predict", "eval"] {
        let outcome = sandbox.run(&format!("{command} --help"));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{command}");
        assert!(outcome.stdout.contains(&format!("Usage: rankwise {command}")), "{}", outcome.stdout);
        assert!(outcome.stdout.contains("--threads <N>"), "{}", outcome.stdout);
    }
    // No command at all: the help, but not as a success.
    let outcome = sandbox.run("");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("Usage: rankwise") && outcome.stdout.is_empty(), "{}", outcome.stderr);
}

/// Whichever instructions are used, the model is the same; those that there are not are refused before any work.
#[test]
fn instructions_can_be_chosen() {
    let sandbox = Sandbox::with_data();
    let train = |level: &str, out: &str| {
        let args = ["train", "train.txt", "--out", out, "--set", "num_trees=3", "--quiet"];
        sandbox.command(args).env("RANKWISE_SIMD", level).output().unwrap()
    };
    assert!(train("", "best.json").status.success());
    assert!(train("portable", "portable.json").status.success());
    assert_eq!(sandbox.bytes("best.json"), sandbox.bytes("portable.json"));

    let refused = train("sse9", "none.json");
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(message, "error: RANKWISE_SIMD=sse9 is unknown; use avx512, avx2 or portable, or unset it\n");
    assert!(!sandbox.path("none.json").exists());
}
