//! Models: files, scores, and what they are made of.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{Element, PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rankwise::WantedFeatures;
use rankwise::data::SimdLevel;
use rankwise::explain::{ExplainError, Explainer, ShapBuffers};
use rankwise::formats::{ExportOptions, Target, export};
use rankwise::model::{AbsentFeature, Model, Ranker};
use rankwise::prelude::*;
use rankwise::score::{Documents, Rows, Value};
use rayon::prelude::*;

use crate::data::PyDataset;
use crate::error::exception;
use crate::pool::threads;

/// Documents that one task scores.
const TASK_DOCS: usize = 2048;

/// A trained model. Made by `rankwise.train` and `rankwise.load_model`.
#[pyclass(name = "RawModel", module = "rankwise._rankwise", frozen)]
pub(crate) struct PyModel {
    pub(crate) model: Arc<Model>,
    scorer: OnceLock<Scorer>,
}

/// Reads a model file of Rankwise, LightGBM, XGBoost, CatBoost or RankLib.
#[pyfunction]
pub(crate) fn load_model(py: Python<'_>, path: PathBuf) -> PyResult<PyModel> {
    Ok(PyModel::new(py.detach(|| Model::load(path)).map_err(exception)?))
}

/// The model whose bytes `RawModel.to_bytes` returned.
#[pyfunction]
pub(crate) fn model_from_bytes(bytes: &[u8]) -> PyResult<PyModel> {
    Ok(PyModel::new(Model::from_json(bytes).map_err(exception)?))
}

impl PyModel {
    pub(crate) fn new(model: Model) -> Self {
        Self { model: Arc::new(model), scorer: OnceLock::new() }
    }

    fn scorer(&self) -> &Scorer {
        self.scorer
            .get_or_init(|| Scorer::with_simd(&self.model, SimdLevel::from_env().unwrap_or_else(|_| SimdLevel::best())))
    }

    /// The column of each feature of the model in an array with so many columns.
    fn columns(&self, given: Option<Vec<usize>>, n_columns: usize) -> PyResult<Vec<usize>> {
        let by_number = || self.model.features().iter().map(|feature| *feature as usize).collect();
        let columns: Vec<usize> = given.unwrap_or_else(by_number);
        if columns.len() != self.model.features().len() {
            return Err(PyValueError::new_err("there must be a column for each feature of the model"));
        }
        match columns.iter().max() {
            Some(last) if *last >= n_columns => Err(PyValueError::new_err(format!(
                "the data has {n_columns} columns, but the model uses feature {last}, which is column {}",
                last + 1
            ))),
            _ => Ok(columns),
        }
    }
}

