//! Advice that readers followed in vain: what the messages say now works.

use crate::sandbox::Sandbox;

const TRAIN: &str = "--set num_trees=3 --set min_data_in_leaf=2";

fn warnings(sandbox: &Sandbox, line: &str) -> Vec<String> {
    let object = sandbox.json(line);
    let list = object["warnings"].as_array().unwrap();
    list.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
}

/// Five queries of eight documents with the labels 0 to 2 and four features.
fn letor(first: usize, seed: usize) -> String {
    let row = |row: usize| {
        let value = |idx: usize| format!("{}:{}", first + idx, (row * (idx + 3) + seed * idx) % 11);
        format!("{} qid:{} {} # d{row}\n", row % 3, row / 8, (0..4).map(value).collect::<Vec<_>>().join(" "))
    };
    (0..40).map(row).collect()
}

fn table() -> String {
    let row = |row: usize| {
        let value = |idx: usize| ((row * (idx + 3)) % 11).to_string();
        format!("{},{},{}\n", row % 3, row / 8, (0..4).map(value).collect::<Vec<_>>().join(","))
    };
    "label,qid,bm25,clicks,age,len\n".to_owned() + &(0..40).map(row).collect::<String>()
}

#[test]
fn a_shifted_validation_set_is_renumbered_by_its_owner() {
    let sandbox = Sandbox::new();
    sandbox.write("train.txt", letor(1, 0));
    sandbox.write("valid.txt", letor(0, 1));
    let line = format!("train train.txt --valid valid.txt --out m.json {TRAIN}");
    let advice = "valid.txt: feature ids seem to be shifted by one: the training data has ids 1 to 4, but the validation set \
                  has 0 to 3; if so, renumber the features of one of them, since --feature-offset shifts both";
    assert_eq!(warnings(&sandbox, &line), [advice]);
    sandbox.write("valid.txt", letor(1, 1));
    assert_eq!(warnings(&sandbox, &line), [""; 0]);
}

#[test]
fn label_gain_is_extended_or_removed() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", letor(1, 0));
    let train = |more: &str| format!("train d.txt --out m.json {TRAIN} {more}");
    let extend = "d.txt: label 2 in query '0' has no entry in label_gain (the last one is for label 1); extend label_gain, or \
                  remove it";
    sandbox.all_refused(&[
        (&train("--set label_gain=0,1"), &[extend]),
        (&train("--set label_gain=0,1 --gain linear"), &[extend]),
        (
            &train("--set label_gain=0,1,3 --set target=err"),
            &["label 2 in query '0' has the gain 3 in label_gain, but err uses gains as probabilities, from 0 to 1"],
        ),
    ]);
    sandbox.ok(&train("--set label_gain=0,1,3"));
    sandbox.ok(&train(""));
    sandbox.ok(&train("--set label_gain=0,0.3,1 --set target=err"));
    sandbox.write("half.txt", "1.5 qid:1 1:1\n0 qid:1 1:2\n");
    sandbox.write("s.txt", "1\n2\n");
    let eval = "eval half.txt --scores s.txt --gain";
    let round =
        "label 1.5 in query '1' is not an integer, which a gain table needs; round the labels, or use --gain exp";
    sandbox.all_refused(&[
        (&format!("{eval} table:0,1,3"), &[round]),
        (
            "train half.txt --set label_gain=0,1,3 --out m.json",
            &["label 1.5 in query '1' is not an integer, which label_gain needs; round the labels, or remove label_gain"],
        ),
    ]);
    sandbox.ok(&format!("{eval} linear"));
}

#[test]
fn training_names_one_limit_of_labels() {
    let sandbox = Sandbox::new();
    for label in [40, 1000] {
        sandbox.write("d.txt", format!("{label} qid:a 1:1\n0 qid:a 1:2\n"));
        sandbox.refused(&["train", "d.txt", "--out", "m.json"], &["too large for exponential gain (at most 31)"]);
    }
}

