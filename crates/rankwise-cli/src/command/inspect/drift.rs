//! How data differs from other data.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use rankwise::data::{DataDrift, Dataset, Documents, FeatureDrift, drift};
use rankwise_report::{Axis, Block, Cell, Figure, Lines, Plot, Section, Series, Table, Text};
use serde_json::{Value, json};

use super::profile::name_of;
use crate::failure::user_at;
use crate::report::tables;
use crate::{files, text};

/// Features in the open table of a page.
const FIRST: usize = 20;
/// Features with a plot.
const PLOTTED: usize = 6;
const DISTANCE: &str = "the largest difference between the shares of documents up to any value (Kolmogorov-Smirnov)";

/// What is known about the differences.
pub(crate) struct Drift {
    data: DataDrift,
    /// By feature, its name.
    names: Vec<String>,
    only_here: Vec<String>,
    only_there: Vec<String>,
    /// Where the other data is.
    there: String,
    n_queries: usize,
}

impl Drift {
    pub(super) fn new(here: &Dataset, there: Dataset, path: &Path) -> anyhow::Result<Self> {
        let has_names = [here.docs(), there.docs()].map(|docs| !docs.feature_names().is_empty());
        let there = match has_names {
            [true, true] => by_names(here, there),
            [false, false] => there,
            _ => {
                return Err(user_at(
                    path,
                    "only one of the two datasets names its features; use names in both or in neither",
                ));
            }
        };
        let data = drift(here, &there);
        let names = |docs: &Documents, ids: &[u32]| ids.iter().map(|id| name_of(docs, *id)).collect();
        let ids: Vec<u32> = data.features.iter().map(|feature| feature.feature).collect();
        Ok(Self {
            names: names(here, &ids),
            only_here: names(here, &data.only_here),
            only_there: names(&there, &data.only_there),
            there: files::shown(path).clone(),
            n_queries: here.n_queries(),
            data,
        })
    }

