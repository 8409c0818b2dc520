//! Compares YetiRank with a simulation of its definition with other random numbers.

use proptest::prelude::*;
use rankwise_data::{Dataset, SimdLevel};
use rankwise_metrics::{Evaluator, MetricName, Rules};
use rankwise_objectives::{Objective, ObjectiveError, ObjectiveKind, ObjectiveParams, ObjectiveSpec, YetiRankMode};
use rankwise_params::ParamValue;

use crate::{Doc, dataset, gradients};

fn params(target: Option<&str>, samples: usize) -> ObjectiveParams {
    let spec = ObjectiveSpec {
        objective: ObjectiveKind::YetiRank,
        yetirank_mode: if target.is_some() { YetiRankMode::Metric } else { YetiRankMode::Classic },
        target: MetricName::parse(target.unwrap_or("ndcg")).unwrap(),
        samples: Some(samples),
        ..ObjectiveSpec::default()
    };
    spec.check().unwrap()
}

fn bind(params: &ObjectiveParams) -> impl Fn(&Dataset) -> Box<dyn Objective> {
    |data| params.bind(data, &Rules::default(), SimdLevel::best()).unwrap()
}

/// The metric of documents in an ordering.
fn value(docs: &[Doc], order: &[usize], name: &str) -> f64 {
    let data = dataset(docs);
    let mut scores = vec![0.0; docs.len()];
    order.iter().enumerate().for_each(|(rank, doc)| scores[*doc] = -(rank as f64));
    let evaluator = Evaluator::new(&data, &[MetricName::parse(name).unwrap()], &Rules::default()).unwrap();
    evaluator.evaluate(&scores).unwrap().metrics[0].mean.unwrap()
}

/// An independent generator (xorshift).
struct Uniforms(u64);

