//! Differences against Shapley's formula over all sets of features.

use proptest::prelude::*;
use rankwise_explain::{ExplainError, difference};
use rankwise_model::{AbsentFeature, ExpectedGain, Header, LinearRanker, Model, Output, Precision, Tree, TreeEnsemble};

use crate::models::{documents, model, tree};

const FEATURES: u32 = 6;

fn by_sets(model: &Model, first: &[f64], second: &[f64]) -> Vec<f64> {
    let n = first.len();
    let worth = |set: u32| {
        let hybrid: Vec<f64> =
            (0..n).map(|feature| if set >> feature & 1 == 1 { first[feature] } else { second[feature] }).collect();
        model.score(&hybrid)
    };
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let of_feature = |feature: usize| {
        let without = (0..1u32 << n).filter(|set| set >> feature & 1 == 0);
        let term = |set: u32| {
            let share = factorial(set.count_ones()) * factorial(n as u32 - set.count_ones() - 1) / factorial(n as u32);
            share * (worth(set | 1 << feature) - worth(set))
        };
        without.map(term).sum()
    };
    (0..n).map(of_feature).collect()
}

proptest! {
    #[test]
    fn contributions_are_those_of_the_definition(
        trees in prop::collection::vec(tree(FEATURES, 14), 1..4),
        values in documents(FEATURES as usize, 2),
    ) {
        let model = model(FEATURES, trees);
        let values: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        let (first, second) = values.split_at(FEATURES as usize);
        let found = difference(&model, first, second).unwrap();
        for (feature, (found, expected)) in found.iter().zip(by_sets(&model, first, second)).enumerate() {
            prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
            let is_equal = first[feature] == second[feature] || (first[feature].is_nan() && second[feature].is_nan());
            prop_assert!(!is_equal || *found == 0.0, "equal values contribute nothing");
        }
        let sum: f64 = found.iter().sum();
        prop_assert!((sum - (model.score(first) - model.score(second))).abs() < 1e-12);
    }
}

#[test]
fn linear_models_contribute_by_their_weights() {
    let header = Header::new(AbsentFeature::Missing, Precision::F64, vec![1, 2, 3]);
    let model = Model::new(header, LinearRanker::new(7.0, vec![2.0, -1.0, 1e300]).unwrap()).unwrap();
    let found = difference(&model, &[3.0, f64::NAN, 1e300], &[1.0, 4.0, f64::NAN]).unwrap();
    assert_eq!(found, [4.0, 4.0, f64::MAX]);
}

#[test]
fn scores_that_are_no_sums_are_refused() {
    let output = Output::ExpectedGain(ExpectedGain { gains: vec![0.0, 1.0], base_scores: vec![0.0; 2] });
    let trees = TreeEnsemble::new(0.0, output, vec![Tree::constant(1.0, 1); 2]).unwrap();
    let model = Model::new(Header::new(AbsentFeature::Missing, Precision::F32, vec![]), trees).unwrap();
    assert!(matches!(difference(&model, &[], &[]), Err(ExplainError::SeveralOutputs)));
}
