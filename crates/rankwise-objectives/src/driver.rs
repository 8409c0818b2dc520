//! Runs an objective over all queries of a dataset.

use rankwise_data::{Documents, QueryView, reduce};
use rayon::prelude::*;

use crate::objective::Noise;
use crate::{AllDocs, GradientSlices, Objective, QueryDocs, Round, Scratch};

/// A list is long if it has this many times the mean number of documents.
const LONG: usize = 8;

/// Writes the weighted gradients and Hessians of all documents. This is the one place that makes them finite, and
/// Hessians non-negative; the fixed-point sums later rely on it. Values that are too large become the largest finite
/// number; NaN becomes 0.
///
/// With several outputs, scores, gradients and Hessians are stored output by output: all documents for the first, then
/// for the second, ...
pub fn gradients(
    objective: &dyn Objective,
    data: &Documents,
    round: Round,
    scores: &[f64],
    derivatives: (&mut [f32], &mut [f32]),
) {
    gradients_of(objective, data, |_| true, round, scores, derivatives);
}

/// The same for the documents of some queries; the values of other documents are unspecified.
pub fn gradients_of(
    objective: &dyn Objective,
    data: &Documents,
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
    let pass = Pass { objective, data, round, n_outputs, scores };
    if n_outputs == 1 {
        return pass.by_query(is_wanted, GradientSlices { grad, hess });
    }
    let (mut query_grad, mut query_hess) = (vec![0.0; grad.len()], vec![0.0; hess.len()]);
    pass.by_query(is_wanted, GradientSlices { grad: &mut query_grad, hess: &mut query_hess });
    let n_rows = data.n_rows();
    for (from, to) in [(query_grad, grad), (query_hess, hess)] {
        for rows in data.bounds().array_windows().map(|[start, end]| *start..*end) {
            let block = &from[n_outputs * rows.start..n_outputs * rows.end];
            for (output, values) in block.chunks_exact(rows.len()).enumerate() {
                to[output * n_rows + rows.start..][..rows.len()].copy_from_slice(values);
            }
        }
    }
}

/// One query of a dataset in one round.
#[derive(Clone, Copy, Debug)]
pub struct QueryTask<'a> {
    /// The data.
    pub data: &'a Documents,
    /// The index of the query.
    pub query: usize,
    /// The round.
    pub round: Round,
}

/// [`gradients`] for the documents of one query, given their scores. The objective has one output and does not take all
/// queries at once.
pub fn gradients_of_query(
    objective: &dyn Objective,
    QueryTask { data, query, round }: QueryTask<'_>,
    scores: &[f64],
    GradientSlices { grad, hess }: GradientSlices<'_>,
    scratch: &mut Scratch,
) {
    let view = data.query(query);
    let docs = docs_of(&view, query, scores, round);
    objective.query_gradients(docs, GradientSlices { grad: &mut *grad, hess: &mut *hess }, scratch);
    apply_weights(&view, grad, hess);
}

/// The loss whose gradients [`gradients`] gives, summed over queries; `None` if the objective has none for this data.
pub fn loss(objective: &dyn Objective, data: &Documents, round: Round, scores: &[f64]) -> Option<f64> {
    if objective.all_queries().is_some() || objective.classes().is_some() {
        return None;
    }
    let of_query = |query: usize| {
        let view = data.query(query);
        let docs = docs_of(&view, query, &scores[view.rows.clone()], round);
        objective.query_loss(docs).map(|loss| f64::from(view.weight) * loss)
    };
    let losses: Option<Vec<f64>> = (0..data.n_queries()).into_par_iter().map(of_query).collect();
    losses.map(reduce::sum)
}

/// A query as its objective sees it.
fn docs_of<'a>(view: &'a QueryView<'_>, query: usize, scores: &'a [f64], round: Round) -> QueryDocs<'a> {
    QueryDocs {
        query,
        labels: view.labels,
        scores,
        weights: view.doc_weights(),
        input_rows: view.input_rows,
        noise: Noise::new(round, view.doc_keys()),
    }
}

/// One computation of gradients for all queries.
struct Pass<'a> {
    objective: &'a dyn Objective,
    data: &'a Documents,
    round: Round,
    n_outputs: usize,
    /// Output by output.
    scores: &'a [f64],
}

/// A query with the slices for its results.
struct Task<'a> {
    query: usize,
    out: GradientSlices<'a>,
}

impl Pass<'_> {
    /// Writes the results of each query contiguously: for its first output, for its second, ...
    fn by_query(&self, is_wanted: impl Fn(usize) -> bool, out: GradientSlices<'_>) {
        let (n_outputs, data) = (self.n_outputs, self.data);
        let mut tasks = Vec::with_capacity(data.n_queries());
        let (mut grad_left, mut hess_left) = (out.grad, out.hess);
        for query in 0..data.n_queries() {
            let n_values = n_outputs * data.query_rows(query).len();
            let (grad, grad_rest) = grad_left.split_at_mut(n_values);
            let (hess, hess_rest) = hess_left.split_at_mut(n_values);
            (grad_left, hess_left) = (grad_rest, hess_rest);
            if is_wanted(query) {
                tasks.push(Task { query, out: GradientSlices { grad, hess } });
            }
        }
        // Long lists first: if one started last, all other threads would wait for it.
        let long = LONG * n_outputs * data.n_rows() / data.n_queries().max(1);
        tasks.sort_by_key(|task| task.out.grad.len() <= long);
        let room = <(Scratch, Vec<f64>)>::default;
        tasks.into_par_iter().for_each_init(room, |(scratch, outputs), task| self.one_query(task, scratch, outputs));
    }

    fn one_query(&self, task: Task<'_>, scratch: &mut Scratch, outputs: &mut Vec<f64>) {
        let view = self.data.query(task.query);
        let scores = if self.n_outputs == 1 {
            &self.scores[view.rows.clone()]
        } else {
            outputs.clear();
            let planes = self.scores.chunks_exact(self.data.n_rows());
            planes.for_each(|plane| outputs.extend_from_slice(&plane[view.rows.clone()]));
            &outputs[..]
        };
        let docs = docs_of(&view, task.query, scores, self.round);
        let GradientSlices { grad, hess } = task.out;
        self.objective.query_gradients(docs, GradientSlices { grad: &mut *grad, hess: &mut *hess }, scratch);
        let planes = grad.chunks_exact_mut(view.n_docs()).zip(hess.chunks_exact_mut(view.n_docs()));
        planes.for_each(|(grad, hess)| apply_weights(&view, grad, hess));
    }
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
