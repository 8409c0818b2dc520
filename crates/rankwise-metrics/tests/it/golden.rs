//! Reference values that public projects assert in their own tests, some computed by hand with trec_eval's rules, and
//! the right values where released programs give wrong ones.

use rankwise_data::{DatasetBuilder, Pair, Row};
use rankwise_metrics::{Convention, Evaluator, Gain, MetricName, Rules, RulesSpec, Ties};
use rankwise_params::ParamValue;
use serde_json::Value;

struct Case {
    metric: &'static str,
    gain: Gain,
    ties: Ties,
    scores: &'static [f64],
    labels: &'static [f32],
    expected: f64,
    tolerance: f64,
}

fn value(metric: &str, scores: &[f64], labels: &[f32], rules: &Rules) -> f64 {
    let docs = scores.iter().zip(labels).map(|(score, label)| (0, *score, *label)).collect::<Vec<_>>();
    value_of(metric, &docs, &[], rules)
}

/// The mean of a metric over documents with query, score and label, and pairs of them.
fn value_of(metric: &str, docs: &[(usize, f64, f32)], pairs: &[(u32, u32)], rules: &Rules) -> f64 {
    let mut builder = DatasetBuilder::default();
    for (idx, (query, _, label)) in docs.iter().enumerate() {
        let (qid, doc_id) = (query.to_string(), format!("d{idx}"));
        builder.push(&Row { qid: &qid, label: *label, doc_id: &doc_id, features: &[] }).unwrap();
    }
    builder.pairs(pairs.iter().map(|(winner, loser)| Pair::new(*winner, *loser)).collect());
    let data = builder.finish().unwrap();
    let scores: Vec<f64> = docs.iter().map(|(_, score, _)| *score).collect();
    let names = [MetricName::parse(metric).unwrap()];
    let evaluator = Evaluator::new(&data, &names, rules).unwrap();
    evaluator.evaluate(&scores).unwrap().metrics[0].mean.unwrap()
}

#[test]
fn values_of_other_projects_tests() {
    let (tied, tied_labels): (&[f64], &[f32]) = (&[0.1, 0.9, 0.1, 0.9], &[0.0, 0.0, 1.0, 1.0]);
    let (long, long_labels): (&[f64], &[f32]) = (&[0.1, 0.2, 0.3, 4.0, 70.0], &[10.0, 0.0, 0.0, 1.0, 5.0]);
    let (three, three_labels): (&[f64], &[f32]) = (&[1.0, 1.0, 2.0], &[1.0, 0.0, 2.0]);
    let case = |metric, gain, ties, (scores, labels), expected, tolerance| Case {
        metric,
        gain,
        ties,
        scores,
        labels,
        expected,
        tolerance,
    };
    let cases = [
        // XGBoost, tests/cpp/metric/test_rank_metric.h
        case("ndcg", Gain::Exp, Ties::Input, (tied, tied_labels), 0.6509, 1e-3),
        case("ndcg@2", Gain::Exp, Ties::Input, (tied, tied_labels), 0.3868, 1e-3),
        case("ndcg", Gain::Exp, Ties::Worst, (long, long_labels), 0.409_738, 1e-6),
        case("ndcg", Gain::Linear, Ties::Worst, (long, long_labels), 0.695_694, 1e-6),
        // CatBoost's metric tests
        case("ndcg", Gain::Linear, Ties::Worst, (three, three_labels), 0.950_234_416_8, 1e-5),
        case("ndcg", Gain::Exp, Ties::Worst, (three, three_labels), 0.963_940_433_3, 1e-5),
        case("dcg", Gain::Linear, Ties::Worst, (three, three_labels), 2.5, 1e-5),
        case("dcg", Gain::Exp, Ties::Worst, (three, three_labels), 3.5, 1e-5),
        case("dcg", Gain::Linear, Ties::Worst, (&[1.0, 0.0, 2.0], three_labels), 2.630_929_753_571_457_3, 1e-12),
        case("dcg", Gain::Exp, Ties::Worst, (&[1.0, 0.0, 2.0], three_labels), 3.630_929_753_571_457_3, 1e-12),
        // scikit-learn
        case("ndcg", Gain::Linear, Ties::Average, (three, three_labels), 0.975_117_208_394_918, 1e-12),
    ];
    for Case { metric, gain, ties, scores, labels, expected, tolerance } in cases {
        let rules = Rules { gain: gain.clone(), ties, ..Rules::default() };
        let found = value(metric, scores, labels, &rules);
        assert!((found - expected).abs() <= tolerance, "{metric} {gain:?} {ties:?}: {found} is not {expected}");
    }
}

