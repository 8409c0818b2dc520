//! Evaluates and compares scores in one call each.

use std::fmt;

use rankwise_data::Documents;
use rankwise_eval::{CompareSpec, Comparison, Pair, Table};
use rankwise_io::{Qrels, TrecRun};
use rankwise_metrics::{Evaluation, Evaluator, Measures, MetricName, Results, Rules};

use crate::{Error, JudgedRun, judge_run};

/// Evaluates scores in input order with metrics separated by commas, using the default rules.
///
/// ```
/// use rankwise::prelude::*;
///
/// let data = Dataset::from_dense(&[0.0; 3], 1).labels(&[0, 2, 1]).qids(&[1, 1, 1]).build()?;
/// let evaluation = evaluate(&data, &[0.3, 0.9, 0.1], "mrr,p@2")?;
/// assert_eq!(evaluation.mean("mrr"), Some(1.0));
/// assert_eq!(evaluation.to_string(), "mrr 1.0000, p@2 0.5000");
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn evaluate(data: &Documents, scores: &[f64], metrics: &str) -> Result<Evaluation, Error> {
    evaluate_with(data, scores, metrics, &Rules::default())
}

/// [`evaluate`] with other rules. Use an [`Evaluator`] for repeated evaluation or custom metrics.
pub fn evaluate_with(data: &Documents, scores: &[f64], metrics: &str, rules: &Rules) -> Result<Evaluation, Error> {
    Ok(Evaluator::new(data, &MetricName::parse_list(metrics)?, rules)?.evaluate(scores)?)
}

/// Compares systems by their scores for the same data, in input order: Fisher's randomisation test of all pairs,
/// two-sided, with Holm's correction and 95 % confidence intervals, using the default rules.
///
/// ```
/// use rankwise::prelude::*;
///
/// let data = Dataset::from_dense(&[0.0; 4], 1).labels(&[0, 1, 0, 1]).group_sizes(&[2, 2]).build()?;
/// let compared = compare(&data, &[("good", [1.0, 2.0, 1.0, 2.0]), ("poor", [2.0, 1.0, 1.0, 2.0])], "mrr")?;
/// let pair = compared.pair("good", "poor", "mrr").unwrap();
/// assert_eq!((pair.difference, pair.wins, pair.ties, pair.losses), (0.25, 1, 1, 0));
/// assert_eq!(compared.to_string(), "mrr: good 1.0000, poor 0.7500; good - poor +0.2500 (+0.0000 to +0.5000), p 1.0000, wins 1, ties 1, losses 0\n");
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn compare<S: AsRef<[f64]>>(data: &Documents, systems: &[(&str, S)], metrics: &str) -> Result<Compared, Error> {
    compare_with(data, systems, metrics, &Rules::default(), &CompareSpec::default())
}

/// [`compare`] with other rules and another test.
pub fn compare_with<S: AsRef<[f64]>>(
    data: &Documents,
    systems: &[(&str, S)],
    metrics: &str,
    rules: &Rules,
    spec: &CompareSpec,
) -> Result<Compared, Error> {
    let evaluator = Evaluator::new(data, &MetricName::parse_list(metrics)?, rules)?;
    let measured = systems.iter().map(|(name, scores)| {
        let evaluation = evaluator.evaluate(scores.as_ref());
        let evaluation = evaluation.map_err(|source| Error::System { system: (*name).to_owned(), source })?;
        Ok(((*name).to_owned(), evaluation))
    });
    let measured = measured.collect::<Result<Vec<_>, Error>>()?;
    let weights: Vec<f32> = data.queries().map(|query| query.weight).collect();
    let table = Table::new(data.queries().map(|query| query.id).collect(), &weights, measured)?;
    let comparison = Comparison::new(&table, spec, |_, _| {})?;
    Ok(Compared { table, comparison })
}

/// Evaluates a run by judgements. Returns the run as it was judged too: the evaluation is in the order of its queries.
///
/// ```
/// use rankwise::io::{Qrels, TrecRun};
/// use rankwise::metrics::Rules;
///
/// let qrels = Qrels::new([("q1", "d1", 1), ("q1", "d2", 0)], "qrels".as_ref())?;
/// let run = TrecRun::new([("q1", "d2", 0.8), ("q1", "d1", 0.5)], "run".as_ref())?;
/// let (_, evaluation) = rankwise::evaluate_run(&qrels, &run, "mrr", &Rules::default())?;
/// assert_eq!(evaluation.mean("mrr"), Some(0.5));
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn evaluate_run(
    qrels: &Qrels,
    run: &TrecRun,
    metrics: &str,
    rules: &Rules,
) -> Result<(JudgedRun, Evaluation), Error> {
    let judged = judge_run(run, qrels)?;
    let measures = Measures::new(&MetricName::parse_list(metrics)?, rules)?;
    let evaluation = measures.evaluate(&Results::Run(&judged.results))?;
    Ok((judged, evaluation))
}

/// [`compare_with`] for runs, by judgements.
pub fn compare_runs(
    qrels: &Qrels,
    runs: &[(&str, TrecRun)],
    metrics: &str,
    rules: &Rules,
    spec: &CompareSpec,
) -> Result<Compared, Error> {
    let measured = runs.iter().map(|(name, run)| {
        let (_, evaluation) = evaluate_run(qrels, run, metrics, rules).map_err(|error| match error {
            Error::Metric(source) => Error::System { system: (*name).to_owned(), source },
            error => error,
        })?;
        Ok(((*name).to_owned(), evaluation))
    });
    let measured = measured.collect::<Result<Vec<_>, Error>>()?;
    let weights = vec![1.0; qrels.n_queries()];
    let table = Table::new((0..qrels.n_queries()).map(|query| qrels.qid(query)).collect(), &weights, measured)?;
    let comparison = Comparison::new(&table, spec, |_, _| {})?;
    Ok(Compared { table, comparison })
}

/// The values by query, and the comparison.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The value of each metric for each system and query.
    pub table: Table,
    /// Means, differences, tests and confidence intervals. Systems, metrics and queries are indices into the table.
    pub comparison: Comparison,
}

impl Compared {
    /// The result of a metric for two systems, if they were compared in this order.
    pub fn pair(&self, a: &str, b: &str, metric: &str) -> Option<&Pair> {
        let names = self.table.names();
        self.comparison
            .pairs
            .iter()
            .find(|pair| names[pair.a] == a && names[pair.b] == b && self.table.metric(pair.metric) == metric)
    }
}

/// One line per pair and metric, with the confidence interval of the difference and the corrected p-value.
impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
        for pair in &self.comparison.pairs {
            let [a, b] = [pair.a, pair.b].map(|system| &self.table.names()[system]);
            let [of_a, of_b] = [pair.a, pair.b].map(|system| number(self.comparison.systems[system][pair.metric].mean));
            writeln!(
                f,
                "{}: {a} {of_a}, {b} {of_b}; {a} - {b} {:+.4}{}, p {}, wins {}, ties {}, losses {}",
                self.table.metric(pair.metric),
                pair.difference,
                pair.interval.map(|of| format!(" ({:+.4} to {:+.4})", of.low, of.high)).unwrap_or_default(),
                match pair.corrected {
                    Some(p) if p < 1e-4 => "< 0.0001".to_owned(),
                    p => number(p),
                },
                pair.wins,
                pair.ties,
                pair.losses
            )?;
        }
        Ok(())
    }
}
