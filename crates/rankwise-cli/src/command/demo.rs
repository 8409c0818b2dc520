//! `rankwise demo`: the whole path, on data that it generates.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::data::{Absent, Dataset};
use rankwise::io::read_dataset;
use rankwise::metrics::{Evaluator, MetricName, Rules, Ties};
use rankwise::params::ParamValue as _;
use rankwise::train::{TrainSpec, ValidSet, train};
use serde_json::json;

use super::synth::{SPLIT_FILES, write_split};
use crate::args::{Demo, Global};
use crate::failure::user;
use crate::output::Output;
use crate::progress::Watch;
use crate::{files, text};

/// Enough for a ranker that clearly beats the baselines, few enough for a minute on two cores.
const ROWS: usize = 60_000;
const SHARES: [f64; 3] = [0.6, 0.2, 0.2];
const METRIC: &str = "ndcg@10";

pub(crate) fn run(args: &Demo, global: Global, output: Output) -> anyhow::Result<()> {
    let started = Instant::now();
    let seed = global.seed.unwrap_or(0);
    output.remark(&format!(
        "1. generating {} web-search documents in {}",
        text::thousands(ROWS as u64),
        args.out.display()
    ));
    let synth = SynthSpec { preset: Preset::Web, rows: ROWS, features: None, seed }.check()?;
    write_split(&synth, seed, &SHARES, &args.out)?;
    let read = |name: &str| read_dataset(&args.out.join(name), Absent::Missing);
    let [train_data, valid_data, test_data] = [read(SPLIT_FILES[0])?, read(SPLIT_FILES[1])?, read(SPLIT_FILES[2])?];

    let mut spec = TrainSpec::default();
    spec.boosting.seed = seed;
    spec.set_all([
        ("num_trees", "150"),
        ("num_leaves", "31"),
        ("min_data_in_leaf", "50"),
        ("early_stopping_rounds", "20"),
    ])?;
    let params = spec.check()?;
    output.remark(&format!(
        "2. training LambdaMART on {}, watching {METRIC} on {} others",
        text::count(train_data.n_queries(), "query"),
        valid_data.n_queries()
    ));
    let mut watch = Watch::new(output, 0, params.boosting().num_trees);
    let valid = [ValidSet { name: SPLIT_FILES[1], data: &valid_data }];
    let trained = train(&params, &train_data, &valid, &mut watch);
    watch.finish();
    let trained = trained?;
    let model_path = args.out.join("model.json");
    files::write_text(&model_path, &trained.model.to_json())?;

    output.remark(&format!("3. measuring on {} that no ranker has seen", text::count(test_data.n_queries(), "query")));
    let rankers = compare(&train_data, &test_data, &trained.model, params.rules())?;
    let seconds = started.elapsed().as_secs_f64();
    let json = json!({
        "folder": args.out.display().to_string(),
        "model": model_path.display().to_string(),
        "rankers": rankers.iter().map(|(name, value)| json!({ "name": name, METRIC: value })).collect::<Vec<_>>(),
        "seconds": seconds,
    });
    output.result(&report(&rankers, &args.out, seconds, params.rules()), &json)
}

/// The rankers of the demo with their values on the test queries, worst first by design.
fn compare(
    train_data: &Dataset,
    test: &Dataset,
    model: &rankwise::model::Model,
    rules: &Rules,
) -> anyhow::Result<Vec<(String, f64)>> {
    let metric = MetricName::parse(METRIC).expect("a metric");
    let value = |scores: &[f64], rules: &Rules| -> anyhow::Result<f64> {
        let evaluation = Evaluator::new(test, std::slice::from_ref(&metric), rules)?.evaluate(scores)?;
        evaluation.metrics[0].mean.ok_or_else(|| user("there are no test queries to measure"))
    };
    // All scores equal, averaged over ties: exactly what random orders give on average.
    let average = Rules { ties: Ties::Average, ..rules.clone() };
    let mut rankers = vec![("random order".to_owned(), value(&vec![0.0; test.n_rows()], &average)?)];
    if let Some(best) = rankwise::best_feature(train_data, &metric, rules)? {
        let direction = if best.is_ascending { "" } else { ", ascending" };
        let name = format!("best single feature (number {}{direction})", best.feature);
        rankers.push((name, value(&best.scores(test), rules)?));
    }
    let name = format!("LambdaMART, {}", text::count(model.trees.len(), "tree"));
    rankers.push((name, value(&rankwise::predict(model, test), rules)?));
    Ok(rankers)
}

fn report(rankers: &[(String, f64)], folder: &Path, seconds: f64, rules: &Rules) -> String {
    let mut rows = vec![vec!["ranker".to_owned(), METRIC.to_owned()]];
    rows.extend(rankers.iter().map(|(name, value)| vec![name.clone(), format!("{value:.4}")]));
    let program = program_name();
    let file = |name: &str| quoted(&folder.join(name).display().to_string());
    let [train, vali, test] = SPLIT_FILES.map(file);
    let model = file("model.json");
    format!(
        "\n{}rules: {}\n\nDone in {seconds:.0} s. Data and model are in {}. Try next:\n\n  \
         {program} inspect {model}\n  \
         {program} eval {test} --model {model} --metric ndcg@1,ndcg@5,ndcg@10\n  \
         {program} predict {model} {test} --format run --out {run}\n  \
         {program} train {train} --valid {vali} --set num_leaves=63 --set learning_rate=0.05 --out {better}\n",
        text::table(&rows),
        rules.describe(&[MetricName::parse(METRIC).expect("a metric")]),
        folder.display(),
        run = file("test.run"),
        better = file("model-63.json"),
    )
}

/// How to call this program from here: by its path where it lies below the current folder.
fn program_name() -> String {
    let below = || -> Option<PathBuf> {
        let exe = std::env::current_exe().ok()?;
        exe.strip_prefix(std::env::current_dir().ok()?).ok().map(Path::to_path_buf)
    };
    below().map_or_else(|| "rankwise".into(), |path| quoted(&path.display().to_string()))
}

/// A path as it can be pasted into a shell.
fn quoted(path: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/\\._-+:~@%".contains(char);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
