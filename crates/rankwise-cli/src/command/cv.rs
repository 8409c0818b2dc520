//! `rankwise cv`

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use rankwise::data::{Dataset, Documents};
use rankwise::eval::{CompareSpec, Comparison, IntervalSpec, Summary};
use rankwise::io::{ReadData, ReadReport, write_scores};
use rankwise::metrics::Results;
use rankwise::train::{TrainParams, TrainSpec};
use rankwise::tune::{
    CrossValidated, CrossValidation, CvSystem, Folds, Rotation, SystemResult, TuneError, cross_validate,
};
use serde_json::{Value, json};

use crate::args::Global;
use crate::comparison::{Report, interval, interval_json, interval_title, per_query_table};
use crate::cv_args::Cv;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at};
use crate::inputs::Inputs;
use crate::mean_count::{MeanCount, QueryStates};
use crate::output::Output;
use crate::progress::JobWatch;
use crate::record::FileKind;
use crate::system::StatedRules;
use crate::{files, options, reading, text};

/// The significance level; the confidence level of intervals is 1 - ALPHA.
const ALPHA: f64 = 0.05;

/// The default number of folds.
const FOLDS: usize = 5;

pub(crate) fn run(args: &Cv, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "train", "test"]);
    output.phase("load");
    let paths = DataPaths::find(&args.data)?;
    let (spec, layout) = args.params.spec(&args.rules, &args.read, global)?;
    let tries = tries(args, &spec)?;
    check_outputs(args, &paths, output)?;
    let inputs = Inputs { pairs: None, layout, absent: tries[0].1.reading().absent, start: None, output };
    let ReadData { data, report } = inputs.training_values(&paths)?;
    if !output.hides_warnings() {
        output.remark(&format!("{}: {}", files::shown(paths.place()), text::documents(&data)));
        files::warn_of(&paths, &inputs.read_options(), &data.remarks(), output);
    }
    reading::tell(paths.place(), &report, output);
    let seed = tries[0].1.boosting().seed;
    let folds = folds(args, &data, &report, &paths, seed)?;
    let rotation = if args.rotate || args.letor { Rotation::ValidateOnPrevious } else { Rotation::TrainOnRest };
    let systems: Vec<CvSystem<'_>> = tries.iter().map(|(name, params)| CvSystem { name, params }).collect();
    let cv = CrossValidation { data: &data, folds: &folds, rotation, systems: &systems };
    output.phase("train");
    let watch = JobWatch::new(output, "models", folds.n_folds() * systems.len());
    let found = cross_validate(&cv, &watch);
    watch.finish();
    let found = match found {
        Err(TuneError::Interrupted) => return Err(watch.interrupted(Some("interrupted; nothing was written")).into()),
        found => found?,
    };
    output.phase("test");
    let intervals = IntervalSpec { confidence: 1.0 - ALPHA, seed, ..IntervalSpec::default() };
    let compare = CompareSpec { intervals, ..CompareSpec::default() };
    let comparison = found.compare(&compare)?;
    output.phase("other");
    write(args, &data, &found, output)?;
    let shown = Shown {
        data: &data,
        params: &tries[0].1,
        folds: &folds,
        rotation,
        found: &found,
        comparison: comparison.as_ref(),
        compare: &compare,
        summaries: found.summaries(&intervals),
    };
    let mut json = shown.json();
    json["data"] = reading::to_json(&report);
    output.result(&shown.text(), json)
}

/// The systems by name, with checked parameters.
fn tries(args: &Cv, base: &TrainSpec) -> anyhow::Result<Vec<(String, TrainParams)>> {
    if args.tries.is_empty() {
        return Ok(vec![("parameters".to_owned(), base.clone().check()?)]);
    }
    let mut names = HashSet::new();
    let one = |typed: &String| -> anyhow::Result<(String, TrainParams)> {
        // Values may contain commas, but no equals sign.
        if typed.split(',').skip(1).any(|part| part.contains('=') && !part.contains(' ')) {
            return Err(user(format!("--try '{typed}': separate parameters by spaces, not by commas")));
        }
        let settings = typed.split_whitespace().map(files::key_and_value).collect::<anyhow::Result<Vec<_>>>()?;
        settings.iter().try_for_each(|(name, _)| options::check_parameter(name).map_err(user))?;
        let mut spec = base.clone();
        spec.set_all(settings)?;
        let words: Vec<&str> = typed.split_whitespace().collect();
        let name = if words.is_empty() { "no further parameters".to_owned() } else { words.join(" ") };
        Ok((name, spec.check()?))
    };
    let tries = args.tries.iter().map(one).collect::<anyhow::Result<Vec<_>>>()?;
    match tries.iter().find(|(name, _)| !names.insert(name.clone())) {
        Some((name, _)) => Err(user(format!("--try '{name}' is given twice; remove one"))),
        None => Ok(tries),
    }
}

