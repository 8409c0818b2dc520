//! `rankwise blend`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rankwise::io::write_scores;
use rankwise::metrics::{Rules, RulesSpec};
use rankwise::{Blend, BlendError};
use serde_json::json;

use crate::args::Global;
use crate::blend_args::Blend as Args;
use crate::data_paths::DataPaths;
use crate::failure::{user, user_at};
use crate::output::Output;
use crate::record::FileKind;
use crate::system::{self, Judgements, System, TwoScored};
use crate::{files, metric_names, reading};

pub(crate) fn run(args: &Args, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "search", "write"]);
    let metric = metric_names::parse_one(&args.metric)?;
    let mut rules = RulesSpec::default();
    args.rules.apply(&mut rules)?;
    let rules = Rules::new(&rules, global.seed.unwrap_or(0))?;
    let paths = DataPaths::find(&args.data)?;
    let inputs: Vec<&Path> =
        [&args.first, &args.second].into_iter().map(PathBuf::as_path).chain(paths.inputs()).collect();
    files::check_inputs(&inputs)?;
    if let Some(out) = &args.out {
        output.check_file(out, "scores need")?;
        files::check_output(out, &inputs)?;
    }
    let judgements = Judgements::new(Some(&paths), &args.read, None)?;
    let systems = [&args.first, &args.second].map(|path| System::of_file(path));
    output.phase("load");
    let TwoScored { data, report: data_report, scores: [first, second] } =
        system::score_two(&systems, judgements, output)?;
    output.phase("search");
    let blend = rankwise::blend_canonical(&data, [&first, &second], &metric, &rules).map_err(|error| match error {
        BlendError::Constant { ranker } => {
            let message =
                "all documents of each query have the same score, so there is nothing to combine; use another ranker";
            user_at([&args.first, &args.second][ranker], message)
        }
        BlendError::Kind { metric, known } => user(format!("--metric {metric}: not supported by blend; use {known}")),
        error => user_at(paths.place(), error.to_string()),
    })?;
    output.phase("write");
    if let Some(out) = &args.out {
        let mixed = data.to_input_order(&blend.scores([&first, &second]));
        output.write(out, FileKind::Scores, |file| write_scores(file, &mixed))?;
    }
    let names = [&args.first, &args.second].map(|path| files::shown(path));
    let metrics = std::slice::from_ref(&metric);
    let report = shown(&blend, &names, metric.as_str(), &rules.describe(metrics));
    let json = json!({
        "weight": blend.weight,
        "factors": blend.factors,
        "metric": metric.as_str(),
        "metric_names": metric_names::to_json(metrics),
        "convention": rules.entries(metrics).into_iter().collect::<BTreeMap<_, _>>(),
        "values": {"first": blend.alone[0], "second": blend.alone[1], "blend": blend.value},
        "queries": data.n_queries(),
        "data": data_report.as_ref().map(reading::to_json),
    });
    match &args.out {
        Some(out) => output.summary(out, &report, json),
        None => output.result(&report, json),
    }
}

fn shown(blend: &Blend, names: &[String; 2], metric: &str, rules: &str) -> String {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("best combination".len());
    let mut out = format!("{:width$}  {metric}\n", "");
    let rows = [(&names[0][..], blend.alone[0]), (&names[1][..], blend.alone[1]), ("best combination", blend.value)];
    for (name, value) in rows {
        let _ = writeln!(out, "{name:width$}  {value:.6}");
    }
    let [a, b] = blend.factors;
    let _ = match (a, b) {
        (_, 0.0) => writeln!(out, "no combination is better than {} alone", names[0]),
        (0.0, _) => writeln!(out, "no combination is better than {} alone", names[1]),
        _ => writeln!(
            out,
            "score = {} + {:.6} x {} ({:.1} % weight on the second, with both scaled to the same standard deviation)",
            names[0],
            b / a,
            names[1],
            100.0 * blend.weight
        ),
    };
    let _ = writeln!(out, "the weights were optimised on these queries; evaluate on others");
    let _ = writeln!(out, "rules: {rules}");
    out
}