#[test]
fn a_column_description_is_extended_and_not_mixed_with_options() {
    let sandbox = Sandbox::new();
    sandbox.write("d.tsv", "1\t7\t0.5\n0\t7\t0.25\n");
    sandbox.write("cd", "0\tLabel\n");
    sandbox.write("wide", "0\tLabel\n9\tGroupId\n");
    sandbox.write("twice", "0\tLabel\n1\tLabel\n");
    sandbox.write("unlabelled", "1\tGroupId\n");
    let inspect = "inspect d.tsv --column-description";
    sandbox.all_refused(&[
        (
            &format!("{inspect} cd"),
            &["d.tsv: no qid column; add a line with GroupId to cd, or write the number of rows of each query to d.tsv.query"],
        ),
        (&format!("{inspect} cd --qid-column 1"), &["--qid-column cannot be used with a column description; remove it"]),
        (&format!("{inspect} cd --ignore-columns 1"), &["--ignore-columns cannot be used with a column description"]),
        (&format!("{inspect} wide"), &["wide: column 9 does not exist; the table has columns 0 to 2"]),
        (&format!("{inspect} twice"), &["twice: columns 0 and 1 are both Label; keep one of them"]),
        (&format!("{inspect} unlabelled"), &["d.tsv: no label column; add a line with Label to unlabelled"]),
    ]);
    sandbox.write("cd", "0\tLabel\n1\tGroupId\n");
    sandbox.ok(&format!("{inspect} cd"));
}

#[test]
fn models_need_data_and_runs_need_judgements() {
    let sandbox = Sandbox::with_model();
    sandbox.write("q.txt", "1 0 d1 1\n");
    sandbox.write("r.run", "1 Q0 d1 1 2.5 t\n");
    sandbox.write("nothing", "");
    let instead = "--model needs labelled documents, and --qrels is only for runs; give DATA instead of --qrels";
    let judgements = "a run needs judgements; add --qrels FILE, or DATA with document ids";
    sandbox.all_refused(&[
        ("eval --qrels q.txt --model model.json", &[instead]),
        ("compare --qrels q.txt --run r.run --model model.json", &[instead]),
        ("eval --run r.run", &[judgements]),
        ("compare --run r.run --run r.run --names a,b", &[judgements]),
        ("eval --run r.run --qrels nothing", &["nothing: there are no judgements"]),
    ]);
    sandbox.ok("eval vali.txt --model model.json");
    sandbox.ok("eval --run r.run --qrels q.txt");
    let told = warnings(&sandbox, "eval --run nothing --qrels q.txt");
    assert!(told.contains(&"nothing: the run is empty".to_owned()), "{told:?}");
}

#[test]
fn fields_of_model_files_are_not_options() {
    let sandbox = Sandbox::with_model();
    sandbox.write("m.json", sandbox.text("model.json").replacen("\"format\"", "\"chksum\": 1, \"format\"", 1));
    sandbox.refused(&["inspect", "m.json"], &["unknown field 'chksum'", "'features', 'feature_names', 'f64_features'"]);
    sandbox.write("m.json", sandbox.text("model.json").replacen("\"features\"", "\"columns\"", 1));
    sandbox.refused(&["inspect", "m.json"], &["unknown field 'columns'"]);
}

#[test]
fn bagging_needs_a_fraction_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", letor(1, 0));
    let told = |more: &str| warnings(&sandbox, &format!("train d.txt --out m.json {TRAIN} {more}"));
    let alone = told("--set bagging_freq=1");
    assert_eq!(alone, ["bagging_freq=1 has no effect with bagging_fraction=1; it needs bagging_fraction below 1"]);
    assert_eq!(told("--set bagging_freq=1 --set bagging_fraction=0.5"), [""; 0]);
    assert_eq!(told("--set bagging_freq=1 --set bagging_fraction=0.5 --set bagging_by_query=true"), [""; 0]);
    assert_eq!(told("--set learner=rf --set bagging_fraction=0.6 --set bagging_freq=1"), [""; 0]);
}

#[test]
fn models_that_cannot_be_refitted_or_pruned_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", letor(1, 0));
    for (model, more) in [
        ("dart", "learner=dart"),
        ("rf", "learner=rf --set feature_fraction=0.5"),
        ("mono", "monotone_constraints=1:1"),
        ("multi", "objective=multiclass"),
    ] {
        sandbox.ok(&format!("train d.txt --out {model}.json {TRAIN} --set {more}"));
    }
    sandbox.all_refused(&[
        (
            "refit dart.json d.txt --out x.json",
            &["dart.json: a model with learner=dart cannot be refitted, because its trees have individual weights; train"],
        ),
        ("refit rf.json d.txt --out x.json", &["rf.json: a model with learner=random-forest cannot be refitted"]),
        ("refit mono.json d.txt --out x.json", &["mono.json: a model with monotone_constraints cannot be refitted"]),
        (
            "prune multi.json --valid d.txt --out x.json",
            &["multi.json: the model has one output per label (objective=multiclass), which pruning does not support"],
        ),
    ]);
}

