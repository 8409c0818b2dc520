//! Data in several files.

use serde_json::{Value, json};

use crate::sandbox::{Outcome, Sandbox};

const SETTINGS: &str = "--set num_trees=6 --set num_leaves=7 --set sample=bagging --set bagging_fraction=0.7";

/// Lines dealt out to so many texts, one after another, so that queries are split; each with the header, if there is one.
fn dealt(text: &str, n_parts: usize, header: Option<&str>) -> Vec<String> {
    let mut parts = vec![header.map_or_else(String::new, |header| format!("{header}\n")); n_parts];
    for (idx, line) in text.lines().enumerate() {
        let part = &mut parts[idx % n_parts];
        part.push_str(line);
        part.push('\n');
    }
    parts
}

fn write_parts(sandbox: &Sandbox, folder: &str, ending: &str, parts: &[String]) -> Vec<String> {
    std::fs::create_dir_all(sandbox.path(folder)).unwrap();
    let names: Vec<String> = (0..parts.len()).map(|number| format!("{folder}/part-{number:03}.{ending}")).collect();
    for (name, part) in names.iter().zip(parts) {
        sandbox.write(name, part);
    }
    names
}

fn model(sandbox: &Sandbox, data: &str) -> Vec<u8> {
    sandbox.ok(&format!("train {data} --out m.json {SETTINGS} --quiet"));
    sandbox.bytes("m.json")
}

fn remarks(sandbox: &Sandbox, line: &str) -> String {
    let outcome = sandbox.run(line);
    assert_eq!(outcome.code, Some(0), "{line}: {}", outcome.stderr);
    outcome.stderr
}

#[test]
fn one_seven_or_a_hundred_files_give_the_same_model() {
    let sandbox = Sandbox::with_data();
    let expected = model(&sandbox, "train.txt");
    sandbox.ok("convert-data train.txt train.csv");
    let (letor, csv) = (sandbox.text("train.txt"), sandbox.text("train.csv"));
    let (header, rows) = csv.split_once('\n').unwrap();
    for n_parts in [1, 7, 100] {
        let letor = write_parts(&sandbox, &format!("letor{n_parts}"), "txt", &dealt(&letor, n_parts, None));
        let csv = write_parts(&sandbox, &format!("csv{n_parts}"), "csv", &dealt(rows, n_parts, Some(header)));
        std::fs::create_dir_all(sandbox.path(&format!("parquet{n_parts}"))).unwrap();
        let parquet: Vec<String> = csv.iter().map(|name| name.replace("csv", "parquet")).collect();
        for (text, table) in csv.iter().zip(&parquet) {
            sandbox.ok(&format!("convert-data {text} {table}"));
        }
        for names in [letor, csv, parquet] {
            let folder = names[0].split('/').next().unwrap();
            assert_eq!(model(&sandbox, folder), expected, "{folder}");
            let backwards: Vec<&str> = names.iter().rev().map(String::as_str).collect();
            assert_eq!(model(&sandbox, &backwards.join(" ")), expected, "{folder}, from the last to the first");
        }
    }
    // Tables of several formats, as all of them have names.
    let mixed = "csv7/part-000.csv csv7/part-001.csv parquet7/part-002.parquet csv7/part-003.csv \
        parquet7/part-004.parquet parquet7/part-005.parquet csv7/part-006.csv";
    assert_eq!(model(&sandbox, mixed), expected, "CSV and Parquet");
}