impl Uniforms {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

/// Gradients and Hessians, with the standard errors of the mean over samples.
fn simulated(docs: &[Doc], target: Option<&str>, samples: usize) -> Vec<[(f64, f64); 2]> {
    let n_docs = docs.len();
    let mut uniforms = Uniforms(88_172_645_463_325_252);
    let mut known: std::collections::BTreeMap<Vec<usize>, Vec<[f64; 2]>> = std::collections::BTreeMap::new();
    let mut sums = vec![[(0.0, 0.0); 2]; n_docs];
    for _ in 0..samples {
        let noisy: Vec<f64> = docs
            .iter()
            .map(|doc| {
                let uniform = uniforms.next();
                doc.2 + (uniform / (1.000_001 - uniform)).ln()
            })
            .collect();
        let mut order: Vec<usize> = (0..n_docs).collect();
        order.sort_by(|a, b| noisy[*b].total_cmp(&noisy[*a]));
        let of_order = known.entry(order).or_insert_with_key(|order| {
            let mut out = vec![[0.0; 2]; n_docs];
            for rank in 0..n_docs - 1 {
                let (a, b) = (order[rank], order[rank + 1]);
                let weight = match target {
                    None => 0.15 * 0.85f64.powi(rank as i32) * f64::from((docs[a].1 - docs[b].1).abs()),
                    Some(name) => {
                        let mut swapped = order.clone();
                        swapped.swap(rank, rank + 1);
                        (value(docs, order, name) - value(docs, &swapped, name)).abs()
                    }
                };
                let (better, worse) = if docs[a].1 > docs[b].1 { (a, b) } else { (b, a) };
                let p = 1.0 / (1.0 + (docs[better].2 - docs[worse].2).exp());
                out[better][0] -= weight * p;
                out[worse][0] += weight * p;
                out[better][1] += weight * p * (1.0 - p);
                out[worse][1] += weight * p * (1.0 - p);
            }
            out
        });
        for (sum, of_doc) in sums.iter_mut().zip(of_order) {
            for (sum, value) in sum.iter_mut().zip(of_doc) {
                sum.0 += *value;
                sum.1 += *value * *value;
            }
        }
    }
    let n = samples as f64;
    let mean = |(sum, squares): (f64, f64)| (sum / n, ((squares / n - (sum / n).powi(2)).max(0.0) / n).sqrt());
    sums.into_iter().map(|of_doc| of_doc.map(mean)).collect()
}

#[test]
fn means_are_those_of_the_definition() {
    let docs: [Doc; 5] = [(0, 2.0, 0.3), (0, 0.0, 0.9), (0, 1.0, -0.4), (0, 0.0, -0.1), (0, 3.0, 0.2)];
    let samples = 100_000;
    for target in [None, Some("ndcg"), Some("ndcg@2"), Some("dcg"), Some("map"), Some("mrr"), Some("err@3")] {
        let (grad, hess) = gradients(&docs, bind(&params(target, samples)));
        for (doc, [of_grad, of_hess]) in simulated(&docs, target, samples).into_iter().enumerate() {
            for (found, (mean, error)) in [(grad[doc], of_grad), (hess[doc], of_hess)] {
                // Both sides are estimates; sums of so many f32 numbers are exact to about 1e-4.
                let allowed = 5.0 * 2f64.sqrt() * error + 2e-4 * mean.abs().max(1e-3);
                assert!(
                    (f64::from(found) - mean).abs() <= allowed,
                    "{target:?} {doc}: {found} is not {mean} +- {error}"
                );
            }
        }
    }
}

/// Two documents are neighbours in every ordering.
#[test]
fn two_documents_need_no_luck() {
    let (grad, hess) = gradients(&[(0, 0.0, 0.5), (0, 2.0, 0.0)], bind(&params(None, 10)));
    let p = 1.0 / (1.0 + (-0.5f64).exp());
    let weight = 0.15 * 2.0;
    assert!((f64::from(grad[0]) - weight * p).abs() < 1e-6 && (grad[0] + grad[1]).abs() < 1e-7, "{grad:?}");
    assert!((f64::from(hess[1]) - weight * p * (1.0 - p)).abs() < 1e-6, "{hess:?}");
}

#[test]
fn far_apart_scores_stay_finite() {
    for scores in [[1e4, -1e4, 0.0], [1e300, 0.0, -1e300]] {
        let docs: [Doc; 3] = [(0, 0.0, scores[0]), (0, 2.0, scores[1]), (0, 1.0, scores[2])];
        let (grad, hess) = gradients(&docs, bind(&params(None, 10)));
        assert!(grad.iter().chain(&hess).all(|value| value.is_finite()), "{grad:?} {hess:?}");
        assert!(grad[0] > 0.0, "{grad:?}");
    }
}

#[test]
fn what_it_cannot_learn_from_is_refused() {
    let error =
        |docs: &[Doc], target| params(target, 1).bind(&dataset(docs), &Rules::default(), SimdLevel::best()).err();
    assert!(matches!(error(&[(0, 1.0, 0.0), (0, 1.0, 0.0)], None), Some(ObjectiveError::NoPairs { .. })));
    let docs: [Doc; 2] = [(0, 1.0, 0.0), (0, 2.0, 0.0)];
    assert!(matches!(error(&docs, Some("map")), Some(ObjectiveError::OneClass { .. })));
    assert!(matches!(error(&docs, Some("recall@3")), Some(ObjectiveError::Target { .. })));
    assert_eq!(error(&docs, Some("err")), None);
}

proptest! {
    /// Gradients sum to 0, and the order of the input does not change a bit.
    #[test]
    fn is_balanced_and_blind_to_input_order(
        docs in prop::collection::vec((0u8..3, (0u8..4).prop_map(f32::from), -3.0f64..3.0), 2..40),
        shift in 0usize..40, metric in any::<bool>(),
    ) {
        let mut docs: Vec<Doc> = docs;
        (docs[0].0, docs[0].1, docs[1].0, docs[1].1) = (0, 0.0, 0, 1.0);
        let params = params(metric.then_some("ndcg@5"), 3);
        let with_ids = |docs: &[(usize, Doc)]| {
            let mut builder = rankwise_data::DatasetBuilder::default();
            for (id, doc) in docs {
                let (qid, doc_id) = (format!("q{}", doc.0), format!("d{id}"));
                builder.push(&rankwise_data::Row { qid: &qid, label: doc.1, doc_id: &doc_id, features: &[] }).unwrap();
            }
            let scores: Vec<f64> = docs.iter().map(|(_, doc)| doc.2).collect();
            let (grad, hess) = crate::gradients_of(&builder.finish().unwrap(), &scores, bind(&params));
            let mut all: Vec<_> =
                docs.iter().zip(grad.iter().zip(&hess)).map(|((id, _), (g, h))| (*id, g.to_bits(), h.to_bits())).collect();
            all.sort_unstable();
            (all, grad)
        };
        let mut numbered: Vec<(usize, Doc)> = docs.into_iter().enumerate().collect();
        let (before, grad) = with_ids(&numbered);
        for query in 0..3 {
            let of_query = || numbered.iter().zip(&grad).filter(|((_, doc), _)| doc.0 == query).map(|(_, g)| f64::from(*g));
            let size: f64 = of_query().map(f64::abs).sum();
            prop_assert!(of_query().sum::<f64>().abs() <= 1e-5 * size);
        }
        let n_docs = numbered.len();
        numbered.rotate_left(shift % n_docs);
        prop_assert_eq!(before, with_ids(&numbered).0);
    }
}
