//! The features of data, one by one.

use std::fmt::Write as _;

use rankwise::data::{DataProfile, Dataset, Documents, FeatureProfile};
use rankwise_report::{Block, Figure, Section, Text};
use serde_json::{Value, json};

use crate::report::{distribution, tables};
use crate::text;

/// Of the pairs of documents with different labels, the share that a feature must order as the labels do, or the other way round, to be suspected
/// of knowing them.
const LEAK: f64 = 0.99;
/// Features named in a warning.
const NAMED: usize = 5;
/// Features in the open table of a page.
const FIRST: usize = 20;
/// Features with a plot.
const PLOTTED: usize = 12;
const AGREEMENT: &str =
    "of two documents of a query with different labels, how often the more relevant one has the larger value";

/// What is known about the features.
pub(crate) struct Profile {
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

    /// What a model could exploit.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(names) = self.named(|feature| is_leak(feature.with_labels)) {
            found
                .push(format!("{names} order documents as the labels do; check that they do not come from the labels"));
        }
        if let Some(names) = self.named(|feature| is_leak(feature.with_rows)) {
            found.push(format!(
                "{names} order documents as the rows of the file; check that this order does not come from the labels"
            ));
        }
        if is_leak(self.data.rows_with_labels) {
            let trap = "other programs leave ties in this order, so their metrics may be too optimistic";
            found.push(format!("rows are sorted by label within queries; {trap}"));
        }
        found
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

    /// The features, those that agree most with the labels, or least, first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        let distance = |place: &usize| self.data.features[*place].with_labels.map_or(0.0, |share| (share - 0.5).abs());
        order.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
        order
    }

    /// A table of features, with its head.
    fn rows(&self, order: &[usize]) -> Vec<Vec<String>> {
        let head = ["feature", "agreement", "missing", "distinct", "minimum", "median", "maximum"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for place in order {
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
        rows
    }

    /// How rows and documents are, apart from single features.
    fn remarks(&self) -> [String; 2] {
        let rows =
            format!("rows of the file agree with the labels in {} of the pairs", share(self.data.rows_with_labels));
        let copies = match (self.data.n_copies, self.data.n_contradictions) {
            (0, _) => "no two documents of a query have the same values".to_owned(),
            (copies, contradictions) => {
                let copies = text::count(copies, "document");
                format!(
                    "{copies} have the same values as another of their query, {contradictions} of them with different labels"
                )
            }
        };
        [rows, copies]
    }

    pub(super) fn text(&self, top: usize) -> String {
        let order = self.order();
        let shown = &order[..top.min(order.len())];
        let mut out = format!("\n{}", text::table(&self.rows(shown)));
        if order.len() > top {
            let _ = writeln!(out, "and {}; --top shows more", text::count(order.len() - top, "more feature"));
        }
        if shown.iter().any(|place| self.data.features[*place].is_constant_in_queries) {
            out.push_str("* constant within queries\n");
        }
        let [rows, copies] = self.remarks();
        let _ = writeln!(out, "\nagreement: {AGREEMENT}\n{rows}\n{copies}");
        out
    }

    /// The features in a page.
    pub(crate) fn sections(&self) -> Vec<Section> {
        let order = self.order();
        let [rows, copies] = self.remarks();
        let stars = if self.data.features.iter().any(|feature| feature.is_constant_in_queries) {
            " A star marks features that are constant within queries."
        } else {
            ""
        };
        let table = |order: &[usize]| tables::of_rows(self.rows(order));
        let mut features = Section::new("features", "Features")
            .text(format!("Agreement: {AGREEMENT}.{stars}"))
            .block(Block::Table(table(&order[..order.len().min(FIRST)])));
        if order.len() > FIRST {
            features = features.block(Block::Folded(format!("All {} features", order.len()).into(), table(&order)));
        }
        features = features.text(tables::sentence(&rows)).text(tables::sentence(&copies));
        let figures: Vec<Figure> = order.iter().take(PLOTTED).map(|place| self.figure(*place)).collect();
        let mut distributions = Section::new("distributions", "Distributions");
        if !figures.is_empty() {
            distributions = distributions
                .text("The features that agree most with the labels, or least. Outer bars hold the rest of the values.")
                .block(Block::Figures(figures));
        }
        vec![features, distributions]
    }

    fn figure(&self, place: usize) -> Figure {
        let (feature, name) = (&self.data.features[place], &self.names[place]);
        let missing = text::percent(feature.n_missing, self.n_rows);
        let title = Text::plain("Feature ").name(name).then(format!(", {missing} missing"));
        distribution(format!("feature-{}", feature.feature), title, "documents", &feature.bars)
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
pub(crate) fn name_of(data: &Documents, feature: u32) -> String {
    data.feature_name(feature).map_or_else(|| feature.to_string(), str::to_owned)
}

fn is_leak(share: Option<f64>) -> bool {
    share.is_some_and(|share| !(1.0 - LEAK..=LEAK).contains(&share))
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.1} %", 100.0 * share))
}