#[test]
fn named_models_are_continued_on_data_with_names() {
    let sandbox = Sandbox::new();
    sandbox.write("named.csv", table());
    sandbox.write("d.txt", letor(1, 0));
    sandbox.write("names.txt", "1 bm25\n2 clicks\n3 age\n4 len\n");
    sandbox.ok(&format!("train named.csv --out named.json {TRAIN}"));
    for (line, owner) in [
        (format!("train d.txt --init-model named.json --out x.json {TRAIN}"), "the start model"),
        ("refit named.json d.txt --out x.json".into(), "the model"),
        ("prune named.json --valid d.txt --out x.json".into(), "the model"),
    ] {
        let outcome = sandbox.run(&line);
        let advice = format!(
            "error: d.txt: the data has no feature names, but {owner} has; name the features with --feature-names"
        );
        assert!(outcome.stderr.contains(&advice), "{line}: {outcome:?}");
        assert!(!outcome.stderr.contains("warning:"), "{line}: {outcome:?}");
        assert_eq!(warnings(&sandbox, &format!("{line} --feature-names names.txt")), [""; 0], "{line}");
    }
}

#[test]
fn values_in_a_configuration_are_quoted() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", letor(1, 0));
    for (content, problem, mended) in [
        (
            "ties = input",
            "c.toml:1:8: the value of ties is not valid TOML; put text in quotes, as in ties = \"input\"",
            "ties = \"input\"",
        ),
        ("target = ndcg # x", "put text in quotes, as in target = \"ndcg\"", "target = \"ndcg\""),
        ("metric = ndcg@5", "put text in quotes, as in metric = \"ndcg@5\"", "metric = \"ndcg@5\""),
        (
            "learning_rate = .1",
            "\".1\" is not a TOML number; write a digit before the point, as in 0.1",
            "learning_rate = 0.1",
        ),
        ("num_leaves = ", "num_leaves has no value; write num_leaves = VALUE, with text in quotes", "num_leaves = 7"),
        ("ties = \"input", "the value of ties has no closing quote; add it", "ties = \"input\""),
        ("seed = 1\nseed = 2", "c.toml:2:1: this parameter is set twice; keep one of the lines", "seed = 1"),
        ("threads = 2", "'threads' is not a training parameter; use the option --threads", ""),
        ("out = \"x\"", "'out' is not a training parameter; use the option --out", ""),
    ] {
        let line = format!("train d.txt --config c.toml --out m.json {TRAIN}");
        sandbox.write("c.toml", content);
        sandbox.run(&line).expect_refused(content, &[problem]);
        sandbox.write("c.toml", mended);
        sandbox.ok(&line);
    }
}

#[test]
fn names_of_options_are_told_from_parameters() {
    let sandbox = Sandbox::with_model();
    let set = |setting: &str| format!("train train.txt --out m.json --set {setting}");
    sandbox.all_refused(&[
        (&set("num_threads=2"), &["'num_threads' is not a training parameter; use the option --threads"]),
        (&set("n_jobs=2"), &["use the option --threads"]),
        (
            &set("label_column=x"),
            &["'label_column' is not a training parameter; use the option --label-column, or set label_column in a --config file"],
        ),
        (&set("data=x"), &["unknown parameter 'data'; `rankwise train --help-params` lists all"]),
        (&set("num_class=3"), &["unknown parameter 'num_class'; `rankwise train --help-params` lists all"]),
        (
            "predict model.json vali.txt --metric map",
            &["predict has no option --metric; auto, train, cv, tune, eval, compare, explain, blend and prune have it"],
        ),
        ("refit model.json vali.txt --out x.json --metric map", &["refit has no option --metric"]),
        ("train --help-params num_threads", &["--help-params num_threads: ", "use the option --threads"]),
    ]);
}

