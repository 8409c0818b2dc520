//! `rankwise train`: what it does with data and parameters that are right.

use std::fmt::Write as _;

use rankwise::formats::Target;
use rankwise::objectives::ObjectiveKind;
use rankwise::params::ParamValue as _;
use rankwise::train::{Learner, Sample};
use rankwise::trees::Growth;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

fn params(sandbox: &Sandbox, model: &str) -> Value {
    sandbox.json(&format!("inspect {model}"))["params"].clone()
}

#[test]
fn a_validation_set_cuts_the_model_at_its_best_tree() {
    let sandbox = Sandbox::with_data();
    let said = sandbox.json("train train.txt --valid vali.txt --out m.json --set num_trees=30 --set num_leaves=7");
    let (trees, grown) = (said["trees"].as_u64().unwrap(), said["trees_grown"].as_u64().unwrap());
    assert!(trees < grown && grown == 30, "{said}");
    assert_eq!(said["best_iteration"], trees);
    assert_eq!(sandbox.json("inspect m.json")["trees"], trees);
    // The value that was reported is the value of the model that was saved.
    let measured = sandbox.json("eval vali.txt --model m.json --metric ndcg@10");
    assert_eq!(said["valid"]["ndcg@10"], measured["metrics"]["ndcg@10"]);
}

#[test]
fn early_stopping_stops() {
    let sandbox = Sandbox::with_data();
    let settings = "--set num_trees=500 --set num_leaves=7 --set early_stopping_rounds=5";
    let text = sandbox.ok(&format!("train train.txt --valid vali.txt --out m.json {settings}"));
    assert!(text.contains("early stopping"), "{text}");
    let said = sandbox.json(&format!("train train.txt --valid vali.txt --out m.json {settings}"));
    assert_eq!(said["trees_grown"].as_u64().unwrap(), said["trees"].as_u64().unwrap() + 5);
}

#[test]
fn outliers_are_counted() {
    let sandbox = Sandbox::with_data();
    let line = "train train.txt --out m.json --set num_trees=5 --set sample=inliers --set outlier_trees=3";
    let said = sandbox.json(line);
    let n_outliers = said["outliers"].as_u64().unwrap();
    assert!((1..450).contains(&n_outliers), "{said}");
    let text = sandbox.ok(line);
    assert!(text.contains(&format!("left out {n_outliers} outlier")), "{text}");
    let none = sandbox.json(&format!("{line} --set outlier_high=0 --set outlier_low=0"));
    assert_eq!(none["outliers"], 0);
    assert_eq!(sandbox.json("train train.txt --out m.json --set num_trees=5")["outliers"], Value::Null);
}

#[test]
fn every_validation_set_is_measured_and_the_first_decides() {
    let sandbox = Sandbox::with_data();
    let line = "--out m.json --set num_trees=20 --set num_leaves=7 --metric ndcg@5,DCG@3";
    let said = sandbox.json(&format!("train train.txt --valid vali.txt --valid train.txt {line}"));
    let sets = said["valid_sets"].as_array().unwrap();
    assert_eq!(sets.iter().map(|set| &set["name"]).collect::<Vec<_>>(), ["vali.txt", "train.txt"]);
    for set in sets {
        assert_eq!(set["metrics"].as_object().unwrap().keys().collect::<Vec<_>>(), ["DCG@3", "ndcg@5"]);
    }
    assert_eq!(said["valid"], sets[0]["metrics"]);
    let alone = sandbox.json(&format!("train train.txt --valid vali.txt {line}"));
    assert_eq!(alone["trees"], said["trees"]);

    let text = sandbox.ok(&format!("train train.txt --valid vali.txt --valid train.txt {line}"));
    assert!(text.contains("vali.txt: ndcg@5 ") && text.contains("train.txt: DCG@3 "), "{text}");
    assert!(text.contains("rules: gain exp, discount log2, ties worst, empty zero"), "{text}");
}

