//! `rankwise train`

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rankwise::data::{Absent, Documents, LoadedData};
use rankwise::io::{ReadData, ReadOptions};
use rankwise::model::Model;
use rankwise::params::ParamValue as _;
use rankwise::train::{NoTrees, StopReason, TrainError, TrainParams, TrainSpec, Trained, Training, ValidSet};
use rankwise::trees::is_worth_threads;
use serde_json::json;

use crate::args::{Global, Train};
use crate::checkpoint::{Keeper, WatchAndSave};
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at};
use crate::inputs::Inputs;
use crate::output::Output;
use crate::progress::Watch;
use crate::record::FileKind;
use crate::report::{DataFacts, Facts, ModelFacts, TrainingPage};
use crate::trace::{Traced, Tracer};
use crate::trees_args::TreesArgs;
use crate::{files, options, reading, text};

mod history;
mod report;

use report::Report;

/// The phases of training, besides `other`.
const PHASES: [&str; 8] = ["load", "bin", "gradients", "histograms", "splits", "partition", "scores", "validation"];

pub(crate) fn run(args: &Train, global: Global, output: Output) -> anyhow::Result<()> {
    if let Some(sought) = &args.help_params {
        return help_params(sought, output);
    }
    output.set_phases(&PHASES);
    output.phase("load");
    let Some(out) = &args.out else {
        return Err(user("training data or output is missing; write `rankwise train DATA --out MODEL`"));
    };
    let (data_paths, valid_paths) = find_data(args)?;
    let (mut spec, layout) = args.params.spec(&args.rules, &args.read, global)?;
    output.check_file(out, "model needs")?;
    let others = args.params.config.iter().chain(&args.pairs).chain(&args.init_model).map(PathBuf::as_path);
    let data_files = valid_paths.iter().chain([&data_paths]).flat_map(DataPaths::inputs);
    let paths: Vec<&Path> = data_files.chain(others).collect();
    files::check_inputs(&paths)?;
    files::check_output(out, &paths)?;
    history::check(args, out, &paths)?;
    args.report.check(&paths, &[("--out", Some(out)), ("--history", args.history.as_deref())])?;
    let read_start = |path: &Path| files::read_model(path, TreesArgs::default(), output);
    let start = args.init_model.as_deref().map(read_start).transpose()?;
    if let (Some(model), Some(path)) = (&start, &args.init_model) {
        files::trees_of(model, path, "train --init-model")?;
        take_absent(&mut spec, model, path)?;
    }
    let params = spec.check()?;
    warn_without_effect(&params, args, output);
    let (mut keeper, found) = Keeper::open(args, output)?.unzip();
    let found = found.flatten();

    let inputs =
        Inputs { pairs: args.pairs.as_deref(), layout, absent: params.reading().absent, start: start.as_ref(), output };
    let ReadData { data, report: data_report } = inputs.training_data(&data_paths)?;
    let valid_data = inputs.valid_data(&valid_paths, &data)?;
    let names: Vec<String> = valid_paths.iter().map(|paths| paths.place().display().to_string()).collect();
    let valid: Vec<ValidSet<'_>> =
        names.iter().zip(&valid_data).map(|(name, read)| ValidSet { name, data: &read.data }).collect();
    output.phase("other");
    let data_path = data_paths.place();
    tell_data(&data_paths, &inputs.read_options(), &data, &valid, output);
    let read_sets = std::iter::once((data_path, &data_report))
        .chain(valid_paths.iter().map(DataPaths::place).zip(valid_data.iter().map(|read| &read.report)));
    reading::tell_all(&read_sets.collect::<Vec<_>>(), output);
    let objective = params.objective().objective;
    if !data.pairs().is_empty() && !objective.takes_pairs() {
        output.note(&format!(
            "objective {} ignores the pairs of the data; use ranknet or hinge to learn from them",
            objective.render()
        ));
    }

    let mut tracer = Tracer::open(args, out, &paths, &data, params.boosting())?;
    let first_tree = found.as_ref().map(|found| found.checkpoint.tree());
    let mut watch = Watch::new(output, first_tree.unwrap_or(0), &params);
    let mut observer = WatchAndSave { watch: &mut watch, keeper: keeper.as_mut() };
    let (checkpoint_path, checkpoint) = found.map(|found| (found.path, found.checkpoint)).unzip();
    let run = Training::new(&params, &data).valid(&valid).start(&start).from_checkpoint(checkpoint);
    let mut observer = Traced { tracer: &mut tracer, observer: &mut observer };
    let trained = on_threads_for(&data, || run.run(&mut observer))?;
    watch.finish();
    let sources =
        Sources { data: data_path, checkpoint: checkpoint_path.as_deref(), start: args.init_model.as_deref() };
    let trained = trained.map_err(|error| sources.placed(error))?;
    let is_interrupted = trained.stopped == StopReason::Interrupted;
    if is_interrupted && trained.no_trees.is_some() && args.init_model.is_none() {
        let message = "interrupted before the first tree; no model was written";
        return Err(watch.interrupted(Some(message)).into());
    }
    check_learnt(&trained, &sources, output)?;
    output.write_text(out, FileKind::Model, &trained.model.to_json())?;
    let mut others = tracer.write(output)?;
    if let Some(path) = &args.history {
        output.write_text(path, FileKind::History, &history::to_csv(&trained.history))?;
        others.push(path.clone());
    }
    let mut report = Report {
        others,
        params: &params,
        trained: &trained,
        out,
        total: output.elapsed(),
        first_tree,
        keeper: keeper.as_ref(),
        data: &data_report,
        valid_data: valid_data.iter().map(|read| &read.report).collect(),
    };
    if args.report.is_wanted() {
        let page = TrainingPage {
            params: &params,
            trained: &trained,
            model: ModelFacts::new(files::shown(out), &trained.model),
            data: facts(data_path, &data),
            valid: valid_paths.iter().zip(&valid_data).map(|(paths, read)| facts(paths.place(), &read.data)).collect(),
        };
        report.others.extend(args.report.write(&page.page(), output)?);
    }
    let text = if output.is_quiet() { report.values_text() } else { report.text() };
    report.times().into_iter().for_each(|(phase, time)| output.add_time(phase, time));
    output.summary(out, &text, report.json())?;
    if is_interrupted { Err(watch.interrupted(None).into()) } else { Ok(()) }
}

