use rankwise_data::{DatasetBuilder, Row, Share, SimdLevel};
use rankwise_metrics::Rules;
use rankwise_objectives::{Objective, ObjectiveError, ObjectiveKind, ObjectiveSpec, Rmse};

use crate::{Doc, gradients};

#[test]
fn gradient_is_the_residual_and_weights_multiply_it() {
    let docs: [Doc; 3] = [(0, 2.0, 0.5), (0, 0.0, 1.0), (1, 1.0, 1.0)];
    let params = ObjectiveSpec { objective: ObjectiveKind::Rmse, ..Default::default() }.check().unwrap();
    let (grad, hess) = gradients(&docs, |data| params.bind(data, &Rules::default(), SimdLevel::best()).unwrap());
    assert_eq!((grad, hess), (vec![-1.5, 1.0, 0.0], vec![1.0; 3]));

    let mut builder = DatasetBuilder::default();
    for (qid, label) in [("a", 2.0), ("a", 0.0), ("b", 1.0)] {
        builder.push(&Row { qid, label, ..Row::default() }).unwrap();
    }
    builder.row_weights(vec![1.0, 0.5, 2.0]);
    builder.query_weights(vec![4.0, 1.0]);
    let data = builder.finish().unwrap();
    assert_eq!(
        Rmse::new(&Share::alone(&data)).unwrap().base_score(),
        (2.0 * 4.0 + 0.0 + 1.0 * 2.0) / (4.0 + 2.0 + 2.0)
    );
    let (grad, hess) =
        crate::gradients_of(&data, &[0.0; 3], |data| params.bind(data, &Rules::default(), SimdLevel::best()).unwrap());
    assert_eq!((grad, hess), (vec![-8.0, 0.0, -2.0], vec![4.0, 2.0, 2.0]));
}

#[test]
fn no_weight_is_an_error() {
    let mut builder = DatasetBuilder::default();
    builder.push(&Row { qid: "a", label: 2.0, ..Row::default() }).unwrap();
    builder.row_weights(vec![0.0]);
    assert!(matches!(Rmse::new(&Share::alone(&builder.finish().unwrap())), Err(ObjectiveError::NoWeight)));
}
