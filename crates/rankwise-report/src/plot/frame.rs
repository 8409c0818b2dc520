//! Axes: a grid of horizontal lines, labels, and the area between them.

use super::palette::Ink;
use super::scale::{self, Scale};
use super::svg::{Anchor, Svg, width_of};

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// Whether values are placed by their logarithm.
    pub is_log: bool,
    /// The range, if not that of the values.
    pub range: Option<[f64; 2]>,
    /// Whether values are shares, to be shown as percentages.
    pub is_share: bool,
}

impl Axis {
    /// An axis in proportion to its values.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), is_log: false, range: None, is_share: false }
    }

    /// A logarithmic axis for values from 1.
    pub fn log(label: impl Into<String>) -> Self {
        Self { is_log: true, ..Self::linear(label) }
    }

    /// Shares from 0 to 100 %.
    pub fn share(label: impl Into<String>) -> Self {
        Self { is_share: true, range: Some([0.0, 1.0]), ..Self::linear(label) }
    }

    /// A number at a tick.
    fn tick(&self, value: f64, step: f64) -> String {
        if self.is_share {
            return format!("{} %", scale::label(100.0 * value, 100.0 * step));
        }
        scale::label(value, step)
    }
}

/// The area of a plot with its scales.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// Draws the vertical axis with its grid from `top` on, and gives the area to its right.
    pub(super) fn new(svg: &mut Svg, top: f64, height: f64, axis: &Axis, values: [f64; 2]) -> (Self, Scale) {
        const ABOVE: f64 = 24.0;
        let (range, ticks) = scale::rounded(axis.range.unwrap_or(values), 4);
        let step = ticks.get(1).map_or(1.0, |second| second - ticks[0]);
        let labels: Vec<String> = ticks.iter().map(|tick| axis.tick(*tick, step)).collect();
        let widest = labels.iter().map(|label| width_of(label)).fold(0.0, f64::max);
        let area =
            Self { left: widest + 12.0, right: svg.width - 10.0, top: top + ABOVE, bottom: top + ABOVE + height };
        let scale = Scale::linear(range, [area.bottom, area.top]);
        svg.text(0.0, top + 10.0, Anchor::Start, Ink::Quiet, &axis.label);
        for (tick, label) in ticks.iter().zip(&labels) {
            let y = scale.at(*tick);
            let ink = if *tick == 0.0 && range[0] < 0.0 { Ink::Axis } else { Ink::Grid };
            svg.line([area.left, y], [area.right, y], ink);
            svg.text(area.left - 7.0, y + 4.0, Anchor::End, Ink::Quiet, label);
        }
        (area, scale)
    }

    /// Draws the horizontal axis below, and ends the picture.
    pub(super) fn x_axis(&self, svg: &mut Svg, axis: &Axis, values: [f64; 2]) -> Scale {
        let n_ticks = if svg.is_wide() { 8 } else { 4 };
        let range = axis.range.unwrap_or(values);
        let to = [self.left, self.right];
        let (scale, ticks) = if axis.is_log {
            (Scale::log([1.0, range[1].max(2.0)], to), scale::log_ticks(range[1].max(2.0)))
        } else {
            let (_, ticks) = scale::rounded(range, n_ticks);
            (
                Scale::linear(range, to),
                ticks.into_iter().filter(|tick| *tick >= range[0] && *tick <= range[1]).collect(),
            )
        };
        let step = if axis.is_log { 1.0 } else { ticks.get(1).map_or(1.0, |second: &f64| second - ticks[0]) };
        svg.line([self.left, self.bottom], [self.right, self.bottom], Ink::Axis);
        let mut free_from = f64::NEG_INFINITY;
        for tick in ticks {
            let (x, label) = (scale.at(tick), axis.tick(tick, step));
            let half = width_of(&label) / 2.0;
            if x - half < free_from {
                continue;
            }
            free_from = x + half + 6.0;
            svg.line([x, self.bottom], [x, self.bottom + 4.0], Ink::Axis);
            // The last label ends with the picture.
            let x = x.min(svg.width - half);
            svg.text(x, self.bottom + 17.0, Anchor::Middle, Ink::Quiet, &label);
        }
        self.x_label(svg, &axis.label);
        scale
    }

    /// What the horizontal axis shows; ends the picture.
    pub(super) fn x_label(&self, svg: &mut Svg, label: &str) {
        svg.text(f64::midpoint(self.left, self.right), self.bottom + 36.0, Anchor::Middle, Ink::Quiet, label);
        svg.height = self.bottom + 44.0;
    }
}