/// Checks that there is a tree; with a start model, only says so if none was added.
fn check_learnt(trained: &Trained, sources: &Sources<'_>, output: Output) -> anyhow::Result<()> {
    let Some(reason) = &trained.no_trees else { return Ok(()) };
    if let Some(start) = sources.start {
        output.note(&format!("no tree was added to those of {}: {reason}", start.display()));
        return Ok(());
    }
    let message = format!("nothing was learnt, so no model was written: {reason}");
    Err(if matches!(reason, NoTrees::Limits { .. }) { user(message) } else { user_at(sources.data, message) })
}

/// What a page says of a dataset.
fn facts(place: &Path, data: &Documents) -> Facts {
    Facts { place: files::shown(place), n_queries: data.n_queries(), data: Some(DataFacts::new(data)) }
}

/// Calls `train` on the threads of the command, or on one thread if the data is small.
fn on_threads_for<T: Send>(data: &Documents, train: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
    if is_worth_threads(data.n_rows(), data.n_features()) || rayon::current_num_threads() == 1 {
        return Ok(train());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    Ok(pool.context("cannot start a thread")?.install(train))
}

/// The training data and the validation sets.
fn find_data(args: &Train) -> anyhow::Result<(DataPaths, Vec<DataPaths>)> {
    let (mut data, mut valid) = (args.data.clone(), args.valid.clone());
    if data.is_empty() {
        let missing = || user("no training data; put it before the options: rankwise train DATA --out MODEL");
        data.push(valid.give_back().ok_or_else(missing)?);
    }
    let valid = valid.0.iter().map(|typed| DataPaths::find(typed)).collect::<anyhow::Result<Vec<_>>>()?;
    check_sets_differ(&valid)?;
    Ok((DataPaths::find(&data)?, valid))
}

/// Rejects a validation set that is given twice: its metrics would be reported twice under one name.
fn check_sets_differ(sets: &[DataPaths]) -> anyhow::Result<()> {
    let mut known = HashSet::new();
    let path = |set: &DataPaths| set.place().canonicalize().unwrap_or_else(|_| set.place().into());
    match sets.iter().find(|set| !known.insert(path(set))) {
        Some(set) => Err(user_at(set.place(), "this validation set is given twice with --valid; remove one")),
        None => Ok(()),
    }
}

/// Data is read as for the start model, unless set otherwise.
fn take_absent(spec: &mut TrainSpec, model: &Model, path: &Path) -> anyhow::Result<()> {
    let wanted = files::absent_of(model);
    let typed = spec.reading.absent;
    if typed != TrainSpec::default().reading.absent && typed != wanted {
        let wanted = match wanted {
            Absent::Missing => "missing values",
            Absent::Zero => "0",
        };
        let typed = typed.render();
        let message = format!(
            "parameter 'absent': the start model {} treats absent features as {wanted}, but absent={typed} is set; remove \
             that setting",
            files::shown(path)
        );
        return Err(user(message));
    }
    spec.reading.absent = wanted;
    Ok(())
}

/// The data and the start model of a run.
struct Sources<'a> {
    data: &'a Path,
    checkpoint: Option<&'a Path>,
    start: Option<&'a Path>,
}

