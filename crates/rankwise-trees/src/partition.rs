//! Which rows each node holds: one array of row numbers, a range of it per node.
//!
//! ```text
//! before   [ . . | 4 7 9 12 15 20 | . . ]     the node's range
//! after    [ . . | 4 9 20 | 7 12 15 | . . ]   left rows, right rows, each in their old order
//! ```
//!
//! Rows are sorted beside the array first, and put into their places only if the caller likes what it sees.

use std::ops::Range;

use rankwise_data::SimdLevel;
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

use crate::kernel::sides::sort_sides;
use crate::question::Question;

/// Rows that one task sorts; a node with fewer than two tasks' worth is sorted by one thread.
const ROWS_PER_TASK: usize = 1 << 12;

/// The rows of a tree, sorted into its leaves.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    rows: Vec<u32>,
}

/// Room beside the rows for those of each side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sides {
    left: Vec<u32>,
    right: Vec<u32>,
}

/// Room for the rows of one range.
#[derive(Debug)]
pub(crate) struct SidesOfRange<'a> {
    range: Range<usize>,
    left: &'a mut [u32],
    right: &'a mut [u32],
}

/// Rows of a range that were sorted, but not yet moved.
#[derive(Clone, Debug)]
pub(crate) struct Sorted {
    range: Range<usize>,
    /// How many went left of each run of [`ROWS_PER_TASK`] rows, or of all.
    n_left: SmallVec<[usize; 1]>,
}

impl Sorted {
    /// How many rows go left and right.
    pub(crate) fn counts(&self) -> [usize; 2] {
        let n_left = self.n_left.iter().sum();
        [n_left, self.range.len() - n_left]
    }

    /// Where the right rows will begin.
    pub(crate) fn middle(&self) -> usize {
        self.range.start + self.counts()[0]
    }
}

impl Sides {
    /// Makes room for so many rows.
    pub(crate) fn resize(&mut self, n_rows: usize) {
        self.left.resize(n_rows, 0);
        self.right.resize(n_rows, 0);
    }

    /// The room of each of several ranges, none of which overlap.
    pub(crate) fn of_ranges(&mut self, ranges: &[Range<usize>]) -> Vec<SidesOfRange<'_>> {
        if let [range] = ranges {
            let (left, right) = (&mut self.left[range.clone()], &mut self.right[range.clone()]);
            return vec![SidesOfRange { range: range.clone(), left, right }];
        }
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        // An empty range comes before the one that begins at the same place.
        order.sort_by_key(|idx| (ranges[*idx].start, ranges[*idx].end));
        let (mut left, mut right, mut done) = (&mut self.left[..], &mut self.right[..], 0);
        let mut rooms: Vec<Option<SidesOfRange<'_>>> = ranges.iter().map(|_| None).collect();
        for idx in order {
            let range = ranges[idx].clone();
            let [left, right] = [&mut left, &mut right].map(|side| {
                side.split_off_mut(..range.start - done).expect("ranges do not overlap");
                side.split_off_mut(..range.len()).expect("a range is one of rows")
            });
            done = range.end;
            rooms[idx] = Some(SidesOfRange { range, left, right });
        }
        rooms.into_iter().map(|room| room.expect("each range was met")).collect()
    }
}

impl SidesOfRange<'_> {
    /// Sorts the rows of the range by the side they go to. What was sorted of it before is forgotten.
    pub(crate) fn sort(&mut self, simd: SimdLevel, rows: &[u32], bins: &[u8], question: Question) -> Sorted {
        let (left, right) = (&mut *self.left, &mut *self.right);
        let n_left = if is_for_one_thread(rows.len()) {
            smallvec![sort_sides(simd, rows, (left, right), bins, question)]
        } else {
            let sides = left.par_chunks_mut(ROWS_PER_TASK).zip(right.par_chunks_mut(ROWS_PER_TASK));
            let tasks = rows.par_chunks(ROWS_PER_TASK).zip(sides);
            let n_left = tasks.map(|(rows, sides)| sort_sides(simd, rows, sides, bins, question));
            n_left.collect::<Vec<usize>>().into()
        };
        Sorted { range: self.range.clone(), n_left }
    }
}

impl Partition {
    /// All rows in one range, in the memory of an earlier partition.
    pub(crate) fn reusing(mut memory: Vec<u32>, rows: &[u32]) -> Self {
        memory.resize(rows.len(), 0);
        let copies = memory.par_chunks_mut(ROWS_PER_TASK).zip(rows.par_chunks(ROWS_PER_TASK));
        copies.for_each(|(to, from)| to.copy_from_slice(from));
        Self { rows: memory }
    }

    pub(crate) fn rows(&self, range: Range<usize>) -> &[u32] {
        &self.rows[range]
    }

