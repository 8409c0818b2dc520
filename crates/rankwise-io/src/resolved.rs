//! The roles and names of one file's columns.

use crate::columns::{Columns, Names};
use crate::options::Role;
use crate::report::ColumnUse;

/// The columns of a table.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) columns: Columns,
    /// In column order, if the columns have names.
    pub(crate) names: Option<Vec<String>>,
}

impl Resolved {
    pub(crate) fn new(names: &Names<'_>, columns: Columns) -> Self {
        Self { columns, names: names.given().map(<[String]>::to_vec) }
    }

    /// The use of each column, by name or number.
    pub(crate) fn uses(&self) -> Vec<ColumnUse> {
        let name = |number: usize| match &self.names {
            Some(names) => names[number].clone(),
            None => number.to_string(),
        };
        let feature = |role: &Role| match role {
            Role::Feature(id) => Some(*id),
            _ => None,
        };
        let roles = self.columns.roles.iter().enumerate();
        roles
            .map(|(number, role)| ColumnUse { name: name(number), role: role.name(), feature: feature(role) })
            .collect()
    }
}
