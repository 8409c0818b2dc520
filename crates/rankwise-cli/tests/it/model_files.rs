//! Files that are given as a model and are none, or one no more.

use rankwise::model::FORMAT_VERSION;

use crate::sandbox::Sandbox;

#[test]
fn predict_eval_and_inspect_refuse_them_alike() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.text("model.json");
    assert!(text.contains("\"version\": 1,") && text.contains("\"kind\": \"trees\""), "the test must change something");
    let wrote = "use a file that `rankwise train` wrote";
    let cut_lines = text.lines().take_while(|line| !line.contains("\"trees\":")).count() + 1;
    let at_cut = format!("m:{cut_lines}:");
    let cut_at = text.find("\"trees\": [").unwrap() + 10;
    let other_value = text.replace("\"base_score\": 0.0", "\"base_score\": 0.5");
    let newer = format!(
        "m: the model has format version 99, but this program supports versions up to {FORMAT_VERSION}; use a newer rankwise"
    );
    let cases: [(&str, String, &[&str]); 12] = [
        ("empty", String::new(), &["m: not a Rankwise model: the file is empty", wrote]),
        (
            "data",
            sandbox.text("train.txt"),
            &["m: not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib; give a model file of one of them"],
        ),
        ("LightGBM's", "tree\nversion=v4\n".into(), &["m:2: the file is cut off", "not in LightGBM's format"]),
        ("XGBoost's", "{\"learner\": {}}\n".into(), &["m: learner: it has no 'objective'", "not in XGBoost's format"]),
        (
            "other JSON",
            "{\"teacher\": {}}\n".into(),
            &["m: not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib"],
        ),
        ("a list", "[1]\n".into(), &["m: not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib"]),
        (
            "cut off",
            text[..cut_at].into(),
            &[&at_cut, "not a Rankwise model: EOF", "restore it from a copy or train again"],
        ),
        (
            "CatBoost's binary format",
            "CBM1\u{1}\u{2}".into(),
            &["m: this is CatBoost's binary format, which is not supported"],
        ),
        ("an XGBoost dump", "booster[0]:\n".into(), &["m: this is an XGBoost dump"]),
        ("newer", text.replace("\"version\": 1,", "\"version\": 99,"), &[&newer]),
        (
            "not a model",
            text.replace("\"kind\": \"trees\"", "\"kind\": \"net\""),
            &["m: the model is of the unknown kind 'net'", "newer"],
        ),
        ("changed", other_value.clone(), &["m: the model is damaged: its checksum is", "restore it from a copy"]),
    ];
    assert_ne!(other_value, text);
    for (what, content, parts) in cases {
        sandbox.write("m", content);
        for line in ["predict m train.txt", "eval train.txt --model m", "predict m train.txt --out scores.txt"] {
            let outcome = sandbox.run(line);
            outcome.expect_refused(&format!("{what}: {line}"), parts);
        }
        if what == "CatBoost's binary format" || parts[0].contains("damaged") || parts[0].contains("version") {
            sandbox.run("inspect m").expect_refused(what, parts);
        }
        assert!(!sandbox.path("scores.txt").exists(), "{what}");
    }
}

#[test]
fn structural_damage_is_found_before_the_checksum_matters() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.text("model.json");
    let broken = text.replacen("\"leaf_value\":[", "\"leaf_value\":[0.5,", 1);
    assert_ne!(broken, text);
    sandbox.write("m", broken);
    sandbox
        .refused(&["predict", "m", "train.txt"], &["m: tree 0: ", "the model is damaged, so restore it from a copy"]);
    sandbox.write("m", text.replacen("\"objective\"", "\"objectiv\"", 1));
    sandbox.refused(&["inspect", "m"], &["m:6:", "unknown field 'objectiv'"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        ("predict nosuch.json train.txt", &["nosuch.json: cannot open: no such file; check the name"]),
        ("predict . train.txt", &[".: cannot read: this is a folder; give a file"]),
        ("eval train.txt --model nosuch.json", &["nosuch.json: cannot open: no such file"]),
        (
            "predict train.txt train.txt",
            &["train.txt: not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib"],
        ),
    ]);
}