/// Every case of the file, with the rules of the program that it comes from.
#[test]
fn values_of_the_file_of_cases() {
    let file: Value = serde_json::from_str(include_str!("../data/golden.json")).unwrap();
    let cases = file["metric_cases"].as_array().unwrap();
    assert_eq!(cases.len(), 23);
    for case in cases {
        let source = case["src"].as_str().unwrap();
        let convention = match source {
            _ if source.contains("xgboost") => Convention::XgBoost,
            _ if source.contains("catboost") => Convention::CatBoost,
            _ => Convention::Sklearn,
        };
        let gain = case["gain"].as_str().map(|gain| Gain::parse(gain).unwrap());
        let rules = Rules::new(&RulesSpec { convention: Some(convention), gain, ..Default::default() }, 0).unwrap();
        let numbers = |value: &Value| -> Vec<f64> {
            let list = value.as_array().map(|list| list.iter().map(|number| number.as_f64().unwrap()).collect());
            list.unwrap_or_default()
        };
        // A range of labels, or no labels if the case has pairs.
        let n_scores = numbers(&case["scores"]).len();
        let labels = match &case["labels"] {
            Value::String(range) if range == "0..31" => (0..32).map(f64::from).collect(),
            Value::Null => vec![0.0; n_scores],
            list => numbers(list),
        };
        // The ideal order is that of the labels.
        let scores = if case["scores"].is_null() { labels.clone() } else { numbers(&case["scores"]) };
        let bounds = numbers(&case["groups"]);
        let query = |doc: usize| bounds.iter().filter(|bound| **bound <= doc as f64).count();
        let mut docs: Vec<(usize, f64, f32)> =
            (0..labels.len()).map(|doc| (query(doc), scores[doc], labels[doc] as f32)).collect();
        if docs.is_empty() {
            // A query without documents does not exist here; one without relevant documents does.
            docs.push((0, 0.0, 0.0));
        }
        let pairs: Vec<(u32, u32)> = case["pairs"].as_array().map_or_else(Vec::new, |pairs| {
            pairs.iter().map(|pair| (pair[0].as_u64().unwrap() as u32, pair[1].as_u64().unwrap() as u32)).collect()
        });
        let metric = case["metric"].as_str().unwrap();
        let typed = metric.replace("1/idcg", "dcg").replace("idcg", "dcg");
        let found = value_of(&typed, &docs, &pairs, &rules);
        let found = if metric.starts_with("1/") { 1.0 / found } else { found };
        let expected = case["expect"].as_f64().unwrap();
        let tolerance = case["tol"].as_f64().unwrap_or(1e-12);
        assert!((found - expected).abs() <= tolerance, "{source} {metric}: {found} is not {expected}");
        if let Some(expected) = case["expect_minus"].as_f64() {
            assert_eq!(value_of(&format!("{typed}-"), &docs, &pairs, &rules), expected, "{source} {metric}-");
        }
    }
}

