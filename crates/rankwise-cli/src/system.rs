//! Reads the systems to evaluate and their judgements.
//!
//! A system is a model, a score file or a run. Models and scores are evaluated on labelled data; a run on labelled data, joined
//! by query and document ids, or on qrels. Several systems share the same judgements, which are read once, or again for a model
//! that needs the data read differently.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rankwise::data::{Absent, Dataset, Keep, StringTable};
use rankwise::io::{Place, Qrels, ReadData, ReadOptions, ReadReport, read_qrels, read_run, read_scores};
use rankwise::metrics::{Evaluation, Measures, MetricName, MissingQueries, Results, Rules, RunResults};
use rankwise::model::{AbsentFeature, Model, Precision};
use rankwise::params::{ParamValue as _, nearest};
use rankwise::{BestFeature, FeatureRemark, JudgeError, JudgedRun, judge_run, judge_run_by_data};

use crate::data_args::DataArgs;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at, user_in};
use crate::mean_count::{MeanCount, QueryStates};
use crate::output::Output;
use crate::report::{DataFacts, ModelFacts, Rankings};
use crate::trees_args::TreesArgs;
use crate::{files, metric_names, reading, text};

/// Maximum number of features listed in a message.
const MAX_LISTED: usize = 12;

/// A ranking system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// A model, which scores the documents.
    Model(PathBuf),
    /// Scores, one for each row of the data.
    Scores(PathBuf),
    /// A TREC run.
    Run(PathBuf),
    /// A feature of the data, by id or name; larger values come first.
    Feature(String),
}

impl System {
    /// A model or a score file, detected from its first bytes.
    pub(crate) fn of_file(path: &Path) -> Self {
        if files::model_source(path).is_some() { Self::Model(path.into()) } else { Self::Scores(path.into()) }
    }

    /// The file it is read from; a feature has none of its own.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Model(path) | Self::Scores(path) | Self::Run(path) => Some(path),
            Self::Feature(_) => None,
        }
    }

    /// Its full name: the path, or the feature.
    pub(crate) fn shown(&self) -> String {
        let text = match self {
            Self::Model(path) | Self::Scores(path) | Self::Run(path) => files::shown(path),
            Self::Feature(name) => format!("feature {name}"),
        };
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
    }

    /// The shortest unique names of systems.
    pub(crate) fn names(systems: &[Self]) -> Vec<String> {
        let short = |system: &Self| match system.path().and_then(Path::file_name) {
            Some(name) => Self::Model(name.into()).shown(),
            None => system.shown(),
        };
        let names: Vec<String> = systems.iter().map(short).collect();
        let are_distinct = names.iter().enumerate().all(|(idx, name)| !names[..idx].contains(name));
        if are_distinct { names } else { systems.iter().map(Self::shown).collect() }
    }
}

/// The source of relevance labels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Judgements<'a> {
    /// Labelled data, with its options.
    Data(&'a DataPaths, &'a DataArgs),
    /// TREC qrels.
    Qrels(&'a Path),
}

impl<'a> Judgements<'a> {
    /// Exactly one of the two must be given.
    pub(crate) fn new(
        data: Option<&'a DataPaths>,
        read: &'a DataArgs,
        qrels: Option<&'a Path>,
    ) -> anyhow::Result<Self> {
        match (data, qrels) {
            (Some(data), None) => Ok(Self::Data(data, read)),
            (None, Some(qrels)) => Ok(Self::Qrels(qrels)),
            (Some(_), Some(_)) => Err(user("both DATA and --qrels have labels; give one of them")),
            (None, None) => Err(user("a run needs judgements; add --qrels FILE, or DATA with document ids")),
        }
    }

    /// The file or folder they are read from, for messages.
    pub(crate) fn path(self) -> &'a Path {
        match self {
            Self::Data(data, _) => data.place(),
            Self::Qrels(path) => path,
        }
    }

    /// All files they are read from.
    pub(crate) fn inputs(self) -> Vec<&'a Path> {
        match self {
            Self::Data(data, _) => data.inputs().collect(),
            Self::Qrels(path) => vec![path],
        }
    }
}