fn check_outputs(args: &Cv, paths: &DataPaths, output: Output) -> anyhow::Result<()> {
    let inputs: Vec<&Path> = paths.inputs().chain(args.params.config.as_deref()).collect();
    files::check_inputs(&inputs)?;
    let mut known: Vec<&Path> = Vec::new();
    for (path, what) in [(&args.out, "scores need"), (&args.history, "history needs"), (&args.per_query, "table needs")]
    {
        let Some(path) = path else { continue };
        if files::is_stream(path) {
            return Err(user("standard output is used for the result; give a file name in place of -"));
        }
        output.check_file(path, what)?;
        files::check_output(path, &inputs)?;
        if known.contains(&path.as_path()) {
            return Err(user_at(path, "two outputs have this name; use different files"));
        }
        known.push(path);
    }
    Ok(())
}

/// Random folds, or the files.
fn folds(args: &Cv, data: &Documents, report: &ReadReport, paths: &DataPaths, seed: u64) -> anyhow::Result<Folds> {
    if !args.letor {
        let folds = Folds::random(data, args.folds.unwrap_or(FOLDS), seed);
        return folds.map_err(|error| match error {
            TuneError::TooFewFolds { .. } => user(format!("--folds: {error}")),
            error => user_at(paths.place(), error.to_string()),
        });
    }
    if report.parts.len() < 3 {
        let message = "--letor takes each file as a fold, and needs at least 3; give S1 to S5, or use --folds";
        return Err(user_at(paths.place(), message));
    }
    if let Some(split) = &report.split_queries {
        let message = format!("{}; with --letor, a query must be in one file", reading::split_remark(split));
        return Err(user_at(paths.place(), message));
    }
    let ends: Vec<usize> = report
        .parts
        .iter()
        .scan(0, |end, part| {
            *end += part.rows;
            Some(*end)
        })
        .collect();
    let file_of = |query: usize| {
        let row = data.input_row()[data.query_rows(query).start] as usize;
        ends.partition_point(|end| *end <= row)
    };
    Ok(Folds::new(report.parts.len(), (0..data.n_queries()).map(file_of).collect())?)
}

fn write(args: &Cv, data: &Dataset, found: &CrossValidated, output: Output) -> anyhow::Result<()> {
    if let Some(path) = &args.out {
        let scores = data.to_input_order(&found.systems[0].scores_canonical);
        output.write(path, FileKind::Scores, |file| write_scores(file, &scores))?;
    }
    if let Some(path) = &args.history {
        output.write_text(path, FileKind::History, &curves(found))?;
    }
    if let Some(path) = &args.per_query {
        let n_docs: Vec<usize> = data.queries().map(|query| query.n_docs()).collect();
        output.write_text(path, FileKind::PerQuery, &per_query_table(&found.table, &n_docs))?;
    }
    Ok(())
}

/// The learning curves as CSV, a column per system.
fn curves(found: &CrossValidated) -> String {
    let metric = found.table.metric(0);
    let quoted = |name: &String| format!("\"{metric}: {}\"", name.replace('"', "\"\""));
    let mut out = format!("round,{}\n", found.table.names().iter().map(quoted).collect::<Vec<_>>().join(","));
    let n_rounds = found.systems.iter().map(|system| system.curve.len()).max().unwrap_or(0);
    for round in 0..n_rounds {
        let value = |system: &SystemResult| system.curve.get(round).map_or_else(String::new, ToString::to_string);
        let values: Vec<String> = found.systems.iter().map(value).collect();
        let _ = writeln!(out, "{},{}", round + 1, values.join(","));
    }
    out
}

/// A cross-validation, as text and as JSON.
struct Shown<'a> {
    data: &'a Dataset,
    params: &'a TrainParams,
    folds: &'a Folds,
    rotation: Rotation,
    found: &'a CrossValidated,
    comparison: Option<&'a Comparison>,
    compare: &'a CompareSpec,
    summaries: Vec<Vec<Summary>>,
}

