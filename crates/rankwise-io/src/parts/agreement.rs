//! Checks what all files of a dataset must have in common.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rankwise_params::ParamValue as _;

use crate::columns::quoted;
use crate::error::IoError;
use crate::options::{Format, Role};
use crate::resolved::Resolved;
use crate::side_files::{SideFiles, with_suffix};

/// Why files do not make one dataset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartProblem {
    /// No path was given.
    #[error("no data; give at least one file, folder or pattern")]
    NoPath,
    /// A folder without data files.
    #[error(
        "no data files in this folder (extensions .txt, .letor, .svm, .csv, .tsv, .parquet or .pq, optionally with .gz \
         or .zst); subfolders are not searched"
    )]
    EmptyFolder,
    /// A pattern without a match.
    #[error("no file matches this pattern; check it and the current folder")]
    NoMatch,
    /// An invalid pattern.
    #[error("invalid file pattern ({reason}); write * for any characters and ? for one")]
    Pattern {
        /// What is wrong.
        reason: String,
    },
    /// The same file was given twice.
    #[error("this file is given twice, so its rows would count twice; give it once")]
    Twice,
    /// Standard input or a pipe together with other files.
    #[error("standard input and pipes cannot be combined with other files; use it alone, or save it as a file")]
    Stream,
    /// A cache of binned data together with other files.
    #[error("a cache of binned data cannot be combined with other files; use it alone")]
    Cache,
    /// One file of pairs for several data files.
    #[error(
        "`pairs` refers to the rows of one file; for several files, write the pairs of each to FILE.pairs next to it"
    )]
    Pairs,
    /// Different formats without column names to match.
    #[error(
        "this is {found}, but {} is {expected}; only tables with column names can be mixed, so convert one of them",
        other.display()
    )]
    Format {
        /// The format of this file.
        found: String,
        /// The other file.
        other: PathBuf,
        /// Its format.
        expected: String,
    },
    /// Only one of two files has column names.
    #[error("{} in {}; give all files a header, or none", named(*is_named), other.display())]
    Names {
        /// Whether this file has them.
        is_named: bool,
        /// The other file.
        other: PathBuf,
    },
    /// Tables without column names that differ in width.
    #[error("{found} columns here, but {expected} in {}; give all files the same columns", other.display())]
    Width {
        /// The number of columns of this file.
        found: usize,
        /// The other file.
        other: PathBuf,
        /// Its number of columns.
        expected: usize,
    },
    /// A column of another file is missing.
    #[error("no column {column}, which {} has; give all files the same columns", other.display())]
    ColumnMissing {
        /// The column.
        column: String,
        /// The other file.
        other: PathBuf,
    },
    /// A column has another role than in another file.
    #[error("column {column} is the {found} here, but the {expected} in {}; give columns by name instead of number",
             other.display())]
    Role {
        /// The column.
        column: String,
        /// Its role here.
        found: &'static str,
        /// The other file.
        other: PathBuf,
        /// Its role there.
        expected: &'static str,
    },
    /// A column has another type than in another file.
    #[error("column {column} contains {found} here, but {expected} in {}; use one type", other.display())]
    Type {
        /// The column.
        column: String,
        /// Its type here.
        found: &'static str,
        /// The other file.
        other: PathBuf,
        /// Its type there.
        expected: &'static str,
    },
    /// A side file is missing that other files have.
    #[error("no such file, but {} exists; provide one for every data file, or for none", other.display())]
    SideFile {
        /// The side file of another file.
        other: PathBuf,
    },
}

fn named(is_named: bool) -> &'static str {
    if is_named { "the columns have names here, but none" } else { "the columns have no names here, but they have" }
}