#[pymethods]
impl PyModel {
    /// The scores of the rows of an array. `columns` has the column of each feature of the model; otherwise the number of
    /// a feature is its column.
    #[pyo3(signature = (values, columns=None, n_jobs=None))]
    fn predict_dense<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        columns: Option<Vec<usize>>,
        n_jobs: Option<isize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if let Ok(values) = values.extract::<PyReadonlyArray2<'_, f32>>() {
            return self.predict_array(py, &values, columns, n_jobs);
        }
        let values = values.extract::<PyReadonlyArray2<'_, f64>>();
        let values = values.map_err(|_| PyTypeError::new_err("expected an array of float32 or float64"))?;
        self.predict_array(py, &values, columns, n_jobs)
    }

    /// The scores of the documents of a dataset, in input order.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        data: &PyDataset,
        n_jobs: Option<isize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pool = threads(n_jobs)?;
        let data = data.values()?;
        let scores = py.detach(|| pool.install(|| predict(&self.model, data)));
        Ok(PyArray1::from_vec(py, scores))
    }

    /// What is suspicious about the features of a dataset.
    fn remarks(&self, data: &PyDataset) -> Vec<String> {
        data.remarks_on(WantedFeatures::of_model(&self.model))
    }

    /// For each row and tree, the number of its leaf.
    #[pyo3(signature = (values, columns=None, n_jobs=None))]
    fn leaves<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        columns: Option<Vec<usize>>,
        n_jobs: Option<isize>,
    ) -> PyResult<Bound<'py, PyArray2<i32>>> {
        let pool = threads(n_jobs)?;
        let ensemble = self.model.tree_ensemble().map_err(exception)?;
        let n_columns = values.shape()[1];
        let columns = self.columns(columns, n_columns)?;
        let slice = values.as_slice()?;
        let n_trees = ensemble.n_trees();
        let mut leaves = vec![0i32; values.shape()[0] * n_trees];
        py.detach(|| {
            pool.install(|| {
                if n_trees == 0 || n_columns == 0 {
                    return;
                }
                leaves.par_chunks_mut(n_trees).zip(slice.par_chunks(n_columns)).for_each(|(leaves, row)| {
                    let round = |column: &usize| self.model.precision().round(row[*column]);
                    let values: Vec<f64> = columns.iter().map(round).collect();
                    for (leaf, tree) in leaves.iter_mut().zip(ensemble.trees()) {
                        *leaf = tree.leaf(&values) as i32;
                    }
                });
            });
        });
        PyArray1::from_vec(py, leaves).reshape([values.shape()[0], n_trees])
    }

    /// For each row, its SHAP values: all features of the model for the first output, then for the second, ... With `background`, they compare
    /// with its rows, otherwise with the training data.
    #[pyo3(signature = (values, columns=None, background=None, n_jobs=None))]
    fn contributions<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
        columns: Option<Vec<usize>>,
        background: Option<PyReadonlyArray2<'py, f64>>,
        n_jobs: Option<isize>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Vec<f64>)> {
        let pool = threads(n_jobs)?;
        let (n_docs, n_columns) = (values.shape()[0], values.shape()[1]);
        let columns = self.columns(columns, n_columns)?;
        let slice = values.as_slice()?;
        let background = background.map(|rows| self.rounded(&rows, &columns)).transpose()?;
        let found = py.detach(|| pool.install(|| self.shap(slice, n_columns, n_docs, &columns, background)));
        let (values, expected) = found.map_err(exception)?;
        let n_values = expected.len() * self.model.features().len();
        Ok((PyArray1::from_vec(py, values).reshape([n_docs, n_values])?, expected))
    }

    /// The model with the first `n_rounds` rounds only.
    fn first_rounds(&self, n_rounds: usize) -> PyResult<Self> {
        let ensemble = self.model.tree_ensemble().map_err(exception)?.first_rounds(n_rounds);
        Ok(Self::new(self.model.with_ranker(ensemble).map_err(exception)?))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.model.to_json().as_bytes())
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.model.save(path)).map_err(exception)
    }

    /// The model in the format of another program.
    #[pyo3(signature = (format, missing_as_zero = false, allow_rounding = false))]
    fn export<'py>(
        &self,
        py: Python<'py>,
        format: &str,
        missing_as_zero: bool,
        allow_rounding: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let target = Target::parse(format).ok_or_else(|| {
            PyValueError::new_err(format!("format '{format}' is unknown; expected one of {}", Target::NAMES.join(", ")))
        })?;
        let options = ExportOptions { missing_as_zero, allow_rounding, ..ExportOptions::default() };
        Ok(PyBytes::new(py, &export(&self.model, target, &options).map_err(exception)?))
    }

    /// The importance of each feature as `(feature, splits, gain)`, by descending gain. In a linear model, the gain is the
    /// absolute weight.
    fn importance(&self) -> PyResult<Vec<(u32, u64, f64)>> {
        if let Ranker::Linear(linear) = self.model.ranker() {
            let weights = linear.weights().iter().map(|weight| weight.abs());
            let mut all: Vec<(u32, u64, f64)> =
                self.model.features().iter().zip(weights).map(|(feature, weight)| (*feature, 0, weight)).collect();
            all.sort_by(|a, b| b.2.total_cmp(&a.2));
            return Ok(all);
        }
        let all = self.model.importance().map_err(exception)?;
        Ok(all.into_iter().map(|of| (of.feature, of.splits, of.gain)).collect())
    }

    /// What the model file says about the model.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        let trees = self.model.tree_ensemble().ok();
        facts.set_item("kind", self.model.ranker().kind())?;
        facts.set_item("is_listwise", self.model.is_listwise())?;
        facts.set_item("objective", self.model.objective())?;
        facts.set_item("params", self.model.params().clone())?;
        facts.set_item("features", self.model.features().to_vec())?;
        facts.set_item("feature_names", self.model.feature_names().to_vec())?;
        facts.set_item("n_trees", trees.map_or(0, rankwise::model::TreeEnsemble::n_trees))?;
        facts.set_item("n_outputs", trees.map_or(1, rankwise::model::TreeEnsemble::n_outputs))?;
        facts.set_item("absent_is_zero", self.model.absent() == AbsentFeature::Zero)?;
        Ok(facts)
    }
}

impl PyModel {
    /// The values of the model's features in each row, rounded.
    fn rounded(&self, rows: &PyReadonlyArray2<'_, f64>, columns: &[usize]) -> PyResult<Vec<Vec<f64>>> {
        let n_columns = rows.shape()[1];
        if columns.iter().any(|column| *column >= n_columns) {
            return Err(PyValueError::new_err("background must have the columns of X"));
        }
        let of_row = |row: &[f64]| columns.iter().map(|column| self.model.precision().round(row[*column])).collect();
        Ok(rows.as_slice()?.chunks(n_columns.max(1)).map(of_row).collect())
    }

