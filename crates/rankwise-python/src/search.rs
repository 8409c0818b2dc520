//! Cross-validation and searches. They run on threads of their own, while the thread that called passes on what they
//! report and notices signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rankwise::data::Documents;
use rankwise::eval::{CompareSpec, IntervalSpec, Summary};
use rankwise::train::TrainParams;
use rankwise::tune::{
    Auto, AutoRanker, AutoWatch, Budget, CrossValidated, CrossValidation, CvSystem, DimensionSpec, Folds, Rotation,
    Search, Space, Stopping, TestedOn, Trial, TrialResult, Tried, TriedResult, TuneWatch, Tuning, Values, Watch,
};
use rankwise::{Compared, tune};

use crate::data::PyDataset;
use crate::error::exception;
use crate::measure::described;
use crate::model::PyModel;
use crate::params::{as_typed, checked, spec};
use crate::pool::threads;
use crate::train::{SIGNAL_PERIOD, signals};

/// One finished job of a search.
struct Report {
    /// Its number from 0; `None` for the default of `tune`.
    number: Option<usize>,
    name: String,
    /// "trained", "dropped" or "failed".
    outcome: &'static str,
    value: Option<f64>,
    rounds: Option<usize>,
    problem: Option<String>,
}

impl Report {
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("number", self.number)?;
        row.set_item("name", &self.name)?;
        row.set_item("outcome", self.outcome)?;
        row.set_item("value", self.value)?;
        row.set_item("rounds", self.rounds)?;
        row.set_item("problem", self.problem.as_deref())?;
        Ok(row)
    }

    fn of_tried(number: usize, tried: &Tried) -> Self {
        let (outcome, value, rounds, problem) = match &tried.result {
            TriedResult::Trained { value, rounds, .. } => ("trained", Some(*value), Some(*rounds), None),
            TriedResult::Dropped { value, rounds } => ("dropped", Some(*value), Some(*rounds), None),
            TriedResult::Failed { problem } => ("failed", None, None, Some(problem.clone())),
        };
        Self { number: Some(number), name: tried.name.clone(), outcome, value, rounds, problem }
    }

    fn of_trial(number: Option<usize>, trial: &Trial) -> Self {
        let (outcome, value, rounds, problem) = match &trial.result {
            TrialResult::Finished { value, rounds } => ("trained", Some(*value), Some(*rounds), None),
            TrialResult::Stopped { value, rounds } => ("dropped", Some(*value), Some(*rounds), None),
            TrialResult::Failed { problem } => ("failed", None, None, Some(problem.clone())),
        };
        let settings: Vec<String> = trial.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let name = if number.is_some() { settings.join(" ") } else { "default".to_owned() };
        Self { number, name, outcome, value, rounds, problem }
    }
}

/// Stops a search, and sends what it reports to the thread that called.
struct Watched {
    is_stopped: AtomicBool,
    reports: Sender<Report>,
}

impl Watch for Watched {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

impl AutoWatch for Watched {
    fn step_done(&self, step: usize, tried: &Tried) {
        let _ = self.reports.send(Report::of_tried(step, tried));
    }
}

impl TuneWatch for Watched {
    fn trial_done(&self, number: Option<usize>, trial: &Trial) {
        let _ = self.reports.send(Report::of_trial(number, trial));
    }
}

/// Runs a search on threads. `callback` gets each report as a dictionary. Returns the result, and whether Ctrl-C stopped
/// it; other exceptions are raised.
fn run<T: Send>(
    py: Python<'_>,
    n_jobs: Option<isize>,
    callback: Option<Bound<'_, PyAny>>,
    search: impl FnOnce(&Watched) -> T + Send,
) -> PyResult<(T, bool)> {
    let pool = threads(n_jobs)?;
    let callback = callback.map(Bound::unbind);
    let (found, raised) = py.detach(|| {
        let (reports, received) = channel();
        let watched = Watched { is_stopped: AtomicBool::new(false), reports };
        let (done, is_done) = channel();
        let mut found = None;
        let raised = pool.in_place_scope(|scope| {
            let (found, watched) = (&mut found, &watched);
            scope.spawn(move |_| {
                *found = Some(search(watched));
                let _ = done.send(());
            });
            serve(&received, &is_done, &watched.is_stopped, callback.as_ref())
        });
        (found, raised)
    });
    let is_interrupted = raised.is_some();
    match raised {
        Some(error) if !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) => Err(error),
        _ => {
            let found = found.ok_or_else(|| PyRuntimeError::new_err("internal error: this is a bug in rankwise"))?;
            Ok((found, is_interrupted))
        }
    }
}

