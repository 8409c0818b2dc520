//! The same data in every form; columns by name.

use crate::sandbox::{Sandbox, reordered, shuffled};

/// A table with names in place of the numbers of the features.
fn named(csv: &str) -> String {
    let (header, rows) = csv.split_once('\n').unwrap();
    let names = header.split(',').map(|name| match name.strip_prefix('f') {
        Some(number) => format!("feature {}", (b'a' + number.parse::<u8>().unwrap()) as char),
        None => name.to_owned(),
    });
    format!("{}\n{rows}", names.collect::<Vec<_>>().join(","))
}

/// The columns of a table in another order, each given by its place; a text stands for a column of its own.
fn with_columns(csv: &str, columns: &[Result<usize, &str>]) -> String {
    let line = |(idx, line): (usize, &str)| {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |column: &Result<usize, &str>| match column {
            Ok(place) => fields[*place].to_owned(),
            Err(name) if idx == 0 => (*name).to_owned(),
            Err(_) => format!("text {idx}"),
        };
        columns.iter().map(field).collect::<Vec<_>>().join(",") + "\n"
    };
    csv.lines().enumerate().map(line).collect()
}

#[test]
fn every_form_gives_the_same_model() {
    let sandbox = Sandbox::with_data();
    let letor = sandbox.text("train.txt");
    for name in ["a.csv", "a.tsv", "a.parquet", "b.csv.gz", "b.tsv.zst", "b.txt.gz", "b.txt", "b.rwcache"] {
        sandbox.ok(&format!("convert-data train.txt {name}"));
    }
    // Back from the other end.
    for (from, to) in [("a.parquet", "c.txt"), ("a.csv", "c.parquet"), ("c.parquet", "c.tsv.gz")] {
        sandbox.ok(&format!("convert-data {from} {to}"));
    }
    assert_eq!(sandbox.text("c.txt"), letor);

    let csv = sandbox.text("a.csv");
    let (header, rows) = csv.split_once('\n').unwrap();
    sandbox.write("shuffled.csv", format!("{header}\n{}", reordered(rows, &shuffled(rows.lines().count()))));
    sandbox.write("bare.csv", rows);
    let qid = |line: &str| line.split(' ').nth(1).unwrap().to_owned();
    let lines: Vec<&str> = letor.lines().collect();
    let sizes: String = lines.chunk_by(|a, b| qid(a) == qid(b)).map(|rows| format!("{}\n", rows.len())).collect();
    let without_qid = |line: &&str| format!("{}\n", line.replacen(&format!(" {}", qid(line)), "", 1));
    sandbox.write("sized.txt", lines.iter().map(without_qid).collect::<String>());
    sandbox.write("sized.txt.query", &sizes);
    sandbox.write(
        "sized.csv",
        with_columns(&csv, &[Ok(0), Ok(2), Ok(3), Ok(4), Ok(5), Ok(6), Ok(7), Ok(8), Ok(9), Ok(10)]),
    );
    sandbox.write("sized.csv.query", &sizes);
    sandbox.write(
        "moved.csv",
        with_columns(&csv, &[Ok(10), Ok(9), Ok(8), Ok(7), Ok(1), Ok(6), Ok(5), Ok(4), Ok(3), Ok(2), Ok(0)]),
    );

    for settings in ["", "--set sample=bagging --set bagging_fraction=0.6"] {
        let expected = sandbox.train("m.json", settings);
        for data in [
            "a.csv",
            "a.tsv",
            "a.parquet",
            "b.csv.gz",
            "b.tsv.zst",
            "b.txt.gz",
            "b.txt",
            "b.rwcache",
            "c.txt",
            "c.parquet",
            "c.tsv.gz",
            "shuffled.csv",
            "sized.txt",
            "sized.csv",
            "moved.csv",
        ] {
            assert!(sandbox.train_on(data, "n.json", settings) == expected, "{data} '{settings}'");
        }
        let piped = |data: &str, format: &str| {
            let line =
                format!("train - --out p.json --set num_trees=6 --set num_leaves=7 {settings} --data-format {format}");
            sandbox.run_with_input(&line, data).expect_ok(data);
            assert!(sandbox.bytes("p.json") == expected, "{data}");
        };
        piped("a.csv", "csv");
        piped("b.tsv.zst", "tsv");
        piped("a.parquet", "parquet");
        piped("train.txt", "letor");
    }
}

