//! `rankwise train`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rankwise::data::{Dataset, Documents, LoadedData};
use rankwise::model::{Model, TreeEnsemble};
use rankwise::params::ParamValue as _;
use rankwise::train::{StopReason, TrainError, TrainParams, TrainSpec, Trained, Training, ValidSet};
use serde_json::json;

use crate::args::{Global, Train};
use crate::checkpoint::{Keeper, WatchAndSave};
use crate::data_args::DataArgs;
use crate::failure::user;
use crate::output::Output;
use crate::progress::Watch;
use crate::trace::{Traced, Tracer};
use crate::{config, files, memory, text};

pub(crate) fn run(args: &Train, global: Global, output: Output) -> anyhow::Result<()> {
    if args.help_params {
        return output.result(&rankwise::help::parameters_text(), &rankwise_help_json());
    }
    let started = Instant::now();
    let (Some(data_path), Some(out)) = (&args.data, &args.out) else {
        return Err(user("name the training data and, with --out, the model to write"));
    };
    let (mut spec, read) = spec_of(args, global)?;
    output.check_file(out, "model needs")?;
    let inputs: Vec<&Path> = args
        .valid
        .iter()
        .chain([data_path])
        .chain(&args.config)
        .chain(&args.pairs)
        .chain(&args.init_model)
        .map(PathBuf::as_path)
        .collect();
    files::check_inputs(&inputs)?;
    files::check_output(out, &inputs)?;
    let start = args.init_model.as_deref().map(files::read_model).transpose()?;
    if let (Some(model), Some(path)) = (&start, &args.init_model) {
        files::trees_of(model, path, "train --init-model")?;
        take_absent(&mut spec, model, path)?;
    }
    let params = spec.check()?;
    let (mut keeper, found) = Keeper::open(args, output)?.unzip();
    let found = found.flatten();

    let mut options = read.options(params.binning().absent);
    if let Some(model) = &start {
        options.features = Some(model.named_features()).filter(|names| !names.is_empty());
        options.takes_more_features = true;
    }
    options.pairs.clone_from(&args.pairs);
    // Pairs say all that is needed.
    options.columns.is_label_optional = args.pairs.is_some();
    // A model to start from is asked about values.
    let data = if start.is_some() {
        LoadedData::Values(files::read_data(data_path, &options)?)
    } else {
        files::read_training_data(data_path, &options)?
    };
    if let Some(model) = start.as_ref().filter(|model| !model.features().is_empty()) {
        if model.feature_names().is_empty() {
            files::check_unnamed(
                &data,
                data_path,
                "the model to start from knows features by number; give both names",
            )?;
        }
        files::warn_unknown_features(model, &data, data_path, output);
    }
    (options.takes_more_features, options.pairs) = (false, None);
    // Validation sets have the columns of the training data, wherever they stand.
    options.features = Some(data.feature_names().to_vec()).filter(|names| !names.is_empty());
    let valid_data =
        args.valid.iter().map(|path| files::read_data(path, &options)).collect::<anyhow::Result<Vec<Dataset>>>()?;
    if data.feature_names().is_empty() && data.n_features() > 0 {
        for (path, set) in args.valid.iter().zip(&valid_data) {
            files::check_unnamed(set, path, "the training data has none; give both names")?;
        }
    }
    let names: Vec<String> = args.valid.iter().map(|path| path.display().to_string()).collect();
    let valid: Vec<ValidSet<'_>> = names.iter().zip(&valid_data).map(|(name, data)| ValidSet { name, data }).collect();
    let load = started.elapsed();
    tell_data(data_path, &data, &valid, output);
    let objective = params.objective().objective;
    if !data.pairs().is_empty() && !objective.takes_pairs() {
        output.remark(&format!(
            "note: objective {} learns from labels and does not look at the pairs; ranknet and hinge do",
            objective.render()
        ));
    }

    let mut tracer = Tracer::open(args, out, &data, params.boosting())?;
    let first_tree = found.as_ref().map(|found| found.checkpoint.tree());
    let mut watch = Watch::new(output, first_tree.unwrap_or(0), params.boosting().num_trees);
    let mut observer = WatchAndSave { watch: &mut watch, keeper: keeper.as_mut() };
    let (checkpoint_path, checkpoint) = found.map(|found| (found.path, found.checkpoint)).unzip();
    let trained = Training::new(&params, &data)
        .valid(&valid)
        .start(&start)
        .from_checkpoint(checkpoint)
        .run(&mut Traced { tracer: &mut tracer, observer: &mut observer });
    watch.finish();
    let trained =
        trained.map_err(|error| placed(error, data_path, (checkpoint_path.as_deref(), args.init_model.as_deref())))?;
    files::write_text(out, &trained.model.to_json())?;
    let traces = tracer.write()?;
    let report = Report {
        traces,
        ensemble: trained.model.tree_ensemble()?,
        params: &params,
        trained: &trained,
        out,
        load,
        total: started.elapsed(),
        first_tree,
        keeper: keeper.as_ref(),
    };
    output.summary(out, &report.text(), &report.json())
}

