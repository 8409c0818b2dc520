//! Reference values that public projects assert in their own tests, and some that trec_eval's rules give by hand.

use rankwise_data::{DatasetBuilder, Row};
use rankwise_metrics::{Convention, Evaluator, Gain, MetricName, Rules, RulesSpec, Ties};
use rankwise_params::ParamValue;

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
    let mut builder = DatasetBuilder::default();
    for (idx, label) in labels.iter().enumerate() {
        builder.push(&Row { qid: "q", label: *label, doc_id: &format!("d{idx}"), features: &[] }).unwrap();
    }
    let data = builder.finish().unwrap();
    let names = [MetricName::parse(metric).unwrap()];
    let evaluator = Evaluator::new(&data, &names, rules).unwrap();
    evaluator.evaluate(&data.from_input_order(scores)).unwrap().metrics[0].mean.unwrap()
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
    // Both documents tie: LightGBM and XGBoost keep input order, CatBoost takes the worst, scikit-learn the mean,
    // trec_eval the higher document id (d1) first.
    let tied = |convention, labels: &[f32]| by(convention, "ndcg", &[1.0, 1.0], labels);
    let second = 1.0 / 3f64.log2();
    for convention in [Convention::LightGbm, Convention::XgBoost, Convention::RankLib] {
        assert_eq!(tied(convention, &[1.0, 0.0]), 1.0);
        assert!((tied(convention, &[0.0, 1.0]) - second).abs() < 1e-15);
    }
    assert!((tied(Convention::CatBoost, &[1.0, 0.0]) - second).abs() < 1e-15);
    assert!((tied(Convention::Sklearn, &[1.0, 0.0]) - f64::midpoint(1.0, second)).abs() < 1e-15);
    assert_eq!(tied(Convention::TrecEval, &[0.0, 1.0]), 1.0);
    // Nothing relevant.
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
    // One relevant document at rank 41 of 64: XGBoost's metric without a cut-off does not see it.
    let mut labels = [0.0; 64];
    labels[40] = 1.0;
    let scores: Vec<f64> = (0..64).map(|rank| -f64::from(rank)).collect();
    assert_eq!(by(Convention::XgBoost, "ndcg", &scores, &labels), 0.0);
    assert!((by(Convention::XgBoost, "ndcg@64", &scores, &labels) - 0.185_449_023_4).abs() < 1e-9);
    assert!((by(Convention::LightGbm, "ndcg", &scores, &labels) - 0.185_449_023_4).abs() < 1e-9);
}
