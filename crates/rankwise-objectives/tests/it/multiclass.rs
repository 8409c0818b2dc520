use proptest::prelude::*;
use rankwise_data::{Dataset, SimdLevel};
use rankwise_metrics::{Gain, Rules};
use rankwise_objectives::{Objective, ObjectiveError, ObjectiveKind, ObjectiveSpec, Round};

use crate::differences::{dataset, lists};
use crate::{Doc, params};

/// Step of the differences.
const STEP: f64 = 1e-2;

fn bind(data: &Dataset, change: impl FnOnce(&mut ObjectiveSpec)) -> Result<Box<dyn Objective>, ObjectiveError> {
    let params = params(|spec| {
        spec.objective = ObjectiveKind::Multiclass;
        change(spec);
    });
    params.bind(data, &Rules::default(), SimdLevel::best())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For every output of every document, with weights: central differences of the loss.
    #[test]
    fn derivatives_are_those_of_the_loss(
        lists in lists(prop_oneof![Just(0.0f32), Just(1.0), Just(2.0), Just(5.0)], 500), outputs in prop::collection::vec(-4.0f64..4.0, 600),
    ) {
        let (data, _) = dataset(&lists);
        let Ok(objective) = bind(&data, |_| ()) else { return Ok(()) };
        let classes = objective.classes().unwrap();
        let weight = |query: usize, row: usize| f64::from(data.query_weight(query)) * f64::from(data.weight(row));
        let grades: Vec<f32> = [0.0, 1.0, 2.0, 5.0].into_iter().filter(|grade| {
            (0..data.n_queries()).any(|query| data.query_rows(query).any(|row| data.labels()[row] == *grade && weight(query, row) > 0.0))
        }).collect();
        prop_assert_eq!(&classes.gains, &grades.iter().map(|grade| Gain::Exp.of(*grade)).collect::<Vec<_>>());
        let (n_rows, n_outputs) = (data.n_rows(), grades.len());
        let scores: Vec<f64> = (0..n_rows * n_outputs).map(|at| outputs[at % outputs.len()]).collect();
        let (mut grad, mut hess) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
        rankwise_objectives::gradients(&*objective, &data, Round::default(), &scores, (&mut grad, &mut hess));
        for query in 0..data.n_queries() {
            for row in data.query_rows(query) {
                let label = grades.iter().position(|grade| *grade == data.labels()[row]);
                for output in 0..n_outputs {
                    let loss = |step: f64| {
                        let of = |at: usize| scores[at * n_rows + row] + if at == output { step } else { 0.0 };
                        let total: f64 = (0..n_outputs).map(|at| of(at).exp()).sum();
                        weight(query, row) * (total.ln() - label.map_or(0.0, of))
                    };
                    let [far_left, left, middle, right, far_right] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|at| loss(at * STEP));
                    let first = (8.0 * (right - left) - (far_right - far_left)) / (12.0 * STEP);
                    let second = (16.0 * (left + right) - (far_left + far_right) - 30.0 * middle) / (12.0 * STEP * STEP);
                    let at = output * n_rows + row;
                    for (found, expected) in [(grad[at], first), (hess[at], second)] {
                        prop_assert!((f64::from(found) - expected).abs() <= 1e-5 * expected.abs() + 1e-9, "{found} is not {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn starts_from_the_shares_of_the_grades() {
    let docs: [Doc; 4] = [(0, 3.0, 0.0), (0, 0.0, 0.0), (1, 0.0, 0.0), (1, 1.0, 0.0)];
    let data = crate::dataset(&docs);
    let objective = bind(&data, |spec| spec.label_gain = vec![0.0, 2.0, 3.0, 9.0]).unwrap();
    let classes = objective.classes().unwrap();
    assert_eq!(classes.gains, [0.0, 2.0, 9.0]);
    assert_eq!(classes.base_scores, [0.5, 0.25, 0.25].map(f64::ln));
}

#[test]
fn labels_that_are_no_grades_are_refused() {
    let bind = |docs: &[Doc]| bind(&crate::dataset(docs), |_| ()).err();
    let error = bind(&[(0, 1.0, 0.0), (1, 0.5, 0.0)]).unwrap();
    assert_eq!(error, ObjectiveError::NoGrade { label: 0.5, query: "q1".into() });
    let error = bind(&[(0, 2.0, 0.0), (1, 2.0, 0.0)]).unwrap();
    assert_eq!(error, ObjectiveError::OneLabel { objective: "multiclass", label: 2.0 });
    let many: Vec<Doc> = (0..40u8).map(|label| (0, f32::from(label), 0.0)).collect();
    assert_eq!(bind(&many), Some(ObjectiveError::ManyGrades { most: 32 }));
    assert!(matches!(bind(&[(0, 0.0, 0.0), (1, 1000.0, 0.0)]), Some(ObjectiveError::Label(_))));
}