/// What the first file by path defines for all.
pub(crate) struct Agreement {
    path: PathBuf,
    format: Format,
    /// The columns of a table.
    resolved: Option<Resolved>,
    /// The columns by name.
    by_name: HashMap<String, usize>,
    /// The side files, by extension, if they exist.
    side_files: Vec<(&'static str, Option<PathBuf>)>,
}

impl Agreement {
    pub(super) fn new(path: &Path, format: Format, resolved: Option<Resolved>, side_files: &SideFiles) -> Self {
        let names = resolved.as_ref().and_then(|resolved| resolved.names.as_deref()).unwrap_or_default();
        let by_name = names.iter().cloned().zip(0..).collect();
        Self { path: path.into(), format, resolved, by_name, side_files: side_files.by_row() }
    }

    pub(super) fn resolved(&self) -> Option<&Resolved> {
        self.resolved.as_ref()
    }

    pub(super) fn into_feature_names(self) -> Vec<(u32, String)> {
        self.resolved.map(|resolved| resolved.columns.feature_names).unwrap_or_default()
    }

    /// Files of different formats need column names.
    pub(super) fn check_format(&self, path: &Path, format: Format) -> Result<(), IoError> {
        let is_named = self.resolved.as_ref().is_some_and(|resolved| resolved.names.is_some());
        if format == self.format || (is_named && format != Format::Letor) {
            return Ok(());
        }
        let problem =
            PartProblem::Format { found: format.render(), other: self.path.clone(), expected: self.format.render() };
        Err(IoError::Part { path: path.into(), problem })
    }

    /// If one file has a kind of side file, all must have it.
    pub(super) fn check_side_files(&self, path: &Path, side_files: &SideFiles) -> Result<(), IoError> {
        for ((suffix, expected), (_, found)) in self.side_files.iter().zip(side_files.by_row()) {
            let (without, other) = match (expected, found) {
                (Some(other), None) => (path, other.clone()),
                (None, Some(other)) => (self.path.as_path(), other),
                _ => continue,
            };
            return Err(IoError::Part { path: with_suffix(without, suffix), problem: PartProblem::SideFile { other } });
        }
        Ok(())
    }

    /// Gives the columns of another file the roles that they have in the first.
    pub(crate) fn apply(&self, path: &Path, found: Resolved) -> Result<Resolved, IoError> {
        let at = |path: &Path, problem| Err(IoError::Part { path: path.into(), problem });
        let Some(first) = &self.resolved else { return Ok(found) };
        let (Some(names), Some(first_names)) = (&found.names, &first.names) else {
            let (n_found, n_first) = (found.columns.roles.len(), first.columns.roles.len());
            let other = self.path.clone();
            return match &found.names {
                Some(_) => at(path, PartProblem::Names { is_named: true, other }),
                None if first.names.is_some() => at(path, PartProblem::Names { is_named: false, other }),
                None if n_found != n_first => at(path, PartProblem::Width { found: n_found, other, expected: n_first }),
                None => Ok(found),
            };
        };
        let here: HashMap<&str, Role> = names.iter().map(String::as_str).zip(found.columns.roles.clone()).collect();
        let is_used = |role: &Role| *role != Role::Ignored;
        for (name, role) in first_names.iter().zip(&first.columns.roles).filter(|(_, role)| is_used(role)) {
            let (column, other) = (quoted(name), self.path.clone());
            match here.get(name.as_str()).copied().filter(is_used) {
                None => return at(path, PartProblem::ColumnMissing { column, other }),
                Some(found) if found.name() != role.name() => {
                    let (found, expected) = (found.noun(), role.noun());
                    return at(path, PartProblem::Role { column, found, other, expected });
                }
                Some(_) => {}
            }
        }
        let mut roles = Vec::with_capacity(names.len());
        for (name, role) in names.iter().zip(&found.columns.roles) {
            let first_role = self.by_name.get(name).map(|column| first.columns.roles[*column]).filter(is_used);
            if is_used(role) && first_role.is_none() {
                let (column, other) = (quoted(name), path.into());
                return at(&self.path, PartProblem::ColumnMissing { column, other });
            }
            roles.push(first_role.unwrap_or(Role::Ignored));
        }
        let mut found = found;
        found.columns.roles = roles;
        found.columns.feature_names.clone_from(&first.columns.feature_names);
        Ok(found)
    }
}
