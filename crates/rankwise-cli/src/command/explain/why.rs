//! Why one document is above another, and what would turn their order.

use std::fmt::Write as _;

use rankwise::explain::{Counterfactual, ModelDocs, Ranges, counterfactuals, difference};
use rankwise::model::Model;
use rankwise_report::{Bar, Bars, Block, Figure, Plot, Section, Text};
use serde_json::{Value, json};

use super::query::{Ranked, find};
use super::{MOST_BARS, Part, doc_name, shown_value, signed};
use crate::failure::user;
use crate::report::tables;
use crate::text;

pub(super) fn explain(typed: &str, ranked: &Ranked, model: &Model, docs: &ModelDocs<'_>) -> anyhow::Result<Part> {
    let [above, below] = pair(typed, ranked, docs)?;
    let places = [above, below];
    let rows = places.map(|place| ranked.rows[place]);
    let values = rows.map(|row| docs.values(row));
    let scores = places.map(|place| ranked.scores[place]);
    let contributions = difference(model, &values[0], &values[1])?;
    let changes = match model.tree_ensemble() {
        Ok(ensemble) => {
            Some(counterfactuals(model, &Ranges::new(model, ensemble, docs.data()), &values[1], scores[0])?)
        }
        Err(_) => None,
    };
    let names: Vec<String> = model.features().iter().map(|feature| model.feature_label(*feature)).collect();
    let doc = |place: usize| {
        let row = ranked.rows[place];
        let (name, label) = (doc_name(docs, row), docs.data().labels()[row]);
        json!({ "document": name, "rank": place + 1, "score": ranked.scores[place], "label": label })
    };
    let mut order: Vec<usize> = (0..names.len()).filter(|feature| contributions[*feature] != 0.0).collect();
    order.sort_by(|a, b| contributions[*b].abs().total_cmp(&contributions[*a].abs()).then(a.cmp(b)));
    let number = |value: f64| if value.is_nan() { Value::Null } else { json!(value) };
    let part = |feature: &usize| {
        let [a, b] = [values[0][*feature], values[1][*feature]].map(number);
        json!({ "feature": names[*feature], "a": a, "b": b, "contribution": contributions[*feature] })
    };
    let change = |found: &Option<Counterfactual>| {
        let found = found.as_ref()?;
        let changes: Vec<Value> = found
            .changes
            .iter()
            .map(|change| json!({ "feature": names[change.feature], "from": number(change.from), "to": change.to, "share": change.share }))
            .collect();
        Some(json!({ "changes": changes, "score": found.score }))
    };
    let json = json!({
        "qid": ranked.qid,
        "a": doc(above),
        "b": doc(below),
        "difference": scores[0] - scores[1],
        "contributions": order.iter().map(part).collect::<Vec<_>>(),
        "one_change": changes.as_ref().and_then(|[one, _]| change(one)),
        "two_changes": changes.as_ref().and_then(|[_, two]| change(two)),
    });
    let mut out = String::new();
    let names_of = rows.map(|row| doc_name(docs, row));
    let facts = |place: usize| {
        let label = docs.data().labels()[ranked.rows[place]];
        format!(" (rank {}, score {:.4}, label {label})", place + 1, ranked.scores[place])
    };
    let [a, b] = &names_of;
    let _ = writeln!(out, "query {}: {a}{} is above {b}{}\n", ranked.qid, facts(above), facts(below));
    let mut table =
        vec![["feature".into(), doc_name(docs, rows[0]), doc_name(docs, rows[1]), "contribution".into()].to_vec()];
    for feature in &order {
        let feature = *feature;
        let [a, b] = [values[0][feature], values[1][feature]].map(shown_value);
        table.push(vec![names[feature].clone(), a, b, signed(contributions[feature])]);
    }
    table.push(vec!["difference of the scores".into(), String::new(), String::new(), signed(scores[0] - scores[1])]);
    out.push_str(&text::table(&table));
    let bar = |feature: &usize| Bar {
        name: names[*feature].clone(),
        value: contributions[*feature],
        shown: signed(contributions[*feature]),
    };
    let plot = Plot::Bars(Bars {
        label: "contribution to the difference of the scores".into(),
        bars: order.iter().take(MOST_BARS).map(bar).collect(),
    });
    let title = Text::plain("Why ").name(&names_of[0]).then(" is above ").name(&names_of[1]);
    let sentence = Text::plain("Query ")
        .name(&ranked.qid)
        .then(": ")
        .name(&names_of[0])
        .then(facts(above) + " is above ")
        .name(&names_of[1])
        .then(facts(below) + ".");
    let mut section = Section::new("why", "Why one is above the other")
        .text(sentence)
        .block(Block::Figures(vec![Figure::new("why", title, plot, tables::of_rows(table.clone()))]));
    if let Some(changes) = &changes {
        let _ = writeln!(out, "\nFor {} to overtake {}:", doc_name(docs, rows[1]), doc_name(docs, rows[0]));
        let [one, two] = changes;
        let change = told_change(one.as_ref(), "one feature", &names);
        let _ = writeln!(out, "  {}", change.concat());
        section = section.block(Block::Heading(Text::plain("What would turn the order"))).text(page_text(&change));
        let is_smaller = |two: &Counterfactual| one.as_ref().is_none_or(|one| two.share() < one.share());
        if two.as_ref().is_none_or(is_smaller) {
            let change = told_change(two.as_ref(), "two features", &names);
            let _ = writeln!(out, "  {}", change.concat());
            section = section.text(page_text(&change));
        }
    }
    Ok(Part { text: out, json, section })
}

