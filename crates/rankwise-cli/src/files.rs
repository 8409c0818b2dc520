//! Reading and writing what the commands share.

use std::path::Path;

use rankwise::data::{Absent, Documents, LoadedData, Remark};
use rankwise::formats::{ImportedModel, ImportedTrees, Source, is_unread_form};
use rankwise::io::{IoError, ReadData, ReadOptions, read_bytes, side_file_paths};
use rankwise::model::{AbsentFeature, Model, TreeEnsemble};
use rankwise::params::normalise;
use rankwise::train::TrainSpec;
use rankwise::{ModelFile as _, WantedFeatures};

use crate::data_args::DataArgs;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at, with_flags};
use crate::output::Output;
use crate::text;
use crate::trees_args::{TreeChoice, TreesArgs};

/// Enough to see how a file begins: RankLib's have some lines of remarks first.
const START_BYTES: u64 = 4096;

/// Whether a path means standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A path of input, for messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stream(path) { "<stdin>".into() } else { path.display().to_string() }
}

/// The first bytes of a file tell whether it is a model, and whose. Only of a file: what is read from a pipe is gone.
pub(crate) fn model_source(path: &Path) -> Option<Source> {
    let start = if path.is_file() { read_bytes(path, START_BYTES).unwrap_or_default() } else { Vec::new() };
    let source = Source::of(&start);
    let is_model =
        start.trim_ascii_start().first() == Some(&b'{') || source != Source::Native || is_unread_form(&start);
    is_model.then_some(source)
}

/// Reads a model file, ours or another program's, with the trees that were asked for.
pub(crate) fn read_model(path: &Path, trees: TreesArgs, output: Output) -> anyhow::Result<Model> {
    let choice = trees.choice();
    let wanted = if choice.is_none() { ImportedTrees::UpToBest } else { ImportedTrees::All };
    let ImportedModel { model, best_iteration } = Model::load_with(path, wanted)?;
    if let (Some(best), None) = (best_iteration, choice) {
        output.note(&format!(
            "{}: using {} of {}, up to best_iteration {}, as XGBRanker.predict does; `--trees all` of predict, eval, compare \
             and convert uses all, as Booster.predict does",
            shown(path),
            best.n_trees,
            text::count(best.all_trees, "tree"),
            best.iteration
        ));
    }
    if let Some(TreeChoice::First(n_rounds)) = choice {
        let ensemble = trees_of(&model, path, "--trees")?.first_rounds(n_rounds);
        return Ok(model.with_ranker(ensemble)?);
    }
    Ok(model)
}

/// The trees of a model, for what works only with them.
pub(crate) fn trees_of<'a>(model: &'a Model, path: &Path, what: &str) -> anyhow::Result<&'a TreeEnsemble> {
    model.tree_ensemble().map_err(|error| user_at(path, format!("{error}; `{what}` needs a model of trees")))
}

/// Reads ranking data.
pub(crate) fn read_data(data: &DataPaths, options: &ReadOptions) -> anyhow::Result<ReadData> {
    rankwise::io::read_data(data.files(), options).map_err(|error| not_read(data, error))
}

/// Reads ranking data, or a cache of binned data.
pub(crate) fn read_training_data(data: &DataPaths, options: &ReadOptions) -> anyhow::Result<ReadData<LoadedData>> {
    rankwise::io::read_data_to_train(data.files(), options).map_err(|error| not_read(data, error))
}

fn not_read(data: &DataPaths, error: IoError) -> anyhow::Error {
    if let Some(path) = data.inputs().find(|path| model_source(path).is_some()) {
        return user_at(path, "this looks like a model, not like ranking data; check the order of the files");
    }
    error.into()
}

/// What a feature that is left out means to a model.
pub(crate) fn absent_of(model: &Model) -> Absent {
    match model.absent() {
        AbsentFeature::Missing => Absent::Missing,
        AbsentFeature::Zero => Absent::Zero,
    }
}

/// How data is read for a model: what a feature left out of a line means is what it meant in training, columns with names are
/// those that the model asks for, and values are as precise as the model compares them.
pub(crate) fn options_for(model: &Model, typed: &DataArgs, labels: Labels) -> anyhow::Result<ReadOptions> {
    let mut options = typed.options(absent_of(model))?;
    if model.feature_names().is_empty() {
        // Names say nothing to a model that knows numbers.
        options.layout.feature_names = None;
    }
    options.is_label_optional = labels == Labels::Optional;
    options.features = Some(model.named_features()).filter(|names| !names.is_empty());
    options.is_named_by_lightgbm = rankwise::is_named_by_lightgbm(model);
    options.keep = rankwise::keep_for(model);
    Ok(options)
}

/// Reads data for a model; see [`options_for`].
pub(crate) fn read_data_for(
    model: &Model,
    paths: &DataPaths,
    typed: &DataArgs,
    labels: Labels,
) -> anyhow::Result<ReadData> {
    read_data_with(model, paths, &options_for(model, typed, labels)?)
}