/// Passes on reports until the search is over. Returns the first exception.
fn serve(
    received: &Receiver<Report>,
    is_done: &Receiver<()>,
    is_stopped: &AtomicBool,
    callback: Option<&Py<PyAny>>,
) -> Option<PyErr> {
    let mut raised = None;
    loop {
        let is_over = !matches!(is_done.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty));
        let wait = if is_over { Duration::ZERO } else { SIGNAL_PERIOD };
        let result = match received.recv_timeout(wait) {
            Ok(report) if raised.is_none() => Python::attach(|py| {
                py.check_signals()?;
                let Some(callback) = callback else { return Ok(()) };
                callback.bind(py).call1((report.to_dict(py)?,)).map(|_| ())
            }),
            Ok(_) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return raised,
            Err(RecvTimeoutError::Timeout) if is_over => return raised,
            Err(RecvTimeoutError::Timeout) => signals(),
        };
        if let Err(error) = result {
            raised.get_or_insert(error);
            is_stopped.store(true, Ordering::Relaxed);
        }
    }
}

/// Trains a portfolio of models and combines them. The budget is a time in seconds or a number of models.
///
/// Returns the model and a dictionary of what was tried and what it is worth.
#[pyfunction]
#[pyo3(signature = (params, data, valid, budget, refit=None, callback=None, n_jobs=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn auto<'py>(
    py: Python<'py>,
    params: &Bound<'py, PyDict>,
    data: &PyDataset,
    valid: Option<PyRef<'py, PyDataset>>,
    budget: (Option<f64>, Option<usize>),
    refit: Option<PyRef<'py, PyDataset>>,
    callback: Option<Bound<'py, PyAny>>,
    n_jobs: Option<isize>,
) -> PyResult<(PyModel, Bound<'py, PyDict>)> {
    let spec = spec(params)?;
    let budget = match budget {
        (Some(_), Some(_)) => return Err(PyValueError::new_err("give time or steps, not both")),
        (_, Some(0)) => return Err(PyValueError::new_err("steps=0: expected at least 1")),
        (_, Some(steps)) => Budget::Steps(steps),
        (seconds, None) => {
            let seconds = seconds.unwrap_or(60.0);
            let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
            let problem = || PyValueError::new_err(format!("time={seconds}: expected a positive number of seconds"));
            Budget::Time(time.ok_or_else(problem)?)
        }
    };
    let (data, valid) = (data.values()?, valid.as_ref().map(|valid| valid.values()).transpose()?);
    let refit = refit.as_ref().map(|all| all.values()).transpose()?;
    let search = Auto { data, valid, spec: &spec, budget, refit };
    let (found, is_interrupted) = run(py, n_jobs, callback, |watched| tune::auto(&search, watched, &()))?;
    let found: AutoRanker = match found {
        Err(_) if is_interrupted => return Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(())),
        found => found.map_err(exception)?,
    };
    let facts = PyDict::new(py);
    let tried = found.tried.iter().enumerate().map(|(step, tried)| {
        let row = Report::of_tried(step, tried).to_dict(py)?;
        let factor = match tried.result {
            TriedResult::Trained { factor, .. } => factor,
            _ => None,
        };
        row.set_item("factor", factor)?;
        Ok(row)
    });
    facts.set_item("tried", tried.collect::<PyResult<Vec<_>>>()?)?;
    let rungs = found.rungs.iter().map(|rung| {
        let row = PyDict::new(py);
        row.set_item("name", &rung.name)?;
        set_summary(&row, "mean", "interval", Some(&rung.summary))?;
        set_summary(&row, "gain", "gain_interval", rung.gain.as_ref())?;
        Ok(row)
    });
    facts.set_item("estimates", rungs.collect::<PyResult<Vec<_>>>()?)?;
    facts.set_item("n_train_queries", found.n_train_queries)?;
    facts.set_item("n_valid_queries", found.n_valid_queries)?;
    set_summary(&facts, "last_doubling", "last_doubling_interval", found.last_doubling.as_ref())?;
    facts.set_item("interrupted", is_interrupted)?;
    Ok((PyModel::new(found.model), facts))
}

fn set_summary(row: &Bound<'_, PyDict>, mean: &str, interval: &str, summary: Option<&Summary>) -> PyResult<()> {
    row.set_item(mean, summary.and_then(|summary| summary.mean))?;
    let bounds = summary.and_then(|summary| summary.interval).map(|interval| (interval.low, interval.high));
    row.set_item(interval, bounds)
}

