//! LambdaMART in its forms and LambdaLoss, by the simplest code: makes every swap and evaluates the metric before and
//! after.

use proptest::prelude::*;
use rankwise_data::{Dataset, DatasetBuilder, Row, SimdLevel};
use rankwise_metrics::{Evaluator, Gain, MetricName, Rules};
use rankwise_objectives::{
    LambdaForm, LambdaLossVariant, NoiseKind, Objective, ObjectiveError, ObjectiveKind, ObjectiveParams, ObjectiveSpec,
};
use rankwise_params::ParamValue;

use crate::{Doc, dataset, gradients, gradients_of};

fn bind<'a>(params: &'a ObjectiveParams, rules: &'a Rules) -> impl Fn(&Dataset) -> Box<dyn Objective> + 'a {
    move |data| params.bind(data, rules, SimdLevel::best()).unwrap()
}

fn metric(name: &str) -> MetricName {
    MetricName::parse(name).unwrap()
}

/// The documents of one query: label and score, with all scores different.
fn list(longest: usize) -> impl Strategy<Value = Vec<Doc>> {
    let doc = ((0u8..4).prop_map(f32::from), -3.0f64..3.0);
    prop::collection::vec(doc, 2..longest).prop_map(|docs| {
        let of_doc =
            |(idx, (label, score)): (usize, (f32, f64))| (0, label, f64::from((score + idx as f64 * 1e-4) as f32));
        let mut docs: Vec<Doc> = docs.into_iter().enumerate().map(of_doc).collect();
        (docs[0].1, docs[1].1) = (0.0, 1.0);
        docs
    })
}

/// Ranks by counting.
fn ranks(docs: &[Doc]) -> Vec<usize> {
    docs.iter().map(|doc| docs.iter().filter(|other| other.2 > doc.2).count()).collect()
}

/// The metric of the documents at these ranks.
fn value(docs: &[Doc], ranks: &[usize], name: &MetricName, rules: &Rules) -> f64 {
    let data = dataset(docs);
    let scores: Vec<f64> = ranks.iter().map(|rank| -(*rank as f64)).collect();
    let evaluator = Evaluator::new(&data, std::slice::from_ref(name), rules).unwrap();
    evaluator.evaluate(&scores).unwrap().metrics[0].mean.unwrap_or(0.0)
}

/// Gradients and Hessians if each pair of different labels has the weight `delta`, given documents and ranks.
fn direct(
    docs: &[Doc],
    (sigma, truncation, is_normalised): (f64, usize, bool),
    delta: impl Fn(usize, usize, &[usize]) -> f64,
) -> Vec<(f64, f64)> {
    let ranks = ranks(docs);
    let mut out = vec![(0.0, 0.0); docs.len()];
    let mut sum = 0.0;
    for better in 0..docs.len() {
        for worse in (0..docs.len()).filter(|worse| docs[better].1 > docs[*worse].1) {
            if ranks[better].min(ranks[worse]) >= truncation {
                continue;
            }
            let distance = docs[better].2 - docs[worse].2;
            let delta = delta(better, worse, &ranks) / if is_normalised { 0.01 + distance.abs() } else { 1.0 };
            let p = 1.0 / (1.0 + (sigma * distance).exp());
            let (lambda, hessian) = (sigma * delta * p, sigma * sigma * delta * p * (1.0 - p));
            out[better].0 -= lambda;
            out[worse].0 += lambda;
            out[better].1 += hessian;
            out[worse].1 += hessian;
            sum += 2.0 * lambda;
        }
    }
    let norm = if is_normalised && sum > 0.0 { (1.0 + sum).log2() / sum } else { 1.0 };
    out.into_iter().map(|(grad, hess)| (grad * norm, hess * norm)).collect()
}

fn close(found: &(Vec<f32>, Vec<f32>), expected: &[(f64, f64)], hess_factor: f64) -> Result<(), TestCaseError> {
    let one_close = |found: &[f32], expected: Vec<f64>| {
        let largest = expected.iter().fold(1e-6, |largest: f64, value| largest.max(value.abs()));
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((f64::from(*found) - expected).abs() <= 1e-5 * largest, "{} is not {}", found, expected);
        }
        Ok(())
    };
    one_close(&found.0, expected.iter().map(|pair| pair.0).collect())?;
    one_close(&found.1, expected.iter().map(|pair| pair.1 * hess_factor).collect())
}

const TARGETS: [&str; 12] =
    ["ndcg", "ndcg@3", "dcg", "dcg@5", "map", "map@4", "mrr", "mrr@2", "err", "err@3", "p@1", "p@5"];

