//! Gradients of some queries are those that they have among all.

use rankwise_data::SimdLevel;
use rankwise_metrics::Rules;
use rankwise_objectives::{ObjectiveKind, Round, gradients, gradients_of};

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
