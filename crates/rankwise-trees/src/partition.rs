//! Which rows each node holds: one array of row numbers, a range of it per node.
//!
//! ```text
//! before   [ . . | 4 7 9 12 15 20 | . . ]     the node's range
//! after    [ . . | 4 9 20 | 7 12 15 | . . ]   left rows, right rows, each in their old order
//! ```

use std::ops::Range;

use rayon::prelude::*;

/// Rows that one task sorts; a node with fewer than two tasks' worth is sorted by one thread.
const ROWS_PER_TASK: usize = 1 << 14;

/// The rows of a tree, sorted into its leaves.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    rows: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
}

impl Partition {
    pub(crate) fn new(rows: Vec<u32>) -> Self {
        let room = vec![0; rows.len()];
        Self { rows, left: room.clone(), right: room }
    }

    pub(crate) fn rows(&self, range: Range<usize>) -> &[u32] {
        &self.rows[range]
    }

    /// Moves the rows of a range that go left to its front; gives the place where the right ones begin.
    pub(crate) fn split(&mut self, range: Range<usize>, bins: &[u8], goes_left: impl Fn(u8) -> bool + Sync) -> usize {
        let rows = &mut self.rows[range.clone()];
        let (left, right) = (&mut self.left[..rows.len()], &mut self.right[..rows.len()]);
        if rows.len() < 2 * ROWS_PER_TASK {
            let n_left = sort_sides(rows, left, right, bins, &goes_left);
            let (front, back) = rows.split_at_mut(n_left);
            front.copy_from_slice(&left[..n_left]);
            back.copy_from_slice(&right[..back.len()]);
            return range.start + n_left;
        }
        // Each task sorts its part of the rows; then each part's two sides are put behind those of the parts before it.
        let parts = rows.par_chunks(ROWS_PER_TASK);
        let sides = left.par_chunks_mut(ROWS_PER_TASK).zip(right.par_chunks_mut(ROWS_PER_TASK));
        let counts: Vec<usize> =
            parts.zip(sides).map(|(rows, (left, right))| sort_sides(rows, left, right, bins, &goes_left)).collect();
        let n_left = counts.iter().sum();
        let (mut front, mut back) = rows.split_at_mut(n_left);
        let mut copies: Vec<(&mut [u32], &[u32])> = Vec::with_capacity(2 * counts.len());
        let sides = left.chunks(ROWS_PER_TASK).zip(right.chunks(ROWS_PER_TASK));
        for ((left, right), n_left) in sides.zip(counts) {
            for (rest, from) in [(&mut front, &left[..n_left]), (&mut back, &right[..right.len() - n_left])] {
                let (to, others) = std::mem::take(rest).split_at_mut(from.len());
                *rest = others;
                copies.push((to, from));
            }
        }
        copies.into_par_iter().for_each(|(to, from)| to.copy_from_slice(from));
        range.start + n_left
    }

    pub(crate) fn into_rows(self) -> Vec<u32> {
        self.rows
    }
}

/// Writes the rows that go left to the front of one slice and the others to that of the other; gives the number of the
/// former. Each row is written to both and counted on one: which one cannot be guessed, and a wrong guess costs more than
/// a write.
fn sort_sides(
    rows: &[u32],
    left: &mut [u32],
    right: &mut [u32],
    bins: &[u8],
    goes_left: &impl Fn(u8) -> bool,
) -> usize {
    let (mut n_left, mut n_right) = (0, 0);
    for row in rows {
        let is_left = usize::from(goes_left(bins[*row as usize]));
        left[n_left] = *row;
        right[n_right] = *row;
        n_left += is_left;
        n_right += 1 - is_left;
    }
    n_left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_keep_their_order() {
        let bins: Vec<u8> = vec![0, 5, 1, 6, 2, 7, 3];
        let mut partition = Partition::new((0..7).collect());
        let middle = partition.split(1..6, &bins, |bin| bin <= 2);
        assert_eq!((partition.rows(0..7), middle), (&[0, 2, 4, 1, 3, 5, 6][..], 3));
        assert_eq!(partition.split(3..3, &bins, |_| true), 3);
    }

    #[test]
    fn many_rows_are_sorted_alike() {
        let n_rows = 5 * ROWS_PER_TASK + 123;
        let bins: Vec<u8> = (0..n_rows).map(|row| (row * row % 251) as u8).collect();
        for limit in [0, 100, 255] {
            let mut partition = Partition::new((0..n_rows as u32).collect());
            let middle = partition.split(7..n_rows, &bins, |bin| bin < limit);
            let (left, right): (Vec<u32>, Vec<u32>) = (7..n_rows as u32).partition(|row| bins[*row as usize] < limit);
            assert_eq!((partition.rows(7..middle), partition.rows(middle..n_rows)), (&left[..], &right[..]));
        }
    }
}
