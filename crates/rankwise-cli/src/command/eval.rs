//! `rankwise eval`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use rankwise::eval::{Interval, IntervalSpec, QueryValues, intervals};
use rankwise::metrics::{Evaluation, MetricName, MetricValues, Rules, RulesSpec};
use serde_json::json;

use crate::args::{Eval, Global};
use crate::data_paths::DataPaths;
use crate::failure::user;
use crate::mean_count::MeanCount;
use crate::output::Output;
use crate::record::FileKind;
use crate::report::{EvaluationPage, Facts, Judged, Parameters, Rankings};
use crate::system::{self, Judgements, Measured, Queries, StatedRules, System};
use crate::{comparison, files, mean_count, reading, text};

pub(crate) fn run(args: &Eval, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "measure"]);
    let names = MetricName::parse_list(&args.metric)?;
    let mut spec = RulesSpec::default();
    args.rules.apply(&mut spec)?;
    let rules = Rules::new(&spec, global.seed.unwrap_or(0))?;
    let systems = systems_of(args);
    let paths = DataPaths::find(&args.data)?;
    let judgements = Judgements::new(paths.if_any(), &args.read, args.qrels.as_deref())?;
    let inputs: Vec<&Path> = judgements.inputs().into_iter().chain(systems.iter().filter_map(System::path)).collect();
    files::check_inputs(&inputs)?;
    if let Some(path) = &args.per_query {
        if files::is_stream(path) {
            return Err(user("--per-query -: standard output is used for the means; give a file name"));
        }
        if systems.len() > 1 {
            return Err(user("--per-query: eval supports one system only; use compare for several"));
        }
        files::check_output(path, &inputs)?;
    }
    args.report.check(&inputs, &[("--per-query", args.per_query.as_deref())])?;
    let stated = StatedRules::new(&rules, &names, &systems);
    let has_runs = systems.iter().any(|system| matches!(system, System::Run(_)));
    let mut rankings = args.report.is_wanted().then(|| Rankings::new(systems.len(), has_runs));
    let Measured { queries, evaluations, mean_counts, report, mut models } =
        system::measure(&systems, judgements, &names, &rules, args.trees, output, rankings.as_mut())?;
    let evaluation = &evaluations[0];
    let names = System::names(&systems);
    let of_models = systems.iter().zip(&names).filter(|(system, _)| matches!(system, System::Model(_)));
    models.iter_mut().zip(of_models).for_each(|(model, (_, name))| model.name.clone_from(name));
    let seed = global.seed.unwrap_or(0);
    if let Some(rankings) = &rankings {
        let page = EvaluationPage {
            names: &names,
            evaluations: &evaluations,
            intervals_of: evaluations.iter().map(|each| means_intervals(&queries, each, seed)).collect(),
            counted: counted(&names, &evaluations, &mean_counts),
            queries: &queries,
            intervals: IntervalSpec { seed, ..IntervalSpec::default() },
            judged: Judged { rankings, n_docs: &queries.n_docs },
            models: &models,
            facts: Facts {
                place: files::shown(judgements.path()),
                n_queries: queries.ids.len(),
                data: rankings.data.clone(),
            },
            rules: &stated,
            parameters: Parameters::default().with("metric", &args.metric).with("seed", &seed),
        };
        args.report.write_and_tell(&page.page(), output)?;
    }
    if systems.len() > 1 {
        let json = json!({
            "systems": systems_json(&names, &evaluations, &mean_counts),
            "queries": queries.ids.len(),
            "queries_without_relevant": queries.n_empty,
            "metric_names": stated.metric_names,
            "convention": stated.entries,
            "data": report.as_ref().map(reading::to_json),
        });
        return output.result(&systems_table(&names, &evaluations, &mean_counts, &stated.text), json);
    }
    let counted = counted(&names, &evaluations, &mean_counts);
    let intervals = means_intervals(&queries, evaluation, seed);
    if let Some(path) = &args.per_query {
        output.write_text(path, FileKind::PerQuery, &per_query_table(&queries, evaluation))?;
    }
    let metrics: BTreeMap<&str, Option<f64>> =
        evaluation.metrics.iter().map(|metric| (metric.name.as_str(), metric.mean)).collect();
    let by_name = evaluation.metrics.iter().zip(&intervals);
    output.result(
        &summary(evaluation, &intervals, &counted, &stated.text),
        json!({
            "metrics": metrics,
            "metric_names": stated.metric_names,
            "intervals": by_name
                .map(|(metric, interval)| (metric.name.as_str(), comparison::interval_json(*interval)))
                .collect::<BTreeMap<_, _>>(),
            "confidence": IntervalSpec::default().confidence,
            "queries": queries.ids.len(),
            "means": counted.iter().map(|(name, count)| (name.as_str(), count.json())).collect::<BTreeMap<_, _>>(),
            "queries_without_relevant": queries.n_empty,
            "queries_without_results": queries.n_unanswered,
            "convention": stated.entries,
            "data": report.as_ref().map(reading::to_json),
        }),
    )
}

