//! Training. It runs on threads of its own, while the thread that called waits: it runs callbacks and custom objectives,
//! and notices signals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::data::Documents;
use rankwise::objectives::{AllAtOnce, AllDocs, AllQueries, GradientSlices};
use rankwise::prelude::*;
use rankwise::train::{OwnMetric, OwnValue, Pass, Progress, StopReason, TrainError};

use crate::data::PyDataset;
use crate::error::exception;
use crate::model::PyModel;
use crate::params::checked;
use crate::pool::threads_for;

/// How often signals are looked for.
pub(crate) const SIGNAL_PERIOD: Duration = Duration::from_millis(50);

/// How often other work of the pool is looked for while the caller works.
const WORK_PERIOD: Duration = Duration::from_millis(1);

/// What a run asks the thread that started it.
enum Request {
    /// A round is done; the answer is whether to continue.
    Round { round: usize, values: Vec<(String, String, f64)>, best: usize, answer: Sender<bool> },
    /// Gradients and Hessians at these scores, in input order; no answer ends the run.
    Gradients { scores: Vec<f64>, answer: Sender<(Vec<f32>, Vec<f32>)> },
    /// The value of a custom metric on a validation set, with its scores in input order; no answer ends the run.
    Metric { metric: usize, set: usize, scores: Vec<f64>, answer: Sender<OwnValue> },
    /// The run is over.
    Done,
}

/// Trains a model. `callback(round, num_rounds, best_round, values)` is called after each round, and stops training if it
/// returns True. `objective(scores)` returns gradients and Hessians. `metrics` are functions of the index of a validation
/// set and its scores that return a name, a value and whether larger values are better; the flag says whether they come
/// before the metrics of the parameters. `learning_rate` is a list of rates, or a function of the round from 0.
///
/// Returns the model and a dictionary of facts about the run.
#[pyfunction]
#[pyo3(signature = (params, data, valid, start=None, callback=None, objective=None, metrics=None, learning_rate=None, n_jobs=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn train<'py>(
    py: Python<'py>,
    params: &Bound<'py, PyDict>,
    data: &PyDataset,
    valid: Vec<(String, PyRef<'py, PyDataset>)>,
    start: Option<PyRef<'py, PyModel>>,
    callback: Option<Bound<'py, PyAny>>,
    objective: Option<(String, Bound<'py, PyAny>)>,
    metrics: Option<(Vec<Bound<'py, PyAny>>, bool)>,
    learning_rate: Option<Bound<'py, PyAny>>,
    n_jobs: Option<isize>,
) -> PyResult<(PyModel, Bound<'py, PyDict>)> {
    let params = checked(params)?;
    let pool = threads_for(data.docs(), n_jobs)?;
    let sets = valid.iter().map(|(name, set)| Ok((name.clone(), set.values()?)));
    let sets: Vec<(String, &Dataset)> = sets.collect::<PyResult<_>>()?;
    let sets: Vec<ValidSet<'_>> = sets.iter().map(|(name, data)| ValidSet { name, data }).collect();
    let (name, function) = match objective {
        Some((name, function)) => (name, Some(function.unbind())),
        None => (String::new(), None),
    };
    let rates = learning_rate.map(|rates| schedule(&rates, params.max_rounds())).transpose()?.unwrap_or_default();
    let (metrics, come_first) = metrics.unwrap_or_default();
    let n_metrics = metrics.len();
    let num_rounds = params.max_rounds();
    let metrics = metrics.into_iter().map(Bound::unbind).collect();
    let caller =
        Caller { callback: callback.map(Bound::unbind), objective: function, metrics, data: data.docs(), num_rounds };
    let start = start.as_ref().map(|model| &*model.model);
    let is_stopped = AtomicBool::new(false);
    let (trained, raised) = py.detach(|| {
        let (requests, received) = channel();
        let mut trained = None;
        let raised = pool.in_place_scope(|scope| {
            let (trained, params, sets, is_stopped) = (&mut trained, &params, &sets[..], &is_stopped);
            let (data, name, rates) = (&*data.data, &name, &rates[..]);
            let (has_objective, has_callback) = (caller.objective.is_some(), caller.callback.is_some());
            scope.spawn(move |_| {
                let metric = |metric: usize| AskedMetric { metric, requests: requests.clone() };
                let metrics: Vec<AskedMetric> = (0..n_metrics).map(metric).collect();
                let metrics: Vec<&dyn OwnMetric> = metrics.iter().map(|metric| metric as &dyn OwnMetric).collect();
                let run = Training::new(params, data).valid(sets).start(start).learning_rates(rates);
                let run = run.own_metrics(&metrics, come_first);
                let own = AllAtOnce(Asked { requests: requests.clone() });
                let run = if has_objective { run.own_objective(name, &own) } else { run };
                let mut observer = |progress: &Progress<'_>| {
                    if is_stopped.load(Ordering::Relaxed) {
                        Flow::Stop
                    } else if has_callback && progress.pass == Pass::Model {
                        ask(progress, &requests)
                    } else {
                        Flow::Continue
                    }
                };
                *trained = Some(run.run(&mut observer));
                let _ = requests.send(Request::Done);
            });
            caller.serve(&received, is_stopped)
        });
        (trained, raised)
    });
    let is_interrupted = raised.is_some();
    if let Some(error) = raised
        && !error.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py)
    {
        return Err(error);
    }
    let trained: Result<Trained, TrainError> =
        trained.ok_or_else(|| PyRuntimeError::new_err("internal error: this is a bug in rankwise"))?;
    let trained = trained.map_err(exception)?;
    let facts = PyDict::new(py);
    let curves: Vec<(String, String, Vec<f64>)> =
        trained.history.curves.iter().map(|of| (of.set.clone(), of.metric.clone(), of.values.clone())).collect();
    facts.set_item("history", curves)?;
    facts.set_item("first_round", trained.history.first_round)?;
    facts.set_item("trees_grown", trained.trees_grown)?;
    facts.set_item("rounds_kept", trained.rounds_kept)?;
    facts.set_item("start_trees", trained.start_trees)?;
    facts.set_item("interrupted", is_interrupted)?;
    let ignores_pairs = !data.data.pairs().is_empty() && !params.objective().objective.takes_pairs();
    facts.set_item("ignores_pairs", ignores_pairs && caller.objective.is_none())?;
    facts.set_item("seconds", trained.phases.total.as_secs_f64())?;
    facts.set_item("no_trees", trained.no_trees.as_ref().map(ToString::to_string))?;
    let stopped = match trained.stopped {
        StopReason::Finished => "finished",
        StopReason::EarlyStopping => "early_stopping",
        StopReason::NothingToLearn => "nothing_to_learn",
        StopReason::Interrupted => "interrupted",
    };
    facts.set_item("stopped", stopped)?;
    Ok((PyModel::new(trained.model), facts))
}

