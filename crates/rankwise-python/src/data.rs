//! Datasets from arrays and files.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{Element, PyArray1, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::data::{Absent, BinningParams, CachedDataset, Documents, FeatureValue, LoadedData, Pair, ValuesBuilder};
use rankwise::io::{ReadOptions, read_data_to_train, write_cache};
use rankwise::prelude::*;
use rankwise::{FeatureRemark, WantedFeatures, match_features};

use crate::error::exception;
use crate::params::checked;
use crate::pool::{threads, threads_for};

/// Documents with features, labels and queries. Made by `rankwise.Dataset`.
#[pyclass(name = "RawDataset", module = "rankwise._rankwise", frozen)]
pub(crate) struct PyDataset {
    pub(crate) data: Arc<LoadedData>,
}

impl PyDataset {
    fn new(data: Dataset) -> Self {
        Self { data: Arc::new(LoadedData::Values(data)) }
    }

    /// The documents with their values, if they are known.
    pub(crate) fn values(&self) -> PyResult<&Dataset> {
        match &*self.data {
            LoadedData::Values(data) => Ok(data),
            LoadedData::Cached(_) => {
                Err(PyValueError::new_err("this dataset has only bins, which are for training; read the original data"))
            }
        }
    }

    pub(crate) fn docs(&self) -> &Documents {
        &self.data
    }

    /// What is suspicious about its features. Arrays have no names, so that is not.
    pub(crate) fn remarks_on(&self, wanted: WantedFeatures<'_>) -> Vec<String> {
        let remarks = match_features(wanted, self.docs(), 0).into_iter();
        let remarks = remarks.filter(|remark| !matches!(remark, FeatureRemark::NumbersForNames { .. }));
        remarks.map(|remark| remark.to_string()).collect()
    }
}

/// What documents have beside their features.
#[derive(Default)]
struct Columns {
    labels: Option<Vec<f64>>,
    qids: Option<Qids>,
    group: Option<Vec<usize>>,
    weights: Option<Vec<f64>>,
    query_weights: Option<Vec<f64>>,
    positions: Option<Vec<u32>>,
    doc_ids: Option<Vec<String>>,
    pairs: Option<Vec<Pair>>,
    feature_names: Option<Vec<String>>,
    absent: Option<Absent>,
}

enum Qids {
    Numbers(Vec<i64>),
    Names(Vec<String>),
}

impl Columns {
    fn new(given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut columns = Self::default();
        for (name, value) in given {
            if value.is_none() {
                continue;
            }
            match name.extract::<String>()?.as_str() {
                "label" => columns.labels = Some(list(&value)?),
                "qid" => {
                    columns.qids = Some(match value.extract::<PyReadonlyArray1<'_, i64>>() {
                        Ok(numbers) => Qids::Numbers(numbers.as_array().to_vec()),
                        Err(_) => Qids::Names(value.extract()?),
                    });
                }
                "group" => {
                    let sizes: Vec<i64> = value.extract::<PyReadonlyArray1<'_, i64>>()?.as_array().to_vec();
                    let size = |size: i64| {
                        usize::try_from(size).map_err(|_| PyValueError::new_err(format!("group: {size} is negative")))
                    };
                    columns.group = Some(sizes.into_iter().map(size).collect::<PyResult<_>>()?);
                }
                "weight" => columns.weights = Some(list(&value)?),
                "query_weight" => columns.query_weights = Some(list(&value)?),
                "position" => {
                    columns.positions = Some(value.extract::<PyReadonlyArray1<'_, u32>>()?.as_array().to_vec());
                }
                "doc_id" => columns.doc_ids = Some(value.extract()?),
                "pairs" => columns.pairs = Some(pairs(&value)?),
                "feature_names" => columns.feature_names = Some(value.extract()?),
                "absent" => {
                    let text: String = value.extract()?;
                    let absent = Absent::parse(&text);
                    columns.absent = Some(absent.ok_or_else(|| {
                        PyValueError::new_err(format!("absent='{text}': expected 'missing' or 'zero'"))
                    })?);
                }
                name => return Err(PyTypeError::new_err(format!("there is no column '{name}'"))),
            }
        }
        Ok(columns)
    }

