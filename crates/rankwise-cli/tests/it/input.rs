//! Data that cannot be used: the message names the file, the line and the column where there is one. Broken lines and cells
//! are rows of the table of bad input.

use crate::sandbox::Sandbox;

/// Trains on a file with this content, which must be refused.
fn refused(content: impl AsRef<[u8]>, parts: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", content);
    sandbox.refused(&["train", "d.txt", "--out", "m.json"], parts);
}

#[test]
fn other_formats_and_damage_are_named() {
    refused("a,b\n1,2\n", &["d.txt:1:1: label \"a,b\" is not a number"]);
    refused(b"PAR1____", &["d.txt: the Parquet data is damaged or cut off", "write or copy the file again"]);
    let sandbox = Sandbox::with_model();
    for (name, codec) in [("cut.gz", "gzip"), ("cut.zst", "zstd")] {
        sandbox.ok(&format!("synth --rows 300 --features 8 --out {name}"));
        let bytes = sandbox.bytes(name);
        sandbox.write(name, &bytes[..bytes.len() / 2]);
        let damaged = format!("{name}: the {codec} data is damaged or cut off");
        sandbox.refused(&["train", name, "--out", "m.json"], &[&damaged, "copy or compress the file again"]);
    }
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.all_refused(&[
        ("train nosuch.txt --out m.json", &["nosuch.txt: cannot open: no such file; check the name"]),
        ("train folder --out m.json", &["folder: no data files in this folder"]),
        ("train train.txt/x --out m.json", &["train.txt/x: cannot open: a part of the path is a file"]),
        ("train train.txt --valid nosuch.txt --out m.json", &["nosuch.txt: cannot open: no such file"]),
        ("train model.json --out m.json", &["model.json: this is a model, but ranking data is expected here"]),
        ("train train.txt --valid model.json --out m.json", &["model.json: this is a model"]),
        ("predict model.json model.json", &["model.json: this is a model"]),
        ("eval model.json --model model.json", &["model.json: this is a model"]),
        ("inspect nosuch.txt", &["nosuch.txt: cannot open: no such file"]),
        ("inspect folder", &["folder: no data files in this folder"]),
        ("predict model.json nosuch.txt", &["nosuch.txt: cannot open"]),
        ("eval nosuch.txt --model model.json", &["nosuch.txt: cannot open"]),
        ("train - --valid - --out m.json", &["standard input can be read only once; use a file"]),
        ("predict - -", &["standard input can be read only once"]),
        ("eval - --scores -", &["standard input can be read only once"]),
        ("train - --out m.json", &["<stdin>: there are no rows"]),
    ]);
}

#[test]
fn side_files_are_named_when_they_do_not_fit() {
    let qids = "1 qid:a 1:1\n0 qid:a 1:2\n";
    let cases: [(&str, &str, &str, &[&str]); 8] = [
        (".query", "1 1:1\n0 1:2\n", "3\n", &["d.txt.query: the query sizes add up to 3, but there are 2 rows"]),
        (
            ".query",
            "1 1:1\n0 1:2\n",
            "two\n",
            &["d.txt.query:1:1: \"two\" is invalid; expected the number of rows of a query"],
        ),
        (
            ".query",
            qids,
            "2\n",
            &["d.txt:1:3: \"qid:a\" here, but d.txt.query gives query sizes too; remove that file"],
        ),
        (".weight", qids, "1\n", &["d.txt.weight: the number of document weights is 1, but the number of rows is 2"]),
        (".weight", qids, "1\n-1\n", &["d.txt.weight:2:1: \"-1\" is invalid; expected a weight of at least 0"]),
        (".weight", qids, "1\n\n1\n", &["d.txt.weight:2:1: the line is empty; expected a weight"]),
        (".weight", qids, "0\n0\n", &["d.txt: all documents have weight 0; give some of them a positive weight"]),
        (".query_weight", qids, "1\n2\n", &["d.txt.query_weight: the number of query weights is 2", "queries is 1"]),
    ];
    for (suffix, data, side, parts) in cases {
        let sandbox = Sandbox::new();
        sandbox.write("d.txt", data);
        sandbox.write(&format!("d.txt{suffix}"), side);
        sandbox.refused(&["train", "d.txt", "--out", "m.json"], parts);
    }
}

