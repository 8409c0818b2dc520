//! Parameters: dictionaries of names and values.

use std::collections::HashMap;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rankwise::params::{ParamError, ParamValue as _};
use rankwise::train::{Preset, TrainParams, TrainSpec};

use crate::error::exception;

/// Whether the learner of these parameters grows trees from gradients, for which bins are enough.
#[pyfunction]
pub(crate) fn grows_trees(params: &Bound<'_, PyDict>) -> PyResult<bool> {
    Ok(checked(params)?.boosting().learner.is_boosting())
}

/// The aliases of all parameters, with the names that they stand for.
#[pyfunction]
pub(crate) fn aliases() -> HashMap<&'static str, &'static str> {
    let parameters = TrainSpec::tables().into_iter().flat_map(|(_, table)| table);
    parameters.flat_map(|info| info.aliases.iter().map(move |alias| (*alias, info.name))).collect()
}

/// The parameter most similar to a name, if one is similar enough.
#[pyfunction]
pub(crate) fn nearest_parameter(name: &str) -> Option<&'static str> {
    rankwise::help::nearest_parameter(name)
}

/// The settings of a preset: names and values of parameters.
#[pyfunction]
pub(crate) fn preset(name: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    let unknown = || PyValueError::new_err(format!("unknown preset {name:?}: expected {}", Preset::kind()));
    Ok(Preset::parse(name).ok_or_else(unknown)?.settings().to_vec())
}

/// The parameters of a dictionary, checked.
pub(crate) fn checked(params: &Bound<'_, PyDict>) -> PyResult<TrainParams> {
    spec(params)?.check().map_err(|error: ParamError| exception(error))
}

/// The parameters of a dictionary. Values that are `None` stand for the default.
pub(crate) fn spec(params: &Bound<'_, PyDict>) -> PyResult<TrainSpec> {
    let mut spec = TrainSpec::default();
    let mut pairs = Vec::with_capacity(params.len());
    for (name, value) in params {
        let name: String = name.extract().map_err(|_| PyTypeError::new_err("the name of a parameter must be a str"))?;
        if !value.is_none() {
            let text = as_typed(&name, &value)?;
            pairs.push((name, text));
        }
    }
    let all = spec.set_all(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    all.map_err(|error: ParamError| exception(error))?;
    Ok(spec)
}

/// A value as it would be typed on the command line.
pub(crate) fn as_typed(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(if value.is_true() { "true" } else { "false" }.to_owned());
    }
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(value.str()?.to_string());
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| as_typed(name, &item?)).collect::<PyResult<Vec<_>>>()?;
        return Ok(items.join(","));
    }
    // Numbers of numpy.
    if let Ok(item) = value.call_method0("item") {
        return as_typed(name, &item);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("parameter '{name}': expected a str, a number, a bool or a list, got {kind}")))
}
