//! Writes a dataset so that it reads back as the same dataset: the table, and side files for what the format cannot
//! hold.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rankwise_data::{Column, Dataset, Pair};
use rayon::prelude::*;

use crate::atomic::{check_writable, write_atomically};
use crate::error::{IoError, is_stream};
use crate::options::{Format, Role};
use crate::side_files::{
    PAIRS, POSITIONS, QUERY_WEIGHTS, ROW_WEIGHTS, SIZES, WEIGHTS_BY_ID, with_suffix, without_compression,
};
use crate::{csv, letor, number, parquet};

/// Number of rows that one task formats.
const ROWS_PER_TASK: usize = 256;
/// Number of formatted tasks waiting to be written.
const TASKS_PER_BATCH: usize = 64;

/// Writes a dataset with its rows in input order, and returns the files that were written. Side files are written
/// first, so that nobody reads the table without them. LETOR lines omit values that mean absent in this data. Text
/// files with names that end in `.gz` or `.zst` are compressed.
pub fn write_dataset(data: &Dataset, path: &Path, format: Format) -> Result<Vec<PathBuf>, IoError> {
    let rows = Rows::new(data);
    let sides = side_texts(&rows, format);
    check(&rows, path, format, &sides)?;
    let mut written = Vec::new();
    let done = write_all(&rows, path, format, &sides, &mut written);
    if done.is_err() {
        // Side files without their table could be mistaken for those of another.
        for file in &written {
            let _ = std::fs::remove_file(file);
        }
    }
    done.map(|()| written)
}

fn write_all(
    rows: &Rows<'_>,
    path: &Path,
    format: Format,
    sides: &[(&'static str, Vec<u8>)],
    written: &mut Vec<PathBuf>,
) -> Result<(), IoError> {
    for (suffix, text) in sides {
        let side = with_suffix(path, suffix);
        write_atomically(&side, |out| out.write_all(text))?;
        written.push(side);
    }
    write_atomically(path, |out| match format {
        Format::Letor => letor::write_letor(out, rows),
        Format::Csv => csv::write_csv(out, rows, b','),
        Format::Tsv => csv::write_csv(out, rows, b'\t'),
        Format::Parquet => parquet::write_parquet(out, rows),
    })?;
    written.push(path.into());
    Ok(())
}

/// Rejects, before anything is written, what could not be read back.
fn check(rows: &Rows<'_>, path: &Path, format: Format, sides: &[(&'static str, Vec<u8>)]) -> Result<(), IoError> {
    let refuse = |reason: String| Err(IoError::Unwritable { path: path.into(), reason });
    if is_stream(path) && !sides.is_empty() {
        let names: Vec<String> = sides.iter().map(|(suffix, _)| format!("FILE{suffix}")).collect();
        return refuse(format!("the data needs {} next to it; give a file", names.join(" and ")));
    }
    if format == Format::Parquet && without_compression(path).is_some() {
        return refuse("Parquet has its own compression; use a name without .gz or .zst".into());
    }
    if format != Format::Letor
        && let Some((_, name)) = rows.features().iter().find(|(_, name)| taken_for(name).is_some())
    {
        let role = taken_for(name).expect("just found");
        return refuse(format!("a feature called \"{name}\" would be read as the {}; rename it", role.noun()));
    }
    if is_stream(path) {
        return Ok(());
    }
    for suffix in [SIZES, ROW_WEIGHTS, QUERY_WEIGHTS, WEIGHTS_BY_ID, POSITIONS, PAIRS] {
        if sides.iter().any(|(written, _)| *written == suffix) {
            continue;
        }
        let plain = without_compression(path);
        let mut places = [Some(path), plain.as_deref()].into_iter().flatten().map(|place| with_suffix(place, suffix));
        if let Some(stale) = places.find(|place| place.exists()) {
            return refuse(format!("{} would be read with it; remove that file", stale.display()));
        }
    }
    check_writable(path)
}

/// The role that a column with this name would get by mistake.
fn taken_for(name: &str) -> Option<Role> {
    let roles = [Role::Label, Role::Qid, Role::DocId, Role::Weight, Role::QueryWeight, Role::Position];
    roles.into_iter().find(|role| role.is_usual(name))
}

