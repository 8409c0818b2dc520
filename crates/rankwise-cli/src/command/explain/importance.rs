//! What a model relies on: splits and gains, and on data, permutation importance and SHAP values.

use std::fmt::Write as _;

use rankwise::eval::IntervalSpec;
use rankwise::explain::{Explainer, ModelDocs, PermutationImportance, PermutationSpec, permutation_importance};
use rankwise::metrics::{MetricName, Rules, RulesSpec};
use rankwise::model::{Model, Ranker};
use rankwise_report::{Bar, Bars, Block, Figure, Plot, Section, Text};
use serde_json::{Value, json};

use crate::args::Global;
use crate::explain_args::Explain;
use crate::failure::user;
use crate::output::Output;
use crate::progress::Steps;
use crate::report::tables;
use crate::system::StatedRules;
use crate::{comparison, text};

/// What was asked, checked before data is read.
pub(super) struct Asked {
    metric: MetricName,
    rules: Rules,
    repeats: u32,
    seed: u64,
}

impl Asked {
    pub(super) fn new(args: &Explain, global: Global) -> anyhow::Result<Self> {
        let mut names = MetricName::parse_list(&args.metric)?;
        if names.len() > 1 {
            return Err(user(format!("--metric {}: give one metric", args.metric)));
        }
        let seed = global.seed.unwrap_or(0);
        let mut spec = RulesSpec::default();
        args.rules.apply(&mut spec)?;
        Ok(Self { metric: names.remove(0), rules: Rules::new(&spec, seed)?, repeats: args.repeats, seed })
    }

    pub(super) fn measure(
        &self,
        model: &Model,
        docs: &ModelDocs<'_>,
        explainer: Option<&Explainer<'_>>,
        output: Output,
    ) -> anyhow::Result<Table> {
        let mut table = by_slot(model)?;
        let n_features = model.features().len();
        if let Some(explainer) = explainer {
            let sizes = explainer.mean_sizes(docs)?;
            for (slot, row) in table.rows.iter_mut().enumerate() {
                // Over all outputs.
                row.shap = Some(sizes.iter().skip(slot).step_by(n_features).sum());
            }
        }
        if self.repeats > 0 {
            let intervals = IntervalSpec { seed: self.seed, ..IntervalSpec::default() };
            let spec = PermutationSpec { metric: &self.metric, rules: &self.rules, repeats: self.repeats, intervals };
            let n_used = table.rows.iter().filter(|row| row.splits != Some(0)).count();
            let steps = std::sync::Mutex::new((Steps::new(output, "features"), 0));
            let found = permutation_importance(model, docs, &spec, || {
                let mut steps = steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                steps.1 += 1;
                let done = steps.1;
                steps.0.show(done, n_used);
            });
            steps.lock().unwrap_or_else(std::sync::PoisonError::into_inner).0.finish();
            for importance in found? {
                table.rows[importance.feature].permutation = Some(importance);
            }
            let stated = StatedRules::new(&self.rules, std::slice::from_ref(&self.metric), &[]);
            table.measured = Some(Measured { metric: self.metric.as_str().to_owned(), stated, repeats: self.repeats });
        }
        table.documents = Some(text::documents(docs.data()));
        table.sort();
        Ok(table)
    }
}

/// A row for each feature of the model.
pub(super) struct Table {
    rows: Vec<Row>,
    measured: Option<Measured>,
    documents: Option<String>,
}

struct Measured {
    metric: String,
    stated: StatedRules,
    repeats: u32,
}

struct Row {
    feature: u32,
    label: String,
    /// Of trees.
    splits: Option<u64>,
    gain: Option<f64>,
    /// Of linear models.
    weight: Option<f64>,
    shap: Option<f64>,
    permutation: Option<PermutationImportance>,
}

impl Row {
    /// Features with larger ranks come first.
    fn rank(&self) -> [f64; 3] {
        let loss = self.permutation.and_then(|importance| importance.loss);
        let size = self.weight.map_or(0.0, f64::abs);
        [loss.unwrap_or(f64::MIN), self.shap.unwrap_or(0.0), self.gain.unwrap_or(size)]
    }
}

/// What the model file says, the most important feature first.
pub(super) fn of_model(model: &Model) -> anyhow::Result<Table> {
    let mut table = by_slot(model)?;
    table.sort();
    Ok(table)
}

/// What the model file says, in the order of the model's features.
fn by_slot(model: &Model) -> anyhow::Result<Table> {
    let row = |feature: u32| Row {
        feature,
        label: model.feature_label(feature),
        splits: None,
        gain: None,
        weight: None,
        shap: None,
        permutation: None,
    };
    let mut rows: Vec<Row> = model.features().iter().map(|feature| row(*feature)).collect();
    match model.ranker() {
        Ranker::Trees(_) => {
            for importance in model.importance()? {
                let slot = model.features().binary_search(&importance.feature).expect("a feature of the model");
                (rows[slot].splits, rows[slot].gain) = (Some(importance.splits), Some(importance.gain));
            }
        }
        Ranker::Linear(linear) => {
            rows.iter_mut().zip(linear.weights()).for_each(|(row, weight)| row.weight = Some(*weight));
        }
        // No number in the file says how much a feature matters; measured on data, it does.
        Ranker::Neural(_) => {}
    }
    Ok(Table { rows, measured: None, documents: None })
}

impl Table {
    fn sort(&mut self) {
        self.rows.sort_by(|a, b| b.rank().partial_cmp(&a.rank()).unwrap_or(std::cmp::Ordering::Equal));
    }

