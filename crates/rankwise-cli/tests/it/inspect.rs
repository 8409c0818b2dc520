//! `rankwise inspect`

use serde_json::json;

use crate::sandbox::Sandbox;

const DATA: &str = "2 qid:7 1:0.5 3:1 # d1\n0 qid:7 1:0.25 3:1 # d2\n0 qid:b 1:1 3:1 # d3\n";

#[test]
fn data_is_described() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", DATA);
    let text = sandbox.ok("inspect d.txt");
    for expected in [
        "d.txt: ranking data\n",
        "  documents    3\n",
        "  queries      2\n",
        "1 to 2 documents each, mean 1.5, median 1.5",
        "1 without relevant documents, 1 with a single label",
        "  features     2, ids 1 to 3, 1 constant\n",
        "  labels       0: 66.7 % (2)\n               2: 33.3 % (1)\n",
        "  document ids yes\n",
        "  weights      no\n",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
    let facts = sandbox.json("inspect d.txt");
    assert_eq!((&facts["kind"], &facts["rows"], &facts["queries"]), (&json!("data"), &json!(3), &json!(2)));
    assert_eq!(facts["documents_per_query"], json!({ "min": 1, "median": 1.5, "mean": 1.5, "max": 2 }));
    assert_eq!(facts["labels"], json!([{ "label": 0.0, "count": 2 }, { "label": 2.0, "count": 1 }]));
    assert_eq!((&facts["document_ids"], &facts["weights"]), (&json!(true), &json!(false)));
}

#[test]
fn side_files_and_standard_input_count() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1 1:0.5\n0 1:0.25\n0 1:1\n");
    sandbox.write("d.txt.query", "2\n1\n");
    sandbox.write("d.txt.weight", "1\n2\n3\n");
    let facts = sandbox.json("inspect d.txt");
    assert_eq!((&facts["queries"], &facts["weights"]), (&json!(2), &json!(true)));
    sandbox.write("e.txt", DATA);
    let text = sandbox.run_with_input("inspect -", "e.txt").expect_ok("inspect -");
    assert!(text.starts_with("<stdin>: ranking data\n"), "{text}");
}

#[test]
fn a_model_is_described() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.ok("inspect model.json");
    for expected in [
        "model.json: model, objective lambdamart\n",
        "  trees        6, 42 leaves in total",
        "  trained on   900 documents, ",
        "  parameters   grow = leafwise\n               lambda_l2 = 0\n",
        "               num_leaves = 7\n               num_trees = 6\n",
        "most important features\nfeature",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
    let facts = sandbox.json("inspect model.json");
    assert_eq!((&facts["kind"], &facts["trees"], &facts["leaves"]), (&json!("model"), &json!(6), &json!(42)));
    let params =
        json!({ "grow": "leafwise", "lambda_l2": "0", "learning_rate": "0.07", "num_leaves": "7", "num_trees": "6" });
    assert_eq!(facts["params"], params);
    let splits: u64 = facts["importance"].as_array().unwrap().iter().map(|one| one["splits"].as_u64().unwrap()).sum();
    assert_eq!(splits, 36, "a tree of 7 leaves has 6 splits");
    let gain = |idx: usize| facts["importance"][idx]["gain"].as_f64().unwrap();
    assert!(gain(0) >= gain(1), "the most important feature comes first");
}

/// What is looked at to tell a model from data must not be lost to the reader.
#[cfg(unix)]
#[test]
fn a_pipe_is_read_from_its_beginning() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", DATA);
    let file = std::fs::File::open(sandbox.path("d.txt")).unwrap();
    let mut cat = std::process::Command::new("cat").stdin(file).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let output =
        sandbox.command(["inspect", "/dev/stdin", "--json"]).stdin(cat.stdout.take().unwrap()).output().unwrap();
    cat.wait().unwrap();
    let facts: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(facts["rows"], 3);
}

/// A file that another program wrote.
fn written(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../rankwise-formats/tests/data");
    std::fs::read(std::path::Path::new(folder).join(name)).unwrap()
}

#[test]
fn of_another_programs_model_only_what_is_known_is_said() {
    let sandbox = Sandbox::new();
    for (name, first, absent) in [
        (
            "lightgbm-lambdarank.txt",
            "m: model of LightGBM, objective lambdarank\n",
            "absent features are treated as 0\n",
        ),
        (
            "xgboost-names.ubj",
            "m: model of XGBoost, objective rank:pairwise\n",
            "absent features are treated as missing\n",
        ),
        (
            "catboost-yetirank.json",
            "m: model of CatBoost, objective YetiRank\n",
            "absent features are treated as missing\n",
        ),
        ("ranklib.xml", "m: model of RankLib, objective lambdamart\n", "absent features are treated as 0\n"),
    ] {
        sandbox.write("m", written(name));
        let text = sandbox.ok("inspect m");
        assert!(text.starts_with(first), "{text}");
        assert!(text.contains("  trees        3, ") && text.contains(absent), "{text}");
        for unknown in ["trained on", "fingerprint", "NaN"] {
            assert!(!text.contains(unknown), "{name} says {unknown}:\n{text}");
        }
        // Names where it has some; gains where it has some.
        assert_eq!(text.contains("price"), name != "ranklib.xml", "{text}");
        assert_eq!(text.contains("gain"), name.starts_with("lightgbm") || name.starts_with("xgboost"), "{text}");
        let facts = sandbox.json("inspect m");
        assert_eq!((&facts["trained_on"], &facts["trees"]), (&json!(null), &json!(3)), "{name}");
        assert!(first.contains(facts["source"].as_str().unwrap()), "{facts}");
    }
}

