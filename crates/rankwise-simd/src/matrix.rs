//! Products of matrices, for neural rankers.
//!
//! ```text
//! sum[row][column] += left[row][0] * right[0][column] + left[row][1] * right[1][column] + ...
//! ```
//!
//! Matrices are stored row by row. Each entry adds up its terms one by one in their order, as f32: it does not depend on
//! the instruction set, on the size of the matrices, or on where its row stands. Blocks of 4 rows and 16 columns stay in
//! registers.

use crate::simd_kernel;

const ROWS: usize = 4;
const COLUMNS: usize = 16;

/// The sizes of the matrices of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of `left` and of the sum.
    pub rows: usize,
    /// Columns of `left`, rows of `right`.
    pub inner: usize,
    /// Columns of `right` and of the sum.
    pub columns: usize,
}

simd_kernel! {
    /// Adds the product of `left` and `right` to `sum`.
    pub fn add_product(sizes: Sizes, left: &[f32], right: &[f32], sum: &mut [f32]) = add_product_body;
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn add_product_body(sizes: Sizes, left: &[f32], right: &[f32], sum: &mut [f32]) {
    let Sizes { rows, inner, columns } = sizes;
    assert_eq!(left.len(), rows * inner, "the left matrix has its size");
    assert_eq!(right.len(), inner * columns, "the right matrix has its size");
    assert_eq!(sum.len(), rows * columns, "the sum has its size");
    if inner == 0 {
        return;
    }
    for first in (0..columns).step_by(COLUMNS) {
        if first + COLUMNS <= columns {
            panel(Panel { right: &right[first..], stride: columns, first, width: COLUMNS }, sizes, left, sum);
        } else {
            // The last columns, filled up with 0.
            let width = columns - first;
            let mut padded = vec![0.0; inner * COLUMNS];
            for (to, from) in padded.chunks_exact_mut(COLUMNS).zip(right.chunks_exact(columns)) {
                to[..width].copy_from_slice(&from[first..]);
            }
            panel(Panel { right: &padded, stride: COLUMNS, first, width }, sizes, left, sum);
        }
    }
}

/// Up to 16 columns of the right matrix.
#[derive(Clone, Copy)]
struct Panel<'a> {
    /// From the first of the columns on.
    right: &'a [f32],
    /// From one row to the next.
    stride: usize,
    /// The number of the first column.
    first: usize,
    width: usize,
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn panel(panel: Panel<'_>, Sizes { inner, columns, .. }: Sizes, left: &[f32], sum: &mut [f32]) {
    let mut blocks = left.chunks_exact(ROWS * inner);
    let mut sums = sum.chunks_exact_mut(ROWS * columns);
    for (left, sum) in blocks.by_ref().zip(sums.by_ref()) {
        block::<ROWS>(panel, inner, left, sum);
    }
    let rest = sums.into_remainder().chunks_exact_mut(columns);
    for (left, sum) in blocks.remainder().chunks_exact(inner).zip(rest) {
        block::<1>(panel, inner, left, sum);
    }
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn block<const N: usize>(panel: Panel<'_>, inner: usize, left: &[f32], sum: &mut [f32]) {
    let columns = sum.len() / N;
    let mut sums = [[0.0f32; COLUMNS]; N];
    for (sums, row) in sums.iter_mut().zip(sum.chunks_exact(columns)) {
        sums[..panel.width].copy_from_slice(&row[panel.first..][..panel.width]);
    }
    let lefts: [&[f32]; N] = std::array::from_fn(|row| &left[row * inner..][..inner]);
    for (place, right) in panel.right.chunks(panel.stride).enumerate().take(inner) {
        let right = &right[..COLUMNS];
        for row in 0..N {
            let factor = lefts[row][place];
            for column in 0..COLUMNS {
                sums[row][column] += factor * right[column];
            }
        }
    }
    for (sums, row) in sums.iter().zip(sum.chunks_exact_mut(columns)) {
        row[panel.first..][..panel.width].copy_from_slice(&sums[..panel.width]);
    }
}

/// The transpose of a matrix with this many columns.
pub fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let rows = matrix.len() / columns.max(1);
    let mut out = vec![0.0; matrix.len()];
    for (row, values) in matrix.chunks_exact(columns.max(1)).enumerate() {
        for (column, value) in values.iter().enumerate() {
            out[column * rows + row] = *value;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimdLevel;

    fn matrix(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|place| ((place * 37 + seed * 101) % 29) as f32 * 0.37 - 4.1).collect()
    }

    /// Bit for bit, for sizes around those of blocks.
    #[test]
    fn a_product_has_the_bits_of_plain_sums_on_every_level() {
        for rows in [0, 1, 3, 4, 9] {
            for inner in [0, 1, 7, 33] {
                for columns in [0, 1, 15, 16, 17, 40] {
                    let (left, right) = (matrix(rows * inner, 1), matrix(inner * columns, 2));
                    let start = matrix(rows * columns, 3);
                    let mut expected = start.clone();
                    for row in 0..rows {
                        for column in 0..columns {
                            for place in 0..inner {
                                expected[row * columns + column] +=
                                    left[row * inner + place] * right[place * columns + column];
                            }
                        }
                    }
                    for level in SimdLevel::available() {
                        let mut found = start.clone();
                        add_product(level, Sizes { rows, inner, columns }, &left, &right, &mut found);
                        assert_eq!(found, expected, "{level:?} {rows} {inner} {columns}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_transpose_has_rows_for_columns() {
        assert_eq!(transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert!(transposed(&[], 0).is_empty());
    }
}
