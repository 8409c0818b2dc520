//! How data differs from other data.

use std::collections::HashMap;
use std::path::Path;

use rankwise::data::{DataDrift, Dataset, Documents, FeatureDrift, drift};
use serde_json::{Value, json};

use super::profile::name_of;
use crate::failure::user_at;
use crate::{files, text};

pub(super) struct Drift {
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
            there: files::shown(path).to_string(),
            n_queries: here.n_queries(),
            data,
        })
    }

    pub(super) fn text(&self, top: usize) -> String {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let distance = |place: usize| self.data.features[place].distance;
        order.sort_by(|a, b| distance(*b).total_cmp(&distance(*a)));
        let mut out = format!("\nagainst {}\n", self.there);
        let mut line = |name: &str, value: String| out.push_str(&format!("  {name:<12} {value}\n"));
        line("labels", format!("distance {:.3}", self.data.labels));
        line("list lengths", format!("distance {:.3}", self.data.sizes));
        let of =
            |number: usize| format!("{} of {}", text::thousands(number as u64), text::count(self.n_queries, "query"));
        line("same ids", of(self.data.n_shared_ids));
        line("same content", of(self.data.n_shared_contents));
        for (names, what) in [(&self.only_here, "only here"), (&self.only_there, "only there")] {
            if !names.is_empty() {
                let shown = names.iter().take(top).cloned().collect::<Vec<_>>().join(", ");
                let more = if names.len() > top { format!(" and {} more", names.len() - top) } else { String::new() };
                line(what, format!("{}: {shown}{more}", text::count(names.len(), "feature")));
            }
        }
        let mut rows =
            vec![["feature", "distance", "median here", "there", "missing here", "there"].map(str::to_owned).to_vec()];
        for place in order.iter().take(top) {
            let feature = &self.data.features[*place];
            let median = |side: usize| feature.medians[side].map_or("-".into(), text::number);
            let missing = |side: usize| format!("{:.1} %", 100.0 * feature.missing[side]);
            let numbers = [format!("{:.3}", feature.distance), median(0), median(1), missing(0), missing(1)];
            rows.push(std::iter::once(self.names[*place].clone()).chain(numbers).collect());
        }
        out.push_str(&format!("\n{}", text::table(&rows)));
        if order.len() > top {
            out.push_str(&format!("and {}; --top shows more\n", text::count(order.len() - top, "more feature")));
        }
        out.push_str(
            "\ndistance: the largest difference between the shares of documents up to any value (Kolmogorov-Smirnov)\n",
        );
        out
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
