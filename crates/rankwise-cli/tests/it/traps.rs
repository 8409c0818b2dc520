//! What would silently go wrong is told, with what to do about it.

use crate::sandbox::Sandbox;

fn warnings(sandbox: &Sandbox, line: &str) -> Vec<String> {
    let outcome = sandbox.run(line);
    let told = outcome.stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).map(str::to_owned).collect();
    outcome.expect_ok(line);
    told
}

/// Four features, of which the label needs two; ids count from `first`.
fn letor(first: usize, seed: usize) -> String {
    (0..240).map(|row| format!("{} qid:{}{}\n", label(row + seed), row / 12, values(first, row + seed))).collect()
}

fn value(row: usize, feature: usize) -> usize {
    row * [31, 13, 17, 7][feature] % [17, 11, 23, 19][feature]
}

fn label(row: usize) -> usize {
    (0..4).filter(|feature| value(row, *feature) > 9).count().min(3)
}

fn values(first: usize, row: usize) -> String {
    (0..4).map(|feature| format!(" {}:{}", first + feature, value(row, feature))).collect()
}

/// The same with names.
fn table(names: [&str; 4], seed: usize) -> String {
    let row = |row: usize| {
        let values: Vec<String> = (0..4).map(|feature| value(row + seed, feature).to_string()).collect();
        format!("{},{},{}\n", label(row + seed), row / 12, values.join(","))
    };
    format!("label,qid,{}\n{}", names.join(","), (0..240).map(row).collect::<String>())
}

/// The names of the features that a model uses.
fn feature_names(sandbox: &Sandbox, model: &str) -> Vec<String> {
    let model: serde_json::Value = serde_json::from_str(&sandbox.text(model)).unwrap();
    model["feature_names"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

const TRAIN: &str = "--set num_trees=20 --set min_data_in_leaf=3";

#[test]
fn features_shifted_by_one_are_noticed_and_an_offset_helps() {
    let sandbox = Sandbox::new();
    for first in [0, 1] {
        sandbox.write(&format!("from{first}.txt"), letor(first, 0));
        sandbox.write(&format!("test{first}.txt"), letor(first, 5));
        sandbox.ok(&format!("train from{first}.txt --out m{first}.json {TRAIN}"));
    }
    sandbox.write("f.csv", table(["f1", "f2", "f3", "f4"], 5));
    let cases = [("m0", "test1.txt", "-1"), ("m1", "test0.txt", "1"), ("m0", "f.csv", "-1")];
    for (model, data, offset) in cases {
        let line = format!("eval {data} --model {model}.json");
        let told = warnings(&sandbox, &line);
        assert!(told.len() == 1 && told[0].contains("feature ids seem to be shifted by one"), "{line}: {told:?}");
        assert!(told[0].ends_with(&format!("so, set --feature-offset {offset}")), "{line}: {told:?}");
        let mended = format!("{line} --feature-offset {offset}");
        assert_eq!(warnings(&sandbox, &mended), [""; 0]);
        let own = if model == "m0" { "test0.txt" } else { "test1.txt" };
        let ndcg = |line: &str| sandbox.json(line)["metrics"]["ndcg@10"].as_f64().unwrap();
        assert_eq!(ndcg(&mended), ndcg(&format!("eval {own} --model {model}.json")));
        assert_ne!(ndcg(&line), ndcg(&mended));
    }
    let scores = |more: &str| sandbox.ok(&format!("predict m0.json {more}"));
    assert_eq!(scores("test1.txt --feature-offset -1"), scores("test0.txt"));
    assert_eq!(warnings(&sandbox, "eval test0.txt --model m0.json"), [""; 0]);
    let valid = warnings(&sandbox, &format!("train from0.txt --valid test1.txt --out n.json {TRAIN}"));
    assert!(
        valid.len() == 1 && valid[0].starts_with("test1.txt: feature ids seem to be shifted by one: the training"),
        "{valid:?}"
    );
    sandbox.refused(
        &["predict", "m0.json", "test1.txt", "--feature-offset", "-2"],
        &["test1.txt: feature 1 with an offset of -2 is not a valid id; use another --feature-offset"],
    );
}

#[test]
fn many_absent_features_are_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("train.txt", letor(1, 0));
    sandbox.ok(&format!("train train.txt --out m.json {TRAIN}"));
    sandbox.write("few.txt", "1 qid:a 2:1\n0 qid:a 2:2\n");
    let told = warnings(&sandbox, "predict m.json few.txt");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("few.txt: 3 of the 4 features of the model are not in the data"), "{told:?}");
    sandbox.write("other.txt", "1 qid:a 12:1\n0 qid:a 12:2\n");
    let line = format!("train train.txt --valid other.txt --out n.json {TRAIN}");
    let problem = "other.txt: none of the 4 features of the training data are in this validation set";
    sandbox.refused(&line.split_whitespace().collect::<Vec<_>>(), &[problem]);
}