#[test]
fn data_that_teaches_nothing_is_refused() {
    refused(
        "1 qid:a 1:1\n1 qid:a 1:2\n",
        &["d.txt: no query has two documents with different labels", "objective rmse"],
    );
    refused("1 qid:a 1:1\n0 qid:b 1:2\n", &["d.txt: no query has two documents with different labels"]);
    refused("1 qid:a 1:1\n0 qid:a 1:1\n", &["d.txt: no feature has two different values", "check the data"]);
    refused("1 qid:a\n0 qid:a\n", &["d.txt: there are no features, so there is nothing to split on; check the data"]);
    refused(
        "1000 qid:a 1:1\n0 qid:a 1:2\n",
        &["d.txt: label 1000 in query 'a' is too large for exponential gain", "--gain linear"],
    );
    let sandbox = Sandbox::with_data();
    sandbox.write("d.txt", "1.5 qid:a 1:1\n0 qid:a 1:2\n");
    sandbox.write("none.txt", "0 qid:a 1:1\n0 qid:a 1:2\n");
    sandbox.write("some.txt", "0 qid:a 1:1\n0 qid:a 1:2\n1 qid:b 1:2\n");
    sandbox.all_refused(&[
        (
            "train d.txt --out m.json --set label_gain=0,1,3",
            &["d.txt: label 1.5 in query 'a' is not an integer, which label_gain needs"],
        ),
        (
            "train train.txt --out m.json --set label_gain=0,1",
            &[
                "train.txt: label ",
                "no entry in label_gain (the last one is for label 1); extend label_gain, or remove it",
            ],
        ),
        ("train train.txt --out m.json --gain table:0,1", &["train.txt: label ", "extend the table"]),
        (
            "train train.txt --out m.json --set monotone_constraints=99:1",
            &["error: parameter 'monotone_constraints': feature 99 is not in the data (ids 1 to 8); correct the id, or remove 99:1"],
        ),
        (
            "train train.txt --valid some.txt --out m.json --empty error",
            &["validation set some.txt: query 'a' has no relevant document; set --empty to zero, one or skip"],
        ),
        (
            "train train.txt --valid none.txt --out m.json",
            &["validation set none.txt: no query has a relevant document and a weight above 0, so 'ndcg@10' cannot tell models apart; use other data"],
        ),
        (
            "train train.txt --valid d.txt --out m.json --gain table:0,1,2,3,4",
            &["validation set d.txt: label 1.5 in query 'a' is not an integer"],
        ),
    ]);
}

#[test]
fn scores_and_labels_must_fit_the_measurement() {
    let sandbox = Sandbox::with_model();
    sandbox.write("d.txt", "5 qid:a 1:1\n0 qid:a 1:2\n");
    sandbox.write("none.txt", "0 qid:a 1:1\n0 qid:a 1:2\n");
    sandbox.write("some.txt", "0 qid:a 1:1\n0 qid:a 1:2\n1 qid:b 1:2\n");
    for (name, content) in
        [("one", "1\n"), ("two", "1\n2\n"), ("nan", "1\nnan\n"), ("bad", "1\n  x\n"), ("gap", "\n1\n2\n")]
    {
        sandbox.write(name, content);
    }
    sandbox.all_refused(&[
        ("eval d.txt --scores one", &["one: 1 score for 2 rows of d.txt; give one score per row, in the same order"]),
        ("eval d.txt --scores nan", &["nan:2:1: \"nan\" is invalid; expected a finite number"]),
        ("eval d.txt --scores bad", &["bad:2:3: \"x\" is invalid; expected a finite number"]),
        ("eval d.txt --scores gap", &["gap:1:1: the line is empty"]),
        ("eval d.txt --scores nosuch", &["nosuch: cannot open: no such file"]),
        ("eval d.txt --scores model.json", &["model.json: this is a model, not a score file; use --model"]),
        (
            "eval d.txt --scores two --ties docid",
            &[
                "d.txt: equal scores are ordered by document id (--ties docid, or --convention trec_eval)",
                "another rule",
            ],
        ),
        (
            "eval d.txt --scores two --gain table:0,1,3",
            &["d.txt: label 5 in query 'a' has no entry", "extend the table"],
        ),
        ("eval none.txt --scores two --empty error", &["none.txt: query 'a' has no relevant document; set --empty"]),
    ]);
}

/// As the `zstd` command does without being asked.
#[test]
fn zstd_windows_of_up_to_128_mb_are_read() {
    let sandbox = Sandbox::with_data();
    let expected = sandbox.json("inspect train.txt")["fingerprint"].clone();
    let packed = |window_log: u32| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        std::io::Write::write_all(&mut encoder, &sandbox.bytes("train.txt")).unwrap();
        encoder.finish().unwrap()
    };
    sandbox.write("wide.txt.zst", packed(27));
    assert_eq!(sandbox.json("inspect wide.txt.zst")["fingerprint"], expected);
    sandbox.write("wider.txt.zst", packed(28));
    sandbox.refused(&["inspect", "wider.txt.zst"], &["needs more than 128 MB of memory to decompress"]);
}