#[test]
fn features_are_listed_by_name_if_they_have_names() {
    let sandbox = Sandbox::new();
    sandbox.write("named.csv", table());
    sandbox.write("d.txt", letor(1, 0));
    sandbox.write("names.txt", "1 bm25\n2 clicks\n3 age\n4 len\n");
    let names = "features are \"bm25\", \"clicks\", \"age\", \"len\"";
    sandbox.all_refused(&[
        (
            "eval named.csv --feature bm52",
            &[&format!("--feature bm52: no such feature in named.csv; did you mean \"bm25\"? The {names}")],
        ),
        ("eval named.csv --feature price", &[&format!("no such feature in named.csv; the {names}")]),
        ("eval d.txt --feature bm25", &["no such feature in d.txt; ids go from 1 to 4"]),
    ]);
    sandbox.ok("eval d.txt --feature bm25 --feature-names names.txt");
}

#[test]
fn tables_with_other_extensions_are_recognised() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", "1\t1\t0.5\n0\t1\t0.25\n");
    sandbox.write("d.csv", "1,1,2\n0,1,3\n");
    sandbox.write("d.pq", "1,1,2\n0,1,3\n");
    sandbox.all_refused(&[
        ("inspect d.txt", &["d.txt:1:3: no qid; ", "; if this is a table, set --data-format tsv"]),
        (
            "inspect d.csv --label-column x",
            &["two columns are named \"1\"; rename one of them, or set --header no if the first line is not a header"],
        ),
        (
            "inspect d.pq",
            &["not a Parquet file (no PAR1 header); set --data-format to the actual format: letor, csv or tsv"],
        ),
    ]);
    sandbox.ok("inspect d.txt --data-format tsv");
    sandbox.ok("inspect d.csv --header no");
    sandbox.ok("inspect d.pq --data-format csv");
}

#[test]
fn caches_are_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", letor(1, 0));
    sandbox.write("v.txt", letor(1, 1));
    sandbox.ok("convert-data d.txt d.rwcache");
    sandbox.ok(&format!("train d.txt --out m.json {TRAIN}"));
    let made = "use the data that it was made from";
    sandbox.all_refused(&[
        (
            "train d.rwcache --init-model m.json --out x.json",
            &[&format!("d.rwcache: a start model needs feature values, but this is a cache of binned data; {made}")],
        ),
        (
            "train v.txt --valid d.rwcache --out x.json",
            &[&format!("d.rwcache: this is a cache of binned data, which cannot be used for validation; {made}")],
        ),
    ]);
    sandbox.ok(&format!("train d.txt --init-model m.json --out x.json {TRAIN}"));
    sandbox.ok(&format!("train v.txt --valid d.txt --out x.json {TRAIN}"));
}

#[test]
fn a_wrong_separator_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", table());
    sandbox.write("letor.csv", letor(1, 0));
    sandbox.all_refused(&[
        (
            "inspect t.csv --separator ;",
            &["t.csv: there is only one column with the separator ';'; remove --separator or set another"],
        ),
        (
            "inspect t.csv --separator tab",
            &["t.csv: there is only one column with the separator tab; remove --separator or set another"],
        ),
        ("inspect letor.csv", &["looks like LETOR; set --data-format letor"]),
    ]);
    sandbox.ok("inspect t.csv");
    sandbox.ok("inspect t.csv --separator ,");
    sandbox.ok("inspect letor.csv --data-format letor");
}

#[test]
fn a_validation_set_without_names_is_given_names() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", table());
    sandbox.write("v.txt", letor(1, 1));
    sandbox.write("names.txt", "1 bm25\n2 clicks\n3 age\n4 len\n");
    let line = format!("train t.csv --valid v.txt --out m.json {TRAIN}");
    let told = warnings(&sandbox, &line);
    let advice = "; if so, name the features of the validation set with --feature-names";
    assert!(
        told[0].starts_with("v.txt: feature ids seem to be shifted by one") && told[0].ends_with(advice),
        "{told:?}"
    );
    assert_eq!(warnings(&sandbox, &format!("{line} --feature-names names.txt")), [""; 0]);
}

