//! `rankwise explain`

use std::collections::HashMap;

use rankwise::model::Precision;
use serde_json::Value;

use crate::linear::linear;
use crate::sandbox::Sandbox;

/// Contributions by document, and the expected score.
fn contributions(sandbox: &Sandbox, name: &str) -> Vec<(String, f64, Vec<f64>)> {
    let text = sandbox.text(name);
    let of_line = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let numbers: Vec<f64> = cells[2..].iter().map(|cell| cell.parse().unwrap()).collect();
        (cells[1].to_owned(), numbers[0], numbers[1..].to_vec())
    };
    text.lines().skip(1).map(of_line).collect()
}

/// Whether contributions and the expected score add up to the scores that `predict` writes.
fn check_sums(sandbox: &Sandbox, model: &str, data: &str) {
    sandbox.ok(&format!("predict {model} {data} --out scores.txt"));
    sandbox.ok(&format!("explain {model} {data} --contributions c.tsv"));
    let scores: Vec<f64> = sandbox.text("scores.txt").lines().map(|line| line.parse().unwrap()).collect();
    let found = contributions(sandbox, "c.tsv");
    assert_eq!(found.len(), scores.len());
    for ((doc, expected, values), score) in found.into_iter().zip(scores) {
        let sum = expected + values.iter().sum::<f64>();
        let size = expected.abs() + values.iter().map(|value| value.abs()).sum::<f64>();
        assert!((sum - score).abs() <= 1e-9 * size, "{model}, {doc}: {sum}, not {score}");
    }
}

#[test]
fn contributions_add_up_to_scores() {
    let sandbox = Sandbox::with_model();
    for (name, more) in [
        ("leaves.json", "--set grow=leafwise"),
        ("levels.json", "--set grow=levelwise"),
        ("oblivious.json", "--set grow=oblivious"),
        ("forest.json", "--set learner=random-forest --set feature_fraction=0.5"),
    ] {
        sandbox.train(name, more);
        check_sums(&sandbox, name, "vali.txt");
    }
    sandbox.write("linear.json", linear(Precision::F32).to_json());
    check_sums(&sandbox, "linear.json", "vali.txt");
}

#[test]
fn other_programs_models_are_explained() {
    let sandbox = Sandbox::with_model();
    check_sums(&sandbox, "model.json", "vali.txt");
    let ours = contributions(&sandbox, "c.tsv");
    // LightGBM's files have the counts, so the values are the same.
    sandbox.ok("convert model.json --to lightgbm --out lgb.txt");
    check_sums(&sandbox, "lgb.txt", "vali.txt");
    for (ours, theirs) in ours.iter().zip(contributions(&sandbox, "c.tsv")) {
        assert!((ours.1 - theirs.1).abs() < 1e-12);
        assert!(
            ours.2.iter().zip(&theirs.2).all(|(ours, theirs)| (ours - theirs).abs() < 1e-12),
            "{ours:?} {theirs:?}"
        );
    }
    // RankLib's have none: documents of the data take their place.
    sandbox.ok("convert model.json --to ranklib --missing-as-zero --out rank.xml");
    check_sums(&sandbox, "rank.xml", "vali.txt");
    let outcome = sandbox.run("explain rank.xml vali.txt --repeats 0");
    let note = "the model has no counts of training rows; SHAP values compare with 100 documents of the data";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    let facts = sandbox.json("explain rank.xml vali.txt --repeats 0");
    assert_eq!(facts["compared_with"], "documents");
}

#[test]
fn threads_and_the_order_of_rows_change_nothing() {
    let sandbox = Sandbox::with_model();
    let lines = sandbox.text("vali.txt");
    sandbox.write("other.txt", crate::sandbox::reordered(&lines, &crate::sandbox::shuffled(lines.lines().count())));
    let explain = |more: &str, data: &str| {
        let mut facts = sandbox.json(&format!("explain model.json {data} {more}"));
        for part in ["data", "seconds", "warnings"] {
            facts[part] = Value::Null;
        }
        facts
    };
    for part in ["--repeats 2", "--query 2", "--query 2 --why 1,4", "--feature 3 --interactions"] {
        let one = explain(&format!("{part} --threads 1"), "vali.txt");
        assert_eq!(one, explain(&format!("{part} --threads 3"), "vali.txt"), "{part}");
        assert_eq!(one, explain(&format!("{part} --threads 2"), "other.txt"), "{part}");
    }
}

/// Values of documents, by id and feature.
fn documents(text: &str) -> HashMap<String, String> {
    text.lines().map(|line| (line.rsplit_once("# ").unwrap().1.to_owned(), line.to_owned())).collect()
}

#[test]
fn changes_turn_the_order() {
    let sandbox = Sandbox::with_model();
    let docs = documents(&sandbox.text("vali.txt"));
    let mut n_changes = 0;
    for places in ["1,2", "1,5", "3,20", "10,4"] {
        let why = sandbox.json(&format!("explain model.json vali.txt --query 3 --why {places}"))["why"].clone();
        let number = |value: &Value| value.as_f64().unwrap();
        let [a, b] = ["a", "b"].map(|doc| number(&why[doc]["score"]));
        assert_eq!(number(&why["difference"]), a - b);
        let parts = why["contributions"].as_array().unwrap();
        let sum: f64 = parts.iter().map(|part| number(&part["contribution"])).sum();
        let size: f64 = parts.iter().map(|part| number(&part["contribution"]).abs()).sum();
        assert!((sum - (a - b)).abs() <= 1e-9 * size);
        for kind in ["one_change", "two_changes"] {
            if why[kind].is_null() {
                continue;
            }
            let mut line = docs[why["b"]["document"].as_str().unwrap()].clone();
            for change in why[kind]["changes"].as_array().unwrap() {
                let start = format!(" {}:", change["feature"].as_str().unwrap());
                let at = line.find(&start).unwrap() + start.len();
                let end = at + line[at..].find(' ').unwrap();
                line.replace_range(at..end, &change["to"].to_string());
            }
            sandbox.write("changed.txt", format!("{line}\n"));
            sandbox.ok("predict model.json changed.txt --out s.txt");
            let score: f64 = sandbox.text("s.txt").trim().parse().unwrap();
            assert!(score > a, "{places}, {kind}: {score} is not above {a}");
            assert!((score - number(&why[kind]["score"])).abs() < 1e-12);
            n_changes += 1;
        }
    }
    assert!(n_changes >= 4, "{n_changes}");
}

