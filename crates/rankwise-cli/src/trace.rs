//! `--trace`: the traced queries and their output files.

use std::path::{Path, PathBuf};

use rankwise::Trace;
use rankwise::data::Documents;
use rankwise::train::{Flow, LoopParams, Observer, Pass, Progress, Sample};

use crate::args::Train;
use crate::failure::user;
use crate::files;
use crate::output::Output;
use crate::record::FileKind;

/// The fraction of ranks shown as lowest, unless sampling defines it.
const LOW: f64 = 0.4;

/// The traced queries.
pub(crate) struct Tracer {
    traces: Vec<(Trace, PathBuf)>,
}

impl Tracer {
    /// Checks before training that the queries exist and the files can be written.
    pub(crate) fn open(
        args: &Train,
        out: &Path,
        inputs: &[&Path],
        data: &Documents,
        params: &LoopParams,
    ) -> anyhow::Result<Self> {
        if args.trace.is_empty() {
            return Ok(Self { traces: Vec::new() });
        }
        let low = match params.sample {
            Sample::HighLow => params.p_low.map_or(LOW, |percent| percent / 100.0),
            _ => LOW,
        };
        let stem = match &args.trace_out {
            Some(folder) => {
                rankwise::io::create_folders(folder)?;
                folder.join("trace")
            }
            None if files::is_stream(out) => {
                return Err(user(
                    "the model is written to standard output; set --trace-out to a folder for the traces",
                ));
            }
            None => out.with_extension("trace"),
        };
        let mut traces: Vec<(Trace, PathBuf)> = Vec::new();
        for qid in &args.trace {
            let trace = Trace::new(data, qid, low).ok_or_else(|| unknown(qid, data))?;
            let mut place = stem.clone().into_os_string();
            place.push(format!("-{}", file_name(qid)));
            let place = PathBuf::from(place);
            if let Some((other, _)) = traces.iter().find(|(_, known)| *known == place) {
                let other = other.qid();
                return Err(user(format!(
                    "--trace {qid}: its file name is the same as that of query {other}; remove one of them"
                )));
            }
            for path in [with_ending(&place, "tsv"), with_ending(&place, "svg")] {
                files::check_output(&path, inputs)?;
            }
            traces.push((trace, place));
        }
        Ok(Self { traces })
    }

    /// Writes the tables and pictures; returns their paths.
    pub(crate) fn write(&self, output: Output) -> anyhow::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        for (trace, place) in &self.traces {
            for (ending, text) in [("tsv", trace.to_tsv()), ("svg", trace.to_svg())] {
                let path = with_ending(place, ending);
                output.write_text(&path, FileKind::Trace, &text)?;
                written.push(path);
            }
        }
        Ok(written)
    }
}

/// An observer that also traces queries.
pub(crate) struct Traced<'a, O> {
    pub(crate) tracer: &'a mut Tracer,
    pub(crate) observer: &'a mut O,
}

impl<O: Observer> Observer for Traced<'_, O> {
    fn after_round(&mut self, progress: &Progress<'_>) -> Flow {
        if progress.pass == Pass::Model && !self.tracer.traces.is_empty() {
            let scores = progress.train_scores_canonical();
            self.tracer.traces.iter_mut().for_each(|(trace, _)| trace.record(progress.round, &scores));
        }
        self.observer.after_round(progress)
    }
}

fn unknown(qid: &str, data: &Documents) -> anyhow::Error {
    let some: Vec<&str> = data.queries().take(3).map(|query| query.id).collect();
    user(format!("--trace {qid}: no such query in the training data; the first queries are {}", some.join(", ")))
}

fn with_ending(place: &Path, ending: &str) -> PathBuf {
    let mut path = place.to_owned().into_os_string();
    path.push(format!(".{ending}"));
    path.into()
}

/// An id without characters that file systems may reject.
fn file_name(qid: &str) -> String {
    qid.chars().map(|letter| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '_' }).collect()
}
