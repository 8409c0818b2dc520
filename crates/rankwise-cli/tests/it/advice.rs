//! Options that were silently ignored or wrongly explained: what is said about them is right.

use crate::sandbox::Sandbox;

fn warnings(sandbox: &Sandbox, line: &str) -> Vec<String> {
    let object = sandbox.json(line);
    let list = object["warnings"].as_array().unwrap();
    list.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
}

#[test]
fn trees_beyond_the_model_are_a_warning_and_none_is_an_error() {
    let sandbox = Sandbox::with_model();
    let all = "predict model.json vali.txt --out s.txt";
    assert_eq!(warnings(&sandbox, &format!("{all} --trees 6")), [""; 0]);
    let told = warnings(&sandbox, &format!("{all} --trees 7"));
    assert_eq!(told, ["model.json: the model has only 6 trees; --trees 7 uses all of them"]);
    assert_eq!(sandbox.ok("predict model.json vali.txt --trees 7"), sandbox.ok("predict model.json vali.txt"));
    sandbox.write("scores.txt", sandbox.ok("predict model.json vali.txt"));
    sandbox.all_refused(&[
        ("predict model.json vali.txt --trees 0", &["'--trees <N|all>'", "a number of trees of at least 1"]),
        ("eval vali.txt --scores scores.txt --trees 3", &["--trees applies to models only; remove it"]),
    ]);
}

#[test]
fn queries_without_relevant_documents_follow_relevant_from() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1 qid:1 1:2\n0 qid:1 1:1\n2 qid:2 1:2\n0 qid:2 1:1\n0 qid:3 1:1\n");
    sandbox.write("s.txt", "2\n1\n2\n1\n1\n");
    let line = |metric: &str, more: &str| {
        let text = sandbox.ok(&format!("eval d.txt --scores s.txt --metric {metric} {more}"));
        text.lines().filter(|line| line.contains("queries")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line("mrr", ""), ["over 3 queries; 1 without relevant documents"]);
    assert_eq!(line("mrr", "--relevant-from 2"), ["over 3 queries; 2 without relevant documents"]);
    let skipped = ["mean over 1 of 3 queries; 2 without relevant documents skipped"];
    assert_eq!(line("mrr", "--relevant-from 2 --empty skip"), skipped);
    // NDCG asks for gains.
    assert_eq!(line("ndcg", "--relevant-from 2"), ["over 3 queries; 1 without relevant documents"]);
    assert_eq!(sandbox.json("eval d.txt --scores s.txt --metric mrr --relevant-from 2")["queries_without_relevant"], 2);
}

#[test]
fn weights_of_0_leave_no_mean() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1 qid:1 1:2\n0 qid:1 1:1\n");
    sandbox.write("d.txt.query_weight", "0\n");
    sandbox.write("s.txt", "2\n1\n");
    let text = sandbox.ok("eval d.txt --scores s.txt");
    assert!(text.contains("no mean over 1 query: all query weights are 0\n"), "{text}");
    sandbox.write("t.txt", (0..60).map(|row| format!("{} qid:1 1:{row}\n", row % 2)).collect::<String>());
    sandbox.refused(
        &["train", "t.txt", "--valid", "d.txt", "--out", "m.json"],
        &["validation set d.txt: no query has a relevant document and a weight above 0, so 'ndcg@10' cannot tell models apart"],
    );
}

#[test]
fn unknown_options_lead_to_those_that_exist() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        ("eval vali.txt --model model.json --metrics map", &["unknown option '--metrics'; did you mean '--metric'?"]),
        ("compare vali.txt --model model.json --eval_metric map", &["did you mean '--metric'?"]),
        ("train train.txt --nleaves 3", &["unknown option '--nleaves'; see `rankwise train --help`"]),
        ("predict model.json vali.txt -m 3", &["unknown option '-m'; see `rankwise predict --help`"]),
    ]);
}