    /// The dataset, with bins instead of values if there are parameters for them.
    fn build<T: FeatureValue>(
        self,
        mut values: ValuesBuilder<'_, T>,
        binning: Option<&BinningParams>,
    ) -> Result<LoadedData, rankwise::Error> {
        if let Some(labels) = &self.labels {
            values = values.labels(labels);
        }
        match &self.qids {
            Some(Qids::Numbers(qids)) => values = values.qids(qids),
            Some(Qids::Names(qids)) => values = values.qids(qids),
            None => {}
        }
        if let Some(sizes) = &self.group {
            values = values.group_sizes(sizes);
        }
        if let Some(weights) = &self.weights {
            values = values.weights(weights);
        }
        if let Some(weights) = &self.query_weights {
            values = values.query_weights(weights);
        }
        if let Some(positions) = &self.positions {
            values = values.positions(positions);
        }
        if let Some(ids) = &self.doc_ids {
            values = values.doc_ids(ids);
        }
        if let Some(pairs) = &self.pairs {
            values = values.pairs(pairs);
        }
        if let Some(names) = &self.feature_names {
            values = values.feature_names(names);
        }
        if let Some(absent) = self.absent {
            values = values.absent(absent);
        }
        Ok(match binning {
            Some(params) => LoadedData::Cached(values.build_binned(params)?),
            None => LoadedData::Values(values.build()?),
        })
    }
}

fn list(values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    Ok(values.extract::<PyReadonlyArray1<'_, f64>>()?.as_array().to_vec())
}

/// Preferences from rows of winner, loser, weight and probability.
fn pairs(values: &Bound<'_, PyAny>) -> PyResult<Vec<Pair>> {
    let values = values.extract::<PyReadonlyArray2<'_, f64>>()?;
    let row = |place: usize, number: f64| {
        let is_row = number >= 0.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX);
        let problem = || PyValueError::new_err(format!("pairs[{place}]: {number} is not the number of a row"));
        is_row.then_some(number as u32).ok_or_else(problem)
    };
    let pair = |(place, values): (usize, numpy::ndarray::ArrayView1<'_, f64>)| {
        let (winner, loser) = (row(place, values[0])?, row(place, values[1])?);
        Ok(Pair { winner, loser, weight: values[2] as f32, probability: values[3] as f32 })
    };
    values.as_array().rows().into_iter().enumerate().map(pair).collect()
}