/// Asks the caller whether to continue after a round.
fn ask(progress: &Progress<'_>, requests: &Sender<Request>) -> Flow {
    let values = progress.values.iter().map(|of| (of.set.clone(), of.metric.clone(), of.value)).collect();
    let (answer, answered) = channel();
    let asked = requests.send(Request::Round { round: progress.round, values, best: progress.best_round, answer });
    match asked.ok().and_then(|()| wait(&answered)) {
        Some(true) => Flow::Continue,
        _ => Flow::Stop,
    }
}

/// Waits for an answer; `None` if there will be none. What the caller does meanwhile may need this thread, so other work
/// of the pool is done here.
fn wait<T>(answered: &Receiver<T>) -> Option<T> {
    loop {
        match answered.recv_timeout(WORK_PERIOD) {
            Ok(answer) => return Some(answer),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                rayon::yield_now();
            }
        }
    }
}

/// An objective whose gradients the caller computes.
struct Asked {
    requests: Sender<Request>,
}

impl AllQueries for Asked {
    fn gradients(&self, docs: AllDocs<'_>, out: GradientSlices<'_>) {
        let (answer, answered) = channel();
        let asked = self.requests.send(Request::Gradients { scores: docs.data.to_input_order(docs.scores), answer });
        if let Some((grad, hess)) = asked.ok().and_then(|()| wait(&answered)) {
            out.grad.copy_from_slice(&docs.data.from_input_order(&grad));
            out.hess.copy_from_slice(&docs.data.from_input_order(&hess));
        } else {
            // The run ends after this round, and its model is not used.
            out.grad.fill(0.0);
            out.hess.fill(0.0);
        }
    }
}

/// A metric that the caller computes.
struct AskedMetric {
    metric: usize,
    requests: Sender<Request>,
}

impl OwnMetric for AskedMetric {
    fn value(&self, set: usize, data: &Documents, scores: &[f64]) -> OwnValue {
        let (answer, answered) = channel();
        let scores = data.to_input_order(scores);
        let asked = self.requests.send(Request::Metric { metric: self.metric, set, scores, answer });
        // Without an answer the run ends after this round, and its model is not used.
        let none = || OwnValue { name: String::new(), value: f64::NAN, is_larger_better: true };
        asked.ok().and_then(|()| wait(&answered)).unwrap_or_else(none)
    }
}

