//! Scores have the same bits as the reference implementation.

mod linear;
mod random;

use proptest::prelude::*;
use random::{Kind, Shapes, model, values};
use rankwise_model::{ExpectedGain, Model, Output, Precision, Tree, TreeEnsemble};
use rankwise_score::{Rows, Scorer, Scratch};
use rankwise_simd::SimdLevel;

/// Scores with all instruction sets, in one batch and document by document, and compares with the reference.
fn check(model: &Model, values: &[f64]) {
    let n_features = model.features().len();
    let n_docs = values.len() / n_features;
    let narrow: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let reference = |values: &[f64]| -> Vec<u64> {
        values.chunks(n_features).map(|values| model.score(values).to_bits()).collect()
    };
    let of_wide = reference(values);
    let of_narrow = reference(&narrow.iter().map(|value| f64::from(*value)).collect::<Vec<_>>());
    for simd in SimdLevel::available() {
        let scorer = Scorer::with_simd(model, simd);
        let mut scratch = Scratch::default();
        let mut scores = vec![f64::NAN; n_docs];
        scorer.score(&Rows::new(values, n_features, n_docs), &mut scores, &mut scratch);
        assert_eq!(bits(&scores), of_wide, "{simd:?}");
        scorer.score(&Rows::new(&narrow, n_features, n_docs), &mut scores, &mut scratch);
        assert_eq!(bits(&scores), of_narrow, "{simd:?}, f32");
        // Features in another order, with an unused column.
        let turned: Vec<f64> =
            values.chunks(n_features).flat_map(|values| values.iter().rev().copied().chain([f64::NAN])).collect();
        let columns: Vec<usize> = (0..n_features).rev().collect();
        scorer.score(&Rows::with_columns(&turned, n_features + 1, n_docs, &columns), &mut scores, &mut scratch);
        assert_eq!(bits(&scores), of_wide, "{simd:?}, columns turned");
        for (doc, values) in values.chunks(n_features).enumerate() {
            let mut score = [0.0];
            scorer.score(&Rows::new(values, n_features, 1), &mut score, &mut scratch);
            assert_eq!(score[0].to_bits(), of_wide[doc], "{simd:?}, document {doc} alone");
        }
    }
}

/// Compares the best `k` documents with a full sort by score.
fn best_of_all(model: &Model, values: &[f64], k: usize) {
    let n_docs = values.len() / model.features().len();
    let docs = Rows::new(values, model.features().len(), n_docs);
    for simd in SimdLevel::available() {
        let scorer = Scorer::with_simd(model, simd);
        let mut scratch = Scratch::default();
        let mut scores = vec![0.0; n_docs];
        scorer.score(&docs, &mut scores, &mut scratch);
        let mut expected: Vec<(usize, f64)> = scores.into_iter().enumerate().collect();
        expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        expected.truncate(k);
        assert_eq!(scorer.top(&docs, k, &mut scratch), expected, "{simd:?}");
    }
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_way_gives_the_bits_of_the_reference(
        seed in any::<u64>(), n_docs in 1usize..700, leaves in 1usize..300, oblivious in any::<bool>(), wide in any::<bool>(),
    ) {
        let precision = if wide { Precision::F64 } else { Precision::F32 };
        let kind = if oblivious { Kind::Oblivious } else { Kind::Any };
        let shapes = Shapes { n_trees: 5, max_leaves: leaves, n_features: 7, n_thresholds: 40, precision, kind };
        let model = model(&shapes, seed);
        check(&model, &values(&model, n_docs, seed));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Each output has its own trees.
    #[test]
    fn several_outputs_give_the_bits_of_the_reference(
        seed in any::<u64>(), n_docs in 1usize..700, leaves in 1usize..60, oblivious in any::<bool>(), n_outputs in 1usize..5,
        k in 1usize..20,
    ) {
        let kind = if oblivious { Kind::Oblivious } else { Kind::Any };
        let (n_trees, precision) = (3 * n_outputs, Precision::F32);
        let shapes = Shapes { n_trees, max_leaves: leaves, n_features: 7, n_thresholds: 40, precision, kind };
        let numbers = |step: f64| (0..n_outputs).map(|output| output as f64 * step).collect::<Vec<f64>>();
        let output = Output::ExpectedGain(ExpectedGain { gains: numbers(1.5), base_scores: numbers(-0.3) });
        let model = model(&shapes, seed);
        let trees = model.tree_ensemble().unwrap().trees().to_vec();
        let model = model.with_ranker(TreeEnsemble::new(0.0, output, trees).unwrap()).unwrap();
        let values = values(&model, n_docs, seed);
        check(&model, &values);
        best_of_all(&model, &values, k);
    }
}

#[test]
fn features_with_more_thresholds_than_a_byte_has_values() {
    let shapes = Shapes {
        n_trees: 40,
        max_leaves: 64,
        n_features: 2,
        n_thresholds: 3000,
        precision: Precision::F64,
        kind: Kind::Any,
    };
    let model = model(&shapes, 5);
    check(&model, &values(&model, 600, 6));
}

#[test]
fn trees_of_any_size() {
    for max_leaves in [255, 256, 257, 1000, 5000, 20_000] {
        let shapes = Shapes {
            n_trees: 2,
            max_leaves,
            n_features: 3,
            n_thresholds: 200,
            precision: Precision::F32,
            kind: Kind::Whole,
        };
        let model = model(&shapes, max_leaves as u64);
        check(&model, &values(&model, 70, 8));
    }
}

#[test]
fn a_model_without_trees_gives_its_base_score() {
    let shapes = Shapes {
        n_trees: 0,
        max_leaves: 1,
        n_features: 1,
        n_thresholds: 1,
        precision: Precision::F32,
        kind: Kind::Any,
    };
    check(&model(&shapes, 1), &[1.0, f64::NAN]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The best documents are the same as in a full sort, in the same order and with the same bits, even with many
    /// ties.
    #[test]
    fn the_best_are_the_best_of_all(seed in any::<u64>(), n_docs in 1usize..1300, k in 0usize..40, steep in any::<bool>()) {
        let shapes = Shapes {
            n_trees: 60, max_leaves: 16, n_features: 5, n_thresholds: 30, precision: Precision::F32, kind: Kind::Any,
        };
        let mut model = model(&shapes, seed);
        if steep {
            // The first trees have most of the effect, so that most documents are dropped early.
            let ensemble = model.tree_ensemble().unwrap();
            let steep = |(idx, tree): (usize, &Tree)| tree.scaled(0.7f64.powi(idx as i32));
            let trees = ensemble.trees().iter().enumerate().map(steep).collect();
            model = model.with_ranker(ensemble.with_trees(trees).unwrap()).unwrap();
        }
        let values = values(&model, n_docs, seed);
        best_of_all(&model, &values, k);
    }
}
