//! Reports as one HTML file that needs no network, and plots as SVG and PNG.
//!
//! * [`Report`] is what a page says: a headline, facts, and sections of text, tables, figures and rankings.
//! * [`Report::to_html`] is the page.
//! * [`Plot`] is what a plot shows; [`Plot::to_svg`] draws it for a file, and the page draws it in the reader's colours.
//! * `png` turns such an SVG into a picture (feature `png`).
//!
//! Nothing here knows rankings, metrics or files: strings and numbers come in, one string goes out. All strings may hold
//! anything; they are shown as text, never as markup.
//!
//! ```
//! use rankwise_report::{Axis, Block, Figure, Lines, Plot, Report, Section, Series, Table, Text};
//!
//! let points = vec![(1.0, 0.41), (2.0, 0.45), (3.0, 0.46)];
//! let series = vec![Series { name: "vali.txt".into(), points }];
//! let figure = Figure {
//!     name: "learning-ndcg".into(),
//!     title: "NDCG@10 on the validation data".into(),
//!     note: Text::default(),
//!     plot: Plot::Lines(Lines::new(Axis::linear("trees"), Axis::linear("ndcg@10"), series)),
//!     table: Table::new(["trees", "ndcg@10"]).row(["1", "0.41"]).row(["2", "0.45"]).row(["3", "0.46"]),
//! };
//! let section = Section::new("learning", "Learning curve").block(Block::Figures(vec![figure]));
//! let report = Report::new("rankwise train", Text::plain("0.46 NDCG@10 after 3 trees")).section(section);
//! assert!(report.to_html().starts_with("<!DOCTYPE html>"));
//! ```
#![forbid(unsafe_code)]

mod content;
mod html;
mod name;
mod page;
mod plot;
#[cfg(feature = "png")]
mod png;
mod text;

pub use content::{Block, Cell, Figure, Listed, Ranking, Report, Section, Showdown, Table};
pub use plot::{Axis, Bar, Bars, Differences, Dot, Dots, Lines, Plot, Series};
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use text::Text;