proptest! {
    #[test]
    fn every_form_for_every_target_is_the_sum_over_swaps(
        docs in list(24), name in prop::sample::select(&TARGETS), sigmoid in 0.3f64..2.5,
        form in prop::sample::select(&[LambdaForm::Paper, LambdaForm::LightGbm, LambdaForm::XgBoost]),
        truncation in prop::option::of(1usize..10), relevant_from in prop::sample::select(&[1.0f32, 2.0]),
    ) {
        let mut docs = docs;
        let is_binary = ["map", "mrr", "p@"].iter().any(|start| name.starts_with(start));
        if is_binary {
            docs[1].1 = 3.0;
        }
        if is_binary && form == LambdaForm::XgBoost {
            for doc in &mut docs {
                doc.1 = f32::from(u8::from(doc.1 >= relevant_from));
            }
        }
        let rules = Rules { relevant_from: if form == LambdaForm::XgBoost { 1.0 } else { relevant_from }, ..Rules::default() };
        let spec = ObjectiveSpec {
            target: metric(name), lambda_form: form, sigmoid, truncation_level: truncation, ..Default::default()
        };
        let params = spec.check().unwrap();
        let all = match form {
            LambdaForm::Paper => usize::MAX,
            LambdaForm::LightGbm => 30,
            LambdaForm::XgBoost => 32,
        };
        let truncation = truncation.unwrap_or(all);
        // If the target has no cutoff, the truncation level is the cutoff of the ideal DCG; the metric does not know
        // that.
        let scale = if name == "ndcg" { ideal(&docs, usize::MAX) / ideal(&docs, truncation) } else { 1.0 };
        let name = metric(name);
        let labels: Vec<Doc> = docs.iter().map(|doc| if is_binary {
            (doc.0, f32::from(u8::from(doc.1 >= rules.relevant_from)), doc.2)
        } else {
            *doc
        }).collect();
        let rules_of_labels = Rules { relevant_from: 1.0, ..rules.clone() };
        let expected = direct(&labels, (sigmoid, truncation, form != LambdaForm::Paper), |a, b, ranks| {
            let mut swapped = ranks.to_vec();
            swapped.swap(a, b);
            let before = value(&labels, ranks, &name, &rules_of_labels);
            scale * (before - value(&labels, &swapped, &name, &rules_of_labels)).abs()
        });
        let found = gradients(&docs, bind(&params, &rules));
        close(&found, &expected, if form == LambdaForm::XgBoost { 2.0 } else { 1.0 })?;
    }

    #[test]
    fn lambdaloss_is_the_sum_of_its_pairs(
        docs in list(60), sigmoid in 0.3f64..2.5, truncation in prop::option::of(1usize..12), mu in prop::option::of(0.0f64..9.0),
        variant in prop::sample::select(&[LambdaLossVariant::One, LambdaLossVariant::Two, LambdaLossVariant::TwoPlus]),
    ) {
        let spec = ObjectiveSpec {
            objective: ObjectiveKind::LambdaLoss, variant, mu, sigmoid, truncation_level: truncation, ..Default::default()
        };
        let truncation = truncation.unwrap_or(usize::MAX);
        let ideal = ideal(&docs, truncation);
        let gain = |doc: usize| (f64::from(docs[doc].1).exp2() - 1.0) / ideal;
        let expected = direct(&docs, (sigmoid, truncation, false), |a, b, ranks| {
            let apart = ranks[a].abs_diff(ranks[b]);
            let near = discount(apart - 1) - discount(apart);
            match variant {
                LambdaLossVariant::One => gain(a) * discount(ranks[a]),
                LambdaLossVariant::Two => (gain(a) - gain(b)) * near,
                LambdaLossVariant::TwoPlus => {
                    let of_ranks = (discount(ranks[a]) - discount(ranks[b])).abs();
                    (gain(a) - gain(b)) * (of_ranks + mu.unwrap_or(5.0) * near)
                }
            }
        });
        let (params, rules) = (spec.check().unwrap(), Rules::default());
        close(&gradients(&docs, bind(&params, &rules)), &expected, 1.0)?;
    }
}

fn discount(rank: usize) -> f64 {
    1.0 / (2.0 + rank as f64).log2()
}

fn ideal(docs: &[Doc], cutoff: usize) -> f64 {
    let mut gains: Vec<f64> = docs.iter().map(|doc| f64::from(doc.1).exp2() - 1.0).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    gains.iter().take(cutoff).enumerate().map(|(rank, gain)| gain * discount(rank)).sum()
}

/// The values that XGBoost's own tests expect, including query weights.
#[test]
fn xgboosts_form_has_the_values_of_its_tests() {
    let of_pair = |weights: [f32; 2], target: &str| {
        let mut builder = DatasetBuilder::default();
        for (row, qid) in ["a", "a", "b", "b"].into_iter().enumerate() {
            let doc_id = row.to_string();
            builder.push(&Row { qid, label: (row % 2) as f32, doc_id: &doc_id, features: &[] }).unwrap();
        }
        builder.query_weights(weights.to_vec());
        let spec =
            ObjectiveSpec { target: metric(target), lambda_form: LambdaForm::XgBoost, ..ObjectiveSpec::default() };
        let (params, rules) = (spec.check().unwrap(), Rules::default());
        gradients_of(&builder.finish().unwrap(), &[0.0, 0.1, 0.0, 0.1], bind(&params, &rules))
    };
    let check = |found: (Vec<f32>, Vec<f32>), grad: [f32; 4], hess: [f32; 4]| {
        for (found, expected) in found.0.iter().chain(&found.1).zip(grad.iter().chain(&hess)) {
            assert!((found - expected).abs() < 2e-5, "{found} is not {expected}");
        }
    };
    let (grad, hess) = (2.06611, 2.169_331);
    check(of_pair([2.0, 0.0], "ndcg"), [grad, -grad, 0.0, 0.0], [hess, hess, 0.0, 0.0]);
    // The weights 2 and 2 are normalised to a mean of 1: half of the listed values.
    let (grad, hess) = (grad / 2.0, hess / 2.0);
    check(of_pair([2.0, 2.0], "ndcg"), [grad, -grad, grad, -grad], [hess; 4]);
    // Listed with the weights included.
    let (grad, hess) = (1.205_492_3, 1.265_716_6);
    check(of_pair([2.0, 2.0], "map"), [grad, -grad, grad, -grad], [hess; 4]);
}