#[pymethods]
impl PyDataset {
    /// From a two-dimensional array, in C or Fortran order. Given the parameters of a training, it keeps only bins.
    #[staticmethod]
    fn from_dense(
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyDict>,
        n_jobs: Option<isize>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let columns = Columns::new(columns)?;
        let params = params.map(checked).transpose()?;
        let binning = params.as_ref().map(TrainParams::binning);
        if let Ok(values) = values.extract::<PyReadonlyArray2<'_, f32>>() {
            return dense(py, &values, columns, n_jobs, binning);
        }
        let values = values.extract::<PyReadonlyArray2<'_, f64>>();
        let values = values.map_err(|_| PyTypeError::new_err("expected an array of float32 or float64"))?;
        dense(py, &values, columns, n_jobs, binning)
    }

    /// From sparse rows.
    #[staticmethod]
    fn from_csr(
        py: Python<'_>,
        indptr: PyReadonlyArray1<'_, i64>,
        indices: PyReadonlyArray1<'_, i64>,
        values: &Bound<'_, PyAny>,
        columns: &Bound<'_, PyDict>,
        n_jobs: Option<isize>,
    ) -> PyResult<Self> {
        let columns = Columns::new(columns)?;
        if let Ok(values) = values.extract::<PyReadonlyArray1<'_, f32>>() {
            return sparse(py, &indptr, &indices, &values, columns, n_jobs);
        }
        let values = values.extract::<PyReadonlyArray1<'_, f64>>();
        let values = values.map_err(|_| PyTypeError::new_err("expected an array of float32 or float64"))?;
        sparse(py, &indptr, &indices, &values, columns, n_jobs)
    }

    /// From files.
    #[staticmethod]
    fn from_files(py: Python<'_>, paths: Vec<PathBuf>, absent: &str, n_jobs: Option<isize>) -> PyResult<Self> {
        let absent = Absent::parse(absent)
            .ok_or_else(|| PyValueError::new_err(format!("absent='{absent}': expected 'missing' or 'zero'")))?;
        let pool = threads(n_jobs)?;
        let read = py.detach(|| pool.install(|| read_data_to_train(&paths, &ReadOptions::new(absent))));
        Ok(Self { data: Arc::new(read.map_err(exception)?.data) })
    }

    /// Synthetic data.
    #[staticmethod]
    fn synthetic(
        py: Python<'_>,
        preset: &str,
        rows: usize,
        features: Option<usize>,
        seed: u64,
        n_jobs: Option<isize>,
    ) -> PyResult<Self> {
        let preset = Preset::parse(preset)
            .ok_or_else(|| PyValueError::new_err(format!("preset='{preset}': expected {}", Preset::kind())))?;
        let synth = SynthSpec { preset, rows, features, seed }.check().map_err(exception)?;
        let pool = threads(n_jobs)?;
        Ok(Self::new(py.detach(|| pool.install(|| synth.dataset()))))
    }

    /// Some of the queries, by their numbers in canonical order.
    fn select(&self, py: Python<'_>, queries: Vec<usize>, n_jobs: Option<isize>) -> PyResult<Self> {
        let (pool, data) = (threads(n_jobs)?, self.values()?);
        let part = py.detach(|| pool.install(|| data.select_queries(&queries)));
        Ok(Self::new(part.map_err(exception)?))
    }

    /// The same data with bins instead of values, for training with these parameters.
    fn to_binned(&self, py: Python<'_>, params: &Bound<'_, PyDict>, n_jobs: Option<isize>) -> PyResult<Self> {
        let (params, data) = (checked(params)?, self.values()?);
        let pool = threads_for(data, n_jobs)?;
        let binned = py.detach(|| pool.install(|| CachedDataset::new(data, params.binning())));
        Ok(Self { data: Arc::new(LoadedData::Cached(binned.map_err(exception)?)) })
    }

    /// Writes the bins to a file.
    fn save_binned(
        &self,
        py: Python<'_>,
        path: PathBuf,
        params: &Bound<'_, PyDict>,
        n_jobs: Option<isize>,
    ) -> PyResult<()> {
        let (params, pool, data) = (checked(params)?, threads(n_jobs)?, self.values()?);
        py.detach(|| pool.install(|| write_cache(data, params.binning(), &path))).map_err(exception)
    }

    /// Whether there are bins only.
    #[getter]
    fn is_binned(&self) -> bool {
        matches!(&*self.data, LoadedData::Cached(_))
    }

    /// What an absent feature means.
    #[getter]
    fn absent(&self) -> String {
        self.data.absent().render()
    }

    /// Whether there are preferences.
    #[getter]
    fn has_pairs(&self) -> bool {
        !self.data.pairs().is_empty()
    }

    /// The ids of the documents, in input order, if they have ids.
    #[getter]
    fn doc_ids(&self) -> Option<Vec<String>> {
        let ids: Vec<&str> = (0..self.data.n_rows()).map(|row| self.data.doc_id(row)).collect();
        self.data.has_doc_ids().then(|| self.data.to_input_order(&ids).into_iter().map(str::to_owned).collect())
    }

    /// The feature values in input order, one column per feature id.
    fn to_array<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let data = self.values()?;
        let (n_rows, n_features) = (data.n_rows(), data.n_features());
        let mut values = vec![0f32; n_rows * n_features];
        py.detach(|| {
            for (slot, out) in values.chunks_exact_mut(n_rows).enumerate() {
                let column = data.column(slot);
                (0..n_rows).for_each(|row| out[data.input_row()[row] as usize] = column.get(row));
            }
        });
        let order = numpy::npyffi::NPY_ORDER::NPY_FORTRANORDER;
        Ok(PyArray1::from_vec(py, values).reshape_with_order([n_rows, n_features], order)?.into_any())
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    #[getter]
    fn n_queries(&self) -> usize {
        self.data.n_queries()
    }

    /// The ids of the features that occur.
    #[getter]
    fn feature_ids(&self) -> Vec<u32> {
        self.data.feature_ids().to_vec()
    }

    /// Names of features, by id.
    #[getter]
    fn feature_names(&self) -> Vec<(u32, String)> {
        self.data.feature_names().to_vec()
    }

    /// The labels, in input order.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.data.to_input_order(self.data.labels()))
    }

    /// The ids of the queries in canonical order, and, in input order, the number of each document's query.
    fn queries<'py>(&self, py: Python<'py>) -> (Vec<String>, Bound<'py, PyArray1<u32>>) {
        let ids = self.data.queries().map(|query| query.id.to_owned()).collect();
        let numbers: Vec<u32> =
            self.data.queries().enumerate().flat_map(|(idx, query)| query.rows.map(move |_| idx as u32)).collect();
        (ids, PyArray1::from_vec(py, self.data.to_input_order(&numbers)))
    }

    /// Whether rows or queries have weights.
    #[getter]
    fn has_weights(&self) -> bool {
        self.data.is_weighted()
    }

    /// A fingerprint of the rows, whatever their order.
    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:032x}", self.data.fingerprint())
    }

    /// What is suspicious about the features of a validation set, if this is the training data.
    fn remarks_on_valid(&self, valid: &Self) -> Vec<String> {
        valid.remarks_on(WantedFeatures::of_training(self.docs()))
    }

    /// What looks suspicious.
    fn remarks(&self) -> Vec<String> {
        self.data.remarks().iter().map(ToString::to_string).collect()
    }
}

