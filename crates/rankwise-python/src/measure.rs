//! Metrics of scores, and comparisons of systems.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::eval::CompareSpec;
use rankwise::metrics::{Rules, RulesSpec};
use rankwise::params::ParamGroup as _;
use rankwise::{compare_with, evaluate_with};

use crate::data::PyDataset;
use crate::error::exception;
use crate::pool::threads;

/// The name of a metric, its mean, and the value of each query.
type MeasuredMetric = (String, Option<f64>, Vec<Option<f64>>);

/// The rules of a dictionary of names and values.
fn rules(given: Vec<(String, String)>, seed: u64) -> PyResult<Rules> {
    let mut spec = RulesSpec::default();
    for (name, value) in given {
        if !spec.set(&name, &value).map_err(exception)? {
            let names = RulesSpec::table().into_iter().map(|info| info.name);
            let near = rankwise::params::nearest(&name, names.collect::<Vec<_>>());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
            return Err(pyo3::exceptions::PyTypeError::new_err(format!("unknown rule '{name}'{hint}")));
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
    let evaluation = py.detach(|| pool.install(|| evaluate_with(&data.data, scores, metrics, &rules)));
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
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyDict>> {
    let (pool, rules) = (threads(n_jobs)?, rules(rules_given, 0)?);
    let systems: Vec<(&str, &[f64])> =
        systems.iter().map(|(name, scores)| Ok((name.as_str(), scores.as_slice()?))).collect::<PyResult<_>>()?;
    let spec = CompareSpec::default();
    let compared =
        py.detach(|| pool.install(|| compare_with(&data.data, &systems, metrics, &rules, &spec))).map_err(exception)?;
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
    let result = PyDict::new(py);
    result.set_item("pairs", pairs)?;
    result.set_item("text", compared.to_string())?;
    Ok(result)
}
