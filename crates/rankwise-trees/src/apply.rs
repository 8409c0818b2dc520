//! A tree's values added to scores.
//!
//! Rows that a tree was not grown from are taken some thousands at a time, so that their part of a column stays in the cache, and sorted into the leaves node by
//! node, as they are while a tree grows. Those that it was grown from are in its leaves already.

use std::ops::Range;

use rankwise_data::{BinnedDataset, SimdLevel};
use rankwise_model::{Child, Tree, TreeParts};
use rayon::prelude::*;

use crate::host::Placed;
use crate::kernel::sides::sort_sides;
use crate::question::Question;

/// Rows that one task sorts into leaves, where there are enough of them for all threads. With fewer, many nodes have a handful of
/// them, which takes nearly as long as a dozen; with more, their part of a column leaves the cache.
const ROWS_PER_TASK: Range<usize> = 1 << 13..1 << 16;
/// With fewer rows, another thread is of no use.
const MIN_ROWS: usize = 1 << 12;

/// Adds the value of each leaf to the scores of the rows that the tree was grown from. Each thread has a run of the scores, and
/// finds its rows in each part of a leaf, where they ascend.
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
    let values: Vec<f64> = tree.parts().leaf_value.iter().map(|value| value * factor).collect();
    Sorter::new(tree, data, simd).add_values(&values, scores, &[]);
}

/// Adds a tree to the scores of the rows outside its sample, which is given in ascending order.
pub(crate) fn add_to_others(tree: &Tree, sample: &[u32], scores: &mut [f64], data: &BinnedDataset, simd: SimdLevel) {
    Sorter::new(tree, data, simd).add_values(&tree.parts().leaf_value, scores, sample);
}

/// Sorts rows of data into the leaves of a tree.
struct Sorter<'a> {
    parts: &'a TreeParts,
    /// By node.
    questions: Vec<Question>,
    data: &'a BinnedDataset,
    simd: SimdLevel,
}

impl<'a> Sorter<'a> {
    fn new(tree: &'a Tree, data: &'a BinnedDataset, simd: SimdLevel) -> Self {
        let parts = tree.parts();
        let questions = (0..tree.n_nodes()).map(|node| Question::of_node(data, parts, node)).collect();
        Self { parts, questions, data, simd }
    }

    /// Adds the values of leaves to the scores of all rows but some, which ascend.
    fn add_values(&self, values: &[f64], scores: &mut [f64], but: &[u32]) {
        let Range { start: fewest, end: most } = ROWS_PER_TASK;
        let size = scores.len().div_ceil(rayon::current_num_threads()).clamp(fewest, most);
        scores.par_chunks_mut(size).enumerate().for_each_init(Rooms::default, |rooms, (task, scores)| {
            let range = task * size..task * size + scores.len();
            rooms.fill(&range, but);
            self.sort(range, rooms, |leaf, rows| {
                for row in rows {
                    scores[*row as usize] += values[leaf];
                }
            });
        });
    }

    /// Calls `visit(leaf, rows)` for each leaf with its rows among those in the room, counted from the first of `range`.
    fn sort(&self, range: Range<usize>, rooms: &mut Rooms, mut visit: impl FnMut(usize, &[u32])) {
        let Rooms { rows, left, right, stack } = rooms;
        let n_rows = rows.len();
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

impl Rooms {
    /// Puts in the rows of a range, counted from its first, but some of them, which ascend.
    fn fill(&mut self, range: &Range<usize>, but: &[u32]) {
        let place_of = |row: usize| but.partition_point(|of| (*of as usize) < row);
        self.rows.clear();
        let mut next = 0;
        for row in &but[place_of(range.start)..place_of(range.end)] {
            let row = row - range.start as u32;
            self.rows.extend(next..row);
            next = row + 1;
        }
        self.rows.extend(next..range.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_room_has_all_rows_of_a_range_but_some(start in 0usize..50, len in 0usize..50, but in prop::collection::btree_set(0u32..120, 0..80)) {
            let mut rooms = Rooms { rows: vec![7], ..Rooms::default() };
            let but: Vec<u32> = but.into_iter().collect();
            rooms.fill(&(start..start + len), &but);
            let left = (start as u32..(start + len) as u32).filter(|row| !but.contains(row));
            prop_assert_eq!(rooms.rows, left.map(|row| row - start as u32).collect::<Vec<_>>());
        }
    }
}
