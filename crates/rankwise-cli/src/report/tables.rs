//! Printed tables as tables of a page.

use rankwise_report::Table;

use crate::mean_count::{self, MeanCount};

/// The rows of a printed table, with its head.
pub(super) fn of_rows(rows: Vec<Vec<String>>) -> Table {
    let mut rows = rows.into_iter();
    let mut table = Table::new(rows.next().unwrap_or_default());
    rows.for_each(|row| table.push(row));
    table
}

/// How many queries the means include, in one text.
pub(super) fn counted(named: &[(String, MeanCount)]) -> String {
    mean_count::lines(named).trim_end().replace('\n', "; ")
}