#[test]
fn names_for_letor_come_from_a_file() {
    let sandbox = Sandbox::new();
    let names = ["price", "age", "clicks", "stock"];
    sandbox.write("train.csv", table(names, 0));
    sandbox.write("test.csv", table(names, 5));
    // Other numbers than the order of the columns.
    sandbox.write("test.txt", letor(11, 5));
    sandbox.write("same.txt", letor(0, 5));
    sandbox.write("names.txt", "11 price\n12 age\n13 clicks\n14 stock\n");
    sandbox.ok(&format!("train train.csv --out m.json {TRAIN}"));
    let told = warnings(&sandbox, "eval same.txt --model m.json");
    assert!(told.len() == 1 && told[0].contains("matched by id, 0 with \"price\""), "{told:?}");
    assert!(told[0].ends_with("that is wrong, set --feature-names"), "{told:?}");
    let ndcg = |line: &str| sandbox.json(line)["metrics"]["ndcg@10"].clone();
    let named = "eval test.txt --model m.json --feature-names names.txt";
    assert_eq!(warnings(&sandbox, named), [""; 0]);
    assert_eq!(ndcg(named), ndcg("eval test.csv --model m.json"));
    let scores = |data: &str| sandbox.ok(&format!("predict m.json {data}"));
    assert_eq!(scores("test.txt --feature-names names.txt"), scores("test.csv"));

    // For validation and for training.
    let valid = |data: &str| {
        let line = format!("train train.csv --valid {data} --out n.json {TRAIN} --metric ndcg@5");
        (warnings(&sandbox, &line), sandbox.json(&line)["valid"].clone())
    };
    assert!(valid("same.txt").0[0].contains("but the training data has"), "{:?}", valid("same.txt"));
    assert_eq!(valid("test.txt --feature-names names.txt"), (Vec::new(), valid("test.csv").1));
    sandbox.write("train.txt", letor(11, 0));
    sandbox.ok(&format!("train train.txt --out letor.json {TRAIN} --feature-names names.txt"));
    assert_eq!(feature_names(&sandbox, "letor.json"), names);
    sandbox.ok("convert-data test.txt named.csv --feature-names names.txt");
    assert!(sandbox.text("named.csv").starts_with("label,qid,price,age,clicks,stock\n"));
    assert_eq!(sandbox.ok("predict letor.json named.csv"), sandbox.ok("predict letor.json test.csv"));

    sandbox.write("few.txt", "11 price\n12 age\n13 clicks\n");
    sandbox.all_refused(&[
        (
            "predict m.json test.txt --feature-names few.txt",
            &["test.txt: the feature \"stock\" of the model is not in few.txt; add a line"],
        ),
        ("inspect test.txt --feature-names few.txt", &["test.txt: feature 14 has no name in few.txt; add a line"]),
        ("predict m.json test.csv --feature-offset 1", &["meaning; remove --feature-offset"]),
    ]);
}

