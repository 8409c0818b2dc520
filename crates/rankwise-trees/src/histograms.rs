//! How the engine of this machine's memory sums histograms and searches them. Two ways: the plain one ([`crate::plain`]) is short
//! and obvious, the fast one ([`crate::fast`]) is what runs. Both find the same splits, bit for bit.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::Sums;
use crate::bounds::Bounds;
use crate::context::TreeContext;
use crate::counts::BinCounts;
use crate::scan::{Side, Split};

/// A node whose best split is wanted.
#[derive(Debug)]
pub(crate) struct ScanNode<'a, H> {
    /// None where the node has no use for one ([`Histograms::wants`]), or where there is no memory for so many.
    pub(crate) histogram: Option<&'a H>,
    pub(crate) rows: &'a [u32],
    pub(crate) whole: Side,
    pub(crate) bounds: Bounds,
}

/// Nodes that will share a split, and the features it may be about, ascending.
#[derive(Debug)]
pub(crate) struct ScanGroup<'a, H> {
    pub(crate) nodes: SmallVec<[ScanNode<'a, H>; 1]>,
    pub(crate) features: &'a [usize],
}

/// A divided node: its histogram, and its children.
#[derive(Debug)]
pub(crate) struct Parent<'a, H> {
    pub(crate) histogram: H,
    /// The rows of the smaller child.
    pub(crate) small_rows: &'a [u32],
    /// The sums of the smaller child, if it may be split, and of the larger one.
    pub(crate) small: Option<Sums>,
    pub(crate) large: Sums,
}

/// Sums histograms and searches them, for lists of nodes at a time. Histograms are those of all members: the verbs that take rows
/// exchange sums through the tree's `reduce`.
pub(crate) trait Histograms: Send + Sync {
    /// Sums of gradients by feature and bin for one node.
    type Histogram: Send + Sync;

    /// What is kept of a search whose result is not sure yet.
    type Search: Send + Sync;

    /// Whether nodes that share a split can be searched without histograms.
    const SEARCHES_ROWS: bool;

