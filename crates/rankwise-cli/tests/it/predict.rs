//! `rankwise predict`

use std::collections::BTreeMap;

use crate::sandbox::{Sandbox, reordered, shuffled};

#[test]
fn scores_follow_the_input_rows() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.text("vali.txt");
    let scores = sandbox.ok("predict model.json vali.txt");
    let n_rows = text.lines().count();
    assert_eq!(scores.lines().count(), n_rows);
    assert!(scores.lines().all(|line| line.parse::<f64>().is_ok_and(f64::is_finite)), "{scores}");

    let order = shuffled(n_rows);
    sandbox.write("shuffled.txt", reordered(&text, &order));
    assert_eq!(sandbox.ok("predict model.json shuffled.txt"), reordered(&scores, &order));
    // Each row alone scores as among the others.
    sandbox.write("one.txt", format!("{}\n", text.lines().nth(17).unwrap()));
    assert_eq!(sandbox.ok("predict model.json one.txt").trim(), scores.lines().nth(17).unwrap());
}

#[test]
fn files_and_standard_output_get_the_same() {
    let sandbox = Sandbox::with_model();
    let printed = sandbox.ok("predict model.json vali.txt");
    let said = sandbox.ok("predict model.json vali.txt --out s.txt");
    assert!(said.starts_with("scored 900 documents in "), "{said}");
    assert_eq!(sandbox.text("s.txt"), printed);
    // An explicit `-` is standard output too; what was done is then told on stderr.
    let outcome = sandbox.run("predict model.json vali.txt --out -");
    assert_eq!(outcome.stdout, printed);
    assert!(outcome.stderr.starts_with("scored 900 documents"), "{}", outcome.stderr);
    assert_eq!(sandbox.run_with_input("predict model.json -", "vali.txt").expect_ok("data"), printed);
    assert_eq!(sandbox.run_with_input("predict - vali.txt", "model.json").expect_ok("model"), printed);

    let facts = sandbox.json("predict model.json vali.txt --out s.txt");
    assert_eq!(facts["rows"], 900);
    let seconds = |name: &str| facts["seconds"][name].as_f64().unwrap();
    assert!(seconds("load") + seconds("score") <= seconds("total"), "{facts}");
}

#[test]
fn a_table_has_query_document_and_score() {
    let sandbox = Sandbox::with_model();
    let scores = sandbox.ok("predict model.json vali.txt");
    let table = sandbox.ok("predict model.json vali.txt --format tsv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("qid\tdoc\tscore"));
    for ((row, score), line) in sandbox.text("vali.txt").lines().zip(scores.lines()).zip(lines) {
        let qid = row.split(' ').nth(1).unwrap().strip_prefix("qid:").unwrap();
        let doc = row.split_once("# ").unwrap().1;
        assert_eq!(line, format!("{qid}\t{doc}\t{score}"));
    }
    sandbox.write("noids.txt", "1 qid:a 1:1\n0 qid:a 1:2\n");
    let table = sandbox.ok("predict model.json noids.txt --format tsv");
    assert!(table.contains("a\trow1\t") && table.contains("a\trow2\t"), "{table}");
}

#[test]
fn a_run_ranks_every_query_from_best_to_worst() {
    let sandbox = Sandbox::with_model();
    let table = sandbox.ok("predict model.json vali.txt --format tsv");
    let mut expected: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        expected.insert((cells[0], cells[1]), cells[2].parse().unwrap());
    }
    let run = sandbox.ok("predict model.json vali.txt --format run");
    let mut last: Option<(&str, usize, f64)> = None;
    for line in run.lines() {
        let cells: Vec<&str> = line.split(' ').collect();
        assert_eq!((cells.len(), cells[1], cells[5]), (6, "Q0", "model"), "{line}");
        let (rank, score): (usize, f64) = (cells[3].parse().unwrap(), cells[4].parse().unwrap());
        assert_eq!(expected.remove(&(cells[0], cells[2])), Some(score), "{line}");
        match last {
            Some((qid, last_rank, last_score)) if qid == cells[0] => {
                assert!(rank == last_rank + 1 && score <= last_score, "{line}");
            }
            _ => assert_eq!(rank, 1, "{line}"),
        }
        last = Some((cells[0], rank, score));
    }
    assert!(expected.is_empty(), "documents missing from the run");
}