#[test]
fn rmse_is_advised_where_it_can_learn() {
    let sandbox = Sandbox::new();
    let lines = |label: fn(usize) -> usize| -> String {
        (0..40).map(|row| format!("{} qid:{} 1:{}\n", label(row / 4), row / 4, row / 4 * 3 % 11)).collect()
    };
    sandbox.write("equal.txt", lines(|_| 1));
    sandbox.write("between.txt", lines(|query| query % 2));
    let advice = "check the labels and the query ids, or use objective rmse if labels differ between queries";
    sandbox.all_refused(&[("train equal.txt --out m.json", &[advice]), ("train between.txt --out m.json", &[advice])]);
    sandbox.ok(&format!("train between.txt --out m.json --objective rmse {TRAIN}"));
    sandbox.write("t.csv", table());
    sandbox.all_refused(&[
        (
            "train t.csv --label-column none --out m.json",
            &["t.csv: there are no labels (--label-column none); training needs a label column"],
        ),
        (
            "train t.csv --ignore-columns label --out m.json",
            &["t.csv: no label column: column \"label\" is ignored by --ignore-columns"],
        ),
    ]);
    sandbox.ok(&format!("train t.csv --out m.json {TRAIN}"));
}

#[test]
fn columns_are_named_after_the_features_of_the_model() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", letor(1, 0));
    sandbox.write("t.csv", table());
    sandbox.ok(&format!("train d.txt --out m.json {TRAIN}"));
    let advice = "or name each column after its feature id in the training data, such as f";
    sandbox.all_refused(&[
        ("eval t.csv --model m.json", &[advice]),
        (
            "train d.txt --valid t.csv --out x.json",
            &["or name each column after its feature id in the training data, such as f1 for feature 1"],
        ),
    ]);
    sandbox.write("t.csv", table().replacen("bm25,clicks,age,len", "f1,f2,f3,f4", 1));
    assert_eq!(warnings(&sandbox, "eval t.csv --model m.json"), [""; 0]);
}

/// An offset holds for all models of a command.
#[test]
fn advice_for_one_model_does_not_harm_another() {
    let sandbox = Sandbox::new();
    sandbox.write("from1.txt", letor(1, 0));
    sandbox.write("from0.txt", letor(0, 0));
    sandbox.write("named.csv", table());
    sandbox.write("test.txt", letor(1, 2));
    sandbox.write("names.txt", "1 bm25\n2 clicks\n3 age\n4 len\n");
    for (data, model) in [("from1.txt", "m.json"), ("from0.txt", "z.json"), ("named.csv", "nm.json")] {
        sandbox.ok(&format!("train {data} --out {model} {TRAIN}"));
    }
    sandbox.ok(&format!("train from0.txt --out y.json {TRAIN} --set num_leaves=4"));
    let ids = |model: &str| {
        format!(
            "test.txt: feature ids seem to be shifted by one: {model} has ids 0 to 3, but the data has 1 to 4; if so, "
        )
    };
    let value = |model: &str, more: &str| {
        let line = format!("eval test.txt --model {model} --metric ndcg {more}");
        assert_eq!(warnings(&sandbox, &line), [""; 0], "{line}");
        sandbox.json(&line)["metrics"]["ndcg"].clone()
    };
    let values = |line: &str| {
        let object = sandbox.json(line);
        [0, 1].map(|system| object["systems"][system]["metrics"]["ndcg"].clone())
    };

    // A model with names needs names.
    let advice = "name the features of the data with --feature-names";
    let told = warnings(&sandbox, "eval test.txt --model nm.json");
    assert_eq!(told[0], ids("the model") + advice);
    for line in [
        "compare test.txt --model m.json --model nm.json --metric ndcg",
        "eval test.txt --model nm.json --model m.json --metric ndcg",
        "blend m.json nm.json test.txt",
    ] {
        let told = warnings(&sandbox, line);
        assert_eq!(told[0], ids("nm.json") + advice, "{line}");
        assert!(told.iter().all(|told| told.contains("nm.json")), "{line}: {told:?}");
        assert_eq!(warnings(&sandbox, &format!("{line} --feature-names names.txt")), [""; 0], "{line}");
    }
    let compared = values("compare test.txt --model m.json --model nm.json --metric ndcg --feature-names names.txt");
    assert_eq!(compared, [value("m.json", ""), value("nm.json", "--feature-names names.txt")]);

    // One without names is scored alone if the others need another offset.
    let line = "compare test.txt --model m.json --model z.json --metric ndcg";
    let alone = "write its scores with rankwise predict and --feature-offset -1, and use them instead of the model";
    assert_eq!(warnings(&sandbox, line), [ids("z.json") + alone]);
    sandbox.ok("predict z.json test.txt --feature-offset -1 --out z.txt");
    let line = "compare test.txt --model m.json --scores z.txt --metric ndcg";
    assert_eq!(warnings(&sandbox, line), [""; 0]);
    assert_eq!(values(line), [value("m.json", ""), value("z.json", "--feature-offset -1")]);
    let told = warnings(&sandbox, "compare test.txt --model m.json --model z.json --feature-offset -1");
    assert_eq!(told.len(), 1, "{told:?}");
    let back =
        "; if so, write its scores with rankwise predict without --feature-offset, and use them instead of the model";
    assert!(told[0].contains("m.json has ids 1 to 4") && told[0].ends_with(back), "{told:?}");

    // The same offset helps them all.
    let line = "compare test.txt --model z.json --model y.json --metric ndcg";
    let offset = "set --feature-offset -1";
    assert_eq!(warnings(&sandbox, line), [ids("z.json") + offset, ids("y.json") + offset]);
    assert_eq!(warnings(&sandbox, &format!("{line} --feature-offset -1")), [""; 0]);
}

