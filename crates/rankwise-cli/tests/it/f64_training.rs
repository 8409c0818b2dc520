//! Training on features that f32 does not tell apart: such a feature is f64, all others are f32, and nothing else changes.

use std::fmt::Write as _;

use crate::sandbox::{Sandbox, reordered, shuffled};

const COMMON: &str = "--set num_trees=30 --set min_data_in_leaf=2";
const N_ROWS: u32 = 600;

/// Times in seconds that are a few f32, prices with cents that are told by their f32, long fractions; some values are missing.
/// Only the seconds, within a minute, say what is relevant.
fn rows() -> impl Iterator<Item = [String; 5]> {
    (0..N_ROWS).map(|row| {
        let seconds = 1_700_000_000 + (row * 37) % 60;
        let label = if seconds % 60 >= 30 { 2 } else { 0 };
        let seconds = if row % 50 == 7 { String::new() } else { seconds.to_string() };
        let price = format!("{:.2}", f64::from((row * 7919) % 10_007) / 100.0);
        [label.to_string(), (row / 20).to_string(), seconds, price, format!("{:.5}", f64::from(row) / 7e3)]
    })
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let (mut letor, mut csv) = (String::new(), "label,qid,f1,f2,f3\n".to_owned());
    for [label, qid, seconds, price, share] in rows() {
        let named = if seconds.is_empty() { String::new() } else { format!(" 1:{seconds}") };
        let _ = writeln!(letor, "{label} qid:{qid}{named} 2:{price} 3:{share}");
        let _ = writeln!(csv, "{label},{qid},{seconds},{price},{share}");
    }
    sandbox.write("data.txt", letor);
    sandbox.write("data.csv", csv);
    sandbox
}

fn train(sandbox: &Sandbox, data: &str) -> String {
    sandbox.ok(&format!("train {data} --out model.json {COMMON}"));
    sandbox.text("model.json")
}

#[test]
fn every_format_any_order_and_any_parts_give_the_same_model() {
    let sandbox = sandbox();
    let expected = train(&sandbox, "data.txt");
    for part in ["\"version\": 5", "\"precision\": \"f64\"", "\"f64_features\": [1]"] {
        assert!(expected.contains(part), "{part}");
    }
    sandbox.write("shuffled.txt", reordered(&sandbox.text("data.txt"), &shuffled(N_ROWS as usize)));
    for (part, rows) in sandbox.text("data.txt").lines().collect::<Vec<_>>().chunks(140).enumerate() {
        sandbox.write(&format!("part-{part}.txt"), rows.join("\n"));
    }
    sandbox.ok("convert-data data.txt data.parquet");
    sandbox.ok("convert-data data.txt data.rwcache");
    for data in ["data.csv", "data.parquet", "data.rwcache", "shuffled.txt", "part-*.txt"] {
        assert_eq!(train(&sandbox, data), expected, "{data}");
    }
}

#[test]
fn what_training_measures_is_what_eval_measures() {
    let sandbox = sandbox();
    for more in ["", "--set grow=oblivious", "--set engine=plain", "--set learner=dart --set drop_rate=0.5"] {
        let line = format!("train data.txt --valid data.csv --metric ndcg@10 --out model.json {COMMON} {more}");
        let trained = sandbox.json(&line);
        let measured = sandbox.json("eval data.txt --model model.json --metric ndcg@10");
        assert_eq!(trained["valid"]["ndcg@10"], measured["metrics"]["ndcg@10"], "{more}");
        assert!(trained["valid"]["ndcg@10"].as_f64().unwrap() > 0.99, "the seconds tell everything: {more}");
    }
}

/// Started from a model of rounded values, the trees of that model go on asking for rounded values.
#[test]
fn a_start_that_rounds_scores_as_before() {
    let sandbox = sandbox();
    let told =
        sandbox.text("data.txt").lines().map(|line| line.replace(" 1:17000000", " 1:") + "\n").collect::<String>();
    sandbox.write("told.txt", told);
    sandbox.ok(&format!("train told.txt --out start.json {COMMON}"));
    assert!(sandbox.text("start.json").contains("\"precision\": \"f32\""));
    sandbox.ok("predict start.json data.txt --out before.txt");
    let line = "train data.txt --init-model start.json --valid data.txt --metric ndcg@10 --out model.json --set min_data_in_leaf=2";
    let trained = sandbox.json(line);
    assert!(sandbox.text("model.json").contains("\"f64_features\": [1]"));
    let n_start = trained["start_trees"].as_u64().unwrap();
    sandbox.ok(&format!("predict model.json data.txt --trees {n_start} --out after.txt"));
    assert_eq!(sandbox.text("before.txt"), sandbox.text("after.txt"));
    let measured = sandbox.json("eval data.txt --model model.json --metric ndcg@10");
    assert_eq!(trained["valid"]["ndcg@10"], measured["metrics"]["ndcg@10"]);
}

/// More digits than f32 has are no reason, as long as no two values become equal.
#[test]
fn long_numbers_that_stay_apart_are_f32() {
    let sandbox = Sandbox::new();
    let row = |row: u32| {
        let (time, long) = (1_700_000_000 + 129 * (row % 60) + 1, 0.123_456_789_012_3 + f64::from(row % 97));
        format!("{} qid:{} 1:{time} 2:{long:.13} 3:1e-40\n", row % 3, row / 20)
    };
    sandbox.write("data.txt", (0..400).map(row).collect::<String>());
    let model = train(&sandbox, "data.txt");
    assert!(model.contains("\"version\": 1") && model.contains("\"precision\": \"f32\""), "{model}");
    // One more value that only f64 tells from another.
    sandbox.write(
        "more.txt",
        (0..400).map(row).chain(["1 qid:99 1:1700000002\n0 qid:99 1:5\n".into()]).collect::<String>(),
    );
    assert!(train(&sandbox, "more.txt").contains("\"f64_features\": [1]"));
    // It is not in the bytes of the model where no tree asks for it.
    sandbox.ok("train more.txt --out model.json --set min_data_in_leaf=2 --set num_leaves=2 --set num_trees=1");
    let small = sandbox.text("model.json");
    assert_eq!(small.contains("f64_features"), small.contains("\"features\": [1]"), "{small}");
}

#[test]
fn runs_are_resumable() {
    let sandbox = sandbox();
    let expected = train(&sandbox, "data.txt");
    let line = "train data.txt --out model.json --checkpoint points --set min_data_in_leaf=2";
    sandbox.ok(&format!("{line} --set num_trees=11"));
    sandbox.ok(&format!("{line} --set num_trees=30 --resume"));
    assert_eq!(sandbox.text("model.json"), expected);
}
