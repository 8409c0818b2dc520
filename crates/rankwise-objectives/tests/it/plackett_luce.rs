//! The expected metric: compares the mean of many estimates with the derivative of the sum over all orders.

use rankwise_data::{Dataset, SimdLevel};
use rankwise_metrics::{Evaluator, Gain, MetricName, Rules};
use rankwise_objectives::{ObjectiveKind, Round};
use rankwise_params::ParamValue as _;

use crate::{Doc, dataset, params};

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let inserted = |order: &Vec<usize>| {
        (0..n)
            .map(|at| {
                let mut longer = order.clone();
                longer.insert(at, n - 1);
                longer
            })
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(inserted).collect()
}

/// Minus the derivative of the expected metric with respect to each score: the sum of P M d ln P over all orders. One
/// query, canonical order.
fn exact(data: &Dataset, scores: &[f64], target: &MetricName, rules: &Rules) -> Vec<f64> {
    let n = scores.len();
    let evaluator = Evaluator::new(data, std::slice::from_ref(target), rules).unwrap();
    let mut total = vec![0.0; n];
    for order in permutations(n) {
        let mut ranked = vec![0.0; n];
        order.iter().enumerate().for_each(|(rank, doc)| ranked[*doc] = -(rank as f64));
        let value = evaluator.evaluate_canonical(&ranked).unwrap().metrics[0].per_query[0].unwrap_or(0.0);
        let (mut probability, mut slope) = (1.0, vec![0.0; n]);
        for (rank, doc) in order.iter().enumerate() {
            let left: f64 = order[rank..].iter().map(|doc| scores[*doc].exp()).sum();
            probability *= scores[*doc].exp() / left;
            slope[*doc] += 1.0;
            order[rank..].iter().for_each(|doc| slope[*doc] -= scores[*doc].exp() / left);
        }
        (0..n).for_each(|doc| total[doc] -= probability * value * slope[doc]);
    }
    total
}

/// For every document, the mean over many trees is within 5 standard errors of the derivative.
fn check(docs: &[Doc], target: &str, rules: &Rules, samples: usize) {
    const ROUNDS: u32 = 4000;
    let data = dataset(docs);
    let scores = data.from_input_order(&docs.iter().map(|doc| doc.2).collect::<Vec<_>>());
    let target = MetricName::parse(target).unwrap();
    let expected = exact(&data, &scores, &target, rules);
    let params = params(|spec| {
        spec.objective = ObjectiveKind::PlackettLuce;
        spec.target = target.clone();
        spec.samples = Some(samples);
    });
    let objective = params.bind(&data, rules, SimdLevel::best()).unwrap();
    let (mut sums, mut squares) = (vec![0.0; docs.len()], vec![0.0; docs.len()]);
    let (mut grad, mut hess) = (vec![0.0; docs.len()], vec![0.0; docs.len()]);
    for tree in 0..ROUNDS {
        let round = Round { tree, seed: 7 };
        rankwise_objectives::gradients(&*objective, &data, round, &scores, (&mut grad, &mut hess));
        assert!(hess.iter().all(|hess| *hess >= 0.0 && hess.is_finite()));
        for doc in 0..docs.len() {
            sums[doc] += f64::from(grad[doc]);
            squares[doc] += f64::from(grad[doc]).powi(2);
        }
    }
    let n = f64::from(ROUNDS);
    for doc in 0..docs.len() {
        let mean = sums[doc] / n;
        let error = ((squares[doc] / n - mean * mean).max(0.0) / n).sqrt();
        let distance = (mean - expected[doc]).abs();
        assert!(distance <= 5.0 * error + 1e-7, "{target:?}, {doc}: {mean} is not {} +- {error}", expected[doc]);
    }
}

#[test]
fn estimates_mean_the_derivative_of_the_expected_metric() {
    let docs: [Doc; 5] = [(0, 2.0, 0.3), (0, 0.0, 1.0), (0, 1.0, -0.7), (0, 0.0, 0.3), (0, 4.0, -1.5)];
    let targets = [
        "ndcg", "ndcg@1", "ndcg@3", "dcg@2", "dcg", "mrr", "mrr@2", "err", "err@3", "map", "map@2", "p@1", "p@3",
        "recall@2", "hits@2", "pfound", "rbp@4",
    ];
    for target in targets {
        check(&docs, target, &Rules::default(), 4);
    }
    for n_docs in 2..5 {
        check(&docs[..n_docs], "ndcg", &Rules::default(), 2);
        check(&docs[..n_docs], "err", &Rules::default(), 1);
    }
    let linear = Rules { gain: Gain::Linear, ..Rules::default() };
    check(&docs, "ndcg@2", &linear, 3);
}

/// A baseline from another ranking reduces the variance of estimates.
#[test]
fn the_baseline_helps() {
    let docs: [Doc; 5] = [(0, 2.0, 0.0), (0, 0.0, 0.0), (0, 1.0, 0.0), (0, 0.0, 0.0), (0, 0.0, 0.0)];
    let data = dataset(&docs);
    let variance = |samples: usize| {
        let params = params(|spec| {
            spec.objective = ObjectiveKind::PlackettLuce;
            spec.samples = Some(samples);
        });
        let objective = params.bind(&data, &Rules::default(), SimdLevel::best()).unwrap();
        let values: Vec<f64> = (0..2000)
            .map(|tree| {
                let (mut grad, mut hess) = (vec![0.0; 5], vec![0.0; 5]);
                let round = Round { tree, seed: 1 };
                rankwise_objectives::gradients(&*objective, &data, round, &[0.0; 5], (&mut grad, &mut hess));
                f64::from(grad[0])
            })
            .collect();
        let mean = values.iter().sum::<f64>() / 2000.0;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 2000.0
    };
    // Without it, two rankings could only halve the variance of one.
    assert!(variance(2) < 0.45 * variance(1), "{} {}", variance(2), variance(1));
}

/// Scores beyond the range of exponentials give finite results.
#[test]
fn scores_far_apart_are_usable() {
    let docs: [Doc; 4] = [(0, 2.0, -1e6), (0, 0.0, 1e6), (0, 1.0, 0.0), (0, 0.0, 1e6)];
    for kind in [ObjectiveKind::PlackettLuce, ObjectiveKind::ApproxNdcg, ObjectiveKind::XeNdcg] {
        let params = params(|spec| spec.objective = kind);
        let (grad, hess) =
            crate::gradients(&docs, |data| params.bind(data, &Rules::default(), SimdLevel::best()).unwrap());
        assert!(grad.iter().chain(&hess).all(|value| value.is_finite()), "{kind:?} {grad:?} {hess:?}");
    }
}
