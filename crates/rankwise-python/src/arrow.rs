//! Tables of Arrow, from every library that has the PyCapsule interface (`__arrow_c_stream__`): pyarrow, polars, DuckDB and
//! others.

use std::collections::HashSet;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::types::{
    Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_schema::DataType;
use numpy::npyffi::NPY_ORDER;
use numpy::{Element, PyArray1, PyArrayMethods as _};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::prelude::*;

use crate::pool::threads;

/// The names of the feature columns, their values, and the query ids, if there are any.
type Table<'py> = (Vec<String>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// The columns of a table as one array in Fortran order. Nulls become NaN. A column called `qid` holds the queries. Of
/// the others, only those with the names in `only` are taken, if it is given.
#[pyfunction]
pub(crate) fn arrow_table<'py>(
    py: Python<'py>,
    table: &Bound<'py, PyAny>,
    qid: Option<&str>,
    only: Option<HashSet<String>>,
    n_jobs: Option<isize>,
) -> PyResult<Table<'py>> {
    let (names, types, batches) = batches(table)?;
    let place = qid.and_then(|qid| names.iter().position(|name| name == qid));
    let qid = place.map(|place| query_ids(py, &types[place], &chunks(&batches, place))).transpose()?;
    let is_taken =
        |column: &usize| Some(*column) != place && only.as_ref().is_none_or(|only| only.contains(&names[*column]));
    let features: Vec<usize> = (0..names.len()).filter(is_taken).collect();
    if let Some(column) = features.iter().find(|column| !is_number(&types[**column])) {
        return Err(PyValueError::new_err(format!(
            "column '{}' has type {}; expected numbers (encode text as numbers first)",
            names[*column], types[*column]
        )));
    }
    let columns: Vec<Vec<&dyn Array>> = features.iter().map(|column| chunks(&batches, *column)).collect();
    let n_rows = batches.iter().map(RecordBatch::num_rows).sum();
    let pool = threads(n_jobs)?;
    let values = if features.iter().all(|column| fits_f32(&types[*column])) {
        let values: Vec<f32> = py.detach(|| pool.install(|| matrix(&columns, n_rows)));
        shaped(py, values, n_rows, columns.len())?
    } else {
        let values: Vec<f64> = py.detach(|| pool.install(|| matrix(&columns, n_rows)));
        shaped(py, values, n_rows, columns.len())?
    };
    let names = features.into_iter().map(|column| names[column].clone()).collect();
    Ok((names, values, qid))
}

/// The names and types of the columns of a stream, and its batches.
fn batches(table: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Vec<DataType>, Vec<RecordBatch>)> {
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: The interface promises that a capsule with this name, which was checked, points to a valid stream that belongs
    // to whoever asked for it. The reader takes it out and leaves an empty one, so the capsule does not release it again.
    #[allow(unsafe_code)]
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr().cast()) };
    let problem = |error: arrow_schema::ArrowError| PyValueError::new_err(format!("cannot read Arrow data: {error}"));
    let reader = reader.map_err(problem)?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let (names, types) = schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).unzip();
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(problem)?;
    Ok((names, types, batches))
}

fn chunks(batches: &[RecordBatch], column: usize) -> Vec<&dyn Array> {
    batches.iter().map(|batch| batch.column(column).as_ref()).collect()
}

/// A type of matrices.
trait Number: Copy + Send + Sync + Element {
    const MISSING: Self;

    fn of(value: f64) -> Self;
}

impl Number for f32 {
    const MISSING: Self = f32::NAN;

    fn of(value: f64) -> Self {
        value as Self
    }
}

impl Number for f64 {
    const MISSING: Self = f64::NAN;

    fn of(value: f64) -> Self {
        value
    }
}

fn is_number(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_number(values),
        DataType::Null | DataType::Boolean | DataType::Decimal128(..) => true,
        data_type => data_type.is_integer() || data_type.is_floating(),
    }
}

/// Whether f32 has all values of a type.
fn fits_f32(data_type: &DataType) -> bool {
    use DataType::{Boolean, Float16, Float32, Int8, Int16, Null, UInt8, UInt16};
    match data_type {
        DataType::Dictionary(_, values) => fits_f32(values),
        data_type => matches!(data_type, Null | Boolean | Float16 | Float32 | Int8 | Int16 | UInt8 | UInt16),
    }
}

/// One column after another.
fn matrix<T: Number>(columns: &[Vec<&dyn Array>], n_rows: usize) -> Vec<T> {
    let mut values = vec![T::MISSING; n_rows * columns.len()];
    if n_rows > 0 {
        values.par_chunks_exact_mut(n_rows).zip(columns).for_each(|(mut out, chunks)| {
            for chunk in chunks {
                let (part, rest) = out.split_at_mut(chunk.len());
                fill(*chunk, part);
                out = rest;
            }
        });
    }
    values
}

