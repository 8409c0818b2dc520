//! Lines: learning curves, and shares by rank.

use std::fmt::Write as _;

use super::frame::{Area, Axis};
use super::legend;
use super::palette::Ink;
use super::scale::range;
use super::svg::{Anchor, Svg, width_of};

/// Points closer than this cannot be told apart.
const COLUMN: f64 = 1.5;
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
            let pixel = |point: &(f64, f64)| point.1.is_finite().then(|| [x.at(point.0), y.at(point.1)]);
            let pixels = thinned(series.points.iter().map(pixel));
            svg.curve(idx, &path(&pixels));
            let seen: Vec<[f64; 2]> = pixels.iter().flatten().copied().collect();
            if self.series.len() > 1 || seen.len() <= MARKERS {
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

/// Some points of a line at about equal distances, at other places than those of its neighbours.
fn marked(pixels: &[[f64; 2]], idx: usize) -> Vec<[f64; 2]> {
    let (Some([first, _]), Some([last, _])) = (pixels.first(), pixels.last()) else { return Vec::new() };
    if pixels.len() <= MARKERS {
        return pixels.to_vec();
    }
    let apart = (last - first) / MARKERS as f64;
    let mut next = first + apart * (0.25 + 0.2 * (idx % 4) as f64);
    let mut all = Vec::new();
    for pixel in pixels {
        if pixel[0] >= next {
            all.push(*pixel);
            next = pixel[0] + apart;
        }
    }
    all
}

/// At most four points for each pixel of the horizontal axis, with the same outline: the first, the smallest, the largest and
/// the last, in order. Gaps stay if they are wider than a pixel.
fn thinned(points: impl Iterator<Item = Option<[f64; 2]>>) -> Vec<Option<[f64; 2]>> {
    let mut out: Vec<Option<[f64; 2]>> = Vec::new();
    let mut column: Vec<[f64; 2]> = Vec::new();
    let mut is_broken = false;
    for point in points {
        let Some(point) = point else {
            is_broken = true;
            continue;
        };
        if is_broken || column.first().is_some_and(|first| (point[0] - first[0]).abs() >= COLUMN) {
            flush(&mut out, &mut column);
            if is_broken && !out.is_empty() {
                out.push(None);
            }
        }
        is_broken = false;
        column.push(point);
    }
    flush(&mut out, &mut column);
    out
}

/// Appends what is seen of the points in one column of pixels.
fn flush(out: &mut Vec<Option<[f64; 2]>>, column: &mut Vec<[f64; 2]>) {
    let by_height = |a: &usize, b: &usize| column[*a][1].total_cmp(&column[*b][1]);
    let all = || 0..column.len();
    let ends = [all().next(), all().min_by(by_height), all().max_by(by_height), all().next_back()];
    let mut seen: Vec<usize> = ends.into_iter().flatten().collect();
    seen.sort_unstable();
    seen.dedup();
    out.extend(seen.into_iter().map(|idx| Some(column[idx])));
    column.clear();
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
        let points: Vec<Option<[f64; 2]>> = (0..100_000)
            .map(|idx| Some([f64::from(idx) / 100.0, if idx == 77_777 { 9.0 } else { f64::from(idx % 7) }]))
            .collect();
        let few = thinned(points.iter().copied());
        assert!(few.len() <= 4000 && few.contains(&Some([777.77, 9.0])), "{}", few.len());
        assert!(few.windows(2).all(|pair| pair[0].unwrap()[0] <= pair[1].unwrap()[0]));
        let spread: Vec<Option<[f64; 2]>> = (0..50).map(|idx| Some([f64::from(idx) * 5.0, 1.0])).collect();
        assert_eq!(thinned(spread.iter().copied()), spread);
        let holes = thinned((0..100).map(|idx| (idx % 2 == 0).then_some([f64::from(idx) * 5.0, 1.0])));
        assert_eq!((holes.len(), holes.iter().flatten().count()), (99, 50));
        assert!(thinned((0..1000).map(|_| None)).is_empty());
    }

    #[test]
    fn markers_are_apart_and_differ_between_lines() {
        let pixels: Vec<[f64; 2]> = (0..600).map(|idx| [f64::from(idx), 0.0]).collect();
        let [first, second] = [0, 1].map(|idx| marked(&pixels, idx));
        assert_eq!((first.len(), second.len()), (MARKERS, MARKERS));
        assert!(first.iter().all(|pixel| !second.contains(pixel)));
        assert!(marked(&[], 0).is_empty());
    }
}