/// Two queries of four documents: `leak` is the label, `noise` has nothing to do with it, and `row` ascends.
fn table(shift: f64) -> String {
    let rows = [(0, 5), (2, 3), (1, 4), (0, 4), (1, 1), (0, 5), (2, 2), (0, 1)].into_iter().enumerate();
    let line = |(row, (label, noise)): (usize, (usize, usize))| {
        format!("{label},q{},{label},{},{row}\n", row / 4, noise as f64 + shift)
    };
    std::iter::once("label,qid,leak,noise,row\n".to_owned()).chain(rows.map(line)).collect()
}

#[test]
fn leaks_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", table(0.0));
    let outcome = sandbox.run("inspect d.csv --features --top 2");
    for expected in [
        "d.csv: the values of feature 'leak' order documents as the labels do; check that they do not come from the labels",
        "d.csv: the values of feature 'row' order documents as the rows of the file;",
    ] {
        assert!(outcome.stderr.contains(expected), "no '{expected}' in\n{}", outcome.stderr);
    }
    for expected in
        ["leak       100.0 %", "and 1 more feature; --top shows more", "no two documents of a query have the same"]
    {
        assert!(outcome.stdout.contains(expected), "no '{expected}' in\n{}", outcome.stdout);
    }
    let facts = sandbox.json("inspect d.csv --features");
    let leak = &facts["profile"]["features"][0];
    assert_eq!(
        (&leak["name"], &leak["agreement_with_labels"], &leak["distinct"]),
        (&json!("leak"), &json!(1.0), &json!(3))
    );
    assert_eq!(
        leak["bars"],
        json!([{ "low": 0.0, "high": 0.0, "count": 4 }, { "low": 1.0, "high": 1.0, "count": 2 }, { "low": 2.0, "high": 2.0, "count": 2 }])
    );
    assert_eq!(sandbox.json("inspect d.csv")["profile"], json!(null));
    // Sorted by label, so that programs which keep ties in the order of the file look good.
    sandbox.write("sorted.txt", "2 qid:1 1:3\n1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n0 qid:2 1:2\n");
    let outcome = sandbox.run("inspect sorted.txt --features");
    assert!(outcome.stderr.contains("sorted.txt: rows are sorted by label within queries"), "{}", outcome.stderr);
}

#[test]
fn drift_is_measured() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", table(0.0));
    sandbox.write("e.csv", table(100.0));
    let drift = |line: &str| sandbox.json(line)["drift"].clone();
    let same = drift("inspect d.csv --against d.csv");
    assert!(same["features"].as_array().unwrap().iter().all(|feature| feature["distance"] == 0.0));
    assert_eq!((&same["shared_query_ids"], &same["shared_query_contents"]), (&json!(2), &json!(2)));
    let other = drift("inspect d.csv --against e.csv");
    let distances: Vec<&serde_json::Value> =
        other["features"].as_array().unwrap().iter().map(|feature| &feature["distance"]).collect();
    assert_eq!(distances, [&json!(0.0), &json!(1.0), &json!(0.0)]);
    assert_eq!((&other["shared_query_ids"], &other["shared_query_contents"]), (&json!(2), &json!(0)));
    let text = sandbox.ok("inspect d.csv --against e.csv --top 1");
    for expected in
        ["against e.csv\n", "noise       1.000          3.5  103.5", "and 2 more features; --top shows more"]
    {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
    // Columns are matched by name, wherever they are.
    let swapped: String = table(0.0)
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let extra = if cells[0] == "label" { "new" } else { "1" };
            format!("{},{},{},{extra},{}\n", cells[0], cells[1], cells[4], cells[3])
        })
        .collect();
    sandbox.write("swapped.csv", swapped);
    let found = drift("inspect d.csv --against swapped.csv");
    assert_eq!((&found["only_here"], &found["only_there"]), (&json!(["leak"]), &json!(["new"])));
    let of: Vec<(&serde_json::Value, &serde_json::Value)> =
        found["features"].as_array().unwrap().iter().map(|feature| (&feature["name"], &feature["distance"])).collect();
    assert_eq!(of, [(&json!("noise"), &json!(0.0)), (&json!("row"), &json!(0.0))]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let sandbox = Sandbox::with_model();
    sandbox.write("d.csv", table(0.0));
    sandbox.all_refused(&[
        (
            "inspect model.json --features",
            &["model.json: this is a model; --features, --against, --report and --plots describe data"],
        ),
        ("inspect train.txt --against d.csv", &["d.csv: only one of the two datasets names its features"]),
        ("inspect train.txt --against nowhere.txt", &["nowhere.txt"]),
        ("inspect train.txt --against model.json", &["model.json"]),
        ("inspect train.txt --top 0", &["expected a number of at least 1"]),
    ]);
}
