//! `train --history`: the metrics of every round, as CSV and in the JSON.

use serde_json::Value;

use crate::sandbox::Sandbox;

const LINE: &str = "train train.txt --out m.json --valid vali.txt --valid train.txt --metric NDCG@5,map --history h.csv \
                    --set num_leaves=7 --set num_trees";

/// The rows below the header: the round, then a value for each set and metric.
fn rows(csv: &str) -> Vec<Vec<f64>> {
    csv.lines().skip(1).map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect()
}

/// The same from the JSON.
fn rows_of(history: &Value) -> Vec<Vec<f64>> {
    let curves = history["curves"].as_array().unwrap();
    let row = |(idx, round): (usize, &Value)| {
        let values = curves.iter().map(|curve| curve["values"][idx].as_f64().unwrap());
        std::iter::once(round.as_f64().unwrap()).chain(values).collect()
    };
    history["rounds"].as_array().unwrap().iter().enumerate().map(row).collect()
}

#[test]
fn every_round_has_a_row_and_the_best_one_is_in_the_model() {
    let sandbox = Sandbox::with_data();
    let said = sandbox.json(&format!("{LINE}=12"));
    let csv = sandbox.text("h.csv");
    assert_eq!(csv.lines().next(), Some("round,vali.txt:NDCG@5,vali.txt:map,train.txt:NDCG@5,train.txt:map"));
    let rows = rows(&csv);
    assert_eq!(rows, rows_of(&said["history"]));
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), (1..=12).map(f64::from).collect::<Vec<_>>());
    let best = &rows[said["best_iteration"].as_u64().unwrap() as usize - 1];
    assert_eq!(said["valid"]["NDCG@5"], best[1]);
    assert_eq!(said["valid_sets"][1]["metrics"]["map"], best[4]);
    assert!(rows.iter().all(|row| row[1] <= best[1]), "{csv}");
    assert_eq!(said["metric_names"], serde_json::json!({ "NDCG@5": "ndcg@5", "map": "map" }));
    assert!(sandbox.ok(&format!("{LINE}=3")).contains("wrote h.csv\n"));
}

#[test]
fn a_resumed_run_has_the_whole_history() {
    let sandbox = Sandbox::with_data();
    for start in ["", "--init-model start.json"] {
        sandbox.train("start.json", "");
        let whole = sandbox.json(&format!("{LINE}=9 {start}"));
        let csv = sandbox.text("h.csv");
        assert_eq!(rows(&csv)[0][0], if start.is_empty() { 1.0 } else { 0.0 });
        sandbox.ok(&format!("{LINE}=4 {start} --checkpoint run --checkpoint-every 1"));
        assert_ne!(sandbox.text("h.csv"), csv);
        let resumed = sandbox.json(&format!("{LINE}=9 {start} --checkpoint run --resume"));
        assert_eq!(sandbox.text("h.csv"), csv);
        assert_eq!((&resumed["history"], &resumed["resumed_from"]), (&whole["history"], &4.into()));
        std::fs::remove_dir_all(sandbox.path("run")).unwrap();
    }
}

#[test]
fn without_validation_there_is_no_history() {
    let sandbox = Sandbox::with_data();
    let said = sandbox.json("train train.txt --out m.json --set num_trees=2");
    assert_eq!(said["history"], serde_json::json!({ "rounds": [], "curves": [] }));
    sandbox.all_refused(&[
        ("train train.txt --out n.json --history h.csv", &["--history needs a validation set", "add --valid DATA"]),
        ("train train.txt --out n.json --valid vali.txt --history no/h.csv", &["no/h.csv: cannot write"]),
        (
            "train train.txt --out n.json --valid vali.txt --history vali.txt",
            &["vali.txt: cannot write: this file is also"],
        ),
    ]);
}