/// Data is read as the model to start from reads it, unless something else was typed.
fn take_absent(spec: &mut TrainSpec, model: &Model, path: &Path) -> anyhow::Result<()> {
    let wanted = files::absent_of(model);
    let typed = spec.binning.absent;
    if typed != TrainSpec::default().binning.absent && typed != wanted {
        let (path, wanted, typed) = (path.display(), wanted.render(), typed.render());
        return Err(user(format!(
            "{path}: features that are left out are {wanted} to this model, but absent={typed} was given; leave that out"
        )));
    }
    spec.binning.absent = wanted;
    Ok(())
}

/// Puts the name of the file to mend before what is wrong with it: the training data, the checkpoint or the model to start from.
fn placed(error: TrainError, data: &Path, (checkpoint, start): (Option<&Path>, Option<&Path>)) -> anyhow::Error {
    let path = match error {
        TrainError::Param(_) | TrainError::Valid { .. } | TrainError::NothingToMeasure { .. } => return error.into(),
        TrainError::Checkpoint(_) => checkpoint.unwrap_or(data),
        TrainError::Start(_) => start.unwrap_or(data),
        _ => data,
    };
    user(format!("{}: {error}", files::shown(path)))
}

fn tell_data(path: &Path, data: &LoadedData, valid: &[ValidSet<'_>], output: Output) {
    if output.is_quiet() {
        return;
    }
    output.remark(&format!("{}: {}", files::shown(path), describe(data)));
    files::warn_of(path, &data.remarks(), output);
    for set in valid {
        output.remark(&format!("{}: {}", set.name, describe(set.data)));
    }
}

/// What was typed: the file first, then --set, then the options that have names of their own.
fn spec_of(args: &Train, global: Global) -> anyhow::Result<(TrainSpec, DataArgs)> {
    let (mut spec, mut read) = (TrainSpec::default(), args.read.clone());
    if let Some(path) = &args.config {
        config::apply(path, &mut spec, &mut read)?;
    }
    let settings = args.settings.iter().map(|setting| files::key_and_value(setting));
    spec.set_all(settings.collect::<anyhow::Result<Vec<_>>>()?)?;
    for (name, value) in [("objective", &args.objective), ("metric", &args.metric)] {
        if let Some(value) = value {
            spec.set(name, value)?;
        }
    }
    if let Some(seed) = global.seed {
        spec.boosting.seed = seed;
    }
    args.rules.apply(&mut spec.rules)?;
    Ok((spec, read))
}

fn describe(data: &Documents) -> String {
    format!(
        "{}, {}, {}",
        text::count(data.n_rows(), "document"),
        text::count(data.n_queries(), "query"),
        text::count(data.n_features(), "feature")
    )
}

fn rankwise_help_json() -> serde_json::Value {
    let groups = TrainSpec::tables().into_iter().flat_map(|(title, table)| {
        table.into_iter().map(move |info| {
            json!({
                "name": info.name, "group": title, "aliases": info.aliases, "kind": info.kind,
                "range": info.range.to_string(), "default": info.default, "help": info.help,
            })
        })
    });
    json!({ "parameters": groups.collect::<Vec<_>>() })
}

struct Report<'a> {
    params: &'a TrainParams,
    trained: &'a Trained,
    ensemble: &'a TreeEnsemble,
    out: &'a Path,
    load: Duration,
    total: Duration,
    /// The trees of the checkpoint that the run began with.
    first_tree: Option<usize>,
    keeper: Option<&'a Keeper>,
    traces: Vec<PathBuf>,
}

