//! Printed tables as tables of a page.

use rankwise_report::Table;

use crate::mean_count::{self, MeanCount};

/// The rows of a printed table, with its head. Short rows are filled up.
pub(crate) fn of_rows(rows: Vec<Vec<String>>) -> Table {
    let mut rows = rows.into_iter();
    let head = rows.next().unwrap_or_default();
    let n_columns = head.len();
    let mut table = Table::new(head);
    for mut row in rows {
        row.resize(n_columns, String::new());
        table.push(row);
    }
    table
}

/// How many queries the means include, in one text.
pub(super) fn counted(named: &[(String, MeanCount)]) -> String {
    mean_count::lines(named).trim_end().replace('\n', "; ")
}

/// Words with a capital letter and a full stop.
pub(crate) fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    let ending = if words.ends_with('.') { "" } else { "." };
    first.into_iter().chain(chars).chain(ending.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_filled_up() {
        let rows = vec![vec!["a".to_owned(), "b".into()], vec!["x".into()]];
        assert_eq!(of_rows(rows), Table::new(["a", "b"]).row(["x", ""]));
    }

    #[test]
    fn words_become_sentences() {
        assert_eq!(["over 3 queries", "Done.", ""].map(sentence), ["Over 3 queries.", "Done.", "."]);
    }
}
