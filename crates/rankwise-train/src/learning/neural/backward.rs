//! The gradients of layers: from those by their results to those by their inputs and weights. The layers themselves are
//! in `rankwise_model::neural::layers`.

use rankwise_data::SimdLevel;
use rankwise_model::neural::layers::{Head, ROWS_AT_A_TIME, columns, dot, set_columns, sum};
use rankwise_simd::matrix::{Sizes, add_product, transposed};

/// Adds the gradients of a linear layer by its weights and biases. `slopes` is the gradient by its results.
pub(super) fn linear(level: SimdLevel, inputs: &[f32], slopes: &[f32], of_weights: &mut [f32], of_bias: &mut [f32]) {
    let (n_outputs, n_docs) = (of_bias.len(), slopes.len() / of_bias.len());
    let n_inputs = of_weights.len() / n_outputs;
    let sizes = Sizes { rows: n_inputs, inner: n_docs, columns: n_outputs };
    add_product(level, sizes, &transposed(inputs, n_inputs), slopes, of_weights);
    add_rows(slopes, of_bias);
}

/// The gradient of a linear layer by its inputs, given the transpose of its weights.
pub(super) fn inputs(level: SimdLevel, slopes: &[f32], transposed: &[f32], n_outputs: usize) -> Vec<f32> {
    let sizes = Sizes { rows: slopes.len() / n_outputs, inner: n_outputs, columns: transposed.len() / n_outputs };
    let mut out = vec![0.0; sizes.rows * sizes.columns];
    add_product(level, sizes, slopes, transposed, &mut out);
    out
}

fn add_rows(rows: &[f32], sums: &mut [f32]) {
    for row in rows.chunks_exact(sums.len()) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}

/// Adds the gradients by the factors and shifts of units, and makes `slopes` the gradient by what was scaled.
pub(super) fn scale(scale: &[f32], values: &[f32], slopes: &mut [f32], of_scale: &mut [f32], of_shift: &mut [f32]) {
    add_rows(slopes, of_shift);
    for (slopes, values) in slopes.chunks_exact_mut(scale.len()).zip(values.chunks_exact(scale.len())) {
        for (((slope, value), scale), of_scale) in slopes.iter_mut().zip(values).zip(scale).zip(&mut *of_scale) {
            *of_scale += *slope * value;
            *slope *= scale;
        }
    }
}

/// The gradient by the units of a document before they were standardised, given `row`, what they became.
pub(super) fn standardise(row: &[f32], inverse: f32, slopes: &mut [f32]) {
    let n = row.len() as f32;
    let (mean, along) = (sum(slopes) / n, dot(slopes, row) / n);
    slopes.iter_mut().zip(row).for_each(|(slope, value)| *slope = inverse * (*slope - mean - value * along));
}

/// The gradient of attention by queries, keys and values, for the documents of one list. Shares are computed again, which
/// is cheaper than to keep them.
pub(super) fn attend(level: SimdLevel, activations: &[f32], slopes: &[f32], width: usize, heads: usize) -> Vec<f32> {
    let mut out = vec![0.0; activations.len()];
    for number in 0..heads {
        let head = Head::new(activations, width, heads, number);
        let slopes = columns(slopes, width, number * head.width, head.width);
        for (part, values) in attend_head(level, &head, &slopes).iter().enumerate() {
            set_columns(&mut out, 3 * width, part * width + number * head.width, values);
        }
    }
    out
}

/// With shares P = softmax(f Q K') and results P V, and D = the gradient by the results:
///
/// ```text
/// by V: P' D        by P: D V'        by f Q K': S = P (D V' - row sums of P D V')        by Q: f S K        by K: f S' Q
/// ```
fn attend_head(level: SimdLevel, head: &Head, slopes: &[f32]) -> [Vec<f32>; 3] {
    let Head { width, n_docs, .. } = *head;
    let (keys, values) = (transposed(&head.keys, n_docs), transposed(&head.values, width));
    let mut out = [(); 3].map(|()| vec![0.0; n_docs * width]);
    for first in (0..n_docs).step_by(ROWS_AT_A_TIME) {
        let docs = first..n_docs.min(first + ROWS_AT_A_TIME);
        let (units, n) = (docs.start * width..docs.end * width, docs.len());
        let shares = head.shares(level, docs);
        let slopes = &slopes[units.clone()];
        let by_docs = Sizes { rows: n_docs, inner: n, columns: width };
        add_product(level, by_docs, &transposed(&shares, n_docs), slopes, &mut out[2]);
        let mut of_shares = vec![0.0; n * n_docs];
        add_product(level, Sizes { rows: n, inner: width, columns: n_docs }, slopes, &values, &mut of_shares);
        for (slopes, shares) in of_shares.chunks_exact_mut(n_docs).zip(shares.chunks_exact(n_docs)) {
            let along = dot(slopes, shares);
            slopes.iter_mut().zip(shares).for_each(|(slope, share)| *slope = share * (*slope - along) * head.factor());
        }
        let of_queries = &mut out[0][units.clone()];
        add_product(level, Sizes { rows: n, inner: n_docs, columns: width }, &of_shares, &keys, of_queries);
        add_product(level, by_docs, &transposed(&of_shares, n_docs), &head.queries[units], &mut out[1]);
    }
    out
}