#[test]
fn weights_positions_and_pairs_survive_every_form() {
    let sandbox = Sandbox::new();
    let text = "label,qid,weight,query_weight,position,f1,f2\n\
        2,b,0.5,3,1,0.25,\n0,a,1,0.1,2,,7\n1,b,2,3,2,1e-9,-0.1\n0,b,1,3,3,0,3\n";
    sandbox.write("d.csv", text);
    sandbox.write("d.csv.pairs", "0\t2\n0\t3\t0.5\n");
    let fingerprint = |name: &str| sandbox.json(&format!("inspect {name}"))["fingerprint"].clone();
    let expected = fingerprint("d.csv");
    let mut from = "d.csv";
    for to in ["e.txt", "f.parquet", "g.tsv.gz", "h.txt.zst", "i.csv"] {
        let facts = sandbox.json(&format!("convert-data {from} {to}"));
        assert_eq!((facts["rows"].as_u64(), facts["queries"].as_u64()), (Some(4), Some(2)));
        assert_eq!(fingerprint(to), expected, "{to}");
        from = to;
    }
    assert_eq!(sandbox.text("i.csv"), text);
    assert_eq!(sandbox.text("e.txt.position"), "1\n2\n2\n3\n");
    assert_eq!(sandbox.text("e.txt.query_weight"), "3\n0.1\n");
    assert_eq!(sandbox.json("inspect i.csv")["pairs"], 2);
    sandbox.all_refused(&[
        ("convert-data d.csv d.csv", &["d.csv: cannot write: this file is also an input"]),
        ("convert-data d.csv x.unknown", &["x.unknown: unknown file extension", "--to"]),
        ("convert-data d.csv nosuch/x.csv", &["nosuch/x.csv: cannot write: its folder does not exist"]),
        ("convert-data nosuch.csv x.csv", &["nosuch.csv: cannot open: no such file"]),
        ("convert-data d.csv - --to letor", &["<stdout>: cannot write: the data needs FILE.weight", "give a file"]),
        ("convert-data d.csv - --to csv --json", &["--json prints its object to standard output"]),
        ("convert-data d.csv x.parquet.gz", &["x.parquet.gz: cannot write: Parquet has its own compression"]),
    ]);
    sandbox.write("q.csv", "label,qid,a\n1,two words,2\n");
    sandbox
        .refused(&["convert-data", "q.csv", "q.txt"], &["q.txt: cannot write: qid \"two words\" contains white space"]);
    sandbox.write("s.txt.weight", "1\n");
    sandbox.refused(&["convert-data", "i.csv", "s.csv", "--to", "nonsense"], &["nonsense"]);
    sandbox.write("s.csv.query", "1\n");
    sandbox.refused(&["convert-data", "i.csv", "s.csv"], &["s.csv: cannot write: s.csv.query would be read with it"]);
}

#[test]
fn what_is_left_out_stays_what_it_was() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1 qid:1 1:0 2:5\n0 qid:1 2:nan\n");
    sandbox.ok("convert-data d.txt missing.csv");
    assert_eq!(sandbox.text("missing.csv"), "label,qid,f1,f2\n1,1,0,5\n0,1,,\n");
    sandbox.ok("convert-data d.txt zero.csv --absent zero");
    assert_eq!(sandbox.text("zero.csv"), "label,qid,f2\n1,1,5\n0,1,\n");
    sandbox.ok("convert-data d.txt zero.txt --absent zero");
    assert_eq!(sandbox.text("zero.txt"), "1 qid:1 2:5\n0 qid:1 2:nan\n");
}

#[test]
fn columns_are_matched_by_name() {
    let sandbox = Sandbox::with_data();
    sandbox.ok("convert-data train.txt numbers.csv");
    let csv = named(&sandbox.text("numbers.csv"));
    sandbox.write("named.csv", &csv);
    sandbox.train_on("named.csv", "named.json", "");
    sandbox.train_on("numbers.csv", "numbers.json", "");
    sandbox.write("bare.csv", csv.split_once('\n').unwrap().1);
    sandbox.train_on("bare.csv", "bare.json", "--doc-column 2");
    let trees = |name: &str| {
        let text = sandbox.text(name);
        text[text.find("\"trees\": [").unwrap()..].to_owned()
    };
    assert_eq!(trees("named.json"), trees("bare.json"));
    let model: serde_json::Value = serde_json::from_str(&sandbox.text("named.json")).unwrap();
    let first = model["feature_names"][0].as_str().unwrap();
    assert!(first.starts_with("feature ") && sandbox.ok("inspect named.json").contains(first), "{first}");

    let scores = sandbox.ok("predict named.json named.csv");
    // label, qid and docid are columns 0 to 2.
    let moved = [Ok(9), Ok(10), Err("note"), Ok(1), Ok(8), Ok(7), Ok(6), Ok(5), Ok(4), Ok(3), Ok(2)];
    sandbox.write("moved.csv", with_columns(&csv, &moved));
    assert_eq!(sandbox.ok("predict named.json moved.csv"), scores);
    sandbox.ok("convert-data named.csv named.parquet");
    assert_eq!(sandbox.ok("predict named.json named.parquet"), scores);
    // Without names, by place.
    assert_eq!(sandbox.ok("predict named.json bare.csv --doc-column 2"), scores);
    // A validation set, too.
    let same = sandbox.train_on("named.csv", "a.json", "--valid named.csv");
    sandbox.write(
        "valid.csv",
        with_columns(&csv, &[Ok(0), Ok(10), Ok(9), Ok(8), Ok(7), Ok(6), Ok(5), Ok(4), Ok(3), Ok(2), Ok(1)]),
    );
    assert_eq!(sandbox.train_on("named.csv", "b.json", "--valid valid.csv"), same);

    sandbox.write("fewer.csv", with_columns(&csv, &[Ok(0), Ok(1), Ok(3)]));
    sandbox.all_refused(&[
        (
            "predict named.json fewer.csv",
            &["fewer.csv: no column \"feature ", "a feature of the model", "\"feature b\""],
        ),
        ("train named.csv --valid fewer.csv --out x.json", &["fewer.csv: no column \"feature "]),
        ("eval moved.csv --model named.json", &["moved.csv: no label column; name it with --label-column"]),
        (
            "train moved.csv --label-column note --out x.json",
            &["moved.csv:2:", "\"text 1\" in column \"note\" is not a label"],
        ),
        ("train named.csv --label-column grade --out x.json", &["--label-column grade: no such column", "\"label\""]),
        (
            "predict numbers.json named.csv",
            &["named.csv: its columns have names, but the model identifies features by number"],
        ),
        (
            "train numbers.csv --valid named.csv --out x.json",
            &["named.csv: its columns have names, but the training data"],
        ),
        ("train named.csv --separator ab --out x.json", &["one ASCII character"]),
        (
            "train named.csv --separator 1 --out x.json",
            &["one ASCII character other than a letter, a digit, a quote, +, - or ."],
        ),
        ("train named.csv --header maybe --out x.json", &["maybe"]),
        (
            "train train.txt --label-column 0 --out x.json",
            &["train.txt: this is read as LETOR text, which has no named columns"],
        ),
        ("train named.csv --column-description nosuch --out x.json", &["nosuch: cannot open"]),
    ]);
}