    fn shap(
        &self,
        values: &[f64],
        n_columns: usize,
        n_docs: usize,
        columns: &[usize],
        background: Option<Vec<Vec<f64>>>,
    ) -> Result<(Vec<f64>, Vec<f64>), ExplainError> {
        let explainer = match background {
            Some(rows) => Explainer::against(&self.model, rows)?,
            None => Explainer::new(&self.model)?,
        };
        let n_values = explainer.n_values();
        let mut found = vec![0.0; n_docs * n_values];
        if !found.is_empty() {
            let tasks = found.par_chunks_mut(TASK_DOCS * n_values).zip(values.par_chunks(TASK_DOCS * n_columns));
            tasks.try_for_each_init(ShapBuffers::default, |buffers, (found, values)| {
                let docs = Rows::with_columns(values, n_columns, found.len() / n_values, columns);
                explainer.values_of_docs(&docs, found, buffers)
            })?;
        }
        Ok((found, explainer.expected().to_vec()))
    }

    fn predict_array<'py, T: Element + Value + Send + Sync>(
        &self,
        py: Python<'py>,
        values: &PyReadonlyArray2<'py, T>,
        columns: Option<Vec<usize>>,
        n_jobs: Option<isize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if self.model.is_listwise() {
            return Err(PyValueError::new_err(
                "the scores of this model depend on the other documents of a query; give qid, group or a Dataset",
            ));
        }
        let (n_docs, n_columns) = (values.shape()[0], values.shape()[1]);
        let columns = self.columns(columns, n_columns)?;
        let slice = values.as_slice().map_err(|_| PyValueError::new_err("the array must be contiguous"))?;
        let scorer = self.scorer();
        let mut scores = vec![0.0; n_docs];
        let docs = Array { values: slice, n_docs, n_columns, columns: &columns, is_by_row: values.is_c_contiguous() };
        let pool = if n_docs <= TASK_DOCS { None } else { Some(threads(n_jobs)?) };
        py.detach(|| match pool {
            Some(pool) if pool.current_num_threads() > 1 => pool.install(|| {
                let tasks = scores.par_chunks_mut(TASK_DOCS).enumerate();
                tasks.for_each_init(Scratch::default, |scratch, (task, scores)| {
                    docs.score(scorer, task * TASK_DOCS, scores, scratch);
                });
            }),
            // On this thread: others may be scoring at the same time.
            _ => {
                let mut scratch = Scratch::default();
                for (task, scores) in scores.chunks_mut(TASK_DOCS).enumerate() {
                    docs.score(scorer, task * TASK_DOCS, scores, &mut scratch);
                }
            }
        });
        Ok(PyArray1::from_vec(py, scores))
    }
}

/// An array with a document in each row.
struct Array<'a, T> {
    values: &'a [T],
    n_docs: usize,
    n_columns: usize,
    /// The column of each feature of the model.
    columns: &'a [usize],
    /// Whether it is in C order.
    is_by_row: bool,
}

impl<T: Value> Array<'_, T> {
    /// Scores the documents from `first` on.
    fn score(&self, scorer: &Scorer, first: usize, scores: &mut [f64], scratch: &mut Scratch) {
        let n_docs = scores.len();
        if self.is_by_row {
            let rows = &self.values[first * self.n_columns..][..n_docs * self.n_columns];
            scorer.score(&Rows::with_columns(rows, self.n_columns, n_docs, self.columns), scores, scratch);
        } else {
            let docs = ByColumn { values: self.values, n_rows: self.n_docs, columns: self.columns, first, n_docs };
            scorer.score(&docs, scores, scratch);
        }
    }
}

/// Some rows of an array in Fortran order.
struct ByColumn<'a, T> {
    values: &'a [T],
    n_rows: usize,
    columns: &'a [usize],
    first: usize,
    n_docs: usize,
}

impl<T: Value> Documents for ByColumn<'_, T> {
    type Value = T;

    fn n_docs(&self) -> usize {
        self.n_docs
    }

    fn values<O>(
        &self,
        features: std::ops::Range<usize>,
        docs: std::ops::Range<usize>,
        convert: impl Fn(T) -> O,
        out: &mut [O],
    ) {
        for (column, out) in self.columns[features].iter().zip(out.chunks_exact_mut(docs.len())) {
            let values = &self.values[column * self.n_rows + self.first + docs.start..][..docs.len()];
            out.iter_mut().zip(values).for_each(|(out, value)| *out = convert(*value));
        }
    }
}
