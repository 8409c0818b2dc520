//! SHAP values against Shapley's formula over all sets of features, where a tree is averaged over what is not known.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use rankwise_explain::{ExplainError, InteractionBuffers, Interactions, Shap, ShapBuffers};
use rankwise_model::{Child, Model, Tree, TreeParts};
use rankwise_score::Rows;

use crate::models::{documents, model, tree};

/// The expected value of a tree at a node, if the values of the features in `known` are known.
fn expected(tree: &Tree, at: Child, known: u32, values: &[f64]) -> f64 {
    let parts = tree.parts();
    let node = match at {
        Child::Leaf(leaf) => return parts.leaf_value[leaf],
        Child::Node(node) => node,
    };
    let [left, right] = [parts.left[node], parts.right[node]].map(Child::decode);
    let feature = parts.feature[node];
    if known >> feature & 1 == 1 {
        let value = values[feature as usize];
        let is_left = if value.is_nan() { parts.missing_left[node] } else { value <= parts.threshold[node] };
        return expected(tree, if is_left { left } else { right }, known, values);
    }
    let (rows_left, rows_right) = (rows(tree, left), rows(tree, right));
    let share = if rows_left + rows_right > 0.0 { rows_left / (rows_left + rows_right) } else { 0.5 };
    share * expected(tree, left, known, values) + (1.0 - share) * expected(tree, right, known, values)
}

fn rows(tree: &Tree, at: Child) -> f64 {
    match at {
        Child::Leaf(leaf) => tree.cover(leaf),
        Child::Node(node) => {
            [tree.parts().left[node], tree.parts().right[node]].map(|code| rows(tree, Child::decode(code))).iter().sum()
        }
    }
}

fn root(tree: &Tree) -> Child {
    if tree.n_nodes() == 0 { Child::Leaf(0) } else { Child::Node(0) }
}

/// The expected score for each set of known features.
fn worth(model: &Model, values: &[f64]) -> Vec<f64> {
    let trees = model.tree_ensemble().unwrap().trees();
    let of_set = |known| trees.iter().map(|tree| expected(tree, root(tree), known, values)).sum();
    (0..1u32 << model.features().len()).map(of_set).collect()
}

fn factorial(n: u32) -> f64 {
    (1..=n).map(f64::from).product()
}

fn by_sets(model: &Model, values: &[f64]) -> Vec<f64> {
    let n = model.features().len() as u32;
    let worth = worth(model, values);
    let of_feature = |feature: u32| {
        let without = (0..1u32 << n).filter(|set| set >> feature & 1 == 0);
        let term = |set: u32| {
            let share = factorial(set.count_ones()) * factorial(n - set.count_ones() - 1) / factorial(n);
            share * (worth[(set | 1 << feature) as usize] - worth[set as usize])
        };
        without.map(term).sum()
    };
    (0..n).map(of_feature).collect()
}

fn shap(model: &Model, values: &[f32]) -> (f64, Vec<f64>) {
    let shap = Shap::new(model).unwrap();
    let n_features = model.features().len();
    let mut found = vec![0.0; values.len()];
    let docs = Rows::new(values, n_features, values.len() / n_features);
    shap.values(&docs, &mut found, &mut ShapBuffers::default());
    (shap.expected()[0], found)
}

const FEATURES: u32 = 6;

proptest! {
    #[test]
    fn values_are_those_of_the_definition(
        trees in prop::collection::vec(tree(FEATURES, 14), 1..4),
        values in documents(FEATURES as usize, 5),
    ) {
        let model = model(FEATURES, trees);
        let (_, found) = shap(&model, &values);
        for (doc, found) in values.chunks(FEATURES as usize).zip(found.chunks(FEATURES as usize)) {
            let doc: Vec<f64> = doc.iter().map(|value| f64::from(*value)).collect();
            for (found, expected) in found.iter().zip(by_sets(&model, &doc)) {
                prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
            }
        }
    }

    #[test]
    fn values_add_up_to_the_score(
        trees in prop::collection::vec(tree(40, 60), 1..6),
        values in documents(40, 8),
    ) {
        let model = model(40, trees);
        let (expected, found) = shap(&model, &values);
        for (doc, found) in values.chunks(40).zip(found.chunks(40)) {
            let doc: Vec<f64> = doc.iter().map(|value| f64::from(*value)).collect();
            let all: f64 = expected.abs() + found.iter().map(|value| value.abs()).sum::<f64>();
            let sum = expected + found.iter().sum::<f64>();
            prop_assert!((sum - model.score(&doc)).abs() <= 1e-9 * all);
        }
    }
}

/// The interaction of two features, by its definition over all sets without them.
fn pair_by_sets(model: &Model, values: &[f64], a: u32, b: u32) -> f64 {
    let n = model.features().len() as u32;
    let worth = worth(model, values);
    let worth = |set: u32| worth[set as usize];
    let both = 1 << a | 1 << b;
    let term = |set: u32| {
        let share = factorial(set.count_ones()) * factorial(n - set.count_ones() - 2) / factorial(n - 1);
        share * (worth(set | both) - worth(set | 1 << a) - worth(set | 1 << b) + worth(set))
    };
    (0..1u32 << n).filter(|set| set & both == 0).map(term).sum()
}

