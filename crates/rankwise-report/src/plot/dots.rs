//! Values with intervals in a few groups, such as lengths of lists.

use std::fmt::Write as _;

use super::frame::{Area, Axis};
use super::legend;
use super::palette::Ink;
use super::scale::range;
use super::svg::{Anchor, Svg, width_of};

/// Values in groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Dots {
    /// What the values are.
    pub y: Axis,
    /// What the groups are.
    pub label: String,
    /// The names of the groups, with a second line.
    pub groups: Vec<[String; 2]>,
    /// The name of each series and its dot in each group.
    pub series: Vec<(String, Vec<Option<Dot>>)>,
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// The value.
    pub value: f64,
    /// Its interval.
    pub interval: Option<[f64; 2]>,
}

impl Dots {
    pub(super) fn draw(&self, svg: &mut Svg) {
        let names: Vec<String> = self.series.iter().map(|(name, _)| name.clone()).collect();
        let top = legend::draw(svg, &names, false);
        let dots = || self.series.iter().flat_map(|(_, dots)| dots).flatten();
        let values = dots().flat_map(|dot| dot.interval.unwrap_or([dot.value; 2]).into_iter().chain([dot.value]));
        let height = if svg.is_wide() { 200.0 } else { 170.0 };
        let (area, y) = Area::new(svg, top, height, &self.y, range(values));
        svg.line([area.left, area.bottom], [area.right, area.bottom], Ink::Axis);
        let width = (area.right - area.left) / self.groups.len().max(1) as f64;
        let middle = |group: usize| area.left + (group as f64 + 0.5) * width;
        let widest = self.groups.iter().map(|[name, _]| width_of(name)).fold(0.0, f64::max);
        for (group, [name, count]) in self.groups.iter().enumerate() {
            // Neighbours that would touch take turns in two rows.
            let is_low = widest + 4.0 > width && group % 2 == 1;
            let y = area.bottom + if is_low { 45.0 } else { 17.0 };
            svg.text(middle(group), y, Anchor::Middle, Ink::Text, name);
            svg.text(middle(group), y + 14.0, Anchor::Middle, Ink::Quiet, count);
        }
        let below = if widest + 4.0 > width { 28.0 } else { 0.0 };
        let n_series = self.series.len().max(1) as f64;
        let apart = (width / (n_series + 1.0)).min(16.0);
        for (idx, (_, dots)) in self.series.iter().enumerate() {
            let shift = (idx as f64 - (n_series - 1.0) / 2.0) * apart;
            let mut whiskers = String::new();
            for (group, dot) in dots.iter().enumerate() {
                if let Some([low, high]) = dot.and_then(|dot| dot.interval) {
                    let _ = write!(whiskers, "M{:.1} {:.1}V{:.1}", middle(group) + shift, y.at(low), y.at(high));
                }
            }
            svg.stroke(&whiskers, Ink::Series(idx), 2.0);
            for (group, dot) in dots.iter().enumerate() {
                if let Some(dot) = dot.filter(|dot| dot.value.is_finite()) {
                    svg.marker(idx, middle(group) + shift, y.at(dot.value));
                }
            }
        }
        svg.text(
            f64::midpoint(area.left, area.right),
            area.bottom + 52.0 + below,
            Anchor::Middle,
            Ink::Quiet,
            &self.label,
        );
        svg.height = area.bottom + 60.0 + below;
    }
}
