//! Values that f32 does not hold: models that compare f64 see them, and conversions keep them.

use std::fmt::Write as _;

use rankwise::model::{AbsentFeature, Header, Model, Output, Precision, Tree, TreeEnsemble, TreeParts};

use crate::sandbox::Sandbox;

/// 1 above the threshold, 0 up to it; missing values are above.
fn model(threshold: f64, precision: Precision) -> Model {
    let parts = TreeParts {
        feature: vec![0],
        threshold: vec![threshold],
        missing_left: vec![false],
        left: vec![!0],
        right: vec![!1],
        gain: vec![1.0],
        count: vec![2],
        leaf_value: vec![0.0, 1.0],
        leaf_count: vec![1, 1],
        ..TreeParts::default()
    };
    let ensemble = TreeEnsemble::new(0.0, Output::Sum, vec![Tree::new(parts).unwrap()]).unwrap();
    Model::new(Header::new(AbsentFeature::Missing, precision, vec![1]), ensemble).unwrap()
}

/// Seconds that are one f32, a price and a long fraction, a document a line; the last has no time.
const SECONDS: [&str; 5] = ["1700000000", "1700000001", "1700000030", "1700000031", ""];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let (mut letor, mut csv) = (String::new(), "label,qid,f1,f2,f3\n".to_owned());
    for (row, seconds) in SECONDS.iter().enumerate() {
        let named = if seconds.is_empty() { String::new() } else { format!(" 1:{seconds}") };
        let _ = writeln!(letor, "{row} qid:{}{named} 2:0.1 3:0.12345678901234", row / 3);
        let _ = writeln!(csv, "{row},{},{seconds},0.1,0.12345678901234", row / 3);
    }
    sandbox.write("data.txt", letor);
    sandbox.write("data.csv", csv);
    sandbox.write("f64.json", model(1_700_000_015.5, Precision::F64).to_json());
    sandbox.write("f32.json", model(1_700_000_015.5, Precision::F32).to_json());
    sandbox
}

#[test]
fn a_model_that_compares_f64_tells_seconds_apart_in_every_format() {
    let sandbox = sandbox();
    sandbox.ok("convert-data data.csv data.parquet");
    for data in ["data.txt", "data.csv", "data.parquet"] {
        sandbox.ok(&format!("predict f64.json {data} --out scores.txt"));
        assert_eq!(sandbox.text("scores.txt"), "0\n0\n1\n1\n1\n", "{data}");
        // Ours round: all of them are 1.7e9.
        sandbox.ok(&format!("predict f32.json {data} --out scores.txt"));
        assert_eq!(sandbox.text("scores.txt"), "0\n0\n0\n0\n1\n", "{data}");
    }
    // Each model of a comparison reads the data its own way.
    let compared = sandbox.json("compare data.txt --model f32.json --model f64.json --metric ndcg@10 --ties worst");
    let value = |system: usize| compared["systems"][system]["metrics"]["ndcg@10"].as_f64().unwrap();
    let alone = |model: &str| {
        let found = sandbox.json(&format!("eval data.txt --model {model} --metric ndcg@10 --ties worst"));
        found["metrics"]["ndcg@10"].as_f64().unwrap()
    };
    assert_eq!([value(0), value(1)], [alone("f32.json"), alone("f64.json")]);
    assert!(value(1) > value(0));
}

#[test]
fn conversions_keep_every_digit() {
    let sandbox = sandbox();
    sandbox.ok("convert-data data.txt a.csv");
    assert_eq!(sandbox.text("a.csv"), sandbox.text("data.csv"));
    sandbox.ok("convert-data a.csv b.parquet");
    sandbox.ok("convert-data b.parquet c.txt");
    assert_eq!(sandbox.text("c.txt"), sandbox.text("data.txt"));
    sandbox.ok("convert-data c.txt d.txt");
    assert_eq!(sandbox.text("d.txt"), sandbox.text("data.txt"));
}

/// C and LightGBM compare f64: where our model rounds, its export has to do as the model does.
#[test]
fn a_checked_export_agrees_on_values_beyond_f32() {
    let sandbox = sandbox();
    for model in ["f64.json", "f32.json"] {
        for target in ["c", "lightgbm"] {
            let said = sandbox.ok(&format!("convert {model} --to {target} --out out --check data.txt"));
            assert!(
                said.contains("checked 5 documents: both models give identical scores"),
                "{model} {target}: {said}"
            );
        }
        sandbox.ok(&format!("convert {model} --to lightgbm --out lightgbm.txt"));
        sandbox.ok(&format!("predict {model} data.csv --out ours.txt"));
        sandbox.ok("predict lightgbm.txt data.csv --out theirs.txt");
        // LightGBM takes what is left out for 0, but an empty field for missing.
        assert_eq!(sandbox.text("ours.txt"), sandbox.text("theirs.txt"), "{model}");
    }
}

/// Trees grown onto a model that compares f64 are grown on rounded values; the whole scores what training saw.
#[test]
fn training_from_a_model_that_compares_f64_scores_what_it_saw() {
    let sandbox = Sandbox::new();
    let mut text = String::new();
    for row in 0..400u32 {
        // Prices with cents, around 2^18: their f32 are up to a cent off.
        let (label, price) = ((row * 7) % 3, 262_144.0 + f64::from((row * 37) % 401) * 0.01);
        let _ = writeln!(text, "{label} qid:{} 1:{} 2:{price:.2}", row / 20, 1_700_000_000 + row % 60);
    }
    sandbox.write("data.txt", text);
    sandbox.write("start.json", model(1_700_000_029.5, Precision::F64).to_json());
    let trained = sandbox.json(
        "train data.txt --valid data.txt --init-model start.json --out model.json --metric ndcg@10 --set num_trees=20 \
         --set min_data_in_leaf=2 --set num_leaves=31",
    );
    let measured = sandbox.json("eval data.txt --model model.json --metric ndcg@10");
    assert!(trained["trees"].as_u64().unwrap() > 1);
    assert_eq!(trained["valid"]["ndcg@10"], measured["metrics"]["ndcg@10"]);
}
