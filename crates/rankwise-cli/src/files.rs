//! Reading and writing files, shared by the commands.

use std::path::{Path, PathBuf};

use rankwise::data::{Absent, Documents, LoadedData, Remark};
use rankwise::formats::{ImportedModel, ImportedTrees, Source, is_unread_form};
use rankwise::io::{FeatureOwner, IoError, ReadData, ReadOptions, read_bytes, side_file_paths};
use rankwise::model::{AbsentFeature, Model, TreeEnsemble};
use rankwise::params::normalise;
use rankwise::train::TrainSpec;
use rankwise::{FeatureRemark, ModelFile as _, WantedFeatures};

use crate::data_args::DataArgs;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at, with_flags};
use crate::output::Output;
use crate::text;
use crate::trees_args::{TreeChoice, TreesArgs};

/// Enough bytes to detect a format: RankLib files start with some comment lines.
const START_BYTES: u64 = 4096;

/// Whether a path means standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An input path, for messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stream(path) { "<stdin>".into() } else { path.display().to_string() }
}

/// Detects from the first bytes of a file whether it is a model, and of which program. Not for pipes, which can be read only
/// once.
pub(crate) fn model_source(path: &Path) -> Option<Source> {
    let start = if path.is_file() { read_bytes(path, START_BYTES).unwrap_or_default() } else { Vec::new() };
    let source = Source::of(&start);
    let is_model =
        start.trim_ascii_start().first() == Some(&b'{') || source != Source::Native || is_unread_form(&start);
    is_model.then_some(source)
}

/// Reads a model file of Rankwise or another program, with the selected trees.
pub(crate) fn read_model(path: &Path, trees: TreesArgs, output: Output) -> anyhow::Result<Model> {
    let choice = trees.choice();
    let wanted = if choice.is_none() { ImportedTrees::UpToBest } else { ImportedTrees::All };
    let ImportedModel { model, best_iteration } = Model::load_with(path, wanted)?;
    if let (Some(best), None) = (best_iteration, choice) {
        output.note(&format!(
            "{}: using {} of {}, up to best_iteration {}, as XGBRanker.predict does; to use all, as Booster.predict \
             does, add `--trees all` to predict, eval, compare or convert",
            shown(path),
            best.n_trees,
            text::count(best.all_trees, "tree"),
            best.iteration
        ));
    }
    if let Some(TreeChoice::First(n_rounds)) = choice {
        let ensemble = trees_of(&model, path, "--trees")?;
        let all_rounds = ensemble.n_trees() / ensemble.n_outputs();
        if n_rounds > all_rounds {
            let unit = if ensemble.n_outputs() > 1 { "round" } else { "tree" };
            let all = text::count(all_rounds, unit);
            output.warn(&format!("{}: the model has only {all}; --trees {n_rounds} uses all of them", shown(path)));
        }
        let ensemble = ensemble.first_rounds(n_rounds);
        return Ok(model.with_ranker(ensemble)?);
    }
    Ok(model)
}

/// [`read_model`], where the model and the data may be confused.
pub(crate) fn read_model_for(data: &DataPaths, path: &Path, trees: TreesArgs, output: Output) -> anyhow::Result<Model> {
    read_model(path, trees, output).map_err(|error| {
        let is_data = path.is_file() && model_source(path).is_none();
        match data.inputs().find(|other| is_data && model_source(other).is_some()) {
            Some(model) => user_at(path, format!("not a model, but {} is one; swap the two", shown(model))),
            None => error,
        }
    })
}

/// The trees of a model, for commands that need them.
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
        let advice = if data.place().is_dir() {
            "; name the data files instead of their folder, or move the model"
        } else if data.files().len() > 1 {
            "; leave it out"
        } else {
            ""
        };
        return user_at(path, format!("this is a model, but ranking data is expected here{advice}"));
    }
    error.into()
}

