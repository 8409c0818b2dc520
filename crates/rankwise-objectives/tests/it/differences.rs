//! Numerical derivatives by central differences of a loss.

use proptest::prelude::*;
use rankwise_data::{Dataset, DatasetBuilder, Row, SimdLevel};
use rankwise_metrics::Rules;
use rankwise_objectives::{Objective, ObjectiveParams, QueryDocs, Round};
use std::sync::Mutex;

/// The documents of one query, as seen by a loss, in canonical order.
#[derive(Clone, Debug)]
pub(crate) struct List {
    pub(crate) labels: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) scores: Vec<f64>,
    /// The uniform number of each document.
    pub(crate) uniforms: Vec<f64>,
    pub(crate) query_weight: f64,
}

/// Label, weight and score of each document, by query, with the weight of the query.
pub(crate) type Lists = Vec<(f32, Vec<(f32, f32, f64)>)>;

/// Queries of 1 to `longest` documents with tied labels, tied scores, scores far apart, and weights, some of them 0.
pub(crate) fn lists(label: impl Strategy<Value = f32> + Clone, longest: usize) -> impl Strategy<Value = Lists> {
    let weight = prop_oneof![4 => Just(1.0f32), 2 => 0.25f32..4.0, 1 => Just(0.0)];
    let score = prop_oneof![-3.0f64..3.0, (-2i8..3).prop_map(f64::from)];
    let width = prop_oneof![6 => Just(1.0), 1 => Just(0.0), 1 => Just(30.0), 1 => Just(1000.0)];
    let docs = (width, prop::collection::vec((label, weight.clone(), score), 1..=longest)).prop_map(|(width, docs)| {
        docs.into_iter().map(|(label, weight, score)| (label, weight, score * width)).collect()
    });
    prop::collection::vec((0.5f32..3.0, docs), 1..3)
}

/// The dataset, its scores and its queries.
pub(crate) fn dataset(lists: &Lists) -> (Dataset, Vec<f64>) {
    let mut builder = DatasetBuilder::default();
    for (query, (_, docs)) in lists.iter().enumerate() {
        for (doc, (label, ..)) in docs.iter().enumerate() {
            let (qid, doc_id) = (format!("q{query}"), format!("d{doc:04}"));
            builder.push(&Row { qid: &qid, label: *label, doc_id: &doc_id, features: &[] }).unwrap();
        }
    }
    let docs = || lists.iter().flat_map(|(_, docs)| docs);
    builder.row_weights(docs().map(|(_, weight, _)| *weight).collect());
    builder.query_weights(lists.iter().map(|(weight, _)| *weight).collect());
    let data = builder.finish().unwrap();
    let scores = data.from_input_order(&docs().map(|(.., score)| *score).collect::<Vec<_>>());
    (data, scores)
}

/// Records the random numbers that objectives can draw.
struct Listener(Mutex<Vec<(usize, Vec<f64>)>>);

impl Objective for Listener {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(
        &self,
        docs: QueryDocs<'_>,
        _: rankwise_objectives::GradientSlices<'_>,
        _: &mut rankwise_objectives::Scratch,
    ) {
        let uniforms = (0..docs.labels.len()).map(|doc| docs.noise.uniforms(doc, 0)[0]).collect();
        self.0.lock().unwrap().push((docs.query, uniforms));
    }
}

pub(crate) fn uniforms(data: &Dataset, round: Round) -> Vec<Vec<f64>> {
    let listener = Listener(Mutex::default());
    let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
    let scores = vec![0.0; data.n_rows()];
    rankwise_objectives::gradients(&listener, data, round, &scores, (&mut grad, &mut hess));
    let mut drawn = listener.0.into_inner().unwrap();
    drawn.sort_by_key(|(query, _)| *query);
    drawn.into_iter().map(|(_, uniforms)| uniforms).collect()
}

pub(crate) fn queries(data: &Dataset, scores: &[f64]) -> Vec<List> {
    let drawn = uniforms(data, Round::default());
    data.queries()
        .zip(drawn)
        .map(|(query, uniforms)| List {
            labels: query.labels.iter().map(|label| f64::from(*label)).collect(),
            weights: (0..query.n_docs()).map(|doc| f64::from(query.doc_weight(doc))).collect(),
            scores: scores[query.rows.clone()].to_vec(),
            uniforms,
            query_weight: f64::from(query.weight),
        })
        .collect()
}