/// Cross-validates systems, given by name and parameters, on the same folds: a number, or a fold for each row.
#[pyfunction]
#[pyo3(signature = (systems, data, folds, rotate=false, seed=0, n_jobs=None))]
pub(crate) fn cross_validate<'py>(
    py: Python<'py>,
    systems: Vec<(String, Bound<'py, PyDict>)>,
    data: &PyDataset,
    folds: &Bound<'py, PyAny>,
    rotate: bool,
    seed: u64,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyDict>> {
    let params: Vec<TrainParams> =
        systems.iter().map(|(_, params)| checked(params)).collect::<PyResult<Vec<TrainParams>>>()?;
    let systems: Vec<CvSystem<'_>> =
        systems.iter().zip(&params).map(|((name, _), params)| CvSystem { name, params }).collect();
    let data = data.values()?;
    let folds = folds_of(folds, data, seed)?;
    let rotation = if rotate { Rotation::ValidateOnPrevious } else { Rotation::TrainOnRest };
    let cv = CrossValidation { data, folds: &folds, rotation, systems: &systems };
    let (found, is_interrupted) = run(py, n_jobs, None, |watched| tune::cross_validate(&cv, watched))?;
    if is_interrupted {
        return Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(()));
    }
    let found: CrossValidated = found.map_err(exception)?;
    let intervals = IntervalSpec { seed, ..IntervalSpec::default() };
    let spec = CompareSpec { intervals, ..CompareSpec::default() };
    let (comparison, summaries) = py.detach(|| (found.compare(&spec), found.summaries(&intervals)));
    let facts = PyDict::new(py);
    let metrics: Vec<&str> = (0..found.table.n_metrics()).map(|metric| found.table.metric(metric)).collect();
    let all = systems.iter().zip(&found.systems).zip(&summaries).map(|((system, result), summaries)| {
        let row = PyDict::new(py);
        row.set_item("name", system.name)?;
        let means = PyDict::new(py);
        for (metric, summary) in metrics.iter().zip(summaries) {
            let interval = summary.interval.map(|interval| (interval.low, interval.high));
            means.set_item(metric, (summary.mean, interval))?;
        }
        row.set_item("means", means)?;
        let folds: Vec<(usize, usize, Vec<Option<f64>>)> =
            result.folds.iter().map(|fold| (fold.n_queries, fold.n_trees, fold.means.clone())).collect();
        row.set_item("folds", folds)?;
        row.set_item("scores", PyArray1::from_vec(py, data.to_input_order(&result.scores_canonical)))?;
        row.set_item("curve", result.curve.clone())?;
        Ok(row)
    });
    facts.set_item("systems", all.collect::<PyResult<Vec<_>>>()?)?;
    facts.set_item("metrics", &metrics)?;
    let compared = comparison.map_err(exception)?;
    let compared = compared.map(|comparison| Compared { table: found.table.clone(), comparison });
    facts.set_item("comparison", compared.map(|compared| described(py, &compared)).transpose()?)?;
    Ok(facts)
}

/// Random folds, or the given fold of each row.
fn folds_of(given: &Bound<'_, PyAny>, data: &Documents, seed: u64) -> PyResult<Folds> {
    if let Ok(n_folds) = given.extract::<usize>() {
        return Folds::random(data, n_folds, seed).map_err(exception);
    }
    let of_row: PyReadonlyArray1<'_, i64> = given.extract()?;
    let of_row: Vec<i64> = of_row.as_array().to_vec();
    if of_row.len() != data.n_rows() {
        let problem = format!("folds has {} entries for {} documents", of_row.len(), data.n_rows());
        return Err(PyValueError::new_err(problem));
    }
    let canonical = data.from_input_order(&of_row);
    let of_query = (0..data.n_queries()).map(|query| {
        let folds = &canonical[data.query_rows(query)];
        if folds.iter().any(|fold| *fold != folds[0]) {
            let problem = format!("query '{}' is in several folds; a query must be in one", data.query(query).id);
            return Err(PyValueError::new_err(problem));
        }
        usize::try_from(folds[0]).map_err(|_| PyValueError::new_err(format!("fold {} is negative", folds[0])))
    });
    let of_query: Vec<usize> = of_query.collect::<PyResult<_>>()?;
    let n_folds = of_query.iter().max().map_or(0, |last| last + 1);
    if n_folds > data.n_queries() {
        let problem = format!("fold {} of {} queries; count folds from 0", n_folds - 1, data.n_queries());
        return Err(PyValueError::new_err(problem));
    }
    Folds::new(n_folds, of_query).map_err(exception)
}

