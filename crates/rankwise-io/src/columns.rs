//! Determines the role of each column of a table, from the column names and the options.
//!
//! Feature ids: if every feature column is named by an integer, or by `f`, `feature`, `col` or `column` (the same
//! prefix in all, in any case, with or without `_`) and an integer, then that integer is the feature's id, and the
//! names are not kept. Otherwise features are numbered 0, 1, ... in the order of the feature columns, and the names are
//! kept.

use std::collections::HashMap;

use crate::column_problem::{ColumnProblem, TakenColumn};
use crate::options::{LayoutSpec, ReadOptions, Role};

/// The option value that means there is no such column.
const NONE: &str = "none";
/// Maximum number of columns in a message.
const MAX_LISTED: usize = 12;

/// The role of every column of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns {
    pub(crate) roles: Vec<Role>,
    /// For messages: the names, or the numbers of unnamed columns.
    pub(crate) shown: Vec<String>,
    /// The names of the features, if they have names besides their ids.
    pub(crate) feature_names: Vec<(u32, String)>,
}

/// The columns of a table, as in the file.
pub(crate) enum Names<'a> {
    /// The first line of a text.
    Header(&'a [String]),
    /// Stored apart from the rows, as in Parquet.
    Stored(&'a [String]),
    /// The number of unnamed columns.
    Count(usize),
}

impl<'a> Names<'a> {
    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Header(names) | Self::Stored(names) => names.len(),
            Self::Count(count) => *count,
        }
    }

    /// The names, if there are any.
    pub(crate) fn given(&self) -> Option<&'a [String]> {
        match self {
            Self::Header(names) | Self::Stored(names) => Some(names),
            Self::Count(_) => None,
        }
    }

    /// Whether the names are a line that could be a row instead.
    fn is_line(&self) -> bool {
        matches!(self, Self::Header(_))
    }
}

/// Determines the role of each column. `has_sizes` says whether a side file gives the query sizes.
pub(crate) fn resolve(names: &Names<'_>, options: &ReadOptions, has_sizes: bool) -> Result<Columns, ColumnProblem> {
    let table = Table::new(names)?;
    let mut roles: Vec<Option<Role>> = vec![None; table.shown.len()];
    table.assign_typed(&options.layout, &mut roles)?;
    match names.given() {
        Some(names) => table.assign_usual(names, options, &mut roles)?,
        None => assign_places(&options.layout, has_sizes, &mut roles),
    }
    let label_wanted = !options.is_label_optional && options.layout.label_column.as_deref() != Some(NONE);
    if label_wanted && !roles.contains(&Some(Role::Label)) {
        let taken = taken(&roles, names, &options.layout, Role::Label);
        return Err(ColumnProblem::NoLabel { taken, is_header: names.is_line(), columns: table.list() });
    }
    let feature_names = table.number_features(names, options, &mut roles)?;
    let roles = roles.into_iter().map(|role| role.unwrap_or(Role::Ignored)).collect();
    Ok(Columns { roles, shown: table.shown, feature_names })
}

/// A column whose name is usual for a role, but that has another one or that an option ignores.
fn taken(roles: &[Option<Role>], names: &Names<'_>, layout: &LayoutSpec, wanted: Role) -> Option<TakenColumn> {
    let names = names.given()?;
    let usual = (0..names.len()).filter(|column| wanted.is_usual(&names[*column]));
    let taken = usual.filter_map(|column| match roles[column] {
        Some(Role::Feature(_)) | None => None,
        Some(Role::Ignored) if !layout.ignores(&names[column], column) => None,
        Some(Role::Ignored) => Some(TakenColumn { column: quoted(&names[column]), role: None }),
        Some(role) => (role != wanted).then(|| TakenColumn { column: quoted(&names[column]), role: Some(role.noun()) }),
    });
    // The one that is used rather than the one that is ignored.
    taken.max_by_key(|taken| taken.role.is_some())
}

