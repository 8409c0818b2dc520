//! Computing only some queries gives the same gradients for them.

use rankwise_data::{DatasetBuilder, Row, SimdLevel};
use rankwise_metrics::Rules;
use rankwise_objectives::{
    AllAtOnce, AllDocs, AllQueries, GradientSlices, ObjectiveKind, Round, gradients, gradients_of,
};

use crate::{Doc, dataset, params};

#[test]
fn queries_that_are_not_wanted_change_nothing_for_the_others() {
    let docs: Vec<Doc> = (0..60u8).map(|idx| (idx % 7, f32::from(idx % 4), 0.0)).collect();
    let data = dataset(&docs);
    let is_wanted = |query: usize| query % 3 != 1;
    let round = Round { tree: 3, seed: 9 };
    for kind in [
        ObjectiveKind::LambdaMart,
        ObjectiveKind::Multiclass,
        ObjectiveKind::StochasticRank,
        ObjectiveKind::Rmse,
        ObjectiveKind::RankNet,
    ] {
        let objective = params(|spec| spec.objective = kind).bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
        let n_outputs = objective.classes().map_or(1, |classes| classes.gains.len());
        let scores: Vec<f64> = (0..n_outputs * data.n_rows()).map(|place| (place % 13) as f64 / 5.0).collect();
        let (mut grad, mut hess) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
        let (mut some_grad, mut some_hess) = (grad.clone(), hess.clone());
        gradients(&*objective, &data, round, &scores, (&mut grad, &mut hess));
        gradients_of(&*objective, &data, is_wanted, round, &scores, (&mut some_grad, &mut some_hess));
        for query in (0..data.n_queries()).filter(|query| is_wanted(*query)) {
            for place in (0..n_outputs).flat_map(|output| data.query_rows(query).map(move |row| output * 60 + row)) {
                assert_eq!(grad[place].to_bits(), some_grad[place].to_bits(), "{kind:?}");
                assert_eq!(hess[place].to_bits(), some_hess[place].to_bits(), "{kind:?}");
            }
        }
        assert_ne!(grad, some_grad, "{kind:?}: others are not computed");
    }
}

/// The gradient of squared error, for all documents at once, on the calling thread.
struct AllResiduals(std::thread::ThreadId);

impl AllQueries for AllResiduals {
    fn gradients(&self, docs: AllDocs<'_>, out: GradientSlices<'_>) {
        assert_eq!(std::thread::current().id(), self.0);
        for (row, label) in docs.data.labels().iter().enumerate() {
            out.grad[row] = (docs.scores[row] - f64::from(*label)) as f32;
            out.hess[row] = 1.0;
        }
    }
}

#[test]
fn a_loss_may_take_all_queries_at_once_on_the_calling_thread() {
    let mut builder = DatasetBuilder::default();
    for doc in 0..50u8 {
        let (qid, label) = (format!("q{}", doc % 6), f32::from(doc % 3));
        builder.push(&Row { qid: &qid, label, ..Row::default() }).unwrap();
    }
    builder.row_weights((0..50u8).map(|doc| f32::from(doc % 4)).collect());
    let data = builder.finish().unwrap();
    let scores: Vec<f64> = (0..50u8).map(|row| f64::from(row) / 7.0).collect();
    let by_query =
        params(|spec| spec.objective = ObjectiveKind::Rmse).bind(&data, &Rules::default(), SimdLevel::best());
    let (mut grad, mut hess) = (vec![0.0; 50], vec![0.0; 50]);
    gradients(&*by_query.unwrap(), &data, Round::default(), &scores, (&mut grad, &mut hess));
    let (mut all_grad, mut all_hess) = (vec![0.0; 50], vec![0.0; 50]);
    let loss = AllAtOnce(AllResiduals(std::thread::current().id()));
    gradients(&loss, &data, Round::default(), &scores, (&mut all_grad, &mut all_hess));
    assert_eq!((grad, hess), (all_grad, all_hess));
}