#[test]
fn ids_with_blanks_fit_a_table_but_not_a_run() {
    let sandbox = Sandbox::with_model();
    sandbox.write("d.csv", "qid,docid,f1,f2\nred shoes,D 1,1,2\n");
    assert!(sandbox.ok("predict model.json d.csv --format tsv").contains("red shoes\tD 1\t"));
    sandbox.refused(
        &["predict", "model.json", "d.csv", "--format", "run", "--out", "d.run"],
        &["d.csv: the id \"red shoes\" contains white space, which is not allowed in a run; use --format tsv"],
    );
}

#[test]
fn a_configuration_may_describe_the_columns() {
    let sandbox = Sandbox::with_data();
    sandbox.ok("convert-data train.txt numbers.csv");
    let odd = sandbox.text("numbers.csv").replacen("label,qid", "stars,search", 1).replace(',', ";");
    sandbox.write("odd.csv", odd);
    sandbox.write(
        "c.toml",
        "label_column = \"stars\"\nqid-column = \"search\"\nseparator = \";\"\nnum_trees = 6\nnum_leaves = 7\n",
    );
    sandbox.ok("train odd.csv --config c.toml --out a.json");
    assert_eq!(sandbox.bytes("a.json"), sandbox.train("b.json", ""));
    sandbox.refused(
        &["train", "odd.csv", "--config", "c.toml", "--label-column", "f1", "--qid-column", "f1", "--out", "x.json"],
        &["column \"f1\" is used as label and qid"],
    );
    sandbox.write("bad.toml", "num_trees = 6\nheader = \"maybe\"\n");
    sandbox.refused(
        &["train", "odd.csv", "--config", "bad.toml", "--out", "x.json"],
        &["bad.toml:2:1: parameter 'header': invalid value 'maybe'; expected auto|yes|no"],
    );
}

#[test]
fn damaged_tables_are_refused() {
    let sandbox = Sandbox::with_data();
    for name in ["a.csv.gz", "a.tsv.zst", "a.parquet"] {
        sandbox.ok(&format!("convert-data train.txt {name}"));
        let bytes = sandbox.bytes(name);
        sandbox.write(name, &bytes[..bytes.len() / 2]);
        sandbox.refused(&["train", name, "--out", "m.json"], &[&format!("{name}: the "), "data is damaged or cut off"]);
    }
    // A file whose pages make no sense although its description does.
    sandbox.ok("convert-data train.txt b.parquet");
    let mut bytes = sandbox.bytes("b.parquet");
    for byte in &mut bytes[4..2000] {
        *byte ^= 0x5a;
    }
    sandbox.write("b.parquet", bytes);
    sandbox.refused(
        &["train", "b.parquet", "--out", "m.json"],
        &["b.parquet: the Parquet data is damaged or cut off in row group 0, column \"label\""],
    );
}

#[test]
fn the_form_of_catboost_is_read() {
    let Some(folder) = rankwise_testing::public_data("catboost-querywise") else { return };
    let sandbox = Sandbox::new();
    let path = |name: &str| folder.join(name).display().to_string();
    let facts = sandbox.json(&format!("inspect {} --column-description {}", path("train"), path("train.cd")));
    assert_eq!(
        (facts["rows"].as_u64(), facts["queries"].as_u64(), facts["features"].as_u64()),
        (Some(1500), Some(91), Some(50))
    );
    assert_eq!((facts["pairs"].as_u64(), facts["weights"].as_bool()), (Some(975), Some(true)));
}
