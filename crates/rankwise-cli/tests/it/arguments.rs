//! Arguments that make no sense: exit code 2, a sentence that says what to do, and nothing written.

use crate::sandbox::Sandbox;

#[test]
fn usage_errors_name_what_is_missing_or_too_much() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        ("trian train.txt --out m.json", &["unrecognized subcommand 'trian'", "similar subcommand exists: 'train'"]),
        ("train", &["required arguments were not provided", "--out <MODEL>", "<DATA>", "Usage: rankwise train"]),
        ("train train.txt", &["--out <MODEL>"]),
        ("train --out m.json", &["<DATA>"]),
        ("train train.txt extra --out m.json", &["extra: cannot open: no such file"]),
        ("train train.txt --out", &["a value is required for '--out <MODEL>'"]),
        ("train train.txt --out m.json --frobnicate", &["unknown option '--frobnicate'; see `rankwise train --help`"]),
        ("train train.txt --out m.json --out n.json", &["'--out <MODEL>' cannot be used multiple times"]),
        ("synth --rows 100", &["--out <PATH>"]),
        ("synth --out m.txt", &["--rows <N>"]),
        ("inspect", &["<FILE>"]),
        ("predict model.json", &["<DATA>"]),
        ("predict model.json train.txt --format json", &["invalid value 'json'", "scores, tsv, run"]),
        ("eval train.txt", &["--model <FILE>|--feature <FEATURE>|--scores <FILE>"]),
        ("eval train.txt --model model.json --scores s.txt", &["cannot be used with '--scores <FILE>'"]),
        ("demo extra", &["unexpected argument 'extra'"]),
    ]);
}

/// The argument that is missing is named, not one that was given.
#[test]
fn missing_arguments_are_told_from_given_ones() {
    let sandbox = Sandbox::with_model();
    let before_data = |command: &str| {
        format!("error: train.txt: not a model; name the model before the data: rankwise {command} MODEL DATA")
    };
    let (predict, refit) = (before_data("predict"), before_data("refit"));
    sandbox.all_refused(&[
        ("convert-data train.txt", &["not provided:\n  <OUT>\n"]),
        ("convert-data", &["not provided:\n  <IN>...\n  <OUT>\n"]),
        ("predict model.json", &["not provided:\n  <DATA>...\n"]),
        ("predict gone.json", &["not provided:\n  <DATA>...\n"]),
        ("predict train.txt", &[&predict]),
        ("refit train.txt --out r.json", &[&refit]),
        ("refit train.txt", &[&refit]),
        ("blend model.json", &["not provided:\n  <B>\n  <DATA>...\n"]),
        ("eval --qrels q.txt", &["--qrels is for runs, in place of DATA; write `--run RUN --qrels FILE` without DATA"]),
    ]);
}

