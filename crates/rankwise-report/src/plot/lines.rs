//! Lines: learning curves, and shares by rank.

use std::fmt::Write as _;

use super::frame::{Area, Axis};
use super::legend;
use super::palette::Ink;
use super::scale::range;
use super::svg::{Anchor, Svg, width_of};

/// More points than this say no more: a plot has fewer pixels.
const MOST_POINTS: usize = 360;
/// The number of markers on a long line.
const MARKERS: usize = 6;

/// Values along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// A place on the horizontal axis that matters, with its name.
    pub mark: Option<(f64, String)>,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points from left to right; the line is broken where a value is not a number.
    pub points: Vec<(f64, f64)>,
}

impl Lines {
    /// Lines without a marked place.
    pub fn new(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { x, y, series, mark: None }
    }

    pub(super) fn draw(&self, svg: &mut Svg) {
        let names: Vec<String> = self.series.iter().map(|series| series.name.clone()).collect();
        let top = legend::draw(svg, &names, true);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let height = if svg.is_wide() { 230.0 } else { 180.0 };
        let (area, y) = Area::new(svg, top, height, &self.y, range(points().map(|point| point.1)));
        let x = area.x_axis(svg, &self.x, range(points().map(|point| point.0)));
        if let Some((place, label)) = &self.mark {
            let at = x.at(*place);
            svg.line([at, area.top], [at, area.bottom], Ink::Axis);
            let is_left = at + width_of(label) + 6.0 > area.right;
            let (at, anchor) = if is_left { (at - 5.0, Anchor::End) } else { (at + 5.0, Anchor::Start) };
            svg.text(at, area.bottom - 7.0, anchor, Ink::Quiet, label);
        }
        for (idx, series) in self.series.iter().enumerate() {
            let pixels: Vec<Option<[f64; 2]>> = thinned(&series.points)
                .into_iter()
                .map(|point| point.1.is_finite().then(|| [x.at(point.0), y.at(point.1)]))
                .collect();
            svg.curve(idx, &path(&pixels));
            let seen: Vec<[f64; 2]> = pixels.iter().flatten().copied().collect();
            if seen.len() <= MARKERS || self.series.len() > 1 {
                for [x, y] in marked(&seen, idx) {
                    svg.marker(idx, x, y);
                }
            }
        }
    }
}

/// A path with gaps where there is no point.
fn path(pixels: &[Option<[f64; 2]>]) -> String {
    let mut out = String::new();
    let mut is_open = false;
    for pixel in pixels {
        if let Some([x, y]) = pixel {
            let _ = write!(out, "{}{x:.1} {y:.1}", if is_open { 'L' } else { 'M' });
        }
        is_open = pixel.is_some();
    }
    out
}

/// Some points of a line, at other places than those of its neighbours.
fn marked(pixels: &[[f64; 2]], idx: usize) -> Vec<[f64; 2]> {
    if pixels.len() <= 2 * MARKERS {
        return pixels.to_vec();
    }
    let every = pixels.len() / MARKERS;
    let mut all: Vec<[f64; 2]> =
        pixels.iter().skip((idx % 4) * every / 4 + every / 8).step_by(every).copied().collect();
    all.extend(pixels.last());
    all
}

/// Fewer points with the same outline: the smallest and the largest of each stretch, in order.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(MOST_POINTS / 2);
    let mut out = vec![points[0]];
    for part in points.chunks(stretch) {
        let finite = || part.iter().enumerate().filter(|(_, point)| point.1.is_finite());
        let low = finite().min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let high = finite().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
        match (low, high) {
            (Some((low, _)), Some((high, _))) => {
                out.push(part[low.min(high)]);
                if low != high {
                    out.push(part[low.max(high)]);
                }
            }
            _ => out.extend(part.first()),
        }
    }
    out.extend(points.last());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_where_there_is_no_value() {
        assert_eq!(path(&[Some([0.0, 1.0]), Some([1.0, 1.0]), None, Some([3.0, 0.0])]), "M0.0 1.0L1.0 1.0M3.0 0.0");
        assert_eq!(path(&[]), "");
    }

    #[test]
    fn many_points_become_few_with_the_same_extremes() {
        let points: Vec<(f64, f64)> =
            (0..100_000).map(|idx| (f64::from(idx), if idx == 77_777 { 9.0 } else { f64::from(idx % 7) })).collect();
        let few = thinned(&points);
        assert!(few.len() <= MOST_POINTS + 2 && few.contains(&(77_777.0, 9.0)), "{}", few.len());
        assert!(few.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert_eq!(thinned(&points[..10]), &points[..10]);
        let holes: Vec<(f64, f64)> = (0..1000).map(|idx| (f64::from(idx), f64::NAN)).collect();
        assert!(thinned(&holes).len() <= MOST_POINTS + 2);
    }
}
