//! `rankwise explain`

mod dependence;
mod importance;
mod interactions;
mod query;
mod why;

use std::io::Write;
use std::path::Path;

use rankwise::explain::{ExplainError, Explainer, ModelDocs};
use rankwise::io::ReadData;
use rankwise::model::{Model, Output as ModelOutput};
use rankwise_report::Section;
use serde_json::{Value, json};

use crate::args::Global;
use crate::data_paths::DataPaths;
use crate::explain_args::Explain;
use crate::failure::{user, user_at};
use crate::output::Output;
use crate::record::FileKind;
use crate::report::ExplanationPage;
use crate::{files, reading, text};

/// Bars of a plot.
const MOST_BARS: usize = 20;
/// Documents of the dataset that others are compared with if the model has no counts of training rows.
const BACKGROUND: usize = 100;

pub(crate) fn run(args: &Explain, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "explain"]);
    output.phase("load");
    if args.data.is_empty() {
        let model = files::read_model(&args.model, args.trees, output)?;
        output.phase("explain");
        let table = importance::of_model(&model)?;
        output.phase("other");
        let page = ExplanationPage {
            model: &model,
            name: files::shown(&args.model).clone(),
            data: None,
            sections: vec![table.section()],
        };
        args.report.check(&[&args.model], &[])?;
        page.write(&args.report, output)?;
        return output.result(&table.text(args.top), json(args, Some(&table), &Parts::default(), (None, None)));
    }
    let paths = DataPaths::find(&args.data)?;
    let inputs: Vec<&Path> = paths.inputs().chain([args.model.as_path()]).collect();
    files::check_inputs(&inputs)?;
    if let Some(path) = &args.contributions {
        if files::is_stream(path) {
            return Err(user("--contributions -: standard output is used for the summary; give a file name"));
        }
        files::check_output(path, &inputs)?;
    }
    args.report.check(&inputs, &[("--contributions", args.contributions.as_deref())])?;
    let model = files::read_model_for(&paths, &args.model, args.trees, output)?;
    let needs_labels = is_importance_asked(args) && args.repeats > 0;
    let labels = if needs_labels { files::Labels::Needed } else { files::Labels::Optional };
    let importance = is_importance_asked(args).then(|| importance::Asked::new(args, global)).transpose()?;
    let ReadData { data, report } = files::read_data_for(&model, &paths, &args.read, labels)?;
    reading::tell_split(paths.place(), &report, output);
    files::warn_unknown_features(&model, &data, paths.place(), &args.read, output);
    output.phase("explain");
    let docs = ModelDocs::new(&model, &data);
    let found = explainer_of(&model, &docs, global.seed.unwrap_or(0), output)?;
    let explainer = || found.as_ref().map_err(|error| user_at(&args.model, error.to_string()));
    if args.why.is_some() {
        explainer()?;
    }
    let mut parts = Parts::default();
    if let Some(qid) = &args.query {
        let query = (0..data.n_queries()).find(|query| data.query(*query).id == *qid);
        let query = query.ok_or_else(|| user_at(paths.place(), format!("--query {qid}: no query with this id")))?;
        let ranked = query::Ranked::new(&model, &docs, query);
        match &args.why {
            Some(typed) => parts.why = Some(why::explain(typed, &ranked, &model, &docs)?),
            None => parts.query = Some(query::explain(&ranked, explainer()?, &model, &docs, args.top)?),
        }
    }
    for typed in &args.feature {
        let feature = slot_of(&model, typed)
            .ok_or_else(|| user(format!("--feature {typed}: the model does not use this feature")))?;
        parts.dependence.push(dependence::explain(&model, &docs, feature, global.seed.unwrap_or(0)));
    }
    if args.interactions {
        parts.interactions = Some(interactions::explain(&model, &docs, global.seed.unwrap_or(0), args.top)?);
    }
    let table = importance.map(|asked| asked.measure(&model, &docs, found.as_ref().ok(), output)).transpose()?;
    let written = match &args.contributions {
        Some(path) => Some(explainer()?.values(&docs).map(|values| (path, values))?),
        None => None,
    };
    output.phase("other");
    if let Some((path, values)) = written {
        let explainer = explainer()?;
        output.write(path, FileKind::Contributions, |file| {
            write_contributions(file, &model, &docs, explainer, &values)
        })?;
    }
    let sections = parts.all().map(|part| part.section.clone()).chain(table.as_ref().map(importance::Table::section));
    let (name, place) = (files::shown(&args.model).clone(), files::shown(paths.place()).clone());
    let page = ExplanationPage { model: &model, name, data: Some((place, &data)), sections: sections.collect() };
    page.write(&args.report, output)?;
    let mut texts: Vec<String> = parts.all().map(|part| part.text.clone()).collect();
    texts.extend(table.as_ref().map(|table| table.text(args.top)));
    if texts.is_empty() {
        texts.push(format!("SHAP values of {}\n", text::documents(&data)));
    }
    let json = json(args, table.as_ref(), &parts, (found.as_ref().ok(), Some(reading::to_json(&report))));
    output.result(&texts.join("\n"), json)
}