struct Table<'a> {
    names: &'a [String],
    shown: Vec<String>,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Table<'a> {
    fn new(names: &Names<'a>) -> Result<Self, ColumnProblem> {
        let is_header = names.is_line();
        let Some(names) = names.given() else {
            let shown = (0..names.len()).map(|number| number.to_string()).collect();
            return Ok(Self { names: &[], shown, by_name: HashMap::new() });
        };
        let mut by_name = HashMap::new();
        for (number, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            if by_name.insert(name.as_str(), number).is_some() {
                return Err(ColumnProblem::SameName { name: quoted(name), is_header });
            }
        }
        Ok(Self { names, shown: names.iter().map(|name| quoted(name)).collect(), by_name })
    }

    /// Finds a column by name or, failing that, by number.
    fn find(&self, option: &str, typed: &str) -> Result<usize, ColumnProblem> {
        let number = || typed.parse::<usize>().ok().filter(|number| *number < self.shown.len());
        self.by_name.get(typed).copied().or_else(number).ok_or_else(|| self.unknown(option, typed))
    }

    fn unknown(&self, option: &str, typed: &str) -> ColumnProblem {
        // A number that is no column resembles many names.
        let is_number = typed.parse::<i64>().is_ok();
        let nearest = rankwise_params::nearest(typed, self.names.iter().map(String::as_str)).filter(|_| !is_number);
        ColumnProblem::Unknown {
            option: option.into(),
            typed: crate::problem::shown(typed.as_bytes()),
            nearest: nearest.map(quoted),
            columns: self.list(),
        }
    }

    /// Assigns the roles that the options set.
    fn assign_typed(&self, layout: &LayoutSpec, roles: &mut [Option<Role>]) -> Result<(), ColumnProblem> {
        let named = layout.roles().into_iter().filter_map(|(role, option, typed)| Some((role, option, typed?)));
        let ignored = layout.ignore_columns.iter().map(|typed| (Role::Ignored, "`ignore_columns`", typed.as_str()));
        for (role, option, typed) in named.filter(|(_, _, typed)| *typed != NONE).chain(ignored) {
            let column = self.find(option, typed)?;
            match roles[column] {
                Some(first) if first != role => {
                    let column = self.shown[column].clone();
                    let naming = layout.roles().into_iter().find(|(named, ..)| *named == first);
                    if let (Role::Ignored, Some((_, option, _))) = (role, naming) {
                        return Err(ColumnProblem::NamedAndIgnored { column, option });
                    }
                    return Err(ColumnProblem::TwoRoles { column, first: first.noun(), second: role.noun() });
                }
                _ => roles[column] = Some(role),
            }
        }
        Ok(())
    }

    /// Assigns roles by column names, unless the options set them.
    fn assign_usual(
        &self,
        names: &[String],
        options: &ReadOptions,
        roles: &mut [Option<Role>],
    ) -> Result<(), ColumnProblem> {
        for (role, option, typed) in options.layout.roles() {
            if typed.is_some() {
                continue;
            }
            let is_feature = |name: &String| {
                let wanted = options.features.iter().flatten().map(|(_, feature)| feature);
                wanted.into_iter().any(|feature| feature == name || is_blank_variant(name, feature))
            };
            let mut found = (0..names.len())
                .filter(|column| roles[*column].is_none())
                .filter(|column| role.is_usual(&names[*column]) && !is_feature(&names[*column]));
            let (first, second) = (found.next(), found.next());
            if let (Some(first), Some(second)) = (first, second) {
                let [first, second] = [first, second].map(|column| self.shown[column].clone());
                return Err(ColumnProblem::Ambiguous { first, second, noun: role.noun(), option });
            }
            if let Some(column) = first {
                roles[column] = Some(role);
            }
        }
        Ok(())
    }

    /// Makes features of the remaining columns. Returns their names, if they have names besides their ids.
    fn number_features(
        &self,
        names: &Names<'_>,
        options: &ReadOptions,
        roles: &mut [Option<Role>],
    ) -> Result<Vec<(u32, String)>, ColumnProblem> {
        let features: Vec<usize> = (0..roles.len()).filter(|column| roles[*column].is_none()).collect();
        let Some(names) = names.given() else {
            features.iter().zip(0..).for_each(|(column, id)| roles[*column] = Some(Role::Feature(id)));
            return Ok(Vec::new());
        };
        // Names for numbered columns are given later.
        let is_named_later = options.layout.feature_names.is_some() && self.ids_of_free(roles).is_some();
        if let (Some(wanted), false) = (&options.features, is_named_later) {
            for (id, name) in wanted {
                roles[self.find_feature(name, options, roles)?] = Some(Role::Feature(*id));
            }
            let mut numbered = wanted.clone();
            if options.takes_more_features {
                let first = wanted.iter().map(|(id, _)| id + 1).max().unwrap_or(0);
                let others = features.into_iter().filter(|column| roles[*column].is_none()).collect::<Vec<_>>();
                for (column, id) in others.into_iter().zip(first..) {
                    roles[column] = Some(Role::Feature(id));
                    numbered.push((id, names[column].clone()));
                }
            }
            return Ok(numbered);
        }
        if let Some(number) = features.iter().find(|column| names[**column].is_empty()) {
            return Err(ColumnProblem::NoName { number: *number });
        }
        let feature_names: Vec<&str> = features.iter().map(|column| names[*column].as_str()).collect();
        let in_names = ids_in_names(&feature_names);
        let kept = match in_names {
            Some(_) => Vec::new(),
            None => (0..).zip(feature_names).map(|(id, name)| (id, name.to_owned())).collect(),
        };
        let ids = in_names.unwrap_or_else(|| (0..features.len() as u32).collect());
        features.iter().zip(ids).for_each(|(column, id)| roles[*column] = Some(Role::Feature(id)));
        Ok(kept)
    }

    /// The feature ids in the names of the columns that have no role yet, if they are numbered.
    fn ids_of_free(&self, roles: &[Option<Role>]) -> Option<Vec<u32>> {
        let free = (0..self.names.len()).filter(|column| roles[*column].is_none());
        ids_in_names(&free.map(|column| self.names[column].as_str()).collect::<Vec<_>>())
    }

    /// The column of a feature that the model or the training data names. `_` in that name also matches a space.
    fn find_feature(&self, name: &str, options: &ReadOptions, roles: &[Option<Role>]) -> Result<usize, ColumnProblem> {
        let is_free = |column: &usize| roles[*column].is_none();
        let is_wanted = |name: &str| options.features.iter().flatten().any(|(_, wanted)| wanted == name);
        let exact = self.by_name.get(name).copied().filter(is_free);
        if let (Some(column), false) = (exact, options.is_named_by_lightgbm) {
            return Ok(column);
        }
        let variants = (0..self.names.len()).filter(is_free).filter(|column| {
            let candidate = &self.names[*column];
            is_blank_variant(candidate, name) && !is_wanted(candidate)
        });
        let found: Vec<usize> = exact.into_iter().chain(variants).collect();
        match found[..] {
            [] => Err(ColumnProblem::FeatureMissing {
                owner: options.feature_owner,
                feature: quoted(name),
                columns: self.list(),
                are_numbered: self.ids_of_free(roles).is_some(),
            }),
            [column] => Ok(column),
            [first, second, ..] => Err(ColumnProblem::TwoColumns {
                owner: options.feature_owner,
                feature: quoted(name),
                first: self.shown[first].clone(),
                second: self.shown[second].clone(),
            }),
        }
    }

    fn list(&self) -> String {
        list(&self.shown)
    }
}

