//! A tree's values added to scores.
//!
//! Rows that a tree was not grown from are taken some thousands at a time, so that their part of a column stays in the cache, and sorted into the leaves node by
//! node, as they are while a tree grows.

use std::ops::Range;

use rankwise_data::{BinnedDataset, SimdLevel};
use rankwise_model::{Child, Tree, TreeParts};
use rayon::prelude::*;

use crate::host::Placed;
use crate::kernel::sides::sort_sides;
use crate::question::Question;

/// Rows that one task sorts into leaves.
const ROWS_PER_TASK: usize = 1 << 13;
/// With fewer rows, another thread is of no use.
const MIN_ROWS: usize = 1 << 12;

/// Adds the value of each leaf to the scores of its rows, where a tree was grown from all rows. Each thread has a run of the
/// scores, and finds its rows in each part of a leaf, where they ascend.
pub(crate) fn add_to_own(placed: &Placed, leaf_values: &[f64], scores: &mut [f64]) {
    let n_rows = scores.len().div_ceil(rayon::current_num_threads()).max(MIN_ROWS);
    scores.par_chunks_mut(n_rows).enumerate().for_each(|(task, scores)| {
        let first = task * n_rows;
        for (leaf, range) in &placed.leaf_rows {
            let value = leaf_values[*leaf];
            let rows = &placed.rows[range.clone()];
            let start = rows.partition_point(|row| (*row as usize) < first);
            let end = rows.partition_point(|row| (*row as usize) < first + n_rows);
            for row in &rows[start..end] {
                scores[*row as usize - first] += value;
            }
        }
    });
}

/// Adds a multiple of a tree to the scores of all rows of data that has the bins it was grown on. The tree names features by their
/// index in that data.
pub fn add_tree(tree: &Tree, factor: f64, scores: &mut [f64], data: &BinnedDataset, simd: SimdLevel) {
    let parts = tree.parts();
    let questions = (0..tree.n_nodes()).map(|node| Question::of_node(data, parts, node)).collect();
    let sorter = Sorter { parts, questions, data, simd };
    let values: Vec<f64> = parts.leaf_value.iter().map(|value| value * factor).collect();
    scores.par_chunks_mut(ROWS_PER_TASK).enumerate().for_each_init(Rooms::default, |rooms, (task, scores)| {
        let first = task * ROWS_PER_TASK;
        sorter.sort(first..first + scores.len(), rooms, |leaf, rows| {
            for row in rows {
                scores[*row as usize] += values[leaf];
            }
        });
    });
}

/// Sorts rows of data into the leaves of a tree.
struct Sorter<'a> {
    parts: &'a TreeParts,
    /// By node.
    questions: Vec<Question>,
    data: &'a BinnedDataset,
    simd: SimdLevel,
}

impl Sorter<'_> {
    /// Calls `visit(leaf, rows)` for each leaf with its rows, counted from the first of `range`.
    fn sort(&self, range: Range<usize>, rooms: &mut Rooms, mut visit: impl FnMut(usize, &[u32])) {
        let n_rows = range.len();
        let Rooms { rows, left, right, stack } = rooms;
        rows.clear();
        rows.extend(0..n_rows as u32);
        left.resize(n_rows, 0);
        right.resize(n_rows, 0);
        let root = if self.parts.feature.is_empty() { Child::Leaf(0) } else { Child::Node(0) };
        stack.push((root, 0, n_rows));
        while let Some((child, start, end)) = stack.pop() {
            match child {
                Child::Leaf(leaf) => visit(leaf, &rows[start..end]),
                Child::Node(node) => {
                    let question = self.questions[node];
                    let bins = &*self.data.column_in(question.feature, range.clone());
                    let len = end - start;
                    let sides = (&mut left[..len], &mut right[..len]);
                    let n_left = sort_sides(self.simd, &rows[start..end], sides, bins, question);
                    let middle = start + n_left;
                    rows[start..middle].copy_from_slice(&left[..n_left]);
                    rows[middle..end].copy_from_slice(&right[..end - middle]);
                    stack.push((Child::decode(self.parts.right[node]), middle, end));
                    stack.push((Child::decode(self.parts.left[node]), start, middle));
                }
            }
        }
    }
}

/// Room to sort in, kept by each thread.
#[derive(Default)]
struct Rooms {
    rows: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
    /// Nodes to come, with their parts of the rows.
    stack: Vec<(Child, usize, usize)>,
}
