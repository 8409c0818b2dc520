//! Metrics of scores, and comparisons of systems.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::eval::{Alternative, CompareSpec, IntervalSpec, PERMUTATIONS, RESAMPLES, Test};
use rankwise::io::{Qrels, TrecRun, TrecTable};
use rankwise::metrics::{MissingQueries, Rules, RulesSpec};
use rankwise::params::ParamGroup as _;
use rankwise::{Compared, JudgedRun, compare_with, evaluate_with};

use crate::data::PyDataset;
use crate::error::exception;
use crate::pool::threads;

/// The name of a metric, its mean, and the value of each query.
type MeasuredMetric = (String, Option<f64>, Vec<Option<f64>>);

/// The test, its number of permutations or resamples, whether it is one-sided, the baseline, the significance level and the
/// seed.
type CompareOptions = (String, Option<u32>, bool, Option<String>, f64, u64);

fn compare_spec((test, n_draws, is_one_sided, baseline, alpha, seed): CompareOptions) -> PyResult<CompareSpec> {
    let test = match (test.as_str(), n_draws) {
        ("fisher", n_draws) => Test::Fisher { permutations: n_draws.unwrap_or(PERMUTATIONS) },
        ("bootstrap", n_draws) => Test::Bootstrap { resamples: n_draws.unwrap_or(RESAMPLES) },
        ("t", None) => Test::T,
        ("wilcoxon", None) => Test::Wilcoxon,
        ("t" | "wilcoxon", Some(_)) => {
            return Err(PyValueError::new_err(format!("permutations: the test '{test}' uses no random draws")));
        }
        _ => {
            let problem = format!("test='{test}': expected 'fisher', 't', 'wilcoxon' or 'bootstrap'");
            return Err(PyValueError::new_err(problem));
        }
    };
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(PyValueError::new_err(format!("alpha={alpha}: expected a number between 0 and 1")));
    }
    let alternative = if is_one_sided { Alternative::FirstIsBetter } else { Alternative::Different };
    let intervals = IntervalSpec { confidence: 1.0 - alpha, seed, ..IntervalSpec::default() };
    Ok(CompareSpec { test, alternative, baseline, intervals, ..CompareSpec::default() })
}

/// The rules of a dictionary of names and values.
fn rules(given: Vec<(String, String)>, seed: u64) -> PyResult<Rules> {
    let mut spec = RulesSpec::default();
    for (name, value) in given {
        if !spec.set(&name, &value).map_err(exception)? {
            let names = RulesSpec::table().into_iter().map(|info| info.name);
            let near = rankwise::params::nearest(&name, names.collect::<Vec<_>>());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
            return Err(PyTypeError::new_err(format!("unknown rule '{name}'{hint}")));
        }
    }
    Rules::new(&spec, seed).map_err(exception)
}

/// Metrics of scores in input order: for each metric its name, its mean and the values of the queries in canonical order.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    data: &PyDataset,
    scores: PyReadonlyArray1<'_, f64>,
    metrics: &str,
    rules_given: Vec<(String, String)>,
    n_jobs: Option<isize>,
) -> PyResult<Vec<MeasuredMetric>> {
    let (pool, rules) = (threads(n_jobs)?, rules(rules_given, 0)?);
    let scores = scores.as_slice()?;
    let evaluation = py.detach(|| pool.install(|| evaluate_with(data.docs(), scores, metrics, &rules)));
    let metrics = evaluation.map_err(exception)?.metrics.into_iter();
    Ok(metrics.map(|metric| (metric.name, metric.mean, metric.per_query)).collect())
}