impl Sources<'_> {
    /// Adds the name of the offending file to an error.
    fn placed(&self, error: TrainError) -> anyhow::Error {
        let path = match error {
            TrainError::Valid { .. } | TrainError::NothingToMeasure { .. } => return error.into(),
            _ if error.is_about_settings() => return error.into(),
            TrainError::Checkpoint(_) => self.checkpoint.unwrap_or(self.data),
            TrainError::Start(_) => self.start.unwrap_or(self.data),
            _ => self.data,
        };
        user_at(path, error.to_string())
    }
}

fn tell_data(paths: &DataPaths, options: &ReadOptions, data: &LoadedData, valid: &[ValidSet<'_>], output: Output) {
    if output.hides_warnings() {
        return;
    }
    output.remark(&format!("{}: {}", files::shown(paths.place()), text::documents(data)));
    files::warn_of(paths, options, &data.remarks(), output);
    for set in valid {
        output.remark(&format!("{}: {}", set.name, text::documents(set.data)));
    }
}

/// Warns of parameters without effect.
fn warn_without_effect(params: &TrainParams, args: &Train, output: Output) {
    for parameter in params.without_effect() {
        output.warn(&parameter.to_string());
    }
    if args.valid.0.is_empty() && params.boosting().metric != TrainSpec::default().boosting.metric {
        output.warn("the metric has no effect without a validation set; add --valid DATA");
    }
}

/// Lists all parameters, or those that match a name or word.
fn help_params(sought: &str, output: Output) -> anyhow::Result<()> {
    let groups = rankwise::help::find_parameters(sought);
    if groups.is_empty() {
        if let Err(problem) = options::check_parameter(sought) {
            return Err(user(format!("--help-params {sought}: {problem}")));
        }
        let near = rankwise::help::nearest_parameter(sought);
        let advice = near.map_or_else(String::new, |name| format!("did you mean {name}? "));
        return Err(user(format!(
            "--help-params {sought}: unknown parameter; {advice}`--help-params` without a name \
                                 lists all"
        )));
    }
    let json = groups.iter().flat_map(|(title, table)| {
        table.iter().map(move |info| {
            json!({
                "name": info.name, "group": title, "aliases": info.aliases, "kind": info.kind,
                "range": info.range.to_string(), "default": info.default, "help": info.help,
            })
        })
    });
    let json = json!({ "parameters": json.collect::<Vec<_>>() });
    output.result(&rankwise::help::parameters_text(&groups), json)
}
