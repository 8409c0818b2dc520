//! The files beside `DATA` that say what its lines do not: `DATA.query`, `DATA.weight`, `DATA.query_weight`.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rankwise_data::{DataError, DatasetBuilder};

use crate::error::IoError;
use crate::lists::read_list;
use crate::number;
use crate::source::Source;

const SIZES: &str = ".query";
const ROW_WEIGHTS: &str = ".weight";
const QUERY_WEIGHTS: &str = ".query_weight";

/// What was found beside a data file.
#[derive(Default)]
pub(crate) struct SideFiles {
    sizes: Option<(PathBuf, Vec<usize>)>,
    row_weights: Option<(PathBuf, Vec<f32>)>,
    query_weights: Option<(PathBuf, Vec<f32>)>,
}

impl SideFiles {
    /// Reads those that exist. A compressed file may have them beside its full name, which counts first, or beside its
    /// name without the ending.
    pub(crate) fn read(data: &Path) -> Result<Self, IoError> {
        let weight = |line: &[u8]| {
            let weight = number::parse(line)? as f32;
            (weight.is_finite() && weight >= 0.0).then_some(weight)
        };
        let size = |line: &[u8]| {
            let text = std::str::from_utf8(line).ok()?;
            // The parser would take a plus sign.
            text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
        };
        Ok(Self {
            sizes: read_beside(data, SIZES, "the number of rows of a query", size)?,
            row_weights: read_beside(data, ROW_WEIGHTS, "a weight of 0 or more", weight)?,
            query_weights: read_beside(data, QUERY_WEIGHTS, "a weight of 0 or more", weight)?,
        })
    }

    /// The file of query sizes, if there is one.
    pub(crate) fn sizes_path(&self) -> Option<&Path> {
        self.sizes.as_ref().map(|(path, _)| path.as_path())
    }

    /// Hands the numbers to the builder and keeps the names for errors.
    pub(crate) fn give_to(self, builder: &mut DatasetBuilder) -> SideNames {
        let mut names = SideNames::default();
        if let Some((path, sizes)) = self.sizes {
            builder.group_sizes(sizes);
            names.sizes = Some(path);
        }
        if let Some((path, weights)) = self.row_weights {
            builder.row_weights(weights);
            names.row_weights = Some(path);
        }
        if let Some((path, weights)) = self.query_weights {
            builder.query_weights(weights);
            names.query_weights = Some(path);
        }
        names
    }
}

/// Where query sizes would be looked for.
pub(crate) fn expected_sizes_path(data: &Path) -> PathBuf {
    with_suffix(data, SIZES)
}

/// The side files that were used.
#[derive(Default)]
pub(crate) struct SideNames {
    sizes: Option<PathBuf>,
    row_weights: Option<PathBuf>,
    query_weights: Option<PathBuf>,
}

impl SideNames {
    /// Puts the name of the file to mend before an error.
    pub(crate) fn explain(self, data: &Path, source: DataError) -> IoError {
        let side = match &source {
            DataError::Length { what: "row weights", .. } | DataError::Weight { what: "row", .. } => self.row_weights,
            DataError::Length { what: "query weights", .. } | DataError::Weight { .. } => self.query_weights,
            DataError::GroupSizes { .. } => self.sizes,
            _ => None,
        };
        IoError::Data { path: side.unwrap_or_else(|| data.into()), source }
    }
}

/// The first of the places that holds a file decides.
fn read_beside<T>(
    data: &Path,
    suffix: &str,
    expected: &'static str,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<Option<(PathBuf, Vec<T>)>, IoError> {
    let plain = without_compression(data);
    for place in [Some(data), plain.as_deref()].into_iter().flatten() {
        let path = with_suffix(place, suffix);
        match Source::open(&path) {
            Ok(source) => return Ok(Some((path, read_list(source, expected, parse)?))),
            // A name that is too long for the system names no file either.
            Err(IoError::File { source, .. })
                if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The path without `.gz` or `.zst`, if it ends so.
pub(crate) fn without_compression(path: &Path) -> Option<PathBuf> {
    let ending = path.extension()?;
    (ending.eq_ignore_ascii_case("gz") || ending.eq_ignore_ascii_case("zst")).then(|| path.with_extension(""))
}
