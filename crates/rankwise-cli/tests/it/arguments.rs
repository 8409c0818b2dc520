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
        ("train train.txt extra --out m.json", &["extra: cannot open: there is no such file"]),
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
    let threads: &[&str] = &["for '--threads <N>': give an integer from 1 to 1024"];
    let seed: &[&str] = &["for '--seed <S>': give an integer from 0 to 18446744073709551615"];
    sandbox.all_refused(&[
        ("train train.txt --out m.json --threads 0", threads),
        ("--threads 99999 train train.txt --out m.json", threads),
        ("train train.txt --out m.json --threads two", threads),
        ("train train.txt --out m.json --threads -1", threads),
        ("train train.txt --out m.json --seed text", seed),
        ("train train.txt --out m.json --seed -1", seed),
        ("synth --rows 10 --out m.txt --seed 18446744073709551616", seed),
        ("synth --rows 0 --out m.txt", &["0 rows of synthetic data; ask for 1 to 1073741824"]),
        ("synth --rows 99999999999 --out m.txt", &["99999999999 rows of synthetic data; ask for 1 to"]),
        ("synth --rows 99999999999999999999999 --out m.txt", &["for '--rows <N>': give an integer"]),
        ("synth --rows many --out m.txt", &["invalid value 'many' for '--rows <N>': give an integer"]),
        ("synth --rows -5 --out m.txt", &["invalid value '-5' for '--rows <N>': give an integer"]),
        ("synth --rows 10 --features 0 --out m.txt", &["0 features of synthetic data; ask for 1 to 1000000"]),
        ("synth --rows 10 --preset news --out m.txt", &["invalid value 'news'", "give web|long|wide"]),
    ]);
    for shares in ["x", "0.5,0.6", "1,2,3", "0.2,0.2,0.2,0.4", "nan", "0.5,0,0.5", "1.5,-0.5", "", ","] {
        let args = ["synth", "--rows", "10", "--out", "parts", &format!("--split={shares}")];
        let parts = [
            &format!("--split '{shares}': ")[..],
            "give one to three positive shares that add up to 1, such as 0.6,0.2,0.2",
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
        ("num_leaves", &["--set num_leaves: it has no value; write KEY=VALUE"]),
        ("num_leaves=", &["parameter 'num_leaves': '' does not fit; give an integer, at least 2 and at most 131072"]),
        ("num_leaves=many", &["parameter 'num_leaves': 'many' does not fit; give an integer"]),
        ("max_leaves=3.5", &["parameter 'num_leaves': '3.5' does not fit; give an integer"]),
        ("num_leaves=1", &["parameter 'num_leaves': 1 is out of range; it must be at least 2 and at most 131072"]),
        ("max_bin=256", &["parameter 'max_bin': 256 is out of range"]),
        ("max_bin=-1", &["parameter 'max_bin': '-1' does not fit; give an integer, at least 2"]),
        ("num_trees=0", &["parameter 'num_trees': 0 is out of range"]),
        ("num_trees=99999999999999999999", &["does not fit; give an integer, at least 1 and at most 1000000"]),
        ("learning_rate=0", &["parameter 'learning_rate': 0 is out of range; it must be above 0 and at most 10"]),
        ("eta=nan", &["parameter 'learning_rate': NaN is out of range"]),
        ("eta=inf", &["parameter 'learning_rate': inf is out of range"]),
        ("lambda_l2=-1", &["parameter 'lambda_l2': -1 is out of range; it must be at least 0"]),
        ("bagging_fraction=1.5", &["parameter 'bagging_fraction': 1.5 is out of range"]),
        ("bagging_fraction=0.5", &["it has no effect while bagging_freq is 0; set bagging_freq=1"]),
        ("sample=bagging", &["a sample needs its share of the documents; set bagging_fraction below 1"]),
        ("sample=some", &["parameter 'sample': 'some' does not fit; give none|bagging|query-bagging"]),
        ("grow=sideways", &["parameter 'grow': 'sideways' does not fit; give leafwise|levelwise|oblivious"]),
        ("lambda_norm=perhaps", &["parameter 'lambda_norm': 'perhaps' does not fit; give true|false"]),
        (
            "monotone_constraints=3:2",
            &["parameter 'monotone_constraints': '3:2' does not fit; give a list of id:direction"],
        ),
        ("label_gain=0,x", &["parameter 'label_gain': '0,x' does not fit; give a list"]),
        ("label_gain=1,1", &["parameter 'label_gain': all gains are equal; give better labels larger gains"]),
        ("label_gain=0,-1", &["parameter 'label_gain': -1 is out of range; it must be at least 0"]),
        ("objective=magic", &["parameter 'objective': 'magic' does not fit; give lambdamart|lambdaloss|"]),
        ("metric=magic", &["parameter 'metric': 'magic' does not fit", "ndcg|dcg"]),
        ("absent=maybe", &["parameter 'absent': 'maybe' does not fit; give missing|zero"]),
        ("early_stopping_rounds=5", &["early stopping needs a validation set; give one with --valid"]),
    ];
    for (setting, parts) in cases {
        sandbox.refused(&["train", "train.txt", "--out", "m.json", "--set", setting], parts);
    }
    sandbox.all_refused(&[
        (
            "train train.txt --out m.json --set eta=0.1 --set learning_rate=0.2",
            &["parameter 'learning_rate' is given twice, as 'eta' and as 'learning_rate'; keep one"],
        ),
        ("train train.txt --out m.json --set eta=0.1 --set eta=0.1", &["'learning_rate' is given twice; keep one"]),
        (
            "train train.txt --out m.json --set grow=oblivious --set max_depth=30",
            &["parameter 'max_depth': an oblivious tree of depth 30 has 2^30 leaves; give at most 20"],
        ),
        (
            "train train.txt --out m.json --num-leaves 3",
            &["'--num-leaves' is a parameter of training; write `rankwise train ... --set num_leaves=VALUE`"],
        ),
    ]);
}