/// How a model treats absent features.
pub(crate) fn absent_of(model: &Model) -> Absent {
    match model.absent() {
        AbsentFeature::Missing => Absent::Missing,
        AbsentFeature::Zero => Absent::Zero,
    }
}

/// How data is read for a model: absent features as in training, named columns by the model's feature names, and values in the
/// precision that the model uses.
pub(crate) fn options_for(model: &Model, typed: &DataArgs, labels: Labels) -> anyhow::Result<ReadOptions> {
    let mut options = typed.options(absent_of(model))?;
    if model.feature_names().is_empty() {
        // A model without names cannot use column names.
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

/// Reads data for a model, with the options of [`options_for`].
pub(crate) fn read_data_with(model: &Model, paths: &DataPaths, options: &ReadOptions) -> anyhow::Result<ReadData> {
    let read = read_data(paths, options)?;
    if model.feature_names().is_empty() && !model.features().is_empty() {
        check_unnamed(
            &read.data,
            paths.place(),
            "the model identifies features by number; train it on data with names",
            model.features(),
        )?;
    }
    Ok(read)
}

/// Rejects named columns if features are identified by number: numbering them by position would be a guess.
pub(crate) fn check_unnamed(data: &Documents, path: &Path, known: &str, ids: &[u32]) -> anyhow::Result<()> {
    if data.feature_names().is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = data.feature_names().iter().map(|(_, name)| name.as_str()).collect();
    if let Some((found, others)) = rankwise::io::names_among_ids(&names) {
        let (subject, them) = match &others[..] {
            [one] => (format!("column \"{one}\" has a name"), "it"),
            [first, rest @ ..] => (format!("column \"{first}\" and {} more have names", rest.len()), "them"),
            [] => unreachable!("there is at least one"),
        };
        let lacking = ids.iter().find(|id| !found.contains(id));
        let advice = match lacking {
            Some(id) => format!("rename {them} after the features, such as f{id} for feature {id}"),
            None => format!("rename {them} after the features, or set --ignore-columns {}", others.join(",")),
        };
        let known = known.split(';').next().unwrap_or(known);
        return Err(user_at(path, format!("{known}, but {subject}; {advice}")));
    }
    let advice =
        format!("or name each column after its feature id in the training data, {}", rankwise::column_names(ids));
    Err(user_at(path, format!("its columns have names, but {known}, {advice}")))
}

/// Rejects data without feature names for a model with names, if the result is a new model: its features keep their names, so
/// they must not be guessed.
pub(crate) fn check_named(model: &Model, data: &Documents, path: &Path, owner: FeatureOwner) -> anyhow::Result<()> {
    if model.feature_names().is_empty() || !data.feature_names().is_empty() {
        return Ok(());
    }
    let message = format!(
        "the data has no feature names, but {owner} has; name the features with --feature-names, or use a table with column names"
    );
    Err(user_at(path, message))
}

/// Whether a command needs the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    Needed,
    Optional,
}

/// Warns of suspicious training data.
pub(crate) fn warn_of(paths: &DataPaths, options: &ReadOptions, remarks: &[Remark], output: Output) {
    for remark in remarks {
        let text = remark.in_lines(|row| line_of_row(paths, options, row));
        output.warn(&format!("{}: {text}", shown(paths.place())));
    }
}

/// The line in which a row begins, if the data is a single text file; both count from 1.
pub(crate) fn line_of_row(paths: &DataPaths, options: &ReadOptions, row: usize) -> Option<u64> {
    match paths.files() {
        [file] => rankwise::io::line_of_row(file, options, row),
        _ => None,
    }
}

/// Warns if the features of data do not match those of a model.
pub(crate) fn warn_unknown_features(model: &Model, data: &Documents, path: &Path, read: &DataArgs, output: Output) {
    for remark in unknown_features(model, data, read) {
        output.warn(&with_flags(&format!("{}: {remark}", shown(path))));
    }
}

/// How the features of data differ from those of a model.
pub(crate) fn unknown_features(model: &Model, data: &Documents, read: &DataArgs) -> Vec<FeatureRemark> {
    // An invalid option is an error before the data is read.
    let offset = read.options(absent_of(model)).map_or(0, |options| options.layout.feature_offset);
    rankwise::match_features(WantedFeatures::of_model(model), data, offset)
}

/// [`warn_unknown_features`] for the models of one command, each with its file.
pub(crate) fn warn_of_models(models: Vec<(PathBuf, Vec<FeatureRemark>)>, path: &Path, output: Output) {
    let (models, mut remarks): (Vec<PathBuf>, Vec<Vec<FeatureRemark>>) = models.into_iter().unzip();
    rankwise::share_offset(&mut remarks);
    for (model, remarks) in models.iter().zip(remarks) {
        for remark in remarks {
            let text = if models.len() == 1 { remark.to_string() } else { remark.about(&shown(model)) };
            output.warn(&with_flags(&format!("{}: {text}", shown(path))));
        }
    }
}

/// Warns if the features of data do not match the wanted ones.
pub(crate) fn warn_features(wanted: WantedFeatures<'_>, data: &Documents, path: &Path, offset: i32, output: Output) {
    for remark in rankwise::match_features(wanted, data, offset) {
        output.warn(&with_flags(&format!("{}: {remark}", shown(path))));
    }
}

/// Warns if a model is evaluated on its training data.
pub(crate) fn warn_training_data(
    (model, model_path): (&Model, &Path),
    data: &Documents,
    paths: &DataPaths,
    typed: &DataArgs,
    output: Output,
) {
    let on = model.trained_on();
    let counts = (data.n_rows() as u64, data.n_queries() as u64);
    if on.fingerprint.is_empty() || counts != (on.rows, on.queries) {
        return;
    }
    let is_same = |data: &Documents| format!("{:032x}", data.fingerprint()) == on.fingerprint;
    // Only the model's columns of a table were read, but the fingerprint covers all.
    let is_whole = || {
        let options = typed.options(absent_of(model)).ok()?;
        if is_stream(paths.place()) || model.feature_names().is_empty() {
            return None;
        }
        Some(read_data(paths, &options).ok()?.data)
    };
    if is_same(data) || is_whole().is_some_and(|whole| is_same(&whole)) {
        let (place, model) = (shown(paths.place()), shown(model_path));
        output.warn(&format!(
            "{place}: {model} was trained on this data, so its metrics are too optimistic; evaluate on other data"
        ));
    }
}

/// Checks before the work starts that an output can be written and does not replace an input.
pub(crate) fn check_output(path: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    rankwise::io::check_writable(path)?;
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let is_target = |input: &Path| input.canonicalize().is_ok_and(|input| input == target);
    let is_read = |input: &&Path| is_target(input) || side_file_paths(input).iter().any(|side| is_target(side));
    // A device may be both.
    if target.is_file() && inputs.iter().any(is_read) {
        return Err(user_at(path, "cannot write: this file is also an input; use another name"));
    }
    Ok(())
}

/// Splits KEY=VALUE of --set.
pub(crate) fn key_and_value(setting: &str) -> anyhow::Result<(&str, &str)> {
    match setting.split_once('=') {
        Some((key, _)) if key.trim().is_empty() => Err(user(format!("--set {setting}: no name; write KEY=VALUE"))),
        Some(pair) => Ok(pair),
        None => Err(user(format!("--set {setting}: no value; write KEY=VALUE"))),
    }
}

/// Rejects a parameter that is set both with --set and with its own option.
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
            return Err(user(format!("--{flag} and --set {typed}= set the same parameter; keep one of them")));
        }
    }
    Ok(())
}

/// Rejects standard input as two inputs.
pub(crate) fn check_inputs(inputs: &[&Path]) -> anyhow::Result<()> {
    if inputs.iter().filter(|path| is_stream(path)).count() > 1 {
        return Err(user("-: standard input can be read only once; use a file for the other input"));
    }
    Ok(())
}
