//! Smooth losses, written as defined, compared through finite differences.

use proptest::prelude::*;
use rankwise_data::reduce;
use rankwise_objectives::ObjectiveKind;

use crate::differences::{List, check, lists};
use crate::params;

fn grades() -> impl Strategy<Value = f32> + Clone {
    prop_oneof![3 => Just(0.0f32), 2 => (0u8..5).prop_map(f32::from), 1 => 0.0f32..4.0]
}

fn ln_sum_exp(terms: &[(f64, f64)]) -> f64 {
    let there: Vec<&(f64, f64)> = terms.iter().filter(|(weight, _)| *weight > 0.0).collect();
    let largest = there.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
    largest + reduce::sum(there.iter().map(|(weight, value)| weight * (value - largest).exp())).ln()
}

fn weighted(list: &List, values: &[f64]) -> Vec<(f64, f64)> {
    list.weights.iter().copied().zip(values.iter().copied()).collect()
}

fn squared(list: &List) -> f64 {
    reduce::sum((0..list.labels.len()).map(|i| 0.5 * list.weights[i] * (list.scores[i] - list.labels[i]).powi(2)))
}

fn logistic(list: &List) -> f64 {
    // ln(1 + e^-x), for any x.
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let term = |i: usize| {
        let (label, score) = (list.labels[i], list.scores[i]);
        list.weights[i] * (label * softplus(-score) + (1.0 - label) * softplus(score))
    };
    reduce::sum((0..list.labels.len()).map(term))
}

fn query_squared(list: &List) -> f64 {
    let docs = || 0..list.labels.len();
    let total = reduce::sum(list.weights.iter().copied());
    if total == 0.0 {
        return 0.0;
    }
    let residual = |i: usize| list.scores[i] - list.labels[i];
    let mean = reduce::sum(docs().map(|i| list.weights[i] * residual(i))) / total;
    reduce::sum(docs().map(|i| 0.5 * list.weights[i] * (residual(i) - mean).powi(2)))
}

fn cross_entropy(list: &List, targets: &[f64]) -> f64 {
    if list.weights.iter().all(|weight| *weight == 0.0) {
        return 0.0;
    }
    let norm = ln_sum_exp(&weighted(list, &list.scores));
    reduce::sum((0..targets.len()).map(|i| list.weights[i] * targets[i] * (norm - list.scores[i])))
}

/// The labels themselves are the targets.
fn softmax(list: &List) -> f64 {
    cross_entropy(list, &list.labels)
}

fn listnet(list: &List) -> f64 {
    let norm = ln_sum_exp(&weighted(list, &list.labels));
    cross_entropy(list, &list.labels.iter().map(|label| (label - norm).exp()).collect::<Vec<_>>())
}

/// The likelihood of the order by label, then by the document's uniform number.
fn likelihood(list: &List, alpha: impl Fn(usize) -> f64) -> f64 {
    let mut order: Vec<usize> = (0..list.labels.len()).collect();
    let key = |doc: &usize| (-list.labels[*doc], list.uniforms[*doc]);
    order.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
    // ln of the sum from each place on, adding one document at a time.
    let ln_add = |a: f64, b: f64| a.max(b) + (-(a - b).abs()).exp().ln_1p();
    let mut terms = Vec::new();
    let mut left = f64::NEG_INFINITY;
    for (place, doc) in order.into_iter().enumerate().rev().filter(|(_, doc)| list.weights[*doc] > 0.0) {
        let term = list.weights[doc].ln() + list.scores[doc];
        left = if left == f64::NEG_INFINITY { term } else { ln_add(left, term) };
        terms.push(alpha(place) * list.weights[doc] * (left - list.scores[doc]));
    }
    reduce::sum(terms)
}

fn p_listmle(list: &List) -> f64 {
    let n = list.labels.len();
    // 2^(n - k) - 1 for places k from 1, in units of 2^n.
    let raw = |place: usize| 2f64.powi(-(place as i32 + 1)) - 2f64.powi(-(n as i32));
    let sum: f64 = reduce::sum((0..n).map(raw));
    likelihood(list, |place| if sum > 0.0 { raw(place) / sum } else { 0.0 })
}

/// One minus the other, in units that sum to NDCG.
fn approx_ndcg(list: &List, temperature: f64) -> f64 {
    let n = list.labels.len();
    let gain = |label: f64| label.exp2() - 1.0;
    let mut ideal: Vec<f64> = list.labels.iter().map(|label| gain(*label)).collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best: f64 = ideal.iter().enumerate().map(|(rank, gain)| gain / (2.0 + rank as f64).log2()).sum();
    if best == 0.0 {
        return 0.0;
    }
    let rank = |i: usize| {
        let above = |j: usize| 1.0 / (1.0 + ((list.scores[i] - list.scores[j]) / temperature).exp());
        1.0 + reduce::sum((0..n).filter(|j| *j != i).map(above))
    };
    -reduce::sum((0..n).filter(|i| list.labels[*i] > 0.0).map(|i| gain(list.labels[i]) / (1.0 + rank(i)).log2())) / best
}

/// The weight of a document multiplies only its own derivative.
fn without_weights(lists: crate::differences::Lists) -> crate::differences::Lists {
    lists
        .into_iter()
        .map(|(weight, docs)| (weight, docs.into_iter().map(|(label, _, score)| (label, 1.0, score)).collect()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pointwise_losses(graded in lists(grades(), 40), likely in lists(prop_oneof![Just(0.0f32), Just(1.0), 0.0f32..1.0], 40)) {
        check(&graded, &params(|spec| spec.objective = ObjectiveKind::Rmse), &squared, true)?;
        check(&graded, &params(|spec| spec.objective = ObjectiveKind::QueryRmse), &query_squared, true)?;
        check(&likely, &params(|spec| spec.objective = ObjectiveKind::Logistic), &logistic, true)?;
    }

    #[test]
    fn listwise_losses(lists in lists(grades(), 40)) {
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::Softmax), &softmax, true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::ListNet), &listnet, true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::ListMle), &|list| likelihood(list, |_| 1.0), true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::PListMle), &p_listmle, true)?;
    }

    #[test]
    fn smooth_ranks(lists in lists(grades(), 40), temperature in prop_oneof![Just(1.0), 0.5f64..5.0]) {
        let params = params(|spec| {
            spec.objective = ObjectiveKind::ApproxNdcg;
            spec.temperature = temperature;
        });
        check(&without_weights(lists), &params, &|list| approx_ndcg(list, temperature), false)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn long_lists(mut lists in lists(grades(), 500)) {
        for (_, docs) in &mut lists {
            let first = docs[0];
            docs.resize(500, first);
        }
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::Rmse), &squared, true)?;
        let mut likely = lists.clone();
        likely.iter_mut().flat_map(|(_, docs)| docs).for_each(|doc| doc.0 /= 4.0);
        check(&likely, &params(|spec| spec.objective = ObjectiveKind::Logistic), &logistic, true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::QueryRmse), &query_squared, true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::Softmax), &softmax, true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::ListNet), &listnet, true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::ListMle), &|list| likelihood(list, |_| 1.0), true)?;
        check(&lists, &params(|spec| spec.objective = ObjectiveKind::PListMle), &p_listmle, true)?;
        // Each difference takes quadratic time in the length: one query is enough.
        lists.truncate(1);
        let approx = params(|spec| {
            spec.objective = ObjectiveKind::ApproxNdcg;
            spec.temperature = 1.0;
        });
        check(&without_weights(lists), &approx, &|list| approx_ndcg(list, 1.0), false)?;
    }
}
