//! Labels and targets that an objective rejects.

use rankwise_data::{DatasetBuilder, Row, SimdLevel};
use rankwise_metrics::{Gain, MetricName, Rules};
use rankwise_objectives::{ObjectiveError, ObjectiveKind, ObjectiveSpec};
use rankwise_params::ParamValue as _;

use crate::{Doc, dataset, params};

const PAIRED: [ObjectiveKind; 8] = [
    ObjectiveKind::QueryRmse,
    ObjectiveKind::Softmax,
    ObjectiveKind::ListNet,
    ObjectiveKind::XeNdcg,
    ObjectiveKind::ListMle,
    ObjectiveKind::PListMle,
    ObjectiveKind::PlackettLuce,
    ObjectiveKind::ApproxNdcg,
];

fn bind(docs: &[Doc], change: impl FnOnce(&mut ObjectiveSpec)) -> Option<ObjectiveError> {
    params(change).bind(&dataset(docs), &Rules::default(), SimdLevel::best()).err()
}

#[test]
fn equal_labels_and_no_weight_give_nothing_to_learn() {
    for kind in PAIRED {
        let error = bind(&[(0, 1.0, 0.0), (0, 1.0, 0.0), (1, 2.0, 0.0)], |spec| spec.objective = kind).unwrap();
        assert_eq!(error, ObjectiveError::NoPairs { objective: kind.render().leak() });
    }
    let mut builder = DatasetBuilder::default();
    for label in [0.0, 1.0] {
        builder.push(&Row { qid: "a", label, ..Row::default() }).unwrap();
    }
    builder.row_weights(vec![0.0, 0.0]);
    let data = builder.finish().unwrap();
    for kind in PAIRED.into_iter().chain([ObjectiveKind::Logistic]) {
        let error = params(|spec| spec.objective = kind).bind(&data, &Rules::default(), SimdLevel::best()).err();
        assert_eq!(error, Some(ObjectiveError::NoWeight), "{kind:?}");
    }
}

#[test]
fn logistic_takes_probabilities() {
    let logistic = |docs: &[Doc]| bind(docs, |spec| spec.objective = ObjectiveKind::Logistic);
    let error = logistic(&[(0, 0.5, 0.0), (1, 2.0, 0.0), (1, 3.0, 0.0)]).unwrap();
    assert!(matches!(&error, ObjectiveError::NoProbability { query, .. } if query == "q1"));
    assert!(error.to_string().contains("divide the labels"), "{error}");
    for label in [0.0, 1.0] {
        let error = logistic(&[(0, label, 0.0), (1, label, 0.0)]).unwrap();
        assert_eq!(error, ObjectiveError::OneLabel { objective: "logistic", label });
    }
    assert_eq!(logistic(&[(0, 0.5, 0.0), (0, 0.5, 0.0)]), None);
    // The base score belongs to a probability of a quarter.
    let data = dataset(&[(0, 1.0, 0.0), (0, 0.0, 0.0), (1, 0.0, 0.0), (2, 0.0, 0.0)]);
    let objective = params(|spec| spec.objective = ObjectiveKind::Logistic)
        .bind(&data, &Rules::default(), SimdLevel::best())
        .unwrap();
    assert!((objective.base_score() - (1.0f64 / 3.0).ln()).abs() < 1e-15);
}

#[test]
fn targets_that_have_no_rewards_are_refused() {
    let docs = [(0, 1.0, 0.0), (0, 0.0, 0.0)];
    for target in ["auc", "kendall-tau", "f1@3", "bpref"] {
        let error = bind(&docs, |spec| {
            spec.objective = ObjectiveKind::PlackettLuce;
            spec.target = MetricName::parse(target).unwrap();
        });
        assert!(matches!(error, Some(ObjectiveError::Target { .. })), "{target}");
    }
    let large = [(0, 5.0, 0.0), (0, 0.0, 0.0)];
    let error = bind(&large, |spec| {
        spec.objective = ObjectiveKind::PlackettLuce;
        spec.target = MetricName::parse("err").unwrap();
    });
    assert!(matches!(error, Some(ObjectiveError::Label(_))));
    // With linear gain, labels are probabilities for err.
    let target = |spec: &mut ObjectiveSpec| {
        spec.objective = ObjectiveKind::PlackettLuce;
        spec.target = MetricName::parse("err").unwrap();
    };
    let linear = Rules { gain: Gain::Linear, ..Rules::default() };
    let of_labels =
        |best: f32| params(target).bind(&dataset(&[(0, best, 0.0), (0, 0.0, 0.0)]), &linear, SimdLevel::best()).err();
    assert!(matches!(of_labels(2.0), Some(ObjectiveError::Label(_))));
    assert_eq!(of_labels(1.0), None);
    let huge = [(0, 1000.0, 0.0), (0, 0.0, 0.0)];
    for kind in [ObjectiveKind::XeNdcg, ObjectiveKind::ApproxNdcg, ObjectiveKind::PlackettLuce] {
        let error = bind(&huge, |spec| spec.objective = kind);
        let is_refused = match kind {
            // The lower limit comes first.
            ObjectiveKind::PlackettLuce => matches!(error, Some(ObjectiveError::LargeLabel { .. })),
            _ => matches!(error, Some(ObjectiveError::Label(_))),
        };
        assert!(is_refused, "{kind:?}: {error:?}");
    }
}

#[test]
fn large_labels_are_fine_with_linear_gain() {
    let docs: [Doc; 3] = [(0, 5000.0, 0.3), (0, 40.0, 0.2), (0, 0.0, 0.1)];
    let linear = Rules { gain: Gain::Linear, ..Rules::default() };
    let kinds = [
        ObjectiveKind::QueryRmse,
        ObjectiveKind::Multiclass,
        ObjectiveKind::Softmax,
        ObjectiveKind::ListNet,
        ObjectiveKind::ListMle,
        ObjectiveKind::PListMle,
        ObjectiveKind::PlackettLuce,
        ObjectiveKind::ApproxNdcg,
    ];
    for kind in kinds {
        let objective = params(|spec| spec.objective = kind).bind(&dataset(&docs), &linear, SimdLevel::best());
        assert!(objective.is_ok(), "{kind:?}");
        if kind != ObjectiveKind::Multiclass {
            let (grad, hess) = crate::gradients(&docs, |data| {
                params(|spec| spec.objective = kind).bind(data, &linear, SimdLevel::best()).unwrap()
            });
            assert!(grad.iter().chain(&hess).all(|value| value.is_finite()), "{kind:?} {grad:?} {hess:?}");
            assert!(grad[0] < 0.0, "{kind:?}: the best goes up, {grad:?}");
        }
    }
}
