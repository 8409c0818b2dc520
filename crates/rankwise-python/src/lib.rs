//! The extension module `rankwise._rankwise`: the library behind Python objects. The package in `python/` adds names,
//! documentation and scikit-learn's conventions; everything that computes is here or below.
//!
//! Python's lock is released while the library works. Callbacks run on the thread that called.
//! The only unsafe code takes over streams of Arrow, in [`arrow`].
#![deny(unsafe_code)]
// PyO3 converts arguments to values.
#![allow(clippy::needless_pass_by_value)]

mod arrow;
mod data;
mod error;
mod measure;
mod model;
mod params;
mod pool;
mod search;
mod train;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _rankwise {
    use super::{Bound, PyModule, PyModuleMethods as _, PyResult};

    #[pymodule_export]
    use super::arrow::arrow_table;
    #[pymodule_export]
    use super::data::PyDataset;
    #[pymodule_export]
    use super::measure::{compare, compare_runs, evaluate, evaluate_run};
    #[pymodule_export]
    use super::model::{PyModel, load_model, model_from_bytes};
    #[pymodule_export]
    use super::params::{aliases, grows_trees, nearest_parameter, preset};
    #[pymodule_export]
    use super::search::{auto, cross_validate, tune_parameters};
    #[pymodule_export]
    use super::train::train;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
