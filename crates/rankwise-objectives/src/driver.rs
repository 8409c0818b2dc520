//! An objective over all queries of a data set.

use rankwise_data::{Dataset, QueryView};
use rayon::prelude::*;

use crate::objective::Noise;
use crate::{AllDocs, GradientSlices, Objective, QueryDocs, Round, Scratch};

/// A list is long if it has so many times the mean number of documents.
const LONG: usize = 8;

/// Writes the weighted derivatives of every document. They are made finite, and Hessians non-negative, here, once: the sums
/// of fixed-point numbers that follow rely on it. What is beyond the largest number becomes it; what is none counts as 0.
///
/// Scores and derivatives of an objective with several outputs come output by output: those of all documents by the first, then
/// by the second, ...
pub fn gradients(
    objective: &dyn Objective,
    data: &Dataset,
    round: Round,
    scores: &[f64],
    derivatives: (&mut [f32], &mut [f32]),
) {
    gradients_of(objective, data, |_| true, round, scores, derivatives);
}

/// The same for the documents of some queries; those of others get anything.
pub fn gradients_of(
    objective: &dyn Objective,
    data: &Dataset,
    is_wanted: impl Fn(usize) -> bool,
    round: Round,
    scores: &[f64],
    (grad, hess): (&mut [f32], &mut [f32]),
) {
    let n_outputs = objective.classes().map_or(1, |classes| classes.gains.len());
    if let Some(objective) = objective.all_queries() {
        objective.gradients(AllDocs { data, scores, round }, GradientSlices { grad: &mut *grad, hess: &mut *hess });
        let planes = grad.chunks_exact_mut(data.n_rows()).zip(hess.chunks_exact_mut(data.n_rows()));
        for (grad, hess) in planes {
            data.queries()
                .for_each(|view| apply_weights(&view, &mut grad[view.rows.clone()], &mut hess[view.rows.clone()]));
        }
        return;
    }
    if n_outputs == 1 {
        return by_query((objective, data), is_wanted, (round, n_outputs), scores, (grad, hess));
    }
    let mut of_queries = (vec![0.0; grad.len()], vec![0.0; hess.len()]);
    by_query((objective, data), is_wanted, (round, n_outputs), scores, (&mut of_queries.0, &mut of_queries.1));
    let n_rows = data.n_rows();
    for (from, to) in [(of_queries.0, grad), (of_queries.1, hess)] {
        for rows in data.bounds().array_windows().map(|[start, end]| *start..*end) {
            let block = &from[n_outputs * rows.start..n_outputs * rows.end];
            for (output, values) in block.chunks_exact(rows.len()).enumerate() {
                to[output * n_rows + rows.start..][..rows.len()].copy_from_slice(values);
            }
        }
    }
}

/// The same, the derivatives of a query together: by its first output, by its second, ...
fn by_query(
    (objective, data): (&dyn Objective, &Dataset),
    is_wanted: impl Fn(usize) -> bool,
    (round, n_outputs): (Round, usize),
    scores: &[f64],
    (grad, hess): (&mut [f32], &mut [f32]),
) {
    let mut tasks = Vec::with_capacity(data.n_queries());
    let (mut grad_left, mut hess_left) = (grad, hess);
    for query in 0..data.n_queries() {
        let n_values = n_outputs * data.query_rows(query).len();
        let (grad, grad_rest) = grad_left.split_at_mut(n_values);
        let (hess, hess_rest) = hess_left.split_at_mut(n_values);
        (grad_left, hess_left) = (grad_rest, hess_rest);
        if is_wanted(query) {
            tasks.push((query, grad, hess));
        }
    }
    // Long lists first: one that is begun last would keep all threads but one waiting for it.
    let long = LONG * n_outputs * data.n_rows() / data.n_queries().max(1);
    tasks.sort_by_key(|(_, grad, _)| grad.len() <= long);
    let room = <(Scratch, Vec<f64>)>::default;
    tasks.into_par_iter().for_each_init(room, |(scratch, outputs), (query, grad, hess)| {
        let view = data.query(query);
        let scores = if n_outputs == 1 {
            &scores[view.rows.clone()]
        } else {
            outputs.clear();
            let planes = scores.chunks_exact(data.n_rows());
            planes.for_each(|plane| outputs.extend_from_slice(&plane[view.rows.clone()]));
            &outputs[..]
        };
        let docs = QueryDocs {
            query,
            labels: view.labels,
            scores,
            weights: view.doc_weights(),
            input_rows: view.input_rows,
            noise: Noise::new(round, view.doc_keys()),
        };
        objective.query_gradients(docs, GradientSlices { grad: &mut *grad, hess: &mut *hess }, scratch);
        let planes = grad.chunks_exact_mut(view.n_docs()).zip(hess.chunks_exact_mut(view.n_docs()));
        planes.for_each(|(grad, hess)| apply_weights(&view, grad, hess));
    });
}

fn apply_weights(view: &QueryView<'_>, grad: &mut [f32], hess: &mut [f32]) {
    for doc in 0..view.n_docs() {
        let weight = view.weight * view.doc_weight(doc);
        let (weighted_grad, weighted_hess) = (grad[doc] * weight, hess[doc] * weight);
        let is_number = !weighted_grad.is_nan() && !weighted_hess.is_nan();
        grad[doc] = if is_number { weighted_grad.clamp(-f32::MAX, f32::MAX) } else { 0.0 };
        hess[doc] = if is_number { weighted_hess.clamp(0.0, f32::MAX) } else { 0.0 };
    }
}
