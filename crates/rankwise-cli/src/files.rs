//! Reading and writing what the commands share.

use std::path::Path;

use rankwise::ModelFile as _;
use rankwise::data::{Absent, Documents, LoadedData, Remark};
use rankwise::formats::Source;
use rankwise::io::{IoError, ReadData, ReadOptions, read_bytes, write_atomically};
use rankwise::model::{AbsentFeature, Model, Precision, TreeEnsemble};

use crate::data_args::DataArgs;
use crate::data_paths::DataPaths;
use crate::failure::user;
use crate::output::Output;

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
    (start.trim_ascii_start().first() == Some(&b'{') || source != Source::Native).then_some(source)
}

/// Reads a model file, ours or another program's.
pub(crate) fn read_model(path: &Path) -> anyhow::Result<Model> {
    Ok(Model::load(path)?)
}

/// The trees of a model, for what works only with them.
pub(crate) fn trees_of<'a>(model: &'a Model, path: &Path, what: &str) -> anyhow::Result<&'a TreeEnsemble> {
    model.tree_ensemble().map_err(|error| user(format!("{}: {error}; `{what}` needs a model of trees", shown(path))))
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
        let place = path.display();
        return user(format!("{place}: this looks like a model, not like ranking data; check the order of the files"));
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
    Ok(ReadOptions {
        is_label_optional: labels == Labels::Optional,
        features: Some(model.named_features()).filter(|names| !names.is_empty()),
        keeps_f64: model.precision() == Precision::F64,
        ..typed.options(absent_of(model))?
    })
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
    let place = shown(path);
    Err(user(format!("{place}: its columns have names, but {known}, or name the columns f0, f1, ... by their numbers")))
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

/// Tells that a model and its data have nothing in common.
pub(crate) fn warn_unknown_features(model: &Model, data: &Documents, path: &Path, output: Output) {
    let n_features = model.features().len();
    if n_features > 0 && model.features().iter().all(|feature| data.feature_ids().binary_search(feature).is_err()) {
        output.warn(&format!(
            "{}: none of the {n_features} features that the model asks for is in the data, so all documents get the same \
             score; check how the features are numbered",
            shown(path)
        ));
    }
}

/// Writes text in one piece.
pub(crate) fn write_text(path: &Path, text: &str) -> anyhow::Result<()> {
    Ok(write_atomically(path, |out| out.write_all(text.as_bytes()))?)
}

/// Refuses, before the work begins, an output that cannot be written or that would replace one of the inputs.
pub(crate) fn check_output(path: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    rankwise::io::check_writable(path)?;
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    // A device may be both.
    if target.is_file() && inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == target)) {
        let place = path.display();
        return Err(user(format!("{place}: cannot write: this file is also an input; choose another name")));
    }
    Ok(())
}

/// The two sides of what was typed after --set.
pub(crate) fn key_and_value(setting: &str) -> anyhow::Result<(&str, &str)> {
    setting.split_once('=').ok_or_else(|| user(format!("--set {setting}: it has no value; write KEY=VALUE")))
}

/// Refuses to read standard input twice.
pub(crate) fn check_inputs(inputs: &[&Path]) -> anyhow::Result<()> {
    if inputs.iter().filter(|path| is_stream(path)).count() > 1 {
        return Err(user("-: standard input can be read once only; name a file for the other input"));
    }
    Ok(())
}
