//! Why one document is above another, and what would turn their order.

use std::fmt::Write as _;

use rankwise::explain::{Counterfactual, ModelDocs, Ranges, counterfactuals, difference};
use rankwise::model::Model;
use serde_json::{Value, json};

use super::query::{Ranked, find};
use super::{doc_name, shown_value, signed};
use crate::failure::user;
use crate::text;

pub(super) fn explain(
    typed: &str,
    ranked: &Ranked,
    model: &Model,
    docs: &ModelDocs<'_>,
) -> anyhow::Result<(String, Value)> {
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
    let shown = |place: usize| {
        let (name, label) = (doc_name(docs, ranked.rows[place]), docs.data().labels()[ranked.rows[place]]);
        format!("{name} (rank {}, score {:.4}, label {label})", place + 1, ranked.scores[place])
    };
    let _ = writeln!(out, "query {}: {} is above {}\n", ranked.qid, shown(above), shown(below));
    let mut table =
        vec![["feature".into(), doc_name(docs, rows[0]), doc_name(docs, rows[1]), "contribution".into()].to_vec()];
    for feature in order {
        let [a, b] = [values[0][feature], values[1][feature]].map(shown_value);
        table.push(vec![names[feature].clone(), a, b, signed(contributions[feature])]);
    }
    table.push(vec!["difference of the scores".into(), String::new(), String::new(), signed(scores[0] - scores[1])]);
    out.push_str(&text::table(&table));
    if let Some(changes) = &changes {
        let _ = writeln!(out, "\nFor {} to overtake {}:", doc_name(docs, rows[1]), doc_name(docs, rows[0]));
        let [one, two] = changes;
        let _ = writeln!(out, "  {}", shown_change(one.as_ref(), "one feature", &names));
        let is_smaller = |two: &Counterfactual| one.as_ref().is_none_or(|one| two.share() < one.share());
        if two.as_ref().is_none_or(is_smaller) {
            let _ = writeln!(out, "  {}", shown_change(two.as_ref(), "two features", &names));
        }
    }
    Ok((out, json))
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

fn shown_change(found: Option<&Counterfactual>, what: &str, names: &[String]) -> String {
    let Some(found) = found else { return format!("changing {what} cannot do it") };
    let changes: Vec<String> = found
        .changes
        .iter()
        .map(|change| {
            let share = 100.0 * change.share;
            let (from, to) = (shown_value(change.from), text::number(change.to));
            format!("{} from {from} to {to} (passes {share:.1} % of the documents)", names[change.feature])
        })
        .collect();
    format!("{what}: {}; its score is then {:.4}", changes.join(", and "), found.score)
}
