//! Which line is which.

use super::palette::Ink;
use super::svg::{Anchor, Svg, width_of};
use crate::name;

const ROW: f64 = 20.0;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 18.0;

/// Draws samples with names from the top, in as many rows as needed; returns the height. A single name needs no legend.
pub(super) fn draw(svg: &mut Svg, names: &[String], has_lines: bool) -> f64 {
    if names.len() < 2 {
        return 0.0;
    }
    let limit = if svg.is_wide() { 40 } else { 30 };
    let (mut x, mut y) = (0.0, 12.0);
    for (idx, name) in names.iter().enumerate() {
        let shown = name::cut(name, limit);
        let width = SAMPLE + width_of(&shown) + GAP;
        if x > 0.0 && x + width - GAP > svg.width {
            (x, y) = (0.0, y + ROW);
        }
        if has_lines {
            svg.curve(idx, &format!("M{x:.1} {:.1}h24", y - 4.0));
        }
        svg.marker(idx, x + 12.0, y - 4.0);
        svg.text(x + SAMPLE, y, Anchor::Start, Ink::Text, &shown);
        x += width;
    }
    y + 12.0
}
