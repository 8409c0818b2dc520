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
        ("train train.txt --out m.json --frobnicate", &["unexpected argument '--frobnicate'"]),
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

#[test]
fn numbers_of_flags_have_limits() {
    let sandbox = Sandbox::with_model();
    let threads: &[&str] = &["for '--threads <N>': expected an integer from 1 to 1024"];
    let seed: &[&str] = &["for '--seed <S>': expected an integer from 0 to 18446744073709551615"];
    sandbox.all_refused(&[
        ("train train.txt --out m.json --threads 0", threads),
        ("--threads 99999 train train.txt --out m.json", threads),
        ("train train.txt --out m.json --threads two", threads),
        ("train train.txt --out m.json --threads -1", threads),
        ("train train.txt --out m.json --seed text", seed),
        ("train train.txt --out m.json --seed -1", seed),
        ("synth --rows 10 --out m.txt --seed 18446744073709551616", seed),
        ("synth --rows 0 --out m.txt", &["invalid number of rows, 0; give 1 to 1073741824"]),
        ("synth --rows 99999999999 --out m.txt", &["invalid number of rows, 99999999999; give 1 to"]),
        ("synth --rows 99999999999999999999999 --out m.txt", &["for '--rows <N>': expected an integer"]),
        ("synth --rows many --out m.txt", &["invalid value 'many' for '--rows <N>': expected an integer"]),
        ("synth --rows -5 --out m.txt", &["invalid value '-5' for '--rows <N>': expected an integer"]),
        ("synth --rows 10 --features 0 --out m.txt", &["invalid number of features, 0; give 1 to 1000000"]),
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
    let cases: [(&str, &[&str]); 31] = [
        ("num_leafs=3", &["unknown parameter 'num_leafs'; did you mean 'num_leaves'?", "--help-params"]),
        ("subsampl=3", &["unknown parameter 'subsampl'; did you mean 'subsample'?"]),
        ("zebra=3", &["unknown parameter 'zebra'; `rankwise train --help-params` lists all"]),
        ("=3", &["unknown parameter ''"]),
        ("num_leaves", &["--set num_leaves: no value; write KEY=VALUE"]),
        ("num_leaves=", &["parameter 'num_leaves': invalid value ''; expected an integer from 2 to 131072"]),
        ("num_leaves=many", &["parameter 'num_leaves': invalid value 'many'; expected an integer"]),
        ("max_leaves=3.5", &["parameter 'num_leaves': invalid value '3.5'; expected an integer"]),
        ("num_leaves=1", &["parameter 'num_leaves': 1 is out of range; use a value from 2 to 131072"]),
        ("max_bin=256", &["parameter 'max_bin': 256 is out of range"]),
        ("max_bin=-1", &["parameter 'max_bin': invalid value '-1'; expected an integer from 2 to 255"]),
        ("num_trees=0", &["parameter 'num_trees': 0 is out of range"]),
        (
            "num_trees=99999999999999999999",
            &["invalid value '99999999999999999999'; expected an integer from 1 to 1000000"],
        ),
        ("learning_rate=0", &["parameter 'learning_rate': 0 is out of range; use a value above 0 and at most 10"]),
        ("eta=nan", &["parameter 'learning_rate': NaN is out of range"]),
        ("eta=inf", &["parameter 'learning_rate': inf is out of range"]),
        ("lambda_l2=-1", &["parameter 'lambda_l2': -1 is out of range; use a value of at least 0"]),
        ("bagging_fraction=1.5", &["parameter 'bagging_fraction': 1.5 is out of range"]),
        ("bagging_fraction=0.5", &["no effect while bagging_freq is 0; set bagging_freq=1"]),
        ("sample=bagging", &["the size of the sample is not set; set bagging_fraction below 1"]),
        ("sample=some", &["parameter 'sample': invalid value 'some'; expected none|bagging|query-bagging"]),
        ("grow=sideways", &["parameter 'grow': invalid value 'sideways'; expected leafwise|levelwise|oblivious"]),
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
        ("metric=magic", &["parameter 'metric': invalid value 'magic'", "ndcg|dcg"]),
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
            &["unknown option '--data'; give the data without an option, see `rankwise train --help`"],
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
