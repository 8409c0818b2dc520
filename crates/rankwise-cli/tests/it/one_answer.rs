//! Same data, parameters and seed: the same bytes, whatever the threads and whatever the order.

use crate::sandbox::{Sandbox, reordered, shuffled};

const SAMPLED: [&str; 3] = [
    "",
    "--set sample=bagging --set bagging_fraction=0.6 --set feature_fraction=0.6 --set feature_fraction_bynode=0.8",
    "--set sample=query-bagging --set bagging_fraction=0.6 --set feature_fraction=0.6",
];

/// The program starts no more threads than there are cores; the library's test of the same name runs as many as it names.
#[test]
fn for_any_number_of_threads_asked_for() {
    let sandbox = Sandbox::with_data();
    for settings in SAMPLED {
        let model = |threads: u32| sandbox.train("m.json", &format!("{settings} --valid vali.txt --threads {threads}"));
        let one = model(1);
        for threads in [2, 3, 8] {
            assert!(model(threads) == one, "{threads} threads, '{settings}'");
        }
    }
}

#[test]
fn for_any_order_of_rows_and_queries_with_and_without_document_ids() {
    let sandbox = Sandbox::with_data();
    let with_ids = sandbox.text("train.txt");
    let without_ids: String = with_ids.lines().map(|line| format!("{}\n", line.split_once(" #").unwrap().0)).collect();
    for text in [&with_ids, &without_ids] {
        // Every tenth document twice and the first one three times over: equal rows are interchangeable.
        let mut rows: Vec<&str> = text.lines().collect();
        let again: Vec<&str> = rows.iter().copied().step_by(10).chain([rows[0], rows[0]]).collect();
        rows.extend(again);
        let text = rows.join("\n") + "\n";
        sandbox.write("a.txt", &text);
        sandbox.write("b.txt", reordered(&text, &shuffled(rows.len())));
        assert_ne!(sandbox.bytes("a.txt"), sandbox.bytes("b.txt"));
        for settings in SAMPLED {
            let first = sandbox.train_on("a.txt", "a.json", settings);
            assert!(sandbox.train_on("b.txt", "b.json", settings) == first, "'{settings}'");
        }
    }
}

#[test]
fn for_queries_in_reverse_and_a_file_compressed() {
    let sandbox = Sandbox::with_data();
    let text = sandbox.text("train.txt");
    let qid = |line: &str| line.split(' ').nth(1).unwrap().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    let queries: Vec<&[&str]> = lines.chunk_by(|a, b| qid(a) == qid(b)).collect();
    assert!(queries.len() > 2);
    sandbox
        .write("reversed.txt", queries.into_iter().rev().flatten().map(|line| format!("{line}\n")).collect::<String>());
    sandbox.ok("synth --rows 900 --features 8 --seed 1 --out train.txt.gz");
    for settings in SAMPLED {
        let plain = sandbox.train("m.json", settings);
        assert!(sandbox.train_on("reversed.txt", "n.json", settings) == plain, "'{settings}'");
        assert!(sandbox.train_on("train.txt.gz", "n.json", settings) == plain, "'{settings}'");
    }
}

#[test]
fn another_seed_is_another_sample() {
    let sandbox = Sandbox::with_data();
    for settings in &SAMPLED[1..] {
        let trees = |seed: u32| {
            let model = sandbox.train("m.json", &format!("{settings} --seed {seed}"));
            let text = String::from_utf8(model).unwrap();
            text[text.find("\"trees\"").unwrap()..].to_owned()
        };
        assert_eq!(trees(1), trees(1), "{settings}");
        assert_ne!(trees(1), trees(2), "{settings}");
    }
    // Without sampling nothing is drawn.
    let trees = |seed: u32| {
        sandbox.train("m.json", &format!("--seed {seed}"));
        sandbox.json("inspect m.json")["importance"].clone()
    };
    assert_eq!(trees(1), trees(2));
}

#[test]
fn a_model_may_be_written_over_itself() {
    let sandbox = Sandbox::with_model();
    let first = sandbox.bytes("model.json");
    assert_eq!(sandbox.train("model.json", ""), first);
    assert_eq!(sandbox.listing().len(), 3, "{:?}", sandbox.listing());
}