fn dense<T: Element + FeatureValue>(
    py: Python<'_>,
    values: &PyReadonlyArray2<'_, T>,
    columns: Columns,
    n_jobs: Option<isize>,
    binning: Option<&BinningParams>,
) -> PyResult<PyDataset> {
    let pool = threads(n_jobs)?;
    let (n_rows, n_features) = (values.shape()[0], values.shape()[1]);
    let slice = values.as_slice().map_err(|_| PyValueError::new_err("the array must be contiguous"))?;
    let is_by_row = values.is_c_contiguous();
    let data = py.detach(|| {
        pool.install(|| {
            if is_by_row || n_rows == 0 {
                return columns.build(Dataset::from_dense(slice, n_features), binning);
            }
            columns.build(Dataset::from_columns(&slice.chunks_exact(n_rows).collect::<Vec<_>>()), binning)
        })
    });
    Ok(PyDataset { data: Arc::new(data.map_err(exception)?) })
}

fn sparse<T: Element + FeatureValue>(
    py: Python<'_>,
    indptr: &PyReadonlyArray1<'_, i64>,
    indices: &PyReadonlyArray1<'_, i64>,
    values: &PyReadonlyArray1<'_, T>,
    columns: Columns,
    n_jobs: Option<isize>,
) -> PyResult<PyDataset> {
    let pool = threads(n_jobs)?;
    let (indptr, indices, values) = (indptr.as_slice()?, indices.as_slice()?, values.as_slice()?);
    let data = py.detach(|| pool.install(|| columns.build(Dataset::from_csr(indptr, indices, values), None)));
    Ok(PyDataset { data: Arc::new(data.map_err(exception)?) })
}
