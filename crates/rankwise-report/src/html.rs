//! Text as HTML and SVG.

use std::fmt::Write as _;

use crate::name::{self, SHOWN};

/// Appends text with everything escaped that means something in HTML or SVG, in content and in attributes.
pub(crate) fn escape(out: &mut String, text: &str) {
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Neither HTML nor SVG allows them.
            char if char.is_control() && char != '\n' => out.extend(char.escape_unicode()),
            char => out.push(char),
        }
    }
}

/// [`escape`] as a string.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(&mut out, text);
    out
}

/// A name from the data, isolated from the direction of the text around it; a long one is cut, with the full one to hover over.
pub(crate) fn push_name(out: &mut String, text: &str) {
    match name::full(text, SHOWN) {
        Some(full) => {
            let _ = write!(out, "<bdi title=\"{}\">{}</bdi>", escaped(&full), escaped(&name::cut(text, SHOWN)));
        }
        None => {
            let _ = write!(out, "<bdi>{}</bdi>", escaped(&name::visible(text)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escaped("<b a=\"x\" c='y'>&amp;"), "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
        assert_eq!(escaped("a\u{1}b"), "a\\u{1}b");
    }

    #[test]
    fn names_are_isolated() {
        let mut out = String::new();
        push_name(&mut out, "<script>\u{202e}");
        assert_eq!(out, "<bdi>&lt;script&gt;\\u{202e}</bdi>");
        out.clear();
        push_name(&mut out, &"'\"".repeat(40));
        assert!(out.starts_with("<bdi title=\"&#39;&quot;") && out.contains('…'), "{out}");
    }
}
