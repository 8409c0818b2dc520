//! `rankwise demo`: the whole workflow on generated data.

use std::path::{Path, PathBuf};

use rankwise::data::synth::{Preset, SynthSpec};
use rankwise::data::{Absent, Dataset};
use rankwise::eval::{CompareSpec, Comparison, IntervalSpec, Table};
use rankwise::io::read_dataset;
use rankwise::metrics::{Measures, MetricError, MetricName, Results, Rules, Ties};
use rankwise::params::ParamValue as _;
use rankwise::train::{StopReason, TrainSpec, Trained, ValidSet, train};
use rankwise_report::Report as Page;
use serde_json::json;

use super::synth::{SPLIT_FILES, write_split};
use crate::args::{Demo, Global};
use crate::comparison::Report;
use crate::mean_count::MeanCount;
use crate::output::Output;
use crate::progress::Watch;
use crate::record::FileKind;
use crate::report::{ComparisonPage, DECIDING, Facts, Judged, ModelFacts, Parameters, Rankings, learning_curves};
use crate::system::StatedRules;
use crate::text;

/// Enough for a ranker that clearly beats the baselines, few enough for a minute on two cores.
const ROWS: usize = 60_000;
const SHARES: [f64; 3] = [0.6, 0.2, 0.2];
const METRIC: &str = "ndcg@10";
const ALPHA: f64 = 0.05;
const REPORT: &str = "report.html";

pub(crate) fn run(args: &Demo, global: Global, output: Output) -> anyhow::Result<()> {
    output.set_phases(&["generate", "load", "train", "compare"]);
    output.phase("generate");
    let seed = global.seed.unwrap_or(0);
    output.remark(&format!(
        "1. generating {} web-search documents in {}",
        text::thousands(ROWS as u64),
        args.out.display()
    ));
    let synth = SynthSpec { preset: Preset::Web, rows: ROWS, features: None, seed }.check()?;
    write_split(&synth, &synth.split(&SHARES)?, &args.out, output)?;
    output.phase("load");
    let read = |name: &str| read_dataset(&args.out.join(name), Absent::Missing);
    let [train_data, valid_data, test_data] = [read(SPLIT_FILES[0])?, read(SPLIT_FILES[1])?, read(SPLIT_FILES[2])?];

    output.phase("train");
    let mut trained = Vec::new();
    for learner in &LEARNERS {
        trained.push(learner.train(&args.out, seed, &train_data, &valid_data, output)?);
    }

    output.phase("compare");
    output.remark(&format!("4. evaluating on {} not used in training", text::count(test_data.n_queries(), "query")));
    let rules = Rules::default();
    let metric = MetricName::parse(METRIC).expect("a metric");
    let (table, rankings) = measure(&metric, &train_data, &test_data, &trained, &rules)?;
    let intervals = IntervalSpec { seed, ..IntervalSpec::default() };
    let spec = CompareSpec { intervals, top: DECIDING, ..CompareSpec::default() };
    let comparison = Comparison::new(&table, &spec, |_, _| {})?;
    let n_empty = test_data.queries().filter(|query| query.labels.iter().all(|label| *label == 0.0)).count();
    let rules = StatedRules::new(&rules, &[metric], &[]);
    let judged = table.queries().len();
    let count = MeanCount { judged, in_mean: judged, empty_in_mean: n_empty, ..MeanCount::default() };
    let mean_counts = vec![vec![count]; table.names().len()];
    let mut report =
        Report { table: &table, comparison: &comparison, spec: &spec, alpha: ALPHA, rules, n_empty, mean_counts };
    let page = args.out.join(REPORT);
    output.write_text(&page, FileKind::Report, &page_of(&report, &rankings, &trained, &args.out, seed).to_html())?;
    // The text shows no queries, the page does.
    let (shown, shown_spec) = (comparison.with_top(0), CompareSpec { top: 0, ..spec.clone() });
    (report.comparison, report.spec) = (&shown, &shown_spec);
    let seconds = output.elapsed().as_secs_f64();
    let means = table.names().iter().zip(&comparison.systems);
    let json = json!({
        "folder": args.out.display().to_string(),
        "report": page.display().to_string(),
        "model": args.out.join(LEARNERS[0].file).display().to_string(),
        "rankers": means.map(|(name, summary)| json!({ "name": name, METRIC: summary[0].mean })).collect::<Vec<_>>(),
        "comparison": report.json(),
    });
    let text = report.text();
    let page = page.display();
    let next = what_next(&args.out);
    output.result(&format!("\n{text}\nDone in {seconds:.0} s. Open {page} in a browser for plots. {next}"), json)
}

/// The page of the demo.
fn page_of(report: &Report<'_>, rankings: &Rankings, trained: &[Trained], folder: &Path, seed: u64) -> Page {
    let n_docs: Vec<usize> = (0..report.table.queries().len()).map(|query| rankings.n_docs(query, 0)).collect();
    let named = || LEARNERS.iter().zip(trained);
    let models: Vec<ModelFacts> =
        named().map(|(learner, trained)| ModelFacts::new(learner.name.to_owned(), &trained.model)).collect();
    let curves = |(learner, trained): (&Learner, &Trained)| {
        let n_rounds = trained.model.tree_ensemble().map_or(0, rankwise::model::TreeEnsemble::n_trees);
        learning_curves(&trained.history, n_rounds, learner.name)
    };
    let page = ComparisonPage {
        origin: "rankwise demo",
        report,
        judged: Judged { rankings, n_docs: &n_docs },
        models: &models,
        learning: named().flat_map(curves).collect(),
        facts: Facts {
            place: folder.join(SPLIT_FILES[2]).display().to_string(),
            n_queries: report.table.queries().len(),
            data: rankings.data.clone(),
        },
        parameters: Parameters::default().with("metric", &METRIC).with("alpha", &ALPHA).with("seed", &seed),
    };
    page.page()
}