#[test]
fn monotone_constraints_match_the_ids_of_the_data() {
    let sandbox = Sandbox::new();
    sandbox.write("d.txt", letor(1, 0));
    sandbox.write("zero.txt", letor(0, 0));
    let train = |data: &str, constraints: &str| {
        format!("train {data} --out m.json {TRAIN} --set monotone_constraints={constraints}")
    };
    let recorded = |line: &str| {
        sandbox.ok(line);
        sandbox.json("inspect m.json")["params"]["monotone_constraints"].clone()
    };
    sandbox.all_refused(&[
        (
            &train("d.txt", "1,0,-1"),
            &["error: parameter 'monotone_constraints': a list starts with feature 0, which is not in the data (ids 1 to 4); \
               put a 0 in front (0,1,0,-1), or write id:direction pairs, such as 1:1,3:-1"],
        ),
        (
            &train("d.txt", "0:1,3:-1"),
            &["feature 0 is not in the data (ids 1 to 4); correct the id, or remove 0:1"],
        ),
        (
            &train("zero.txt", "1,0,-1,0,1"),
            &["a list has directions for features 0, 1, 2 and so on, but feature 4 is not in the data (ids 0 to 3); \
               correct the list, or write id:direction pairs, such as 0:1"],
        ),
    ]);
    for constraints in ["0,1,0,-1", "1:1,3:-1"] {
        assert_eq!(recorded(&train("d.txt", constraints)), "1:1,3:-1");
    }
    assert_eq!(recorded(&train("d.txt", "3:-1")), "3:-1");
    assert_eq!(recorded(&train("zero.txt", "1,0,-1")), "0:1,2:-1");
}

/// A header such as f1, f2 gives numbers, not names.
#[test]
fn numbered_columns_are_not_called_nameless() {
    let sandbox = Sandbox::new();
    sandbox.write("numbered.csv", table().replacen("bm25,clicks,age,len", "f1,f2,f3,f4", 1));
    sandbox.write("named.csv", table());
    let line = format!("train numbered.csv --valid named.csv --out m.json {TRAIN}");
    sandbox.run(&line).expect_refused(
        &line,
        &["named.csv: its columns have names, but the training data identifies features by number; use names in both or in \
           neither, or name each column after its feature id in the training data, such as f1 for feature 1"],
    );
    sandbox.write("named.csv", table().replacen("bm25,clicks,age,len", "f1,f2,f3,f4", 1) + "1,9,1,2,3,4\n");
    sandbox.ok(&line);
    sandbox.write("lacking.csv", table().replacen("bm25,clicks,age,len", "f1,f2,f3,len", 1));
    let line = "predict m.json lacking.csv --out s.txt";
    sandbox.run(line).expect_refused(
        line,
        &["the model identifies features by number, but column \"len\" has a name; rename it after the features, such as f4 for \
           feature 4"],
    );
    sandbox.write("lacking.csv", table().replacen("bm25,clicks,age,len", "f1,f2,f3,f4", 1));
    sandbox.ok(line);
    for (names, told) in [
        ("f1,f2,f3,f4,len", "column \"len\" has a name; rename it after the features, or set --ignore-columns len"),
        (
            "f1,f2,f3,f4,len,age",
            "column \"len\" and 1 more have names; rename them after the features, or set --ignore-columns len,age",
        ),
    ] {
        let n_more = names.split(',').count() - 4;
        let mut lines = table().lines().map(str::to_owned).collect::<Vec<_>>();
        lines[0] = lines[0].replacen("bm25,clicks,age,len", names, 1);
        lines[1..].iter_mut().for_each(|line| line.push_str(&",7".repeat(n_more)));
        sandbox.write("mixed.csv", lines.join("\n") + "\n");
        let line = "predict m.json mixed.csv --out s.txt";
        sandbox.run(line).expect_refused(line, &[told]);
        let ignored = told.split("--ignore-columns ").nth(1).unwrap();
        sandbox.ok(&format!("{line} --ignore-columns {ignored}"));
    }
}