/// Compares systems by their scores in input order.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    data: &PyDataset,
    systems: Vec<(String, PyReadonlyArray1<'py, f64>)>,
    metrics: &str,
    rules_given: Vec<(String, String)>,
    options: CompareOptions,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyDict>> {
    let (pool, rules) = (threads(n_jobs)?, rules(rules_given, 0)?);
    let systems: Vec<(&str, &[f64])> =
        systems.iter().map(|(name, scores)| Ok((name.as_str(), scores.as_slice()?))).collect::<PyResult<_>>()?;
    let spec = compare_spec(options)?;
    let compared = py
        .detach(|| pool.install(|| compare_with(data.docs(), &systems, metrics, &rules, &spec)))
        .map_err(exception)?;
    described(py, &compared)
}

/// Metrics of a run by judgements, both as `{query: {document: value}}`: the ids of the judged queries, what [`evaluate`]
/// returns, and what is suspicious.
#[pyfunction]
pub(crate) fn evaluate_run(
    py: Python<'_>,
    qrels: &Bound<'_, PyDict>,
    run: &Bound<'_, PyDict>,
    metrics: &str,
    rules_given: Vec<(String, String)>,
    n_jobs: Option<isize>,
) -> PyResult<(Vec<String>, Vec<MeasuredMetric>, Vec<String>)> {
    let (pool, rules) = (threads(n_jobs)?, rules(rules_given, 0)?);
    let (qrels, run) = (judgements(qrels)?, results(run, "run")?);
    let evaluated = py.detach(|| pool.install(|| rankwise::evaluate_run(&qrels, &run, metrics, &rules)));
    let (judged, evaluation) = evaluated.map_err(exception)?;
    let metrics = evaluation.metrics.into_iter();
    let qids = judged.results.qids();
    let qids = (0..qids.len()).map(|query| qids.get(query).to_owned()).collect();
    let metrics = metrics.map(|metric| (metric.name, metric.mean, metric.per_query)).collect();
    Ok((qids, metrics, remarks(&judged, rules.missing_queries)))
}

/// What a run and its judgements do not share.
fn remarks(judged: &JudgedRun, missing: MissingQueries) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some((n_unknown, _)) = judged.unknown {
        remarks.push(format!("{n_unknown} of the queries in the run have no judgements and are ignored"));
    }
    if judged.n_unanswered > 0 {
        let counted = match missing {
            MissingQueries::Count => "count as empty lists",
            MissingQueries::Skip => "are ignored",
        };
        remarks.push(format!("{} of the judged queries have no results in the run and {counted}", judged.n_unanswered));
    }
    if judged.n_judged_docs == 0 {
        remarks.push("none of the documents in the run are judged; check the document ids".to_owned());
    }
    remarks
}

