//! From peaks to the best split of a node, and again with counts where a winner has too few rows.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::{BlockHistogram, FastHistograms};
use crate::context::TreeContext;
use crate::counts::BinCounts;
use crate::histograms::{ScanGroup, ScanNode};
use crate::kernel::lane::{LaneScan, best_of_lane};
use crate::kernel::peaks::{PeakScan, SLACK};
use crate::scan::{Split, Sweep, best_of_feature};
use crate::{Cell, Sums};

/// What is known about the best split of each feature of a group, by their places in it.
#[derive(Debug)]
pub(crate) struct NodeSearch {
    /// No score is above this; negative infinity where more is known.
    pub(super) bounds: Vec<f64>,
    /// The largest of them.
    highest: f64,
    /// The best first; features without a split are left out.
    pub(super) searched: BinaryHeap<SearchedFeature>,
}

/// A feature that was searched exactly.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchedFeature {
    pub(super) place: usize,
    /// Its best split, with a score in the place of the gain.
    pub(super) split: Split,
    /// Whether that is the best that counts allow, or the best, counts aside.
    pub(super) is_counted: bool,
}

impl Ord for SearchedFeature {
    /// By score, then the lowest place.
    fn cmp(&self, other: &Self) -> Ordering {
        // Zeros are equal, whatever their sign.
        let score = |known: &Self| known.split.gain + 0.0;
        score(self).total_cmp(&score(other)).then_with(|| other.place.cmp(&self.place))
    }
}

impl PartialOrd for SearchedFeature {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SearchedFeature {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SearchedFeature {}

impl NodeSearch {
    pub(super) fn new(bounds: Vec<f64>, searched: BinaryHeap<SearchedFeature>) -> Self {
        let highest = highest(&bounds);
        Self { bounds, highest, searched }
    }

    /// Whether the best split is one that counts allow.
    pub(super) fn is_counted(&self) -> bool {
        self.searched.peek().is_some_and(|best| best.is_counted)
    }

    /// Puts what counts allow in the place of the best split.
    pub(super) fn count_best(&mut self, split: Option<Split>) {
        if let Some(SearchedFeature { place, .. }) = self.searched.pop() {
            self.searched.extend(split.map(|split| SearchedFeature { place, split, is_counted: true }));
        }
    }

    /// The places that must be searched before the best split is sure: the highest bounds, so many at most.
    pub(super) fn unsure(&self, at_most: usize) -> Vec<usize> {
        let least = self.searched.peek().map_or(f64::MIN, |best| best.split.gain);
        if self.highest < least {
            return Vec::new();
        }
        if at_most == 1 {
            return self.bounds.iter().position(|bound| *bound == self.highest).into_iter().collect();
        }
        let mut places: Vec<usize> = (0..self.bounds.len()).filter(|place| self.bounds[*place] >= least).collect();
        if places.len() > at_most {
            places.select_nth_unstable_by(at_most - 1, |a, b| self.bounds[*b].total_cmp(&self.bounds[*a]));
            places.truncate(at_most);
        }
        places
    }

    /// Replaces the bounds of some places by tighter ones.
    pub(super) fn tighten(&mut self, bounds: impl Iterator<Item = (usize, f64)>) {
        bounds.for_each(|(place, bound)| self.bounds[place] = bound);
        self.highest = highest(&self.bounds);
    }

    pub(super) fn learn(&mut self, places: &[usize], split_of: impl Fn(usize) -> Option<Split>) {
        for place in places {
            self.bounds[*place] = f64::NEG_INFINITY;
            let split = split_of(*place);
            self.searched.extend(split.map(|split| SearchedFeature { place: *place, split, is_counted: false }));
        }
        self.highest = highest(&self.bounds);
    }
}

/// The largest of some numbers, several at a time.
fn highest(bounds: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (chunks, rest) = bounds.as_chunks::<8>();
    let mut lanes = [f64::NEG_INFINITY; 8];
    for chunk in chunks {
        for (lane, bound) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, *bound);
        }
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |highest, bound| larger(highest, *bound))
}

/// How many features to search at once in a round. Where the first of them decide nothing, many features are alike, as in
/// wide data with few documents: one at a time, each with a look at all bounds, would take the square of their number.
pub(super) fn batch(round: u32) -> usize {
    const SINGLE_ROUNDS: u32 = 16;
    1 << round.saturating_sub(SINGLE_ROUNDS).min(usize::BITS - 2)
}

/// What the search for peaks needs to know of a node with these sums.
pub(super) fn peak_scan(tree: &TreeContext<'_>, whole: Sums) -> PeakScan {
    PeakScan {
        whole: whole.pack(),
        l1: i32::try_from(tree.l1).unwrap_or(i32::MAX),
        l2: tree.params.l2() / tree.scales.hess(1),
        min_hess: tree.scales.least_hess(tree.params.min_sum_hessian_in_leaf),
    }
}

impl<'h> ScanNode<'h, BlockHistogram> {
    /// The histogram of a node that is searched alone.
    fn of_one(&self) -> &'h BlockHistogram {
        self.histogram.expect("a node that is searched alone has a histogram")
    }
}

