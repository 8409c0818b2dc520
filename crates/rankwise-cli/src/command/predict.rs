//! `rankwise predict`

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use rankwise::data::Dataset;
use rankwise::io::{ReadData, write_atomically, write_scores};
use serde_json::json;

use crate::args::{Predict, PredictFormat};
use crate::data_paths::DataPaths;
use crate::output::Output;
use crate::{files, reading, text};

/// The last column of a TREC run: who made it.
const RUN_TAG: &str = "rankwise";

pub(crate) fn run(args: &Predict, output: Output) -> anyhow::Result<()> {
    let started = Instant::now();
    let out = args.out.as_deref().unwrap_or(Path::new("-"));
    output.check_file(out, "scores need")?;
    let paths = DataPaths::find(&args.data)?;
    let inputs: Vec<&Path> = paths.inputs().chain([args.model.as_path()]).collect();
    files::check_inputs(&inputs)?;
    let mut model = files::read_model(&args.model)?;
    if let Some(n_rounds) = args.trees {
        let ensemble = files::trees_of(&model, &args.model, "predict --trees")?.first_rounds(n_rounds);
        model = model.with_ranker(ensemble)?;
    }
    files::check_output(out, &inputs)?;
    let ReadData { data, report } = files::read_data_for(&model, &paths, &args.read, files::Labels::Optional)?;
    reading::tell_split(&report, output);
    files::warn_unknown_features(&model, &data, paths.place(), output);
    let load = started.elapsed();
    let scoring = Instant::now();
    let scores = rankwise::predict_canonical(&model, &data);
    let score = scoring.elapsed();
    write_atomically(out, |file| match args.format {
        PredictFormat::Scores => write_scores(file, &data.to_input_order(&scores)),
        PredictFormat::Tsv => write_tsv(file, &data, &scores),
        PredictFormat::Run => write_run(file, &data, &scores),
    })?;
    let total = started.elapsed();
    let summary = format!("scored {} in {:.2} s\n", text::count(data.n_rows(), "document"), total.as_secs_f64());
    output.summary(
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

fn write_run(out: &mut dyn Write, data: &Dataset, scores: &[f64]) -> std::io::Result<()> {
    for query in data.queries() {
        check_word(query.id)?;
        let mut order: Vec<usize> = query.rows.clone().collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        for (rank, row) in order.into_iter().enumerate() {
            let doc = doc_name(data, row);
            check_word(&doc)?;
            writeln!(out, "{} Q0 {doc} {} {} {RUN_TAG}", query.id, rank + 1, scores[row])?;
        }
    }
    Ok(())
}

/// The columns of a run are separated by blanks, which the ids of tables may hold.
fn check_word(id: &str) -> std::io::Result<()> {
    if id.contains(' ') {
        let message = format!("the id {id:?} holds a blank, which a run cannot hold; choose --format tsv");
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
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