#[test]
fn samples_and_learners_that_do_not_go_together_are_refused() {
    let sandbox = Sandbox::with_data();
    let cases: [(&str, &str); 9] = [
        ("sample=goss top_rate=0.6 other_rate=0.5", "parameter 'other_rate': top_rate and other_rate are shares"),
        ("sample=goss bagging_fraction=0.5", "parameter 'bagging_fraction': the shares of sample=goss"),
        ("sample=mvs", "parameter 'sample': a sample needs its share of the documents; set bagging_fraction below 1"),
        ("sample=mvs subsample=0.5 bagging_freq=3", "parameter 'bagging_freq': sample=mvs goes by the gradients"),
        ("sample=negatives bagging_freq=1", "parameter 'bagging_freq': the share of sample=negatives is p_negatives"),
        ("learner=random-forest", "parameter 'learner': the trees of a random forest differ by their samples; set"),
        ("boosting=rf sample=goss", "parameter 'sample': the gradients and ranks of a random forest"),
        ("learner=dart langevin=true", "parameter 'model_shrink_rate': learner=dart decides what earlier trees count"),
        ("learner=dart step=exact", "parameter 'step': learner=dart decides what a tree counts; use step=shrinkage"),
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
            &["parameter 'objective': 'magic'", "give lambdamart|lambdaloss|"],
        ),
        (
            "train train.txt --out m.json --metric ndcg@0",
            &["metric 'ndcg@0': invalid cutoff; use an integer of at least 1"],
        ),
        (
            "train train.txt --out m.json --metric map,zebra",
            &["there is no metric 'zebra'; give a metric (ndcg|dcg|map|"],
        ),
        (
            "train train.txt --out m.json --ties luck",
            &["invalid value 'luck' for '--ties <VALUE>'", "worst|best|average|input|docid|random"],
        ),
        (
            "eval train.txt --model model.json --metric ndgc@10",
            &["there is no metric 'ndgc@10'; did you mean 'ndcg@10'?"],
        ),
        ("eval train.txt --model model.json --metric ndcg@10,", &["there is no metric ''; give a metric (ndcg|"]),
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
    sandbox.refused(&["train", "train.txt", "--out", "m.json", "--metric", ""], &["name at least one metric"]);
    sandbox.refused(
        &["eval", "train.txt", "--model", "model.json", "--metric", ""],
        &["there is no metric ''; give a metric (ndcg|dcg|map|mrr|"],
    );
}