#[test]
fn compressed_data_and_standard_input_give_the_same_model() {
    let sandbox = Sandbox::with_data();
    let plain = sandbox.train("m.json", "");
    for name in ["train.txt.gz", "train.txt.zst"] {
        sandbox.ok(&format!("synth --rows 900 --features 8 --seed 1 --out {name}"));
        assert_eq!(sandbox.train_on(name, "n.json", ""), plain, "{name}");
    }
    let line = "train - --out n.json --set num_trees=6 --set num_leaves=7";
    for name in ["train.txt", "train.txt.gz"] {
        sandbox.run_with_input(line, name).expect_ok(line);
        assert_eq!(sandbox.bytes("n.json"), plain, "{name}");
    }
}

#[test]
fn query_sizes_take_the_place_of_qids() {
    let sandbox = Sandbox::with_data();
    let text = sandbox.text("train.txt");
    let (mut rows, mut sizes, mut last) = (String::new(), Vec::new(), "");
    for line in text.lines() {
        let mut words = line.split(' ');
        let (label, qid) = (words.next().unwrap(), words.next().unwrap());
        if qid == last {
            *sizes.last_mut().unwrap() += 1;
        } else {
            sizes.push(1);
        }
        last = qid;
        writeln!(rows, "{label} {}", words.collect::<Vec<_>>().join(" ")).unwrap();
    }
    sandbox.write("sized.txt", rows);
    sandbox.write("sized.txt.query", sizes.iter().map(|size| format!("{size}\n")).collect::<String>());
    let model = |data: &str| {
        sandbox.train_on(data, "m.json", "");
        let facts = sandbox.json("inspect m.json");
        (facts["trained_on"]["queries"].clone(), facts["importance"].clone())
    };
    assert_eq!(model("sized.txt"), model("train.txt"));
}

#[test]
fn weights_change_the_model_and_equal_ones_do_not_change_its_trees() {
    let sandbox = Sandbox::with_data();
    let n_rows = sandbox.text("train.txt").lines().count();
    let importance = || {
        sandbox.train("m.json", "");
        sandbox.json("inspect m.json")["importance"].clone()
    };
    let plain = importance();
    sandbox.write("train.txt.weight", "1\n".repeat(n_rows));
    assert_eq!(importance(), plain);
    let uneven: String = (0..n_rows).map(|row| format!("{}\n", 1 + row % 3)).collect();
    sandbox.write("train.txt.weight", uneven);
    assert_ne!(importance(), plain);
}

#[test]
fn objectives_and_their_other_names() {
    let sandbox = Sandbox::with_data();
    let objective = |more: &str| {
        sandbox.train("m.json", more);
        sandbox.json("inspect m.json")
    };
    assert_eq!(objective("--objective rmse")["objective"], "rmse");
    assert_eq!(objective("--set objective=reg:squarederror")["objective"], "rmse");
    assert_eq!(objective("--objective lambdarank")["objective"], "lambdamart");
    assert_eq!(objective("--objective rank_xendcg")["objective"], "xendcg");
    assert_eq!(objective("--objective QueryRMSE")["objective"], "query-rmse");
    assert_eq!(objective("--objective QuerySoftMax")["objective"], "softmax");
    for name in ["listnet", "listmle", "p-listmle", "plackett-luce", "approx-ndcg"] {
        assert_eq!(objective(&format!("--objective {name}"))["objective"], name);
    }
    // Squared error starts from the mean label.
    let labels = sandbox.text("train.txt");
    let labels: Vec<f64> = labels.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    let mean = labels.iter().sum::<f64>() / labels.len() as f64;
    let base = objective("--objective rmse")["base_score"].as_f64().unwrap();
    assert!((base - mean).abs() < 1e-12, "{base} {mean}");
}