    /// Moves the rows of some ranges, none of which overlap: those that go left to the front of their range.
    pub(crate) fn apply(&mut self, all: &[&Sorted], sides: &Sides) {
        let n_rows: usize = all.iter().map(|sorted| sorted.range.len()).sum();
        let copies = self.copies(all, sides);
        if is_for_one_thread(n_rows) {
            for (to, from) in copies {
                to.copy_from_slice(from);
            }
        } else {
            copies.into_par_iter().for_each(|(to, from)| to.copy_from_slice(from));
        }
    }

    /// What must be copied from where: the two sides of each run, behind those of the runs before it.
    fn copies<'a>(&'a mut self, all: &[&Sorted], sides: &'a Sides) -> Vec<(&'a mut [u32], &'a [u32])> {
        let mut order: Vec<&Sorted> = all.to_vec();
        order.sort_by_key(|sorted| (sorted.range.start, sorted.range.end));
        let (mut rest, mut done) = (&mut self.rows[..], 0);
        let mut copies = Vec::with_capacity(2 * order.iter().map(|sorted| sorted.n_left.len()).sum::<usize>());
        for sorted in order {
            let range = sorted.range.clone();
            rest.split_off_mut(..range.start - done).expect("ranges do not overlap");
            let rows = rest.split_off_mut(..range.len()).expect("a range is one of rows");
            done = range.end;
            let (mut front, mut back) = rows.split_at_mut(sorted.counts()[0]);
            let run = if sorted.n_left.len() == 1 { range.len().max(1) } else { ROWS_PER_TASK };
            let sides = sides.left[range.clone()].chunks(run).zip(sides.right[range].chunks(run));
            for ((left, right), n_left) in sides.zip(&sorted.n_left) {
                for (to, from) in [(&mut front, &left[..*n_left]), (&mut back, &right[..right.len() - n_left])] {
                    copies.push((to.split_off_mut(..from.len()).expect("both sides together are the range"), from));
                }
            }
        }
        copies
    }

    pub(crate) fn into_rows(self) -> Vec<u32> {
        self.rows
    }
}

fn is_for_one_thread(n_rows: usize) -> bool {
    n_rows < 2 * ROWS_PER_TASK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(n_rows: u32) -> (Partition, Sides) {
        let mut sides = Sides::default();
        sides.resize(n_rows as usize);
        (Partition::reusing(vec![7; 3], &(0..n_rows).collect::<Vec<u32>>()), sides)
    }

    fn sort(sides: &mut Sides, partition: &Partition, range: Range<usize>, bins: &[u8], question: Question) -> Sorted {
        let rows = partition.rows(range.clone());
        sides.of_ranges(&[range])[0].sort(SimdLevel::best(), rows, bins, question)
    }

    #[test]
    fn both_sides_keep_their_order_and_nothing_moves_before_it_is_told_to() {
        let bins: Vec<u8> = vec![0, 5, 1, 6, 2, 7, 3];
        let (mut partition, mut sides) = start(7);
        let question = Question::of_bins(2, 9, true);
        let sorted = sort(&mut sides, &partition, 1..6, &bins, question);
        assert_eq!(partition.rows(0..7), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((sorted.counts(), sorted.middle()), ([2, 3], 3));
        partition.apply(&[&sorted], &sides);
        assert_eq!(partition.rows(0..7), [0, 2, 4, 1, 3, 5, 6]);
        assert_eq!(sort(&mut sides, &partition, 3..3, &bins, question).counts(), [0, 0]);
    }

    #[test]
    fn ranges_in_any_order_have_their_own_room() {
        let bins: Vec<u8> = (0..20).map(|row| row % 3).collect();
        let (mut partition, mut sides) = start(20);
        let ranges = [12..17, 0..4, 7..12, 4..4, 12..12, 7..7];
        let rooms = sides.of_ranges(&ranges);
        let sorted: Vec<Sorted> = rooms
            .into_iter()
            .map(|mut room| {
                let rows = partition.rows(room.range.clone());
                room.sort(SimdLevel::best(), rows, &bins, Question::of_bins(0, 9, true))
            })
            .collect();
        partition.apply(&sorted.iter().collect::<Vec<_>>(), &sides);
        assert_eq!(partition.rows(0..20), [0, 3, 1, 2, 4, 5, 6, 9, 7, 8, 10, 11, 12, 15, 13, 14, 16, 17, 18, 19]);
    }

    #[test]
    fn many_rows_are_sorted_alike() {
        let n_rows = 5 * ROWS_PER_TASK + 123;
        let bins: Vec<u8> = (0..n_rows).map(|row| (row * row % 251) as u8).collect();
        for limit in [0, 100, 251] {
            let (mut partition, mut sides) = start(n_rows as u32);
            let sorted = sort(&mut sides, &partition, 7..n_rows, &bins, Question::of_bins(limit, 255, false));
            partition.apply(&[&sorted], &sides);
            let (left, right): (Vec<u32>, Vec<u32>) = (7..n_rows as u32).partition(|row| bins[*row as usize] <= limit);
            let middle = sorted.middle();
            assert_eq!((partition.rows(7..middle), partition.rows(middle..n_rows)), (&left[..], &right[..]));
        }
    }
}
