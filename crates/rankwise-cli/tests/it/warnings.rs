//! What is legal but suspicious is told once, on stderr, and hides on request.

use crate::sandbox::Sandbox;

/// Feature 2 never changes, the rows of query 0 are torn apart, and two rows say the same.
fn suspicious(sandbox: &Sandbox) {
    let row = |row: usize| format!("{} qid:{} 1:{row} 2:5 3:{}\n", row % 3, row / 10, row % 4);
    let mut text: String = (0..200).map(row).collect();
    text.push_str("1 qid:19 1:500 2:5 3:1\n1 qid:19 1:500 2:5 3:1\n1 qid:0 1:77 2:5 3:1\n");
    sandbox.write("odd.txt", text);
}

fn warnings(stderr: &str) -> Vec<&str> {
    stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).collect()
}

#[test]
fn each_kind_is_told_once_with_an_example_and_what_to_do() {
    let sandbox = Sandbox::new();
    suspicious(&sandbox);
    let expected = [
        "odd.txt: 1 of 3 features (id 2) has the same value in every document, which is of no use to trees; check",
        "odd.txt: 1 of 20 queries (5.0 %), for example 0, has rows that are not contiguous",
        "odd.txt: 1 of 203 rows is a duplicate, for example lines 201 and 202; remove duplicates",
    ];
    for line in ["inspect odd.txt", "train odd.txt --out m.json --set num_trees=2"] {
        let outcome = sandbox.run(line);
        let told = warnings(&outcome.stderr);
        assert_eq!(told.len(), expected.len(), "{line}: {told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{line}: {told}");
        }
        outcome.expect_ok(line);
        let quiet = sandbox.run(&format!("{line} --quiet"));
        assert_eq!(quiet.stderr, "", "{line}");
    }
    assert_eq!(sandbox.json("inspect odd.txt")["warnings"].as_array().unwrap().len(), expected.len());
}

#[test]
fn labels_that_are_ids_are_noticed() {
    let sandbox = Sandbox::new();
    let row = |row: usize| format!("{} qid:{} 1:{}\n", 10_000 + row, row / 10, row % 7);
    sandbox.write("ids.txt", (0..300).map(row).collect::<String>());
    let said = sandbox.run("inspect ids.txt").stderr;
    assert!(said.contains("the labels are 300 different integers up to 10299, which look like ids"), "{said}");
}

#[test]
fn a_model_and_data_that_share_no_feature_are_noticed() {
    let sandbox = Sandbox::with_model();
    sandbox.write("shifted.txt", "1 qid:1 1001:1\n0 qid:1 1002:2\n");
    for line in ["predict model.json shifted.txt", "eval shifted.txt --model model.json"] {
        let outcome = sandbox.run(line);
        let told = warnings(&outcome.stderr);
        assert!(told.len() == 1 && told[0].starts_with("shifted.txt: none of the "), "{line}: {}", outcome.stderr);
        outcome.expect_ok(line);
        assert!(warnings(&sandbox.run(&line.replace("shifted.txt", "vali.txt")).stderr).is_empty(), "{line}");
    }
}

/// As f32 all of these times are one number; training compares them as f64.
#[test]
fn a_feature_that_only_f64_tells_apart_is_not_constant() {
    let sandbox = Sandbox::new();
    let row = |row: usize| format!("{} qid:{} 1:{}\n", row % 2, row / 10, 1_700_000_000 + row % 20);
    sandbox.write("times.txt", (0..200).map(row).collect::<String>());
    for line in ["inspect times.txt", "train times.txt --out m.json --set num_trees=2"] {
        let outcome = sandbox.run(line);
        assert_eq!((outcome.code, warnings(&outcome.stderr)), (Some(0), vec![]), "{line}");
    }
    assert!(sandbox.text("m.json").contains("\"f64_features\": [1]"));
    assert_eq!(sandbox.json("inspect times.txt")["constant_features"], 0);
}
