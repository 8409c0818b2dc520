//! The features of data, one by one.

use std::path::Path;

use rankwise::data::{DataProfile, Dataset, Documents, FeatureProfile};
use serde_json::{Value, json};

use crate::output::Output;
use crate::{files, text};

/// Of the pairs of documents with different labels, the share that a feature must order as the labels do, or the other way round, to be suspected
/// of knowing them.
const LEAK: f64 = 0.99;
/// Features named in a warning.
const NAMED: usize = 5;

pub(super) struct Profile {
    data: DataProfile,
    /// By feature, its name.
    names: Vec<String>,
    n_rows: usize,
}

impl Profile {
    pub(super) fn new(data: &Dataset) -> Self {
        let profile = data.profile();
        let names = profile.features.iter().map(|feature| name_of(data, feature.feature)).collect();
        Self { data: profile, names, n_rows: data.n_rows() }
    }

    /// Warns of what a model could exploit.
    pub(super) fn warn(&self, path: &Path, output: Output) {
        let place = files::shown(path);
        if let Some(names) = self.named(|feature| is_leak(feature.with_labels)) {
            output.warn(&format!(
                "{place}: {names} order documents as the labels do; check that they do not come from the labels"
            ));
        }
        if let Some(names) = self.named(|feature| is_leak(feature.with_rows)) {
            output.warn(&format!(
                "{place}: {names} order documents as the rows of the file; check that this order does not come from the labels"
            ));
        }
        if is_leak(self.data.rows_with_labels) {
            output.warn(&format!(
                "{place}: rows are sorted by label within queries; other programs leave ties in this order, so their metrics may be too optimistic"
            ));
        }
    }

    /// The names of some features.
    fn named(&self, is_one: impl Fn(&FeatureProfile) -> bool) -> Option<String> {
        let found: Vec<&str> = self
            .data
            .features
            .iter()
            .zip(&self.names)
            .filter(|(feature, _)| is_one(feature))
            .map(|(_, name)| name.as_str())
            .collect();
        let shown = found.iter().take(NAMED).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        match found.len() {
            0 => None,
            1 => Some(format!("the values of feature {shown}")),
            n if n > NAMED => Some(format!("the values of features {shown} and {} more", n - NAMED)),
            _ => Some(format!("the values of features {shown}")),
        }
    }

    pub(super) fn text(&self, top: usize) -> String {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let distance = |place: &usize| self.data.features[*place].with_labels.map_or(0.0, |share| (share - 0.5).abs());
        order.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        let head = ["feature", "agreement", "missing", "distinct", "minimum", "median", "maximum"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for place in order.iter().take(top) {
            let feature = &self.data.features[*place];
            let quartile = |idx: usize| feature.quartiles.map_or("-".into(), |all| text::number(all[idx]));
            let note = if feature.is_constant_in_queries { " *" } else { "" };
            rows.push(vec![
                format!("{}{note}", self.names[*place]),
                share(feature.with_labels),
                text::percent(feature.n_missing, self.n_rows),
                text::thousands(feature.n_distinct as u64),
                quartile(0),
                quartile(2),
                quartile(4),
            ]);
        }
        let mut out = format!("\n{}", text::table(&rows));
        if self.names.len() > top {
            out.push_str(&format!("and {}; --top shows more\n", text::count(self.names.len() - top, "more feature")));
        }
        let is_starred = |place: &usize| self.data.features[*place].is_constant_in_queries;
        if order.iter().take(top).any(is_starred) {
            out.push_str("* constant within queries\n");
        }
        out.push_str(
            "\nagreement: of two documents of a query with different labels, how often the more relevant one has the larger value\n",
        );
        out.push_str(&format!(
            "rows of the file agree with the labels in {} of the pairs\n",
            share(self.data.rows_with_labels)
        ));
        let copies = text::count(self.data.n_copies, "document");
        out.push_str(&match (self.data.n_copies, self.data.n_contradictions) {
            (0, _) => "no two documents of a query have the same values\n".to_owned(),
            (_, contradictions) => {
                format!("{copies} have the same values as another of their query, {contradictions} of them with different labels\n")
            }
        });
        out
    }

    pub(super) fn json(&self) -> Value {
        let feature = |(feature, name): (&FeatureProfile, &String)| {
            json!({
                "feature": feature.feature,
                "name": name,
                "missing": feature.n_missing,
                "distinct": feature.n_distinct,
                "quartiles": feature.quartiles,
                "bars": feature.bars.iter().map(|bar| json!({ "low": bar.low, "high": bar.high, "count": bar.count })).collect::<Vec<_>>(),
                "constant_in_queries": feature.is_constant_in_queries,
                "agreement_with_labels": feature.with_labels,
                "agreement_with_rows": feature.with_rows,
            })
        };
        json!({
            "features": self.data.features.iter().zip(&self.names).map(feature).collect::<Vec<_>>(),
            "rows_with_labels": self.data.rows_with_labels,
            "copies": self.data.n_copies,
            "contradictions": self.data.n_contradictions,
        })
    }
}

/// The name of a feature, or its id.
pub(super) fn name_of(data: &Documents, feature: u32) -> String {
    data.feature_name(feature).map_or_else(|| feature.to_string(), str::to_owned)
}

fn is_leak(share: Option<f64>) -> bool {
    share.is_some_and(|share| !(1.0 - LEAK..=LEAK).contains(&share))
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share))
}
