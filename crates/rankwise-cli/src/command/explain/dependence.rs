//! How scores and places follow one feature.

use rankwise::explain::{ModelDocs, dependence};
use rankwise::model::Model;
use serde_json::{Value, json};

use super::{shown_value, signed};
use crate::text;

/// Documents that get each value.
const DOCUMENTS: usize = 1000;
/// Values of the feature.
const POINTS: usize = 20;

pub(super) fn explain(model: &Model, docs: &ModelDocs<'_>, feature: usize, seed: u64) -> (String, Value) {
    let rows = docs.sample(DOCUMENTS, seed);
    let points = dependence(model, docs, feature, &rows, POINTS);
    let name = model.feature_label(model.features()[feature]);
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
    let note =
        "Each value is given to all of them, one at a time; places are those that a document climbs in its own list.";
    (
        format!(
            "{} with other values of {name}\n\n{}\n{note}\n",
            text::count(rows.len(), "document"),
            text::table(&table)
        ),
        json,
    )
}
