//! `rankwise compare`

use std::path::Path;

use rankwise::eval::{
    Alternative, CompareSpec, Comparison, EvalError, IntervalSpec, PERMUTATIONS, RESAMPLES, Table, Test,
};
use rankwise::metrics::{MetricName, Rules, RulesSpec};

use crate::args::Global;
use crate::compare_args::{Compare, TestKind};
use crate::comparison::{Report, per_query_table};
use crate::data_paths::DataPaths;
use crate::failure::user;
use crate::output::Output;
use crate::progress::Steps;
use crate::record::FileKind;
use crate::report::{ComparisonPage, DECIDING, Facts, Judged, Parameters, Rankings};
use crate::system::{self, Judgements, Measured, StatedRules, System};
use crate::{files, reading, text};

pub(crate) fn run(args: &Compare, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["load", "measure", "test"]);
    let names = MetricName::parse_list(&args.metric)?;
    let mut rules = RulesSpec::default();
    args.rules.apply(&mut rules)?;
    let seed = global.seed.unwrap_or(0);
    let rules = Rules::new(&rules, seed)?;
    let systems = &args.systems.0;
    let system_names = name_systems(systems, args.names.as_deref())?;
    if let Some(pooled) = names.iter().find(|name| name.kind().is_pooled()) {
        return Err(EvalError::Pooled { metric: pooled.as_str().to_owned() }.into());
    }
    let spec = check(args, &system_names, seed)?;
    let paths = DataPaths::find(&args.data)?;
    let judgements = Judgements::new(paths.if_any(), &args.read, args.qrels.as_deref())?;
    let inputs: Vec<&Path> = judgements.inputs().into_iter().chain(systems.iter().filter_map(System::path)).collect();
    files::check_inputs(&inputs)?;
    if let Some(path) = &args.per_query {
        if files::is_stream(path) {
            return Err(user("--per-query -: standard output is used for the comparison; give a file name"));
        }
        files::check_output(path, &inputs)?;
    }
    args.report.check(&inputs, &[("--per-query", args.per_query.as_deref())])?;
    let mut spec = spec;
    let mut rankings = args.report.is_wanted().then(|| {
        // A page shows more queries than the text.
        spec.top = spec.top.max(DECIDING);
        Rankings::new(systems.len(), systems.iter().any(|system| matches!(system, System::Run(_))))
    });
    let Measured { queries, evaluations, mean_counts, report: data_report, mut models } =
        system::measure(systems, judgements, &names, &rules, args.trees, output, rankings.as_mut())?;
    let of_models = systems.iter().zip(&system_names).filter(|(system, _)| matches!(system, System::Model(_)));
    models.iter_mut().zip(of_models).for_each(|(model, (_, name))| model.name.clone_from(name));
    output.phase("test");
    let measured = system_names.into_iter().zip(evaluations).collect();
    let table = Table::new(queries.ids, &queries.weights, measured)?;
    let mut steps = Steps::new(output, "pairs");
    let comparison = Comparison::new(&table, &spec, |done, all| steps.show(done, all));
    steps.finish();
    let comparison = comparison?;
    output.phase("other");
    if let Some(path) = &args.per_query {
        output.write_text(path, FileKind::PerQuery, &per_query_table(&table, &queries.n_docs))?;
    }
    let mut report = Report {
        table: &table,
        comparison: &comparison,
        spec: &spec,
        alpha: args.alpha,
        rules: StatedRules::new(&rules, &names, systems),
        n_empty: queries.n_empty,
        mean_counts,
    };
    if let Some(rankings) = &rankings {
        let page = ComparisonPage {
            origin: "rankwise compare",
            report: &report,
            judged: Judged { rankings, n_docs: &queries.n_docs },
            models: &models,
            learning: Vec::new(),
            facts: Facts {
                place: files::shown(judgements.path()),
                n_queries: table.queries().len(),
                data: rankings.data.clone(),
            },
            parameters: parameters(args, seed),
        };
        args.report.write_and_tell(&page.page(), output)?;
    }
    let shown = comparison.with_top(args.top);
    let shown_spec = CompareSpec { top: args.top, ..spec.clone() };
    (report.comparison, report.spec) = (&shown, &shown_spec);
    let mut json = report.json();
    json["data"] = data_report.as_ref().map_or(serde_json::Value::Null, reading::to_json);
    output.result(&report.text(), json)
}

/// The options of the comparison, for the page.
fn parameters(args: &Compare, seed: u64) -> Parameters {
    Parameters::default()
        .with("metric", &args.metric)
        .with("test", &args.test.as_str())
        .with("alpha", &args.alpha)
        .with("one-sided", &args.one_sided)
        .with("baseline", &args.baseline.as_deref().unwrap_or("none: all pairs"))
        .with("seed", &seed)
}

/// The options of the comparison, checked before any file is read.
fn check(args: &Compare, names: &[String], seed: u64) -> anyhow::Result<CompareSpec> {
    let test = match (args.test, args.permutations) {
        (TestKind::Fisher, typed) => Test::Fisher { permutations: typed.unwrap_or(PERMUTATIONS) },
        (TestKind::Bootstrap, typed) => Test::Bootstrap { resamples: typed.unwrap_or(RESAMPLES) },
        (TestKind::T, None) => Test::T,
        (TestKind::Wilcoxon, None) => Test::Wilcoxon,
        (kind, Some(_)) => {
            let kind = kind.as_str();
            return Err(user(format!(
                "--permutations: the test {kind} uses no random draws; remove the option, or use \
                                     --test fisher"
            )));
        }
    };
    let spec = CompareSpec {
        test,
        alternative: if args.one_sided { Alternative::FirstIsBetter } else { Alternative::Different },
        baseline: args.baseline.clone(),
        intervals: IntervalSpec { confidence: 1.0 - args.alpha, seed, ..IntervalSpec::default() },
        top: args.top,
    };
    spec.check(names).map_err(|error| match error {
        EvalError::Count { .. } => user(format!("{error} with --model, --scores or --run")),
        error => error.into(),
    })?;
    Ok(spec)
}

/// The typed names, or the shortest file names that are unique.
fn name_systems(systems: &[System], typed: Option<&[String]>) -> anyhow::Result<Vec<String>> {
    if let Some(typed) = typed {
        if typed.len() != systems.len() {
            return Err(user(format!(
                "--names: {} for {}; give one name per system, in order",
                text::count(typed.len(), "name"),
                text::count(systems.len(), "system")
            )));
        }
        let is_bad = |name: &&String| name.trim().is_empty() || name.chars().any(char::is_control);
        if let Some(name) = typed.iter().find(is_bad) {
            return Err(user(format!("--names: {name:?} is not a valid name; use visible characters")));
        }
        return Ok(typed.to_vec());
    }
    Ok(System::names(systems))
}
