//! Learners that are not gradient boosting: every command takes their models.

use rankwise::params::ParamValue as _;
use rankwise::train::Learner;

use crate::sandbox::Sandbox;

/// Every learner that is not boosting, with settings for little data.
fn settings() -> Vec<(String, String)> {
    let others = Learner::ALL.iter().filter(|learner| !learner.is_boosting());
    let more = |learner: Learner| match learner {
        Learner::Neural => "--set epochs=4 --set hidden=8 --set heads=2",
        Learner::CoordinateAscent => "--set num_trees=3 --set restarts=1 --set target=ndcg@10",
        _ => "--set num_trees=10",
    };
    others.map(|learner| (learner.render(), format!("--set learner={} {}", learner.render(), more(*learner)))).collect()
}

#[test]
fn every_command_takes_every_model() {
    let sandbox = Sandbox::with_data();
    for (name, settings) in settings() {
        let line = format!("train train.txt --valid vali.txt --out m.json --report train.html {settings}");
        let trained = sandbox.json(&line);
        let (rounds, best) = (trained["trees_grown"].as_u64().unwrap(), trained["best_iteration"].as_u64().unwrap());
        assert!(rounds > 0 && (1..=rounds).contains(&best), "{trained}");
        let scores = sandbox.ok("predict m.json vali.txt");
        assert_eq!(scores.lines().count(), sandbox.text("vali.txt").lines().count(), "{name}");
        let measured = sandbox.json("eval vali.txt --model m.json --metric ndcg@10");
        assert_eq!(measured["metrics"]["ndcg@10"], trained["valid"]["ndcg@10"], "{name}");
        sandbox.write("scores.txt", scores);
        let compared = sandbox.json("compare vali.txt --model m.json --scores scores.txt --metric ndcg@10");
        assert_eq!(compared["tests"][0]["difference"], 0.0, "{name}");
        assert!(sandbox.ok("inspect m.json").contains(&format!("learner = {name}")), "{name}");
        let explained = sandbox.json("explain m.json vali.txt --repeats 2");
        assert!(!explained["permutation"].is_null(), "{name}: {explained}");
        sandbox.ok("explain m.json");
        sandbox.ok("blend m.json scores.txt vali.txt --metric ndcg@10");
        assert!(sandbox.text("train.html").contains("ndcg@10"), "{name}");
    }
}

#[test]
fn a_resumed_run_ends_as_an_uninterrupted_one() {
    for (name, settings) in settings() {
        let sandbox = Sandbox::with_data();
        let line = |more: &str| format!("train train.txt --valid vali.txt --quiet {settings} {more}");
        sandbox.ok(&line("--out whole.json"));
        sandbox.ok(&line("--out m.json --checkpoint run --checkpoint-every 1"));
        assert_eq!(sandbox.bytes("whole.json"), sandbox.bytes("m.json"), "{name}");
        // The last checkpoint is lost, as after a crash.
        let mut files: Vec<_> =
            std::fs::read_dir(sandbox.path("run")).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        if files.len() > 1 {
            std::fs::remove_file(files.last().unwrap()).unwrap();
        }
        sandbox.ok(&line("--out again.json --checkpoint run --resume --threads 1"));
        assert_eq!(sandbox.bytes("whole.json"), sandbox.bytes("again.json"), "{name}");
    }
}

#[test]
fn cross_validation_and_tuning_take_them() {
    let sandbox = Sandbox::with_data();
    let found = sandbox.json("cv train.txt --folds 3 --set learner=ranksvm --set num_trees=5");
    assert!(found.to_string().contains("ndcg@10"), "{found}");
    sandbox.write("space.toml", "c = { log = [0.001, 10] }\n");
    let tuned = "tune train.txt --valid vali.txt --trials 2 --space space.toml --set learner=ranksvm --set num_trees=5 --out m.json";
    assert!(sandbox.ok(tuned).contains("wrote m.json: a linear model"));
    let refused = "auto train.txt --steps 2 --out best.json --set learner=linear";
    sandbox
        .run(refused)
        .expect_refused(refused, &["is not gradient boosting, and only boosted trees are combined here"]);
}

#[test]
fn parameters_of_other_learners_are_reported() {
    let sandbox = Sandbox::with_data();
    let warned = |more: &str| sandbox.run(&format!("train train.txt --out m.json {more}")).stderr;
    let text = warned("--set learner=linear --set num_leaves=7 --set max_bin=15");
    assert!(text.contains("num_leaves=7 has no effect with learner=linear"), "{text}");
    assert!(text.contains("max_bin=15 has no effect with learner=linear"), "{text}");
    let text = warned("--set c=2 --set num_trees=2");
    assert!(text.contains("c=2 has no effect with learner=gbdt; it needs learner=linear or ranksvm"), "{text}");
    assert!(!warned("--set learner=ranksvm --set c=2").contains("no effect"));
}

#[test]
fn labels_that_teach_nothing_are_an_error() {
    let sandbox = Sandbox::new();
    let row = |row: usize| format!("1 qid:{} 1:{} 2:{}\n", row / 10, row % 7, row % 3);
    sandbox.write("one.txt", (0..60).map(row).collect::<String>());
    for (name, settings) in settings() {
        let line = format!("train one.txt --out m.json {settings}");
        let outcome = sandbox.run(&line);
        assert!(outcome.code == Some(2) || outcome.code == Some(0), "{name}: {outcome:?}");
        if name != "linear" && name != "neural" {
            assert_eq!(outcome.code, Some(2), "{name}: {outcome:?}");
            assert!(outcome.stderr.contains("error: "), "{name}: {outcome:?}");
        }
    }
}
