//! Sentences with names in them.

use std::fmt::Write as _;

use crate::html::{escaped, push_name};

/// A text in which names from the data are marked, so that they cannot disturb it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(Vec<Span>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Span {
    Plain(String),
    Strong(String),
    Name(String),
}

impl Text {
    /// Our own words.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::default().then(text)
    }

    /// A name from the data.
    pub fn of_name(name: impl Into<String>) -> Self {
        Self::default().name(name)
    }

    /// Continues with our own words.
    pub fn then(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Plain(text.into()));
        self
    }

    /// Continues with an emphasised number or word.
    pub fn strong(mut self, text: impl Into<String>) -> Self {
        self.0.push(Span::Strong(text.into()));
        self
    }

    /// Continues with a name from the data.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.0.push(Span::Name(name.into()));
        self
    }

    /// Continues with another text.
    pub fn text(mut self, text: Self) -> Self {
        self.0.extend(text.0);
        self
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn html(&self) -> String {
        let mut out = String::new();
        for span in &self.0 {
            match span {
                Span::Plain(text) => out.push_str(&unbroken(text)),
                Span::Strong(text) => {
                    let _ = write!(out, "<strong>{}</strong>", unbroken(text));
                }
                Span::Name(name) => push_name(&mut out, name),
            }
        }
        out
    }

    /// For places without markup, such as the title of a window.
    pub(crate) fn words(&self) -> String {
        let each = self.0.iter().map(|span| match span {
            Span::Plain(text) | Span::Strong(text) => text.clone(),
            Span::Name(name) => crate::name::cut(name, crate::name::SHOWN),
        });
        each.collect()
    }
}

/// Our own words as HTML; a number stays with its per cent sign.
fn unbroken(text: &str) -> String {
    escaped(text).replace(" %", "\u{a0}%")
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}