/// The places of the two documents, the one with the higher score first.
fn pair(typed: &str, ranked: &Ranked, docs: &ModelDocs<'_>) -> anyhow::Result<[usize; 2]> {
    // Ids may contain commas.
    let cuts = typed.match_indices(',').map(|(at, _)| (&typed[..at], &typed[at + 1..]));
    let mut found = cuts.map(|(a, b)| Ok([find(a.trim(), ranked, docs)?, find(b.trim(), ranked, docs)?]));
    let first: anyhow::Result<[usize; 2]> =
        found.next().unwrap_or_else(|| Err(user(format!("--why {typed}: expected two documents, such as 1,2"))));
    let [a, b] = match first {
        Ok(pair) => pair,
        Err(error) => found.find_map(Result::ok).ok_or(error)?,
    };
    if a == b {
        return Err(user(format!("--why {typed}: both are the same document; give two")));
    }
    let pair = [a.min(b), a.max(b)];
    if ranked.scores[pair[0]] == ranked.scores[pair[1]] {
        return Err(user(format!(
            "--why {typed}: both documents have the score {}, so neither is above the other",
            ranked.scores[a]
        )));
    }
    Ok(pair)
}

/// What a change says: the names of features and the words between them, in turn; the first is words.
fn told_change(found: Option<&Counterfactual>, what: &str, names: &[String]) -> Vec<String> {
    let Some(found) = found else { return vec![format!("changing {what} cannot do it")] };
    let mut told = vec![format!("{what}: ")];
    for (idx, change) in found.changes.iter().enumerate() {
        if idx > 0
            && let Some(last) = told.last_mut()
        {
            last.push_str(", and ");
        }
        let (from, to) = (shown_value(change.from), text::number(change.to));
        told.push(names[change.feature].clone());
        told.push(format!(" from {from} to {to} (passes {:.1} % of the documents)", 100.0 * change.share));
    }
    if let Some(last) = told.last_mut() {
        let _ = write!(last, "; its score is then {:.4}", found.score);
    }
    told
}

/// The same in a page.
fn page_text(told: &[String]) -> Text {
    let mut out = Text::default();
    for (idx, words) in told.iter().enumerate() {
        out = match idx {
            0 => out.then(tables::sentence(words).trim_end_matches('.')),
            _ if idx % 2 == 1 => out.name(words),
            _ => out.then(words),
        };
    }
    out.then(".")
}