proptest! {
    #[test]
    fn interactions_are_those_of_the_definition(
        trees in prop::collection::vec(tree(FEATURES, 14), 1..3),
        values in documents(FEATURES as usize, 3),
    ) {
        let model = model(FEATURES, trees);
        let interactions = Interactions::new(&model).unwrap();
        let mut found = vec![0.0; 3 * interactions.n_values()];
        interactions.values(&Rows::new(&values, FEATURES as usize, 3), &mut found, &mut InteractionBuffers::default());
        for (place, doc) in values.chunks(FEATURES as usize).enumerate() {
            let doc: Vec<f64> = doc.iter().map(|value| f64::from(*value)).collect();
            for (a, b) in (0..FEATURES).flat_map(|a| (a + 1..FEATURES).map(move |b| (a, b))) {
                let slot = interactions.pairs().iter().position(|pair| *pair == (a, b));
                let found = slot.map_or(0.0, |slot| found[place * interactions.n_values() + slot]);
                let expected = pair_by_sets(&model, &doc, a, b);
                prop_assert!((found - expected).abs() < 1e-12, "{} {}", found, expected);
            }
        }
    }
}

/// A chain of splits on different features, each of which sends half of the rows on. Only the first leaves have a value.
fn chain(n_features: u32) -> Model {
    let n = n_features as i32;
    let half = |leaf: i32| 0.5f64.powi(leaf.min(n - 1));
    let parts = TreeParts {
        feature: (0..n_features).collect(),
        threshold: vec![0.5; n_features as usize],
        missing_left: vec![false; n_features as usize],
        left: (0..n).map(|node| !node).collect(),
        right: (0..n).map(|node| if node + 1 < n { node + 1 } else { !n }).collect(),
        gain: vec![1.0; n_features as usize],
        count: vec![1; n_features as usize],
        leaf_value: (0..=n).map(|leaf| if leaf < 20 { f64::from(leaf) } else { 0.0 }).collect(),
        leaf_count: vec![0; n_features as usize + 1],
        leaf_cover: (0..=n).map(half).collect(),
    };
    model(n_features, vec![Tree::new(parts).unwrap()])
}

#[test]
fn paths_may_be_longer_than_a_pattern() {
    let values: Vec<f32> = (0..70).map(|feature| if feature < 5 { 1.0 } else { 0.0 }).collect();
    let (_, short) = shap(&chain(60), &values[..60]);
    let (_, long) = shap(&chain(70), &values);
    for feature in 0..20 {
        assert!(short[feature] != 0.0, "{feature}");
        assert!((short[feature] - long[feature]).abs() < 1e-12, "{feature}: {} {}", short[feature], long[feature]);
    }
    assert!(short[20..].iter().chain(&long[20..]).all(|value| *value == 0.0));
    assert!(Interactions::new(&chain(60)).is_ok());
    assert!(matches!(Interactions::new(&chain(70)), Err(ExplainError::TooDeep { tree: 0 })));
    let eight = chain(8);
    let (_, fast) = shap(&eight, &values[..8]);
    let doc: Vec<f64> = values[..8].iter().map(|value| f64::from(*value)).collect();
    for (fast, slow) in fast.iter().zip(by_sets(&eight, &doc)) {
        assert!((fast - slow).abs() < 1e-12);
    }
}

#[test]
fn documents_do_not_depend_on_each_other() {
    let strategy = (prop::collection::vec(tree(FEATURES, 14), 3), documents(FEATURES as usize, 50));
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (trees, values) = strategy.new_tree(&mut runner).unwrap().current();
    let model = model(FEATURES, trees);
    let (_, all) = shap(&model, &values);
    for (doc, expected) in values.chunks(FEATURES as usize).zip(all.chunks(FEATURES as usize)) {
        assert_eq!(shap(&model, doc).1, expected);
    }
}

#[test]
fn trees_without_counts_are_refused() {
    let mut parts = chain(3).tree_ensemble().unwrap().trees()[0].parts().clone();
    parts.leaf_cover.clear();
    let model = model(3, vec![Tree::constant(1.0, 0), Tree::new(parts.clone()).unwrap()]);
    assert!(matches!(Shap::new(&model), Err(ExplainError::NoCounts { tree: 1 })));
    parts.leaf_cover = vec![0.25, 0.5, 0.25, 1.0];
    let weighed = crate::models::model(3, vec![Tree::new(parts).unwrap()]);
    // (0.25 * 0 + 0.5 * 1 + 0.25 * 2 + 1 * 3) / 2, and the base score.
    assert!((Shap::new(&weighed).unwrap().expected()[0] - (2.0 + 0.25)).abs() < 1e-12);
}