/// Importance is shown if nothing else is.
fn is_importance_asked(args: &Explain) -> bool {
    args.query.is_none() && args.feature.is_empty() && !args.interactions && args.contributions.is_none()
}

/// A part of the answer, as text, as JSON and in a page.
struct Part {
    text: String,
    json: Value,
    section: Section,
}

/// The parts that were asked for.
#[derive(Default)]
struct Parts {
    query: Option<Part>,
    why: Option<Part>,
    dependence: Vec<Part>,
    interactions: Option<Part>,
}

impl Parts {
    fn all(&self) -> impl Iterator<Item = &Part> {
        self.query.iter().chain(&self.why).chain(&self.dependence).chain(&self.interactions)
    }
}

fn json(
    args: &Explain,
    table: Option<&importance::Table>,
    parts: &Parts,
    (explainer, data): (Option<&Explainer<'_>>, Option<Value>),
) -> Value {
    let or_null = |part: &Option<Part>| part.as_ref().map_or(Value::Null, |part| part.json.clone());
    json!({
        "model": args.model.display().to_string(),
        "expected": explainer.map(Explainer::expected),
        "compared_with": explainer.map(|explainer| if explainer.uses_counts() { "training" } else { "documents" }),
        "features": table.map(importance::Table::json),
        "permutation": table.map(importance::Table::permutation_json),
        "query": or_null(&parts.query),
        "why": or_null(&parts.why),
        "interactions": or_null(&parts.interactions),
        "dependence": parts.dependence.iter().map(|part| &part.json).collect::<Vec<_>>(),
        "data": data,
    })
}

/// Models without counts of training rows are compared with documents of the data. The inner error is that the scores of
/// the model cannot be divided among features, which only some answers need.
fn explainer_of<'a>(
    model: &'a Model,
    docs: &ModelDocs<'_>,
    seed: u64,
    output: Output,
) -> anyhow::Result<Result<Explainer<'a>, ExplainError>> {
    match Explainer::new(model) {
        Err(ExplainError::NoCounts { .. } | ExplainError::Model(_)) => {
            let rows = docs.sample(BACKGROUND, seed);
            if model.tree_ensemble().is_ok() {
                output.note(&format!(
                    "the model has no counts of training rows; SHAP values compare with {} of the data",
                    text::count(rows.len(), "document")
                ));
            }
            match Explainer::against(model, rows.iter().map(|row| docs.values(*row)).collect()) {
                Err(error @ ExplainError::NoContributions { .. }) => Ok(Err(error)),
                found => Ok(Ok(found?)),
            }
        }
        found => Ok(Ok(found?)),
    }
}

/// The index of a feature in the model's list, by name or id.
fn slot_of(model: &Model, typed: &str) -> Option<usize> {
    let by_name = model.feature_names().iter().position(|name| name == typed);
    by_name.or_else(|| model.features().binary_search(&typed.parse().ok()?).ok())
}

/// Whether the score is the sum of the contributions.
fn is_sum(model: &Model) -> bool {
    model.tree_ensemble().is_ok_and(|ensemble| *ensemble.output() == ModelOutput::Sum) || model.tree_ensemble().is_err()
}

/// A document's id, or its input row if it has none.
fn doc_name(docs: &ModelDocs<'_>, row: usize) -> String {
    match docs.data().doc_id(row) {
        "" => format!("row {}", docs.data().input_row()[row] + 1),
        id => id.to_owned(),
    }
}

/// A value of a feature.
fn shown_value(value: f64) -> String {
    if value.is_nan() { "missing".into() } else { text::number(value) }
}

/// A contribution, with its sign.
fn signed(number: f64) -> String {
    format!("{number:+.4}")
}

/// A line for each document and output: the ids, the expected score and the contribution of each feature.
fn write_contributions(
    out: &mut dyn Write,
    model: &Model,
    docs: &ModelDocs<'_>,
    explainer: &Explainer<'_>,
    values: &[f64],
) -> std::io::Result<()> {
    let (n_features, n_outputs) = (model.features().len(), explainer.expected().len());
    let data = docs.data();
    let mut query_of = vec![0; data.n_rows()];
    (0..data.n_queries()).for_each(|query| query_of[data.query_rows(query)].fill(query));
    write!(out, "qid\tdoc{}\texpected", if n_outputs > 1 { "\toutput" } else { "" })?;
    for feature in model.features() {
        write!(out, "\t{}", model.feature_label(*feature))?;
    }
    writeln!(out)?;
    let mut places = vec![0; data.n_rows()];
    data.input_row().iter().enumerate().for_each(|(place, row)| places[*row as usize] = place);
    for row in places {
        for (output, expected) in explainer.expected().iter().enumerate() {
            write!(out, "{}\t{}", data.query(query_of[row]).id, doc_name(docs, row))?;
            if n_outputs > 1 {
                write!(out, "\t{output}")?;
            }
            write!(out, "\t{expected}")?;
            let start = (row * n_outputs + output) * n_features;
            for value in &values[start..start + n_features] {
                write!(out, "\t{value}")?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