/// `--feature-names` names numbered columns of tables, as it names the features of LETOR data.
#[test]
fn numbered_columns_get_names() {
    let sandbox = Sandbox::new();
    let numbered = table().replacen("bm25,clicks,age,len", "f1,f2,f3,f4", 1);
    sandbox.write("numbered.csv", &numbered);
    sandbox.write("named.csv", table());
    sandbox.write("names.txt", "1 bm25\n2 clicks\n3 age\n4 len\n");
    sandbox.ok(&format!("train named.csv --out named.json {TRAIN}"));
    sandbox.ok("predict named.json named.csv --out expected.txt");
    let line = "predict named.json numbered.csv --out scores.txt";
    sandbox.run(line).expect_refused(
        line,
        &["no column \"bm25\"", "give their names with --feature-names, in a file with lines such as 1 bm25"],
    );
    sandbox.ok(&format!("{line} --feature-names names.txt"));
    assert_eq!(sandbox.bytes("scores.txt"), sandbox.bytes("expected.txt"));
    sandbox.ok(&format!("train numbered.csv --valid numbered.csv --feature-names names.txt --out m.json {TRAIN}"));
    sandbox.ok("predict m.json named.csv --out scores.txt");
    sandbox.ok("predict m.json numbered.csv --feature-names names.txt --out expected.txt");
    assert_eq!(sandbox.bytes("scores.txt"), sandbox.bytes("expected.txt"));
}

#[test]
fn a_model_in_the_place_of_data_is_called_one() {
    let sandbox = Sandbox::new();
    sandbox.write("named.csv", table());
    std::fs::create_dir(sandbox.path("data")).unwrap();
    sandbox.ok(&format!("train named.csv --out data/m.json {TRAIN}"));
    sandbox.write("data/model.txt", sandbox.bytes("data/m.json"));
    sandbox.all_refused(&[
        ("train data/m.json --out x.json", &["data/m.json: this is a model, but ranking data is expected here"]),
        ("train named.csv data/m.json --out x.json", &["expected here; leave it out"]),
        ("inspect data", &["expected here; name the data files instead of their folder, or move the model"]),
    ]);
}

#[test]
fn classes_that_the_data_lacks_are_named() {
    let sandbox = Sandbox::new();
    let rows = |n_labels: usize| {
        (0..40).map(|row| format!("{} qid:{} 1:{row}\n", row % n_labels, row / 10)).collect::<String>()
    };
    sandbox.write("three.txt", rows(3));
    sandbox.write("two.txt", rows(2));
    sandbox.ok(&format!("train three.txt --objective multiclass --out m.json {TRAIN}"));
    let line = "refit m.json two.txt --out r.json";
    sandbox.run(line).expect_refused(
        line,
        &["one output for each label of its training data, with the gains 0,1,3, but the labels of this data have the gains \
           0,1; use data with the same labels"],
    );
}

#[test]
fn help_of_help_is_help() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ok("help --help"), sandbox.ok("--help"));
}

#[test]
fn files_and_settings_of_other_programs_are_recognised() {
    let sandbox = Sandbox::new();
    sandbox.write("qrels.txt", "301 0 d1 1\n301 0 d2 0\n");
    sandbox.write("big.txt", "0 qid:1 1:1\n40 qid:1 1:2\n");
    sandbox.all_refused(&[
        ("inspect qrels.txt", &["if these are TREC judgements, give them with --qrels"]),
        (
            "train big.txt --set label_gain=0,1,3 --out m.json",
            &[
                "label 40 in query '1' has no entry in label_gain",
                "extend label_gain, or remove it and use --gain linear",
            ],
        ),
        (
            "train big.txt --set boosting=goss --out m.json",
            &["invalid value 'goss'; expected gbdt|dart|random-forest|linear|neural|adaboost|rankboost|ranksvm|adarank|coordinate-ascent; for GOSS, set sample=goss"],
        ),
    ]);
}