/// The metrics of all systems by query.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) queries: Queries,
    /// One per system, with values in the order of `queries`.
    pub(crate) evaluations: Vec<Evaluation>,
    /// By system and metric.
    pub(crate) mean_counts: Vec<Vec<MeanCount>>,
    /// How the last data was read.
    pub(crate) report: Option<ReadReport>,
    /// The models among the systems, if a page is made.
    pub(crate) models: Vec<ModelFacts>,
}

/// The queries that were judged, in canonical order.
#[derive(Debug, Default)]
pub(crate) struct Queries {
    pub(crate) ids: StringTable,
    pub(crate) weights: Vec<f32>,
    /// The number of judged documents of each.
    pub(crate) n_docs: Vec<usize>,
    /// The number of queries without relevant documents.
    pub(crate) n_empty: usize,
    /// The number of queries without results in the first system, if it is a run.
    pub(crate) n_unanswered: usize,
}

/// Reads and evaluates the systems one after another, in the phases `load` (reading files, scoring with models, joining runs)
/// and `measure` (computing metrics). `rankings` remembers for a page how each system ranks.
pub(crate) fn measure(
    systems: &[System],
    judgements: Judgements<'_>,
    names: &[MetricName],
    rules: &Rules,
    trees: TreesArgs,
    output: Output,
    mut rankings: Option<&mut Rankings>,
) -> anyhow::Result<Measured> {
    let measures = Measures::new(names, rules)?;
    if trees.choice().is_some() && !systems.iter().any(|system| matches!(system, System::Model(_))) {
        return Err(user("--trees applies to models only; remove it, or give --model"));
    }
    let mut cache = JudgementCache::new(judgements, trees, output);
    cache.describes_models = rankings.is_some();
    let mut evaluations = Vec::with_capacity(systems.len());
    let (mut queries, mut mean_counts) = (Queries::default(), Vec::with_capacity(systems.len()));
    let mut measure_one = |(idx, system): (usize, &System)| -> anyhow::Result<()> {
        output.phase("load");
        let ranked = cache.rank(system, measures.rules(), output)?;
        let results = ranked.results();
        output.phase("measure");
        let evaluation = measures.evaluate(&results).map_err(|error| user_at(judgements.path(), error.to_string()))?;
        if let Some(rankings) = &mut rankings {
            rankings.add(&measures, &results);
        }
        let states = QueryStates::new(&results, measures.rules());
        let each = evaluation.metrics.iter().zip(names);
        mean_counts.push(each.map(|(metric, name)| states.mean_count(metric, name.kind())).collect());
        evaluations.push(evaluation);
        if idx == 0 {
            queries = Queries::new(&results, &states);
        }
        Ok(())
    };
    let measured = systems.iter().enumerate().try_for_each(&mut measure_one);
    cache.warn_of_models();
    measured?;
    if let (Some(rankings), Some((_, data))) = (rankings, &cache.data) {
        // Runs on labelled data do not have it.
        rankings.data.get_or_insert_with(|| DataFacts::new(data));
    }
    Ok(Measured { queries, evaluations, mean_counts, report: cache.report, models: cache.described })
}

/// Documents with the scores of two rankers, in canonical order.
pub(crate) struct TwoScored {
    pub(crate) data: Dataset,
    /// How the files were read.
    pub(crate) report: Option<ReadReport>,
    pub(crate) scores: [Vec<f64>; 2],
}

/// Reads two systems that score documents.
pub(crate) fn score_two(
    systems: &[System; 2],
    judgements: Judgements<'_>,
    output: Output,
) -> anyhow::Result<TwoScored> {
    let mut cache = JudgementCache::new(judgements, TreesArgs::default(), output);
    let mut score = |system: &System| match cache.rank(system, &Rules::default(), output)? {
        Ranked::Scores(data, scores) => Ok(data.to_input_order(&scores)),
        Ranked::Run(_) => Err(user(format!("{}: the run has no results", system.shown()))),
    };
    let in_input_order: anyhow::Result<Vec<Vec<f64>>> = systems.iter().map(&mut score).collect();
    cache.warn_of_models();
    let in_input_order = in_input_order?;
    let (_, data) = cache.data.expect("whoever was scored was read");
    let scores = [0, 1].map(|system| data.from_input_order(&in_input_order[system]));
    Ok(TwoScored { data, report: cache.report, scores })
}

