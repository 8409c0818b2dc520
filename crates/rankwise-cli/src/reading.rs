//! What was read: the files, the roles of columns, and side files.

use std::fmt::Write as _;
use std::path::Path;

use rankwise::io::{ColumnUse, ReadReport, SideFile, SplitQueries};
use rankwise::params::ParamValue as _;
use serde_json::{Value, json};

use crate::output::Output;
use crate::{files, text};

/// Maximum number of columns listed by name.
const MAX_LISTED: usize = 8;
/// Maximum number of files that `inspect` lists.
const MAX_PARTS: usize = 100;
/// The contents of side files.
const SIDE_ROLES: [&str; 5] = ["query sizes", "document weights", "query weights", "positions", "pairs"];

/// Notes how columns and side files were used, since nobody typed it.
pub(crate) fn tell(place: &Path, report: &ReadReport, output: Output) {
    tell_all(&[(place, report)], output);
}

/// [`tell`] for all datasets of a command.
pub(crate) fn tell_all(sets: &[(&Path, &ReadReport)], output: Output) {
    for (place, report) in sets {
        for remark in remarks(place, report) {
            output.remark(&remark);
        }
        note_split(report, output);
    }
    warn_names(sets, output);
}

/// Notes that queries of several files were merged, and warns if --feature-names was ignored.
pub(crate) fn tell_split(place: &Path, report: &ReadReport, output: Output) {
    note_split(report, output);
    warn_names(&[(place, report)], output);
}

/// The names may be meant for one dataset of several, such as a validation set.
fn warn_names(sets: &[(&Path, &ReadReport)], output: Output) {
    if let Some((place, _)) = sets.first().filter(|_| sets.iter().all(|(_, report)| report.ignores_names)) {
        output.warn(&format!("{}: its columns have names, so --feature-names is ignored", files::shown(place)));
    }
}

fn note_split(report: &ReadReport, output: Output) {
    if let Some(split) = &report.split_queries {
        output.note(&split_remark(split));
    }
}

fn remarks(place: &Path, report: &ReadReport) -> Vec<String> {
    let place = files::shown(place);
    let mut all = Vec::new();
    if report.parts.len() > 1 {
        let rows: usize = report.parts.iter().map(|part| part.rows).sum();
        all.push(format!(
            "{place}: read {} with {}",
            text::count(report.parts.len(), "file"),
            text::count(rows, "row")
        ));
    }
    if !report.columns.is_empty() {
        all.push(format!("{place}: columns: {}", column_list(&report.columns)));
    }
    all.extend(side_list(report));
    all
}

/// A line for each kind of side file.
fn side_list(report: &ReadReport) -> Vec<String> {
    let mut all = Vec::new();
    for role in SIDE_ROLES {
        let side: Vec<&SideFile> = report.side_files().filter(|side| side.role == role).collect();
        if let Some(first) = side.first() {
            let more = match side.len() {
                1 => String::new(),
                n_files => format!(" and {} more", n_files - 1),
            };
            all.push(format!("{}{more}: read as {role}", first.path.display()));
        }
    }
    all
}

/// "label = grade, qid = q, 46 features, ignored = url".
fn column_list(columns: &[ColumnUse]) -> String {
    let named = |role: &'static str| {
        columns.iter().filter(move |column| column.role == role).map(|column| column.name.as_str())
    };
    let mut list = Vec::new();
    for role in ["label", "qid", "doc", "weight", "query_weight", "position"] {
        list.extend(named(role).map(|name| format!("{role} = {}", shown(name))));
    }
    list.push(text::count(named("feature").count(), "feature"));
    let n_ignored = named("ignored").count();
    if n_ignored > 0 {
        let mut names = named("ignored").take(MAX_LISTED).map(shown).collect::<Vec<_>>().join(" ");
        if n_ignored > MAX_LISTED {
            let _ = write!(names, " and {} more", n_ignored - MAX_LISTED);
        }
        list.push(format!("ignored = {names}"));
    }
    list.join(", ")
}

/// A name on one line.
fn shown(name: &str) -> String {
    name.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// The files with their rows, the columns and the side files, for `inspect`.
pub(crate) fn describe(report: &ReadReport, line: &mut impl FnMut(&str, String)) {
    let parts = &report.parts;
    if parts.len() > 1 {
        line("files", text::thousands(parts.len() as u64));
        for part in parts.iter().take(MAX_PARTS) {
            line("", format!("{}: {}", part.path.display(), text::count(part.rows, "document")));
        }
        if parts.len() > MAX_PARTS {
            line("", format!("and {} more", parts.len() - MAX_PARTS));
        }
    }
    if !report.columns.is_empty() {
        line("columns", column_list(&report.columns));
    }
    for (idx, side) in side_list(report).into_iter().enumerate() {
        line(if idx == 0 { "side files" } else { "" }, side);
    }
}

/// Merged queries.
pub(crate) fn split_remark(split: &SplitQueries) -> String {
    let [first, second] = &split.paths;
    let have = if split.count == 1 { "has" } else { "have" };
    format!(
        "{} {have} rows in several files and {} merged, first: {} ({}, {}); use --qid-scope file to treat them as \
         different queries",
        text::count(split.count, "query"),
        if split.count == 1 { "was" } else { "were" },
        shown(&split.qid),
        first.display(),
        second.display()
    )
}

/// The files with their side files, the columns with their roles, and the number of merged queries.
pub(crate) fn to_json(report: &ReadReport) -> Value {
    let n_joined = report.split_queries.as_ref().map_or(0, |split| split.count);
    json!({ "files": files_json(report), "columns": columns_json(report), "joined_queries": n_joined })
}

/// The files with their side files.
pub(crate) fn files_json(report: &ReadReport) -> Value {
    let side = |side: &SideFile| json!({ "path": side.path.display().to_string(), "role": side.role });
    let parts = report.parts.iter().map(|part| {
        json!({
            "path": part.path.display().to_string(),
            "format": part.format.map_or_else(|| "cache".into(), |format| format.render()),
            "rows": part.rows,
            "side_files": part.side_files.iter().map(side).collect::<Vec<_>>(),
        })
    });
    parts.collect()
}

/// The columns with their roles.
pub(crate) fn columns_json(report: &ReadReport) -> Value {
    let columns = report.columns.iter().map(|column| {
        let mut fields = json!({ "name": column.name, "role": column.role });
        if let Some(feature) = column.feature {
            fields["feature"] = feature.into();
        }
        fields
    });
    columns.collect()
}
