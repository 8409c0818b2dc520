//! Training that comes to no tree.

use crate::sandbox::Sandbox;

/// So many documents in queries of seven, with two features.
fn data(n_rows: usize) -> String {
    let row = |row: usize| format!("{} qid:{} 1:{} 2:{}\n", row * 5 % 7 % 3, row / 7, row * 31 % 17, row * 13 % 11);
    (0..n_rows).map(row).collect()
}

fn refused(sandbox: &Sandbox, more: &str, parts: &[&str]) {
    let line = format!("train d.txt --out m.json {more}");
    sandbox.refused(&line.split_whitespace().collect::<Vec<_>>(), parts);
}

#[test]
fn too_few_documents_name_min_data_in_leaf() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", data(7));
    let reason = "7 documents are too few for two leaves with min_data_in_leaf=20; set min_data_in_leaf=3 or less";
    refused(&sandbox, "", &["d.txt: nothing was learnt, so no model was written: ", reason]);
    refused(&sandbox, "--objective rmse --set grow=levelwise", &[reason]);
    sandbox.ok("train d.txt --out m.json --set min_data_in_leaf=2");
}

#[test]
fn the_parameter_that_forbids_every_split_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", data(280));
    sandbox.ok("train d.txt --out fine.json");
    let cases = [
        ("--set min_sum_hessian_in_leaf=100000", "min_sum_hessian_in_leaf=100000 allows no split; change it"),
        ("--set min_gain_to_split=100000", "min_gain_to_split=100000 allows no split; change it"),
        ("--set min_gain_to_split=100000 --set prune=true", "min_gain_to_split=100000 allows no split"),
        ("--set lambda_l1=100000", "lambda_l1=100000 allows no split"),
        ("--set min_data_in_leaf=140 --objective rmse", "min_data_in_leaf=140 allows no split"),
        (
            "--set min_gain_to_split=1e5 --set min_sum_hessian_in_leaf=1e5",
            "min_sum_hessian_in_leaf=100000 and min_gain_to_split=100000 together allow no split; change them",
        ),
        (
            "--set bagging_fraction=0.1 --set bagging_freq=1 --set num_trees=3",
            "of 280 documents, too few for two leaves",
        ),
        ("--set min_gain_to_split=100000 --set grow=oblivious", "min_gain_to_split=100000 allows no split"),
        ("--set min_gain_to_split=100000 --set langevin=true --set num_trees=3", "min_gain_to_split=100000 allows no"),
        ("--set min_gain_to_split=100000 --objective multiclass", "min_gain_to_split=100000 allows no split"),
        ("--set min_gain_to_split=100000 --set learner=dart --set num_trees=3", "min_gain_to_split=100000 allows no"),
    ];
    for (more, reason) in cases {
        refused(&sandbox, more, &["nothing was learnt, so no model was written: ", reason]);
    }
}

#[test]
fn equal_labels_are_named() {
    let sandbox = Sandbox::new();
    let equal: String = data(280).lines().map(|line| format!("1{}\n", &line[1..])).collect();
    sandbox.write("d.txt", equal);
    refused(&sandbox, "--objective rmse", &["all labels are equal; check the labels"]);
}

/// What came before is still worth having.
#[test]
fn a_start_without_a_new_tree_is_written_with_a_remark() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", data(280));
    sandbox.ok("train d.txt --out first.json --set num_trees=3");
    let line = "train d.txt --out second.json --init-model first.json --set min_gain_to_split=100000";
    let outcome = sandbox.run(line);
    let remark = "note: no tree was added to those of first.json: min_gain_to_split=100000 allows no split";
    assert!(outcome.stderr.contains(remark), "{}", outcome.stderr);
    outcome.expect_ok(line);
    let scores = |model: &str| sandbox.ok(&format!("predict {model} d.txt"));
    assert_eq!(scores("first.json"), scores("second.json"));
    let said = sandbox.json(line);
    assert_eq!((&said["trees"], &said["trees_grown"]), (&3.into(), &0.into()));
    assert!(said["no_trees"].as_str().unwrap().starts_with("min_gain_to_split=100000"), "{said}");
}
