//! Systems to be measured, and what they are measured against: read in one place, whatever they are.
//!
//! A system is a model, a file of scores or a run. Several systems are measured against the same documents, which are read
//! once, or once more for a model that reads them another way.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rankwise::data::{Absent, Dataset, StringTable};
use rankwise::io::read_scores;
use rankwise::metrics::{Evaluation, Evaluator, MetricName, Rules};
use rankwise::model::{AbsentFeature, Model};

use crate::data_args::DataArgs;
use crate::failure::user;
use crate::output::Output;
use crate::{files, text};

/// Something that ranks documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// A model, which scores the documents.
    Model(PathBuf),
    /// Scores, one for each row of the data.
    Scores(PathBuf),
}

impl System {
    /// The file it is read from.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Model(path) | Self::Scores(path) => path,
        }
    }
}

/// What systems are measured against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judgements<'a> {
    /// Documents with labels.
    pub(crate) data: &'a Path,
    /// How to read them.
    pub(crate) read: &'a DataArgs,
}

/// What is measured, and under which rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measures<'a> {
    pub(crate) names: &'a [MetricName],
    pub(crate) rules: &'a Rules,
}

/// The values of all systems, query by query.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) queries: Queries,
    /// One for each system; the values of its queries stand in the order of `queries`.
    pub(crate) evaluations: Vec<Evaluation>,
    pub(crate) seconds: Seconds,
}

/// The queries that were judged, in canonical order.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    pub(crate) ids: StringTable,
    pub(crate) weights: Vec<f32>,
    /// How many documents each has.
    pub(crate) n_docs: Vec<usize>,
    /// How many have no relevant document.
    pub(crate) n_empty: usize,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seconds {
    /// Reading files, and scoring by models.
    pub(crate) load: f64,
    /// Computing metrics.
    pub(crate) measure: f64,
}

/// Reads the systems one after another and measures each.
pub(crate) fn measure(
    systems: &[System],
    judgements: Judgements<'_>,
    measures: Measures<'_>,
    output: Output,
) -> anyhow::Result<Measured> {
    let mut documents = Documents { judgements, known: None };
    let (mut evaluations, mut seconds) = (Vec::with_capacity(systems.len()), Seconds::default());
    for system in systems {
        let started = Instant::now();
        let (data, scores) = documents.score(system, output)?;
        seconds.load += started.elapsed().as_secs_f64();
        let started = Instant::now();
        let evaluation = Evaluator::new(data, measures.names, measures.rules)
            .and_then(|evaluator| evaluator.evaluate(&scores))
            .map_err(|error| user(format!("{}: {error}", files::shown(judgements.data))))?;
        seconds.measure += started.elapsed().as_secs_f64();
        evaluations.push(evaluation);
    }
    let queries = documents.known.map(|(_, data)| Queries::of(&data, measures.rules)).unwrap_or_default();
    Ok(Measured { queries, evaluations, seconds })
}

/// The documents, once they were read.
struct Documents<'a> {
    judgements: Judgements<'a>,
    known: Option<(Reading, Dataset)>,
}

/// What about a model decides how data is read for it.
#[derive(Debug, PartialEq)]
struct Reading {
    absent: AbsentFeature,
    names: Vec<(u32, String)>,
}

impl Documents<'_> {
    /// A score for each document, in canonical order.
    fn score(&mut self, system: &System, output: Output) -> anyhow::Result<(&Dataset, Vec<f64>)> {
        match system {
            System::Model(path) => {
                let model = files::read_model(path)?;
                let data_path = self.judgements.data;
                let data = self.for_model(&model)?;
                files::warn_of_strangers(&model, data, data_path, output);
                Ok((data, rankwise::predict(&model, data)))
            }
            System::Scores(path) => {
                let data_path = self.judgements.data;
                let data = self.any()?;
                let scores = read_scores(path)?;
                if scores.len() != data.n_rows() {
                    return Err(user(format!(
                        "{}: {} for {} of {}; give one score for each row, in the same order",
                        files::shown(path),
                        text::count(scores.len(), "score"),
                        text::count(data.n_rows(), "row"),
                        files::shown(data_path)
                    )));
                }
                Ok((data, data.from_input_order(&scores)))
            }
        }
    }
}

impl Documents<'_> {
    /// The documents as a model reads them.
    fn for_model(&mut self, model: &Model) -> anyhow::Result<&Dataset> {
        let reading = Reading { absent: model.absent, names: model.named_features() };
        let Judgements { data, read } = self.judgements;
        if self.known.as_ref().is_some_and(|(known, _)| *known != reading) {
            if files::is_stream(data) {
                return Err(user("-: these models read the data in different ways, so it must be a file"));
            }
            self.known = None;
        }
        self.read(reading, || files::read_data_for(model, data, read, files::Labels::Needed))
    }

    /// The documents in whatever way they were read: only their labels count.
    fn any(&mut self) -> anyhow::Result<&Dataset> {
        let Judgements { data, read } = self.judgements;
        let reading = Reading { absent: AbsentFeature::Missing, names: Vec::new() };
        self.read(reading, || files::read_data(data, &read.options(Absent::Missing)))
    }

    fn read(&mut self, reading: Reading, read: impl FnOnce() -> anyhow::Result<Dataset>) -> anyhow::Result<&Dataset> {
        if self.known.is_none() {
            self.known = Some((reading, read()?));
        }
        let (_, data) = self.known.as_ref().expect("it was read");
        Ok(data)
    }
}

impl Queries {
    fn of(data: &Dataset, rules: &Rules) -> Self {
        let is_empty = |labels: &[f32]| labels.iter().all(|label| rules.gain.of(*label) == 0.0);
        Self {
            ids: data.queries().map(|query| query.id).collect(),
            weights: data.queries().map(|query| query.weight).collect(),
            n_docs: data.queries().map(|query| query.n_docs()).collect(),
            n_empty: data.queries().filter(|query| is_empty(query.labels)).count(),
        }
    }
}
