//! The summary of each kind of ranker.

use std::cmp::Reverse;

use rankwise::model::neural::Network;
use rankwise::model::{ExpectedGain, LinearRanker, Model, ModelError, NeuralRanker, Output, Ranker, TreeEnsemble};
use rankwise::params::ParamValue as _;
use serde_json::json;

use crate::text;

/// Features listed by importance.
const TOP_FEATURES: usize = 10;

/// A line of the report.
pub(super) struct Line {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// The parts of the report that depend on the kind of ranker.
pub(super) struct RankerText {
    /// Its size.
    pub(super) size: Line,
    /// Its other properties.
    pub(super) lines: Vec<Line>,
    /// The title of the table.
    pub(super) table_title: &'static str,
    /// The most important features; the first row is the header.
    pub(super) table: Vec<Vec<String>>,
}

impl RankerText {
    pub(super) fn new(model: &Model) -> Result<Self, ModelError> {
        match model.ranker() {
            Ranker::Trees(ensemble) => text_of_trees(model, ensemble),
            Ranker::Linear(linear) => Ok(text_of_linear(model, linear)),
            Ranker::Neural(neural) => Ok(text_of_neural(model, neural)),
        }
    }
}

/// The fields of `--json` that depend on the kind of ranker.
pub(super) fn json(model: &Model) -> Result<serde_json::Value, ModelError> {
    match model.ranker() {
        Ranker::Trees(ensemble) => json_of_trees(model, ensemble),
        Ranker::Linear(linear) => Ok(json_of_linear(model, linear)),
        Ranker::Neural(neural) => Ok(json_of_neural(neural)),
    }
}

fn text_of_trees(model: &Model, ensemble: &TreeEnsemble) -> Result<RankerText, ModelError> {
    let (trees, leaves) = (text::thousands(ensemble.n_trees() as u64), text::thousands(ensemble.n_leaves() as u64));
    let size =
        Line { name: "trees", value: format!("{trees}, {leaves} leaves in total, depth up to {}", ensemble.depth()) };
    let lines = match ensemble.output() {
        Output::Sum => vec![Line { name: "base score", value: ensemble.base_score().to_string() }],
        Output::ExpectedGain(ExpectedGain { gains, base_scores }) => vec![
            Line {
                name: "outputs",
                value: format!("{}, one tree per output and round; the score is the expected gain", gains.len()),
            },
            Line { name: "gains", value: gains.render() },
            Line { name: "base scores", value: base_scores.render() },
        ],
    };
    let mut all = model.importance()?;
    let total: f64 = all.iter().map(|entry| entry.gain).sum();
    let has_gains = total > 0.0;
    if !has_gains {
        all.sort_by_key(|entry| (Reverse(entry.splits), entry.feature));
    }
    let row = |feature: String, gain: String, splits: String| {
        if has_gains { vec![feature, gain, splits] } else { vec![feature, splits] }
    };
    let mut table = vec![row("feature".into(), "gain".into(), "splits".into())];
    for entry in all.iter().take(TOP_FEATURES) {
        let share = format!("{:.1} %", 100.0 * entry.gain / total);
        table.push(row(model.feature_label(entry.feature), share, text::thousands(entry.splits)));
    }
    Ok(RankerText { size, lines, table_title: "most important features", table })
}

fn json_of_trees(model: &Model, ensemble: &TreeEnsemble) -> Result<serde_json::Value, ModelError> {
    let importance: Vec<serde_json::Value> = model
        .importance()?
        .iter()
        .map(|entry| json!({ "feature": entry.feature, "name": model.feature_label(entry.feature), "gain": entry.gain, "splits": entry.splits }))
        .collect();
    Ok(json!({
        "trees": ensemble.n_trees(),
        "leaves": ensemble.n_leaves(),
        "depth": ensemble.depth(),
        "base_score": ensemble.base_score(),
        "output": ensemble.output(),
        "importance": importance,
    }))
}

fn text_of_linear(model: &Model, linear: &LinearRanker) -> RankerText {
    let mut weights: Vec<(u32, f64)> = model.features().iter().copied().zip(linear.weights().iter().copied()).collect();
    weights.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    let mut table = vec![vec!["feature".to_owned(), "weight".to_owned()]];
    table.extend(
        weights.iter().take(TOP_FEATURES).map(|(id, weight)| vec![model.feature_label(*id), weight.to_string()]),
    );
    RankerText {
        size: Line { name: "linear", value: text::count(linear.weights().len(), "weight") },
        lines: vec![Line { name: "bias", value: linear.bias().to_string() }],
        table_title: "largest weights",
        table,
    }
}

fn json_of_linear(model: &Model, linear: &LinearRanker) -> serde_json::Value {
    let weights: Vec<serde_json::Value> = model
        .features()
        .iter()
        .zip(linear.weights())
        .map(|(feature, weight)| json!({ "feature": feature, "name": model.feature_label(*feature), "weight": weight }))
        .collect();
    json!({ "bias": linear.bias(), "weights": weights })
}

fn text_of_neural(model: &Model, neural: &NeuralRanker) -> RankerText {
    let architecture = neural.architecture();
    let hidden = text::count(architecture.hidden, "unit");
    let layers = match architecture.network {
        Network::Mlp => format!("{} of {hidden}", text::count(architecture.layers, "hidden layer")),
        Network::Attention => {
            let blocks = text::count(architecture.layers, "attention block");
            format!("{blocks} of {hidden} and {}", text::count(architecture.heads, "head"))
        }
    };
    let norm = serde_json::to_value(architecture.norm).ok();
    let norm = norm.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
    let mut table = vec![vec!["feature".to_owned()]];
    table.extend(model.features().iter().take(TOP_FEATURES).map(|feature| vec![model.feature_label(*feature)]));
    RankerText {
        size: Line { name: "neural", value: text::count(neural.weights().len(), "weight") },
        lines: vec![Line { name: "network", value: layers }, Line { name: "norm", value: norm }],
        table_title: "first features",
        table,
    }
}

fn json_of_neural(neural: &NeuralRanker) -> serde_json::Value {
    json!({ "network": neural.architecture(), "inputs": neural.inputs(), "weights": neural.weights().len() })
}
