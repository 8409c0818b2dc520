use proptest::prelude::*;
use rankwise_data::{DatasetBuilder, Row, SimdLevel};
use rankwise_metrics::{Gain, Rules, Ties};
use rankwise_objectives::{Objective, ObjectiveError, ObjectiveParams, ObjectiveSpec};

use crate::{Doc, dataset, gradients};

fn params(truncation_level: usize, sigmoid: f64, lambda_norm: bool) -> ObjectiveParams {
    ObjectiveSpec { truncation_level: Some(truncation_level), sigmoid, lambda_norm, ..Default::default() }
        .check()
        .unwrap()
}

fn bind(params: &ObjectiveParams, ties: Ties) -> impl Fn(&rankwise_data::Dataset) -> Box<dyn Objective> {
    let rules = Rules { ties, ..Rules::default() };
    move |data| params.bind(data, &rules, SimdLevel::best()).unwrap()
}

/// The formulas written directly: all ordered pairs, ranks by counting, functions of the standard library.
fn direct(docs: &[Doc], params: &ObjectiveParams, ties: Ties) -> Vec<(f64, f64)> {
    let above = |a: usize, b: usize| {
        let key = |doc: usize| match ties {
            Ties::Input => doc as f64,
            _ => f64::from(docs[doc].1),
        };
        docs[a].0 == docs[b].0 && (docs[a].2 > docs[b].2 || (docs[a].2 == docs[b].2 && key(a) < key(b)))
    };
    let gain = |doc: usize| 2f64.powf(docs[doc].1.into()) - 1.0;
    let discount = |rank: usize| 1.0 / (2.0 + rank as f64).log2();
    let mut out = vec![(0.0, 0.0); docs.len()];
    for query in 0..=u8::MAX {
        let members: Vec<usize> = (0..docs.len()).filter(|doc| docs[*doc].0 == query).collect();
        let Some(first) = members.first() else { continue };
        let rank: Vec<usize> = (0..docs.len())
            .map(|doc| {
                // Documents with equal score and label can be in any order: the sums are the same, up to exchanging the
                // two.
                let equal_before = |other: usize| ties != Ties::Input && docs[other] == docs[doc] && other < doc;
                members.iter().filter(|other| above(**other, doc) || equal_before(**other)).count()
            })
            .collect();
        let mut ideal: Vec<f64> = members.iter().map(|doc| gain(*doc)).collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let max_dcg: f64 = ideal
            .iter()
            .take(params.truncation_level.unwrap())
            .enumerate()
            .map(|(rank, gain)| gain * discount(rank))
            .sum();
        let all_equal = members.iter().all(|doc| docs[*doc].2 == docs[*first].2);
        let mut sum = 0.0;
        for &better in &members {
            for &worse in &members {
                if docs[better].1 <= docs[worse].1 || rank[better].min(rank[worse]) >= params.truncation_level.unwrap()
                {
                    continue;
                }
                let distance = docs[better].2 - docs[worse].2;
                let mut delta =
                    (gain(better) - gain(worse)) * (discount(rank[better]) - discount(rank[worse])).abs() / max_dcg;
                if params.lambda_norm && !all_equal {
                    delta /= 0.01 + distance.abs();
                }
                let p = 1.0 / (1.0 + (params.sigmoid * distance).exp());
                let lambda = params.sigmoid * delta * p;
                out[better].0 -= lambda;
                out[worse].0 += lambda;
                // 1 - p, which would be 0 if p is near 1.
                let rest = 1.0 / (1.0 + (-params.sigmoid * distance).exp());
                let hessian = params.sigmoid.powi(2) * delta * p * rest;
                out[better].1 += hessian;
                out[worse].1 += hessian;
                sum += 2.0 * lambda;
            }
        }
        if params.lambda_norm && sum > 0.0 {
            for doc in &members {
                out[*doc].0 *= (1.0 + sum).log2() / sum;
                out[*doc].1 *= (1.0 + sum).log2() / sum;
            }
        }
    }
    out
}