const STEP: f64 = 1e-2;

/// First and second derivative of the loss with respect to one score, with an error of fourth order in the step.
fn derivatives(list: &List, doc: usize, loss: &dyn Fn(&List) -> f64) -> (f64, f64) {
    let at = |steps: f64| {
        let mut moved = list.clone();
        moved.scores[doc] += steps * STEP;
        list.query_weight * loss(&moved)
    };
    let [far_left, left, middle, right, far_right] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(at);
    let first = (8.0 * (right - left) - (far_right - far_left)) / (12.0 * STEP);
    let second = (16.0 * (left + right) - (far_left + far_right) - 30.0 * middle) / (12.0 * STEP * STEP);
    (first, second)
}

/// Checks that every gradient, and every Hessian if it is exact, equals the differences of the loss. The tolerance is
/// 1e-5 of the value, 1e-8 of the largest in the query, or the rounding error of the differences.
pub(crate) fn check(
    lists: &Lists,
    params: &ObjectiveParams,
    loss: &dyn Fn(&List) -> f64,
    has_hessian: bool,
) -> Result<(), TestCaseError> {
    let (data, scores) = dataset(lists);
    let Ok(objective) = params.bind(&data, &Rules::default(), SimdLevel::best()) else {
        // All labels equal or all weights 0: other tests cover this.
        return Ok(());
    };
    let (mut grad, mut hess) = (vec![0.0; data.n_rows()], vec![0.0; data.n_rows()]);
    rankwise_objectives::gradients(&*objective, &data, Round::default(), &scores, (&mut grad, &mut hess));
    for (query, list) in data.queries().zip(queries(&data, &scores)) {
        let expected: Vec<(f64, f64)> = (0..query.n_docs()).map(|doc| derivatives(&list, doc, loss)).collect();
        let largest = |values: &[f64]| values.iter().fold(1e-12, |largest: f64, value| largest.max(value.abs()));
        let (firsts, seconds): (Vec<f64>, Vec<f64>) = expected.into_iter().unzip();
        let found = |values: &[f32]| values[query.rows.clone()].iter().map(|value| f64::from(*value)).collect();
        let rounding = 32.0 * f64::EPSILON * list.query_weight * (loss(&list).abs() + largest(&list.scores));
        let mut pairs: Vec<(Vec<f64>, Vec<f64>, f64)> = vec![(found(&grad), firsts, rounding / STEP)];
        if has_hessian {
            pairs.push((found(&hess), seconds, rounding / STEP.powi(2)));
        }
        for (found, expected, rounding) in pairs {
            let floor = 1e-8 * largest(&expected) + rounding;
            for (found, expected) in found.iter().zip(&expected) {
                let distance = (found - expected).abs();
                prop_assert!(distance <= 1e-5 * expected.abs() + floor, "{found} is not {expected}, {list:?}");
            }
        }
    }
    check_loss(&data, &scores, &*objective, loss)
}

/// Checks that the objective's own loss, if it has one, falls as the loss does when all scores are halved.
fn check_loss(
    data: &Dataset,
    scores: &[f64],
    objective: &dyn Objective,
    loss: &dyn Fn(&List) -> f64,
) -> Result<(), TestCaseError> {
    let halved: Vec<f64> = scores.iter().map(|score| score / 2.0).collect();
    let own = |scores: &[f64]| rankwise_objectives::loss(objective, data, Round::default(), scores);
    let (Some(before), Some(after)) = (own(scores), own(&halved)) else { return Ok(()) };
    let total = |scores: &[f64]| queries(data, scores).iter().map(|list| list.query_weight * loss(list)).sum::<f64>();
    let (expected, size) = (total(scores) - total(&halved), total(scores).abs() + total(&halved).abs());
    prop_assert!((before - after - expected).abs() <= 1e-12 * size + 1e-12, "{} is not {expected}", before - after);
    Ok(())
}