/// Searches for good parameters. `search` is its name, whether hopeless trials are stopped, the number of trials, and how
/// many may run at the same time.
#[pyfunction]
#[pyo3(signature = (params, data, valid, test, space, search, callback=None, n_jobs=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn tune_parameters<'py>(
    py: Python<'py>,
    params: &Bound<'py, PyDict>,
    data: &PyDataset,
    valid: Option<PyRef<'py, PyDataset>>,
    test: Option<PyRef<'py, PyDataset>>,
    space: Option<&Bound<'py, PyDict>>,
    search: (String, bool, usize, usize),
    callback: Option<Bound<'py, PyAny>>,
    n_jobs: Option<isize>,
) -> PyResult<(PyModel, Bound<'py, PyDict>)> {
    let spec = spec(params)?;
    let space = match space {
        Some(space) => Space::new(&dimensions(space)?),
        None => Space::builtin(&spec),
    };
    let space = space.map_err(exception)?;
    let (name, halving, trials, parallel) = search;
    let search = match name.as_str() {
        "tpe" => Search::Tpe,
        "random" => Search::Random,
        _ => return Err(PyValueError::new_err(format!("search='{name}': expected 'tpe' or 'random'"))),
    };
    let stopping = if halving { Stopping::Halving } else { Stopping::Never };
    let valid = valid.as_ref().map(|valid| valid.values()).transpose()?;
    let test = test.as_ref().map(|test| test.values()).transpose()?;
    let tuning =
        Tuning { data: data.values()?, valid, test, spec: &spec, space: &space, search, stopping, trials, parallel };
    let (found, is_interrupted) = run(py, n_jobs, callback, |watched| tune::tune(&tuning, watched, &()))?;
    let found = match found {
        Err(_) if is_interrupted => return Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(())),
        found => found.map_err(exception)?,
    };
    let facts = PyDict::new(py);
    let trials = found.trials.iter().enumerate().map(|(number, trial)| {
        let row = Report::of_trial(Some(number), trial).to_dict(py)?;
        row.set_item("settings", settings(py, trial)?)?;
        Ok(row)
    });
    facts.set_item("trials", trials.collect::<PyResult<Vec<_>>>()?)?;
    facts.set_item("default", Report::of_trial(None, &found.default).to_dict(py)?)?;
    facts.set_item("best", found.best)?;
    facts.set_item("best_params", settings(py, &found.trials[found.best])?)?;
    facts.set_item("tested_on_test_data", found.tested_on == TestedOn::TestData)?;
    facts.set_item("n_queries", found.n_queries.to_vec())?;
    facts.set_item("interrupted", is_interrupted)?;
    let compared = Compared { table: found.table, comparison: found.comparison };
    facts.set_item("comparison", described(py, &compared)?)?;
    Ok((PyModel::new(found.model), facts))
}

fn settings<'py>(py: Python<'py>, trial: &Trial) -> PyResult<Bound<'py, PyDict>> {
    let settings = PyDict::new(py);
    for (name, value) in &trial.settings {
        settings.set_item(name, value)?;
    }
    Ok(settings)
}

/// The space of a dictionary: lists are choices, `{"uniform": (low, high)}` and `{"log": (low, high)}` ranges; `"when"` adds
/// a condition.
fn dimensions(space: &Bound<'_, PyDict>) -> PyResult<Vec<DimensionSpec>> {
    space.iter().map(|(name, values)| dimension(name.extract()?, &values)).collect()
}

fn dimension(name: String, values: &Bound<'_, PyAny>) -> PyResult<DimensionSpec> {
    let problem = || {
        let forms = "a list of values, {'uniform': (low, high)}, {'log': (low, high)} or {'choice': [...]}";
        PyValueError::new_err(format!("space['{name}']: expected {forms}"))
    };
    let Ok(given) = values.cast::<PyDict>() else {
        return Ok(DimensionSpec { values: Values::Choice(choices(&name, values, problem)?), when: None, name });
    };
    let (mut found, mut when) = (None, None);
    for (key, value) in given {
        let range = || value.extract::<(f64, f64)>().map_err(|_| problem());
        match key.extract::<String>()?.as_str() {
            "uniform" if found.is_none() => found = Some(range().map(|(low, high)| Values::Uniform(low, high))?),
            "log" if found.is_none() => found = Some(range().map(|(low, high)| Values::LogUniform(low, high))?),
            "choice" if found.is_none() => found = Some(Values::Choice(choices(&name, &value, problem)?)),
            "when" => {
                let condition = value.cast::<PyDict>().map_err(|_| problem())?;
                let only = || {
                    PyValueError::new_err(format!(
                        "space['{name}']: 'when' needs one parameter and its value or values"
                    ))
                };
                let (other, wanted) = condition.iter().next().filter(|_| condition.len() == 1).ok_or_else(only)?;
                let is_one = wanted.is_instance_of::<PyString>() || wanted.try_iter().is_err();
                let wanted = if is_one { vec![as_typed(&name, &wanted)?] } else { choices(&name, &wanted, problem)? };
                when = Some((other.extract()?, wanted));
            }
            _ => return Err(problem()),
        }
    }
    Ok(DimensionSpec { values: found.ok_or_else(problem)?, when, name })
}

fn choices(name: &str, values: &Bound<'_, PyAny>, problem: impl Fn() -> PyErr) -> PyResult<Vec<String>> {
    if !values.is_instance_of::<PyList>() && !values.is_instance_of::<PyTuple>() {
        return Err(problem());
    }
    values.try_iter()?.map(|value| as_typed(name, &value?)).collect()
}