impl FastHistograms<'_> {
    /// What the peaks of a node tell, and exact searches where they tell nothing.
    pub(super) fn search(&self, tree: &TreeContext<'_>, group: &ScanGroup<'_, BlockHistogram>) -> NodeSearch {
        let node = &group.nodes[0];
        let unit = tree.scales.grad(1) * tree.scales.grad(1) / tree.scales.hess(1);
        let in_range = peak_scan(tree, node.whole.sums).is_in_range();
        let has_peaks = in_range && node.bounds.is_free();
        let mut others = Vec::new();
        let bound = |(place, feature): (usize, &usize)| {
            if has_peaks && tree.directions[*feature] == 0 {
                let (block, lane) = self.blocks.place(*feature);
                return f64::from(node.of_one().blocks[block].peaks[lane]) * unit * SLACK;
            }
            others.push(place);
            f64::NEG_INFINITY
        };
        let bounds = group.features.iter().enumerate().map(bound).collect();
        let scan = |place: usize| {
            let split = self.scan_feature(tree, node, group.features[place])?;
            Some(SearchedFeature { place, split, is_counted: false })
        };
        let searched: Vec<_> = others.into_par_iter().with_min_len(4).filter_map(scan).collect();
        NodeSearch::new(bounds, searched.into())
    }

    /// The best split so far, if it is worth making.
    pub(super) fn best(
        &self,
        tree: &TreeContext<'_>,
        group: &ScanGroup<'_, BlockHistogram>,
        search: &mut NodeSearch,
    ) -> Option<Split> {
        let node = &group.nodes[0];
        for round in 0.. {
            let places = search.unsure(batch(round));
            if places.is_empty() {
                break;
            }
            search.learn(&places, |place| self.scan_feature(tree, node, group.features[place]));
        }
        let split = search.searched.peek()?.split;
        let gain = tree.gain(split.gain, std::iter::once((node.whole, node.bounds)))?;
        Some(Split { gain, ..split })
    }

    /// The best split of one feature, counts aside.
    fn scan_feature(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        feature: usize,
    ) -> Option<Split> {
        // Where values are bound, the plain scan judges each candidate.
        if !node.bounds.is_free() || tree.directions[feature] != 0 {
            return self.scan_plainly(tree, node, feature, None);
        }
        let (cells, lane) = self.feature_cells(node.of_one(), feature);
        let scan = LaneScan {
            whole: node.whole.sums.pack(),
            grad_unit: tree.scales.grad(1),
            hess_unit: tree.scales.hess(1),
            l1: i32::try_from(tree.l1).unwrap_or(i32::MAX),
            l2: tree.params.l2(),
            min_hess: tree.scales.least_hess(tree.params.min_sum_hessian_in_leaf),
        };
        let best = best_of_lane(cells, lane, &scan)?;
        Some(Split { feature, bin: best.bin, missing_left: best.missing_left, gain: best.score })
    }

    /// The plain scan of one feature; without counts, any side with a Hessian has rows enough.
    pub(super) fn scan_plainly(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        feature: usize,
        counts: Option<&BinCounts>,
    ) -> Option<Split> {
        let (rows, lane) = self.feature_cells(node.of_one(), feature);
        let cells: Vec<Cell> = rows
            .iter()
            .enumerate()
            .map(|(bin, row)| Cell {
                packed: row[lane],
                count: counts.map_or(u32::from(row[lane] != 0), |counts| counts[bin]),
            })
            .collect();
        let mut whole = node.whole;
        if counts.is_none() {
            whole.count = cells.iter().map(|cell| cell.count).sum();
        }
        let min_data = if counts.is_some() { tree.params.min_data_in_leaf } else { 1 };
        best_of_feature(tree, feature, &mut [Sweep::new(&cells, whole, node.bounds)], min_data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches as [`FastHistograms::best`] does; also gives the number of looks at all bounds and of searched features.
    fn search(bounds: Vec<f64>, gain: impl Fn(usize) -> f64) -> (NodeSearch, u32, usize) {
        let mut search = NodeSearch::new(bounds, BinaryHeap::new());
        let mut n_searched = 0;
        for round in 0.. {
            let places = search.unsure(batch(round));
            if places.is_empty() {
                return (search, round, n_searched);
            }
            n_searched += places.len();
            search
                .learn(&places, |place| Some(Split { feature: place, bin: 0, missing_left: true, gain: gain(place) }));
        }
        unreachable!("every round searches something");
    }

    #[test]
    fn features_that_are_alike_do_not_take_the_square_of_their_number() {
        let n_features = 100_000;
        let (mut search, n_looks, _) = search(vec![1.0; n_features], |_| 0.5);
        assert!(n_looks < 40, "{n_looks}");
        // Those that counts forbid are left one by one, without a look at all bounds.
        for place in 0..n_features {
            assert_eq!(search.searched.peek().map(|best| best.place), Some(place));
            search.count_best(None);
        }
        assert!(search.unsure(1).is_empty() && search.searched.is_empty());
    }

    #[test]
    fn one_feature_is_searched_where_its_bound_stands_out() {
        let bounds = (0..100).map(f64::from).collect();
        let (search, n_looks, n_searched) = search(bounds, |place| place as f64 - 0.5);
        assert_eq!((search.searched.peek().map(|best| best.place), n_looks, n_searched), (Some(99), 1, 1));
    }
}
