//! Writes SVG elements.

use std::fmt::Write as _;

use super::palette::{Ink, Look, dashes, marker};
use crate::html::{escape, escaped};
use crate::name;

/// The size of text.
pub(super) const FONT: f64 = 12.0;
/// The mean width of a character at that size, for layout; a little more than most fonts need.
pub(super) const CHAR: f64 = 7.2;
const FAMILY: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/// A picture in the making: its height is known in the end.
#[derive(Clone, Debug)]
pub(super) struct Svg {
    pub(super) width: f64,
    pub(super) height: f64,
    look: Look,
    body: String,
}

/// The horizontal alignment of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(width: f64, look: Look) -> Self {
        Self { width, height: 0.0, look, body: String::new() }
    }

    /// Whether there is room for the layout of a desk.
    pub(super) fn is_wide(&self) -> bool {
        self.width > 500.0
    }

    pub(super) fn text(&mut self, x: f64, y: f64, anchor: Anchor, ink: Ink, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let ink = ink.of(self.look);
        let _ = writeln!(self.body, "<text x=\"{x:.1}\" y=\"{y:.1}\"{anchor} fill=\"{ink}\">{}</text>", escaped(text));
    }

    /// A name from the data, cut to a number of characters.
    pub(super) fn name(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, limit: usize) {
        self.text(x, y, anchor, Ink::Text, &name::cut(text, limit));
    }

    pub(super) fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], ink: Ink) {
        let ink = ink.of(self.look);
        let _ = writeln!(self.body, "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"{ink}\"/>");
    }

    /// The dashed or solid line of a series.
    pub(super) fn curve(&mut self, idx: usize, path: &str) {
        let (ink, dashes) = (Ink::Series(idx).of(self.look), dashes(idx));
        let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dashes}/>"
        );
    }

    /// The marker of a series at a point.
    pub(super) fn marker(&mut self, idx: usize, x: f64, y: f64) {
        let (ink, paper) = (Ink::Series(idx).of(self.look), Ink::Paper.of(self.look));
        let outline = marker(idx, x, y, 4.0);
        let _ = writeln!(self.body, "<path d=\"{outline}\" fill=\"{ink}\" stroke=\"{paper}\"/>");
    }

    /// A filled outline.
    pub(super) fn fill(&mut self, path: &str, ink: Ink, opacity: f64) {
        let ink = ink.of(self.look);
        let opacity = if opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() };
        let _ = writeln!(self.body, "<path d=\"{path}\" fill=\"{ink}\"{opacity}/>");
    }

    /// A stroke of a series.
    pub(super) fn stroke(&mut self, path: &str, ink: Ink, width: f64) {
        let ink = ink.of(self.look);
        let _ = writeln!(self.body, "<path d=\"{path}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{width}\"/>");
    }

    /// An invisible area that tells what is below the pointer.
    pub(super) fn hover(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], text: &str) {
        if self.look == Look::File {
            return;
        }
        let _ = write!(self.body, "<path class=\"h\" d=\"M{x:.1} {y:.1}h{width:.2}v{height:.1}h-{width:.2}z\"><title>");
        escape(&mut self.body, text);
        self.body.push_str("</title></path>\n");
    }

    /// The picture as an element of a page.
    pub(super) fn element(&self, label: &str) -> String {
        format!(
            "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"{}\" font-size=\"{FONT}\">\n{}</svg>",
            self.width,
            self.height,
            escaped(label),
            self.body
        )
    }

    /// The picture as a file, below a title.
    pub(super) fn file(&self, title: &str) -> String {
        const TITLE: f64 = 34.0;
        const MARGIN: f64 = 16.0;
        let (width, height) = (self.width + 2.0 * MARGIN, self.height + TITLE + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
             {height:.0}\" font-family=\"{FAMILY}\" font-size=\"{FONT}\">\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n\
             <text x=\"{MARGIN}\" y=\"24\" font-size=\"14\" font-weight=\"600\" fill=\"{}\">{}</text>\n\
             <g transform=\"translate({MARGIN} {TITLE})\">\n{}</g>\n</svg>\n",
            Ink::Text.of(Look::File),
            escaped(&name::cut(title, 90)),
            self.body
        )
    }
}

/// The width of text, roughly.
pub(super) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHAR
}