/// Compares runs by judgements.
#[pyfunction]
pub(crate) fn compare_runs<'py>(
    py: Python<'py>,
    qrels: &Bound<'py, PyDict>,
    runs: Vec<(String, Bound<'py, PyDict>)>,
    metrics: &str,
    rules_given: Vec<(String, String)>,
    options: CompareOptions,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyDict>> {
    let (pool, rules) = (threads(n_jobs)?, rules(rules_given, 0)?);
    let qrels = judgements(qrels)?;
    let runs = runs.iter().map(|(name, run)| Ok((name.as_str(), results(run, name)?)));
    let runs: Vec<(&str, TrecRun)> = runs.collect::<PyResult<_>>()?;
    let spec = compare_spec(options)?;
    let compared = py.detach(|| pool.install(|| rankwise::compare_runs(&qrels, &runs, metrics, &rules, &spec)));
    let described = described(py, &compared.map_err(exception)?)?;
    let mut found = Vec::new();
    for (name, run) in &runs {
        let judged = rankwise::judge_run(run, &qrels).map_err(exception)?;
        found.extend(remarks(&judged, rules.missing_queries).into_iter().map(|remark| format!("{name}: {remark}")));
    }
    described.set_item("remarks", found)?;
    Ok(described)
}

fn judgements(given: &Bound<'_, PyDict>) -> PyResult<Qrels> {
    let entries = entries(given, "qrels", |value| {
        let grade: f64 = value.extract()?;
        let is_grade = grade.fract() == 0.0 && grade.abs() <= f64::from(i32::MAX);
        let problem = || PyValueError::new_err(format!("the grade {grade}; expected an integer"));
        is_grade.then_some(grade as i32).ok_or_else(problem)
    })?;
    table(&entries, "qrels")
}

fn results(given: &Bound<'_, PyDict>, name: &str) -> PyResult<TrecRun> {
    let entries = entries(given, name, |value| {
        let score: f64 = value.extract()?;
        let problem = || PyValueError::new_err(format!("the score {score}; expected a finite number"));
        score.is_finite().then_some(score).ok_or_else(problem)
    })?;
    table(&entries, name)
}

fn table<T: Copy>(entries: &[(String, String, T)], name: &str) -> PyResult<TrecTable<T>> {
    let entries = entries.iter().map(|(qid, doc, value)| (qid.as_str(), doc.as_str(), *value));
    TrecTable::new(entries, name.as_ref()).map_err(exception)
}

/// (query, document, value) of a dictionary of dictionaries.
fn entries<T>(
    given: &Bound<'_, PyDict>,
    name: &str,
    value_of: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<(String, String, T)>> {
    let mut entries = Vec::new();
    for (qid, docs) in given {
        let qid = qid.str()?.to_string();
        let docs = docs.cast::<PyDict>().map_err(|_| {
            PyTypeError::new_err(format!("{name}['{qid}']: expected a dictionary of documents and numbers"))
        })?;
        for (doc, value) in docs {
            let doc = doc.str()?.to_string();
            let value = value_of(&value).map_err(|error| {
                let problem = format!("{name}['{qid}']['{doc}']: {}", error.value(given.py()));
                if error.is_instance_of::<PyTypeError>(given.py()) {
                    PyTypeError::new_err(problem)
                } else {
                    PyValueError::new_err(problem)
                }
            })?;
            entries.push((qid.clone(), doc, value));
        }
    }
    Ok(entries)
}

/// A comparison as a dictionary.
pub(crate) fn described<'py>(py: Python<'py>, compared: &Compared) -> PyResult<Bound<'py, PyDict>> {
    let (table, comparison) = (&compared.table, &compared.comparison);
    let pairs: Vec<Bound<'py, PyDict>> = comparison
        .pairs
        .iter()
        .map(|pair| {
            let row = PyDict::new(py);
            row.set_item("metric", table.metric(pair.metric))?;
            row.set_item("a", &table.names()[pair.a])?;
            row.set_item("b", &table.names()[pair.b])?;
            row.set_item("mean_a", comparison.systems[pair.a][pair.metric].mean)?;
            row.set_item("mean_b", comparison.systems[pair.b][pair.metric].mean)?;
            row.set_item("difference", pair.difference)?;
            row.set_item("interval", pair.interval.map(|interval| (interval.low, interval.high)))?;
            row.set_item("effect", pair.effect)?;
            row.set_item("p_value", pair.p_value)?;
            row.set_item("p_corrected", pair.corrected)?;
            row.set_item("wins", pair.wins)?;
            row.set_item("ties", pair.ties)?;
            row.set_item("losses", pair.losses)?;
            Ok(row)
        })
        .collect::<PyResult<_>>()?;
    let mut systems = Vec::new();
    for (system, summaries) in comparison.systems.iter().enumerate() {
        for (metric, summary) in summaries.iter().enumerate() {
            let row = PyDict::new(py);
            row.set_item("system", &table.names()[system])?;
            row.set_item("metric", table.metric(metric))?;
            row.set_item("mean", summary.mean)?;
            row.set_item("interval", summary.interval.map(|interval| (interval.low, interval.high)))?;
            row.set_item("queries", summary.n_queries)?;
            systems.push(row);
        }
    }
    let result = PyDict::new(py);
    result.set_item("systems", systems)?;
    result.set_item("pairs", pairs)?;
    result.set_item("text", compared.to_string())?;
    Ok(result)
}
