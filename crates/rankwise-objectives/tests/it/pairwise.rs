//! Compares RankNet and the hinge with central differences of their losses.

use proptest::prelude::*;
use rankwise_data::{Dataset, DatasetBuilder, Pair, Row, SimdLevel};
use rankwise_metrics::Rules;
use rankwise_objectives::{Objective, ObjectiveError, ObjectiveKind, ObjectiveParams, ObjectiveSpec};

use crate::gradients_of;

fn params(objective: ObjectiveKind, sigmoid: f64) -> ObjectiveParams {
    ObjectiveSpec { objective, sigmoid, ..ObjectiveSpec::default() }.check().unwrap()
}

fn bind(params: &ObjectiveParams) -> impl Fn(&Dataset) -> Box<dyn Objective> {
    |data| params.bind(data, &Rules::default(), SimdLevel::best()).unwrap()
}

/// One query with these labels, weights and pairs.
fn dataset(labels: &[f32], weights: Option<Vec<f32>>, pairs: Vec<Pair>) -> Dataset {
    let mut builder = DatasetBuilder::default();
    for (idx, label) in labels.iter().enumerate() {
        let doc_id = format!("d{idx:03}");
        builder.push(&Row { qid: "q", label: *label, doc_id: &doc_id, features: &[] }).unwrap();
    }
    if let Some(weights) = weights {
        builder.row_weights(weights);
    }
    if !pairs.is_empty() {
        builder.pairs(pairs);
    }
    builder.finish().unwrap()
}

/// The loss of a pair with the given score difference.
fn loss(objective: ObjectiveKind, sigmoid: f64, distance: f64) -> f64 {
    let distance = sigmoid * distance;
    match objective {
        ObjectiveKind::RankNet => (-distance.abs()).exp().ln_1p() + (-distance).max(0.0),
        _ => 0.5 * (1.0 - distance).max(0.0).powi(2),
    }
}

/// All pairs with different labels.
fn from_labels(labels: &[f32]) -> Vec<Pair> {
    let all = (0..labels.len()).flat_map(|winner| (0..labels.len()).map(move |loser| (winner, loser)));
    let better = all.filter(|(winner, loser)| labels[*winner] > labels[*loser]);
    better.map(|(winner, loser)| Pair::new(winner as u32, loser as u32)).collect()
}

/// Central differences of the sum over pairs.
fn differences(objective: ObjectiveKind, sigmoid: f64, scores: &[f64], pairs: &[Pair]) -> Vec<(f64, f64)> {
    // The sum over the pairs of one document; no other pair depends on its score.
    let of_doc = |doc: usize, shift: f64, pairs: &[Pair]| -> f64 {
        let score = |row: u32| scores[row as usize] + if row as usize == doc { shift } else { 0.0 };
        pairs
            .iter()
            .map(|pair| {
                let (distance, q) = (score(pair.winner) - score(pair.loser), f64::from(pair.probability));
                let straight = loss(objective, sigmoid, distance);
                f64::from(pair.weight) * (q * straight + (1.0 - q) * loss(objective, sigmoid, -distance))
            })
            .sum()
    };
    let mut by_doc = vec![Vec::new(); scores.len()];
    for pair in pairs {
        by_doc[pair.winner as usize].push(*pair);
        by_doc[pair.loser as usize].push(*pair);
    }
    let (small, large) = (1e-5, 1e-3);
    (0..scores.len())
        .map(|doc| {
            let at = |shift: f64| of_doc(doc, shift, &by_doc[doc]);
            let first = (at(small) - at(-small)) / (2.0 * small);
            (first, (at(large) - 2.0 * at(0.0) + at(-large)) / (large * large))
        })
        .collect()
}

