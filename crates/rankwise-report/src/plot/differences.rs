//! The difference of two systems on each query, sorted.
//!
//! Up to some hundred queries have a bar each. With more, a bar stands for neighbours in this order: their mean, and
//! behind it their range.

use std::fmt::Write as _;

use super::frame::{Area, Axis};
use super::palette::Ink;
use super::scale::{Scale, range};
use super::svg::{Anchor, Svg};
use crate::name;

/// More bars would be thinner than a few pixels.
const MOST_BARS: usize = 180;
/// The number of characters of a query that are shown under the pointer.
const NAME: usize = 80;

/// One value per query.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// What a difference is, such as `difference of ndcg@10`.
    pub label: String,
    /// What it means to be above and below the axis, with the numbers of queries.
    pub sides: [String; 2],
    /// The queries with their differences, from the largest.
    pub values: Vec<(String, f64)>,
}

/// A bar: a range of queries, from the largest difference.
#[derive(Clone, Debug, PartialEq)]
struct Bin {
    first: usize,
    end: usize,
    low: f64,
    mean: f64,
    high: f64,
}

impl Differences {
    pub(super) fn draw(&self, svg: &mut Svg) {
        let bins = bins(&self.values, if svg.is_wide() { MOST_BARS } else { MOST_BARS / 2 });
        let [low, high] = range(self.values.iter().map(|(_, value)| *value));
        let height = if svg.is_wide() { 250.0 } else { 200.0 };
        let axis = Axis::linear(self.label.clone());
        let (area, y) = Area::new(svg, 0.0, height, &axis, [low.min(0.0), high.max(0.0)]);
        let n_values = self.values.len();
        let x = Scale::linear([0.0, n_values as f64], [area.left, area.right]);
        let zero = y.at(0.0);
        // Above and below in one path each.
        let [mut ranges, mut means] = [[String::new(), String::new()], [String::new(), String::new()]];
        for bin in &bins {
            let (from, to) = (x.at(bin.first as f64), x.at(bin.end as f64));
            let gap = if to - from > 3.0 { 0.5 } else { 0.0 };
            let bar = |path: &mut String, value: f64| {
                let (from, to, top) = (from + gap, to - gap, y.at(value));
                let _ = write!(path, "M{from:.1} {zero:.1}V{top:.1}H{to:.1}V{zero:.1}z");
            };
            for (side, extreme) in [bin.high.max(0.0), bin.low.min(0.0)].into_iter().enumerate() {
                if bin.end - bin.first > 1 && extreme != 0.0 {
                    bar(&mut ranges[side], extreme);
                }
            }
            if bin.mean != 0.0 {
                bar(&mut means[usize::from(bin.mean < 0.0)], bin.mean);
            }
        }
        for (paths, opacity) in [(ranges, 0.35), (means, 1.0)] {
            for (side, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
                svg.fill(path, Ink::Series(side), opacity);
            }
        }
        svg.line([area.left, zero], [area.right, zero], Ink::Axis);
        svg.text(area.right, area.top + 12.0, Anchor::End, Ink::Text, &format!("▲ {}", self.sides[0]));
        svg.text(area.left + 6.0, area.bottom - 8.0, Anchor::Start, Ink::Text, &format!("▼ {}", self.sides[1]));
        for bin in &bins {
            let (from, to) = (x.at(bin.first as f64), x.at(bin.end as f64));
            svg.hover([from, area.top], [to - from, area.bottom - area.top], &self.title(bin));
        }
        let below = if bins.len() < n_values {
            format!("queries in order; each bar is about {}, the light part their range", n_values.div_ceil(bins.len()))
        } else {
            "queries in order, one bar each".to_owned()
        };
        area.x_label(svg, if svg.is_wide() { &below } else { "queries in order" });
    }

    /// What the pointer shows.
    fn title(&self, bin: &Bin) -> String {
        let query = |idx: usize| name::cut(&self.values[idx].0, NAME);
        if bin.end - bin.first == 1 {
            return format!("{}: {:+.4}", query(bin.first), bin.mean);
        }
        format!(
            "queries {} to {} of {}: {:+.4} on average\nfrom {} ({:+.4})\nto {} ({:+.4})",
            bin.first + 1,
            bin.end,
            self.values.len(),
            bin.mean,
            query(bin.first),
            self.values[bin.first].1,
            query(bin.end - 1),
            self.values[bin.end - 1].1
        )
    }
}

/// At most `most` bars of about equally many queries.
fn bins(values: &[(String, f64)], most: usize) -> Vec<Bin> {
    let n_bins = values.len().min(most);
    let bin = |idx: usize| {
        let (first, end) = (idx * values.len() / n_bins, (idx + 1) * values.len() / n_bins);
        let inside = || values[first..end].iter().map(|(_, value)| *value).filter(|value| value.is_finite());
        let [low, high] = range(inside());
        let n_inside = inside().count();
        let mean = if n_inside == 0 { 0.0 } else { inside().sum::<f64>() / n_inside as f64 };
        let (low, high) = if n_inside == 0 { (0.0, 0.0) } else { (low, high) };
        Bin { first, end, low, mean, high }
    };
    (0..n_bins).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_queries_have_a_bar_each_and_many_share_them() {
        let values: Vec<(String, f64)> = (0..20_000).map(|idx| (format!("q{idx}"), f64::from(10_000 - idx))).collect();
        let few = bins(&values[..5], 10);
        assert_eq!((few.len(), few[4].first, few[4].end, few[4].mean), (5, 4, 5, 9996.0));
        let many = bins(&values, 180);
        assert_eq!((many.len(), many[0].first, many[179].end), (180, 0, 20_000));
        assert!(many.windows(2).all(|pair| pair[0].end == pair[1].first && pair[0].low > pair[1].high));
        assert!(bins(&[], 10).is_empty());
        assert_eq!(bins(&[("q".into(), f64::NAN)], 10)[0].mean, 0.0);
    }
}