/// The texts of side files, with their extensions.
fn side_texts(rows: &Rows<'_>, format: Format) -> Vec<(&'static str, Vec<u8>)> {
    let data = rows.data;
    let mut texts = Vec::new();
    if format == Format::Letor {
        if data.has_weights() {
            texts.push((ROW_WEIGHTS, lines(rows.places(), |text, place| number::push_f32(text, data.weight(place)))));
        }
        if data.has_query_weights() {
            let queries = rows.queries_by_appearance();
            texts.push((QUERY_WEIGHTS, lines(queries, |text, query| number::push_f32(text, data.query_weight(query)))));
        }
        if let Some(positions) = data.positions() {
            texts.push((POSITIONS, lines(rows.places(), |text, place| number::push_u32(text, positions[place]))));
        }
    }
    if !data.pairs().is_empty() {
        let is_likely = data.pairs().iter().any(|pair| pair.probability != 1.0);
        let is_weighted = is_likely || data.pairs().iter().any(|pair| pair.weight != 1.0);
        let push = |text: &mut Vec<u8>, pair: &Pair| {
            number::push_u32(text, data.input_row()[pair.winner as usize]);
            text.push(b'\t');
            number::push_u32(text, data.input_row()[pair.loser as usize]);
            if is_weighted {
                text.push(b'\t');
                number::push_f32(text, pair.weight);
            }
            if is_likely {
                text.push(b'\t');
                number::push_f32(text, pair.probability);
            }
        };
        texts.push((PAIRS, lines(data.pairs().iter(), push)));
    }
    texts
}

fn lines<T>(items: impl Iterator<Item = T>, push: impl Fn(&mut Vec<u8>, T)) -> Vec<u8> {
    let mut text = Vec::new();
    for item in items {
        push(&mut text, item);
        text.push(b'\n');
    }
    text
}

/// Appends the value of a feature, exactly.
pub(crate) fn push_value(text: &mut Vec<u8>, column: &Column, place: usize) {
    match column {
        Column::Wide(values) => number::push_f64(text, values[place]),
        _ => number::push_f32(text, column.get(place)),
    }
}

/// The rows of a dataset in input order. A `place` is a row number in canonical order.
pub(crate) struct Rows<'a> {
    pub(crate) data: &'a Dataset,
    places: Vec<u32>,
    query_of: Vec<u32>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(data: &'a Dataset) -> Self {
        let mut places = vec![0; data.n_rows()];
        data.input_row().iter().zip(0..).for_each(|(row, place)| places[*row as usize] = place);
        let mut query_of = vec![0; data.n_rows()];
        (0..data.n_queries()).for_each(|query| query_of[data.query_rows(query)].fill(query as u32));
        Self { data, places, query_of }
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = usize> {
        self.places.iter().map(|place| *place as usize)
    }

    pub(crate) fn query_of(&self, place: usize) -> usize {
        self.query_of[place] as usize
    }

    pub(crate) fn qid(&self, place: usize) -> &'a str {
        self.data.query(self.query_of(place)).id
    }

    fn queries_by_appearance(&self) -> impl Iterator<Item = usize> {
        let mut is_seen = vec![false; self.data.n_queries()];
        self.places()
            .map(|place| self.query_of(place))
            .filter(move |query| !std::mem::replace(&mut is_seen[*query], true))
    }

    /// The feature columns of a table: ids with names. Features without a name are named by their ids.
    pub(crate) fn features(&self) -> Vec<(u32, String)> {
        match self.data.feature_names() {
            [] => self.data.feature_ids().iter().map(|id| (*id, format!("f{id}"))).collect(),
            names => names.to_vec(),
        }
    }

    /// The columns of all features that occur in some document, with their ids.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (u32, &'a Column)> {
        let data = self.data;
        data.feature_ids().iter().enumerate().map(move |(slot, id)| (*id, data.column(slot)))
    }

    /// Formats rows in parallel and writes them in order.
    pub(crate) fn write_text(
        &self,
        out: &mut dyn Write,
        push_row: impl Fn(&mut Vec<u8>, usize) -> io::Result<()> + Sync,
    ) -> io::Result<()> {
        for batch in self.places.chunks(ROWS_PER_TASK * TASKS_PER_BATCH) {
            let texts: Vec<io::Result<Vec<u8>>> = batch
                .par_chunks(ROWS_PER_TASK)
                .map(|places| {
                    let mut text = Vec::new();
                    places.iter().try_for_each(|place| push_row(&mut text, *place as usize))?;
                    Ok(text)
                })
                .collect();
            for text in texts {
                out.write_all(&text?)?;
            }
        }
        Ok(())
    }
}
