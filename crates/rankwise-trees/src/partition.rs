//! Which rows each node holds: one array of row numbers, a range of it per node.
//!
//! ```text
//! before   [ . . | 4 7 9 12 15 20 | . . ]     the node's range
//! after    [ . . | 4 9 20 | 7 12 15 | . . ]   left rows, right rows, each in their old order
//! ```

use std::ops::Range;

/// The rows of a tree, sorted into its leaves.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    rows: Vec<u32>,
    right: Vec<u32>,
}

impl Partition {
    pub(crate) fn new(rows: Vec<u32>) -> Self {
        Self { rows, right: Vec::new() }
    }

    pub(crate) fn rows(&self, range: Range<usize>) -> &[u32] {
        &self.rows[range]
    }

    /// Moves the rows of a range that go left to its front; gives the place where the right ones begin.
    pub(crate) fn split(&mut self, range: Range<usize>, bins: &[u8], goes_left: impl Fn(u8) -> bool) -> usize {
        let n_rows = range.len();
        if self.right.len() < n_rows {
            self.right.resize(n_rows, 0);
        }
        let rows = &mut self.rows[range.clone()];
        let right = &mut self.right[..n_rows];
        let (mut n_left, mut n_right) = (0, 0);
        // Each row is written to both sides and counted on one: which one cannot be guessed, and a wrong guess costs more
        // than a write.
        for at in 0..n_rows {
            let row = rows[at];
            let is_left = usize::from(goes_left(bins[row as usize]));
            rows[n_left] = row;
            right[n_right] = row;
            n_left += is_left;
            n_right += 1 - is_left;
        }
        rows[n_left..].copy_from_slice(&right[..n_right]);
        range.start + n_left
    }

    pub(crate) fn into_rows(self) -> Vec<u32> {
        self.rows
    }
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
}