/// A way to train a ranker.
struct Learner {
    step: u32,
    name: &'static str,
    objective: &'static str,
    file: &'static str,
}

const LEARNERS: [Learner; 2] = [
    Learner { step: 2, name: "LambdaMART", objective: "lambdamart", file: "model.json" },
    Learner { step: 3, name: "squared error", objective: "rmse", file: "model-rmse.json" },
];

impl Learner {
    /// Trains, and writes the model to the folder.
    fn train(
        &self,
        folder: &Path,
        seed: u64,
        train_data: &Dataset,
        valid_data: &Dataset,
        output: Output,
    ) -> anyhow::Result<Trained> {
        let mut spec = TrainSpec::default();
        spec.boosting.seed = seed;
        spec.set_all([
            ("objective", self.objective),
            ("learning_rate", "0.05"),
            ("num_trees", "1000"),
            ("early_stopping_rounds", "50"),
        ])?;
        let params = spec.check()?;
        output.remark(&format!(
            "{}. training {} on {}, validating {METRIC} on {} others",
            self.step,
            self.name,
            text::count(train_data.n_queries(), "query"),
            valid_data.n_queries()
        ));
        let mut watch = Watch::new(output, 0, &params);
        let valid = [ValidSet { name: SPLIT_FILES[1], data: valid_data }];
        let trained = train(&params, train_data, &valid, &mut watch);
        watch.finish();
        let trained = trained?;
        if trained.stopped == StopReason::Interrupted {
            return Err(watch.interrupted(Some("interrupted before the comparison")).into());
        }
        output.write_text(&folder.join(self.file), FileKind::Model, &trained.model.to_json())?;
        Ok(trained)
    }
}

/// The metrics of all rankers on the test queries, expected best first.
fn measure(
    metric: &MetricName,
    train_data: &Dataset,
    test: &Dataset,
    trained: &[Trained],
    rules: &Rules,
) -> anyhow::Result<(Table, Rankings)> {
    let mut rankings = Rankings::new(LEARNERS.len() + 2, false);
    let mut evaluate = |scores: &[f64], rules: &Rules| {
        let measures = Measures::new(std::slice::from_ref(metric), rules)?;
        let results = Results::CanonicalScores { data: test, scores };
        let evaluation = measures.evaluate(&results)?;
        rankings.add(&measures, &results);
        Ok::<_, MetricError>(evaluation)
    };
    let mut rankers = Vec::new();
    for (learner, trained) in LEARNERS.iter().zip(trained) {
        let scores = rankwise::predict_canonical(&trained.model, test);
        rankers.push((learner.name.to_owned(), evaluate(&scores, rules)?));
    }
    if let Some(best) = rankwise::best_feature(train_data, metric, rules)? {
        let direction = if best.is_ascending { "" } else { ", ascending" };
        rankers.push((
            format!("best feature ({}{direction})", best.feature),
            evaluate(&best.scores_canonical(test), rules)?,
        ));
    }
    // All scores equal, averaged over ties: exactly the expected value of a random order.
    let average = Rules { ties: Ties::Average, ..rules.clone() };
    rankers.push(("random order".to_owned(), evaluate(&vec![0.0; test.n_rows()], &average)?));
    let weights: Vec<f32> = test.queries().map(|query| query.weight).collect();
    let table = Table::new(test.queries().map(|query| query.id).collect(), &weights, rankers)?;
    Ok((table, rankings))
}

fn what_next(folder: &Path) -> String {
    let program = program_name();
    let file = |name: &str| quoted(&folder.join(name).display().to_string());
    let [train, vali, test] = SPLIT_FILES.map(file);
    let [model, pointwise] = LEARNERS.map(|learner| file(learner.file));
    format!(
        "Data and models are in {}. Try next:\n\n  \
         {program} inspect {model}\n  \
         {program} eval {test} --model {model} --metric ndcg@1,ndcg@5,ndcg@10\n  \
         {program} compare {test} --model {model} --model {pointwise} --metric ndcg@5,ndcg@10\n  \
         {program} predict {model} {test} --format run --out {run}\n  \
         {program} train {train} --valid {vali} --objective xendcg --set early_stopping_rounds=50 --out {other}\n  \
         {program} auto {train} --valid {vali} --time 20s --out {best}\n",
        folder.display(),
        run = file("test.run"),
        other = file("model-xendcg.json"),
        best = file("best.json"),
    )
}

/// How to call this program from here: by its relative path if it is below the current folder.
fn program_name() -> String {
    let below = || -> Option<PathBuf> {
        let exe = std::env::current_exe().ok()?;
        exe.strip_prefix(std::env::current_dir().ok()?).ok().map(Path::to_path_buf)
    };
    below().map_or_else(|| "rankwise".into(), |path| quoted(&path.display().to_string()))
}

/// A path quoted for the shell.
fn quoted(path: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "/\\._-+:~@%".contains(char);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
