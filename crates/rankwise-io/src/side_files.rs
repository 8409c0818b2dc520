//! Side files next to `DATA`: `DATA.query`, `DATA.weight`, `DATA.query_weight`, `DATA.group_weights`, `DATA.position`,
//! `DATA.pairs`.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rankwise_data::{DataError, DatasetBuilder, Pair};

use crate::byte_stream::ByteStream;
use crate::error::IoError;
use crate::lists::read_list;
use crate::number;
use crate::options::{ReadOptions, Role};
use crate::problem::{Problem, name};
use crate::report::SideFile;
use crate::row_lines::data_error;

pub(crate) const SIZES: &str = ".query";
pub(crate) const ROW_WEIGHTS: &str = ".weight";
pub(crate) const QUERY_WEIGHTS: &str = ".query_weight";
pub(crate) const WEIGHTS_BY_ID: &str = ".group_weights";
pub(crate) const POSITIONS: &str = ".position";
pub(crate) const PAIRS: &str = ".pairs";
const SUFFIXES: [&str; 6] = [SIZES, ROW_WEIGHTS, QUERY_WEIGHTS, WEIGHTS_BY_ID, POSITIONS, PAIRS];

/// The format of a line of pairs.
const PAIR_LINE: &str = "the row numbers of winner and loser, counted from 0, then optionally a weight of at least 0 and a probability from 0 to 1";

/// The content of the side files of a data file.
#[derive(Default)]
pub(crate) struct SideFiles {
    pub(crate) sizes: Option<(PathBuf, Vec<usize>)>,
    pub(crate) row_weights: Option<(PathBuf, Vec<f32>)>,
    pub(crate) query_weights: Option<(PathBuf, Vec<f32>)>,
    pub(crate) weights_by_id: Option<(PathBuf, Vec<(String, f32)>)>,
    pub(crate) positions: Option<(PathBuf, Vec<u32>)>,
    pub(crate) pairs: Option<(PathBuf, Vec<Pair>)>,
}

impl SideFiles {
    /// Reads the side files that exist. For a compressed file they can be next to its full name, which is tried first,
    /// or next to its name without `.gz` or `.zst`.
    pub(crate) fn read(data: &Path) -> Result<Self, IoError> {
        let files = Self {
            sizes: read_beside(data, SIZES, "the number of rows of a query", integer)?,
            row_weights: read_beside(data, ROW_WEIGHTS, "a weight of at least 0", weight)?,
            query_weights: read_beside(data, QUERY_WEIGHTS, "a weight of at least 0", weight)?,
            weights_by_id: read_beside(
                data,
                WEIGHTS_BY_ID,
                "a query id, a tab and a weight of at least 0",
                id_and_weight,
            )?,
            positions: read_beside(data, POSITIONS, "a position, an integer from 0 to 4294967295", integer)?,
            pairs: read_beside(data, PAIRS, PAIR_LINE, pair)?,
        };
        if let (Some((path, _)), Some((other, _))) = (&files.weights_by_id, &files.query_weights) {
            let other = other.display().to_string();
            return Err(IoError::GivenTwice { path: path.clone(), other, what: "query weights" });
        }
        Ok(files)
    }

    /// Reads pairs from the given file, if there is none next to the data.
    pub(crate) fn with_pairs(mut self, path: Option<&Path>) -> Result<Self, IoError> {
        let Some(path) = path else { return Ok(self) };
        if let Some((beside, _)) = self.pairs {
            let other = beside.display().to_string();
            return Err(IoError::GivenTwice { path: path.into(), other, what: "pairs" });
        }
        let pairs = read_list(ByteStream::open(path)?, PAIR_LINE, pair)?;
        if pairs.is_empty() {
            return Err(IoError::NoPairs { path: path.into() });
        }
        self.pairs = Some((path.into(), pairs));
        Ok(self)
    }

