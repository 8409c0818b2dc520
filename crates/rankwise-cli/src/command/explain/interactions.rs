//! Pairs of features that add more together than each of them alone.

use rankwise::explain::{Interactions, ModelDocs};
use rankwise::model::Model;
use serde_json::{Value, json};

use crate::text;

/// Documents that are looked at.
const DOCUMENTS: usize = 1000;

pub(super) fn explain(model: &Model, docs: &ModelDocs<'_>, seed: u64, top: usize) -> anyhow::Result<(String, Value)> {
    let interactions = Interactions::new(model)?;
    let rows = docs.sample(DOCUMENTS, seed);
    let sizes = interactions.mean_sizes(docs, &rows);
    let name = |place: u32| model.feature_label(model.features()[place as usize]);
    let mut pairs: Vec<(String, String, f64)> =
        interactions.pairs().iter().zip(sizes).map(|((a, b), size)| (name(*a), name(*b), size)).collect();
    // Equal sizes stay in the order of the features.
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut table = vec![vec!["feature".to_owned(), "with".into(), "mean |interaction|".into()]];
    table.extend(pairs.iter().take(top).map(|(a, b, size)| vec![a.clone(), b.clone(), format!("{size:.4}")]));
    let mut out = format!("SHAP interactions in {}\n\n", text::count(rows.len(), "document"));
    match pairs.is_empty() {
        true => out.push_str("no two features share a path in a tree\n"),
        false => out.push_str(&text::table(&table)),
    }
    if pairs.len() > top {
        out.push_str(&format!("and {} more; --top shows more\n", text::count(pairs.len() - top, "pair")));
    }
    let json = json!({
        "documents": rows.len(),
        "pairs": pairs
            .iter()
            .map(|(a, b, size)| json!({ "features": [a, b], "mean_interaction": size }))
            .collect::<Vec<_>>(),
    });
    Ok((out, json))
}