/// The ranking of one system.
enum Ranked<'a> {
    Scores(&'a Dataset, Vec<f64>),
    Run(Box<RunResults>),
}

impl Ranked<'_> {
    fn results(&self) -> Results<'_> {
        match self {
            Self::Scores(data, scores) => Results::CanonicalScores { data, scores },
            Self::Run(run) => Results::Run(run),
        }
    }
}

/// The judgements, once read.
struct JudgementCache<'a> {
    judgements: Judgements<'a>,
    data: Option<(Reading, Dataset)>,
    report: Option<ReadReport>,
    output: Output,
    qrels: Option<Qrels>,
    /// Which trees of models to use.
    trees: TreesArgs,
    /// How the features of the data differ from those of each model.
    models: Vec<(PathBuf, Vec<FeatureRemark>)>,
    /// Whether a page will describe the models.
    describes_models: bool,
    described: Vec<ModelFacts>,
}

/// The properties of a model that determine how data is read.
#[derive(Debug, PartialEq)]
struct Reading {
    absent: AbsentFeature,
    names: Vec<(u32, String)>,
    precision: Precision,
}

impl<'a> JudgementCache<'a> {
    fn new(judgements: Judgements<'a>, trees: TreesArgs, output: Output) -> Self {
        Self {
            judgements,
            data: None,
            report: None,
            output,
            qrels: None,
            trees,
            models: Vec::new(),
            describes_models: false,
            described: Vec::new(),
        }
    }