impl Columns {
    /// A column whose name is usual for a role, but that has another one or that an option ignores.
    pub(crate) fn taken(&self, names: &Names<'_>, layout: &LayoutSpec, wanted: Role) -> Option<TakenColumn> {
        let roles: Vec<Option<Role>> = self.roles.iter().copied().map(Some).collect();
        taken(&roles, names, layout, wanted)
    }

    /// The features in column order, if the ids ascend.
    pub(crate) fn ascending_features(&self) -> Option<Vec<u32>> {
        let feature = |role: &Role| match role {
            Role::Feature(id) => Some(*id),
            _ => None,
        };
        let features: Vec<u32> = self.roles.iter().filter_map(feature).collect();
        features.is_sorted_by(|a, b| a < b).then_some(features)
    }

    /// Lists the columns for messages.
    pub(crate) fn list(&self) -> String {
        list(&self.shown)
    }
}

fn list(columns: &[String]) -> String {
    match columns {
        // Only names are quoted.
        [first, ..] if !first.starts_with('"') => format!("0 to {}, without names", columns.len() - 1),
        _ if columns.len() > MAX_LISTED => {
            format!("{} and {} more", columns[..MAX_LISTED].join(", "), columns.len() - MAX_LISTED)
        }
        _ => columns.join(", "),
    }
}

