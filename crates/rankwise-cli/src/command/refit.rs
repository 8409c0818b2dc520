//! `rankwise refit`

use std::path::Path;

use rankwise::formats::Source;
use rankwise::io::{FeatureOwner, ReadData};
use rankwise::model::Tree;
use rankwise::train::{Preset, TrainError, TrainSpec, refit};
use serde_json::json;

use crate::args::Global;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at};
use crate::output::Output;
use crate::record::FileKind;
use crate::refit_prune_args::Refit;
use crate::trees_args::TreesArgs;
use crate::{files, options, reading, text};

pub(crate) fn run(args: &Refit, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "refit", "write"]);
    output.check_file(&args.out, "model needs")?;
    let paths = DataPaths::find(&args.data)?;
    let inputs: Vec<&Path> = paths.inputs().chain([args.model.as_path()]).collect();
    files::check_inputs(&inputs)?;
    files::check_output(&args.out, &inputs)?;
    output.phase("load");
    let source = files::model_source(&args.model);
    let model = files::read_model_for(&paths, &args.model, TreesArgs::default(), output)?;
    let old_trees = files::trees_of(&model, &args.model, "refit")?;
    let is_foreign = source.is_some_and(|source| source != Source::Native);
    let mut spec = match &args.objective {
        None if is_foreign => {
            let message = "the model was trained by another program; set --objective, for example lambdamart";
            return Err(user_at(&args.model, message));
        }
        // Other programs regularise less than our defaults.
        Some(_) if is_foreign => TrainSpec::preset(Preset::Lightgbm),
        _ => TrainSpec::of_model(&model).map_err(|error| user_at(&args.model, error.to_string()))?,
    };
    let settings = args.settings.iter().map(|setting| files::key_and_value(setting));
    let settings = settings.collect::<anyhow::Result<Vec<_>>>()?;
    let named = [("objective", args.objective.is_some()), ("seed", global.seed.is_some())];
    files::check_given_once(&settings, named.into_iter().filter(|(_, is_typed)| *is_typed).map(|(name, _)| name))?;
    for (name, value) in settings {
        options::check_parameter(name).map_err(user)?;
        spec.set(name, value)?;
    }
    if let Some(objective) = &args.objective {
        spec.set("objective", objective)?;
    }
    if let Some(seed) = global.seed {
        spec.boosting.seed = seed;
    }
    let params = spec.check()?;
    let ReadData { data, report } = files::read_data_for(&model, &paths, &args.read, files::Labels::Needed)?;
    reading::tell(paths.place(), &report, output);
    files::check_named(&model, &data, paths.place(), FeatureOwner::Model)?;
    files::warn_unknown_features(&model, &data, paths.place(), &args.read, output);
    output.phase("refit");
    let new = refit(&params, &model, &data, args.decay).map_err(|error| match error {
        _ if error.is_about_settings() => error.into(),
        TrainError::Start(_) | TrainError::NotRefittable { .. } => user_at(&args.model, error.to_string()),
        // The rules of the metrics are parameters here, not options.
        _ => {
            let message = error.to_string().replace("`gain` ", "--set gain=");
            user_at(paths.place(), message.replace("`err_max_grade`", "err_max_grade with --set"))
        }
    })?;
    output.phase("write");
    output.write_text(&args.out, FileKind::Model, &new.to_json())?;
    let new_trees = new.tree_ensemble()?;
    let changed = |(old, new): (&Tree, &Tree)| {
        old.parts().leaf_value.iter().zip(&new.parts().leaf_value).filter(|(old, new)| old != new).count()
    };
    let n_changed: usize = old_trees.trees().iter().zip(new_trees.trees()).map(changed).sum();
    let summary = format!(
        "changed {} of {} in {}\nwrote {}\n",
        text::thousands(n_changed as u64),
        text::count(old_trees.n_leaves(), "leaf value"),
        text::count(old_trees.n_trees(), "tree"),
        args.out.display()
    );
    let json = json!({
        "model": args.out.display().to_string(),
        "trees": new_trees.n_trees(),
        "leaves": new_trees.n_leaves(),
        "leaves_changed": n_changed,
        "decay": args.decay,
        "data": reading::to_json(&report),
    });
    output.done(&args.out, &summary, json)
}
