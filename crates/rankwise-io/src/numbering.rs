//! Renumbers and names features: applies `feature_offset` and `feature_names` to data with numbered features.
//!
//! ```text
//! file        1:0.5 2:3      ids 1, 2
//! offset -1                  ids 0, 1
//! names       0 bm25, 1 age  ids 0, 1 with names; for a model with names, the ids that it has for them
//! ```
//!
//! Row keys, and so the canonical order and the fingerprint, still depend on the numbers in the file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use rankwise_data::Dataset;

use crate::byte_stream::ByteStream;
use crate::column_problem::ColumnProblem;
use crate::columns::quoted;
use crate::error::IoError;
use crate::lists::read_list;
use crate::options::ReadOptions;

const EXPECTED: &str = "a feature number, a space and a name";

/// Reads feature names, one number and name per line.
pub fn read_feature_names(path: &Path) -> Result<BTreeMap<u32, String>, IoError> {
    let (mut names, mut known) = (BTreeMap::new(), HashSet::new());
    let refuse = |problem| Err(IoError::Columns { path: path.into(), problem });
    for (feature, name) in read_list(ByteStream::open(path)?, EXPECTED, parse_line)? {
        if !known.insert(name.clone()) {
            return refuse(ColumnProblem::NameTwice { name: quoted(&name) });
        }
        if names.insert(feature, name).is_some() {
            return refuse(ColumnProblem::NumberTwice { feature });
        }
    }
    if names.is_empty() {
        return refuse(ColumnProblem::NoNames);
    }
    Ok(names)
}

fn parse_line(line: &[u8]) -> Option<(u32, String)> {
    let (number, name) = std::str::from_utf8(line).ok()?.split_once(char::is_whitespace)?;
    let name = name.trim();
    (!name.is_empty() && !name.contains(char::is_control)).then(|| Some((number.parse().ok()?, name.to_owned())))?
}

/// Applies the numbers and names that the options set.
pub(crate) fn apply(data: Dataset, options: &ReadOptions, path: &Path) -> Result<Dataset, IoError> {
    let (offset, file) = (options.layout.feature_offset, options.layout.feature_names.as_deref());
    if offset == 0 && file.is_none() {
        return Ok(data);
    }
    let at_path = |problem| IoError::Columns { path: path.into(), problem };
    if !data.feature_names().is_empty() {
        // The names may be meant for another file of the same command, such as a LETOR validation set.
        return if offset == 0 { Ok(data) } else { Err(at_path(ColumnProblem::NamedAlready)) };
    }
    let shifted = |feature: &u32| {
        let id = i64::from(*feature) + i64::from(offset);
        let id = u32::try_from(id).map_err(|_| at_path(ColumnProblem::Offset { feature: *feature, offset }))?;
        Ok((*feature, id))
    };
    let shifted = data.feature_ids().iter().map(shifted).collect::<Result<Vec<(u32, u32)>, IoError>>()?;
    let Some(file) = file else { return Ok(data.renumbered(&shifted, Vec::new())) };
    let names = Names { by_id: read_feature_names(file)?, file };
    match &options.features {
        None => names.give_to(data, &shifted),
        Some(wanted) => names.give_wanted(data, &shifted, wanted, options),
    }
    .map_err(at_path)
}

/// Feature names and their file.
struct Names<'a> {
    by_id: BTreeMap<u32, String>,
    file: &'a Path,
}

impl Names<'_> {
    /// Names every feature of the data. `pairs` map old to new ids.
    fn give_to(&self, data: Dataset, pairs: &[(u32, u32)]) -> Result<Dataset, ColumnProblem> {
        let named = |(_, id): &(u32, u32)| match self.by_id.get(id) {
            Some(name) => Ok((*id, name.clone())),
            None => Err(ColumnProblem::Nameless { feature: *id, file: self.file.display().to_string() }),
        };
        let names = pairs.iter().map(named).collect::<Result<_, _>>()?;
        Ok(data.renumbered(pairs, names))
    }

    /// Gives the requested features their requested ids; other features, if accepted, get larger ids.
    fn give_wanted(
        &self,
        data: Dataset,
        pairs: &[(u32, u32)],
        wanted: &[(u32, String)],
        options: &ReadOptions,
    ) -> Result<Dataset, ColumnProblem> {
        let known: HashSet<&str> = self.by_id.values().map(String::as_str).collect();
        if let Some((_, name)) = wanted.iter().find(|(_, name)| !known.contains(name.as_str())) {
            let (feature, file) = (quoted(name), self.file.display().to_string());
            return Err(ColumnProblem::NameMissing { owner: options.feature_owner, feature, file });
        }
        let ids: HashMap<&str, u32> = wanted.iter().map(|(id, name)| (name.as_str(), *id)).collect();
        let mut next = wanted.iter().map(|(id, _)| id + 1).max().unwrap_or(0);
        let (mut names, mut wanted_pairs) = (wanted.to_vec(), Vec::new());
        for (old, shifted) in pairs {
            let Some(name) = self.by_id.get(shifted) else { continue };
            match ids.get(name.as_str()) {
                Some(id) => wanted_pairs.push((*old, *id)),
                None if options.takes_more_features => {
                    wanted_pairs.push((*old, next));
                    names.push((next, name.clone()));
                    next += 1;
                }
                None => {}
            }
        }
        Ok(data.renumbered(&wanted_pairs, names))
    }
}