/// The learning rates of a list, or of a function of the round.
fn schedule(rates: &Bound<'_, PyAny>, num_rounds: usize) -> PyResult<Vec<f64>> {
    let rates: Vec<f64> = if rates.is_callable() {
        (0..num_rounds).map(|round| rates.call1((round,))?.extract()).collect::<PyResult<_>>()?
    } else {
        rates.extract()?
    };
    if rates.is_empty() {
        return Err(PyValueError::new_err("learning_rate: the list of rates is empty"));
    }
    Ok(rates)
}

/// Raises what a signal handler of Python raises.
pub(crate) fn signals() -> PyResult<()> {
    // The method itself is not general enough in its lifetime.
    #[allow(clippy::redundant_closure_for_method_calls)]
    Python::attach(|py| py.check_signals())
}

/// The thread that started a run.
struct Caller<'a> {
    callback: Option<Py<PyAny>>,
    objective: Option<Py<PyAny>>,
    metrics: Vec<Py<PyAny>>,
    data: &'a Documents,
    num_rounds: usize,
}

impl Caller<'_> {
    /// Answers requests until the run is over. Returns the first exception.
    fn serve(&self, received: &Receiver<Request>, is_stopped: &AtomicBool) -> Option<PyErr> {
        let mut raised = None;
        loop {
            let result = match received.recv_timeout(SIGNAL_PERIOD) {
                Ok(Request::Done) | Err(RecvTimeoutError::Disconnected) => return raised,
                Err(RecvTimeoutError::Timeout) => signals(),
                Ok(_) if raised.is_some() => continue,
                Ok(Request::Round { round, values, best, answer }) => self.after_round((round, best), values, &answer),
                Ok(Request::Metric { metric, set, scores, answer }) => self.metric(metric, set, scores, &answer),
                Ok(Request::Gradients { scores, answer }) => self.gradients(scores, &answer),
            };
            if let Err(error) = result {
                raised.get_or_insert(error);
                is_stopped.store(true, Ordering::Relaxed);
            }
        }
    }

    fn after_round(
        &self,
        (round, best): (usize, usize),
        values: Vec<(String, String, f64)>,
        answer: &Sender<bool>,
    ) -> PyResult<()> {
        let Some(callback) = &self.callback else { return Ok(()) };
        let continues = Python::attach(|py| {
            py.check_signals()?;
            let stops = callback.bind(py).call1((round, self.num_rounds, best, values))?;
            Ok::<bool, PyErr>(!stops.is_truthy()?)
        })?;
        let _ = answer.send(continues);
        Ok(())
    }

    fn metric(&self, metric: usize, set: usize, scores: Vec<f64>, answer: &Sender<OwnValue>) -> PyResult<()> {
        let (name, value, is_larger_better) = Python::attach(|py| {
            py.check_signals()?;
            self.metrics[metric].bind(py).call1((set, PyArray1::from_vec(py, scores)))?.extract()
        })?;
        let _ = answer.send(OwnValue { name, value, is_larger_better });
        Ok(())
    }

    fn gradients(&self, scores: Vec<f64>, answer: &Sender<(Vec<f32>, Vec<f32>)>) -> PyResult<()> {
        let Some(objective) = &self.objective else { return Ok(()) };
        let n_rows = self.data.n_rows();
        let result = Python::attach(|py| {
            py.check_signals()?;
            let given = objective.bind(py).call1((PyArray1::from_vec(py, scores),))?;
            let (grad, hess): (PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, f64>) = given.extract()?;
            let checked = |what: &str, values: &PyReadonlyArray1<'_, f64>| {
                let values: Vec<f32> = values.as_array().iter().map(|value| *value as f32).collect();
                if values.len() != n_rows {
                    let problem = format!("the objective returned {} {what} for {n_rows} rows", values.len());
                    return Err(PyValueError::new_err(problem));
                }
                if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                    return Err(PyValueError::new_err(format!(
                        "the objective returned no finite {what} for row {row}"
                    )));
                }
                Ok(values)
            };
            let (grad, hess) = (checked("gradients", &grad)?, checked("Hessians", &hess)?);
            if let Some(row) = hess.iter().position(|value| *value < 0.0) {
                return Err(PyValueError::new_err(format!("the objective returned a negative Hessian for row {row}")));
            }
            Ok((grad, hess))
        })?;
        let _ = answer.send(result);
        Ok(())
    }
}
