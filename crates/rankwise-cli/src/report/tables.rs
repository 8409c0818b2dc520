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

/// Words with a capital letter and a full stop.
pub(super) fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    let ending = if words.ends_with('.') { "" } else { "." };
    first.into_iter().chain(chars).chain(ending.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_sentences() {
        assert_eq!(["over 3 queries", "Done.", ""].map(sentence), ["Over 3 queries.", "Done.", "."]);
    }
}
