//! The fast engine: bins by row in blocks of 16 features, cells without counts, all features of a block scanned at once.
//!
//! ```text
//! histogram of a node = [block 0: height rows of 16 cells][block 1: ...]...      a task works on one block at a time
//! ```
//!
//! Counts are not summed. A split is checked against `min_data_in_leaf` on the rows themselves, and only when it is the next
//! to be made; if it fails, its feature is scanned again with counts, and the node waits for its turn again. A feature is
//! counted at most once per node, and what is made is the best split among those that are allowed, as in the plain engine.

mod search;
mod sum;

use std::sync::Mutex;

use rankwise_data::{BLOCK_FEATURES, BinBlocks, BinnedDataset, SimdLevel};
use rayon::prelude::*;

use self::search::NodeSearch;
use self::sum::Job;
use crate::Sums;
use crate::context::TreeContext;
use crate::engine::{Engine, Parent, ScanGroup};
use crate::kernel::CellRow;
use crate::scan::Split;

/// The cells of one node, block after block.
#[derive(Debug)]
pub(crate) struct BlockHistogram {
    cells: Vec<CellRow>,
}

/// Grows trees from blocks of bins.
#[derive(Debug)]
pub(crate) struct FastEngine<'a> {
    data: &'a BinnedDataset,
    blocks: BinBlocks,
    /// Block `b` has the cell rows `starts[b]..starts[b + 1]` of a histogram.
    starts: Vec<usize>,
    simd: SimdLevel,
    /// More parts than this would be summed one after another, and merged for nothing.
    n_cores: usize,
    /// Histograms that may be used again.
    unused: Mutex<Vec<BlockHistogram>>,
}

impl<'a> FastEngine<'a> {
    pub(crate) fn new(data: &'a BinnedDataset, simd: SimdLevel) -> Self {
        let blocks = BinBlocks::new(data);
        let mut starts = vec![0];
        for (idx, block) in blocks.blocks().iter().enumerate() {
            starts.push(starts[idx] + block.height());
        }
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { data, blocks, starts, simd, n_cores, unused: Mutex::new(Vec::new()) }
    }

    /// A histogram with anything in it.
    fn take(&self) -> BlockHistogram {
        let unused = self.unused.lock().expect("nothing panics while it holds the lock").pop();
        unused.unwrap_or_else(|| BlockHistogram {
            cells: vec![[0; BLOCK_FEATURES]; *self.starts.last().expect("there is always a first start")],
        })
    }

    /// Which blocks hold a feature of the tree.
    fn active_blocks(&self, tree: &TreeContext<'_>) -> Vec<bool> {
        let mut is_active = vec![false; self.blocks.blocks().len()];
        for feature in &tree.features {
            is_active[self.blocks.place(*feature).0] = true;
        }
        is_active
    }

    fn block_cells<'h>(&self, histogram: &'h BlockHistogram, block: usize) -> &'h [CellRow] {
        &histogram.cells[self.starts[block]..self.starts[block + 1]]
    }
}

impl Engine for FastEngine<'_> {
    type Histogram = BlockHistogram;
    type Search = NodeSearch;

    fn root(&self, tree: &TreeContext<'_>, rows: &[u32]) -> BlockHistogram {
        let mut jobs = [self.job(tree, rows, None, 1)];
        self.run(tree, &mut jobs);
        let [mut job] = jobs;
        job.parts.swap_remove(0)
    }

    fn children(
        &self,
        tree: &TreeContext<'_>,
        parents: Vec<Parent<'_, BlockHistogram>>,
    ) -> Vec<(BlockHistogram, BlockHistogram)> {
        let n_jobs = parents.len();
        let mut jobs: Vec<Job<'_>> = parents
            .into_iter()
            .map(|parent| self.job(tree, parent.small_rows, Some(parent.histogram), n_jobs))
            .collect();
        self.run(tree, &mut jobs);
        jobs.into_iter()
            .map(|mut job| (job.parts.swap_remove(0), job.parent.expect("every child has a parent")))
            .collect()
    }

    fn best_splits(
        &self,
        tree: &TreeContext<'_>,
        groups: &[ScanGroup<'_, BlockHistogram>],
    ) -> Vec<Option<(Split, NodeSearch)>> {
        let n_blocks = self.blocks.blocks().len();
        let is_active = self.active_blocks(tree);
        let by_block: Vec<[Option<Split>; BLOCK_FEATURES]> = (0..groups.len() * n_blocks)
            .into_par_iter()
            .map(|task| {
                let (group, block) = (&groups[task / n_blocks], task % n_blocks);
                if is_active[block] { self.scan_block(tree, &group.nodes[0], block) } else { [None; BLOCK_FEATURES] }
            })
            .collect();
        let found = groups.iter().zip(by_block.chunks(n_blocks)).map(|(group, by_block)| {
            let search = self.search(group, by_block);
            let (_, split) = search.best(tree, &group.nodes[0])?;
            Some((split, search))
        });
        found.collect()
    }

    fn confirm(
        &self,
        tree: &TreeContext<'_>,
        group: &ScanGroup<'_, BlockHistogram>,
        split: Split,
        search: &mut NodeSearch,
    ) -> Option<Split> {
        let node = &group.nodes[0];
        let (idx, _) = search.best(tree, node)?;
        if search.is_counted[idx] || self.has_enough_rows(tree, node, &split) {
            return Some(split);
        }
        search.candidates[idx] = self.scan_counted(tree, node, split.feature);
        search.is_counted[idx] = true;
        search.best(tree, node).map(|(_, split)| split)
    }

    fn left_sums(&self, histogram: &BlockHistogram, split: &Split) -> Sums {
        let (block, lane) = self.blocks.place(split.feature);
        let cells = self.block_cells(histogram, block);
        let sum = cells[..=usize::from(split.bin)].iter().fold(0u64, |sum, row| sum.wrapping_add(row[lane]));
        let missing = cells[usize::from(self.data.bins(split.feature).missing_bin())][lane];
        Sums::unpack(if split.missing_left { sum.wrapping_add(missing) } else { sum })
    }

    fn recycle(&self, histogram: BlockHistogram) {
        self.unused.lock().expect("nothing panics while it holds the lock").push(histogram);
    }
}