/// Reads data for a model, with options that were made for it.
pub(crate) fn read_data_with(model: &Model, paths: &DataPaths, options: &ReadOptions) -> anyhow::Result<ReadData> {
    let read = read_data(paths, options)?;
    if model.feature_names().is_empty() && !model.features().is_empty() {
        check_unnamed(&read.data, paths.place(), "the model knows features by number; train it on data with names")?;
    }
    Ok(read)
}

/// Refuses columns with names where features are known by number: to number them by their places would be a guess.
pub(crate) fn check_unnamed(data: &Documents, path: &Path, known: &str) -> anyhow::Result<()> {
    if data.feature_names().is_empty() {
        return Ok(());
    }
    let advice = "or name the columns f0, f1, ... by their numbers";
    Err(user_at(path, format!("its columns have names, but {known}, {advice}")))
}

/// Whether a command needs the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    Needed,
    Optional,
}

/// Tells what is suspicious in data that a model is to be trained on.
pub(crate) fn warn_of(path: &Path, remarks: &[Remark], output: Output) {
    for remark in remarks {
        output.warn(&format!("{}: {remark}", shown(path)));
    }
}

/// Tells where the features of data do not look like those that a model asks for.
pub(crate) fn warn_unknown_features(model: &Model, data: &Documents, path: &Path, output: Output) {
    warn_features(WantedFeatures::of_model(model), data, path, output);
}

/// Tells where the features of data do not look like those that are wanted.
pub(crate) fn warn_features(wanted: WantedFeatures<'_>, data: &Documents, path: &Path, output: Output) {
    for remark in rankwise::match_features(wanted, data) {
        output.warn(&with_flags(&format!("{}: {remark}", shown(path))));
    }
}

/// Tells that a model is measured on the data it was trained on.
pub(crate) fn warn_training_data(model: &Model, data: &Documents, paths: &DataPaths, typed: &DataArgs, output: Output) {
    let on = model.trained_on();
    let counts = (data.n_rows() as u64, data.n_queries() as u64);
    if on.fingerprint.is_empty() || counts != (on.rows, on.queries) {
        return;
    }
    let is_same = |data: &Documents| format!("{:032x}", data.fingerprint()) == on.fingerprint;
    // Of a table only the columns of the model were read, which is not all that the fingerprint is about.
    let is_whole = || {
        let options = typed.options(absent_of(model)).ok()?;
        if is_stream(paths.place()) || model.feature_names().is_empty() {
            return None;
        }
        Some(read_data(paths, &options).ok()?.data)
    };
    if is_same(data) || is_whole().is_some_and(|whole| is_same(&whole)) {
        let place = shown(paths.place());
        output.warn(&format!(
            "{place}: the model was trained on this data, so its values say little about other queries; measure on other data"
        ));
    }
}

/// Refuses, before the work begins, an output that cannot be written or that would replace one of the inputs.
pub(crate) fn check_output(path: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    rankwise::io::check_writable(path)?;
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let is_target = |input: &Path| input.canonicalize().is_ok_and(|input| input == target);
    let is_read = |input: &&Path| is_target(input) || side_file_paths(input).iter().any(|side| is_target(side));
    // A device may be both.
    if target.is_file() && inputs.iter().any(is_read) {
        return Err(user_at(path, "cannot write: this file is also an input; choose another name"));
    }
    Ok(())
}

/// The two sides of what was typed after --set.
pub(crate) fn key_and_value(setting: &str) -> anyhow::Result<(&str, &str)> {
    setting.split_once('=').ok_or_else(|| user(format!("--set {setting}: it has no value; write KEY=VALUE")))
}

/// Refuses a parameter that is typed both after --set and as an option of its own: one of them would be lost.
pub(crate) fn check_given_once<'a>(
    settings: &[(&str, &str)],
    options: impl IntoIterator<Item = &'a str>,
) -> anyhow::Result<()> {
    let tables = TrainSpec::tables();
    for option in options {
        let infos = tables.iter().flat_map(|(_, table)| table);
        let Some(info) = infos.into_iter().find(|info| info.name == option) else { continue };
        if let Some((typed, _)) = settings.iter().find(|(typed, _)| info.answers_to(&normalise(typed))) {
            let flag = option.replace('_', "-");
            return Err(user(format!("--{flag} and --set {typed}= say the same parameter twice; keep one of them")));
        }
    }
    Ok(())
}

/// Refuses to read standard input twice.
pub(crate) fn check_inputs(inputs: &[&Path]) -> anyhow::Result<()> {
    if inputs.iter().filter(|path| is_stream(path)).count() > 1 {
        return Err(user("-: standard input can be read once only; name a file for the other input"));
    }
    Ok(())
}