#[test]
fn a_run_has_the_tag_of_its_model_or_the_one_typed() {
    let sandbox = Sandbox::with_model();
    let tag = |line: &str| {
        let run = sandbox.ok(line);
        let tags: Vec<&str> = run.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
        assert!(!tags.is_empty() && tags.iter().all(|tag| *tag == tags[0]), "{run}");
        tags[0].to_owned()
    };
    std::fs::copy(sandbox.path("model.json"), sandbox.path("v2.tuned.json")).unwrap();
    std::fs::copy(sandbox.path("model.json"), sandbox.path("bare")).unwrap();
    assert_eq!(tag("predict model.json vali.txt --format run"), "model");
    assert_eq!(tag("predict v2.tuned.json vali.txt --format run"), "v2.tuned");
    assert_eq!(tag("predict bare vali.txt --format run"), "bare");
    assert_eq!(tag("predict model.json vali.txt --format run --tag mine"), "mine");
    let from_stdin = sandbox.run_with_input("predict - vali.txt --format run", "model.json").expect_ok("model");
    assert!(from_stdin.lines().all(|line| line.ends_with(" rankwise")), "{from_stdin}");
    sandbox.refused(&["predict", "model.json", "vali.txt", "--format", "run", "--tag", "a b"], &["--tag", "one word"]);
    sandbox.refused(
        &["predict", "model.json", "vali.txt", "--tag", "a"],
        &["--tag: only runs have a tag", "--format run"],
    );
}

#[test]
fn a_run_with_a_document_twice_in_a_query_is_refused() {
    let sandbox = Sandbox::with_model();
    sandbox.write("twice.txt", "1 qid:a 1:1 # d1\n0 qid:a 1:2 # d2\n0 qid:b 1:2 # d1\n0 qid:a 1:3 # d1\n");
    let line = ["predict", "model.json", "twice.txt", "--format", "run", "--out", "r.txt"];
    sandbox.refused(&line, &["twice.txt: document \"d1\" occurs twice in query \"a\"", "--format tsv"]);
    assert_eq!(sandbox.ok("predict model.json twice.txt --format tsv").lines().count(), 5);
    // The same document in two queries is no duplicate; rows without an id are numbered.
    sandbox.write("fine.txt", "1 qid:a 1:1 # d1\n0 qid:b 1:2 # d1\n0 qid:b 1:2\n0 qid:b 1:2\n");
    assert_eq!(sandbox.ok("predict model.json fine.txt --format run").lines().count(), 4);
}

#[test]
fn the_model_remembers_what_an_absent_feature_means() {
    let sandbox = Sandbox::new();
    // Feature 1 is left out of half the lines; as a zero it lies between the other values.
    let row = |row: usize| {
        let value = [" 1:-1", "", " 1:1", " 1:2"][row % 4];
        format!("{} qid:{}{value} 2:{}\n", [0, 3, 1, 2][row % 4], row / 40, row % 5)
    };
    let rows: String = (0..400).map(row).collect();
    sandbox.write("sparse.txt", &rows);
    sandbox.write("probe.txt", "0 qid:1 2:1\n0 qid:1 1:0 2:1\n");
    let probe = |more: &str| -> Vec<String> {
        sandbox.train_on("sparse.txt", "m.json", more);
        sandbox.ok("predict m.json probe.txt").lines().map(str::to_owned).collect()
    };
    let zero = probe("--set absent=zero");
    assert_eq!(zero[0], zero[1], "absent features are zero");
    let missing = probe("");
    assert_ne!(missing[0], missing[1], "absent features are missing");
}

#[test]
fn the_first_trees_score_as_a_shorter_run() {
    let sandbox = Sandbox::with_model();
    sandbox.ok("train train.txt --out short.json --set num_trees=2 --set num_leaves=7");
    let scores = |line: &str| sandbox.ok(&format!("predict {line} vali.txt"));
    assert_eq!(scores("model.json --trees 2"), scores("short.json"));
    assert_eq!(scores("model.json --trees 100"), scores("model.json"));
    assert_eq!(scores("model.json --trees all"), scores("model.json"));
    assert_ne!(scores("model.json --trees 1"), scores("model.json"));
    assert_eq!(sandbox.run("predict model.json vali.txt --trees -1").code, Some(2));
}
