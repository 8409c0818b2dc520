//! `rankwise tune`

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("synth --rows 4000 --features 8 --seed 3 --split 0.5,0.25,0.25 --out d --quiet");
    sandbox.write("space.toml", "learning_rate = { log = [0.01, 1] }\nnum_leaves = { log = [4, 40] }\n");
    sandbox
}

const LINE: &str = "tune d/train.txt --valid d/vali.txt --space space.toml --set num_trees=20 --seed 4";

#[test]
fn the_winner_is_trained_again_by_its_parameters() {
    let sandbox = sandbox();
    let line = format!("{LINE} --test d/test.txt --trials 14 --out m.json --write-config best.toml");
    let told = sandbox.ok(&line);
    for part in
        ["14 trials trained on", "the best 8 of 14 trials", "on d/test.txt", "winner - default", "wrote best.toml"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    sandbox.ok("train d/train.txt --valid d/vali.txt --config best.toml --out again.json");
    assert_eq!(sandbox.text("again.json"), sandbox.text("m.json"));
    let found = sandbox.json(&line);
    let measured = sandbox.json("eval d/test.txt --model m.json");
    assert_eq!(found["winner_metrics"], measured["metrics"]);
    let values = found["trials"].as_array().unwrap().iter().filter_map(|trial| trial["value"].as_f64());
    let best = &found["trials"][found["best"].as_u64().unwrap() as usize - 1];
    assert_eq!(best["value"].as_f64(), values.reduce(f64::max));
    assert_eq!(best["parameters"]["learning_rate"], found["parameters"]["learning_rate"]);
}

#[test]
fn without_test_data_half_of_the_validation_queries_test() {
    let sandbox = sandbox();
    let told = sandbox.ok(&format!("{LINE} --trials 3 --search random --halving --out m.json"));
    assert!(told.contains("of the validation data that the search did not see"), "{told}");
    let found = sandbox.json("tune d/train.txt --set num_trees=5 --trials 2 --out m.json");
    let queries = |name: &str| found["queries"][name].as_u64().unwrap();
    let all = sandbox.json("inspect d/train.txt")["queries"].as_u64().unwrap();
    assert_eq!(queries("train") + queries("search") + queries("test"), all);
    assert_eq!(found["tested_on"], "half of the validation data");
}

#[test]
fn one_thread_or_two_give_the_same() {
    let sandbox = sandbox();
    let results = |threads: usize| {
        let mut found =
            sandbox.json(&format!("{LINE} --trials 13 --parallel 3 --halving --out m.json --threads {threads}"));
        found.as_object_mut().unwrap().remove("seconds");
        (found.to_string(), sandbox.text("m.json"))
    };
    assert_eq!(results(1), results(2));
}

#[cfg(unix)]
#[test]
fn a_search_that_was_killed_ends_as_one_that_was_not() {
    let sandbox = sandbox();
    let line = |out: &str, more: &str| format!("{LINE} --trials 14 --out {out} {more}");
    sandbox.ok(&line("whole.json", ""));
    for number in [1, 4, 9] {
        let more = if number == 1 { "--checkpoint run" } else { "--checkpoint run --resume" };
        let mut child = sandbox.command(line("m.json", more).split_whitespace());
        child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = child.spawn().unwrap();
        while !sandbox.path(&format!("run/trial-{number:04}.json")).exists() {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    sandbox.ok(&line("m.json", "--checkpoint run --resume"));
    assert_eq!(sandbox.text("m.json"), sandbox.text("whole.json"));
    // Nothing is left to train; more trials go on from there.
    let again = sandbox.json(&line("m.json", "--checkpoint run --resume"));
    let more = sandbox.json(&line("m.json", "--checkpoint run --resume").replace("--trials 14", "--trials 16"));
    assert_eq!(more["trials"].as_array().unwrap()[..14], again["trials"].as_array().unwrap()[..]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_keeps_what_it_has() {
    let sandbox = sandbox();
    let line = "tune d/train.txt --out m.json --trials 1000 --set num_trees=50 --checkpoint run";
    let mut command = sandbox.command(line.split_whitespace());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !sandbox.path("run/trial-0003.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted; the winner is the best"));
    sandbox.ok("predict m.json d/test.txt --out s.txt");
}

#[test]
fn saved_trials_must_fit() {
    let sandbox = sandbox();
    let line = format!("{LINE} --trials 2 --out m.json --checkpoint run");
    sandbox.ok(&line);
    sandbox.run(&line).expect_refused("no resume", &["run: this folder already has models; add --resume"]);
    let refused = |more: &str, parts: &[&str]| {
        sandbox.run(&format!("{line} --resume {more}")).expect_refused(more, parts);
    };
    refused("--metric map", &["run/trial-0000.json: saved with other parameters"]);
    refused("--search random", &["run/trial-0000.json: saved with other search options"]);
    refused("--test d/test.txt", &["run/trial-0000.json: saved with other validation data"]);
    sandbox.write("run/trial-0002.json", "half a fi");
    refused("", &["run/trial-0002.json: not a saved step", "delete it"]);
}

#[test]
fn mistakes_are_explained() {
    let sandbox = sandbox();
    sandbox.write("few.txt", "1 qid:1 1:2\n0 qid:1 1:3\n");
    for (name, text) in [
        ("empty.toml", ""),
        ("swapped.toml", "\nlearning_rate = { log = [1, 0.1] }"),
        ("zero.toml", "lambda_l2 = { log = [0, 1] }"),
        ("unknown.toml", "num_leafs = { log = [4, 8] }"),
    ] {
        sandbox.write(name, text);
    }
    let tune = |more: &str| format!("tune d/train.txt --out m.json {more}");
    let cases: [(String, &[&str]); 17] = [
        (tune("--trials 0"), &["expected an integer of at least 1"]),
        (tune("--parallel 0"), &["expected an integer of at least 1"]),
        (tune("--search grid"), &["grid", "tpe, random"]),
        (tune("--space none.toml"), &["none.toml"]),
        (tune("--space empty.toml"), &["empty.toml:1:1: the search space is empty"]),
        (
            tune("--space swapped.toml"),
            &["swapped.toml:2:1: parameter 'learning_rate': the lower bound 1 is not below"],
        ),
        (tune("--space zero.toml"), &["zero.toml:1:1: parameter 'lambda_l2': a logarithmic range starts above 0"]),
        (
            tune("--space unknown.toml"),
            &["unknown.toml:1:1: unknown parameter 'num_leafs'; did you mean 'num_leaves'?"],
        ),
        (tune("--space space.toml --set num_leaves=7"), &["'num_leaves' is both set and in the search space"]),
        (tune("--set num_leaves=7 --set eta=0.2 --set lambda_l2=1"), &["all parameters of the built-in search space"]),
        (tune("--resume"), &["--checkpoint"]),
        (tune("--metric auc"), &["auc"]),
        (tune("--write-config m.json"), &["m.json: two outputs have this name"]),
        (tune("--write-config -"), &["give a file name in place of -"]),
        (tune("--valid few.txt"), &["few.txt: 1 query cannot both decide and test"]),
        (tune("--valid d/vali.txt --test d/vali.txt"), &["d/vali.txt: this is the validation data"]),
        ("tune d/train.txt --out d/train.txt".into(), &["d/train.txt"]),
    ];
    let cases: Vec<(&str, &[&str])> = cases.iter().map(|(line, parts)| (line.as_str(), *parts)).collect();
    sandbox.all_refused(&cases);
}