    /// The first `n` features in a table with its head.
    fn table(&self, n: usize) -> Vec<Vec<String>> {
        let mut head = vec!["feature".to_owned()];
        if let Some(measured) = &self.measured {
            head.push(format!("loss of {}", measured.metric));
            head.push(comparison::interval_title(IntervalSpec::default().confidence));
        }
        let has_shap = self.rows.iter().any(|row| row.shap.is_some());
        head.extend(has_shap.then(|| "mean |SHAP|".to_owned()));
        // Of neural models, a file tells nothing about features.
        let is_neural = self.rows.iter().any(|row| row.weight.is_none() && row.gain.is_none());
        let is_linear = self.rows.iter().any(|row| row.weight.is_some());
        let of_ranker: &[&str] = match (is_linear, is_neural) {
            (true, _) => &["weight"],
            (false, true) => &[],
            (false, false) => &["gain", "splits"],
        };
        head.extend(of_ranker.iter().map(ToString::to_string));
        let mut rows = vec![head];
        for row in self.rows.iter().take(n) {
            let is_between = row.permutation.is_some_and(|importance| importance.is_between_queries);
            let mut cells = vec![format!("{}{}", row.label, if is_between { " *" } else { "" })];
            if self.measured.is_some() {
                let importance = row.permutation;
                cells.push(importance.and_then(|found| found.loss).map_or("-".into(), super::signed));
                cells.push(comparison::interval(importance.and_then(|found| found.interval)));
            }
            cells.extend(row.shap.map(|shap| format!("{shap:.4}")));
            cells.extend(row.weight.map(text::number));
            cells.extend(row.gain.map(text::number));
            cells.extend(row.splits.map(|splits| splits.to_string()));
            rows.push(cells);
        }
        rows
    }

    pub(super) fn text(&self, top: usize) -> String {
        let mut out = String::new();
        if let Some(documents) = &self.documents {
            let _ = writeln!(out, "on {documents}:\n");
        }
        out.push_str(&text::table(&self.table(top)));
        if self.rows.len() > top {
            let _ = writeln!(out, "and {} more; --top shows more", text::count(self.rows.len() - top, "feature"));
        }
        if let Some(Measured { stated, repeats, .. }) = &self.measured {
            if self.rows.iter().take(top).any(|row| row.permutation.is_some_and(|found| found.is_between_queries)) {
                out.push_str("* constant within queries, so its values were exchanged between queries\n");
            }
            let _ = writeln!(out, "\nvalues exchanged {} per feature\nrules: {}", times(*repeats), stated.text);
        }
        out
    }

    /// The features in a page.
    pub(super) fn section(&self) -> Section {
        let table = tables::of_rows(self.table(self.rows.len()));
        let mut figures = Vec::new();
        let mut add = |name: &str, title: &str, label: String, of: &dyn Fn(&Row) -> Option<(f64, String)>| {
            let bar = |row: &Row| of(row).map(|(value, shown)| Bar { name: row.label.clone(), value, shown });
            let mut bars: Vec<Bar> = self.rows.iter().filter_map(bar).collect();
            bars.sort_by(|a, b| b.value.total_cmp(&a.value));
            bars.truncate(super::MOST_BARS);
            if !bars.is_empty() {
                let plot = Plot::Bars(Bars { label, bars });
                figures.push(Figure::new(name, Text::plain(title), plot, table.clone()));
            }
        };
        let number = |value: f64| (value, text::number(value));
        if let Some(Measured { metric, .. }) = &self.measured {
            add("permutation-importance", "Permutation importance", format!("loss of {metric}"), &|row| {
                let importance = row.permutation?;
                let shown =
                    format!("{} {}", super::signed(importance.loss?), comparison::interval(importance.interval));
                Some((importance.loss?, shown))
            });
        }
        add("mean-shap", "Mean absolute SHAP values", "mean |SHAP|".into(), &|row| {
            row.shap.map(|shap| (shap, format!("{shap:.4}")))
        });
        if self.documents.is_none() {
            add("gain", "Gain", "sum of gains".into(), &|row| row.gain.map(number));
            add("weight", "Weights", "weight".into(), &|row| row.weight.map(number));
        }
        let mut section = Section::new("features", "Features");
        if let Some(documents) = &self.documents {
            section = section.text(format!("On {documents}."));
        }
        if let Some(Measured { stated, repeats, .. }) = &self.measured {
            section = section
                .text(format!(
                    "The loss is how much lower the metric is if the values of a feature are exchanged among the documents of a query, {} per feature.",
                    times(*repeats)
                ))
                .text(format!("Rules: {}.", stated.text));
        }
        section.block(Block::Figures(figures)).block(Block::Table(table))
    }

    /// How the permutation importance was measured.
    pub(super) fn permutation_json(&self) -> Value {
        self.measured.as_ref().map_or(Value::Null, |Measured { metric, stated, repeats }| {
            json!({ "metric": metric, "repeats": repeats, "convention": stated.entries })
        })
    }

    pub(super) fn json(&self) -> Value {
        let row = |row: &Row| {
            json!({
                "feature": row.feature,
                "name": row.label,
                "splits": row.splits,
                "gain": row.gain,
                "weight": row.weight,
                "mean_shap": row.shap,
                "loss": row.permutation.and_then(|found| found.loss),
                "interval": comparison::interval_json(row.permutation.and_then(|found| found.interval)),
                "exchanged_between_queries": row.permutation.map(|found| found.is_between_queries),
            })
        };
        self.rows.iter().map(row).collect()
    }
}

fn times(number: u32) -> String {
    if number == 1 { "once".into() } else { format!("{number} times") }
}