#[test]
fn text_names_documents_and_features() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.ok("explain model.json vali.txt --query 3 --why 1,2 --feature 2 --interactions --top 3");
    for expected in [
        "query 3: q3-d",
        "difference of the scores",
        "to overtake q3-d",
        "900 documents with other values of 2\n",
        "places climbed",
        "SHAP interactions in 900 documents\n",
        "--top shows more",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
    let text = sandbox.ok("explain model.json");
    assert!(text.starts_with("feature ") && text.contains("splits"), "{text}");
    let text = sandbox.ok("explain model.json vali.txt --metric map --repeats 2");
    assert!(text.contains("loss of map") && text.contains("values exchanged 2 times per feature"), "{text}");
}

#[test]
fn data_without_labels_is_explained() {
    let sandbox = Sandbox::with_model();
    let csv: String = std::iter::once("qid,1,2,3,4,5,6,7,8\n".to_owned())
        .chain((0..9).map(|row| format!("{},{row},1,2,0.5,0.25,{row},3,4\n", row / 3)))
        .collect();
    sandbox.write("blind.csv", csv);
    sandbox.refused(&["explain", "model.json", "blind.csv"], &["blind.csv", "label"]);
    let text = sandbox.ok("explain model.json blind.csv --repeats 0");
    assert!(text.contains("mean |SHAP|") && !text.contains("loss"), "{text}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let sandbox = Sandbox::with_model();
    sandbox.write("c.tsv", "old\n");
    sandbox.train("grades.json", "--objective multiclass");
    sandbox.write("linear.json", linear(Precision::F32).to_json());
    sandbox.ok("convert model.json --to ranklib --missing-as-zero --out rank.xml");
    sandbox.all_refused(&[
        ("explain model.json vali.txt --query q9999", &["vali.txt: --query q9999: no query with this id"]),
        ("explain model.json vali.txt --query 3 --why 1", &["--why 1: expected two documents, such as 1,2"]),
        ("explain model.json vali.txt --query 3 --why 2,2", &["both are the same document"]),
        ("explain model.json vali.txt --query 3 --why 1,x", &["--why: query 3 has no document 'x'"]),
        ("explain model.json vali.txt --query 3 --why 0,1", &["no document '0'", "a place from 1 to"]),
        ("explain model.json vali.txt --feature 77", &["--feature 77: the model does not use this feature"]),
        ("explain model.json vali.txt --metric nope", &["nope"]),
        ("explain model.json vali.txt --metric map,ndcg", &["give one metric"]),
        ("explain model.json vali.txt --contributions -", &["give a file name"]),
        ("explain model.json vali.txt --contributions vali.txt", &["vali.txt"]),
        ("explain model.json vali.txt --contributions no/where.tsv", &["no"]),
        ("explain model.json --query 3", &["DATA"]),
        ("explain model.json vali.txt --why 1,2", &["--query"]),
        ("explain model.json vali.txt --repeats -1", &["-1"]),
        ("explain model.json vali.txt --top 0", &["expected a number of at least 1, such as 10"]),
        ("explain vali.txt", &["not a model"]),
        ("explain model.json nowhere.txt", &["nowhere.txt"]),
        ("explain rank.xml vali.txt --interactions", &["no counts of training rows"]),
        ("explain linear.json vali.txt --interactions", &["linear"]),
        ("explain grades.json vali.txt --query 3 --why 1,2", &["one output per label"]),
    ]);
}

#[test]
fn importance_belongs_to_the_right_features() {
    let sandbox = Sandbox::with_model();
    let facts = sandbox.json("explain model.json vali.txt --repeats 1");
    sandbox.ok("explain model.json vali.txt --contributions c.tsv");
    let contributions = contributions(&sandbox, "c.tsv");
    let head = sandbox.text("c.tsv").lines().next().unwrap().to_owned();
    let from_file = sandbox.json("explain model.json");
    for (column, name) in head.split('\t').skip(3).enumerate() {
        let of = |facts: &Value| {
            facts["features"].as_array().unwrap().iter().find(|feature| feature["name"] == name).unwrap().clone()
        };
        let mean: f64 = contributions.iter().map(|doc| doc.2[column].abs()).sum::<f64>() / contributions.len() as f64;
        assert!((of(&facts)["mean_shap"].as_f64().unwrap() - mean).abs() < 1e-12, "{name}");
        assert_eq!(of(&facts)["gain"], of(&from_file)["gain"], "{name}");
    }
    // The most important first, by the measured loss, or else by the gains.
    for (facts, key) in [(&facts, "loss"), (&from_file, "gain")] {
        let values: Vec<f64> =
            facts["features"].as_array().unwrap().iter().filter_map(|feature| feature[key].as_f64()).collect();
        assert!(values.is_sorted_by(|a, b| a >= b), "{key}: {values:?}");
    }
}