#[test]
fn names_that_end_in_a_number_are_names() {
    let sandbox = Sandbox::new();
    sandbox.write("ctr.csv", table(["ctr_7", "ctr_30", "ctr_90", "ctr_365"], 0));
    sandbox.write("price.csv", table(["price_7", "price_30", "price_90", "price_365"], 0));
    sandbox.ok(&format!("train ctr.csv --out m.json {TRAIN}"));
    assert_eq!(feature_names(&sandbox, "m.json"), ["ctr_7", "ctr_30", "ctr_90", "ctr_365"]);
    let line = ["predict", "m.json", "price.csv"];
    sandbox.refused(&line, &["price.csv: no column \"ctr_7\", which is a feature of the model"]);
    for names in [["f1", "f2", "f3", "f4"], ["Feature_1", "Feature_2", "Feature_3", "Feature_4"], ["1", "2", "3", "4"]]
    {
        sandbox.write("numbered.csv", table(names, 0));
        assert_eq!(sandbox.json("inspect numbered.csv")["feature_names"].as_array().unwrap().len(), 0, "{names:?}");
    }
    for names in [["f1", "f_2", "f3", "f4"], ["F1", "f2", "f3", "f4"], ["bm25", "bm26", "bm27", "bm28"]] {
        sandbox.write("named.csv", table(names, 0));
        assert_eq!(sandbox.json("inspect named.csv")["feature_names"].as_array().unwrap().len(), 4, "{names:?}");
    }
}

#[test]
fn parameters_without_effect_are_told() {
    let sandbox = Sandbox::with_data();
    let told = |more: &str| {
        let told = warnings(&sandbox, &format!("train train.txt --out m.json --set num_trees=2 {more}"));
        told.into_iter().filter(|line| line.contains("no effect")).collect::<Vec<_>>()
    };
    assert_eq!(told("--set drop_rate=0.3"), ["drop_rate=0.3 has no effect with learner=gbdt; it needs learner=dart"]);
    assert_eq!(told("--set drop_rate=0.3 --set learner=dart"), [""; 0]);
    assert!(told("--objective rmse --set truncation_level=5")[0].contains("with objective=rmse; it needs"));
    assert!(told("--metric ndcg@5")[0].contains("without a validation set; add --valid"));
    assert_eq!(told("--metric ndcg@5 --valid vali.txt"), [""; 0]);
    let twice = |more: &str, parts: &[&str]| {
        let line = format!("train train.txt --out n.json {more}");
        sandbox.refused(&line.split_whitespace().collect::<Vec<_>>(), parts);
    };
    twice("--objective rmse --set objective=lambdamart", &["--objective and --set objective= set the same"]);
    twice("--objective rmse --set loss_function=lambdamart", &["--objective and --set loss_function= set the same"]);
    twice("--seed 3 --set random_state=4", &["--seed and --set random_state= set the same"]);
    twice("--gain linear --set gain=exp", &["--gain and --set gain= set the same"]);
    sandbox.refused(
        &["refit", "m.json", "vali.txt", "--out", "n.json", "--objective", "rmse", "--set", "objective=rmse"],
        &["--objective and --set objective= set the same"],
    );
}

#[test]
fn measuring_on_the_training_data_is_told() {
    let sandbox = Sandbox::with_model();
    let expected = "train.txt: model.json was trained on this data";
    for line in
        ["eval train.txt --model model.json", "compare train.txt --model model.json --model model.json --names a,b"]
    {
        let told = warnings(&sandbox, line);
        assert!(told.iter().all(|told| told.starts_with(expected)) && !told.is_empty(), "{line}: {told:?}");
    }
    assert_eq!(warnings(&sandbox, "eval vali.txt --model model.json"), [""; 0]);
    let told = warnings(&sandbox, "train train.txt --valid train.txt --out m.json --set num_trees=2");
    assert!(told.iter().any(|told| told.starts_with("train.txt: this is the training data")), "{told:?}");
    let told = warnings(&sandbox, "train train.txt --valid vali.txt --out m.json --set num_trees=2");
    assert!(!told.iter().any(|told| told.contains("training data")), "{told:?}");
    // A table of which the model uses some columns only.
    sandbox.write("train.csv", table(["price", "age", "clicks", "stock"], 0));
    sandbox.ok("train train.csv --out one.json --set num_trees=1 --set num_leaves=2 --set min_data_in_leaf=3");
    assert_eq!(feature_names(&sandbox, "one.json").len(), 1);
    let told = warnings(&sandbox, "eval train.csv --model one.json");
    assert!(told.len() == 1 && told[0].starts_with("train.csv: one.json was trained on this data"), "{told:?}");
}
