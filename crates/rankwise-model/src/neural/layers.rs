//! The layers of networks, as functions of activations: a row of units for each document, one after the other.
//!
//! A row of the result depends on its own row alone, except for attention. Sums have a fixed order: products add up
//! their terms one by one, sums over units 16 at a time.

use rankwise_simd::SimdLevel;
use rankwise_simd::matrix::{Sizes, add_product, transposed};

/// Added to a variance, so that its root has an inverse.
pub const EPSILON: f32 = 1e-5;
/// Documents whose attention is computed at a time, so that long lists need no square matrix.
pub const ROWS_AT_A_TIME: usize = 64;
const LANES: usize = 16;

/// The sum of some numbers, in 16 lanes.
pub fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for chunk in values.chunks(LANES) {
        lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value);
    }
    lanes.iter().sum()
}

/// The sum of the products of some numbers, in 16 lanes.
pub fn dot(first: &[f32], second: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    for (first, second) in first.chunks(LANES).zip(second.chunks(LANES)) {
        lanes.iter_mut().zip(first).zip(second).for_each(|((lane, first), second)| *lane += first * second);
    }
    lanes.iter().sum()
}

/// A linear layer. `weights` has a row for each input; `bias` has a number for each output.
pub fn linear(level: SimdLevel, values: &[f32], weights: &[f32], bias: &[f32]) -> Vec<f32> {
    let (inputs, outputs) = (weights.len() / bias.len(), bias.len());
    let rows = values.len().checked_div(inputs).unwrap_or(0);
    let mut out = bias.repeat(rows);
    add_product(level, Sizes { rows, inner: inputs, columns: outputs }, values, weights, &mut out);
    out
}

/// Negative activations, and what is no number, become 0.
pub fn relu(values: &mut [f32]) {
    for value in values.iter_mut() {
        *value = if *value > 0.0 { *value } else { 0.0 };
    }
}

/// Brings the units of a document to mean 0 and deviation 1; returns the inverse of their deviation.
pub fn standardise(row: &mut [f32]) -> f32 {
    let n = row.len() as f32;
    let mean = sum(row) / n;
    for value in row.iter_mut() {
        *value -= mean;
    }
    let inverse = inverse_deviation(dot(row, row) / n);
    for value in row.iter_mut() {
        *value *= inverse;
    }
    inverse
}

/// The inverse of the deviation with this variance.
pub fn inverse_deviation(variance: f32) -> f32 {
    1.0 / (variance + EPSILON).sqrt()
}

/// Multiplies and shifts the units of all documents.
pub fn scale(values: &mut [f32], scale: &[f32], shift: &[f32]) {
    for row in values.chunks_exact_mut(scale.len()) {
        row.iter_mut().zip(scale).zip(shift).for_each(|((value, scale), shift)| *value = *value * scale + shift);
    }
}

/// The queries, keys and values of one head.
#[derive(Clone, Debug)]
pub struct Head {
    /// A row of units for each document.
    pub queries: Vec<f32>,
    /// A row of documents for each unit.
    pub keys: Vec<f32>,
    /// A row of units for each document.
    pub values: Vec<f32>,
    /// Number of units.
    pub width: usize,
    /// Number of documents.
    pub n_docs: usize,
}

impl Head {
    /// Takes a head out of rows of `width` units for queries, then as many for keys, then for values.
    pub fn new(activations: &[f32], width: usize, heads: usize, head: usize) -> Self {
        let of_head = width / heads;
        let part = |number: usize| columns(activations, 3 * width, number * width + head * of_head, of_head);
        Self {
            queries: part(0),
            keys: transposed(&part(1), of_head),
            values: part(2),
            width: of_head,
            n_docs: activations.len() / (3 * width),
        }
    }

    /// What products of queries and keys are multiplied by.
    pub fn factor(&self) -> f32 {
        1.0 / (self.width as f32).sqrt()
    }

    /// The attention that some documents pay to each document of the list: shares that add up to 1.
    pub fn shares(&self, level: SimdLevel, docs: std::ops::Range<usize>) -> Vec<f32> {
        let Self { width, n_docs, .. } = *self;
        let mut shares = vec![0.0; docs.len() * n_docs];
        let sizes = Sizes { rows: docs.len(), inner: width, columns: n_docs };
        add_product(level, sizes, &self.queries[docs.start * width..docs.end * width], &self.keys, &mut shares);
        shares.chunks_exact_mut(n_docs).for_each(|row| softmax(row, self.factor()));
        shares
    }
}

