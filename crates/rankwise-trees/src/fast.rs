//! Fast histograms: bins by row in strips of 16 columns, cells without counts, all features of a block judged at once.
//!
//! ```text
//! histogram of a node = [block 0: height rows of 16 cells, 16 peaks][block 1: ...]...
//! ```
//!
//! While a block's cells are in the cache after summing, they are taken from the parent's, and both children are searched
//! in f32. Features whose peak comes close to the best are searched again, exactly; often that is one.
//!
//! Counts are not summed. A split is checked against `min_data_in_leaf` on the rows themselves, and only when it is the next
//! to be made; if it fails, its feature is scanned again with counts, and the node waits for its turn again. A feature is
//! counted at most once per node, and what is made is the best split among those that are allowed, as in the plain search.

mod level;
mod lists;
mod search;
mod sum;

use std::borrow::Cow;
use std::sync::Mutex;

use rankwise_data::{BinnedDataset, SimdLevel};
use rayon::prelude::*;

use self::level::LevelSearch;
use self::lists::ListPool;
use self::search::NodeSearch;
use self::sum::Job;
use crate::Sums;
use crate::blocks::{BLOCK_FEATURES, BinBlocks};
use crate::context::TreeContext;
use crate::counts::BinCounts;
use crate::histograms::{Histograms, Parent, ScanGroup};
use crate::kernel::CellRow;
use crate::kernel::joint::ColumnSums;
use crate::kernel::peaks::{Peaks, ValueBins};
use crate::scan::{Side, Split};

const NO_PANIC: &str = "nothing panics while it holds the lock";

/// One block of a node.
#[derive(Debug)]
struct BlockCells {
    cells: Vec<CellRow>,
    /// How good the best split of each feature can be.
    peaks: Peaks,
}

/// The sums of one node, block after block.
#[derive(Debug)]
pub(crate) struct BlockHistogram {
    blocks: Vec<BlockCells>,
}

/// What is known about the splits of a group.
#[derive(Debug)]
pub(crate) enum GroupSearch {
    /// One node.
    Node(NodeSearch),
    /// The nodes of a level, which share a split.
    Level(Box<LevelSearch>),
}

/// Sums blocks of bins.
#[derive(Debug)]
pub(crate) struct FastHistograms<'a> {
    data: &'a BinnedDataset,
    blocks: BinBlocks,
    /// By block.
    value_bins: Vec<ValueBins>,
    simd: SimdLevel,
    /// More parts than this would be summed one after another, and merged for nothing.
    n_cores: usize,
    /// Histograms that may be used again.
    unused: Mutex<Vec<BlockHistogram>>,
    unused_sums: Mutex<Vec<ColumnSums>>,
    /// Memory for the rows and gradients of jobs.
    rows: ListPool<u32>,
    gradients: ListPool<u64>,
}

impl<'a> FastHistograms<'a> {
    /// Lays out the features of which some threshold may have `min_data` rows on both sides.
    pub(crate) fn new(data: &'a BinnedDataset, simd: SimdLevel, min_data: usize) -> Self {
        let features = (0..data.n_features()).into_par_iter().filter(|of| data.has_beside_mode(*of, min_data));
        let mut features: Vec<usize> = features.collect();
        if features.is_empty() {
            features = (0..data.n_features()).collect();
        }
        let blocks = BinBlocks::new(data, features);
        let mut value_bins = vec![[0; BLOCK_FEATURES]; blocks.blocks().len()];
        for (bins, block) in value_bins.iter_mut().zip(blocks.blocks()) {
            for (bins, feature) in bins.iter_mut().zip(block.features()) {
                *bins = data.bins(*feature).n_value_bins() as u32;
            }
        }
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            data,
            blocks,
            value_bins,
            simd,
            n_cores,
            unused: Mutex::default(),
            unused_sums: Mutex::default(),
            rows: ListPool::default(),
            gradients: ListPool::default(),
        }
    }

    /// As if the machine had so many cores.
    #[cfg(test)]
    pub(crate) fn with_cores(self, n_cores: usize) -> Self {
        Self { n_cores, ..self }
    }

    fn take_column_sums(&self) -> ColumnSums {
        let unused = self.unused_sums.lock().expect(NO_PANIC).pop();
        unused.unwrap_or_else(|| ColumnSums::new(self.simd))
    }

    fn recycle_column_sums(&self, sums: ColumnSums) {
        self.unused_sums.lock().expect(NO_PANIC).push(sums);
    }

    /// A histogram with anything in it.
    fn take(&self) -> BlockHistogram {
        let unused = self.unused.lock().expect(NO_PANIC).pop();
        unused.unwrap_or_else(|| {
            let block = |height| BlockCells {
                cells: vec![[0; BLOCK_FEATURES]; height],
                peaks: [f32::NEG_INFINITY; BLOCK_FEATURES],
            };
            BlockHistogram { blocks: self.blocks.blocks().iter().map(|of| block(of.height())).collect() }
        })
    }

    /// The cells of a feature's block up to its bin of missing values, and its lane.
    fn feature_cells<'h>(&self, histogram: &'h BlockHistogram, feature: usize) -> (&'h [CellRow], usize) {
        let (block, lane) = self.blocks.place(feature);
        (&histogram.blocks[block].cells[..=self.data.bins(feature).n_value_bins()], lane)
    }
}