/// The systems as typed: models and features in order, or scores, or a run.
fn systems_of(args: &Eval) -> Vec<System> {
    let models = args.model.iter().cloned().map(System::Model);
    let features = args.feature.iter().cloned().map(System::Feature);
    let scores = args.scores.iter().cloned().map(System::Scores);
    models.chain(features).chain(scores).chain(args.run.iter().cloned().map(System::Run)).collect()
}

/// A row for each system, a column for each metric, below a head.
fn system_rows(names: &[String], evaluations: &[Evaluation]) -> Vec<Vec<String>> {
    let mut head = vec!["system".to_owned()];
    head.extend(evaluations[0].metrics.iter().map(|metric| metric.name.clone()));
    let mut rows = vec![head];
    for (name, evaluation) in names.iter().zip(evaluations) {
        let means = evaluation.metrics.iter().map(|metric| text::mean(metric.mean));
        rows.push(std::iter::once(name.clone()).chain(means).collect());
    }
    rows
}

/// The queries behind each mean, with the metric and, if there are several, the system.
fn counted(names: &[String], evaluations: &[Evaluation], counts: &[Vec<MeanCount>]) -> Vec<(String, MeanCount)> {
    let of_system =
        |(name, (evaluation, counts)): (&String, (&Evaluation, &Vec<MeanCount>))| -> Vec<(String, MeanCount)> {
            let named = |metric: &MetricValues| match names.len() {
                1 => metric.name.clone(),
                _ => format!("{name}, {}", metric.name),
            };
            evaluation.metrics.iter().zip(counts).map(|(metric, count)| (named(metric), *count)).collect()
        };
    names.iter().zip(evaluations.iter().zip(counts)).flat_map(of_system).collect()
}

fn systems_table(names: &[String], evaluations: &[Evaluation], counts: &[Vec<MeanCount>], rules: &str) -> String {
    let counted = counted(names, evaluations, counts);
    format!("{}{}rules: {rules}\n", text::table(&system_rows(names, evaluations)), mean_count::lines(&counted))
}

fn systems_json(names: &[String], evaluations: &[Evaluation], counts: &[Vec<MeanCount>]) -> Vec<serde_json::Value> {
    let of_system = |(name, (evaluation, counts)): (&String, (&Evaluation, &Vec<MeanCount>))| {
        let metrics: BTreeMap<&str, Option<f64>> =
            evaluation.metrics.iter().map(|metric| (metric.name.as_str(), metric.mean)).collect();
        let each = evaluation.metrics.iter().zip(counts);
        let means: BTreeMap<&str, _> = each.map(|(metric, count)| (metric.name.as_str(), count.json())).collect();
        json!({ "name": name, "metrics": metrics, "means": means })
    };
    names.iter().zip(evaluations.iter().zip(counts)).map(of_system).collect()
}

/// The confidence interval of each metric's mean; metrics over all documents have none.
fn means_intervals(queries: &Queries, evaluation: &Evaluation, seed: u64) -> Vec<Option<Interval>> {
    let weights: Vec<f64> = queries.weights.iter().copied().map(f64::from).collect();
    let sample = |metric: &MetricValues| {
        if metric.is_pooled { QueryValues::new(&[], &[]) } else { QueryValues::new(&metric.per_query, &weights) }
    };
    let samples: Vec<QueryValues> = evaluation.metrics.iter().map(sample).collect();
    intervals(&samples.iter().collect::<Vec<_>>(), &IntervalSpec { seed, ..IntervalSpec::default() })
}

fn summary(
    evaluation: &Evaluation,
    intervals: &[Option<Interval>],
    counted: &[(String, MeanCount)],
    rules: &str,
) -> String {
    let title = comparison::interval_title(IntervalSpec::default().confidence);
    let mut rows = vec![vec!["metric".into(), "mean".into(), title]];
    let each = evaluation.metrics.iter().zip(intervals);
    rows.extend(
        each.map(|(metric, interval)| {
            vec![metric.name.clone(), text::mean(metric.mean), comparison::interval(*interval)]
        }),
    );
    format!("{}{}rules: {rules}\n", text::table(&rows), mean_count::lines(counted))
}

/// One tab-separated line per query; skipped queries have empty cells.
fn per_query_table(queries: &Queries, evaluation: &Evaluation) -> String {
    let mut out = String::from("qid\tdocuments\tweight");
    // Metrics over all documents have no column.
    let metrics: Vec<_> = evaluation.metrics.iter().filter(|metric| !metric.is_pooled).collect();
    for metric in &metrics {
        let _ = write!(out, "\t{}", metric.name);
    }
    out.push('\n');
    for (idx, id) in queries.ids.iter().enumerate() {
        let _ = write!(out, "{id}\t{}\t{}", queries.n_docs[idx], queries.weights[idx]);
        for metric in &metrics {
            let value = metric.per_query[idx].map_or_else(String::new, |value| value.to_string());
            let _ = write!(out, "\t{value}");
        }
        out.push('\n');
    }
    out
}