impl Report<'_> {
    fn text(&self) -> String {
        let Trained { start_trees, trees_grown, values, stopped, .. } = self.trained;
        let n_kept = self.ensemble.n_trees() - start_trees;
        let why = match stopped {
            StopReason::Finished => "",
            StopReason::EarlyStopping => "; stopped early, since the metric rose no more",
            StopReason::NothingToLearn => "; stopped, since no split was worth making",
            StopReason::Interrupted => "; interrupted",
        };
        let kept = if n_kept < *trees_grown { format!(", kept the best {n_kept}") } else { String::new() };
        let seconds = self.total.as_secs_f64();
        let onto =
            if *start_trees > 0 { format!(" onto {}", text::count(*start_trees, "tree")) } else { String::new() };
        let mut out = format!("grew {}{onto}{kept} in {seconds:.1} s{why}\n", text::count(*trees_grown, "tree"));
        if let Some(outliers) = self.trained.outliers {
            let _ = writeln!(out, "left out {}", text::count(outliers, "outlier"));
        }
        for value in values {
            let _ = writeln!(out, "{}: {} {:.6}", value.set, value.metric, value.value);
        }
        if !values.is_empty() {
            let _ = writeln!(out, "rules: {}", self.params.rules().describe(&self.params.boosting().metric));
        }
        for path in std::iter::once(self.out).chain(self.traces.iter().map(PathBuf::as_path)) {
            let _ = writeln!(out, "wrote {}", path.display());
        }
        if *stopped == StopReason::Interrupted {
            let _ = writeln!(out, "{}", Keeper::advice(self.keeper));
        }
        out
    }

    fn json(&self) -> serde_json::Value {
        let Trained { values, phases, .. } = self.trained;
        let first_set = values.first().map(|first| first.set.clone());
        let metrics_of = |set: &str| -> serde_json::Map<String, serde_json::Value> {
            values
                .iter()
                .filter(|value| value.set == set)
                .map(|value| (value.metric.clone(), value.value.into()))
                .collect()
        };
        let mut sets: Vec<&str> = values.iter().map(|value| value.set.as_str()).collect();
        sets.dedup();
        let known = self.load + phases.total.saturating_sub(phases.other());
        json!({
            "model": self.out.display().to_string(),
            "traces": self.traces.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
            "trees": self.ensemble.n_trees(),
            "start_trees": self.trained.start_trees,
            "best_iteration": (self.ensemble.n_trees() - self.trained.start_trees) / self.ensemble.n_outputs(),
            "trees_grown": self.trained.trees_grown,
            "stopped": match self.trained.stopped {
                StopReason::Finished => "finished",
                StopReason::EarlyStopping => "early-stopping",
                StopReason::NothingToLearn => "nothing-to-learn",
                StopReason::Interrupted => "interrupted",
            },
            "outliers": self.trained.outliers,
            "resumed_from": self.first_tree,
            "valid": first_set.map(|set| metrics_of(&set)).unwrap_or_default(),
            "valid_sets": sets.iter().map(|set| json!({ "name": set, "metrics": metrics_of(set) })).collect::<Vec<_>>(),
            "convention": self.params.rules().entries(&self.params.boosting().metric).into_iter().collect::<std::collections::BTreeMap<_, _>>(),
            "seconds": {
                "load": self.load.as_secs_f64(),
                "bin": phases.bin.as_secs_f64(),
                "gradients": phases.gradients.as_secs_f64(),
                "histograms": phases.histograms.as_secs_f64(),
                "splits": phases.splits.as_secs_f64(),
                "partition": phases.partition.as_secs_f64(),
                "scores": phases.scores.as_secs_f64(),
                "validation": phases.validation.as_secs_f64(),
                "other": self.total.saturating_sub(known).as_secs_f64(),
                "total": self.total.as_secs_f64(),
            },
            "peak_memory_bytes": memory::peak_bytes(),
        })
    }
}