/// A model with an output for each grade goes through everything that takes models, or is refused by name.
#[test]
fn a_model_of_grades_is_a_model() {
    let sandbox = Sandbox::with_data();
    let settings = "--objective multiclass --set num_leaves=7 --set num_trees=12";
    let said = sandbox.json(&format!("train train.txt --valid vali.txt --out m.json {settings}"));
    let shown = sandbox.json("inspect m.json");
    let gains = shown["output"]["expected_gain"]["gains"].as_array().unwrap().clone();
    assert_eq!(gains, [0.0, 1.0, 3.0, 7.0, 15.0].map(|gain| json!(gain)));
    assert_eq!(said["best_iteration"].as_u64().unwrap() * 5, said["trees"].as_u64().unwrap());
    assert!(sandbox.ok("inspect m.json").contains("gains        0,1,3,7,15"));
    let measured = sandbox.json("eval vali.txt --model m.json --metric ndcg@10");
    assert_eq!(said["valid"]["ndcg@10"], measured["metrics"]["ndcg@10"]);
    // A score is a mean of gains.
    sandbox.ok("predict m.json vali.txt --out scores.txt");
    let scores = sandbox.text("scores.txt");
    assert!(scores.lines().all(|line| (0.0..=15.0).contains(&line.parse::<f64>().unwrap())), "{scores}");
    for target in Target::ALL.map(Target::name) {
        let line = format!("convert m.json --to {target} --out out --check vali.txt");
        sandbox.all_refused(&[(&line, &[target, "several outputs", "rankwise predict"])]);
    }
}

#[test]
fn weights_that_are_all_zero_are_refused_by_every_objective() {
    let sandbox = Sandbox::with_data();
    // Labels of 0 and 1, which every objective takes.
    let text = sandbox.text("train.txt");
    let binary = |line: &str| format!("{}{}\n", if line.starts_with('0') { "0" } else { "1" }, &line[1..]);
    sandbox.write("train.txt", text.lines().map(binary).collect::<String>());
    sandbox.write("train.txt.weight", "0\n".repeat(text.lines().count()));
    for objective in ObjectiveKind::ALL.iter().map(ObjectiveKind::render) {
        let line = format!("train train.txt --objective {objective} --out m.json");
        sandbox.all_refused(&[(&line, &["all documents have weight 0"])]);
    }
}

#[test]
fn every_growth_policy_sample_and_learner_gives_its_own_model() {
    let sandbox = Sandbox::with_data();
    let grow = |growth: &Growth| match growth {
        Growth::Oblivious => "--set grow=oblivious --set max_depth=3".to_owned(),
        growth => format!("--set grow={}", growth.render()),
    };
    let sample = |sample: &Sample| match sample {
        Sample::Bagging | Sample::QueryBagging | Sample::Mvs => {
            format!("--set sample={} --set bagging_fraction=0.5", sample.render())
        }
        // Gradients are large from the first tree on, and so are the steps that show them.
        Sample::Goss => "--set sample=goss --set learning_rate=1".to_owned(),
        sample => format!("--set sample={}", sample.render()),
    };
    let learner = |learner: &Learner| match learner {
        Learner::Dart => "--set learner=dart --set drop_rate=0.5 --set skip_drop=0".to_owned(),
        learner => format!("--set learner={} --set bagging_fraction=0.6 --set bagging_freq=1", learner.render()),
    };
    let mut settings: Vec<String> = Growth::ALL.iter().map(grow).collect();
    // The defaults are the same model under three names.
    settings.extend(Sample::ALL.iter().filter(|kind| **kind != Sample::None).map(sample));
    settings.extend(Learner::ALL.iter().filter(|learner| learner.is_boosting()).map(learner));
    settings.extend(
        ["feature_fraction=0.5", "feature_fraction_bynode=0.5", "structure=gradient", "leaf_estimation=gradient"]
            .map(|setting| format!("--set {setting}")),
    );
    let models: Vec<Vec<u8>> = settings.iter().map(|more| sandbox.train("m.json", more)).collect();
    for (idx, model) in models.iter().enumerate() {
        let trees = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            text[text.find("\"trees\"").unwrap()..].to_owned()
        };
        for (other, other_model) in models.iter().enumerate().take(idx) {
            assert_ne!(trees(model), trees(other_model), "'{}' is '{}'", settings[idx], settings[other]);
        }
    }
    sandbox.train("m.json", "--set grow=oblivious --set max_depth=3");
    let facts = sandbox.json("inspect m.json");
    assert!(facts["depth"].as_u64().unwrap() <= 3, "{facts}");
}

