//! Finds the files that a path refers to.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::PartProblem;
use crate::error::{Action, IoError, is_stream};
use crate::options::Format;
use crate::side_files;

const PATTERN: [char; 3] = ['*', '?', '['];

/// The files that paths, folders and patterns refer to.
///
/// * A folder refers to the files in it with a data extension (`.txt`, `.letor`, `.svm`, `.csv`, `.tsv`, `.parquet` or
///   `.pq`, possibly followed by `.gz` or `.zst`), sorted by name. Side files, subfolders, and names that begin with
///   `.` or `_` are ignored.
/// * A path with `*`, `?` or `[` that is not an existing file is a pattern; `**` matches any number of folders. It
///   refers to the matching files and folders, sorted by name.
/// * Any other path refers to itself.
///
/// If there are several files, side files among them are ignored, because `part-*` may match them. It is an error if a
/// folder or pattern yields no file, or if a file occurs twice.
pub fn find_data_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, IoError> {
    let mut files = Vec::new();
    for path in paths {
        match path {
            path if is_stream(path) => files.push(path.clone()),
            path if path.is_dir() => add_folder(path, &mut files)?,
            path if is_pattern(path) => add_matches(path, &mut files)?,
            path => files.push(path.clone()),
        }
    }
    if files.len() > 1 {
        let all: HashSet<PathBuf> = files.iter().cloned().collect();
        files.retain(|path| !side_files::is_beside(path, &all));
    }
    if files.len() > 1 {
        check_several(&files)?;
    }
    Ok(files)
}

fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains(PATTERN)) && path.symlink_metadata().is_err()
}

fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), IoError> {
    let fault = |source| IoError::File { path: folder.into(), action: Action::Read, source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_hidden = name.starts_with(b".") || name.starts_with(b"_");
        if !is_hidden && Format::of_name(&path).is_some() && path.is_file() {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(IoError::Part { path: folder.into(), problem: PartProblem::EmptyFolder });
    }
    found.sort();
    files.append(&mut found);
    Ok(())
}

fn add_matches(pattern: &Path, files: &mut Vec<PathBuf>) -> Result<(), IoError> {
    let problem = |problem| IoError::Part { path: pattern.into(), problem };
    // As in a shell, wildcards do not match a leading dot.
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
    let text = pattern.to_str().unwrap_or_default();
    let matches = glob::glob_with(text, options)
        .map_err(|error| problem(PartProblem::Pattern { reason: error.msg.to_owned() }))?;
    let n_before = files.len();
    for path in matches {
        let path = path.map_err(|error| {
            let path = error.path().to_owned();
            IoError::File { path, action: Action::Read, source: error.into() }
        })?;
        if path.is_dir() {
            add_folder(&path, files)?;
        } else {
            files.push(path);
        }
    }
    if files.len() == n_before { Err(problem(PartProblem::NoMatch)) } else { Ok(()) }
}

/// Rejects streams, because files are read more than once, and duplicates, so that no row counts twice by mistake.
fn check_several(files: &[PathBuf]) -> Result<(), IoError> {
    let mut known = HashSet::new();
    for path in files {
        let problem = |problem| Err(IoError::Part { path: path.clone(), problem });
        let is_other = path.metadata().is_ok_and(|metadata| !metadata.is_file());
        if is_stream(path) || is_other {
            return problem(PartProblem::Stream);
        }
        if let Ok(file) = path.canonicalize()
            && !known.insert(file)
        {
            return problem(PartProblem::Twice);
        }
    }
    Ok(())
}
