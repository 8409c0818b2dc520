//! Horizontal bars with names, from large to small.

use super::palette::Ink;
use super::scale::{Scale, range};
use super::svg::{Anchor, CHAR, Svg, width_of};

const BAR: f64 = 13.0;

/// Named values.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What the values are.
    pub label: String,
    /// The bars from top to bottom.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Its value as text.
    pub shown: String,
}

impl Bars {
    pub(super) fn draw(&self, svg: &mut Svg) {
        let widest = |texts: &mut dyn Iterator<Item = f64>| texts.fold(0.0, f64::max);
        let names = widest(&mut self.bars.iter().map(|bar| width_of(&bar.name)));
        let values = widest(&mut self.bars.iter().map(|bar| width_of(&bar.shown))) + 8.0;
        // On a phone, each name has a line of its own above its bar.
        let is_wide = svg.is_wide();
        let room = if is_wide { names.min(0.38 * svg.width) } else { 0.0 };
        let left = if is_wide { room + 10.0 } else { 0.0 };
        let limit = ((if is_wide { room } else { svg.width }) / CHAR).floor().max(4.0) as usize;
        svg.text(left, 11.0, Anchor::Start, Ink::Quiet, &self.label);
        let [low, high] = range(self.bars.iter().map(|bar| bar.value));
        let scale = Scale::linear([low.min(0.0), high.max(0.0)], [left, svg.width - values]);
        let zero = scale.at(0.0);
        let row = if is_wide { 22.0 } else { 38.0 };
        let mut y = 22.0;
        for bar in &self.bars {
            let middle = if is_wide { y + row / 2.0 } else { y + row - BAR / 2.0 - 4.0 };
            let name_at = if is_wide { [room, middle + 4.0] } else { [5.0, y + 13.0] };
            let anchor = if is_wide { Anchor::End } else { Anchor::Start };
            svg.name(name_at[0], name_at[1], anchor, &bar.name, limit);
            let end = scale.at(bar.value);
            let (from, to) = if end < zero { (end, zero) } else { (zero, end) };
            let ink = Ink::Series(usize::from(bar.value < 0.0));
            svg.fill(&format!("M{from:.1} {:.1}H{to:.1}v{BAR}H{from:.1}z", middle - BAR / 2.0), ink, 1.0);
            svg.text(to + 6.0, middle + 4.0, Anchor::Start, Ink::Quiet, &bar.shown);
            y += row;
        }
        svg.line([zero, 20.0], [zero, y + 2.0], Ink::Axis);
        svg.height = y + 6.0;
    }
}
