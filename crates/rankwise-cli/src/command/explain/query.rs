//! The documents of a query in the order of the model, with their SHAP values.

use std::fmt::Write as _;

use rankwise::explain::{Explainer, ModelDocs};
use rankwise::model::Model;
use rankwise_report::{Block, Cell, Section, Table, Text};
use serde_json::json;

use super::{Part, doc_name, is_sum, shown_value, signed};
use crate::failure::user;
use crate::text;

/// Features shown for each document.
const SHOWN: usize = 5;
const OUTPUTS: &str = "This model has one output per label, so contributions do not add up to the score; --json has those to each output.";

/// The documents of a query, from the best score to the worst.
pub(super) struct Ranked {
    pub(super) qid: String,
    /// Rows in canonical order.
    pub(super) rows: Vec<usize>,
    pub(super) scores: Vec<f64>,
}

impl Ranked {
    /// Equal scores are in canonical order.
    pub(super) fn new(model: &Model, docs: &ModelDocs<'_>, query: usize) -> Self {
        let rows = docs.data().query_rows(query);
        let values: Vec<f64> = rows.clone().flat_map(|row| docs.values(row)).collect();
        let mut scores = vec![0.0; rows.len()];
        model.score_list(&values, &mut scores);
        let mut ranked: Vec<(usize, f64)> = rows.zip(scores).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (rows, scores) = ranked.into_iter().unzip();
        Self { qid: docs.data().query(query).id.to_owned(), rows, scores }
    }
}

pub(super) fn explain(
    ranked: &Ranked,
    explainer: &Explainer<'_>,
    model: &Model,
    docs: &ModelDocs<'_>,
    top: usize,
) -> anyhow::Result<Part> {
    let values = explainer.values_of(docs, &ranked.rows)?;
    let n_features = model.features().len();
    let labels = docs.data().labels();
    let of_doc = |place: usize| {
        let row = ranked.rows[place];
        let outputs: Vec<&[f64]> = values[place].chunks(n_features.max(1)).collect();
        json!({
            "rank": place + 1,
            "document": doc_name(docs, row),
            "label": labels[row],
            "score": ranked.scores[place],
            "contributions": outputs,
        })
    };
    let names: Vec<String> = model.features().iter().map(|feature| model.feature_label(*feature)).collect();
    let json = json!({
        "qid": ranked.qid,
        "features": names,
        "documents": (0..ranked.rows.len()).map(of_doc).collect::<Vec<_>>(),
    });
    let mut listed = Table::new(["rank", "document", "label", "score", "why"]);
    if !is_sum(model) {
        for (place, row) in ranked.rows.iter().enumerate().take(top) {
            listed.rows.push(cells(ranked, place, doc_name(docs, *row), labels[*row], Text::default()));
        }
        return Ok(Part { text: outputs_text(ranked, docs), json, section: section(ranked, OUTPUTS, listed) });
    }
    let mut out = format!("query {}, {}\n", ranked.qid, text::count(ranked.rows.len(), "document"));
    let _ = writeln!(out, "expected score {:.4}\n", explainer.expected()[0]);
    let mut table = vec![["rank", "document", "label", "score", ""].map(str::to_owned).to_vec()];
    for (place, row) in ranked.rows.iter().enumerate().take(top) {
        let of_doc = docs.values(*row);
        let mut order: Vec<usize> = (0..n_features).filter(|feature| values[place][*feature] != 0.0).collect();
        order.sort_by(|a, b| values[place][*b].abs().total_cmp(&values[place][*a].abs()).then(a.cmp(b)));
        let rest: f64 = order.iter().skip(SHOWN).map(|feature| values[place][*feature]).sum();
        let strongest: Vec<[String; 3]> = order
            .iter()
            .take(SHOWN)
            .map(|feature| {
                let value = shown_value(of_doc[*feature]);
                [format!("{} ", signed(values[place][*feature])), names[*feature].clone(), format!(" = {value}")]
            })
            .collect();
        let mut reasons: Vec<String> = strongest.iter().map(|words| words.concat()).collect();
        let mut words = Text::default();
        for [contribution, name, value] in &strongest {
            let comma = if words.is_empty() { "" } else { ", " };
            words = words.then(format!("{comma}{contribution}")).name(name).then(value);
        }
        if order.len() > SHOWN {
            let others = format!("{} the other {}", signed(rest), order.len() - SHOWN);
            words = words.then(format!(", {others}"));
            reasons.push(others);
        }
        listed.rows.push(cells(ranked, place, doc_name(docs, *row), labels[*row], words));
        table.push(vec![
            (place + 1).to_string(),
            doc_name(docs, *row),
            labels[*row].to_string(),
            format!("{:.4}", ranked.scores[place]),
            reasons.first().cloned().unwrap_or_default(),
        ]);
        table.extend(
            reasons
                .into_iter()
                .skip(1)
                .map(|reason| vec![String::new(), String::new(), String::new(), String::new(), reason]),
        );
    }
    out.push_str(&left_aligned(&table));
    if ranked.rows.len() > top {
        let _ = writeln!(out, "and {} more; --top shows more", text::count(ranked.rows.len() - top, "document"));
    }
    let note = format!("Expected score {:.4}; the strongest reasons of each document.", explainer.expected()[0]);
    Ok(Part { text: out, json, section: section(ranked, &note, listed) })
}

fn cells(ranked: &Ranked, place: usize, name: String, label: f32, reasons: Text) -> Vec<Cell> {
    vec![
        Cell::Number((place + 1).to_string()),
        Cell::Words(Text::of_name(name)),
        Cell::Number(label.to_string()),
        Cell::Number(format!("{:.4}", ranked.scores[place])),
        Cell::Words(reasons),
    ]
}

fn section(ranked: &Ranked, note: &str, listed: Table) -> Section {
    let n_docs = text::count(ranked.rows.len(), "document");
    Section::new("query", "The query")
        .text(Text::plain("Query ").name(&ranked.qid).then(format!(", {n_docs}. {note}")))
        .block(Block::Table(listed))
}

fn outputs_text(ranked: &Ranked, docs: &ModelDocs<'_>) -> String {
    let mut table = vec![["rank", "document", "score"].map(str::to_owned).to_vec()];
    for (place, row) in ranked.rows.iter().enumerate() {
        table.push(vec![(place + 1).to_string(), doc_name(docs, *row), format!("{:.4}", ranked.scores[place])]);
    }
    format!("query {}\n\n{}\n{OUTPUTS}\n", ranked.qid, text::table(&table))
}

/// A table whose last column is text.
fn left_aligned(rows: &[Vec<String>]) -> String {
    let head: Vec<Vec<String>> = rows.iter().map(|row| row[..4].to_vec()).collect();
    let left = text::table(&head);
    let width = left.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let line = |(left, row): (&str, &Vec<String>)| format!("{}\n", format!("{left:<width$}  {}", row[4]).trim_end());
    left.lines().zip(rows).map(line).collect()
}

/// The row of a document that was given by its id or place.
pub(super) fn find(typed: &str, ranked: &Ranked, docs: &ModelDocs<'_>) -> anyhow::Result<usize> {
    let by_id = ranked.rows.iter().position(|row| !typed.is_empty() && docs.data().doc_id(*row) == typed);
    let by_place =
        || typed.parse::<usize>().ok().filter(|place| (1..=ranked.rows.len()).contains(place)).map(|place| place - 1);
    by_id.or_else(by_place).ok_or_else(|| {
        let known = format!("give a document id, or a place from 1 to {}", ranked.rows.len());
        user(format!("--why: query {} has no document '{typed}'; {known}", ranked.qid))
    })
}
