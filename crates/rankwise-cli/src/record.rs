//! The fields that every command has with `--json`: times, written files and warnings. Commands report these while they work;
//! the object is built here, so that no command can omit one.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::files::is_stream;

/// The kind of a written file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Cache,
    Checkpoint,
    Config,
    Contributions,
    Data,
    History,
    ManPage,
    Model,
    PerQuery,
    Plot,
    Report,
    Run,
    Scores,
    SideFile,
    Trace,
}

impl FileKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Checkpoint => "checkpoint",
            Self::Config => "config",
            Self::Contributions => "contributions",
            Self::Data => "data",
            Self::History => "history",
            Self::ManPage => "man-page",
            Self::Model => "model",
            Self::PerQuery => "per-query",
            Self::Plot => "plot",
            Self::Report => "report",
            Self::Run => "run",
            Self::Scores => "scores",
            Self::SideFile => "side-file",
            Self::Trace => "trace",
        }
    }
}

/// The events since the program started.
#[derive(Debug)]
pub(crate) struct Record {
    started: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The phases of the command, with the time spent in each so far.
    phases: Vec<(&'static str, Duration)>,
    /// The current phase, as an index into `phases`.
    current: Option<(usize, Instant)>,
    outputs: Vec<(PathBuf, FileKind)>,
    warnings: Vec<String>,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), state: Mutex::default() }
    }

    /// The time since the program started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Names the phases of the command. All are reported, even those that take no time.
    pub(crate) fn set_phases(&self, names: &[&'static str]) {
        self.state().phases = names.iter().map(|name| (*name, Duration::ZERO)).collect();
    }

    /// Ends the current phase and starts another. Time outside the named phases counts as `other`.
    pub(crate) fn start_phase(&self, name: &str) {
        self.state().start_phase(name);
    }

    /// Adds time that was measured elsewhere to a phase.
    pub(crate) fn add_time(&self, name: &str, time: Duration) {
        if let Some((_, sum)) = self.state().phases.iter_mut().find(|(known, _)| *known == name) {
            *sum += time;
        }
    }

    /// Records a written file, unless it is standard output.
    pub(crate) fn add_output(&self, path: &Path, kind: FileKind) {
        if is_stream(path) {
            return;
        }
        let mut state = self.state();
        // A new checkpoint replaces an older one.
        state.outputs.retain(|(old, old_kind)| *old_kind != FileKind::Checkpoint || (old.exists() && old != path));
        state.outputs.push((path.to_owned(), kind));
    }

    pub(crate) fn add_warning(&self, text: &str) {
        self.state().warnings.push(text.to_owned());
    }

    /// The warnings so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.state().warnings.clone()
    }

    /// The result of a command with the common fields.
    pub(crate) fn complete(&self, result: Map<String, Value>) -> Value {
        let mut state = self.state();
        state.start_phase("");
        let output =
            |(path, kind): &(PathBuf, FileKind)| json!({ "path": path.display().to_string(), "kind": kind.as_str() });
        let mut object = result;
        object.insert("seconds".into(), state.seconds(self.elapsed()));
        object.insert("outputs".into(), state.outputs.iter().map(output).collect());
        object.insert("warnings".into(), json!(state.warnings));
        object.into()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic ends the program, after its own report.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn start_phase(&mut self, name: &str) {
        if let Some((idx, since)) = self.current.take() {
            self.phases[idx].1 += since.elapsed();
        }
        self.current = self.phases.iter().position(|(known, _)| *known == name).map(|idx| (idx, Instant::now()));
    }

    /// The phases, `other` and the total.
    fn seconds(&self, total: Duration) -> Value {
        let known: Duration = self.phases.iter().map(|(_, time)| *time).sum();
        let rest = [("other", total.saturating_sub(known)), ("total", total)];
        let all = self.phases.iter().copied().chain(rest);
        all.map(|(name, time)| (name.to_owned(), Value::from(time.as_secs_f64()))).collect::<Map<_, _>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_add_up_to_the_total() {
        let record = Record::new();
        record.set_phases(&["load", "score", "write"]);
        record.start_phase("load");
        std::thread::sleep(Duration::from_millis(2));
        record.start_phase("score");
        record.start_phase("load");
        record.start_phase("");
        record.add_time("write", Duration::from_nanos(1));
        let object = record.complete(Map::new());
        let seconds = object["seconds"].as_object().unwrap();
        assert_eq!(seconds.keys().collect::<Vec<_>>(), ["load", "other", "score", "total", "write"]);
        let of = |name: &str| seconds[name].as_f64().unwrap();
        assert!(of("load") >= 0.002 && of("write") == 1e-9, "{object}");
        assert!((of("load") + of("score") + of("write") + of("other") - of("total")).abs() < 1e-6, "{object}");
    }

    #[test]
    fn streams_are_no_files_and_old_checkpoints_go() {
        let record = Record::new();
        record.add_output(Path::new("-"), FileKind::Scores);
        record.add_output(Path::new("no/such/tree-1"), FileKind::Checkpoint);
        record.add_output(Path::new("m.json"), FileKind::Model);
        let object = record.complete(Map::new());
        assert_eq!(object["outputs"], json!([{ "path": "m.json", "kind": "model" }]));
    }
}