    /// The features, those that drifted most first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let distance = |place: usize| self.data.features[place].distance;
        order.sort_by(|a, b| distance(*b).total_cmp(&distance(*a)));
        order
    }

    /// Names with their values.
    fn lines(&self, top: usize) -> Vec<(&'static str, String)> {
        let of =
            |number: usize| format!("{} of {}", text::thousands(number as u64), text::count(self.n_queries, "query"));
        let mut lines = vec![
            ("labels", format!("distance {:.3}", self.data.labels)),
            ("list lengths", format!("distance {:.3}", self.data.sizes)),
            ("same ids", of(self.data.n_shared_ids)),
            ("same content", of(self.data.n_shared_contents)),
        ];
        for (names, what) in [(&self.only_here, "only here"), (&self.only_there, "only there")] {
            if !names.is_empty() {
                let shown = names.iter().take(top).cloned().collect::<Vec<_>>().join(", ");
                let more = if names.len() > top { format!(" and {} more", names.len() - top) } else { String::new() };
                lines.push((what, format!("{}: {shown}{more}", text::count(names.len(), "feature"))));
            }
        }
        lines
    }

    /// A table of features, with its head.
    fn rows(&self, order: &[usize]) -> Vec<Vec<String>> {
        let head = ["feature", "distance", "median here", "there", "missing here", "there"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for place in order {
            let feature = &self.data.features[*place];
            let median = |side: usize| feature.medians[side].map_or("-".into(), text::number);
            let missing = |side: usize| format!("{:.1} %", 100.0 * feature.missing[side]);
            let numbers = [format!("{:.3}", feature.distance), median(0), median(1), missing(0), missing(1)];
            rows.push(std::iter::once(self.names[*place].clone()).chain(numbers).collect());
        }
        rows
    }

    pub(super) fn text(&self, top: usize) -> String {
        let order = self.order();
        let mut out = format!("\nagainst {}\n", self.there);
        for (name, value) in self.lines(top) {
            let _ = writeln!(out, "  {name:<12} {value}");
        }
        let _ = write!(out, "\n{}", text::table(&self.rows(&order[..top.min(order.len())])));
        if order.len() > top {
            let _ = writeln!(out, "and {}; --top shows more", text::count(order.len() - top, "more feature"));
        }
        let _ = writeln!(out, "\ndistance: {DISTANCE}");
        out
    }

    /// The differences in a page.
    pub(crate) fn section(&self) -> Section {
        let order = self.order();
        let mut lines = Table::new(["", "value"]);
        lines.head[0] = "against".into();
        for (name, value) in self.lines(FIRST) {
            lines.rows.push(vec![Cell::Words(name.into()), Cell::Words(Text::of_name(value))]);
        }
        let table = |order: &[usize]| tables::of_rows(self.rows(order));
        let mut section = Section::new("drift", "Drift")
            .text(Text::plain("Compared with ").name(&self.there).then(format!(". Distance: {DISTANCE}.")))
            .block(Block::Table(lines))
            .block(Block::Table(table(&order[..order.len().min(FIRST)])));
        if order.len() > FIRST {
            section = section.block(Block::Folded(format!("All {} features", order.len()).into(), table(&order)));
        }
        let figures: Vec<Figure> = order.iter().take(PLOTTED).filter_map(|place| self.figure(*place)).collect();
        if figures.is_empty() { section } else { section.block(Block::Figures(figures)) }
    }

    /// The shares of documents up to each value, here and there.
    fn figure(&self, place: usize) -> Option<Figure> {
        let (feature, name) = (&self.data.features[place], &self.names[place]);
        if feature.bars.len() < 2 {
            return None;
        }
        let mut table = Table::new(["value up to", "here", "there"]);
        let mut series = ["here", "there"].map(|name| Series { name: name.into(), points: Vec::new() });
        let mut sums = feature.missing;
        for bar in &feature.bars {
            for ((sum, share), series) in sums.iter_mut().zip(bar.shares).zip(&mut series) {
                *sum += share;
                series.points.push((bar.high, *sum));
            }
            let shown = |sum: f64| format!("{:.1} %", 100.0 * sum);
            table.push([text::number(bar.high), shown(sums[0]), shown(sums[1])]);
        }
        let title = Text::plain("Feature ").name(name).then(format!(", distance {:.3}", feature.distance));
        let lines = Lines::new(Axis::linear("value"), Axis::share("documents up to it"), series.into());
        Some(Figure::new(format!("drift-{}", feature.feature), title, Plot::Lines(lines), table))
    }

    pub(super) fn json(&self) -> Value {
        let feature = |(feature, name): (&FeatureDrift, &String)| {
            json!({
                "feature": feature.feature,
                "name": name,
                "distance": feature.distance,
                "medians": feature.medians,
                "missing": feature.missing,
                "bars": feature.bars.iter().map(|bar| json!({ "low": bar.low, "high": bar.high, "shares": bar.shares })).collect::<Vec<_>>(),
            })
        };
        json!({
            "against": self.there,
            "features": self.data.features.iter().zip(&self.names).map(feature).collect::<Vec<_>>(),
            "only_here": self.only_here,
            "only_there": self.only_there,
            "labels": self.data.labels,
            "sizes": self.data.sizes,
            "shared_query_ids": self.data.n_shared_ids,
            "shared_query_contents": self.data.n_shared_contents,
        })
    }
}

/// The other data with the ids that features of the same name have here.
fn by_names(here: &Documents, there: Dataset) -> Dataset {
    let ids: HashMap<&str, u32> = here.feature_names().iter().map(|(id, name)| (name.as_str(), *id)).collect();
    let mut next = here.feature_ids().last().map_or(0, |last| last + 1);
    let mut new_id = |name: &str| {
        ids.get(name).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        })
    };
    let renamed: Vec<(u32, u32, String)> =
        there.feature_names().iter().map(|(id, name)| (*id, new_id(name), name.clone())).collect();
    let pairs: Vec<(u32, u32)> = renamed.iter().map(|(old, new, _)| (*old, *new)).collect();
    there.renumbered(&pairs, renamed.into_iter().map(|(_, new, name)| (new, name)).collect())
}
