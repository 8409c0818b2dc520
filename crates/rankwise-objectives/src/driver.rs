//! An objective over all queries of a data set.

use rankwise_data::Dataset;
use rayon::prelude::*;

use crate::objective::Noise;
use crate::{GradientSlices, Objective, QueryDocs, Round, Scratch};

/// A list is long if it has so many times the mean number of documents.
const LONG: usize = 8;

/// Writes the weighted derivatives of every document. They are made finite, and Hessians non-negative, here, once: the sums
/// of fixed-point numbers that follow rely on it. What is beyond the largest number becomes it; what is none counts as 0.
pub fn gradients(
    objective: &dyn Objective,
    data: &Dataset,
    round: Round,
    scores: &[f64],
    (grad, hess): (&mut [f32], &mut [f32]),
) {
    let mut tasks = Vec::with_capacity(data.n_queries());
    let (mut grad_left, mut hess_left) = (grad, hess);
    for query in 0..data.n_queries() {
        let n_docs = data.query_rows(query).len();
        let (grad, grad_rest) = grad_left.split_at_mut(n_docs);
        let (hess, hess_rest) = hess_left.split_at_mut(n_docs);
        (grad_left, hess_left) = (grad_rest, hess_rest);
        tasks.push((query, grad, hess));
    }
    // Long lists first: one that is begun last would keep all threads but one waiting for it.
    let long = LONG * data.n_rows() / data.n_queries().max(1);
    tasks.sort_by_key(|(_, grad, _)| grad.len() <= long);
    tasks.into_par_iter().for_each_init(Scratch::default, |scratch, (query, grad, hess)| {
        let view = data.query(query);
        let docs = QueryDocs {
            query,
            labels: view.labels,
            scores: &scores[view.rows.clone()],
            weights: view.doc_weights(),
            input_rows: view.input_rows,
            noise: Noise::new(round, view.doc_keys()),
        };
        objective.query_gradients(docs, GradientSlices { grad: &mut *grad, hess: &mut *hess }, scratch);
        for doc in 0..view.n_docs() {
            let weight = view.weight * view.doc_weight(doc);
            let (weighted_grad, weighted_hess) = (grad[doc] * weight, hess[doc] * weight);
            let is_number = !weighted_grad.is_nan() && !weighted_hess.is_nan();
            grad[doc] = if is_number { weighted_grad.clamp(-f32::MAX, f32::MAX) } else { 0.0 };
            hess[doc] = if is_number { weighted_hess.clamp(0.0, f32::MAX) } else { 0.0 };
        }
    });
}
