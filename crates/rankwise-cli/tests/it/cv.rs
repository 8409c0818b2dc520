//! `rankwise cv`

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("synth --rows 4000 --features 8 --seed 3 --out d.txt --quiet");
    sandbox
}

/// Writes the queries of d.txt into five files by turns, as LETOR has them.
fn five_files(sandbox: &Sandbox) {
    let text = sandbox.text("d.txt");
    let mut parts = vec![String::new(); 5];
    for line in text.lines() {
        let qid: usize = line.split_whitespace().nth(1).unwrap().strip_prefix("qid:").unwrap().parse().unwrap();
        parts[qid % 5].extend([line, "\n"]);
    }
    parts.iter().enumerate().for_each(|(idx, part)| sandbox.write(&format!("S{}.txt", idx + 1), part));
}

#[test]
fn letor_files_rotate_as_by_hand() {
    let sandbox = sandbox();
    five_files(&sandbox);
    let settings = "--set num_trees=20 --set early_stopping_rounds=3 --empty skip";
    let found = sandbox.json(&format!("cv S1.txt S2.txt S3.txt S4.txt S5.txt --letor {settings} --out s.txt"));
    // Fold 5 measures on S5 and validates on S4; fold 1 measures on S1 and validates on S5.
    for (fold, train, valid, test) in
        [(4, "S1.txt S2.txt S3.txt", "S4.txt", "S5.txt"), (0, "S2.txt S3.txt S4.txt", "S5.txt", "S1.txt")]
    {
        let trained = sandbox.json(&format!("train {train} --valid {valid} {settings} --out m.json"));
        let measured = sandbox.json(&format!("eval {test} --model m.json --empty skip"));
        assert_eq!(found["systems"][0]["folds"][fold]["trees"], trained["trees"]);
        assert_eq!(found["systems"][0]["folds"][fold]["metrics"], measured["metrics"]);
    }
    // The scores are in input order.
    let all = sandbox.json("eval S1.txt S2.txt S3.txt S4.txt S5.txt --scores s.txt --empty skip");
    let mean = |json: &serde_json::Value| json["metrics"]["ndcg@10"].as_f64().unwrap();
    assert!((mean(&all) - mean(&found["systems"][0])).abs() < 1e-12, "{all} {found}");
}

#[test]
fn several_settings_are_compared_and_files_are_written() {
    let sandbox = sandbox();
    let mut args: Vec<&str> =
        "cv d.txt --folds 4 --set num_trees=8 --history h.csv --per-query q.tsv".split(' ').collect();
    args.extend(["--try", "", "--try", "learning_rate=0.01 num_leaves=3"]);
    let told = sandbox.run_args(&args).expect_ok("cv");
    assert!(told.contains("learning_rate=0.01 num_leaves=3") && told.contains("no further parameters"), "{told}");
    assert!(told.contains("p  effect") && told.contains("4 folds by query"), "{told}");
    let history = sandbox.text("h.csv");
    assert_eq!(history.lines().count(), 9, "{history}");
    assert!(history.starts_with("round,\"ndcg@10: no further parameters\""), "{history}");
    assert!(sandbox.text("q.tsv").starts_with("qid\tdocuments\tweight\tndcg@10:no further parameters\t"));
}

#[test]
fn one_thread_or_two_and_any_order_of_rows_give_the_same() {
    let sandbox = sandbox();
    let results = |line: &str| {
        let mut found = sandbox.json(line);
        for key in ["seconds", "data"] {
            found.as_object_mut().unwrap().remove(key);
        }
        found.to_string()
    };
    let line = "cv d.txt --folds 3 --rotate --set num_trees=9 --seed 4";
    let alone = results(&format!("{line} --threads 1"));
    assert_eq!(alone, results(&format!("{line} --threads 2")));
    let mut lines: Vec<String> = sandbox.text("d.txt").lines().map(|line| format!("{line}\n")).collect();
    lines.reverse();
    sandbox.write("d.txt", lines.concat());
    assert_eq!(alone, results(line));
    assert_ne!(alone, results(&line.replace("--seed 4", "--seed 5")), "another seed, other folds");
}

#[test]
fn mistakes_are_explained() {
    let sandbox = sandbox();
    five_files(&sandbox);
    sandbox.all_refused(&[
        ("cv d.txt --folds 1", &["--folds: there is 1 fold; use at least 2"]),
        ("cv d.txt --folds 0", &["expected an integer of at least 1"]),
        ("cv d.txt --folds 9999", &["queries cannot be divided into 9999 folds"]),
        ("cv d.txt --letor", &["d.txt: --letor takes each file as a fold"]),
        ("cv S1.txt S2.txt S3.txt --letor --folds 3", &["cannot be used with"]),
        ("cv S1.txt S2.txt d.txt --letor", &["with --letor, a query must be in one file"]),
        ("cv d.txt --set early_stopping_rounds=5", &["set --rotate"]),
        ("cv d.txt --folds 2 --rotate", &["there are 2 folds; use at least 3"]),
        ("cv d.txt --try num_leafs=3", &["did you mean 'num_leaves'?"]),
        ("cv d.txt --try num_leaves=3,eta=0.1", &["--try 'num_leaves=3,eta=0.1': separate parameters by spaces"]),
        ("cv d.txt --try num_leaves=3 --try num_leaves=3", &["is given twice"]),
        ("cv d.txt --metric auc", &["auc"]),
        ("cv d.txt --out d.txt", &["d.txt"]),
        ("cv d.txt --out a.txt --history a.txt", &["a.txt: two outputs have this name"]),
        ("cv d.txt --out -", &["give a file name in place of -"]),
        ("cv", &["DATA"]),
    ]);
}
