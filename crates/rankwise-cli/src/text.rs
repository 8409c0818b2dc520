//! Formatting of numbers and tables.

use std::fmt::Write as _;

use rankwise::data::Documents;

/// Text columns: the first left-aligned, the others right-aligned, two spaces apart.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths[column];
            let _ = if column == 0 { write!(line, "{cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// 1234567 as 1,234,567.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 tree", "2 trees".
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = match (number, noun) {
        (1, _) => "",
        (_, noun) if noun.ends_with('y') => {
            return format!("{} {}ies", thousands(number as u64), &noun[..noun.len() - 1]);
        }
        _ => "s",
    };
    format!("{} {noun}{ending}", thousands(number as u64))
}

/// The size of a dataset in words.
pub(crate) fn documents(data: &Documents) -> String {
    let [documents, queries, features] =
        [(data.n_rows(), "document"), (data.n_queries(), "query"), (data.n_features(), "feature")]
            .map(|(number, noun)| count(number, noun));
    format!("{documents}, {queries}, {features}")
}

/// A percentage.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// A number with up to six significant digits, since values are often f32.
pub(crate) fn number(number: f64) -> String {
    let digits = format!("{number:.5e}").parse().unwrap_or(number);
    format!("{digits}")
}

/// A mean, or a dash if there is none.
pub(crate) fn mean(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.6}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned() {
        let rows = [vec!["a".into(), "10".into()], vec!["long".into(), "7".into()]];
        assert_eq!(table(&rows), "a     10\nlong   7\n");
        assert_eq!(table(&[]), "");
    }

    #[test]
    fn numbers_are_grouped_and_nouns_counted() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([count(1, "tree"), count(0, "tree"), count(2000, "query")], ["1 tree", "0 trees", "2,000 queries"]);
        assert_eq!(percent(1, 3), "33.3 %");
    }
}
