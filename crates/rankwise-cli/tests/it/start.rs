//! Models made of models: `rankwise train --init-model`, `rankwise refit` and `rankwise prune`

use crate::sandbox::Sandbox;

#[test]
fn a_run_in_two_parts_is_the_run_in_one() {
    let sandbox = Sandbox::with_data();
    let train = |more: &str| sandbox.json(&format!("train train.txt --set num_leaves=7 {more}"));
    train("--out whole.json --set num_trees=9");
    train("--out first.json --set num_trees=4");
    let said = train("--out second.json --set num_trees=5 --init-model first.json");
    assert_eq!(
        (&said["start_trees"], &said["trees_grown"], &said["best_iteration"]),
        (&4.into(), &5.into(), &5.into())
    );
    for name in ["whole", "second"] {
        sandbox.ok(&format!("predict {name}.json vali.txt --out {name}.txt"));
    }
    assert_eq!(sandbox.text("whole.txt"), sandbox.text("second.txt"));
    let inspected = sandbox.json("inspect second.json");
    assert!(inspected["params"]["init_model"].as_str().unwrap().starts_with("trees=4 objective=lambdamart xxh3="));
    let told = sandbox.ok("train train.txt --out n.json --set num_trees=2 --set num_leaves=7 --init-model first.json");
    assert!(told.contains("grew 2 trees in addition to the start model's 4 in"), "{told}");
}

/// A table with other columns in another order: what the start knows keeps its number, and new columns can be learned.
#[test]
fn columns_are_found_by_name_and_new_ones_are_learned() {
    let sandbox = Sandbox::new();
    let table = |header: &str, row: &dyn Fn(u32, u32) -> String| {
        let mut text = format!("{header}\n");
        for doc in 0..240u32 {
            let (old, new) = (doc * 7919 % 101, doc * 104_729 % 97);
            text.push_str(&row(old, new).replace("QID", &(doc / 12).to_string()));
        }
        text
    };
    let grade = |old: u32, new: u32| u32::from(old > 50) + u32::from(new > 48);
    sandbox.write("first.csv", table("label,qid,price", &|old, new| format!("{},QID,{old}\n", grade(old, new))));
    sandbox
        .write("more.csv", table("label,qid,age,price", &|old, new| format!("{},QID,{new},{old}\n", grade(old, new))));
    let set = "--set num_trees=10 --set num_leaves=4 --set min_data_in_leaf=5";
    sandbox.ok(&format!("train first.csv --out first.json {set}"));
    sandbox.ok(&format!("train more.csv --out second.json {set} --init-model first.json"));
    let ndcg =
        |model: &str| sandbox.json(&format!("eval more.csv --model {model}"))["metrics"]["ndcg@10"].as_f64().unwrap();
    assert!(ndcg("second.json") > ndcg("first.json") + 0.05);
    sandbox.write("bare.csv", table("label,qid,age", &|old, new| format!("{},QID,{new}\n", grade(old, new))));
    let refused = sandbox.run(&format!("train bare.csv --out third.json {set} --init-model first.json"));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("price"), "{}", refused.stderr);
}

#[test]
fn refit_changes_values_and_nothing_else() {
    let sandbox = Sandbox::with_model();
    let said = sandbox.json("refit model.json vali.txt --out new.json --decay 0.5");
    assert!(said["leaves_changed"].as_u64().unwrap() > 20, "{said}");
    let ndcg =
        |model: &str| sandbox.json(&format!("eval vali.txt --model {model}"))["metrics"]["ndcg@10"].as_f64().unwrap();
    assert!(ndcg("new.json") > ndcg("model.json"));
    assert_eq!(sandbox.json("refit model.json vali.txt --out same.json --decay 1")["leaves_changed"], 0);
    let told = sandbox.ok("refit model.json vali.txt --out new.json --set learning_rate=0.3 --objective xendcg");
    assert!(told.starts_with("changed 42 of 42 leaf values in 6 trees\n"), "{told}");
}

