//! Where parameters come from, and which of them win.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// The parameters that differ from their defaults, as the model remembers them.
fn params(sandbox: &Sandbox, more: &str) -> Value {
    sandbox.ok(&format!("train train.txt --out m.json {more}"));
    sandbox.json("inspect m.json")["params"].clone()
}

#[test]
fn a_file_takes_every_kind_of_value_and_other_names() {
    let sandbox = Sandbox::with_data();
    sandbox.write(
        "p.toml",
        "# names of other libraries\nn_estimators = 3\neta = 0.05\nmax-leaves = 5\nlambdarank_norm = false\n\
         objective = \"rank:ndcg\"\neval_metric = [\"ndcg@3\", \"DCG\"]\nlabel_gain = [0, 1, 3, 7, 15]\n",
    );
    let expected = json!({
        "num_trees": "3", "learning_rate": "0.05", "num_leaves": "5", "lambda_norm": "false", "metric": "ndcg@3,dcg",
        "label_gain": "0,1,3,7,15", "grow": "leafwise", "lambda_l2": "0",
    });
    assert_eq!(params(&sandbox, "--config p.toml"), expected);
}

#[test]
fn set_and_options_win_over_the_file() {
    let sandbox = Sandbox::with_data();
    sandbox.write("p.toml", "num_trees = 2\nnum_leaves = 5\nobjective = \"rmse\"\nseed = 3\ngain = \"linear\"\n");
    // What auto stands for is recorded, and so is the size of a model.
    let with_size = |own: serde_json::Value| {
        let mut all = json!({ "num_trees": "2", "grow": "leafwise", "lambda_l2": "0", "learning_rate": "0.07", "gain": "linear" });
        all.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        all
    };
    let from_file = with_size(json!({ "num_leaves": "5", "objective": "rmse", "seed": "3" }));
    assert_eq!(params(&sandbox, "--config p.toml"), from_file);
    let over = params(&sandbox, "--config p.toml --set max_leaves=9 --set objective=lambdamart --set seed=4");
    assert_eq!(over, with_size(json!({ "num_leaves": "9", "seed": "4" })));
    let options = "--objective rmse --seed 5 --gain exp";
    let over = params(&sandbox, &format!("--config p.toml --set num_leaves=9 {options}"));
    assert_eq!(over["objective"], "rmse");
    assert_eq!(over["seed"], "5");
    assert_eq!(over["gain"], "exp");
}

#[test]
fn the_order_of_arguments_does_not_matter() {
    let sandbox = Sandbox::with_data();
    sandbox.write("p.toml", "num_trees = 2\nnum_leaves = 5\n");
    let first = sandbox.train("a.json", "--metric NDCG@10");
    sandbox.ok("train --set num_leaves=7 --out b.json --set num_trees=6 train.txt");
    assert_eq!(sandbox.bytes("b.json"), first, "a metric means the same in capitals");
}

#[test]
fn a_wrong_file_is_refused_with_its_place() {
    let sandbox = Sandbox::with_data();
    let cases: [(&str, &[u8], &[&str]); 13] = [
        ("no equals sign", b"num_leaves 3\n", &["p.toml:1:12: ", "write one `name = value`"]),
        ("a section", b"eta = 0.1\n\n[tree]\nnum_leaves = 3\n", &["p.toml:3:2: 'tree' is a table", "without sections"]),
        ("a date", b"eta = 2020-01-01\n", &["p.toml:1:1: 'eta' is a date"]),
        ("a table in a list", b"metric = [{a = 1}]\n", &["p.toml:1:1: 'metric' is a list of tables"]),
        (
            "two names",
            b"num_trees = 3\neta = 0.1\nlearning_rate = 0.2\n",
            &["p.toml:3:1: parameter 'learning_rate' is set twice, as 'eta' and as 'learning_rate'; keep one"],
        ),
        ("one name twice", b"eta = 1\neta = 2\n", &["p.toml:2:1: this parameter is set twice; keep one of the lines"]),
        (
            "an unknown name",
            b"eta = 0.1\nnum_leafs = 3\n",
            &["p.toml:2:1: unknown parameter 'num_leafs'; did you mean 'num_leaves'?"],
        ),
        (
            "a wrong value",
            b"\n  num_leaves = \"many\"\n",
            &["p.toml:2:3: parameter 'num_leaves': invalid value 'many'"],
        ),
        ("a fraction", b"num_leaves = 3.5\n", &["p.toml:1:1: ", "expected auto or an integer from 2 to 131072"]),
        (
            "out of range",
            b"eta = 0.1\nnum_leaves = 1\n",
            &["p.toml:2:1: ", "1 is out of range; use a value from 2 to 131072"],
        ),
        ("an open string", b"metric = \"ndcg\n", &["p.toml:1:", "metric has no closing quote; add it"]),
        ("no text", b"\xff\xfe\x00", &["p.toml: not UTF-8 text"]),
        ("a number too large", b"seed = 99999999999999999999\n", &["p.toml:1:"]),
    ];
    for (what, content, parts) in cases {
        sandbox.write("p.toml", content);
        let outcome = sandbox.run("train train.txt --out m.json --config p.toml");
        outcome.expect_refused(what, parts);
        assert!(!sandbox.path("m.json").exists(), "{what}");
    }
    sandbox.all_refused(&[
        ("train train.txt --out m.json --config nosuch.toml", &["nosuch.toml: cannot open: no such file"]),
        ("train train.txt --out m.json --config .", &[".: cannot read: this is a folder; give a file"]),
    ]);
}