#[test]
fn binary_metrics_of_other_projects_tests() {
    let by = |convention, metric: &str, scores: &[f64], labels: &[f32]| {
        let spec = RulesSpec { convention: Some(convention), ..Default::default() };
        value(metric, scores, labels, &Rules::new(&spec, 0).unwrap())
    };
    let (tied, labels): (&[f64], &[f32]) = (&[0.1, 0.9, 0.1, 0.9], &[0.0, 0.0, 1.0, 1.0]);
    assert!((by(Convention::XgBoost, "map", tied, labels) - 0.5).abs() < 1e-12);
    assert!((by(Convention::XgBoost, "map@2", tied, labels) - 0.25).abs() < 1e-12);
    let (scores, labels): (&[f64], &[f32]) = (&[0.2, 0.3, 0.4, 0.5, 0.6, 0.7], &[0.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    assert!((by(Convention::XgBoost, "pre@4", scores, labels) - 0.5).abs() < 1e-12);
    let err = by(Convention::CatBoost, "err", &[1.0, 0.0, -2.0, 5.0], &[0.0, 0.0, 0.4, 0.8]);
    assert!((err - 0.82).abs() < 1e-7, "{err}");
    let mrr = by(Convention::CatBoost, "mrr", &[5.0; 4], &[0.0, 1.0, 1.0, 0.0]);
    assert!((mrr - 1.0 / 3.0).abs() < 1e-12, "{mrr}");
}

/// One relevant document at rank 41 of 64: a metric limited to 32 documents misses it.
#[test]
fn a_metric_without_cutoff_looks_at_the_whole_list() {
    let mut labels = [0.0; 64];
    labels[40] = 1.0;
    let scores: Vec<f64> = (0..64).map(|rank| -f64::from(rank)).collect();
    for (metric, expected) in [("ndcg", 0.185_449_023_4), ("map", 0.024_390_243_9), ("pre", 0.015_625)] {
        let found = value(metric, &scores, &labels, &Rules::default());
        assert!((found - expected).abs() < 1e-9, "{metric}: {found}");
    }
}

/// The gains of one evaluator do not affect another.
#[test]
fn a_second_table_of_gains_leaves_the_first_alone() {
    let mut builder = DatasetBuilder::default();
    for label in [2.0, 1.0, 0.0] {
        builder.push(&Row { qid: "q", label, ..Row::default() }).unwrap();
    }
    let data = builder.finish().unwrap();
    let names = [MetricName::parse("ndcg").unwrap()];
    let with = |gains: &[f64]| {
        Evaluator::new(&data, &names, &Rules { gain: Gain::Table(gains.to_vec()), ..Rules::default() }).unwrap()
    };
    let scores = [3.0, 2.0, 1.0];
    let first = with(&[0.0, 1.0, 3.0]);
    assert_eq!(first.evaluate(&scores).unwrap().metrics[0].mean, Some(1.0));
    assert_eq!(with(&[0.0, 1.0, 100.0]).evaluate(&scores).unwrap().metrics[0].mean, Some(1.0));
    assert_eq!(first.evaluate(&scores).unwrap().metrics[0].mean, Some(1.0));
}

#[test]
fn ideal_dcg_of_many_grades() {
    let labels: Vec<f32> = (0..32u8).map(f32::from).collect();
    let scores: Vec<f64> = labels.iter().map(|label| f64::from(*label)).collect();
    let rules = Rules { gain: Gain::Linear, ..Rules::default() };
    assert!((1.0 / value("dcg", &scores, &labels, &rules) - 0.005_517_82).abs() < 1e-6);
    assert!((1.0 / value("dcg@3", &scores, &labels, &rules) - 0.015_521_23).abs() < 1e-6);
}

#[test]
fn conventions_are_those_of_the_programs() {
    let by = |convention, metric: &str, scores: &[f64], labels: &[f32]| {
        let spec = RulesSpec { convention: Some(convention), ..Default::default() };
        value(metric, scores, labels, &Rules::new(&spec, 0).unwrap())
    };
    // Both documents tie: LightGBM and XGBoost keep the input order, CatBoost takes the worst order, scikit-learn the
    // mean, and trec_eval puts the larger document id (d1) first.
    let tied = |convention, labels: &[f32]| by(convention, "ndcg", &[1.0, 1.0], labels);
    let second = 1.0 / 3f64.log2();
    for convention in [Convention::LightGbm, Convention::XgBoost, Convention::RankLib] {
        assert_eq!(tied(convention, &[1.0, 0.0]), 1.0);
        assert!((tied(convention, &[0.0, 1.0]) - second).abs() < 1e-15);
    }
    assert!((tied(Convention::CatBoost, &[1.0, 0.0]) - second).abs() < 1e-15);
    assert!((tied(Convention::Sklearn, &[1.0, 0.0]) - f64::midpoint(1.0, second)).abs() < 1e-15);
    assert_eq!(tied(Convention::TrecEval, &[0.0, 1.0]), 1.0);
    // No relevant documents.
    for (convention, expected) in [
        (Convention::LightGbm, 1.0),
        (Convention::XgBoost, 1.0),
        (Convention::CatBoost, 1.0),
        (Convention::TrecEval, 0.0),
        (Convention::Sklearn, 0.0),
        (Convention::RankLib, 0.0),
    ] {
        assert_eq!(tied(convention, &[0.0, 0.0]), expected, "{convention:?}");
    }
    // One relevant document at rank 41 of 64: XGBoost's metric without a cutoff misses it.
    let mut labels = [0.0; 64];
    labels[40] = 1.0;
    let scores: Vec<f64> = (0..64).map(|rank| -f64::from(rank)).collect();
    assert_eq!(by(Convention::XgBoost, "ndcg", &scores, &labels), 0.0);
    assert!((by(Convention::XgBoost, "ndcg@64", &scores, &labels) - 0.185_449_023_4).abs() < 1e-9);
    assert!((by(Convention::LightGbm, "ndcg", &scores, &labels) - 0.185_449_023_4).abs() < 1e-9);
}
