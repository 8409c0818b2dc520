//! `rankwise eval`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rankwise::eval::{Interval, IntervalSpec, QueryValues, intervals};
use rankwise::metrics::{Evaluation, Measures, MetricName, MetricValues, Rules, RulesSpec};
use serde_json::json;

use crate::args::{Eval, Global};
use crate::failure::user;
use crate::mean_count::MeanCount;
use crate::output::Output;
use crate::system::{self, Judgements, Measured, Queries, StatedRules, System};
use crate::{comparison, files, mean_count, text};

pub(crate) fn run(args: &Eval, global: Global, output: Output) -> anyhow::Result<()> {
    let names = MetricName::parse_list(&args.metric)?;
    let mut spec = RulesSpec::default();
    args.rules.apply(&mut spec)?;
    let rules = Rules::new(&spec, global.seed.unwrap_or(0))?;
    let measures = Measures::new(&names, &rules)?;
    let system = match (&args.model, &args.scores, &args.run) {
        (Some(path), _, _) => System::Model(path.clone()),
        (_, Some(path), _) => System::Scores(path.clone()),
        (_, _, Some(path)) => System::Run(path.clone()),
        (None, None, None) => return Err(user("give --model, --scores or --run")),
    };
    let judgements = Judgements::new(args.data.as_deref(), &args.read, args.qrels.as_deref())?;
    let inputs = [judgements.path(), system.path()];
    files::check_inputs(&inputs)?;
    if let Some(path) = &args.per_query {
        if files::is_stream(path) {
            return Err(user("--per-query -: standard output takes the means; name a file"));
        }
        files::check_output(path, &inputs)?;
    }
    let stated = StatedRules::new(&rules, &names, std::slice::from_ref(&system));
    let Measured { queries, evaluations, mean_counts, seconds } =
        system::measure(&[system], judgements, &measures, args.trees, output)?;
    let evaluation = &evaluations[0];
    let counted: Vec<(String, MeanCount)> =
        evaluation.metrics.iter().map(|metric| metric.name.clone()).zip(mean_counts.into_iter().flatten()).collect();
    if let Some(path) = &args.per_query {
        files::write_text(path, &per_query_table(&queries, evaluation))?;
    }
    let metrics: BTreeMap<&str, Option<f64>> =
        evaluation.metrics.iter().map(|metric| (metric.name.as_str(), metric.mean)).collect();
    let intervals = means_intervals(&queries, evaluation, global.seed.unwrap_or(0));
    let by_name = evaluation.metrics.iter().zip(&intervals);
    output.result(
        &summary(evaluation, &intervals, &counted, &stated.text),
        &json!({
            "metrics": metrics,
            "intervals": by_name
                .map(|(metric, interval)| (metric.name.as_str(), comparison::interval_json(*interval)))
                .collect::<BTreeMap<_, _>>(),
            "confidence": IntervalSpec::default().confidence,
            "queries": queries.ids.len(),
            "means": counted.iter().map(|(name, count)| (name.as_str(), count.json())).collect::<BTreeMap<_, _>>(),
            "queries_without_relevant": queries.n_empty,
            "queries_without_results": queries.n_unanswered,
            "convention": stated.entries,
            "seconds": { "load": seconds.load, "measure": seconds.measure },
        }),
    )
}

/// Where the mean of each metric would lie with other queries of the same kind; what is one number over all documents has
/// no interval.
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
    let mut out = text::table(&rows);
    out.push_str(&mean_count::lines(counted));
    let _ = writeln!(out, "rules: {rules}");
    out
}

/// One line per query, tab-separated; a query that was left out has an empty cell.
fn per_query_table(queries: &Queries, evaluation: &Evaluation) -> String {
    let mut out = String::from("qid\tdocuments\tweight");
    // What is one number over all documents has no column.
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