#[test]
fn metrics_are_separated_by_commas() {
    let sandbox = Sandbox::with_model();
    for metrics in ["ndcg@10 map", "ndcg@10;map", "ndcg map"] {
        let args = ["eval", "vali.txt", "--model", "model.json", "--metric", metrics];
        sandbox.refused(&args, &["separate metrics by commas, such as ndcg@10,map"]);
    }
    sandbox.all_refused(&[(
        "eval vali.txt --model model.json --metric ndcg10",
        &["unknown metric 'ndcg10'; did you mean 'ndcg@10'?"],
    )]);
}

#[test]
fn a_validation_set_counts_once() {
    let sandbox = Sandbox::with_data();
    sandbox.all_refused(&[
        (
            "train train.txt --out m.json --valid vali.txt --valid ./vali.txt",
            &["./vali.txt: this validation set is given twice with --valid; remove one"],
        ),
        ("train train.txt --out m.json --valid vali.txt --valid train.txt --valid train.txt", &["train.txt: this"]),
    ]);
}

#[test]
fn a_file_of_pairs_holds_some() {
    let sandbox = Sandbox::with_data();
    sandbox.write("empty.pairs", "");
    sandbox.refused(
        &["train", "train.txt", "--pairs", "empty.pairs", "--objective", "ranknet", "--out", "m.json"],
        &["empty.pairs: there are no pairs; write one pair per line"],
    );
}

#[test]
fn names_for_columns_with_names_are_ignored_with_a_warning() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "label,qid,price,age\n1,a,1,2\n0,a,2,1\n");
    sandbox.write("d.txt", "1 qid:a 0:1 1:2\n0 qid:a 0:2 1:1\n");
    sandbox.write("names.txt", "0 x\n1 y\n");
    let told = "d.csv: its columns have names, so --feature-names is ignored";
    for command in ["inspect d.csv", "convert-data d.csv e.csv"] {
        let found = warnings(&sandbox, &format!("{command} --feature-names names.txt"));
        assert_eq!(found.iter().filter(|warning| *warning == told).count(), 1, "{command}: {found:?}");
    }
    assert_eq!(warnings(&sandbox, "inspect d.txt --feature-names names.txt"), [""; 0]);
}

#[test]
fn the_offset_to_set_counts_from_the_one_in_use() {
    let sandbox = Sandbox::new();
    let rows = |first: usize, at: usize| -> String {
        let row = |row: usize| {
            let value = |idx: usize| format!("{}:{}", first + idx, (row * (idx + 3) + at) % 7);
            format!("{} qid:{} {}\n", row % 3, row / 10, (0..4).map(value).collect::<Vec<_>>().join(" "))
        };
        (0..60).map(row).collect()
    };
    sandbox.write("train.txt", rows(1, 0));
    sandbox.write("test.txt", rows(1, 1));
    sandbox.ok("train train.txt --out m.json --set num_trees=5 --set min_data_in_leaf=3");
    let advice = |offset: i32| {
        let told = warnings(&sandbox, &format!("eval test.txt --model m.json --feature-offset {offset}"));
        told.first().and_then(|told| told.split_once("; if so, ")).map(|(_, advice)| advice.to_owned())
    };
    assert_eq!(advice(0), None);
    assert_eq!(advice(-1).as_deref(), Some("remove --feature-offset"));
    assert_eq!(advice(1).as_deref(), Some("remove --feature-offset"));
    sandbox.write("shifted.txt", rows(3, 1));
    let told = warnings(&sandbox, "eval shifted.txt --model m.json --feature-offset -1");
    assert!(told[0].ends_with("with --feature-offset -1; if so, set --feature-offset -2"), "{told:?}");
}

#[test]
fn a_role_that_takes_the_usual_column_of_another_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "label,qid,a\n1,5,2\n0,5,1\n");
    sandbox.all_refused(&[
        (
            "inspect d.csv --label-column qid",
            &["d.csv: no qid column: column \"qid\" is used as the label; use another column as the label, or name another qid \
               column with --qid-column"],
        ),
        (
            "inspect d.csv --qid-column label",
            &["d.csv: no label column: column \"label\" is used as the qid; use another column as the qid, or name another \
               label column with --label-column; the columns"],
        ),
    ]);
}