fn close(found: &[f32], expected: impl Iterator<Item = f64>) -> Result<(), TestCaseError> {
    let expected: Vec<f64> = expected.collect();
    let largest = expected.iter().fold(1e-3, |largest: f64, value| largest.max(value.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        prop_assert!((f64::from(*found) - expected).abs() <= 1e-5 * largest, "{} is not {}", found, expected);
    }
    Ok(())
}

fn objectives() -> impl Strategy<Value = ObjectiveKind> {
    prop::sample::select(&[ObjectiveKind::RankNet, ObjectiveKind::Hinge])
}

/// Labels and scores, with ties in both. Distances are near the hinge at 1, where there is no second derivative, only
/// by chance.
fn docs(longest: usize) -> impl Strategy<Value = Vec<(f32, f64)>> {
    let score = prop_oneof![(-8i8..8).prop_map(|step| f64::from(step) * 0.375), -3.0f64..3.0];
    let score = score.prop_map(|score| f64::from(score as f32));
    prop_oneof![2..12usize, 2..longest]
        .prop_flat_map(move |n| prop::collection::vec(((0u8..4).prop_map(f32::from), score.clone()), n..=n))
}

fn is_at_the_hinge(scores: &[f64], pairs: &[Pair]) -> bool {
    let distance = |pair: &Pair| (scores[pair.winner as usize] - scores[pair.loser as usize]).abs();
    pairs.iter().any(|pair| (distance(pair) - 1.0).abs() < 2e-3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pairs_of_labels_have_the_derivatives_of_the_loss(
        mut docs in docs(500), objective in objectives(), sigmoid in 0.3f64..2.0, weigh in any::<bool>(),
    ) {
        (docs[0].0, docs[1].0) = (0.0, 1.0);
        let sigmoid = if objective == ObjectiveKind::Hinge { 1.0 } else { f64::from(sigmoid as f32) };
        let (labels, mut scores): (Vec<f32>, Vec<f64>) = docs.iter().copied().unzip();
        if objective == ObjectiveKind::Hinge {
            // On a grid that avoids it.
            for score in &mut scores {
                *score = (*score / 0.375).round() * 0.375;
            }
        }
        let weights: Vec<f32> = (0..labels.len()).map(|doc| (doc % 4) as f32 * 0.5).collect();
        let data = dataset(&labels, weigh.then(|| weights.clone()), Vec::new());
        let (grad, hess) = gradients_of(&data, &scores, bind(&params(objective, sigmoid)));
        let expected = differences(objective, sigmoid, &scores, &from_labels(&labels));
        let weight = |doc: usize| if weigh { f64::from(weights[doc]) } else { 1.0 };
        close(&grad, expected.iter().enumerate().map(|(doc, pair)| pair.0 * weight(doc)))?;
        close(&hess, expected.iter().enumerate().map(|(doc, pair)| pair.1 * weight(doc)))?;
    }

    #[test]
    fn given_pairs_have_the_derivatives_of_the_loss(
        docs in docs(40), objective in objectives(), sigmoid in 0.3f64..2.0,
        drawn in prop::collection::vec((any::<u16>(), any::<u16>(), 0.1f32..3.0, prop_oneof![Just(1.0f32), 0.0f32..=1.0]), 1..80),
    ) {
        let sigmoid = if objective == ObjectiveKind::Hinge { 1.0 } else { sigmoid };
        let scores: Vec<f64> = docs.iter().map(|doc| doc.1).collect();
        let n_docs = docs.len() as u32;
        // Both directions of a pair, and repeated pairs, are allowed.
        let pairs: Vec<Pair> = drawn.iter().filter_map(|(a, b, weight, probability)| {
            let (winner, loser) = (u32::from(*a) % n_docs, u32::from(*b) % n_docs);
            (winner != loser).then_some(Pair { winner, loser, weight: *weight, probability: *probability })
        }).collect();
        prop_assume!(!pairs.is_empty());
        prop_assume!(objective != ObjectiveKind::Hinge || !is_at_the_hinge(&scores, &pairs));
        // No labels.
        let data = dataset(&vec![0.0; docs.len()], None, pairs.clone());
        let (grad, hess) = gradients_of(&data, &scores, bind(&params(objective, sigmoid)));
        let expected = differences(objective, sigmoid, &scores, &pairs);
        close(&grad, expected.iter().map(|pair| pair.0))?;
        close(&hess, expected.iter().map(|pair| pair.1))?;
    }

    /// Labels and the pairs they imply give the same.
    #[test]
    fn labels_are_the_pairs_that_they_stand_for(mut docs in docs(60), objective in objectives()) {
        (docs[0].0, docs[1].0) = (0.0, 1.0);
        let (labels, scores): (Vec<f32>, Vec<f64>) = docs.iter().copied().unzip();
        let params = params(objective, 1.0);
        let by_labels = gradients_of(&dataset(&labels, None, Vec::new()), &scores, bind(&params));
        let by_pairs = gradients_of(&dataset(&labels, None, from_labels(&labels)), &scores, bind(&params));
        close(&by_labels.0, by_pairs.0.iter().map(|value| f64::from(*value)))?;
        // A pair exactly at the hinge may count or not.
        if objective == ObjectiveKind::RankNet {
            close(&by_labels.1, by_pairs.1.iter().map(|value| f64::from(*value)))?;
        }
    }
}

#[test]
fn a_certain_pair_pulls_until_it_is_in_order_and_an_even_one_pulls_together() {
    let of_pair = |objective, probability: f32, scores: [f64; 2]| {
        let pair = Pair { probability, ..Pair::new(0, 1) };
        gradients_of(&dataset(&[0.0; 2], None, vec![pair]), &scores, bind(&params(objective, 1.0))).0
    };
    for objective in [ObjectiveKind::RankNet, ObjectiveKind::Hinge] {
        assert!(of_pair(objective, 1.0, [0.0, 0.0])[0] < 0.0);
        assert_eq!(of_pair(objective, 0.5, [0.0, 0.0]), [0.0, 0.0]);
        assert!(of_pair(objective, 0.5, [2.0, 0.0])[0] > 0.0);
        assert!(of_pair(objective, 0.0, [0.0, 0.0])[0] > 0.0);
    }
    assert_eq!(of_pair(ObjectiveKind::Hinge, 1.0, [1.5, 0.0]), [0.0, 0.0]);
}

#[test]
fn queries_without_pairs_stay_put_where_others_have_some() {
    let mut builder = DatasetBuilder::default();
    for (qid, label) in [("a", 0.0), ("a", 1.0), ("b", 0.0), ("b", 1.0)] {
        builder.push(&Row { qid, label, ..Row::default() }).unwrap();
    }
    builder.pairs(vec![Pair::new(2, 3)]);
    let data = builder.finish().unwrap();
    let (grad, _) = gradients_of(&data, &[0.0; 4], bind(&params(ObjectiveKind::RankNet, 1.0)));
    assert_eq!(grad, [0.0, 0.0, -0.5, 0.5]);
}

#[test]
fn nothing_to_learn_is_said() {
    let error = |objective, data: &Dataset| {
        params(objective, 1.0).bind(data, &Rules::default(), SimdLevel::best()).err().map(|error| error.to_string())
    };
    for (objective, name) in [(ObjectiveKind::RankNet, "ranknet"), (ObjectiveKind::Hinge, "hinge")] {
        let found = error(objective, &dataset(&[1.0, 1.0], None, Vec::new())).unwrap();
        assert!(found.contains(&format!("objective '{name}' has nothing to learn")), "{found}");
        let weightless = Pair { weight: 0.0, ..Pair::new(0, 1) };
        let found = error(objective, &dataset(&[0.0, 1.0], None, vec![weightless])).unwrap();
        assert!(found.contains("all pairs have weight 0"), "{found}");
        let found = error(objective, &dataset(&[0.0, 1.0], Some(vec![0.0; 2]), Vec::new())).unwrap();
        assert_eq!(found, ObjectiveError::NoWeight.to_string());
    }
}
