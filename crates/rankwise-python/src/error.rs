//! Errors as Python exceptions.

use std::error::Error as _;
use std::io;

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};
use rankwise::Error;

/// The exception for an error: `OSError` and its kinds if a file cannot be read or written, otherwise `ValueError`.
pub(crate) fn exception(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(cause) = cause.downcast_ref::<io::Error>() {
            return match cause.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => PyValueError::new_err(text),
                io::ErrorKind::NotFound => pyo3::exceptions::PyFileNotFoundError::new_err(text),
                io::ErrorKind::PermissionDenied => pyo3::exceptions::PyPermissionError::new_err(text),
                _ => PyOSError::new_err(text),
            };
        }
        source = cause.source();
    }
    PyValueError::new_err(text)
}
