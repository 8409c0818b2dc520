//! Columns that hold several features.
//!
//! ```text
//! byte = bin of the first + n_bins of the first * (bin of the second + n_bins of the second * (...))
//! ```
//!
//! One addition to a histogram then stands for several, and the sums of each feature are got from those of the column
//! once all rows are in. Web data has many features with a handful of bins: flags, counts of matching words, depths.

use std::collections::BTreeMap;
use std::ops::Range;

/// Bins of a column: those of its features multiplied.
const COLUMN_BINS: usize = 256;

/// A feature that shares a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its block.
    pub block: usize,
    /// Its lane there.
    pub lane: usize,
    /// Above every bin that its rows have.
    pub n_bins: usize,
}

/// The features of a column, the one that changes fastest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointColumn {
    members: Vec<Member>,
}

impl JointColumn {
    pub(super) fn new(members: Vec<Member>) -> Self {
        Self { members }
    }

    /// Its features.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Each feature, and what its bin is multiplied by.
    pub(super) fn members_and_factors(&self) -> impl Iterator<Item = (Member, u8)> {
        self.members.iter().scan(1usize, |next, member| {
            let factor = *next;
            *next *= member.n_bins;
            Some((*member, u8::try_from(factor).expect("no feature stands behind 256 bins")))
        })
    }
}

/// The blocks that the features of some columns make up.
pub(super) fn blocks_of(columns: &[JointColumn]) -> Range<usize> {
    let blocks = || columns.iter().flat_map(|column| &column.members).map(|member| member.block);
    blocks().min().unwrap_or(0)..blocks().max().map_or(0, |last| last + 1)
}

/// Divides features, given their numbers of bins, into those that need a column of their own and groups that share one.
pub(super) fn share_columns(n_bins: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (feature, bins) in n_bins.iter().enumerate().rev() {
        waiting.entry((*bins).max(2)).or_default().push(feature);
    }
    let (mut single, mut shared) = (Vec::new(), Vec::new());
    // The largest that still fits, again and again.
    while let Some(first) = take_at_most(&mut waiting, COLUMN_BINS) {
        let mut column = vec![first.1];
        let mut room = COLUMN_BINS / first.0;
        while let Some(next) = take_at_most(&mut waiting, room) {
            column.push(next.1);
            room /= next.0;
        }
        if column.len() == 1 { single.append(&mut column) } else { shared.push(column) }
    }
    (single, shared)
}

/// Takes a feature with as many bins as possible, but no more than `limit`.
fn take_at_most(waiting: &mut BTreeMap<usize, Vec<usize>>, limit: usize) -> Option<(usize, usize)> {
    let (bins, features) = waiting.range_mut(..=limit).next_back()?;
    let taken = (*bins, features.pop()?);
    if features.is_empty() {
        waiting.remove(&taken.0);
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_bins_fill_columns() {
        let (single, shared) = share_columns(&[256, 2, 129, 16, 128, 2, 16, 200]);
        assert_eq!(single, [0, 7, 2, 5]);
        assert_eq!(shared, [vec![4, 1], vec![3, 6]]);
    }

    proptest! {
        #[test]
        fn each_feature_has_one_place_and_no_column_overflows(n_bins in prop::collection::vec(1usize..=256, 0..60)) {
            let (single, shared) = share_columns(&n_bins);
            for column in &shared {
                prop_assert!(column.len() > 1);
                prop_assert!(column.iter().map(|feature| n_bins[*feature]).product::<usize>() <= COLUMN_BINS);
            }
            let mut all: Vec<usize> = single.into_iter().chain(shared.into_iter().flatten()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..n_bins.len()).collect::<Vec<_>>());
        }
    }
}
