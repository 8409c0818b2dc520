//! Models of other programs, as those programs would use them.

use crate::sandbox::Sandbox;

const XGBOOST: &str = include_str!("../../../rankwise-formats/tests/data/xgboost-ndcg-depthwise.json");

/// Values for the six features of the model.
fn rows() -> String {
    let value = |row: usize, feature: usize| (row * [7, 3, 11, 5, 13, 2][feature] % 17) as f64 / 4.0 - 2.0;
    let features = |row: usize| (0..6).map(|feature| format!(" {feature}:{}", value(row, feature))).collect::<String>();
    (0..60).map(|row| format!("{} qid:{}{}\n", row % 3, row / 6, features(row))).collect()
}

/// What XGBoost writes after early stopping found the second of three trees best.
fn with_best_iteration(best: &str) -> String {
    let attributes = format!("\"attributes\":{{\"best_iteration\":\"{best}\",\"best_score\":\"0.5\"}}");
    let text = XGBOOST.replacen("\"attributes\":{}", &attributes, 1);
    assert_ne!(text, XGBOOST);
    text
}

#[test]
fn xgboosts_best_iteration_counts_unless_all_trees_are_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", rows());
    sandbox.write("all.json", XGBOOST);
    sandbox.write("best.json", with_best_iteration("1"));
    let scores = |line: &str| sandbox.ok(&format!("predict {line}"));
    assert_eq!(scores("best.json d.txt"), scores("all.json d.txt --trees 2"));
    assert_ne!(scores("best.json d.txt"), scores("all.json d.txt"));
    assert_eq!(scores("best.json d.txt --trees all"), scores("all.json d.txt"));
    assert_eq!(scores("best.json d.txt --trees 3"), scores("all.json d.txt"));
    assert_eq!(scores("best.json d.txt --trees 1"), scores("all.json d.txt --trees 1"));
    let said = sandbox.run("predict best.json d.txt").stderr;
    let note = "note: best.json: using 2 of 3 trees, up to best_iteration 1, as XGBRanker.predict does; to use all, as Booster.predict does, add `--trees all`";
    assert!(said.contains(note), "{said}");
    assert!(!sandbox.run("predict best.json d.txt --trees all").stderr.contains("note: "));
    assert!(!sandbox.run("predict all.json d.txt").stderr.contains("note: "));
    let ndcg = |line: &str| sandbox.json(&format!("eval d.txt {line}"))["metrics"]["ndcg@10"].clone();
    assert_eq!(ndcg("--model best.json --trees all"), ndcg("--model all.json"));
    assert_eq!(ndcg("--model best.json"), ndcg("--model all.json --trees 2"));
    for (trees, expected) in [("", 2), ("--trees all", 3)] {
        let said = sandbox.json(&format!("convert best.json --to c --out m.c {trees}"));
        assert_eq!(said["trees"], expected, "{trees}");
    }
    // The last iteration was best, or nothing that can be understood.
    for best in ["2", "9", "x", "-1", "99999999999999999999"] {
        sandbox.write("best.json", with_best_iteration(best));
        assert_eq!(scores("best.json d.txt"), scores("all.json d.txt"), "{best}");
    }
    // Several trees an iteration.
    sandbox.write(
        "forest.json",
        with_best_iteration("0").replace("\"num_parallel_tree\":\"1\"", "\"num_parallel_tree\":\"2\""),
    );
    assert_eq!(scores("forest.json d.txt"), scores("all.json d.txt --trees 2"));
    sandbox.refused(
        &["predict", "all.json", "d.txt", "--trees", "some"],
        &["a number of trees of at least 1, such as 100, or all"],
    );
}

/// A table with columns of these names, and a model of LightGBM for it.
fn lightgbm_model(sandbox: &Sandbox, columns: &str) {
    let row = |row: usize| format!("{},{},{},{}\n", row % 3, row / 6, row * 7 % 17, row * 5 % 11);
    sandbox.write("d.csv", format!("label,qid,{columns}\n{}", (0..120).map(row).collect::<String>()));
}

#[test]
fn names_with_blanks_are_found_where_lightgbm_wrote_underscores() {
    let sandbox = Sandbox::new();
    lightgbm_model(&sandbox, "title match,query weight");
    let more = "--query-weight-column none --set num_trees=5 --set min_data_in_leaf=3";
    sandbox.ok(&format!("train d.csv --out m.json {more}"));
    let outcome = sandbox.run("convert m.json --to lightgbm --out l.txt --check d.csv");
    let note = "note: feature \"title match\" is written as \"title_match\", as LightGBM does";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    assert!(outcome.expect_ok("convert").contains("both models give identical scores"));
    assert!(sandbox.text("l.txt").contains("\nfeature_names=title_match query_weight\n"));
    assert_eq!(sandbox.ok("predict l.txt d.csv"), sandbox.ok("predict m.json d.csv"));

    // Two columns for one name.
    lightgbm_model(&sandbox, "title match,query weight");
    let both = sandbox.text("d.csv").replacen("label,qid,title match", "label,qid,title_match,title match", 1);
    let both: String = both
        .lines()
        .enumerate()
        .map(|(idx, line)| if idx == 0 { format!("{line}\n") } else { line.replacen(',', ",0,", 1) + "\n" })
        .collect();
    // A zero before the qid would be the qid: move it behind.
    let both = both.replacen("label,qid,title_match,", "label,title_match,qid,", 1);
    sandbox.write("both.csv", both);
    let problem = [
        "both.csv: columns \"title_match\" and \"title match\" could both be the feature \"title_match\" of the model",
        "spaces; ignore one of them with --ignore-columns",
    ];
    sandbox.refused(&["predict", "l.txt", "both.csv"], &problem);
    let ignored = ["predict", "l.txt", "both.csv", "--ignore-columns", "title_match"];
    assert_eq!(sandbox.run_args(&ignored).expect_ok("ignored"), sandbox.ok("predict m.json d.csv"));
    // Our own models know their columns by their very names.
    assert_eq!(sandbox.ok("predict m.json both.csv"), sandbox.ok("predict m.json d.csv"));
}

#[test]
fn names_that_become_one_are_not_exported() {
    let sandbox = Sandbox::new();
    lightgbm_model(&sandbox, "a b,a_b");
    sandbox.ok("train d.csv --out m.json --set num_trees=20 --set min_data_in_leaf=3");
    let line = ["convert", "m.json", "--to", "lightgbm", "--out", "l.txt"];
    sandbox.refused(&line, &["another feature has the same name once spaces are replaced by _"]);
}
