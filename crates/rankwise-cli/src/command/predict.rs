//! `rankwise predict`

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use rankwise::data::Dataset;
use rankwise::io::{ReadData, write_scores};
use serde_json::json;

use crate::args::{Predict, PredictFormat};
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at};
use crate::output::Output;
use crate::record::FileKind;
use crate::{files, reading, text};

/// The tag of a run whose model has no file name.
const NAMELESS_TAG: &str = "rankwise";

pub(crate) fn run(args: &Predict, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "score", "write"]);
    output.phase("load");
    let out = args.out.as_deref().unwrap_or(Path::new("-"));
    output.check_file(out, "scores need")?;
    let paths = DataPaths::find(&args.data)?;
    let inputs: Vec<&Path> = paths.inputs().chain([args.model.as_path()]).collect();
    files::check_inputs(&inputs)?;
    let tag = tag(args)?;
    let model = files::read_model_for(&paths, &args.model, args.trees, output)?;
    files::check_output(out, &inputs)?;
    let ReadData { data, report } = files::read_data_for(&model, &paths, &args.read, files::Labels::Optional)?;
    reading::tell_split(paths.place(), &report, output);
    files::warn_unknown_features(&model, &data, paths.place(), &args.read, output);
    if args.format == PredictFormat::Run {
        check_run(&data, paths.place())?;
    }
    output.phase("score");
    let scores = rankwise::predict_canonical(&model, &data);
    output.phase("write");
    let kind = if args.format == PredictFormat::Run { FileKind::Run } else { FileKind::Scores };
    output.write(out, kind, |file| match args.format {
        PredictFormat::Scores => write_scores(file, &data.to_input_order(&scores)),
        PredictFormat::Tsv => write_tsv(file, &data, &scores),
        PredictFormat::Run => write_run(file, &data, &scores, &tag),
    })?;
    let seconds = output.elapsed().as_secs_f64();
    let summary = format!("scored {} in {seconds:.2} s\n", text::count(data.n_rows(), "document"));
    output.done(out, &summary, json!({ "rows": data.n_rows(), "data": reading::to_json(&report) }))
}

/// For each input row, its index in canonical order.
fn places(data: &Dataset) -> Vec<usize> {
    let mut places = vec![0; data.n_rows()];
    for (place, row) in data.input_row().iter().enumerate() {
        places[*row as usize] = place;
    }
    places
}

fn write_tsv(out: &mut dyn Write, data: &Dataset, scores: &[f64]) -> std::io::Result<()> {
    let mut query_of = vec![0; data.n_rows()];
    for query in 0..data.n_queries() {
        query_of[data.query_rows(query)].fill(query);
    }
    writeln!(out, "qid\tdoc\tscore")?;
    for place in places(data) {
        writeln!(out, "{}\t{}\t{}", data.query(query_of[place]).id, doc_name(data, place), scores[place])?;
    }
    Ok(())
}

fn write_run(out: &mut dyn Write, data: &Dataset, scores: &[f64], tag: &str) -> std::io::Result<()> {
    for query in data.queries() {
        let mut order: Vec<usize> = query.rows.clone().collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        for (rank, row) in order.into_iter().enumerate() {
            writeln!(out, "{} Q0 {} {} {} {tag}", query.id, doc_name(data, row), rank + 1, scores[row])?;
        }
    }
    Ok(())
}

/// The typed tag, or the name of the model file. Tools identify runs by it.
fn tag(args: &Predict) -> anyhow::Result<String> {
    let Some(typed) = &args.tag else { return Ok(tag_of(&args.model)) };
    if args.format != PredictFormat::Run {
        return Err(user("--tag: only runs have a tag; add --format run"));
    }
    if typed.is_empty() || typed.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        return Err(user(format!("--tag {typed:?}: spaces separate the columns of a run; use one word")));
    }
    Ok(typed.clone())
}

/// `models/a b.json.gz` is `a_b`.
fn tag_of(model: &Path) -> String {
    if files::is_stream(model) {
        return NAMELESS_TAG.into();
    }
    let is_packed =
        model.extension().is_some_and(|ending| ["gz", "zst"].iter().any(|packed| ending.eq_ignore_ascii_case(packed)));
    let unpacked = if is_packed { model.with_extension("") } else { model.to_owned() };
    let name = unpacked.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_blank = |letter: char| letter.is_whitespace() || letter.is_control();
    let word: String = name.chars().map(|letter| if is_blank(letter) { '_' } else { letter }).collect();
    if word.is_empty() { NAMELESS_TAG.into() } else { word }
}

/// A run must name each document of a query once, without blanks, which separate its columns.
fn check_run(data: &Dataset, path: &Path) -> anyhow::Result<()> {
    for query in data.queries() {
        let mut seen = HashSet::with_capacity(query.rows.len());
        let names = query.rows.clone().map(|row| doc_name(data, row));
        let mut ids = std::iter::once(query.id.to_owned()).chain(names);
        if let Some(id) = ids.find(|id| id.contains(char::is_whitespace)) {
            let message =
                format!("the id {id:?} contains white space, which is not allowed in a run; use --format tsv");
            return Err(user_at(path, message));
        }
        for row in query.rows.clone() {
            let name = doc_name(data, row);
            if seen.contains(&name) {
                let message = format!(
                    "document {name:?} occurs twice in query {:?}, which is not allowed in a run; remove one of them, \
                     or use --format tsv",
                    query.id
                );
                return Err(user_at(path, message));
            }
            seen.insert(name);
        }
    }
    Ok(())
}

/// The document's id, or its input row.
fn doc_name(data: &Dataset, row: usize) -> String {
    match data.doc_id(row) {
        "" => format!("row{}", data.input_row()[row] + 1),
        id => id.to_owned(),
    }
}