/// Without names, the first column is the label and the second the query id, unless a side file gives the queries.
fn assign_places(layout: &LayoutSpec, has_sizes: bool, roles: &mut [Option<Role>]) {
    if layout.column_description.is_some() {
        return;
    }
    let mut next = 0;
    let wanted = [(Role::Label, layout.label_column.is_none()), (Role::Qid, layout.qid_column.is_none() && !has_sizes)];
    for (role, is_wanted) in wanted {
        if !is_wanted {
            continue;
        }
        if let Some(place) = roles[next..].iter().position(Option::is_none) {
            roles[next + place] = Some(role);
            next += place + 1;
        }
    }
}

/// Prefixes allowed before the integer, in any case, with or without `_`. Any other word is part of a name: `ctr_7` and
/// `ctr_30` are not features 7 and 30.
const NUMBERED: [&str; 5] = ["", "f", "feature", "col", "column"];

/// The ids in the names of all features: integers, all with the same one of these prefixes. `None` if the names are
/// anything else.
fn ids_in_names(names: &[&str]) -> Option<Vec<u32>> {
    let prefix = numbering_prefix(names.first()?)?;
    let ids: Option<Vec<u32>> = names
        .iter()
        .map(|name| {
            let digits = name.strip_prefix(prefix)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        })
        .collect();
    let ids = ids?;
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.windows(2).all(|two| two[0] < two[1]).then_some(ids)
}

/// What precedes the integer in a name, if it is one of the known prefixes.
fn numbering_prefix(name: &str) -> Option<&str> {
    let prefix = name.trim_end_matches(|char: char| char.is_ascii_digit());
    let word = prefix.strip_suffix('_').filter(|word| !word.is_empty()).unwrap_or(prefix);
    NUMBERED.iter().any(|known| word.eq_ignore_ascii_case(known)).then_some(prefix)
}

/// If some of these names are feature ids, such as f2, returns the ids and the names that are not. Because of those, the
/// table counts as one with names. Returns `None` if all names are alike.
pub fn names_among_ids<'a>(names: &[&'a str]) -> Option<(Vec<u32>, Vec<&'a str>)> {
    let id_of = |name: &str| name.strip_prefix(numbering_prefix(name)?)?.parse::<u32>().ok();
    let ids: Vec<u32> = names.iter().filter_map(|name| id_of(name)).collect();
    let others: Vec<&str> = names.iter().copied().filter(|name| id_of(name).is_none()).collect();
    (!ids.is_empty() && !others.is_empty()).then_some((ids, others))
}

/// Whether a column has the name of a feature, with spaces in place of `_`.
fn is_blank_variant(column: &str, feature: &str) -> bool {
    column.contains(' ') && column.replace(' ', "_") == feature
}

/// A name for messages, shortened and quoted.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", crate::problem::shown(name.as_bytes()))
}