impl Shown<'_> {
    fn text(&self) -> String {
        let mut out = String::new();
        for (name, system) in self.found.table.names().iter().zip(&self.found.systems) {
            if self.found.systems.len() > 1 {
                let _ = writeln!(out, "{name}");
            }
            let _ = writeln!(out, "{}", self.folds_table(system));
        }
        if let Some(report) = self.report() {
            out += &report.text();
        } else {
            let mut rows = vec![vec!["all queries".into(), "mean".into(), self.interval_title()]];
            for (metric, summary) in self.summaries[0].iter().enumerate() {
                let name = self.found.table.metric(metric).to_owned();
                rows.push(vec![name, text::mean(summary.mean), interval(summary.interval)]);
            }
            out += &text::table(&rows);
            out.push('\n');
            out += &crate::mean_count::lines(&self.counted());
            let _ = writeln!(out, "rules: {}", self.rules().text);
        }
        let valid = match self.rotation {
            Rotation::TrainOnRest => "trained on the others",
            Rotation::ValidateOnPrevious => "validated on the fold before it, trained on the others",
        };
        let _ =
            writeln!(out, "{} by query, each measured with a model {valid}", text::count(self.folds.n_folds(), "fold"));
        out
    }

    fn interval_title(&self) -> String {
        interval_title(self.compare.intervals.confidence)
    }

    /// A line for each fold.
    fn folds_table(&self, system: &SystemResult) -> String {
        let mut head: Vec<String> = ["fold", "queries", "trees"].map(String::from).to_vec();
        head.extend((0..self.found.table.n_metrics()).map(|metric| self.found.table.metric(metric).to_owned()));
        let mut rows = vec![head];
        for (fold, result) in system.folds.iter().enumerate() {
            let mut row = vec![(fold + 1).to_string()];
            row.extend([result.n_queries, result.n_trees].map(|count| text::thousands(count as u64)));
            row.extend(result.means.iter().map(|mean| text::mean(*mean)));
            rows.push(row);
        }
        text::table(&rows)
    }

    fn rules(&self) -> StatedRules {
        StatedRules::new(self.params.rules(), &self.params.boosting().metric, &[])
    }

    /// The queries behind the means of a system, by metric.
    fn mean_counts(&self, system: usize) -> Vec<MeanCount> {
        let scores = &self.found.systems[system].scores_canonical;
        let states = QueryStates::new(&Results::CanonicalScores { data: self.data, scores }, self.params.rules());
        let metrics = self.params.boosting().metric.iter().enumerate();
        metrics
            .map(|(metric, name)| states.mean_count(self.found.table.metric_values(system, metric), name.kind()))
            .collect()
    }

    fn counted(&self) -> Vec<(String, MeanCount)> {
        let named = |(metric, count)| (self.found.table.metric(metric).to_owned(), count);
        self.mean_counts(0).into_iter().enumerate().map(named).collect()
    }

    fn report(&self) -> Option<Report<'_>> {
        let scores = &self.found.systems[0].scores_canonical;
        let states = QueryStates::new(&Results::CanonicalScores { data: self.data, scores }, self.params.rules());
        Some(Report {
            table: &self.found.table,
            comparison: self.comparison?,
            spec: self.compare,
            alpha: ALPHA,
            rules: self.rules(),
            n_empty: states.n_empty(),
            mean_counts: (0..self.found.systems.len()).map(|system| self.mean_counts(system)).collect(),
        })
    }

    fn json(&self) -> Value {
        let names = |metric: usize| self.found.table.metric(metric);
        let by_metric = |value: &dyn Fn(usize) -> Value| -> Value {
            (0..self.found.table.n_metrics())
                .map(|metric| (names(metric).to_owned(), value(metric)))
                .collect::<serde_json::Map<_, _>>()
                .into()
        };
        let system = |idx: usize| {
            let result = &self.found.systems[idx];
            let folds: Vec<Value> = result
                .folds
                .iter()
                .map(|fold| {
                    json!({
                        "queries": fold.n_queries,
                        "trees": fold.n_trees,
                        "metrics": by_metric(&|metric| json!(fold.means[metric])),
                    })
                })
                .collect();
            json!({
                "name": self.found.table.names()[idx],
                "metrics": by_metric(&|metric| json!(self.summaries[idx][metric].mean)),
                "intervals": by_metric(&|metric| interval_json(self.summaries[idx][metric].interval)),
                "folds": folds,
                "curve": result.curve,
            })
        };
        let rules = self.rules();
        let tests = self.report().map_or_else(|| json!([]), |report| report.json()["tests"].clone());
        json!({
            "systems": (0..self.found.systems.len()).map(system).collect::<Vec<_>>(),
            "tests": tests,
            "folds": self.folds.n_folds(),
            "rotate": self.rotation == Rotation::ValidateOnPrevious,
            "queries": self.data.n_queries(),
            "metric_names": rules.metric_names,
            "convention": rules.entries,
        })
    }
}
