//! `rankwise prune`

use std::collections::BTreeMap;
use std::path::Path;

use rankwise::io::{FeatureOwner, ReadData};
use rankwise::metrics::{Rules, RulesSpec};
use rankwise::train::{PruneError, prune};
use serde_json::json;

use crate::args::Global;
use crate::data_paths::DataPaths;
use crate::failure::user_at;
use crate::output::Output;
use crate::record::FileKind;
use crate::refit_prune_args::Prune;
use crate::trees_args::TreesArgs;
use crate::{files, metric_names, reading, text};

pub(crate) fn run(args: &Prune, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "prune", "write"]);
    let metric = metric_names::parse_one(&args.metric)?;
    let mut rules = RulesSpec::default();
    args.rules.apply(&mut rules)?;
    let rules = Rules::new(&rules, global.seed.unwrap_or(0))?;
    output.check_file(&args.out, "model needs")?;
    let paths = DataPaths::find_one(&args.valid)?;
    let inputs: Vec<&Path> = paths.inputs().chain([args.model.as_path()]).collect();
    files::check_inputs(&inputs)?;
    files::check_output(&args.out, &inputs)?;
    output.phase("load");
    let model = files::read_model_for(&paths, &args.model, TreesArgs::default(), output)?;
    let n_before = files::trees_of(&model, &args.model, "prune")?.n_trees();
    let ReadData { data, report } = files::read_data_for(&model, &paths, &args.read, files::Labels::Needed)?;
    reading::tell(paths.place(), &report, output);
    files::check_named(&model, &data, paths.place(), FeatureOwner::Model)?;
    files::warn_unknown_features(&model, &data, paths.place(), &args.read, output);
    files::warn_training_data((&model, &args.model), &data, &paths, &args.read, output);
    output.phase("prune");
    let pruned = prune(&model, &data, &metric, &rules, args.max_loss).map_err(|error| {
        let place = match error {
            PruneError::Model(_) | PruneError::NoTrees | PruneError::Outputs => args.model.as_path(),
            _ => paths.place(),
        };
        user_at(place, error.to_string())
    })?;
    output.phase("write");
    output.write_text(&args.out, FileKind::Model, &pruned.model.to_json())?;
    let n_after = pruned.model.tree_ensemble()?.n_trees();
    let seconds = output.elapsed().as_secs_f64();
    let (name, metrics) = (metric.as_str(), std::slice::from_ref(&metric));
    let summary = format!(
        "kept {n_after} of {} in {seconds:.1} s\n{name} {:.6}, was {:.6}\nrules: {}\n\
         the trees were selected on these queries; evaluate the model on others\nwrote {}\n",
        text::count(n_before, "tree"),
        pruned.after,
        pruned.before,
        rules.describe(metrics),
        args.out.display()
    );
    let json = json!({
        "model": args.out.display().to_string(),
        "trees": n_after,
        "trees_before": n_before,
        "metric": name,
        "metric_names": metric_names::to_json(metrics),
        "convention": rules.entries(metrics).into_iter().collect::<BTreeMap<_, _>>(),
        "value": pruned.after,
        "value_before": pruned.before,
        "data": reading::to_json(&report),
    });
    output.summary(&args.out, &summary, json)
}
