//! CatBoost's column description: `index<TAB>type[<TAB>name]` per line. Columns that it does not list are features.

use std::collections::BTreeMap;
use std::path::Path;

use crate::byte_stream::ByteStream;
use crate::column_problem::ColumnProblem;
use crate::error::IoError;
use crate::lists::read_list;
use crate::options::{Header, LayoutSpec, ReadOptions, Role};

const EXPECTED: &str = "a column number from 0, a tab, and Label, GroupId, DocId, Weight, GroupWeight, Num or Auxiliary \
                        (categories and text are not supported yet: use Auxiliary)";
/// More columns are not a table.
const MAX_COLUMNS: usize = 1 << 24;

/// The content of a description file.
pub(crate) struct Description {
    columns: BTreeMap<usize, (Role, Option<String>)>,
}

impl Description {
    pub(crate) fn read(path: &Path) -> Result<Self, IoError> {
        let lines = read_list(ByteStream::open(path)?, EXPECTED, parse_line)?;
        let refuse = |problem: ColumnProblem| Err(IoError::Columns { path: path.into(), problem });
        let mut columns: BTreeMap<usize, (Role, Option<String>)> = BTreeMap::new();
        for (column, role, name) in lines {
            let one_only = !matches!(role, Role::Feature(_) | Role::Ignored);
            if columns.contains_key(&column) {
                return refuse(ColumnProblem::DescribedTwice { column });
            }
            if let Some((first, _)) = columns.iter().find(|(_, (other, _))| one_only && *other == role) {
                return refuse(ColumnProblem::SameKind { first: *first, second: column, kind: kind_of(role) });
            }
            columns.insert(column, (role, name));
        }
        Ok(Self { columns })
    }

    /// The equivalent options.
    pub(crate) fn apply(&self, options: &ReadOptions) -> ReadOptions {
        let typed = |wanted: Role| {
            let found = self.columns.iter().find(|(_, (role, _))| *role == wanted);
            found.map(|(column, _)| column.to_string())
        };
        let or_none = |wanted: Role| typed(wanted).or_else(|| Some("none".into()));
        let ignored = self.columns.iter().filter(|(_, (role, _))| *role == Role::Ignored);
        let layout = LayoutSpec {
            label_column: typed(Role::Label),
            qid_column: or_none(Role::Qid),
            doc_column: or_none(Role::DocId),
            weight_column: or_none(Role::Weight),
            query_weight_column: or_none(Role::QueryWeight),
            position_column: or_none(Role::Position),
            ignore_columns: ignored.map(|(column, _)| column.to_string()).collect(),
            header: match options.layout.header {
                Header::Auto => Header::No,
                header => header,
            },
            ..options.layout.clone()
        };
        ReadOptions { layout, ..options.clone() }
    }

    /// The names of all columns, if the description names any feature. A column without a name is named by its number.
    pub(crate) fn names(&self, n_columns: usize) -> Option<Vec<String>> {
        let is_named = |(role, name): &(Role, Option<String>)| matches!(role, Role::Feature(_)) && name.is_some();
        if !self.columns.values().any(is_named) {
            return None;
        }
        let name = |column: usize| self.columns.get(&column).and_then(|(_, name)| name.clone());
        Some((0..n_columns).map(|column| name(column).unwrap_or_else(|| column.to_string())).collect())
    }
}

/// The name of a role in descriptions.
pub(crate) fn kind_of(role: Role) -> &'static str {
    match role {
        Role::Label => "Label",
        Role::Qid => "GroupId",
        Role::DocId => "DocId",
        Role::Weight => "Weight",
        Role::QueryWeight => "GroupWeight",
        Role::Feature(_) => "Num",
        // Descriptions have no positions.
        Role::Position | Role::Ignored => "Auxiliary",
    }
}

fn parse_line(line: &[u8]) -> Option<(usize, Role, Option<String>)> {
    let text = std::str::from_utf8(line).ok()?;
    let mut parts = text.split('\t').map(str::trim);
    let column = parts.next()?.parse().ok().filter(|column| *column < MAX_COLUMNS)?;
    let role = match parts.next()? {
        "Label" | "Target" => Role::Label,
        "GroupId" | "QueryId" => Role::Qid,
        "DocId" | "SampleId" => Role::DocId,
        "Weight" => Role::Weight,
        "GroupWeight" => Role::QueryWeight,
        "Num" => Role::Feature(0),
        "Auxiliary" => Role::Ignored,
        _ => return None,
    };
    let name = parts.next().filter(|name| !name.is_empty()).map(Into::into);
    parts.next().is_none().then_some((column, role, name))
}