#[test]
fn a_column_that_is_needed_and_ignored_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "label,qid,a\n1,5,2\n0,5,1\n");
    sandbox.ok("convert-data d.csv d.parquet");
    for data in ["d.csv", "d.parquet"] {
        for (role, ignored) in [("label", "label"), ("label", "0"), ("qid", "qid"), ("qid", "1")] {
            let line = format!("inspect {data} --ignore-columns {ignored}");
            let advice = format!(
                "{data}: no {role} column: column \"{role}\" is ignored by --ignore-columns; remove it from there, or name \
                 another {role} column with --{role}-column"
            );
            let outcome = sandbox.run(&line);
            outcome.expect_refused(&line, &[&advice]);
            assert!(!outcome.stderr.contains("--header"), "{line}: {}", outcome.stderr);
            let both = format!("{line} --{role}-column {role}");
            let told = format!(
                "{data}: column \"{role}\" is named by --{role}-column, but ignored by --ignore-columns; remove it from one of \
                 the two"
            );
            sandbox.run(&both).expect_refused(&both, &[&told]);
            sandbox.ok(&format!("inspect {data} --{role}-column {role}"));
        }
    }
    let line = "train d.csv --ignore-columns a --out m.json";
    sandbox.run(line).expect_refused(line, &["d.csv: there are no features, so there is nothing to split on"]);
}

#[test]
fn a_column_of_the_wrong_type_is_not_ignored_if_an_option_names_it() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "label,qid,docid,a\n1,5,x,2\n0,5,y,1\n");
    sandbox.ok("convert-data d.csv d.parquet");
    sandbox.refused(
        &["inspect", "d.parquet", "--label-column", "docid"],
        &["column \"docid\" contains text, but should be a label; convert it to numbers, or name another column with --label-column"],
    );
    sandbox.write("t.csv", "label,qid,f1,f2\n1,5,2,3\n");
    let line = "inspect t.csv --label-column -1";
    sandbox.run(line).expect_refused(line, &["--label-column -1: no such column; the columns are \"label\""]);
}

#[test]
fn a_model_and_data_in_each_others_place_are_swapped() {
    let sandbox = Sandbox::with_model();
    let told: &[&str] = &["error: vali.txt: not a model, but model.json is one; swap the two"];
    sandbox.all_refused(&[
        ("predict vali.txt model.json", told),
        ("refit vali.txt model.json --out r.json", told),
        ("prune vali.txt --valid model.json --out p.json", told),
        ("eval model.json --model vali.txt", told),
        ("predict vali.txt train.txt", &["vali.txt: not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib"]),
    ]);
    sandbox.ok("predict model.json vali.txt");
    sandbox.ok("prune model.json --valid vali.txt --out p.json");
}

#[test]
fn messages_name_lines_of_text_files() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "\nlabel,qid,\"query_weight\",a\n1,q,1,2\n\n0,q,2,\"1\"\n");
    sandbox.refused(&["inspect", "d.csv"], &["d.csv:5:1: the query weight is 2 here, but 1 in an earlier row"]);
    sandbox.write("twins.csv", "label,qid,a,name\n1,q,1,\"x\ny\"\n0,q,2,z\n0,q,2,z\n");
    let told = warnings(&sandbox, "inspect twins.csv --ignore-columns name");
    let duplicates: Vec<_> = told.iter().filter(|told| told.contains("lines 4 and 5")).collect();
    assert_eq!(duplicates.len(), 1, "{told:?}");
    sandbox.write("twins.txt", "# comment\n1 qid:1 1:1\n\n0 qid:1 1:2\n0 qid:1 1:2\n");
    assert!(warnings(&sandbox, "inspect twins.txt").iter().any(|told| told.contains("lines 4 and 5")));
}