#[test]
fn columns_are_matched_by_name_and_numbered_by_the_first_path() {
    let sandbox = Sandbox::new();
    let row = |idx: usize| [idx % 3, idx / 10, idx * 7 % 13, idx * 5 % 11];
    let rows: Vec<[usize; 4]> = (0..60).map(row).collect();
    let table = |order: [usize; 4], rows: &[[usize; 4]]| {
        let names = ["label", "qid", "price", "age of the seller"];
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut text = line(order.iter().map(|column| names[*column].to_owned()).collect());
        for row in rows {
            text += &line(order.iter().map(|column| row[*column].to_string()).collect());
        }
        text
    };
    sandbox.write("all.csv", table([0, 1, 2, 3], &rows));
    sandbox.write("a.csv", table([0, 1, 2, 3], &rows[..25]));
    sandbox.write("b.csv", table([3, 1, 2, 0], &rows[25..]));
    let train = |data: &str| {
        sandbox.ok(&format!("train {data} --out m.json --set num_trees=3 --set min_data_in_leaf=2 --objective rmse"));
        sandbox.text("m.json")
    };
    let expected = train("all.csv");
    assert!(expected.contains("age of the seller"), "{expected}");
    assert_eq!(train("a.csv b.csv"), expected);
    assert_eq!(train("b.csv a.csv"), expected);
    for table in ["a", "b"] {
        sandbox.ok(&format!("convert-data {table}.csv {table}.parquet"));
    }
    assert_eq!(train("b.parquet a.parquet"), expected);
    assert_eq!(train("b.parquet a.csv"), expected);
}

#[test]
fn folders_patterns_and_lists_of_files_mean_the_same() {
    let sandbox = Sandbox::with_data();
    let expected = {
        sandbox.ok(&format!("train train.txt --valid vali.txt --out m.json {SETTINGS}"));
        sandbox.bytes("m.json")
    };
    let parts = write_parts(&sandbox, "train", "txt", &dealt(&sandbox.text("train.txt"), 3, None));
    let valid = write_parts(&sandbox, "vali", "txt", &dealt(&sandbox.text("vali.txt"), 2, None));
    // Nothing of this is data.
    for name in ["train/.hidden.txt", "train/_part.txt", "train/notes", "train/README.md"] {
        sandbox.write(name, "no data\n");
    }
    std::fs::create_dir(sandbox.path("train/folder.txt")).unwrap();
    let (parts, valid) = (parts.join(" "), valid.join(" "));
    for line in [
        format!("train train --valid vali --out m.json {SETTINGS}"),
        format!("train train/part-*.txt --valid vali/*.txt --out m.json {SETTINGS}"),
        format!("train train/part-00[0-9].txt --valid v*i --out m.json {SETTINGS}"),
        format!("train {parts} --valid {valid} --out m.json {SETTINGS}"),
        format!("train --valid {valid} --out m.json {SETTINGS} {parts}"),
        format!("train --valid vali.txt train --out m.json {SETTINGS}"),
    ] {
        // Words reach the program as they stand here: no shell looks for files.
        sandbox.ok(&line);
        assert_eq!(sandbox.bytes("m.json"), expected, "{line}");
    }
    sandbox.ok(&format!("train train --valid vali --valid train.txt --out m.json {SETTINGS} --metric dcg@3"));
    let said = sandbox.json(&format!("train train --valid vali --valid {valid} --out m.json {SETTINGS}"));
    assert_eq!(said["valid_sets"].as_array().unwrap().len(), 2, "{said}");
    assert_eq!(said["valid_sets"][0]["metrics"], said["valid_sets"][1]["metrics"]);
}