    fn rank(&mut self, system: &System, rules: &Rules, output: Output) -> anyhow::Result<Ranked<'_>> {
        match system {
            System::Model(path) => self.rank_by_model(path, output),
            System::Scores(path) => self.rank_by_scores(path),
            System::Run(path) => self.rank_by_run(path, rules, output),
            System::Feature(name) => self.rank_by_feature(name),
        }
    }

    fn rank_by_model(&mut self, path: &Path, output: Output) -> anyhow::Result<Ranked<'_>> {
        let model = match self.judgements {
            Judgements::Data(data, _) => files::read_model_for(data, path, self.trees, output)?,
            Judgements::Qrels(_) => files::read_model(path, self.trees, output)?,
        };
        self.data_path("--model")?;
        if self.describes_models {
            self.described.push(ModelFacts::new(files::shown(path), &model));
        }
        let judgements = self.judgements;
        let data = self.data_for(&model)?;
        let scores = rankwise::predict_canonical(&model, data);
        if let Judgements::Data(paths, typed) = judgements {
            files::warn_training_data((&model, path), data, paths, typed, output);
            let remarks = files::unknown_features(&model, data, typed);
            self.models.push((path.into(), remarks));
        }
        Ok(Ranked::Scores(self.read_already(), scores))
    }

    /// Warns of features that the data lacks, once all models are read: the advice for one must not harm another.
    fn warn_of_models(&mut self) {
        files::warn_of_models(std::mem::take(&mut self.models), self.judgements.path(), self.output);
    }

    fn rank_by_scores(&mut self, path: &Path) -> anyhow::Result<Ranked<'_>> {
        let data_path = self.data_path("--scores")?;
        let data = self.any_data()?;
        let scores = read_scores(path).map_err(|error| match files::model_source(path) {
            Some(_) => user_at(path, "this is a model, not a score file; use --model"),
            None => error.into(),
        })?;
        if scores.len() != data.n_rows() {
            let message = format!(
                "{} for {} of {}; give one score per row, in the same order",
                text::count(scores.len(), "score"),
                text::count(data.n_rows(), "row"),
                files::shown(data_path)
            );
            return Err(user_at(path, message));
        }
        Ok(Ranked::Scores(data, data.from_input_order(&scores)))
    }

    fn rank_by_run(&mut self, path: &Path, rules: &Rules, output: Output) -> anyhow::Result<Ranked<'_>> {
        let judged_by = self.judgements.path();
        let judged = match self.judgements {
            Judgements::Data(..) => {
                let data = self.any_data()?;
                judge_run_by_data(&read_run(path)?, data)
            }
            Judgements::Qrels(qrels_path) => {
                if self.qrels.is_none() {
                    let qrels = read_qrels(qrels_path)?;
                    if qrels.n_queries() == 0 {
                        return Err(user_at(
                            qrels_path,
                            "there are no judgements; expected lines `query 0 document grade`",
                        ));
                    }
                    self.qrels = Some(qrels);
                }
                judge_run(&read_run(path)?, self.qrels.as_ref().expect("they were read"))
            }
        };
        let judged = judged.map_err(|error| match &error {
            JudgeError::NoOverlap { line, .. } => {
                let place = Place { path: path.into(), line: Some(*line), column: None };
                user_in(place, format!("{error} and whether the run belongs to {}", files::shown(judged_by)))
            }
            JudgeError::NoDocIds | JudgeError::Twice { .. } => user_at(judged_by, error.to_string()),
        })?;
        warn_of_run(&judged, path, rules, output);
        Ok(Ranked::Run(Box::new(judged.results)))
    }

    fn rank_by_feature(&mut self, name: &str) -> anyhow::Result<Ranked<'_>> {
        let place = files::shown(self.data_path("--feature")?);
        // Not as for a model, which may skip columns.
        let reading = Reading { absent: AbsentFeature::Missing, names: Vec::new(), precision: Precision::F64 };
        self.forget_unless(&reading)?;
        self.read_data(reading, |paths, typed| {
            files::read_data(paths, &ReadOptions { keep: Keep::All, ..typed.options(Absent::Missing)? })
        })?;
        let columns = self.report.iter().flat_map(|report| &report.columns);
        let by_name = columns.filter(|column| column.name == name).find_map(|column| column.feature);
        let (_, data) = self.data.as_ref().expect("it was just read");
        let named = || data.feature_names().iter().find(|(_, known)| known == name).map(|(id, _)| *id);
        let by_name = by_name.or_else(named);
        let feature = by_name.or_else(|| name.parse().ok()).filter(|id| data.feature_ids().contains(id));
        let Some(feature) = feature else {
            return Err(user(format!("--feature {name}: no such feature in {place}; {}", known_features(data, name))));
        };
        let ranker = BestFeature { feature, is_ascending: true, value: 0.0 };
        Ok(Ranked::Scores(data, ranker.scores_canonical(data)))
    }

    fn data_path(&self, what: &str) -> anyhow::Result<&'a Path> {
        match self.judgements {
            Judgements::Data(data, _) => Ok(data.place()),
            Judgements::Qrels(_) => Err(user(format!(
                "{what} needs labelled documents, and --qrels is only for runs; give DATA instead of --qrels"
            ))),
        }
    }

    /// The documents as a model reads them.
    fn data_for(&mut self, model: &Model) -> anyhow::Result<&Dataset> {
        let reading = Reading { absent: model.absent(), names: model.named_features(), precision: model.precision() };
        self.forget_unless(&reading)?;
        self.read_data(reading, |path, typed| files::read_data_for(model, path, typed, files::Labels::Needed))
    }

    /// Data that was read differently is read again.
    fn forget_unless(&mut self, reading: &Reading) -> anyhow::Result<()> {
        if self.data.as_ref().is_some_and(|(known, _)| known != reading) {
            if files::is_stream(self.judgements.path()) {
                return Err(user(
                    "-: these systems read the data differently, so standard input cannot be used; save the \
                                 data to a file",
                ));
            }
            self.data = None;
        }
        Ok(())
    }

    /// The documents, however they were read: only labels are needed.
    fn any_data(&mut self) -> anyhow::Result<&Dataset> {
        let reading = Reading { absent: AbsentFeature::Missing, names: Vec::new(), precision: Precision::F32 };
        self.read_data(reading, |path, typed| {
            files::read_data(path, &ReadOptions { keep: Keep::Rounded, ..typed.options(Absent::Missing)? })
        })
    }

    fn read_data(
        &mut self,
        reading: Reading,
        read: impl FnOnce(&DataPaths, &DataArgs) -> anyhow::Result<ReadData>,
    ) -> anyhow::Result<&Dataset> {
        if let (None, Judgements::Data(paths, typed)) = (&self.data, self.judgements) {
            let ReadData { data, report } = read(paths, typed)?;
            if self.report.is_none() {
                reading::tell(paths.place(), &report, self.output);
            }
            (self.data, self.report) = (Some((reading, data)), Some(report));
        }
        Ok(self.read_already())
    }

    fn read_already(&self) -> &Dataset {
        let (_, data) = self.data.as_ref().expect("whoever asks knows that there is data");
        data
    }
}

