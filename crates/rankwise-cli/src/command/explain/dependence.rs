//! How scores and places follow one feature.

use rankwise::explain::{DependencePoint, ModelDocs, dependence};
use rankwise::model::Model;
use rankwise_report::{Axis, Block, Figure, Lines, Plot, Section, Series, Text};
use serde_json::{Value, json};

use super::{Part, shown_value, signed};
use crate::report::tables;
use crate::text;

/// Documents that get each value.
const DOCUMENTS: usize = 1000;
/// Values of the feature.
const POINTS: usize = 20;
const NOTE: &str =
    "Each value is given to all of them, one at a time; places are those that a document climbs in its own list.";

pub(super) fn explain(model: &Model, docs: &ModelDocs<'_>, feature: usize, seed: u64) -> Part {
    let rows = docs.sample(DOCUMENTS, seed);
    let points = dependence(model, docs, feature, &rows, POINTS);
    let id = model.features()[feature];
    let name = model.feature_label(id);
    let mut table = vec![vec![name.clone(), "mean score".into(), "places climbed".into()]];
    table.extend(
        points.iter().map(|point| vec![shown_value(point.value), format!("{:.4}", point.score), signed(point.climb)]),
    );
    let point = |value: f64| if value.is_nan() { Value::Null } else { json!(value) };
    let json = json!({
        "feature": name,
        "documents": rows.len(),
        "points": points
            .iter()
            .map(|found| json!({ "value": point(found.value), "score": found.score, "climb": found.climb }))
            .collect::<Vec<_>>(),
    });
    let documents = text::count(rows.len(), "document");
    let out = format!("{documents} with other values of {name}\n\n{}\n{NOTE}\n", text::table(&table));
    let figure = |file: &str, what: &str, axis: &str, of: &dyn Fn(&DependencePoint) -> f64| {
        let known = points.iter().filter(|point| !point.value.is_nan());
        let series = Series { name: what.into(), points: known.map(|point| (point.value, of(point))).collect() };
        let lines = Lines::new(Axis::linear(name.as_str()), Axis::linear(axis), vec![series]);
        let title = Text::plain(format!("{what} by ")).name(&name);
        let file = format!("{file}-{id}");
        Figure::new(file, title, Plot::Lines(lines), tables::of_rows(table.clone()))
    };
    let figures = vec![
        figure("mean-score", "Mean score", "mean score", &|point| point.score),
        figure("places-climbed", "Places climbed", "places climbed", &|point| point.climb),
    ];
    let section = Section::new(&format!("follows-{id}"), "How scores follow a feature")
        .block(Block::Heading(Text::plain("Feature ").name(&name)))
        .text(format!("{documents}, each with every value. {NOTE}"))
        .block(Block::Figures(figures));
    Part { text: out, json, section }
}