#[test]
fn every_command_takes_several_files() {
    let sandbox = Sandbox::with_model();
    let text = sandbox.text("train.txt");
    let names = write_parts(&sandbox, "parts", "txt", &dealt(&text, 3, None));
    let whole: Vec<String> = names.iter().map(|name| sandbox.text(name)).collect();
    sandbox.write("joined.txt", whole.concat());
    let list = names.join(" ");
    let scores = |data: &str| sandbox.ok(&format!("predict model.json {data}"));
    assert_eq!(scores(&list), scores("joined.txt"));
    sandbox.write("s.txt", scores("joined.txt"));
    for [many, one] in [
        [format!("eval {list} --model model.json"), "eval joined.txt --model model.json".into()],
        [format!("eval {list} --scores s.txt"), "eval joined.txt --scores s.txt".into()],
        [
            format!("compare {list} --model model.json --scores s.txt"),
            "compare joined.txt --model model.json --scores s.txt".into(),
        ],
        [format!("blend model.json s.txt {list}"), "blend model.json s.txt joined.txt".into()],
        [
            "prune model.json --valid parts --out p.json --json".into(),
            "prune model.json --valid joined.txt --out p.json --json".into(),
        ],
        [format!("refit model.json {list} --out r.json"), "refit model.json joined.txt --out r.json".into()],
        [
            "convert model.json --to c --out m.c --check parts".into(),
            "convert model.json --to c --out m.c --check joined.txt".into(),
        ],
        [format!("convert-data {list} d.csv"), "convert-data joined.txt d.csv".into()],
    ] {
        let mut results = [many, one].map(|line| sandbox.ok(&line));
        if results[0].starts_with('{') {
            for result in &mut results {
                let mut value: Value = serde_json::from_str(result).unwrap();
                // Times differ, and these name the files.
                (value["seconds"], value["warnings"], value["data"]) = (json!(null), json!(null), json!(null));
                *result = value.to_string();
            }
        }
        assert_eq!(results[0], results[1]);
    }
    let csv = sandbox.bytes("d.csv");
    sandbox.ok("convert-data joined.txt e.csv");
    assert_eq!(csv, sandbox.bytes("e.csv"));
}

#[test]
fn numbers_and_names_of_features_are_given_to_all_files() {
    let sandbox = Sandbox::with_model();
    let shifted = sandbox.text("train.txt").lines().fold(String::new(), |text, line| {
        let shift = |pair: &str| match pair.split_once(':') {
            Some((id, value)) if id != "qid" => format!("{}:{value}", id.parse::<u32>().unwrap() + 1),
            _ => pair.to_owned(),
        };
        text + &line.split(' ').map(shift).collect::<Vec<_>>().join(" ") + "\n"
    });
    write_parts(&sandbox, "parts", "txt", &dealt(&shifted, 3, None));
    write_parts(&sandbox, "plain", "txt", &dealt(&sandbox.text("train.txt"), 3, None));
    let of = |data: &str| sandbox.ok(&format!("predict model.json {data}"));
    assert_eq!(of("parts --feature-offset -1"), of("plain"));
    sandbox.write("names.txt", "1 price\n2 age\n");
    let place = format!("plain{}part-000.txt: feature 3 has no name in names.txt", std::path::MAIN_SEPARATOR);
    sandbox.refused(&["inspect", "plain", "--feature-names", "names.txt"], &[&place]);
}

#[test]
fn predict_answers_in_the_order_given() {
    let sandbox = Sandbox::with_model();
    let names = write_parts(&sandbox, "parts", "txt", &dealt(&sandbox.text("train.txt"), 3, None));
    let of = |data: &str| sandbox.ok(&format!("predict model.json {data}"));
    let alone: Vec<String> = names.iter().map(|name| of(name)).collect();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let data: Vec<&str> = order.iter().map(|place| names[*place].as_str()).collect();
        let expected: String = order.iter().map(|place| alone[*place].as_str()).collect();
        assert_eq!(of(&data.join(" ")), expected, "{order:?}");
    }
    assert_eq!(of("parts"), alone.concat());
}

