//! Plots as SVG.
//!
//! A plot is drawn for a page, where its colours are those of the reader (light, dark, print) and its width is that of a
//! desk or of a phone, or for a file, with fixed colours. No meaning is carried by colour alone: lines differ in their
//! dashes and markers, bars in their side of an axis.

mod bars;
mod differences;
mod dots;
mod frame;
mod legend;
mod lines;
mod palette;
mod scale;
mod svg;

pub use bars::{Bar, Bars};
pub use differences::Differences;
pub use dots::{Dot, Dots};
pub use frame::Axis;
pub use lines::{Lines, Series};
pub(crate) use palette::style;

use palette::Look;
use svg::Svg;

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Values along an axis, joined by lines.
    Lines(Lines),
    /// Named values from large to small.
    Bars(Bars),
    /// One value per query, sorted.
    Differences(Differences),
    /// Values with intervals in a few groups.
    Dots(Dots),
}

/// The width of a plot, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// For a desk and for paper.
    Wide,
    /// For a phone, or half of a desk.
    Narrow,
}

impl Width {
    fn pixels(self) -> f64 {
        match self {
            Self::Wide => 720.0,
            Self::Narrow => 350.0,
        }
    }
}

impl Plot {
    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Lines(lines) => lines.series.iter().all(|series| series.points.is_empty()),
            Self::Bars(bars) => bars.bars.is_empty(),
            Self::Differences(differences) => differences.values.is_empty(),
            Self::Dots(dots) => dots.groups.is_empty() || dots.series.is_empty(),
        }
    }

    /// The plot as a file of its own, with a title.
    pub fn to_svg(&self, title: &str) -> String {
        let svg = self.draw(Width::Wide, Look::File);
        svg.file(title)
    }

    /// The plot in a page.
    pub(crate) fn in_page(&self, width: Width, label: &str) -> String {
        self.draw(width, Look::Page).element(label)
    }

    fn draw(&self, width: Width, look: Look) -> Svg {
        let mut svg = Svg::new(width.pixels(), look);
        match self {
            Self::Lines(lines) => lines.draw(&mut svg),
            Self::Bars(bars) => bars.draw(&mut svg),
            Self::Differences(differences) => differences.draw(&mut svg),
            Self::Dots(dots) => dots.draw(&mut svg),
        }
        svg
    }
}

#[cfg(test)]
mod tests;
