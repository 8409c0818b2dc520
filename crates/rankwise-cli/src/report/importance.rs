//! Models: the importance of their features, and how they were trained.

use rankwise::model::{Model, Ranker};
use rankwise_report::{Bar, Bars, Cell, Figure, Plot, Table, Text};

use super::file_name;

/// The number of bars.
const MOST_BARS: usize = 20;
/// The number of features in the table.
const MOST_ROWS: usize = 1000;

/// What a page says about a model.
#[derive(Clone, Debug)]
pub(crate) struct ModelFacts {
    /// The system.
    pub(crate) name: String,
    label: &'static str,
    /// Features with their importance, from the largest, and the number of splits in tree models.
    features: Vec<(String, f64, Option<u64>)>,
    /// Properties with their values.
    properties: Vec<(String, String)>,
}

impl ModelFacts {
    pub(crate) fn new(name: String, model: &Model) -> Self {
        let (label, features) = match (model.importance(), model.ranker()) {
            (Ok(importance), _) => {
                let each = importance.iter().filter(|feature| feature.splits > 0);
                let row = |feature: &rankwise::model::FeatureImportance| {
                    (model.feature_label(feature.feature), feature.gain, Some(feature.splits))
                };
                ("sum of gains", each.map(row).collect())
            }
            (Err(_), Ranker::Linear(linear)) => {
                let each = model.features().iter().zip(linear.weights());
                let mut rows: Vec<(String, f64, Option<u64>)> =
                    each.map(|(feature, weight)| (model.feature_label(*feature), *weight, None)).collect();
                rows.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
                ("weight", rows)
            }
            (Err(_), _) => ("", Vec::new()),
        };
        let mut properties = vec![("objective".to_owned(), model.objective().to_owned())];
        if let Ok(trees) = model.tree_ensemble() {
            properties.push(("trees".into(), trees.n_trees().to_string()));
        }
        properties.extend(model.params().iter().map(|(name, value)| (name.clone(), value.clone())));
        let on = model.trained_on();
        if !on.fingerprint.is_empty() {
            properties.push(("training documents".into(), on.rows.to_string()));
            properties.push(("training queries".into(), on.queries.to_string()));
            properties.push(("fingerprint of the training data".into(), on.fingerprint.clone()));
        }
        Self { name, label, features, properties }
    }

    /// The most important features; `None` if the model uses none.
    pub(super) fn figure(&self) -> Option<Figure> {
        if self.features.is_empty() {
            return None;
        }
        let head: &[&str] =
            if self.label == "weight" { &["feature", "weight"] } else { &["feature", "gain", "share", "splits"] };
        let total: f64 = self.features.iter().map(|(_, value, _)| value).sum();
        let mut table = Table::new(head.iter().copied());
        for (name, value, splits) in self.features.iter().take(MOST_ROWS) {
            let mut row = vec![name.clone(), shown(*value)];
            if let Some(splits) = splits {
                row.extend([format!("{:.1} %", 100.0 * value / total), splits.to_string()]);
            }
            table.push(row);
        }
        let bar = |(name, value, _): &(String, f64, Option<u64>)| Bar {
            name: name.clone(),
            value: *value,
            shown: if self.label == "weight" { shown(*value) } else { format!("{:.1} %", 100.0 * value / total) },
        };
        let bars = self.features.iter().take(MOST_BARS).map(bar).collect();
        let n_features = self.features.len();
        let title = if n_features > MOST_BARS {
            format!("The {MOST_BARS} most important of {n_features} features, ")
        } else {
            "Features by importance, ".to_owned()
        };
        let what = if self.label == "weight" { "weight" } else { "share of all gains" };
        let plot = Plot::Bars(Bars { label: what.to_owned(), bars });
        let title = Text::plain(title).name(&self.name);
        Some(Figure::new(file_name(&format!("importance-{}", self.name)), title, plot, table))
    }

    /// The parameters of training that the model records.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::new(["", "value"]);
        table.head[0] = "property".into();
        for (name, value) in &self.properties {
            table.rows.push(vec![Cell::Words(Text::of_name(name)), Cell::Words(Text::of_name(value))]);
        }
        table
    }
}

/// A number with four digits that matter.
fn shown(value: f64) -> String {
    if value != 0.0 && (value.abs() >= 1e6 || value.abs() < 1e-3) {
        format!("{value:.3e}")
    } else {
        format!("{value:.4}")
    }
}
