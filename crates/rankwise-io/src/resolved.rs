//! What the columns of one file turned out to be, with their names.

use crate::columns::{Columns, Names};
use crate::options::Role;
use crate::report::ColumnUse;

/// The columns of a table.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) columns: Columns,
    /// In the order of the columns, if they have names.
    pub(crate) names: Option<Vec<String>>,
}

impl Resolved {
    pub(crate) fn new(names: &Names<'_>, columns: Columns) -> Self {
        let names = match names {
            Names::Given(names) => Some(names.to_vec()),
            Names::Count(_) => None,
        };
        Self { columns, names }
    }

    /// Each column with its name, or its number.
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