#[test]
fn bad_starts_and_refits_are_refused() {
    let sandbox = Sandbox::with_model();
    sandbox.train("multi.json", "--objective multiclass");
    sandbox.ok("convert model.json --to lightgbm --out lgbm.txt");
    sandbox.write("broken.json", "{\"format\": 1");
    sandbox.ok("convert-data train.txt train.rwcache");
    sandbox.write("named.csv", "label,qid,price\n1,1,3\n0,1,2\n");
    let before = sandbox.listing();
    for (line, said) in [
        ("train train.txt --out n.json --init-model gone.json", "gone.json: cannot open"),
        ("train train.txt --out n.json --init-model broken.json", "broken.json:"),
        ("train train.txt --out n.json --init-model train.txt", "train.txt: "),
        (
            "train train.txt --out model.json --init-model model.json",
            "model.json: cannot write: this file is also an input",
        ),
        (
            "train train.txt --out n.json --init-model multi.json",
            "multi.json: the model has one output per label value (objective=multiclass",
        ),
        (
            "train train.txt --out n.json --init-model model.json --objective multiclass",
            "model.json: the model has one score",
        ),
        (
            "train train.txt --out n.json --init-model model.json --set absent=zero",
            "error: parameter 'absent': the start model model.json treats absent features as missing values, but absent=zero",
        ),
        (
            "train named.csv --out n.json --init-model model.json",
            "named.csv: its columns have names, but the start model identifies features by number",
        ),
        ("train train.rwcache --out n.json --init-model model.json", "train.rwcache: "),
        (
            "refit model.json train.txt --out n.json --decay 1.5",
            "invalid value '1.5' for '--decay <SHARE>': expected a number from 0 to 1",
        ),
        (
            "refit model.json train.txt --out n.json --decay NaN",
            "invalid value 'NaN' for '--decay <SHARE>': expected a number from 0 to 1",
        ),
        (
            "refit lgbm.txt train.txt --out n.json",
            "lgbm.txt: the model was trained by another program; set --objective",
        ),
        ("refit model.json train.txt --out n.json --set nope=1", "unknown parameter 'nope'"),
        ("refit model.json train.txt --out train.txt", "train.txt: cannot write: this file is also an input"),
        (
            "refit multi.json train.txt --out n.json --objective rmse",
            "multi.json: the model has one output per label value",
        ),
    ] {
        let outcome = sandbox.run(line);
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{line}: {}", outcome.stderr);
        assert_eq!(sandbox.listing(), before, "{line}");
    }
    // Another program's model is as good a start as ours.
    sandbox.ok("refit lgbm.txt train.txt --out refitted.json --objective lambdamart");
    sandbox.ok("train train.txt --out n.json --init-model lgbm.txt --set num_trees=2");
    assert_eq!(sandbox.json("inspect n.json")["trees"], 8);
}

#[test]
fn prune_keeps_the_metric_that_eval_measures() {
    let sandbox = Sandbox::with_data();
    sandbox.ok("train train.txt --out m.json --set num_trees=40 --set num_leaves=7");
    let said =
        sandbox.json("prune m.json --valid vali.txt --max-loss 0.01 --metric ndcg@5 --gain linear --out small.json");
    let ndcg = |model: &str| {
        sandbox.json(&format!("eval vali.txt --model {model} --metric ndcg@5 --gain linear"))["metrics"]["ndcg@5"]
            .clone()
    };
    assert_eq!((&said["value"], &said["value_before"]), (&ndcg("small.json"), &ndcg("m.json")));
    assert!(said["value"].as_f64().unwrap() >= said["value_before"].as_f64().unwrap() - 0.01, "{said}");
    assert!(said["trees"].as_u64().unwrap() < 40 && said["trees_before"] == 40, "{said}");
    assert_eq!(sandbox.json("inspect small.json")["trees"], said["trees"]);
    let told = sandbox.ok("prune m.json --valid vali.txt --out small.json");
    assert!(told.contains(" of 40 trees in ") && told.contains("evaluate the model on others"), "{told}");
    sandbox.train("multi.json", "--objective multiclass");
    for (line, said) in [
        (
            "prune m.json --valid vali.txt --out n.json --max-loss -1",
            "invalid value '-1' for '--max-loss <LOSS>': expected a number of at least 0",
        ),
        ("prune m.json --valid vali.txt --out n.json --metric nope", "unknown metric 'nope'; give a metric ("),
        ("prune m.json --valid gone.txt --out n.json", "gone.txt: cannot open"),
        ("prune m.json --valid vali.txt --out m.json", "m.json: cannot write: this file is also an input"),
        ("prune multi.json --valid vali.txt --out n.json", "multi.json: the model has one output per label"),
        ("prune m.json --out n.json", "--valid <DATA>"),
    ] {
        let outcome = sandbox.run(line);
        assert_eq!(outcome.code, Some(2), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{line}: {}", outcome.stderr);
        assert!(!sandbox.path("n.json").exists(), "{line}");
    }
}

#[test]
fn schedules_that_cannot_be_read_are_refused() {
    let sandbox = Sandbox::with_data();
    for (setting, said) in [
        ("leaves_schedule=8", "a list of tree:leaves in ascending order of trees"),
        ("leaves_schedule=5:8,2:9", "a list of tree:leaves"),
        ("leaves_schedule=0:1", "leaves_schedule"),
        ("leaf_smoothing=-3", "leaf_smoothing"),
        ("prune=maybe", "prune"),
    ] {
        let outcome = sandbox.run(&format!("train train.txt --out m.json --set {setting}"));
        assert_eq!(outcome.code, Some(2), "{setting}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{setting}: {}", outcome.stderr);
    }
}