#[test]
fn a_query_in_several_files_is_joined_and_told() {
    let sandbox = Sandbox::new();
    sandbox.write("a.txt", "1 qid:7 1:1\n0 qid:7 1:2\n0 qid:8 1:2\n");
    sandbox.write("b.txt", "2 qid:7 1:3\n1 qid:9 1:1\n0 qid:9 1:4\n");
    let told = remarks(&sandbox, "inspect a.txt b.txt");
    let remark = "1 query has rows in several files and was merged, first: 7 (a.txt, b.txt); use --qid-scope file to treat them as";
    assert!(told.contains(remark), "{told}");
    assert_eq!(sandbox.json("inspect a.txt b.txt")["queries"], 3);
    assert!(sandbox.json("inspect a.txt b.txt")["warnings"].to_string().contains(remark));
    let line = "train a.txt b.txt --out m.json --set min_data_in_leaf=1 --set num_trees=2";
    assert!(remarks(&sandbox, line).contains(remark));
    assert_eq!(remarks(&sandbox, &format!("{line} --quiet")), "");
    assert_eq!(sandbox.json(line)["data"]["joined_queries"], 1);

    let apart = sandbox.json("inspect b.txt a.txt --qid-scope file");
    assert_eq!(apart["queries"], 4, "{apart}");
    assert!(!remarks(&sandbox, "inspect a.txt b.txt --qid-scope file").contains("joined"));
    // The number of the file goes by its path, not by the order of the arguments.
    let tsv = sandbox.ok("predict m.json b.txt a.txt --format tsv --qid-scope file");
    assert!(tsv.contains("\n2/7\t") && tsv.contains("\n1/8\t") && !tsv.contains("\n2/8\t"), "{tsv}");
    // One file has nothing to be kept apart from.
    assert_eq!(
        sandbox.ok("predict m.json a.txt --format tsv --qid-scope file"),
        sandbox.ok("predict m.json a.txt --format tsv")
    );
}

#[test]
fn side_files_stand_beside_each_file() {
    let sandbox = Sandbox::new();
    let rows = |from: usize, to: usize| {
        (from..to).map(|row| format!("{} 1:{} 2:{}\n", row % 3, row * 7 % 10, row * 3 % 8)).collect::<String>()
    };
    let weights = |from: usize, to: usize| (from..to).map(|row| format!("0.{}\n", row % 7 + 1)).collect::<String>();
    let positions = |from: usize, to: usize| (from..to).map(|row| format!("{}\n", row % 5)).collect::<String>();
    sandbox.write("all.txt", rows(0, 40));
    sandbox.write("all.txt.query", "10\n0\n10\n12\n8\n");
    sandbox.write("all.txt.weight", weights(0, 40));
    sandbox.write("all.txt.query_weight", "1\n2\n0.5\n3\n");
    sandbox.write("all.txt.position", positions(0, 40));
    sandbox.write("all.txt.pairs", "2 0 0.5\n21 20\n35 34\n");
    for (name, from, to, sizes, query_weights, pairs) in [
        ("p1.txt", 0, 20, "10\n0\n10\n", "1\n2\n", "2 0 0.5\n"),
        ("p2.txt", 20, 40, "12\n8\n", "0.5\n3\n", "1 0\n15 14\n"),
    ] {
        sandbox.write(name, rows(from, to));
        sandbox.write(&format!("{name}.query"), sizes);
        sandbox.write(&format!("{name}.weight"), weights(from, to));
        sandbox.write(&format!("{name}.query_weight"), query_weights);
        sandbox.write(&format!("{name}.position"), positions(from, to));
        sandbox.write(&format!("{name}.pairs"), pairs);
    }
    let train = |data: &str| {
        sandbox
            .ok(&format!("train {data} --out m.json --objective ranknet --set num_trees=4 --set min_data_in_leaf=2"));
        sandbox.bytes("m.json")
    };
    let expected = train("all.txt");
    assert_eq!(train("p1.txt p2.txt"), expected);
    assert_eq!(train("p2.txt p1.txt"), expected, "queries without id are numbered by path");
    // Shells hand over side files, too.
    assert_eq!(train("p1.txt p1.txt.pairs p1.txt.query p2.txt p2.txt.weight"), expected);
    assert_eq!(train("p*"), expected);
    let told = remarks(&sandbox, "inspect p1.txt p2.txt");
    assert!(!told.contains("merged"), "queries without id are never merged: {told}");
    let facts = sandbox.json("inspect p2.txt p1.txt");
    assert_eq!((&facts["queries"], &facts["pairs"]), (&json!(4), &json!(3)));
    assert_eq!(facts["fingerprint"], sandbox.json("inspect all.txt")["fingerprint"]);

    for (name, text, message) in [
        (
            "p2.txt.pairs",
            "1 0\n15 20\n",
            "p2.txt.pairs:2:1: there is no row 20; pairs count rows from 0, so the last one is 19",
        ),
        ("p2.txt.pairs", "1 0\n15 3\n", "p2.txt.pairs:2:1: its rows belong to the queries"),
        ("p2.txt.pairs", "7 7\n", "p2.txt.pairs:1:1: row 7, counted from 0, is both winner and loser"),
        ("p2.txt.query", "12\n7\n", "p2.txt.query: the query sizes add up to 19, but there are 20 rows"),
        ("p1.txt.weight", "1\n", "p1.txt.weight: the number of document weights is 1, but the number of rows is 20"),
        (
            "p2.txt.query_weight",
            "1\n",
            "p2.txt.query_weight: the number of query weights is 1, but the number of queries is 2",
        ),
    ] {
        let before = sandbox.text(name);
        sandbox.write(name, text);
        sandbox.all_refused(&[("inspect p1.txt p2.txt", &[message]), ("inspect p2.txt p1.txt", &[message])]);
        sandbox.write(name, before);
    }
    std::fs::remove_file(sandbox.path("p1.txt.weight")).unwrap();
    sandbox.all_refused(&[(
        "train p2.txt p1.txt --out n.json",
        &["p1.txt.weight: no such file, but p2.txt.weight exists; provide one for every data file, or for none"],
    )]);
}