    /// The file of query sizes, if there is one.
    pub(crate) fn sizes_path(&self) -> Option<&Path> {
        self.sizes.as_ref().map(|(path, _)| path.as_path())
    }

    /// The side file that has the same role as a column.
    pub(crate) fn path_of(&self, role: Role) -> Option<&Path> {
        match role {
            Role::Qid => self.sizes_path(),
            Role::Weight => self.row_weights.as_ref().map(|(path, _)| path.as_path()),
            Role::QueryWeight => {
                let by_id = self.weights_by_id.as_ref().map(|(path, _)| path.as_path());
                self.query_weights.as_ref().map(|(path, _)| path.as_path()).or(by_id)
            }
            Role::Position => self.positions.as_ref().map(|(path, _)| path.as_path()),
            Role::Label | Role::DocId | Role::Feature(_) | Role::Ignored => None,
        }
    }

    /// The side files with an entry for every row or query, by extension.
    pub(crate) fn by_row(&self) -> Vec<(&'static str, Option<PathBuf>)> {
        let of_role = |role: Role| self.path_of(role).map(Into::into);
        let by_id = self.weights_by_id.is_some();
        vec![
            (SIZES, of_role(Role::Qid)),
            (ROW_WEIGHTS, of_role(Role::Weight)),
            (if by_id { WEIGHTS_BY_ID } else { QUERY_WEIGHTS }, of_role(Role::QueryWeight)),
            (POSITIONS, of_role(Role::Position)),
        ]
    }

    /// All side files, with their roles.
    pub(crate) fn list(&self) -> Vec<SideFile> {
        let pairs = self.pairs.as_ref().map(|(path, _)| path.as_path());
        let all = [
            (self.path_of(Role::Qid), "query sizes"),
            (self.path_of(Role::Weight), "document weights"),
            (self.path_of(Role::QueryWeight), "query weights"),
            (self.path_of(Role::Position), "positions"),
            (pairs, "pairs"),
        ];
        all.into_iter().filter_map(|(path, role)| Some(SideFile { path: path?.into(), role })).collect()
    }

    /// Passes the numbers to the builder and keeps the file names for errors.
    pub(crate) fn give_to(self, builder: &mut DatasetBuilder) -> SideNames {
        let names = SideNames {
            sizes: self.sizes_path().map(Into::into),
            row_weights: self.path_of(Role::Weight).map(Into::into),
            query_weights: self.path_of(Role::QueryWeight).map(Into::into),
            positions: self.path_of(Role::Position).map(Into::into),
            pairs: self.pairs.as_ref().map(|(path, _)| path.clone()),
        };
        if let Some((_, sizes)) = self.sizes {
            builder.group_sizes(sizes);
        }
        if let Some((_, weights)) = self.row_weights {
            builder.row_weights(weights);
        }
        if let Some((_, weights)) = self.query_weights {
            builder.query_weights(weights);
        }
        if let Some((_, by_id)) = self.weights_by_id {
            let ids = by_id.iter().map(|(id, _)| id.as_str()).collect();
            builder.query_weights_by_id(ids, by_id.iter().map(|(_, weight)| *weight).collect());
        }
        if let Some((_, positions)) = self.positions {
            builder.positions(positions);
        }
        if let Some((_, pairs)) = self.pairs {
            builder.pairs(pairs);
        }
        names
    }
}

fn weight(line: &[u8]) -> Option<f32> {
    number::parse_weight(line)
}

fn integer<T: std::str::FromStr>(line: &[u8]) -> Option<T> {
    // The parser would accept a plus sign.
    let digits = std::str::from_utf8(line).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits?.parse().ok()
}

fn id_and_weight(line: &[u8]) -> Option<(String, f32)> {
    let blank = line.iter().rposition(|byte| *byte == b'\t').or_else(|| line.iter().rposition(|byte| *byte == b' '))?;
    let id = name(line[..blank].trim_ascii(), "query id").ok().filter(|id| !id.is_empty())?;
    Some((id.to_owned(), weight(line[blank + 1..].trim_ascii())?))
}

