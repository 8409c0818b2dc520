//! Searching histograms: all features of a block at once, and again with counts where a winner has too few rows.

use rankwise_data::{BLOCK_FEATURES, BinBlock};

use super::{BlockHistogram, FastEngine};
use crate::Cell;
use crate::context::TreeContext;
use crate::engine::{ScanGroup, ScanNode};
use crate::kernel::scan::{LaneBest, LaneScan, scan_block};
use crate::question::Question;
use crate::scan::{Split, Sweep, best_of_feature};

/// The best split of each feature of a node, as far as it is known.
#[derive(Debug)]
pub(crate) struct NodeSearch {
    /// By feature of the group; scores in the place of gains.
    pub(super) candidates: Vec<Option<Split>>,
    /// Whether a feature was scanned with counts: then its candidate is allowed.
    pub(super) is_counted: Vec<bool>,
}

impl NodeSearch {
    /// The best candidate and its place, if it is worth a split.
    pub(super) fn best(&self, tree: &TreeContext<'_>, node: &ScanNode<'_, BlockHistogram>) -> Option<(usize, Split)> {
        let mut best: Option<(usize, Split)> = None;
        // Features ascend, so the first of equal scores has the lowest.
        for (idx, candidate) in self.candidates.iter().enumerate() {
            if let Some(split) = candidate
                && best.is_none_or(|(_, best)| split.gain > best.gain)
            {
                best = Some((idx, *split));
            }
        }
        let (idx, split) = best?;
        let gain = tree.gain(split.gain, std::iter::once((node.whole, node.bounds)))?;
        Some((idx, Split { gain, ..split }))
    }
}

impl FastEngine<'_> {
    /// The best candidate of each feature of a block, counts aside.
    pub(super) fn scan_block(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        block_idx: usize,
    ) -> [Option<Split>; BLOCK_FEATURES] {
        let block = &self.blocks.blocks()[block_idx];
        let cells = self.block_cells(node.histogram, block_idx);
        let mut found = [None; BLOCK_FEATURES];
        if node.bounds.is_free() {
            let lanes = scan_block(self.simd, cells, &self.lane_scan(tree, node, block));
            for (lane, feature) in block.features().iter().enumerate() {
                found[lane] = lane_split(&lanes, lane, *feature);
            }
        }
        // Where values are bound, the plain scan judges each candidate.
        for (lane, feature) in block.features().iter().enumerate() {
            if !node.bounds.is_free() || tree.directions[*feature] != 0 {
                found[lane] = self.scan_plainly(tree, node, *feature, None);
            }
        }
        found
    }

    fn lane_scan(&self, tree: &TreeContext<'_>, node: &ScanNode<'_, BlockHistogram>, block: &BinBlock) -> LaneScan {
        let mut n_value_bins = [0; BLOCK_FEATURES];
        for (bins, feature) in n_value_bins.iter_mut().zip(block.features()) {
            *bins = self.data.bins(*feature).n_value_bins() as u32;
        }
        LaneScan {
            whole: node.whole.sums.pack(),
            grad_unit: tree.fixed.grad(1),
            hess_unit: tree.fixed.hess(1),
            l1: i32::try_from(tree.l1).unwrap_or(i32::MAX),
            l2: tree.params.lambda_l2,
            min_hess: tree.fixed.least_hess(tree.params.min_sum_hessian_in_leaf),
            n_value_bins,
        }
    }

    /// The plain scan of one feature; without counts, any side with a Hessian has rows enough.
    fn scan_plainly(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        feature: usize,
        counts: Option<&[u32; 256]>,
    ) -> Option<Split> {
        let (block, lane) = self.blocks.place(feature);
        let rows = self.block_cells(node.histogram, block);
        let n_cells = self.data.bins(feature).n_value_bins() + 1;
        let cells: Vec<Cell> = rows[..n_cells]
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

    /// The candidates of a node's features, counts aside.
    pub(super) fn search(
        &self,
        group: &ScanGroup<'_, BlockHistogram>,
        by_block: &[[Option<Split>; BLOCK_FEATURES]],
    ) -> NodeSearch {
        let candidate = |feature: &usize| {
            let (block, lane) = self.blocks.place(*feature);
            by_block[block][lane]
        };
        NodeSearch {
            candidates: group.features.iter().map(candidate).collect(),
            is_counted: vec![false; group.features.len()],
        }
    }

    /// Whether both sides of a split have `min_data_in_leaf` rows. Looks at no more rows than it takes to know.
    pub(super) fn has_enough_rows(
        &self,
        tree: &TreeContext<'_>,
        node: &ScanNode<'_, BlockHistogram>,
        split: &Split,
    ) -> bool {
        let wanted = tree.params.min_data_in_leaf;
        let question = Question::new(self.data, split);
        let bins = self.data.column(split.feature);
        let (mut n_left, mut n_seen) = (0, 0);
        for rows in node.rows.chunks(256) {
            n_left += rows.iter().filter(|row| question.goes_left(bins[**row as usize])).count();
            n_seen += rows.len();
            if n_left >= wanted && n_seen - n_left >= wanted {
                return true;
            }
        }
        n_left >= wanted && n_seen - n_left >= wanted
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

fn lane_split(lanes: &LaneBest, lane: usize, feature: usize) -> Option<Split> {
    let place = lanes.place[lane];
    (lanes.score[lane] > f64::NEG_INFINITY).then_some(Split {
        feature,
        bin: (place / 2) as u8,
        missing_left: place.is_multiple_of(2),
        gain: lanes.score[lane],
    })
}
