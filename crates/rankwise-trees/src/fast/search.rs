//! From peaks to the best split of a node, and again with counts where a winner has too few rows.

use rayon::prelude::*;

use super::{BlockHistogram, FastEngine};
use crate::context::TreeContext;
use crate::engine::{ScanGroup, ScanNode};
use crate::kernel::lane::{LaneScan, best_of_lane};
use crate::kernel::peaks::{PeakScan, SLACK};
use crate::scan::{Split, Sweep, best_of_feature};
use crate::{Cell, Sums};

/// What is known about the best split of each feature of a group.
#[derive(Debug)]
pub(crate) struct NodeSearch {
    known: Vec<Known>,
}

/// Splits hold scores in the place of gains.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// No score is above this.
    AtMost(f64),
    /// This is the best, counts aside.
    Best(Option<Split>),
    /// This is the best that counts allow.
    Counted(Option<Split>),
}

impl Known {
    fn bound(self) -> f64 {
        match self {
            Self::AtMost(bound) => bound,
            Self::Best(split) | Self::Counted(split) => split.map_or(f64::NEG_INFINITY, |split| split.gain),
        }
    }
}

impl NodeSearch {
    pub(super) fn is_counted(&self, idx: usize) -> bool {
        matches!(self.known[idx], Known::Counted(_))
    }

    pub(super) fn count(&mut self, idx: usize, split: Option<Split>) {
        self.known[idx] = Known::Counted(split);
    }

    /// The place with the highest bound: one that is not sure before those that are, and the lowest of those.
    fn first(&self) -> Option<usize> {
        let mut first = None;
        let mut highest = f64::NEG_INFINITY;
        for (idx, known) in self.known.iter().enumerate() {
            let bound = known.bound();
            if bound > highest || (bound == highest && bound > f64::NEG_INFINITY && matches!(known, Known::AtMost(_))) {
                (first, highest) = (Some(idx), bound);
            }
        }
        first
    }
}

/// What the search for peaks needs to know of a node with these sums.
pub(super) fn peak_scan(tree: &TreeContext<'_>, whole: Sums) -> PeakScan {
    PeakScan {
        whole: whole.pack(),
        l1: i32::try_from(tree.l1).unwrap_or(i32::MAX),
        l2: tree.params.lambda_l2 / tree.fixed.hess(1),
        min_hess: tree.fixed.least_hess(tree.params.min_sum_hessian_in_leaf),
    }
}

impl FastEngine<'_> {
    /// What the peaks of a node tell, and exact searches where they tell nothing.
    pub(super) fn search(&self, tree: &TreeContext<'_>, group: &ScanGroup<'_, BlockHistogram>) -> NodeSearch {
        let node = &group.nodes[0];
        let unit = tree.fixed.grad(1) * tree.fixed.grad(1) / tree.fixed.hess(1);
        let in_range = peak_scan(tree, node.whole.sums).is_in_range();
        let bound = |feature: usize| {
            let (block, lane) = self.blocks.place(feature);
            f64::from(node.histogram.blocks[block].peaks[lane]) * unit * SLACK
        };
        let has_peak = |feature: usize| in_range && node.bounds.is_free() && tree.directions[feature] == 0;
        let known = |feature: &usize| {
            if has_peak(*feature) {
                Known::AtMost(bound(*feature))
            } else {
                Known::Best(self.scan_feature(tree, node, *feature))
            }
        };
        // Looking peaks up is not worth another thread's while.
        let is_quick = group.features.iter().all(|feature| has_peak(*feature));
        let known = if is_quick {
            group.features.iter().map(known).collect()
        } else {
            group.features.par_iter().with_min_len(4).map(known).collect()
        };
        NodeSearch { known }
    }

    /// The best split so far and its place, if it is worth making.
    pub(super) fn best(
        &self,
        tree: &TreeContext<'_>,
        group: &ScanGroup<'_, BlockHistogram>,
        search: &mut NodeSearch,
    ) -> Option<(usize, Split)> {
        let node = &group.nodes[0];
        loop {
            let idx = search.first()?;
            match search.known[idx] {
                Known::AtMost(_) => {
                    search.known[idx] = Known::Best(self.scan_feature(tree, node, group.features[idx]));
                }
                Known::Best(split) | Known::Counted(split) => {
                    let split = split?;
                    let gain = tree.gain(split.gain, std::iter::once((node.whole, node.bounds)))?;
                    return Some((idx, Split { gain, ..split }));
                }
            }
        }
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
        let (cells, lane) = self.feature_cells(node.histogram, feature);
        let scan = LaneScan {
            whole: node.whole.sums.pack(),
            grad_unit: tree.fixed.grad(1),
            hess_unit: tree.fixed.hess(1),
            l1: i32::try_from(tree.l1).unwrap_or(i32::MAX),
            l2: tree.params.lambda_l2,
            min_hess: tree.fixed.least_hess(tree.params.min_sum_hessian_in_leaf),
        };
        let best = best_of_lane(cells, lane, &scan)?;
        Some(Split { feature, bin: best.bin, missing_left: best.missing_left, gain: best.score })
    }

    /// The plain scan of one feature; without counts, any side with a Hessian has rows enough.
    fn scan_plainly(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        feature: usize,
        counts: Option<&[u32; 256]>,
    ) -> Option<Split> {
        let (rows, lane) = self.feature_cells(node.histogram, feature);
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

    pub(super) fn scan_counted(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        feature: usize,
    ) -> Option<Split> {
        let bins = self.data.column(feature);
        let mut counts = [0; 256];
        for row in node.rows {
            counts[usize::from(bins[*row as usize])] += 1;
        }
        self.scan_plainly(tree, node, feature, Some(&counts))
    }
}