fn pair(line: &[u8]) -> Option<Pair> {
    let mut parts = line.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty());
    let (winner, loser) = (integer(parts.next()?)?, integer(parts.next()?)?);
    let of_pair = parts.next().map_or(Some(1.0), weight)?;
    let probability = parts.next().map_or(Some(1.0), weight).filter(|probability| *probability <= 1.0)?;
    parts.next().is_none().then_some(Pair { winner, loser, weight: of_pair, probability })
}

/// The paths at which side files of a data file are expected.
pub fn side_file_paths(data: &Path) -> Vec<PathBuf> {
    let plain = without_compression(data);
    let places = [Some(data), plain.as_deref()].into_iter().flatten();
    places.flat_map(|place| SUFFIXES.map(|suffix| with_suffix(place, suffix))).collect()
}

/// Whether a path is a side file of one of these data files.
pub(crate) fn is_beside(path: &Path, data: &HashSet<PathBuf>) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    SUFFIXES.iter().filter(|suffix| name.ends_with(suffix.as_bytes())).any(|suffix| {
        // The extensions are ASCII, of the form `.word`.
        let stem = path.with_extension("");
        with_suffix(&stem, suffix) == path
            && ["", ".gz", ".zst"].iter().any(|end| data.contains(&with_suffix(&stem, end)))
    })
}

/// The path at which query sizes are expected.
pub(crate) fn expected_sizes_path(data: &Path) -> PathBuf {
    with_suffix(data, SIZES)
}

/// The paths of the side files in use.
pub(crate) struct SideNames {
    sizes: Option<PathBuf>,
    row_weights: Option<PathBuf>,
    query_weights: Option<PathBuf>,
    positions: Option<PathBuf>,
    pairs: Option<PathBuf>,
}

impl SideNames {
    /// Adds the file to fix to an error.
    pub(crate) fn explain(self, data: &Path, options: &ReadOptions, source: DataError) -> IoError {
        let side = match source {
            DataError::Pair { pair, problem } => {
                // Each line has one pair, and empty lines are only at the end.
                let (path, line) = (self.pairs.unwrap_or_else(|| data.into()), pair as u64);
                return IoError::Line { path, line, column: 1, found: String::new(), problem: Problem::Pair(problem) };
            }
            DataError::Length { what: "document weights", .. } | DataError::Weight { what: "row", .. } => {
                self.row_weights
            }
            DataError::Length { what: "positions", .. } => self.positions,
            DataError::Length { what: "query weights", .. }
            | DataError::Weight { .. }
            | DataError::QueryWeightMissing { .. }
            | DataError::QueryWeightTwice { .. } => self.query_weights,
            DataError::GroupSizes { .. } => self.sizes,
            _ => None,
        };
        match side {
            Some(path) => IoError::Data { path, source },
            None => data_error(data, options, source),
        }
    }
}

/// Reads the first of the paths that exists.
fn read_beside<T>(
    data: &Path,
    suffix: &str,
    expected: &'static str,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<Option<(PathBuf, Vec<T>)>, IoError> {
    let plain = without_compression(data);
    for place in [Some(data), plain.as_deref()].into_iter().flatten() {
        let path = with_suffix(place, suffix);
        match ByteStream::open(&path) {
            Ok(source) => return Ok(Some((path, read_list(source, expected, parse)?))),
            // A name that is too long for the system cannot be a file.
            Err(IoError::File { source, .. })
                if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The path without `.gz` or `.zst`, if it has one of them.
pub(crate) fn without_compression(path: &Path) -> Option<PathBuf> {
    let ending = path.extension()?;
    (ending.eq_ignore_ascii_case("gz") || ending.eq_ignore_ascii_case("zst")).then(|| path.with_extension(""))
}