#[test]
fn weights_by_query_id_are_found_in_each_file() {
    let sandbox = Sandbox::new();
    sandbox.write("all.txt", "1 qid:a 1:1\n0 qid:b 1:2\n2 qid:a 1:3\n1 qid:c 1:1\n");
    sandbox.write("all.txt.group_weights", "a\t2\nb\t3\nc\t0.5\n");
    sandbox.write("p1.txt", "1 qid:a 1:1\n0 qid:b 1:2\n");
    sandbox.write("p1.txt.group_weights", "b\t3\na\t2\nz\t9\n");
    sandbox.write("p2.txt", "2 qid:a 1:3\n1 qid:c 1:1\n");
    sandbox.write("p2.txt.group_weights", "c\t0.5\na\t2\n");
    let fingerprint = |data: &str| sandbox.json(&format!("inspect {data}"))["fingerprint"].clone();
    assert_eq!(fingerprint("p1.txt p2.txt"), fingerprint("all.txt"));
    sandbox.write("p2.txt.group_weights", "c\t0.5\na\t7\n");
    sandbox.all_refused(&[(
        "inspect p1.txt p2.txt",
        &["p2.txt:1:1: the query weight is 7 here, but 2 in an earlier row"],
    )]);
    sandbox.write("p2.txt.group_weights", "c\t0.5\n");
    sandbox.all_refused(&[("inspect p1.txt p2.txt", &["p2.txt.group_weights: query \"a\" has no weight"])]);
}