    /// Those of the features that may be split, whatever the rows of a node.
    fn usable<'f>(&self, features: &'f [usize]) -> Cow<'f, [usize]> {
        Cow::Borrowed(features)
    }

    /// How much memory a histogram takes.
    fn histogram_bytes(&self) -> usize;

    /// Whether a histogram of a node with these rows is of any use.
    fn wants(&self, tree: &TreeContext<'_>, whole: Side) -> bool;

    /// The histogram of a node, whose sums are given, from its rows alone.
    fn histogram_of(&self, tree: &TreeContext<'_>, rows: &[u32], whole: Sums) -> Self::Histogram;

    /// For each parent, the histograms of its smaller child, if it may be split, and of the larger one, which is what the
    /// parent has left.
    fn children(
        &self,
        tree: &TreeContext<'_>,
        parents: Vec<Parent<'_, Self::Histogram>>,
    ) -> Vec<(Option<Self::Histogram>, Self::Histogram)>;

    /// The best split of each group, if any is worth making. The gain may be too large, never too small, until the counts of
    /// its sides are known to be allowed.
    fn best_splits(
        &self,
        tree: &TreeContext<'_>,
        groups: &[ScanGroup<'_, Self::Histogram>],
    ) -> Vec<Option<(Split, Self::Search)>>;

    /// Whether a split that sends so many rows of each node left and right is allowed, where the search did not look at counts.
    fn allows(&self, tree: &TreeContext<'_>, counts: impl Iterator<Item = [u32; 2]>) -> bool;

    /// The best split after one that is not allowed, given how many rows of each node each bin of its feature has. It may again be
    /// one that is not allowed.
    fn next_best(
        &self,
        tree: &TreeContext<'_>,
        group: &ScanGroup<'_, Self::Histogram>,
        counts: &[BinCounts],
        search: &mut Self::Search,
    ) -> Option<Split>;

    /// The sums of the rows that a question sends left.
    fn left_sums(&self, histogram: &Self::Histogram, split: &Split) -> Sums;

    /// Takes back a histogram that is no longer needed.
    fn recycle(&self, histogram: Self::Histogram) {
        drop(histogram);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;
    use crate::counts::count_bins;
    use crate::fast::FastHistograms;
    use crate::plain::PlainHistograms;
    use crate::testing::{Oracle, TinyData, fixed_point, tiny_data, tiny_params, tiny_rows, with_context};

    /// The best split of the parts together, and the sums that go left in each.
    fn best<H: Histograms>(
        histograms: &H,
        tree: &TreeContext<'_>,
        parts: &[(&[u32], Bounds)],
        oracle: &Oracle<'_>,
        keeps_histograms: bool,
    ) -> (Option<Split>, Vec<Option<Sums>>) {
        let of_part = |rows: &[u32]| {
            let whole = oracle.side(rows, |_| true);
            histograms.wants(tree, whole).then(|| histograms.histogram_of(tree, rows, whole.sums))
        };
        let of_parts: Vec<Option<H::Histogram>> = parts.iter().map(|(rows, _)| of_part(rows)).collect();
        let nodes = of_parts.iter().zip(parts).map(|(histogram, (rows, bounds))| ScanNode {
            histogram: histogram.as_ref().filter(|_| keeps_histograms),
            rows,
            whole: oracle.side(rows, |_| true),
            bounds: *bounds,
        });
        let group = ScanGroup { nodes: nodes.collect(), features: tree.features };
        let found = histograms.best_splits(tree, std::slice::from_ref(&group)).pop().unwrap();
        let split = found.and_then(|(mut split, mut search)| {
            loop {
                let n_left = |rows: &[u32]| rows.iter().filter(|row| oracle.goes_left(&split, **row)).count() as u32;
                let counts = parts.iter().map(|(rows, _)| [n_left(rows), rows.len() as u32 - n_left(rows)]);
                if histograms.allows(tree, counts) {
                    return Some(split);
                }
                let asked: Vec<(&[u32], usize)> = parts.iter().map(|(rows, _)| (*rows, split.feature)).collect();
                let counts = count_bins(oracle.data, tree.reduce, &asked);
                split = histograms.next_best(tree, &group, &counts, &mut search)?;
            }
        });
        let left = split.iter().flat_map(|split| {
            let sums = |histogram: &Option<H::Histogram>| Some(histograms.left_sums(histogram.as_ref()?, split));
            of_parts.iter().map(sums)
        });
        (split, left.collect())
    }

    fn check<H: Histograms>(
        histograms: &H,
        tree: &TreeContext<'_>,
        parts: &[(&[u32], Bounds)],
        data: &TinyData,
        oracle: &Oracle<'_>,
        keeps_histograms: bool,
    ) -> Result<(), TestCaseError> {
        let (found, left) = best(histograms, tree, parts, oracle, keeps_histograms);
        prop_assert_eq!(found, oracle.best(parts, tree.allows_empty_sides), "{} features", data.binned.n_features());
        if let Some(split) = found {
            for ((rows, _), left) in parts.iter().zip(left) {
                let expected = oracle.side(rows, |row| oracle.goes_left(&split, row)).sums;
                prop_assert!(left.is_none_or(|left| left == expected));
            }
        }
        Ok(())
    }

    proptest! {
        /// Both, on every instruction set, against trying every threshold and direction on the rows themselves, with exact
        /// counts; with free values and with bound ones.
        #[test]
        fn splits_are_those_of_brute_force(
            rows in tiny_rows(50), params in tiny_params(), cuts in prop::collection::vec(0usize..50, 0..3), is_bound in any::<bool>(),
        ) {
            let data = tiny_data(&rows);
            let fixed = fixed_point(&data);
            let oracle = Oracle { data: &data.binned, fixed: &fixed, params: &params };
            let bounds = if is_bound { Bounds::FREE.split(1, -0.5, 0.0).1 } else { Bounds::FREE };
            // One node, or several that share a question.
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(rows.len())).collect();
            cuts.extend([0, rows.len()]);
            cuts.sort_unstable();
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let parts: Vec<(&[u32], Bounds)> = cuts.windows(2).map(|pair| (&all[pair[0]..pair[1]], bounds)).collect();
            with_context(&data, &fixed, &params, |mut tree| {
                tree.judge.allows_empty_sides = parts.len() > 1;
                check(&PlainHistograms::new(&data.binned), &tree, &parts, &data, &oracle, true)?;
                for simd in SimdLevel::available() {
                    // Nodes that share a question, with histograms and without.
                    tree.judge.allows_empty_sides = true;
                    for keeps_histograms in [true, false] {
                        check(&FastHistograms::new(&data.binned, simd, 0), &tree, &parts, &data, &oracle, keeps_histograms)?;
                    }
                    tree.judge.allows_empty_sides = false;
                    for part in &parts {
                        check(&FastHistograms::new(&data.binned, simd, 0), &tree, &[*part], &data, &oracle, true)?;
                    }
                }
                Ok::<(), TestCaseError>(())
            })?;
        }
    }
}
