//! `rankwise synth`

use std::path::{Path, PathBuf};

use rankwise::data::Row;
use rankwise::data::synth::{Synth, SynthSpec};
use rankwise::io::LetorWriter;
use rankwise::params::ParamValue as _;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::args::{Global, Synth as SynthArgs};
use crate::failure::user;
use crate::output::Output;
use crate::record::FileKind;
use crate::{files, text};

/// The files of a split, in the order of the fractions.
pub(crate) const SPLIT_FILES: [&str; 3] = ["train.txt", "vali.txt", "test.txt"];
/// Number of queries that are formatted at a time.
const QUERIES_PER_BATCH: usize = 64;

pub(crate) fn run(args: &SynthArgs, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["generate"]);
    output.phase("generate");
    let seed = global.seed.unwrap_or(0);
    let spec = SynthSpec { preset: args.preset, rows: args.rows, features: args.features, seed };
    let synth = spec.check()?;
    output.check_file(&args.out, "data needs")?;
    let written = match &args.split {
        Some(_) if files::is_stream(&args.out) => {
            return Err(user("--split writes several files, so standard output cannot be used; set --out to a folder"));
        }
        Some(typed) => {
            let parts = synth.split(&parse_shares(typed)?);
            let parts = parts.map_err(|error| user(format!("--split '{typed}': {error}")))?;
            write_split(&synth, &parts, &args.out, output)?
        }
        None => {
            files::check_output(&args.out, &[])?;
            vec![write_letor(&synth, &(0..synth.n_queries()).collect::<Vec<_>>(), &args.out, output)?]
        }
    };
    let summary: String = written.iter().map(Written::summary).collect();
    let files: Vec<Value> = written.iter().map(Written::json).collect();
    let json = json!({ "rows": synth.n_rows(), "queries": synth.n_queries(), "files": files });
    output.done(&args.out, &summary, json)
}

/// A file of generated data.
pub(crate) struct Written {
    path: PathBuf,
    rows: usize,
    queries: usize,
}

impl Written {
    fn summary(&self) -> String {
        let (rows, queries) = (text::count(self.rows, "document"), text::count(self.queries, "query"));
        format!("wrote {rows} of {queries} to {}\n", self.path.display())
    }

    fn json(&self) -> Value {
        json!({ "path": self.path.display().to_string(), "rows": self.rows, "queries": self.queries })
    }
}

fn parse_shares(typed: &str) -> anyhow::Result<Vec<f64>> {
    let shares = Vec::<f64>::parse(typed).unwrap_or_default();
    let is_usable = (1..=SPLIT_FILES.len()).contains(&shares.len())
        && shares.iter().all(|share| *share > 0.0)
        && (shares.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    if is_usable {
        Ok(shares)
    } else {
        Err(user(format!(
            "--split '{typed}': invalid fractions; give one to three positive numbers that sum to 1, such \
                          as 0.6,0.2,0.2"
        )))
    }
}

/// Writes each part of the queries to a file in the folder.
pub(crate) fn write_split(
    synth: &Synth,
    parts: &[Vec<usize>],
    folder: &Path,
    output: Output,
) -> anyhow::Result<Vec<Written>> {
    let is_new = !folder.exists();
    rankwise::io::create_folders(folder)?;
    let write = |(name, queries): (&&str, &Vec<usize>)| write_letor(synth, queries, &folder.join(name), output);
    let written: anyhow::Result<Vec<Written>> = SPLIT_FILES.iter().zip(parts).map(write).collect();
    if written.is_err() && is_new {
        // Fails if a part is complete, as intended.
        let _ = std::fs::remove_dir(folder);
    }
    written
}

fn write_letor(synth: &Synth, queries: &[usize], path: &Path, output: Output) -> anyhow::Result<Written> {
    output.write(path, FileKind::Data, |out| {
        for batch in queries.chunks(QUERIES_PER_BATCH) {
            let texts: Vec<std::io::Result<Vec<u8>>> =
                batch.par_iter().map(|query| letor_text(synth, *query)).collect();
            for text in texts {
                out.write_all(&text?)?;
            }
        }
        Ok(())
    })?;
    let rows = queries.iter().map(|query| synth.n_docs(*query)).sum();
    Ok(Written { path: path.into(), rows, queries: queries.len() })
}

fn letor_text(synth: &Synth, query: usize) -> std::io::Result<Vec<u8>> {
    let query = synth.query(query);
    let mut writer = LetorWriter::new(Vec::new());
    for doc in &query.docs {
        writer.write_row(&Row { qid: &query.qid, label: doc.label, doc_id: &doc.doc_id, features: &doc.features })?;
    }
    writer.finish()
}