#[test]
fn options_that_are_none_lead_to_what_is_meant() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        (
            "predict --model model.json train.txt",
            &["unknown option '--model'; give MODEL without an option, see `rankwise predict --help`"],
        ),
        ("inspect --model model.json", &["unknown option '--model'; give FILE without an option"]),
        ("convert-data train.txt --out d.csv", &["unknown option '--out'; give OUT without an option"]),
        ("convert-data --in train.txt d.csv", &["unknown option '--in'; give IN without an option"]),
        (
            "train train.txt --model m.json",
            &["unknown option '--model'; did you mean '--out MODEL' or '--init-model MODEL'?"],
        ),
        ("prune model.json --data train.txt --out p.json", &["unknown option '--data'; did you mean '--valid DATA'?"]),
        ("train train.txt --output m.json", &["unknown option '--output'; did you mean '--out'?"]),
        ("train train.txt --out m.json --validation v.txt", &["did you mean '--valid'?"]),
        ("train train.txt --out m.json --n-jobs 2", &["unknown option '--n-jobs'; did you mean '--threads'?"]),
        // Not --version, --pairs and --features.
        ("train train.txt --out m.json --verbose", &["unknown option '--verbose'; see `rankwise train --help`"]),
        ("train train.txt --out m.json --params p.toml", &["unknown option '--params'; see `rankwise train --help`"]),
        ("synth --queries 100 --out d.txt", &["unknown option '--queries'; see `rankwise synth --help`"]),
    ]);
    for line in ["convert model.json --to catboost --out m.cbm", "convert model.json --to rankwise --out m.json"] {
        let outcome = sandbox.run(line);
        outcome.expect_refused(line, &["[possible values: lightgbm, xgboost, "]);
        assert!(!outcome.stderr.contains("similar"), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn numbers_of_flags_have_limits() {
    let sandbox = Sandbox::with_model();
    let threads: &[&str] = &["for '--threads <N>': expected an integer from 1 to 1024"];
    let seed: &[&str] = &["for '--seed <S>': expected an integer from 0 to 18446744073709551615"];
    let rows: &[&str] = &["for '--rows <N>': expected an integer from 1 to 1073741824"];
    let features: &[&str] = &["for '--features <F>': expected an integer from 1 to 1000000"];
    sandbox.all_refused(&[
        ("train train.txt --out m.json --threads 0", threads),
        ("--threads 99999 train train.txt --out m.json", threads),
        ("train train.txt --out m.json --threads two", threads),
        ("train train.txt --out m.json --threads -1", threads),
        ("train train.txt --out m.json --seed text", seed),
        ("train train.txt --out m.json --seed -1", seed),
        ("synth --rows 10 --out m.txt --seed 18446744073709551616", seed),
        ("synth --rows 0 --out m.txt", rows),
        ("synth --rows 99999999999 --out m.txt", rows),
        ("synth --rows 99999999999999999999999 --out m.txt", rows),
        ("synth --rows many --out m.txt", rows),
        (
            "synth --rows -5 --out m.txt",
            &["invalid value '-5' for '--rows <N>': expected an integer from 1 to 1073741824"],
        ),
        ("synth --rows 10 --features 0 --out m.txt", features),
        ("synth --rows 10 --features -1 --out m.txt", features),
        (
            "convert model.json --to onnx --out m.onnx --columns -3",
            &["invalid value '-3' for '--columns <N>': expected an integer of at least 1"],
        ),
        ("eval train.txt --feature -1", &["--feature -1: no such feature in train.txt; ids go from 1 to 8"]),
        (
            "refit model.json train.txt --out r.json --decay x",
            &["for '--decay <SHARE>': expected a number from 0 to 1"],
        ),
        (
            "prune model.json --valid vali.txt --out p.json --max-loss 1%",
            &["for '--max-loss <LOSS>': expected a number of at least 0"],
        ),
        ("synth --rows 10 --preset news --out m.txt", &["invalid value 'news'", "expected web|long|wide"]),
    ]);
    for shares in ["x", "0.5,0.6", "1,2,3", "0.2,0.2,0.2,0.4", "nan", "0.5,0,0.5", "1.5,-0.5", "", ","] {
        let args = ["synth", "--rows", "10", "--out", "parts", &format!("--split={shares}")];
        let parts = [
            &format!("--split '{shares}': ")[..],
            "give one to three positive numbers that sum to 1, such as 0.6,0.2,0.2",
        ];
        sandbox.refused(&args, &parts);
    }
}

#[test]
fn parameters_are_named_with_what_would_fit() {
    let sandbox = Sandbox::with_model();
    let cases: [(&str, &[&str]); 40] = [
        ("num_leafs=3", &["unknown parameter 'num_leafs'; did you mean 'num_leaves'?", "--help-params"]),
        ("subsampl=3", &["unknown parameter 'subsampl'; did you mean 'subsample'?"]),
        ("zebra=3", &["unknown parameter 'zebra'; `rankwise train --help-params` lists all"]),
        ("num_leaves", &["--set num_leaves: no value; write KEY=VALUE"]),
        ("num_leaves=", &["parameter 'num_leaves': invalid value ''; expected auto or an integer from 2 to 131072"]),
        ("num_leaves=many", &["parameter 'num_leaves': invalid value 'many'; expected auto or an integer"]),
        ("max_leaves=3.5", &["parameter 'max_leaves' (num_leaves): invalid value '3.5'; expected auto or an integer"]),
        ("num_leaves=1", &["parameter 'num_leaves': 1 is out of range; use a value from 2 to 131072"]),
        ("max_bin=256", &["parameter 'max_bin': 256 is out of range"]),
        ("max_bin=-1", &["parameter 'max_bin': invalid value '-1'; expected an integer from 2 to 255"]),
        ("num_trees=0", &["parameter 'num_trees': 0 is out of range"]),
        (
            "num_trees=99999999999999999999",
            &["invalid value '99999999999999999999'; expected an integer from 1 to 1000000"],
        ),
        ("learning_rate=0", &["parameter 'learning_rate': 0 is out of range; use a value above 0 and at most 10"]),
        ("eta=nan", &["parameter 'eta' (learning_rate): NaN is out of range"]),
        ("eta=inf", &["parameter 'eta' (learning_rate): inf is out of range"]),
        (
            "subsample=3",
            &["parameter 'subsample' (bagging_fraction): 3 is out of range; use a value above 0 and at most 1"],
        ),
        ("subsample=0.5", &["parameter 'subsample' (bagging_fraction): no effect while bagging_freq is 0"]),
        ("od_wait=5", &["parameter 'od_wait' (early_stopping_rounds): early stopping needs a validation set"]),
        ("booster=gblinear", &["parameter 'booster' (learner): invalid value 'gblinear'; expected gbdt|"]),
        ("=3", &["--set =3: no name; write KEY=VALUE"]),
        ("lambda_l2=-1", &["parameter 'lambda_l2': -1 is out of range; use a value of at least 0"]),
        ("bagging_fraction=1.5", &["parameter 'bagging_fraction': 1.5 is out of range"]),
        ("bagging_fraction=0.5", &["no effect while bagging_freq is 0; set bagging_freq=1"]),
        ("sample=bagging", &["the size of the sample is not set; set bagging_fraction below 1"]),
        ("sample=some", &["parameter 'sample': invalid value 'some'; expected none|bagging|query-bagging"]),
        ("grow=sideways", &["parameter 'grow': invalid value 'sideways'; expected auto|leafwise|levelwise|oblivious"]),
        ("lambda_norm=perhaps", &["parameter 'lambda_norm': invalid value 'perhaps'; expected true|false"]),
        (
            "monotone_constraints=3:2",
            &["parameter 'monotone_constraints': invalid value '3:2'; expected a list of id:direction"],
        ),
        (
            "label_gain=0,x",
            &["parameter 'label_gain': invalid value '0,x'; expected comma-separated numbers, each at least 0"],
        ),
        ("label_gain=1,1", &["parameter 'label_gain': all gains are equal; give better labels larger gains"]),
        ("label_gain=0,-1", &["parameter 'label_gain': -1 is out of range; use a value of at least 0"]),
        ("objective=magic", &["parameter 'objective': invalid value 'magic'; expected lambdamart|lambdaloss|"]),
        ("metric=magic", &["parameter 'metric': unknown metric 'magic'; give a metric (ndcg|dcg|"]),
        ("metric=ndgc@10", &["parameter 'metric': unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"]),
        ("metric=map,ndcg@0", &["parameter 'metric': metric 'ndcg@0': invalid cutoff; use an integer of at least 1"]),
        ("eval_metric=ndcg@0", &["parameter 'eval_metric' (metric): metric 'ndcg@0': invalid cutoff"]),
        ("target=ndcg@0", &["parameter 'target': metric 'ndcg@0': invalid cutoff"]),
        (
            "target=magic",
            &[
                "parameter 'target': unknown metric 'magic'; give a metric (ndcg|dcg|map|mrr|err|p|recall|hits|pfound|rbp), ",
            ],
        ),
        ("absent=maybe", &["parameter 'absent': invalid value 'maybe'; expected missing|zero"]),
        ("early_stopping_rounds=5", &["early stopping needs a validation set; add one with --valid"]),
    ];
    for (setting, parts) in cases {
        sandbox.refused(&["train", "train.txt", "--out", "m.json", "--set", setting], parts);
    }
    sandbox.all_refused(&[
        (
            "train train.txt --out m.json --set eta=0.1 --set learning_rate=0.2",
            &["parameter 'learning_rate' is set twice, as 'eta' and as 'learning_rate'; keep one"],
        ),
        ("train train.txt --out m.json --set eta=0.1 --set eta=0.1", &["'learning_rate' is set twice; keep one"]),
        (
            "train train.txt --out m.json --set grow=oblivious --set max_depth=30",
            &["parameter 'max_depth': an oblivious tree of depth 30 has 2^30 leaves; use at most 20"],
        ),
        (
            "train train.txt --out m.json --num-leaves 3",
            &["'--num-leaves' is a training parameter; write `rankwise train ... --set num_leaves=VALUE`"],
        ),
        (
            "eval train.txt --qrels q.txt --model m.json",
            &["--qrels is for runs, in place of DATA; write `--run RUN --qrels FILE` without DATA, or remove --qrels"],
        ),
        (
            "train --data train.txt --out m.json",
            &["unknown option '--data'; give DATA without an option, see `rankwise train --help`"],
        ),
        ("predict m.json train.txt --num_iteration 3", &["unknown option '--num_iteration'; did you mean '--trees'?"]),
        (
            "eval train.txt --model m.json --label_gain 0,1,3",
            &["unknown option '--label_gain'; write '--gain table:0,1,3,7', with one gain for each label from 0"],
        ),
    ]);
}

#[test]
fn samples_and_learners_that_do_not_go_together_are_refused() {
    let sandbox = Sandbox::with_data();
    let cases: [(&str, &str); 9] = [
        (
            "sample=goss top_rate=0.6 other_rate=0.5",
            "parameter 'other_rate': top_rate + other_rate is above 1; use a sum",
        ),
        (
            "sample=goss bagging_fraction=0.5",
            "parameter 'bagging_fraction': sample=goss uses top_rate and other_rate instead",
        ),
        ("sample=mvs", "parameter 'sample': the size of the sample is not set; set bagging_fraction below 1"),
        (
            "sample=mvs subsample=0.5 bagging_freq=3",
            "parameter 'bagging_freq': sample=mvs draws a new sample for every",
        ),
        ("sample=negatives bagging_freq=1", "parameter 'bagging_freq': sample=negatives uses p_negatives instead"),
        ("learner=random-forest", "parameter 'learner': all trees of the random forest would be equal; set"),
        (
            "boosting=rf sample=goss",
            "parameter 'sample': gradients and ranks do not change between the trees of a random forest",
        ),
        (
            "learner=dart langevin=true",
            "parameter 'model_shrink_rate': langevin=true shrinks the scores of earlier trees, but learner=dart sets the weights of earlier trees itself",
        ),
        (
            "learner=dart step=exact",
            "parameter 'step': learner=dart sets the weight of each tree itself; use step=shrinkage",
        ),
    ];
    for (settings, part) in cases {
        let sets = settings.split(' ').flat_map(|setting| ["--set", setting]);
        let line: Vec<&str> = ["train", "train.txt", "--out", "m.json"].into_iter().chain(sets).collect();
        sandbox.refused(&line, &[part]);
    }
}

#[test]
fn objectives_metrics_and_rules_are_listed_where_one_is_unknown() {
    let sandbox = Sandbox::with_model();
    sandbox.all_refused(&[
        (
            "train train.txt --out m.json --objective magic",
            &["parameter 'objective': invalid value 'magic'", "expected lambdamart|lambdaloss|"],
        ),
        (
            "train train.txt --out m.json --metric ndcg@0",
            &["metric 'ndcg@0': invalid cutoff; use an integer of at least 1"],
        ),
        ("train train.txt --out m.json --metric map,zebra", &["unknown metric 'zebra'; give a metric (ndcg|dcg|map|"]),
        (
            "train train.txt --out m.json --ties luck",
            &["invalid value 'luck' for '--ties <VALUE>'", "worst|best|average|input|docid|random"],
        ),
        ("eval train.txt --model model.json --metric ndgc@10", &["unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"]),
        ("eval train.txt --model model.json --metric ndcg@10,", &["unknown metric ''; give a metric (ndcg|"]),
        ("eval train.txt --model model.json --metric ndcg@-1", &["metric 'ndcg@-1': invalid cutoff"]),
        (
            "eval train.txt --model model.json --gain square",
            &["invalid value 'square' for '--gain <VALUE>'", "exp|linear|table:0,1,3,..."],
        ),
        ("eval train.txt --model model.json --gain table:", &["invalid value 'table:' for '--gain <VALUE>'"]),
        ("eval train.txt --model model.json --gain table:0,-1", &["invalid value 'table:0,-1' for '--gain <VALUE>'"]),
        (
            "eval train.txt --model model.json --empty two",
            &["invalid value 'two' for '--empty <VALUE>'", "zero|one|skip|error"],
        ),
        (
            "eval train.txt --model model.json --convention letor",
            &["invalid value 'letor' for '--convention <VALUE>'", "lightgbm|"],
        ),
    ]);
    sandbox.refused(&["train", "train.txt", "--out", "m.json", "--metric", ""], &["no metric; give at least one"]);
    sandbox.refused(
        &["eval", "train.txt", "--model", "model.json", "--metric", ""],
        &["unknown metric ''; give a metric (ndcg|dcg|map|mrr|"],
    );
}
