//! Pairs of features that add more together than each of them alone.

use std::fmt::Write as _;

use rankwise::explain::{Interactions, ModelDocs};
use rankwise::model::Model;
use rankwise_report::{Bar, Bars, Block, Figure, Plot, Section, Text};
use serde_json::json;

use super::{MOST_BARS, Part};
use crate::report::tables;
use crate::text;

/// Documents that are looked at.
const DOCUMENTS: usize = 1000;
/// Pairs in the table of a page.
const MOST_PAIRS: usize = 1000;

pub(super) fn explain(model: &Model, docs: &ModelDocs<'_>, seed: u64, top: usize) -> anyhow::Result<Part> {
    let interactions = Interactions::new(model)?;
    let rows = docs.sample(DOCUMENTS, seed);
    let sizes = interactions.mean_sizes(docs, &rows);
    let name = |place: u32| model.feature_label(model.features()[place as usize]);
    let mut pairs: Vec<(String, String, f64)> =
        interactions.pairs().iter().zip(sizes).map(|((a, b), size)| (name(*a), name(*b), size)).collect();
    // Equal sizes stay in the order of the features.
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    let rows_of = |n: usize| {
        let mut table = vec![vec!["feature".to_owned(), "with".into(), "mean |interaction|".into()]];
        table.extend(pairs.iter().take(n).map(|(a, b, size)| vec![a.clone(), b.clone(), format!("{size:.4}")]));
        table
    };
    let title = format!("SHAP interactions in {}", text::count(rows.len(), "document"));
    let mut out = format!("{title}\n\n");
    if pairs.is_empty() {
        out.push_str("no two features share a path in a tree\n");
    } else {
        out.push_str(&text::table(&rows_of(top)));
    }
    if pairs.len() > top {
        let _ = writeln!(out, "and {} more; --top shows more", text::count(pairs.len() - top, "pair"));
    }
    let json = json!({
        "documents": rows.len(),
        "pairs": pairs
            .iter()
            .map(|(a, b, size)| json!({ "features": [a, b], "mean_interaction": size }))
            .collect::<Vec<_>>(),
    });
    let bar = |(a, b, size): &(String, String, f64)| Bar {
        name: format!("{a} with {b}"),
        value: *size,
        shown: format!("{size:.4}"),
    };
    let plot =
        Plot::Bars(Bars { label: "mean |interaction|".into(), bars: pairs.iter().take(MOST_BARS).map(bar).collect() });
    let table = tables::of_rows(rows_of(MOST_PAIRS));
    let section = Section::new("interactions", "Interactions")
        .text("What two features add to a score together, beyond what each adds without the other.")
        .block(Block::Figures(vec![Figure::new("interactions", Text::plain(title), plot, table)]));
    Ok(Part { text: out, json, section })
}