/// The mean over many samples of noisy gradients equals the expectation. For two documents, that is an integral over
/// the logistic difference of their noise.
#[test]
fn noise_is_averaged_over_samples() {
    let docs: [Doc; 2] = [(0, 0.0, 0.4), (0, 1.0, 0.0)];
    let spec = |samples: usize, objective| ObjectiveSpec {
        objective,
        lambda_form: LambdaForm::Paper,
        noise: NoiseKind::Gumbel,
        noise_strength: 0.5,
        samples: Some(samples),
        ..ObjectiveSpec::default()
    };
    let rules = Rules::default();
    let params = spec(200_000, ObjectiveKind::LambdaMart).check().unwrap();
    let (grad, hess) = gradients(&docs, bind(&params, &rules));
    // The difference of two Gumbel numbers is logistic; the weight of the pair does not depend on which document is
    // ahead.
    let (mut mean_grad, mut mean_hess) = (0.0, 0.0);
    let n_steps = 100_000;
    for step in 0..n_steps {
        let uniform = (f64::from(step) + 0.5) / f64::from(n_steps);
        let distance = -0.4 + 0.5 * (uniform / (1.0 - uniform)).ln();
        let p = 1.0 / (1.0 + distance.exp());
        mean_grad += p / f64::from(n_steps);
        mean_hess += p * (1.0 - p) / f64::from(n_steps);
    }
    let weight = discount(0) - discount(1);
    assert!((f64::from(grad[0]) - weight * mean_grad).abs() < 2e-3 * weight, "{grad:?} {}", weight * mean_grad);
    assert!((f64::from(hess[1]) - weight * mean_hess).abs() < 2e-3 * weight, "{hess:?} {}", weight * mean_hess);

    // With few samples, gradients differ from tree to tree; noise also works with LambdaLoss.
    for objective in [ObjectiveKind::LambdaMart, ObjectiveKind::LambdaLoss] {
        let one = spec(1, objective).check().unwrap();
        let plain = ObjectiveSpec { noise: NoiseKind::None, ..spec(1, objective) }.check().unwrap();
        assert_ne!(gradients(&docs, bind(&one, &rules)), gradients(&docs, bind(&plain, &rules)));
        let three = spec(3, objective).check().unwrap();
        assert_ne!(gradients(&docs, bind(&one, &rules)), gradients(&docs, bind(&three, &rules)));
    }
}

#[test]
fn labels_that_do_not_suit_the_target_are_refused() {
    let error = |target: &str, form, docs: &[Doc], rules: &Rules| {
        let spec = ObjectiveSpec { target: metric(target), lambda_form: form, ..ObjectiveSpec::default() };
        spec.check().unwrap().bind(&dataset(docs), rules, SimdLevel::best()).err()
    };
    let graded: [Doc; 3] = [(0, 0.0, 0.0), (0, 2.0, 0.0), (0, 1.0, 0.0)];
    let rules = Rules::default();
    assert!(matches!(
        error("map", LambdaForm::XgBoost, &graded, &rules),
        Some(ObjectiveError::NotBinary { label: 2.0, .. })
    ));
    assert_eq!(error("map", LambdaForm::LightGbm, &graded, &rules), None);
    let strict = Rules { relevant_from: 3.0, ..Rules::default() };
    assert!(matches!(error("mrr", LambdaForm::Paper, &graded, &strict), Some(ObjectiveError::OneClass { .. })));
    assert!(matches!(error("auc", LambdaForm::Paper, &graded, &rules), Some(ObjectiveError::Target { .. })));
    let large: [Doc; 2] = [(0, 0.0, 0.0), (0, 40.0, 0.0)];
    assert!(matches!(
        error("ndcg", LambdaForm::LightGbm, &large, &rules),
        Some(ObjectiveError::LargeLabel { label: 40.0, .. })
    ));
    let linear = Rules { gain: Gain::Linear, ..Rules::default() };
    assert_eq!(error("ndcg", LambdaForm::LightGbm, &large, &linear), None);
    assert!(matches!(error("err", LambdaForm::Paper, &large, &linear), Some(ObjectiveError::Label(_))));
}