#[test]
fn files_that_do_not_go_together_are_refused_by_name() {
    let sandbox = Sandbox::with_data();
    for (name, text) in [
        ("a.csv", "label,qid,price,age\n1,q,2,3\n0,q,5,1\n"),
        ("fewer.csv", "label,qid,price\n1,q,2\n"),
        ("more.csv", "label,qid,price,age,size\n1,q,2,3,4\n"),
        ("weighted.csv", "label,qid,price,age,weight\n1,q,2,3,4\n"),
        ("bare.csv", "1,7,2,3\n0,7,5,1\n"),
        ("wide.csv", "1,7,2,3,9\n"),
        ("bare.tsv", "1\t7\t2\t3\n"),
        ("bad.csv", "label,qid,price,age\n1,q,2,3\n0,q,x,1\n"),
        ("swapped.csv", "qid,label,price,age\n4,1,2,3\n"),
        ("true.csv", "label,qid,price,age\n1,q,true,3\n"),
        ("letters.csv", "label,qid,docid,price\n1,q,x,3\n"),
        ("digits.csv", "label,qid,docid,price\n1,q,4,3\n"),
    ] {
        sandbox.write(name, text);
    }
    for name in ["a", "letters", "digits"] {
        sandbox.ok(&format!("convert-data {name}.csv {name}.parquet"));
    }
    sandbox.ok("convert-data train.txt t.rwcache");
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    std::fs::create_dir(sandbox.path("notes")).unwrap();
    sandbox.write("notes/readme.md", "#");
    sandbox.all_refused(&[
        ("inspect a.csv fewer.csv", &["fewer.csv: no column \"age\", which a.csv has"]),
        ("inspect fewer.csv a.csv", &["fewer.csv: no column \"age\", which a.csv has"]),
        ("inspect more.csv a.csv", &["a.csv: no column \"size\", which more.csv has"]),
        ("inspect a.csv weighted.csv", &["a.csv: no column \"weight\", which weighted.csv has"]),
        ("inspect a.parquet fewer.csv", &["fewer.csv: no column \"age\", which a.parquet has"]),
        ("inspect a.csv bare.csv", &["bare.csv: the columns have no names here, but they have in a.csv"]),
        ("inspect bare.csv z.csv", &["z.csv: cannot open: no such file"]),
        ("inspect bare.csv wide.csv", &["wide.csv: 5 columns here, but 4 in bare.csv"]),
        ("inspect bare.csv bare.tsv", &["bare.tsv: this is tsv, but bare.csv is csv; only tables with column names"]),
        ("inspect a.csv train.txt", &["train.txt: this is letor, but a.csv is csv; only tables with column names"]),
        ("inspect train.txt weighted.csv", &["weighted.csv: this is csv, but train.txt is letor"]),
        ("inspect a.csv bad.csv", &["bad.csv:3:5: \"x\" in column \"price\" is not a number"]),
        (
            "inspect a.csv swapped.csv --label-column 0 --qid-column 1",
            &["swapped.csv: column \"label\" is the qid here, but the label in a.csv"],
        ),
        ("inspect a.csv ./a.csv", &["./a.csv: this file is given twice"]),
        ("inspect train.txt -", &["standard input and pipes cannot be combined with other files"]),
        (
            "train train.txt t.rwcache --out m.json",
            &["t.rwcache: a cache of binned data cannot be combined with other files"],
        ),
        ("train train.txt vali.txt --pairs p --out m.json", &["p: --pairs refers to the rows of one file"]),
        ("train empty --out m.json", &["empty: no data files in this folder (extensions .txt, .letor"]),
        ("train notes --out m.json", &["notes: no data files in this folder"]),
        ("train train.txt --valid empty --out m.json", &["empty: no data files in this folder"]),
        ("train nosuch-*.csv --out m.json", &["nosuch-*.csv: no file matches this pattern"]),
        ("train a[.csv --out m.json", &["a[.csv: invalid file pattern"]),
        ("train --out m.json", &["<DATA>"]),
        ("train --valid a b c --out m.json", &["no training data; put it before the options"]),
        ("train train.txt vali.txt --out vali.txt", &["vali.txt: cannot write: this file is also an input"]),
        (
            "inspect letters.parquet digits.parquet",
            &["digits.parquet: column \"docid\" contains numbers here, but text in letters.parquet; use one type"],
        ),
    ]);
}