#[test]
fn commands_that_take_one_thing_say_so() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        (
            "prune model.json --valid vali.txt --metric ndcg,map --out p.json",
            &["--metric ndcg,map: expected one metric; remove the others"],
        ),
        ("blend model.json model.json vali.txt --metric ndcg,map", &["--metric ndcg,map: expected one metric"]),
        ("blend model.json model.json vali.txt --metric auc", &["hits, pfound or rbp, with or without @k"]),
        ("inspect model.json vali.txt", &["model.json: this is a model; inspect one model at a time, without data"]),
        ("convert-data vali.txt -", &["-: standard output has no file extension to select the format; set --to"]),
    ]);
}

#[test]
fn more_threads_than_cores_are_a_warning() {
    let sandbox = Sandbox::new();
    let n_cores = std::thread::available_parallelism().unwrap().get();
    let line = |threads: usize| format!("synth --rows 40 --features 3 --out d.txt --threads {threads}");
    assert_eq!(warnings(&sandbox, &line(n_cores)), [""; 0]);
    let told = warnings(&sandbox, &line(n_cores + 1));
    let expected = format!("--threads {}: this machine has {n_cores} core", n_cores + 1);
    assert!(told.len() == 1 && told[0].starts_with(&expected), "{told:?}");
}

#[test]
fn features_beyond_those_of_a_lightgbm_model_are_an_error() {
    let sandbox = Sandbox::with_model();
    sandbox.ok("convert model.json --to lightgbm --out l.txt --allow-rounding");
    let text = sandbox.text("l.txt");
    let line = text.lines().position(|line| line.starts_with("split_feature=")).unwrap();
    let damaged: String = text
        .lines()
        .enumerate()
        .map(|(idx, content)| match content.strip_prefix("split_feature=") {
            Some(features) if idx == line => {
                format!("split_feature=99 {}\n", features.split_once(' ').map_or("", |(_, rest)| rest))
            }
            _ => format!("{content}\n"),
        })
        .collect();
    sandbox.write("damaged.txt", damaged);
    let place = format!("damaged.txt:{}: feature 99 is out of range, since max_feature_idx is", line + 1);
    sandbox.refused(&["inspect", "damaged.txt"], &[&place]);
}

#[test]
fn a_label_beyond_f32_names_the_limit() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1e308 qid:1 1:2\n");
    sandbox.refused(
        &["inspect", "d.txt"],
        &["d.txt:1:1: label \"1e308\" is out of range; labels are numbers from 0 to 3.4e38"],
    );
}

#[test]
fn parameters_are_named_and_not_the_data() {
    let sandbox = Sandbox::with_model();
    let optimise =
        "error: parameter 'target': objective 'lambdamart' cannot optimise the metric 'recall@10': it is not among";
    let target = "train.txt --set target=recall@10 --out m.json";
    sandbox.all_refused(&[
        (&format!("train {target}"), &[optimise]),
        (&format!("refit model.json {target}"), &[optimise]),
        (
            "train train.txt --valid vali.txt --metric ndcg,r-precision@5 --out m.json",
            &["error: parameter 'metric': r-precision@5 takes no cutoff; remove @k"],
        ),
        (
            "prune model.json --valid vali.txt --metric auc@5 --out m.json",
            &["error: metric 'auc@5' takes no cutoff; remove @k"],
        ),
        (
            "blend model.json model.json vali.txt --metric auc",
            &["error: --metric auc: not supported by blend; use ndcg, dcg"],
        ),
        (
            "train train.txt --set min_gain_to_split=100000 --out m.json",
            &["error: nothing was learnt, so no model was written: min_gain_to_split=100000 allows no split"],
        ),
    ]);
    let mut command = sandbox.command("train train.txt --out m.json".split(' '));
    let outcome = crate::sandbox::Outcome::from(command.env("RANKWISE_SIMD", "abacus").output().unwrap());
    outcome.expect_refused("RANKWISE_SIMD", &["error: RANKWISE_SIMD"]);
}