/// Some columns of a matrix.
pub fn columns(matrix: &[f32], stride: usize, first: usize, n: usize) -> Vec<f32> {
    matrix.chunks_exact(stride).flat_map(|row| &row[first..first + n]).copied().collect()
}

/// Puts values into some columns of a matrix.
pub fn set_columns(matrix: &mut [f32], stride: usize, first: usize, values: &[f32]) {
    let n = values.len() / (matrix.len() / stride).max(1);
    for (row, values) in matrix.chunks_exact_mut(stride).zip(values.chunks_exact(n.max(1))) {
        row[first..first + n].copy_from_slice(values);
    }
}

/// Scaled dot-product attention (Vaswani et al. 2017, equation 1) with several heads, over the documents of one list.
pub fn attend(level: SimdLevel, activations: &[f32], width: usize, heads: usize) -> Vec<f32> {
    let n_docs = activations.len() / (3 * width);
    let mut out = vec![0.0; n_docs * width];
    for number in 0..heads {
        let head = Head::new(activations, width, heads, number);
        let mut means = vec![0.0; n_docs * head.width];
        for first in (0..n_docs).step_by(ROWS_AT_A_TIME) {
            let docs = first..n_docs.min(first + ROWS_AT_A_TIME);
            let shares = head.shares(level, docs.clone());
            let sizes = Sizes { rows: docs.len(), inner: n_docs, columns: head.width };
            let out = &mut means[docs.start * head.width..docs.end * head.width];
            add_product(level, sizes, &shares, &head.values, out);
        }
        set_columns(&mut out, width, number * head.width, &means);
    }
    out
}

/// Replaces numbers by the softmax of `factor` times them.
fn softmax(row: &mut [f32], factor: f32) {
    let largest = row.iter().fold(f32::MIN, |largest, value| if *value > largest { *value } else { largest });
    for value in row.iter_mut() {
        *value = libm::expf((*value - largest) * factor);
    }
    let inverse = 1.0 / sum(row);
    for value in row.iter_mut() {
        *value *= inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize) -> Vec<f32> {
        (0..n).map(|place| ((place * 37 + 11) % 23) as f32 * 0.17 - 1.9).collect()
    }

    #[test]
    fn sums_are_those_of_plain_loops() {
        for n in [0, 1, 16, 37] {
            let values = numbers(n);
            assert!((sum(&values) - values.iter().sum::<f32>()).abs() < 1e-4);
            let products: f32 = values.iter().map(|value| value * value).sum();
            assert!((dot(&values, &values) - products).abs() < 1e-3);
        }
    }

    #[test]
    fn a_linear_layer_adds_its_bias() {
        let out = linear(SimdLevel::best(), &[1.0, 2.0, 3.0, 4.0], &[10.0, 0.0, 1.0, 1.0, 0.0, -1.0], &[0.5, 0.0, 0.0]);
        assert_eq!(out, [12.5, 0.0, -1.0, 34.5, 0.0, -1.0]);
        assert_eq!(linear(SimdLevel::best(), &[], &[], &[0.5]), [] as [f32; 0]);
    }

    #[test]
    fn standardised_rows_have_mean_0_and_deviation_1() {
        let mut row = numbers(40);
        standardise(&mut row);
        assert!(sum(&row).abs() < 1e-4 && (dot(&row, &row) / 40.0 - 1.0).abs() < 1e-3);
        let mut constant = vec![3.0; 5];
        standardise(&mut constant);
        assert_eq!(constant, [0.0; 5]);
    }

    /// The formula, document by document.
    #[test]
    fn attention_equals_its_definition() {
        for n_docs in [1, 5, 130] {
            let (width, heads) = (6, 2);
            let activations = numbers(n_docs * 3 * width);
            let found = attend(SimdLevel::best(), &activations, width, heads);
            let at = |doc: usize, part: usize, unit: usize| activations[doc * 3 * width + part * width + unit];
            for doc in 0..n_docs {
                for unit in 0..width {
                    let units = unit / 3 * 3..unit / 3 * 3 + 3;
                    let product =
                        |other: usize| -> f32 { units.clone().map(|unit| at(doc, 0, unit) * at(other, 1, unit)).sum() };
                    let shares: Vec<f32> = (0..n_docs).map(|other| libm::expf(product(other) / 3f32.sqrt())).collect();
                    let total: f32 = shares.iter().sum();
                    let expected: f32 =
                        (0..n_docs).map(|other| shares[other] * at(other, 2, unit)).sum::<f32>() / total;
                    assert!((found[doc * width + unit] - expected).abs() < 1e-4);
                }
            }
        }
    }
}