fn docs() -> impl Strategy<Value = Vec<Doc>> {
    // Also on a grid of 0.01, the floor of the score distance.
    let grid = (-3i8..4).prop_map(|step| f64::from(f32::from(step) * 0.01));
    let score = prop_oneof![-3.0f64..3.0, (-2i8..3).prop_map(f64::from), grid];
    // Scores far apart use another path of the kernel.
    let width = prop_oneof![3 => Just(1.0), 1 => 5.0f64..12.0];
    (width, prop::collection::vec((0u8..3, (0u8..5).prop_map(f32::from), score), 2..40)).prop_map(|(width, docs)| {
        docs.into_iter().map(|(query, label, score)| (query, label, f64::from((score * width) as f32))).collect()
    })
}

/// Close to the formulas, relative to the largest value. Exponentials of large exponents are less exact in f32;
/// `widest` is the largest exponent.
fn close(found: &[f32], expected: impl Iterator<Item = f64>, widest: f64) -> Result<(), TestCaseError> {
    let tolerance = 2e-6 + 2e-7 * widest;
    let expected: Vec<f64> = expected.collect();
    let largest = expected.iter().fold(1e-30, |largest: f64, value| largest.max(value.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        prop_assert!((f64::from(*found) - expected).abs() <= tolerance * largest, "{} is not {}", found, expected);
    }
    Ok(())
}

proptest! {
    #[test]
    fn agrees_with_the_formulas(
        mut docs in docs(), truncation in 1usize..12, sigmoid in 0.2f64..3.0, norm in any::<bool>(), input in any::<bool>(),
    ) {
        (docs[0], docs[1]) = ((0, 0.0, docs[0].2), (0, 1.0, docs[1].2));
        let ties = if input { Ties::Input } else { Ties::Worst };
        // Only keys would distinguish equal documents, so make them differ. The objective sees f32 scores.
        for (idx, doc) in docs.iter_mut().enumerate() {
            let step = if input { 0.0 } else { idx as f64 * 1e-4 };
            doc.2 = f64::from((doc.2 + step) as f32);
        }
        let params = params(truncation, sigmoid, norm);
        let (grad, hess) = gradients(&docs, bind(&params, ties));
        let expected = direct(&docs, &params, ties);
        let scores = || docs.iter().map(|doc| doc.2);
        let widest = sigmoid * (scores().fold(f64::MIN, f64::max) - scores().fold(f64::MAX, f64::min));
        // For close scores, exponentials are computed in another way, with a tighter bound.
        let widest = if widest > 16.0 { widest } else { 0.0 };
        close(&grad, expected.iter().map(|pair| pair.0), widest)?;
        close(&hess, expected.iter().map(|pair| pair.1), widest)?;
    }

    /// In each query, gradients sum to 0, Hessians are not negative, and the order of the input does not change a bit.
    #[test]
    fn is_balanced_and_blind_to_input_order(mut docs in docs(), shift in 0usize..40) {
        (docs[0], docs[1]) = ((0, 0.0, 0.5), (0, 1.0, 0.5));
        let params = params(5, 1.0, true);
        let (grad, hess) = gradients(&docs, bind(&params, Ties::Worst));
        for query in 0..3 {
            let of_query = |values: &[f32]| -> Vec<f64> {
                docs.iter().zip(values).filter(|(doc, _)| doc.0 == query).map(|(_, value)| f64::from(*value)).collect()
            };
            let sum: f64 = of_query(&grad).iter().sum();
            let size: f64 = of_query(&grad).iter().map(|value| value.abs()).sum();
            prop_assert!(sum.abs() <= 1e-6 * size, "{} of {}", sum, size);
        }
        prop_assert!(hess.iter().all(|hessian| *hessian >= 0.0 && hessian.is_finite()));

        // Without document ids, moving rows moves the gradients with them.
        let sorted = |docs: &[Doc]| {
            let (grad, hess) = gradients(docs, bind(&params, Ties::Worst));
            let mut all: Vec<_> = docs.iter().zip(grad.iter().zip(&hess))
                .map(|((query, label, score), (grad, hess))| (*query, label.to_bits(), score.to_bits(), grad.to_bits(), hess.to_bits()))
                .collect();
            all.sort_unstable();
            all
        };
        for (idx, doc) in docs.iter_mut().enumerate() {
            doc.2 = f64::from((doc.2 + idx as f64 * 1e-4) as f32);
        }
        let before = sorted(&docs);
        let n_docs = docs.len();
        docs.rotate_left(shift % n_docs);
        prop_assert_eq!(before, sorted(&docs));
    }
}

/// XGBoost's test of its NDCG pair; its Hessian is twice ours.
#[test]
fn agrees_with_a_peers_test() {
    let docs: [Doc; 4] = [(0, 0.0, 0.0), (0, 1.0, 0.1), (1, 0.0, 0.0), (1, 1.0, 0.1)];
    let (grad, hess) = gradients(&docs, bind(&params(32, 1.0, true), Ties::Worst));
    for (found, expected) in grad.iter().zip([2.066_11, -2.066_11, 2.066_11, -2.066_11]) {
        assert!((found * 2.0 - expected).abs() < 1e-5, "{found}");
    }
    assert!(hess.iter().all(|hessian| (hessian * 2.0 * 2.0 - 2.169_331).abs() < 1e-5), "{hess:?}");
}

#[test]
fn no_weight_gives_nothing_to_learn() {
    let mut builder = DatasetBuilder::default();
    for (qid, label) in [("a", 1.0), ("a", 0.0), ("b", 1.0), ("b", 0.0)] {
        builder.push(&Row { qid, label, ..Row::default() }).unwrap();
    }
    // The first query has weight 0, and so have the documents of the second.
    builder.query_weights(vec![0.0, 1.0]);
    builder.row_weights(vec![1.0, 1.0, 0.0, 0.0]);
    let error = ObjectiveParams::default().bind(&builder.finish().unwrap(), &Rules::default(), SimdLevel::best());
    assert!(matches!(error, Err(ObjectiveError::NoWeight)));
}

#[test]
fn equal_labels_give_nothing_to_learn() {
    let error = ObjectiveParams::default().bind(
        &dataset(&[(0, 1.0, 0.0), (1, 2.0, 0.0)]),
        &Rules::default(),
        SimdLevel::best(),
    );
    assert!(matches!(error, Err(ObjectiveError::NoPairs { .. })));
    let table = Rules { gain: Gain::Table(vec![0.0, 1.0]), ..Rules::default() };
    let error = ObjectiveParams::default().bind(&dataset(&[(0, 1.0, 0.0), (0, 2.0, 0.0)]), &table, SimdLevel::best());
    assert!(matches!(error, Err(ObjectiveError::Label(_))));
}

#[test]
fn single_documents_and_queries_without_relevant_ones_stay_put() {
    let docs: [Doc; 5] = [(0, 1.0, 0.0), (1, 0.0, 1.0), (1, 0.0, 2.0), (2, 0.0, 0.0), (2, 3.0, 0.0)];
    let (grad, hess) = gradients(&docs, bind(&params(30, 1.0, true), Ties::Worst));
    assert_eq!((&grad[..3], &hess[..3]), (&[0.0; 3][..], &[0.0; 3][..]));
    assert!(grad[4] < 0.0 && grad[3] > 0.0 && hess[4] > 0.0);
}

/// Gains near the limits of the number range still order documents.
#[test]
fn huge_and_tiny_gains_are_usable() {
    let docs: [Doc; 3] = [(0, 0.0, 0.3), (0, 1.0, 0.2), (0, 2.0, 0.1)];
    for gains in [vec![0.0, 1.0, 1.5e308], vec![0.0, 1e-320, 2e-320]] {
        let params = ObjectiveSpec { label_gain: gains, ..Default::default() }.check().unwrap();
        let (grad, hess) = gradients(&docs, bind(&params, Ties::Worst));
        assert!(grad[0] > 0.0 && grad[2] < 0.0 && hess[2] > 0.0, "{grad:?} {hess:?}");
    }
}
