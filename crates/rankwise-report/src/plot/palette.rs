//! Colours, dashes and markers.
//!
//! The colours are those of Okabe and Ito ("Color Universal Design", 2008), which colour-blind readers can tell apart,
//! made darker on white and lighter on black until each stands out from the page by 3 to 1 or more.

use std::fmt::Write as _;

/// The number of lines that differ in colour; later ones differ in dashes.
pub(super) const N_COLOURS: usize = 7;

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text.
    Text,
    /// Text beside the point.
    Quiet,
    /// Lines of the grid.
    Grid,
    /// An axis.
    Axis,
    /// The page itself.
    Paper,
    /// A series.
    Series(usize),
}

/// Where a plot is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// In a page that has chosen the colours.
    Page,
    /// In a file, on white.
    File,
}

struct Colour {
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn colour(name: &'static str, light: &'static str, dark: &'static str) -> Colour {
    Colour { name, light, dark }
}

const TEXT: Colour = colour("text", "#1b1d20", "#eceef1");
const QUIET: Colour = colour("quiet", "#595e66", "#a4aab4");
const GRID: Colour = colour("grid", "#e4e6ea", "#2c3036");
const AXIS: Colour = colour("axis", "#868c96", "#6f7681");
const PAPER: Colour = colour("paper", "#ffffff", "#131518");
const SERIES: [Colour; N_COLOURS] = [
    colour("s0", "#0072b2", "#56b4e9"),
    colour("s1", "#cc5500", "#ff9d4d"),
    colour("s2", "#00805f", "#2ec99b"),
    colour("s3", "#a8467f", "#e59bc6"),
    colour("s4", "#8a6a00", "#f0d43a"),
    colour("s5", "#4b4f57", "#c9ced6"),
    colour("s6", "#5b4bb7", "#a99df5"),
];

impl Ink {
    fn colour(self) -> &'static Colour {
        match self {
            Self::Text => &TEXT,
            Self::Quiet => &QUIET,
            Self::Grid => &GRID,
            Self::Axis => &AXIS,
            Self::Paper => &PAPER,
            Self::Series(idx) => &SERIES[idx % N_COLOURS],
        }
    }

    /// As an attribute of SVG.
    pub(super) fn of(self, look: Look) -> String {
        match look {
            Look::Page => format!("var(--{})", self.colour().name),
            Look::File => self.colour().light.to_owned(),
        }
    }
}

/// The dashes of a line.
pub(super) fn dashes(idx: usize) -> &'static str {
    const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "4 4"];
    DASHES[(idx + idx / N_COLOURS) % DASHES.len()]
}

/// The outline of the marker of a series around a point.
pub(super) fn marker(idx: usize, x: f64, y: f64, radius: f64) -> String {
    let r = radius;
    match idx % 5 {
        0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d:.1} 0a{r} {r} 0 1 0 -{d:.1} 0z", x - r, d = 2.0 * r),
        1 => format!("M{:.1} {:.1}h{d:.1}v{d:.1}h-{d:.1}z", x - 0.9 * r, y - 0.9 * r, d = 1.8 * r),
        2 => format!("M{x:.1} {:.1}l{:.1} {:.1}h-{:.1}z", y - 1.2 * r, 1.15 * r, 2.0 * r, 2.3 * r),
        3 => format!("M{x:.1} {:.1}l{k:.1} {k:.1}l-{k:.1} {k:.1}l-{k:.1} -{k:.1}z", y - 1.3 * r, k = 1.3 * r),
        _ => format!("M{x:.1} {:.1}l{:.1} -{:.1}h-{:.1}z", y + 1.2 * r, 1.15 * r, 2.0 * r, 2.3 * r),
    }
}

/// The colours as CSS variables, for light and for dark.
pub(crate) fn style() -> [String; 2] {
    let all = || [&TEXT, &QUIET, &GRID, &AXIS, &PAPER].into_iter().chain(&SERIES);
    let [mut light, mut dark] = [String::new(), String::new()];
    for colour in all() {
        let _ = write!(light, "--{}:{};", colour.name, colour.light);
        let _ = write!(dark, "--{}:{};", colour.name, colour.dark);
    }
    [light, dark]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contrast of two colours by WCAG 2.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |colour: &str| {
            let part = |at: usize| {
                let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_stands_out_by_more_than_needed_and_lines_by_three_to_one() {
        for (paper, pick) in [(PAPER.light, (|c| c.light) as fn(&Colour) -> &'static str), (PAPER.dark, |c| c.dark)] {
            for text in [&TEXT, &QUIET] {
                assert!(contrast(pick(text), paper) >= 4.5, "{} on {paper}", text.name);
            }
            for line in SERIES.iter().chain([&AXIS]) {
                assert!(contrast(pick(line), paper) >= 3.0, "{} on {paper}", line.name);
            }
        }
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
    }

    #[test]
    fn no_two_of_twenty_lines_look_the_same() {
        let looks: std::collections::BTreeSet<_> = (0..20).map(|idx| (idx % N_COLOURS, dashes(idx))).collect();
        assert_eq!(looks.len(), 20);
    }
}