impl Histograms for FastHistograms<'_> {
    type Histogram = BlockHistogram;
    type Search = GroupSearch;
    const SEARCHES_ROWS: bool = true;

    fn usable<'f>(&self, features: &'f [usize]) -> Cow<'f, [usize]> {
        if features.iter().all(|feature| self.blocks.has(*feature)) {
            return Cow::Borrowed(features);
        }
        features.iter().copied().filter(|feature| self.blocks.has(*feature)).collect()
    }

    fn histogram_bytes(&self) -> usize {
        self.blocks.blocks().iter().map(|block| block.height() * size_of::<CellRow>() + size_of::<BlockCells>()).sum()
    }

    fn wants(&self, tree: &TreeContext<'_>, whole: Side) -> bool {
        // A node that cannot be divided only forbids splits that would divide it.
        !tree.allows_empty_sides || !tree.is_rigid(whole)
    }

    fn histogram_of(&self, tree: &TreeContext<'_>, rows: &[u32], whole: Sums) -> BlockHistogram {
        let mut jobs = [self.job(tree, rows, whole, None)];
        self.run(tree, &mut jobs);
        let [mut job] = jobs;
        job.parts.swap_remove(0)
    }

    fn children(
        &self,
        tree: &TreeContext<'_>,
        parents: Vec<Parent<'_, BlockHistogram>>,
    ) -> Vec<(Option<BlockHistogram>, BlockHistogram)> {
        let is_alone = tree.reduce.n_members() == 1;
        let is_wanted: Vec<bool> = parents.iter().map(|parent| parent.small.is_some()).collect();
        let job = |Parent { histogram, small_rows, small, large }| match small {
            None if is_alone => self.take_away(tree, small_rows, histogram, large),
            // What is taken from a histogram of all members must be the sums of all members.
            _ => self.job(tree, small_rows, small.unwrap_or_default(), Some((histogram, large))),
        };
        let mut jobs: Vec<Job<'_>> = parents.into_par_iter().with_max_len(1).map(job).collect();
        self.run(tree, &mut jobs);
        jobs.into_iter()
            .zip(is_wanted)
            .map(|(mut job, is_wanted)| {
                let first = job.parts.swap_remove(0);
                match job.parent {
                    Some((rest, _)) if is_wanted => (Some(first), rest),
                    Some((rest, _)) => {
                        self.recycle(first);
                        (None, rest)
                    }
                    None => (None, first),
                }
            })
            .collect()
    }

    fn best_splits(
        &self,
        tree: &TreeContext<'_>,
        groups: &[ScanGroup<'_, BlockHistogram>],
    ) -> Vec<Option<(Split, GroupSearch)>> {
        let search = |group: &ScanGroup<'_, BlockHistogram>| {
            if tree.allows_empty_sides {
                let mut search = self.search_level(tree, group);
                let split = self.best_of_level(tree, group, &mut search)?;
                return Some((split, GroupSearch::Level(Box::new(search))));
            }
            let mut search = self.search(tree, group);
            let split = self.best(tree, group, &mut search)?;
            Some((split, GroupSearch::Node(search)))
        };
        groups.par_iter().with_max_len(1).map(search).collect()
    }

    fn allows(&self, tree: &TreeContext<'_>, mut counts: impl Iterator<Item = [u32; 2]>) -> bool {
        let is_enough = |count: u32| count as usize >= tree.params.min_data_in_leaf;
        counts.all(|[left, right]| {
            let divides = left > 0 && right > 0;
            (is_enough(left) && is_enough(right)) || (tree.allows_empty_sides && !divides)
        })
    }

    fn next_best(
        &self,
        tree: &TreeContext<'_>,
        group: &ScanGroup<'_, BlockHistogram>,
        counts: &[BinCounts],
        search: &mut GroupSearch,
    ) -> Option<Split> {
        match search {
            GroupSearch::Level(search) => self.next_best_of_level(tree, group, counts, search),
            GroupSearch::Node(search) => {
                let split = self.best(tree, group, search)?;
                if !search.is_counted() {
                    search.count_best(self.scan_plainly(tree, &group.nodes[0], split.feature, Some(&counts[0])));
                }
                self.best(tree, group, search)
            }
        }
    }

    fn left_sums(&self, histogram: &BlockHistogram, split: &Split) -> Sums {
        let (cells, lane) = self.feature_cells(histogram, split.feature);
        let sum = cells[..=usize::from(split.bin)].iter().fold(0u64, |sum, row| sum.wrapping_add(row[lane]));
        let missing = cells[cells.len() - 1][lane];
        Sums::unpack(if split.missing_left { sum.wrapping_add(missing) } else { sum })
    }

    fn recycle(&self, histogram: BlockHistogram) {
        self.unused.lock().expect(NO_PANIC).push(histogram);
    }
}
