use proptest::prelude::*;
use rankwise_data::SimdLevel;
use rankwise_metrics::Rules;
use rankwise_objectives::{ObjectiveKind, Round};

use crate::differences::{List, dataset, lists, queries};
use crate::params;

/// The formulas as defined, without weights.
fn direct(list: &List) -> Vec<(f64, f64)> {
    let n = list.labels.len();
    if n == 1 {
        return vec![(0.0, 0.0)];
    }
    let largest = list.scores.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = list.scores.iter().map(|score| (score - largest).exp()).sum();
    let rho: Vec<f64> = list.scores.iter().map(|score| (score - largest).exp() / sum).collect();
    let gamma: Vec<f64> = (0..n).map(|i| list.labels[i].exp2() - list.uniforms[i]).collect();
    let gammas: f64 = gamma.iter().sum();
    let rest = |i: usize| (1.0 - rho[i]).max(1e-15);
    let t1: Vec<f64> = (0..n).map(|i| rho[i] - gamma[i] / gammas).collect();
    let next = |term: &[f64]| -> Vec<f64> {
        let sum: f64 = (0..n).map(|j| term[j] / rest(j)).sum();
        (0..n).map(|i| rho[i] * (sum - term[i] / rest(i))).collect()
    };
    let t2 = next(&t1);
    let t3 = next(&t2);
    (0..n).map(|i| (t1[i] + t2[i] + t3[i], rho[i] * (1.0 - rho[i]))).collect()
}

proptest! {
    #[test]
    fn agrees_with_the_formulas(lists in lists((0u8..5).prop_map(f32::from), 150)) {
        let (data, scores) = dataset(&lists);
        let params = params(|spec| spec.objective = ObjectiveKind::XeNdcg);
        let Ok(objective) = params.bind(&data, &Rules::default(), SimdLevel::best()) else { return Ok(()) };
        let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
        rankwise_objectives::gradients(&*objective, &data, Round::default(), &scores, (&mut grad, &mut hess));
        for (query, list) in data.queries().zip(queries(&data, &scores)) {
            let expected = direct(&list);
            let largest = expected.iter().fold(0.0f64, |largest, (grad, _)| largest.max(grad.abs()));
            for (doc, (first, second)) in expected.into_iter().enumerate() {
                let (row, weight) = (query.rows.start + doc, list.query_weight * list.weights[doc]);
                let (found, wanted) = (f64::from(grad[row]), first * weight);
                prop_assert!((found - wanted).abs() <= 1e-6 * (wanted.abs() + largest), "{found} is not {wanted}");
                let (found, wanted) = (f64::from(hess[row]), second * weight);
                prop_assert!((found - wanted).abs() <= 1e-6 * wanted + 1e-12, "{found} is not {wanted}");
            }
        }
    }
}

/// Gains are drawn again for each tree, depending on the seed.
#[test]
fn draws_differ_from_tree_to_tree() {
    let docs = [(0, 2.0, 0.5), (0, 0.0, 1.0), (0, 1.0, 1.0)];
    let data = crate::dataset(&docs);
    let params = params(|spec| spec.objective = ObjectiveKind::XeNdcg);
    let objective = params.bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
    let of_round = |tree: u32, seed: u64| {
        let (mut grad, mut hess) = (vec![0.0; 3], vec![0.0; 3]);
        rankwise_objectives::gradients(&*objective, &data, Round { tree, seed }, &[0.0; 3], (&mut grad, &mut hess));
        grad
    };
    assert_eq!(of_round(0, 1), of_round(0, 1));
    assert_ne!(of_round(0, 1), of_round(1, 1));
    assert_ne!(of_round(0, 1), of_round(0, 2));
}