/// The features of data, for a name that none of them has.
fn known_features(data: &Dataset, sought: &str) -> String {
    let names: Vec<&str> = data.feature_names().iter().map(|(_, name)| name.as_str()).collect();
    let quoted = |names: &[&str]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let advice = match nearest(sought, names.iter().copied()) {
        Some(name) => format!("did you mean {name:?}? The"),
        None => "the".into(),
    };
    match (data.feature_ids(), &names[..]) {
        ([], _) => "it has no features".into(),
        ([first, .., last], []) => format!("ids go from {first} to {last}"),
        ([only], []) => format!("its only feature is {only}"),
        (_, [only]) => format!("its only feature is {only:?}"),
        (_, [first @ .., _]) if first.len() >= MAX_LISTED => {
            format!("{advice} features are {} and {} more", quoted(&names[..MAX_LISTED]), names.len() - MAX_LISTED)
        }
        (_, names) => format!("{advice} features are {}", quoted(names)),
    }
}

/// Warns if a run and judgements do not match.
fn warn_of_run(judged: &JudgedRun, path: &Path, rules: &Rules, output: Output) {
    let place = files::shown(path);
    let is_empty = judged.results.n_queries() == judged.n_unanswered && judged.unknown.is_none();
    if let Some((n_unknown, line)) = judged.unknown {
        let queries = text::count(n_unknown, "query");
        output.warn(&format!("{place}:{line}: ignored {queries} without judgements; the first is in this line"));
    }
    if judged.n_unanswered > 0 {
        let queries = text::count(judged.n_unanswered, "judged query");
        let is_one = judged.n_unanswered == 1;
        let (verb, advice) = match (rules.missing_queries, is_one) {
            (MissingQueries::Count, true) => ("has no results in the run and counts as an empty list", "skip ignores"),
            (MissingQueries::Count, false) => ("have no results in the run and count as empty lists", "skip ignores"),
            (MissingQueries::Skip, true) => ("has no results in the run and is ignored", "count includes"),
            (MissingQueries::Skip, false) => ("have no results in the run and are ignored", "count includes"),
        };
        output.warn(&format!("{place}: {queries} {verb}; --missing-queries {advice} such queries"));
    }
    if judged.n_judged_docs == 0 {
        let problem =
            if is_empty { "the run is empty" } else { "none of its documents are judged; check the document ids" };
        output.warn(&format!("{place}: {problem}"));
    }
}

impl Queries {
    fn new(results: &Results<'_>, states: &QueryStates) -> Self {
        let (n_empty, n_unanswered) = (states.n_empty(), states.n_unanswered());
        let mut queries = Self { n_empty, n_unanswered, ..Self::default() };
        for idx in 0..results.n_queries() {
            let query = results.query(idx);
            let n_judged =
                query.judged.map_or(query.labels.len(), |judged| judged.iter().filter(|is_judged| **is_judged).count());
            queries.ids.push(query.id);
            queries.weights.push(results.query_weight(idx));
            queries.n_docs.push(n_judged + query.missed.len());
        }
        queries
    }
}

/// The metric rules, for the report.
pub(crate) struct StatedRules {
    pub(crate) text: String,
    pub(crate) entries: BTreeMap<&'static str, String>,
    /// The canonical names of the metrics, by the typed names.
    pub(crate) metric_names: serde_json::Value,
}

impl StatedRules {
    /// The rules of these metrics; for runs, also the rule for queries without results.
    pub(crate) fn new(rules: &Rules, names: &[MetricName], systems: &[System]) -> Self {
        let mut stated = Self {
            text: rules.describe(names),
            entries: rules.entries(names).into_iter().collect(),
            metric_names: metric_names::to_json(names),
        };
        if systems.iter().any(|system| matches!(system, System::Run(_))) {
            let missing = rules.missing_queries.render();
            let _ = write!(stated.text, ", missing_queries {missing}");
            stated.entries.insert("missing_queries", missing);
        }
        stated
    }
}
