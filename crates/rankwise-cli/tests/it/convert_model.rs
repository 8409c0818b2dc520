//! `rankwise convert`: models for other programs.

use rankwise::formats::Target;

use crate::sandbox::Sandbox;

#[test]
fn every_target_is_written_and_checked_on_data() {
    let sandbox = Sandbox::with_model();
    for target in Target::ALL.map(Target::name) {
        let line =
            format!("convert model.json --to {target} --out out --check vali.txt --missing-as-zero --allow-rounding");
        let facts = sandbox.json(&line);
        assert_eq!(facts["format"], target);
        assert_eq!((&facts["trees"], &facts["check"]["rows"]), (&6.into(), &900.into()), "{target}");
        let difference = facts["check"]["largest_difference"].as_f64().unwrap();
        let is_exact = ["lightgbm", "c"].contains(&target);
        assert!(if is_exact { difference == 0.0 } else { difference < 1e-5 }, "{target}: {difference}");
        let first = sandbox.bytes("out");
        assert_eq!(facts["bytes"], first.len());
        sandbox.ok(&line);
        assert_eq!(sandbox.bytes("out"), first, "{target}: the same model gives the same bytes");
    }
    let text = sandbox.ok("convert model.json --to lightgbm --out m.txt --check vali.txt");
    assert!(text.starts_with("wrote 6 trees with 42 leaves to m.txt (lightgbm, "), "{text}");
    assert!(text.ends_with("checked 900 documents: both models give identical scores\n"), "{text}");
    let text = sandbox.ok("convert model.json --to onnx --out m.onnx");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn what_is_exported_is_a_model_again_with_the_same_scores() {
    let sandbox = Sandbox::with_model();
    sandbox.ok("convert model.json --to lightgbm --out m.txt");
    // LightGBM's files say that what is left out is 0, so the data names all features.
    sandbox.ok("convert-data vali.txt vali.csv");
    let expected = sandbox.ok("predict model.json vali.csv");
    assert_eq!(sandbox.ok("predict m.txt vali.csv"), expected);
    sandbox.ok("convert m.txt --to c --out m.c --check vali.csv");
    sandbox.ok("convert m.txt --to xgboost --out m.json --allow-rounding --check vali.csv");
}

#[test]
fn a_score_that_differs_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    // Documents without the feature are the good ones; most others have 0, as if it were missing.
    let lines: Vec<String> = (0..200)
        .map(|row| match row % 4 {
            0 => format!("2 qid:{}\n", row / 20),
            1 => format!("0 qid:{} 1:0\n", row / 20),
            _ => format!("1 qid:{} 1:{}\n", row / 20, row % 7),
        })
        .collect();
    sandbox.write("train.txt", lines.concat());
    sandbox.train("model.json", "--set min_data_in_leaf=5");
    for target in ["ranklib", "solr", "xgboost-dump"] {
        let plain = ["convert", "model.json", "--to", target, "--out", "out"];
        sandbox.refused(&plain, &["model.json: tree 0 treats missing values of feature 1 differently from 0", target]);
        let allowed = [&plain[..], &["--missing-as-zero", "--allow-rounding"]].concat();
        let checked = [&allowed[..], &["--check", "train.txt"]].concat();
        sandbox.refused(&checked, &["train.txt:1: the score is ", " in the export, and "]);
        // Where nothing is missing, nothing differs.
        sandbox.write("known.txt", lines.iter().filter(|line| line.contains("1:")).cloned().collect::<String>());
        let checked = [&allowed[..], &["--check", "known.txt"]].concat();
        sandbox.run_args(&checked).expect_ok(target);
        std::fs::remove_file(sandbox.path("out")).unwrap();
        std::fs::remove_file(sandbox.path("known.txt")).unwrap();
    }
}

#[test]
fn features_are_called_as_the_user_says() {
    let sandbox = Sandbox::with_model();
    let names: Vec<String> = (0..=8).map(|feature| format!("{feature}\tfield {feature}\n")).collect();
    sandbox.write("names.txt", names.concat());
    sandbox.write("few.txt", "1 title\n");
    sandbox.write("twice.txt", "1 title\n1 body\n");
    sandbox.write("bad.txt", "title\n");
    let convert = "convert model.json --missing-as-zero --allow-rounding --out out";
    sandbox.ok(&format!("{convert} --to solr --feature-names names.txt --check vali.txt"));
    let text = sandbox.text("out");
    assert!(text.contains("\"feature\":\"field ") && !text.contains("\"f1\""), "{text}");
    std::fs::remove_file(sandbox.path("out")).unwrap();
    let cases = [
        ("--to solr --feature-names few.txt", "model.json: no name is given for feature"),
        ("--to solr --feature-names twice.txt", "twice.txt: feature 1 has two names; keep one of them"),
        ("--to solr --feature-names bad.txt", "bad.txt:1:1: "),
        ("--to onnx --feature-names names.txt", "onnx identifies features by number; remove --feature-names"),
    ];
    for (more, part) in cases {
        let line = format!("{convert} {more}");
        sandbox.refused(&line.split_whitespace().collect::<Vec<_>>(), &[part]);
    }
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_written() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        ("convert model.json --to onnx --out model.json", &["model.json: cannot write: this file is also an input"]),
        ("convert nosuch.json --to onnx --out out", &["nosuch.json: cannot open"]),
        (
            "convert train.txt --to onnx --out out",
            &["train.txt: not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib"],
        ),
        ("convert model.json --to onnx --out out --check model.json", &["this is a model"]),
        (
            "convert model.json --to onnx --out - --json",
            &["--json prints its object to standard output, so the model needs a file"],
        ),
        ("convert model.json --to pmml --out out", &["'pmml'", "lightgbm", "xgboost-dump"]),
        ("convert - --to onnx --out out --check -", &["standard input can be read only once"]),
    ]);
    // Standard output takes the file itself.
    let source = sandbox.ok("convert model.json --to c --out -");
    sandbox.ok("convert model.json --to c --out m.c");
    assert_eq!(source, sandbox.text("m.c"));
}