#[test]
fn an_empty_file_adds_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", "");
    sandbox.write("b.csv", "label,qid,x\n1,q,2\n0,q,1\n");
    sandbox.write("c.csv", "label,qid,x\n");
    let facts = sandbox.json("inspect a.csv b.csv c.csv");
    assert_eq!(facts["rows"], 2);
    assert_eq!(facts["files"][2]["rows"], 0);
    sandbox.all_refused(&[("inspect a.csv c.csv", &["there are no rows"])]);
}

#[test]
fn inspect_shows_the_parts_and_the_total() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("data")).unwrap();
    sandbox.write("data/a.txt", "1 qid:7 1:1\n0 qid:7 1:2\n");
    sandbox.write("data/a.txt.weight", "1\n2\n");
    sandbox.write("data/b.txt", "2 qid:8 1:3\n");
    sandbox.write("data/b.txt.weight", "3\n");
    let text = sandbox.ok("inspect data");
    for part in [
        "data: ranking data\n",
        "  files        2\n               data/a.txt: 2 documents\n               data/b.txt: 1 document\n",
        "  side files   data/a.txt.weight and 1 more: read as document weights\n",
        "  documents    3\n",
    ] {
        assert!(text.contains(part), "no '{part}' in\n{text}");
    }
    let facts = sandbox.json("inspect data");
    assert_eq!(facts["rows"], 3);
    assert_eq!(
        facts["files"][1],
        json!({
            "path": "data/b.txt", "format": "letor", "rows": 1,
            "side_files": [{ "path": "data/b.txt.weight", "role": "document weights" }],
        })
    );
}

#[test]
fn train_and_eval_tell_what_columns_and_side_files_became() {
    let sandbox = Sandbox::new();
    let rows: String = (0..60).map(|row| format!("{},q{},{row}.5,{},u,1\n", row % 3, row / 10, row % 7)).collect();
    sandbox.write("d.csv", format!("grade,query,weight,price,url,position\n{rows}"));
    sandbox.write("d.csv.query_weight", "1\n2\n1\n1\n1\n1\n");
    let columns =
        "d.csv: columns: label = grade, qid = query, weight = weight, position = position, 1 feature, ignored = url\n";
    let side = "d.csv.query_weight: read as query weights\n";
    let train = "train d.csv --valid d.csv --out m.json --set num_trees=2 --ignore-columns url";
    let eval = "eval d.csv --model m.json --ignore-columns url";
    for line in [train, eval] {
        let told = remarks(&sandbox, line);
        assert!(told.contains(columns) && told.contains(side), "{line}: {told}");
        assert_eq!(remarks(&sandbox, &format!("{line} --quiet")), "");
        let said = sandbox.json(line);
        assert_eq!(said["data"]["columns"][2], json!({ "name": "weight", "role": "weight" }), "{said}");
        assert_eq!(said["data"]["columns"][3], json!({ "name": "price", "role": "feature", "feature": 0 }));
        assert_eq!(said["data"]["columns"][4], json!({ "name": "url", "role": "ignored" }));
        assert_eq!(
            said["data"]["files"],
            json!([{
                "path": "d.csv", "format": "csv", "rows": 60,
                "side_files": [{ "path": "d.csv.query_weight", "role": "query weights" }],
            }])
        );
    }
    assert_eq!(sandbox.json(train)["valid_data"][0]["columns"][1], json!({ "name": "query", "role": "qid" }));
    let facts = sandbox.json("inspect d.csv --ignore-columns url");
    assert_eq!(facts["columns"][0], json!({ "name": "grade", "role": "label" }));
    assert_eq!(facts["files"][0]["side_files"][0]["role"], "query weights");
    // Text without columns and side files has nothing to tell.
    sandbox.write("e.txt", "1 qid:1 1:2\n0 qid:1 1:3\n");
    let Outcome { stderr, .. } = sandbox.run("eval e.txt --scores s.txt");
    assert!(!stderr.contains("columns"), "{stderr}");
}