/// The numbers of an array whose type [`is_number`]; nulls stay as they are.
fn fill<T: Number>(array: &dyn Array, out: &mut [T]) {
    match array.data_type() {
        DataType::Float64 => primitive::<Float64Type, T>(array, out, |value| value),
        DataType::Float32 => primitive::<Float32Type, T>(array, out, f64::from),
        DataType::Float16 => primitive::<Float16Type, T>(array, out, f64::from),
        DataType::Int64 => primitive::<Int64Type, T>(array, out, |value| value as f64),
        DataType::Int32 => primitive::<Int32Type, T>(array, out, f64::from),
        DataType::Int16 => primitive::<Int16Type, T>(array, out, f64::from),
        DataType::Int8 => primitive::<Int8Type, T>(array, out, f64::from),
        DataType::UInt64 => primitive::<UInt64Type, T>(array, out, |value| value as f64),
        DataType::UInt32 => primitive::<UInt32Type, T>(array, out, f64::from),
        DataType::UInt16 => primitive::<UInt16Type, T>(array, out, f64::from),
        DataType::UInt8 => primitive::<UInt8Type, T>(array, out, f64::from),
        DataType::Decimal128(_, scale) => {
            let unit = 10f64.powi(i32::from(*scale));
            primitive::<Decimal128Type, T>(array, out, |value| value as f64 / unit);
        }
        DataType::Boolean => {
            for (value, out) in array.as_boolean().iter().zip(out) {
                *out = value.map_or(T::MISSING, |value| T::of(f64::from(u8::from(value))));
            }
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut values = vec![T::MISSING; dictionary.values().len()];
            fill(dictionary.values().as_ref(), &mut values);
            for ((row, key), out) in dictionary.normalized_keys().into_iter().enumerate().zip(out) {
                if !dictionary.is_null(row) {
                    *out = values[key];
                }
            }
        }
        _ => {}
    }
}

fn primitive<A: ArrowPrimitiveType, T: Number>(array: &dyn Array, out: &mut [T], number: impl Fn(A::Native) -> f64) {
    let array = array.as_primitive::<A>();
    for (value, out) in array.values().iter().zip(out.iter_mut()) {
        *out = T::of(number(*value));
    }
    if let Some(nulls) = array.nulls() {
        (0..array.len()).filter(|row| nulls.is_null(*row)).for_each(|row| out[row] = T::MISSING);
    }
}

fn shaped<T: Number>(py: Python<'_>, values: Vec<T>, n_rows: usize, n_columns: usize) -> PyResult<Bound<'_, PyAny>> {
    let flat = PyArray1::from_vec(py, values);
    Ok(flat.reshape_with_order([n_rows, n_columns], NPY_ORDER::NPY_FORTRANORDER)?.into_any())
}

/// Query ids: integers, strings, or floats, which the caller checks.
fn query_ids<'py>(py: Python<'py>, data_type: &DataType, chunks: &[&dyn Array]) -> PyResult<Bound<'py, PyAny>> {
    if chunks.iter().any(|chunk| chunk.logical_null_count() > 0) {
        return Err(PyValueError::new_err("qid has missing values"));
    }
    if data_type.is_integer() && *data_type != DataType::UInt64 {
        let mut ids = Vec::new();
        for chunk in chunks {
            match data_type {
                DataType::Int64 => integers::<Int64Type>(*chunk, &mut ids),
                DataType::Int32 => integers::<Int32Type>(*chunk, &mut ids),
                DataType::Int16 => integers::<Int16Type>(*chunk, &mut ids),
                DataType::Int8 => integers::<Int8Type>(*chunk, &mut ids),
                DataType::UInt32 => integers::<UInt32Type>(*chunk, &mut ids),
                DataType::UInt16 => integers::<UInt16Type>(*chunk, &mut ids),
                _ => integers::<UInt8Type>(*chunk, &mut ids),
            }
        }
        return Ok(PyArray1::from_vec(py, ids).into_any());
    }
    if data_type.is_floating() {
        let chunks = chunks.to_vec();
        let n_rows = chunks.iter().map(|chunk| chunk.len()).sum();
        return Ok(PyArray1::from_vec(py, matrix::<f64>(&[chunks], n_rows)).into_any());
    }
    let mut ids: Vec<String> = Vec::new();
    for chunk in chunks {
        texts(*chunk, &mut ids)
            .ok_or_else(|| PyValueError::new_err(format!("qid has type {data_type}; expected integers or strings")))?;
    }
    ids.into_bound_py_any(py)
}

fn integers<A: ArrowPrimitiveType>(array: &dyn Array, out: &mut Vec<i64>)
where
    i64: From<A::Native>,
{
    out.extend(array.as_primitive::<A>().values().iter().map(|id| i64::from(*id)));
}

/// The strings of an array; `None` if it has something else.
fn texts(array: &dyn Array, out: &mut Vec<String>) -> Option<()> {
    let own = |text: Option<&str>| text.unwrap_or_default().to_owned();
    match array.data_type() {
        DataType::Utf8 => out.extend(array.as_string::<i32>().iter().map(own)),
        DataType::LargeUtf8 => out.extend(array.as_string::<i64>().iter().map(own)),
        DataType::Utf8View => out.extend(array.as_string_view().iter().map(own)),
        DataType::UInt64 => out.extend(array.as_primitive::<UInt64Type>().values().iter().map(u64::to_string)),
        DataType::Int64 => out.extend(array.as_primitive::<Int64Type>().values().iter().map(i64::to_string)),
        DataType::Int32 => out.extend(array.as_primitive::<Int32Type>().values().iter().map(i32::to_string)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut known = Vec::new();
            texts(dictionary.values().as_ref(), &mut known)?;
            out.extend(dictionary.normalized_keys().into_iter().map(|key| known[key].clone()));
        }
        _ => return None,
    }
    Some(())
}
