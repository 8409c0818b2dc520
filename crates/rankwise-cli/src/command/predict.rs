//! `rankwise predict`

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use rankwise::data::Dataset;
use rankwise::io::{ReadData, write_atomically, write_scores};
use serde_json::json;

use crate::args::{Predict, PredictFormat};
use crate::data_paths::DataPaths;
use crate::failure::user;
use crate::output::Output;
use crate::{files, reading, text};

/// The tag of a run whose model has no file name.
const NAMELESS_TAG: &str = "rankwise";

pub(crate) fn run(args: &Predict, output: Output) -> anyhow::Result<()> {
    let started = Instant::now();
    let out = args.out.as_deref().unwrap_or(Path::new("-"));
    output.check_file(out, "scores need")?;
    let paths = DataPaths::find(&args.data)?;
    let inputs: Vec<&Path> = paths.inputs().chain([args.model.as_path()]).collect();
    files::check_inputs(&inputs)?;
    let tag = tag(args)?;
    let model = files::read_model(&args.model, args.trees, output)?;
    files::check_output(out, &inputs)?;
    let ReadData { data, report } = files::read_data_for(&model, &paths, &args.read, files::Labels::Optional)?;
    reading::tell_split(&report, output);
    files::warn_unknown_features(&model, &data, paths.place(), output);
    if args.format == PredictFormat::Run {
        check_run(&data, paths.place())?;
    }
    let load = started.elapsed();
    let scoring = Instant::now();
    let scores = rankwise::predict_canonical(&model, &data);
    let score = scoring.elapsed();
    write_atomically(out, |file| match args.format {
        PredictFormat::Scores => write_scores(file, &data.to_input_order(&scores)),
        PredictFormat::Tsv => write_tsv(file, &data, &scores),
        PredictFormat::Run => write_run(file, &data, &scores, &tag),
    })?;
    let total = started.elapsed();
    let summary = format!("scored {} in {:.2} s\n", text::count(data.n_rows(), "document"), total.as_secs_f64());
    output.done(
        out,
        &summary,
        &json!({
            "rows": data.n_rows(),
            "seconds": {
                "load": load.as_secs_f64(), "score": score.as_secs_f64(), "total": total.as_secs_f64(),
            },
        }),
    )
}

/// For each input row its place in canonical order.
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

/// What was typed, or the name of the model's file. Tools tell runs apart by it.
fn tag(args: &Predict) -> anyhow::Result<String> {
    let Some(typed) = &args.tag else { return Ok(tag_of(&args.model)) };
    if args.format != PredictFormat::Run {
        return Err(user("--tag: only a run has a tag; add --format run"));
    }
    if typed.is_empty() || typed.contains(|letter: char| letter.is_whitespace() || letter.is_control()) {
        return Err(user(format!(
            "--tag {typed:?}: give one word without blanks, which separate the columns of a run"
        )));
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

/// A run must name each document of a query once, in words: its columns are separated by blanks.
fn check_run(data: &Dataset, path: &Path) -> anyhow::Result<()> {
    let place = files::shown(path);
    for query in data.queries() {
        let mut seen = HashSet::with_capacity(query.rows.len());
        let names = query.rows.clone().map(|row| doc_name(data, row));
        let mut ids = std::iter::once(query.id.to_owned()).chain(names);
        if let Some(id) = ids.find(|id| id.contains(char::is_whitespace)) {
            return Err(user(format!(
                "{place}: the id {id:?} holds a blank, which a run cannot hold; choose --format tsv"
            )));
        }
        for row in query.rows.clone() {
            let name = doc_name(data, row);
            if seen.contains(&name) {
                return Err(user(format!(
                    "{place}: document {name:?} is twice in query {:?}, but a run names each document once; remove one of \
                     them, or choose --format tsv",
                    query.id
                )));
            }
            seen.insert(name);
        }
    }
    Ok(())
}

/// The document's id, or its row in the input.
fn doc_name(data: &Dataset, row: usize) -> String {
    match data.doc_id(row) {
        "" => format!("row{}", data.input_row()[row] + 1),
        id => id.to_owned(),
    }
}
