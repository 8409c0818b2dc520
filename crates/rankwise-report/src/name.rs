//! Names that come from data: any characters, any length.

/// The number of characters of a name that are shown.
pub(crate) const SHOWN: usize = 48;
/// The number of characters that are kept for those who ask for the full name.
const KEPT: usize = 600;

/// A name with visible characters only: what would be invisible, or change the direction of the text around it, is
/// written as an escape.
pub(crate) fn visible(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for char in name.chars() {
        if is_invisible(char) { out.extend(char.escape_unicode()) } else { out.push(char) }
    }
    out
}

/// Controls, marks of direction, and characters without width.
fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{feff}')
        || matches!(char, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(char, '\u{2060}'..='\u{206f}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// At most `limit` characters of a name, without its middle if it is longer.
pub(crate) fn cut(name: &str, limit: usize) -> String {
    // Few names are long, and long names need not be walked to their end.
    if name.len() <= limit || name.chars().nth(limit).is_none() {
        return visible(name);
    }
    let n_kept = limit.saturating_sub(1).max(2);
    let (n_first, n_last) = (n_kept - n_kept / 2, n_kept / 2);
    let start: String = name.chars().take(n_first).collect();
    let last = name.char_indices().rev().nth(n_last - 1).map_or(0, |(at, _)| at);
    format!("{}…{}", visible(&start), visible(&name[last..]))
}

/// The full name, if it is not what [`cut`] shows; very long names are cut too.
pub(crate) fn full(name: &str, limit: usize) -> Option<String> {
    let is_cut = name.len() > limit && name.chars().nth(limit).is_some();
    is_cut.then(|| cut(name, KEPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stay_and_long_ones_lose_their_middle() {
        assert_eq!(cut("q17", 5), "q17");
        assert_eq!(cut("12345", 5), "12345");
        assert_eq!(cut("123456", 5), "12…56");
        assert_eq!(cut("1234567", 6), "123…67");
        assert_eq!(cut("äöüäöüäöü", 5), "äö…öü");
        assert_eq!(cut("", 5), "");
        assert_eq!(full("12345", 5), None);
        assert_eq!(full("123456", 5), Some("123456".into()));
        let long = "x".repeat(10_000);
        assert_eq!(full(&long, 5).unwrap().chars().count(), KEPT);
    }

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(visible("a\nb\u{202e}c\u{200f}\0"), "a\\u{a}b\\u{202e}c\\u{200f}\\u{0}");
        // Letters of languages that are written from right to left are letters.
        assert_eq!(visible("שלום عربي"), "שלום عربي");
    }
}
