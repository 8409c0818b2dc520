//! `rankwise eval`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rankwise::data::{Absent, Dataset};
use rankwise::io::read_scores;
use rankwise::metrics::{Evaluation, Evaluator, MetricName, Rules, RulesSpec};
use rankwise::params::{ParamError, ParamValue as _};
use serde_json::json;

use crate::args::{Eval, Global};
use crate::failure::user;
use crate::output::Output;
use crate::{files, text};

pub(crate) fn run(args: &Eval, global: Global, output: Output) -> anyhow::Result<()> {
    let names = parse_metrics(&args.metric)?;
    let mut spec = RulesSpec::default();
    args.rules.apply(&mut spec)?;
    let rules = Rules::new(&spec, global.seed.unwrap_or(0))?;
    let inputs: Vec<&Path> = [Some(&args.data), args.model.as_ref(), args.scores.as_ref()]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    files::check_inputs(&inputs)?;
    if let Some(path) = &args.per_query {
        if files::is_stream(path) {
            return Err(user("--per-query -: standard output takes the means; name a file"));
        }
        files::check_output(path, &inputs)?;
    }
    let (data, scores) = read_system(args, output)?;
    let evaluation = Evaluator::new(&data, &names, &rules)
        .and_then(|evaluator| evaluator.evaluate(&scores))
        .map_err(|error| user(format!("{}: {error}", files::shown(&args.data))))?;
    if let Some(path) = &args.per_query {
        files::write_text(path, &per_query_table(&data, &evaluation))?;
    }
    let n_empty = count_empty(&data, &rules);
    let metrics: BTreeMap<&str, Option<f64>> =
        evaluation.metrics.iter().map(|metric| (metric.name.as_str(), metric.mean)).collect();
    output.result(
        &summary(&data, &evaluation, &rules, n_empty),
        &json!({
            "metrics": metrics,
            "queries": data.n_queries(),
            "queries_without_relevant": n_empty,
            "convention": rules.entries().into_iter().collect::<BTreeMap<_, _>>(),
        }),
    )
}

pub(crate) fn parse_metrics(list: &str) -> Result<Vec<MetricName>, ParamError> {
    let names: Option<Vec<MetricName>> = Vec::parse(list).filter(|names: &Vec<MetricName>| !names.is_empty());
    names.ok_or_else(|| ParamError::Value {
        name: "metric".into(),
        value: list.into(),
        expected: Vec::<MetricName>::kind(),
    })
}

/// The documents, and a score for each in canonical order.
fn read_system(args: &Eval, output: Output) -> anyhow::Result<(Dataset, Vec<f64>)> {
    if let Some(path) = &args.model {
        let model = files::read_model(path)?;
        let data = files::read_data_for(&model, &args.data, &args.read, files::Labels::Needed)?;
        files::warn_of_strangers(&model, &data, &args.data, output);
        let scores = rankwise::predict(&model, &data);
        return Ok((data, scores));
    }
    let path = args.scores.as_ref().ok_or_else(|| user("give --model or --scores"))?;
    let data = files::read_data(&args.data, &args.read.options(Absent::Missing))?;
    let scores = read_scores(path)?;
    if scores.len() != data.n_rows() {
        return Err(user(format!(
            "{}: {} for {} of {}; give one score for each row, in the same order",
            files::shown(path),
            text::count(scores.len(), "score"),
            text::count(data.n_rows(), "row"),
            files::shown(&args.data)
        )));
    }
    let scores = data.from_input_order(&scores);
    Ok((data, scores))
}

fn count_empty(data: &Dataset, rules: &Rules) -> usize {
    data.queries().filter(|query| query.labels.iter().all(|label| rules.gain.of(*label) == 0.0)).count()
}

fn summary(data: &Dataset, evaluation: &Evaluation, rules: &Rules, n_empty: usize) -> String {
    let mut rows = vec![vec!["metric".into(), "mean".into()]];
    rows.extend(evaluation.metrics.iter().map(|metric| vec![metric.name.clone(), text::mean(metric.mean)]));
    let mut out = text::table(&rows);
    let _ = writeln!(out, "over {}; {} without relevant documents", text::count(data.n_queries(), "query"), n_empty);
    let _ = writeln!(out, "rules: {}", rules.describe());
    out
}

/// One line per query, tab-separated; a query that was left out has an empty cell.
fn per_query_table(data: &Dataset, evaluation: &Evaluation) -> String {
    let mut out = String::from("qid\tdocuments");
    for metric in &evaluation.metrics {
        let _ = write!(out, "\t{}", metric.name);
    }
    out.push('\n');
    for (idx, query) in data.queries().enumerate() {
        let _ = write!(out, "{}\t{}", query.id, query.n_docs());
        for metric in &evaluation.metrics {
            let value = metric.per_query[idx].map_or_else(String::new, |value| value.to_string());
            let _ = write!(out, "\t{value}");
        }
        out.push('\n');
    }
    out
}