#[test]
fn a_monotone_constraint_holds() {
    let sandbox = Sandbox::with_data();
    // The label falls with feature 1, which the constraint forbids to learn.
    let row = |row: usize| format!("{} qid:{} 1:{} 2:{}\n", (row / 25) % 4, row / 100, 100 - row % 100, row % 7);
    sandbox.write("falling.txt", (0..400).map(row).collect::<String>());
    let probe = |value: usize| format!("0 qid:1 1:{value} 2:3\n");
    sandbox.write("probe.txt", (0..=100).map(probe).collect::<String>());
    let scores = |more: &str| -> Vec<f64> {
        sandbox.train_on("falling.txt", "m.json", more);
        sandbox.ok("predict m.json probe.txt").lines().map(|line| line.parse().unwrap()).collect()
    };
    let rises = |scores: &[f64]| scores.windows(2).all(|pair| pair[0] <= pair[1]);
    assert!(!rises(&scores("")));
    assert!(rises(&scores("--set monotone_constraints=1:1")));
    assert_eq!(params(&sandbox, "m.json")["monotone_constraints"], "1:1");
    assert!(!rises(&scores("--set monotone_constraints=2:1")));
}

#[test]
fn parameters_are_listed() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("train --help-params");
    for expected in
        ["  num_leaves = auto\n", "value: auto or an integer from 2 to 131072", "aliases: num_leaf, max_leaves"]
    {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
    let listed = sandbox.json("train --help-params");
    let leaves = listed["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "num_leaves").unwrap();
    assert_eq!((&leaves["group"], &leaves["default"]), (&json!("Trees"), &json!("auto")));
    assert!(leaves["aliases"].as_array().unwrap().contains(&json!("max_leaves")));
}

#[test]
fn parameters_are_found_by_name_and_by_word() {
    let sandbox = Sandbox::new();
    let names = |sought: &str| -> Vec<String> {
        let listed = sandbox.json(&format!("train --help-params {sought}"));
        let listed = listed["parameters"].as_array().unwrap().iter();
        listed.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("num_leaves"), ["num_leaves"]);
    assert_eq!(names("max-leaves"), ["num_leaves"], "another program's name");
    let found = names("langevin");
    assert_eq!(found, ["langevin"]);
    let found = names("dart");
    assert!(found.contains(&"drop_rate".to_owned()) && !found.contains(&"num_leaves".to_owned()), "{found:?}");
    assert!(sandbox.ok("train --help-params eta").contains("  learning_rate = 0.07\n"));
    sandbox.refused(&["train", "--help-params", "num_leafs"], &["did you mean num_leaves?"]);
    sandbox.refused(
        &["train", "--help-params", "zebra"],
        &["--help-params zebra: unknown parameter; `--help-params` without a name lists all"],
    );
}

#[test]
fn a_compressed_model_is_read_like_a_plain_one() {
    let sandbox = Sandbox::with_model();
    for (name, magic) in [("m.json.gz", &[0x1f, 0x8b][..]), ("m.json.zst", &[0x28, 0xb5])] {
        assert!(sandbox.train(name, "").starts_with(magic), "{name}");
        let scores = sandbox.ok(&format!("predict {name} vali.txt"));
        assert_eq!(scores, sandbox.ok("predict model.json vali.txt"), "{name}");
        assert!(sandbox.ok(&format!("inspect {name}")).contains("objective lambdamart"), "{name}");
    }
}

/// A metric in which small values are good: the tree that is kept is the one with the smallest.
#[test]
fn the_best_tree_is_that_of_the_best_value_whichever_way_the_metric_goes() {
    let sandbox = Sandbox::with_data();
    for (metric, is_smaller_better) in [("arp", true), ("pair-logit", true), ("map@10", false), ("query-auc", false)] {
        let value = |n_trees: u32| {
            let line = format!(
                "train train.txt --valid vali.txt --metric {metric} --set num_trees={n_trees} --out {metric}.json"
            );
            sandbox.json(&line)["valid"][metric].as_f64().unwrap()
        };
        let (one, many) = (value(1), value(12));
        assert!(if is_smaller_better { many < one } else { many > one }, "{metric}: {one} with 1 tree, {many} with 12");
        let measured = sandbox.json(&format!("eval vali.txt --model {metric}.json --metric {metric}"));
        assert_eq!(measured["metrics"][metric].as_f64().unwrap(), many, "{metric}");
    }
}
