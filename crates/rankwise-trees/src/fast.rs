//! The fast engine: bins by row in blocks of 16 features, cells without counts, all features of a block scanned at once.
//!
//! ```text
//! histogram of a node = [block 0: height rows of 16 cells][block 1: ...]...      a task works on one block at a time
//! ```
//!
//! Counts are not summed. A split is checked against `min_data_in_leaf` on the rows themselves, and only when it is the next
//! to be made; if it fails, its feature is scanned again with counts, and the node waits for its turn again. A feature is
//! counted at most once per node, and what is made is the best split among those that are allowed, as in the plain engine.

use std::sync::Mutex;

use rankwise_data::{BLOCK_FEATURES, BinBlock, BinBlocks, BinPage, BinnedDataset, SimdLevel};
use rayon::prelude::*;

use crate::context::TreeContext;
use crate::engine::{Engine, Parent, ScanGroup, ScanNode};
use crate::kernel::CellRow;
use crate::kernel::accumulate::{PageRows, accumulate_page};
use crate::kernel::scan::{LaneBest, LaneScan, scan_block};
use crate::question::Question;
use crate::scan::{Split, Sweep, best_of_feature};
use crate::{Cell, Sums};

/// From this many rows on, the rows of one block are divided among threads: there are few blocks, and one more than the
/// threads can share evenly would keep all but one waiting.
const ROWS_PER_CHUNK: usize = 2048;

/// Rows of cells that one task adds up.
const CELL_ROWS_PER_TASK: usize = 256;

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

/// The best split of each feature of a node, as far as it is known.
#[derive(Debug)]
pub(crate) struct NodeSearch {
    /// By feature of the group; scores in the place of gains.
    candidates: Vec<Option<Split>>,
    /// Whether a feature was scanned with counts: then its candidate is allowed.
    is_counted: Vec<bool>,
}

impl NodeSearch {
    /// The best candidate and its place, if it is worth a split.
    fn best(&self, tree: &TreeContext<'_>, node: &ScanNode<'_, BlockHistogram>) -> Option<(usize, Split)> {
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

/// A histogram to be summed: its rows, and the parent that it is to be taken from.
struct Job<'a> {
    rows: &'a [u32],
    packed: Vec<u64>,
    /// One for each chunk of the rows; they are added up into the first.
    parts: Vec<BlockHistogram>,
    parent: Option<BlockHistogram>,
}

/// The blocks of one page, to be summed over some rows.
struct PageTask<'a> {
    page: &'a BinPage,
    cells: Vec<&'a mut [CellRow]>,
    parent: Option<Vec<&'a mut [CellRow]>>,
    rows: PageRows<'a>,
    packed: &'a [u64],
}

impl PageTask<'_> {
    fn run(mut self) {
        for cells in &mut self.cells {
            cells.fill([0; BLOCK_FEATURES]);
        }
        accumulate_page(&mut self.cells, self.page.rows(), self.rows, self.packed);
        for (parent, cells) in self.parent.into_iter().flatten().zip(&self.cells) {
            combine(parent, cells, u64::wrapping_sub);
        }
    }
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

    /// Which pages do.
    fn active_pages(&self, tree: &TreeContext<'_>) -> Vec<bool> {
        let is_active = self.active_blocks(tree);
        let blocks = |page: &BinPage| page.first_block()..page.first_block() + page.n_blocks();
        self.blocks.pages().iter().map(|page| blocks(page).any(|block| is_active[block])).collect()
    }

    fn job<'r>(&self, tree: &TreeContext<'_>, rows: &'r [u32], parent: Option<BlockHistogram>) -> Job<'r> {
        let packed = tree.fixed.packed();
        let gathered = if rows.len() == self.data.n_rows() {
            Vec::new()
        } else {
            rows.par_iter().with_min_len(ROWS_PER_CHUNK).map(|row| packed[*row as usize]).collect()
        };
        let n_parts = (rows.len() / ROWS_PER_CHUNK).clamp(1, rayon::current_num_threads().min(self.n_cores));
        Job { rows, packed: gathered, parts: (0..n_parts).map(|_| self.take()).collect(), parent }
    }

    /// Sums the jobs' histograms and takes them from their parents.
    fn run(&self, tree: &TreeContext<'_>, jobs: &mut [Job<'_>]) {
        let is_active = self.active_pages(tree);
        let mut tasks = Vec::new();
        for job in &mut *jobs {
            let Job { rows, packed, parts, parent } = job;
            let is_whole = rows.len() == self.data.n_rows();
            let packed: &[u64] = if is_whole { tree.fixed.packed() } else { packed };
            let n_parts = parts.len();
            let chunk = rows.len().div_ceil(n_parts).max(1);
            // A parent can be dealt with in the same task where the histogram has one part.
            let mut parents = parent.as_mut().filter(|_| n_parts == 1).map(|parent| self.pages_of(parent).into_iter());
            for (part, histogram) in parts.iter_mut().enumerate() {
                let range = (part * chunk).min(rows.len())..((part + 1) * chunk).min(rows.len());
                for (page, cells) in self.pages_of(histogram).into_iter().enumerate() {
                    let parent = parents.as_mut().and_then(Iterator::next);
                    if is_active[page] {
                        let rows =
                            if is_whole { PageRows::From(range.start) } else { PageRows::Listed(&rows[range.clone()]) };
                        tasks.push(PageTask {
                            page: &self.blocks.pages()[page],
                            cells,
                            parent,
                            rows,
                            packed: &packed[range.clone()],
                        });
                    }
                }
            }
        }
        tasks.into_par_iter().with_max_len(1).for_each(PageTask::run);
        self.merge_parts(jobs);
    }

    /// Adds the parts of large jobs up, and takes the sums from their parents.
    fn merge_parts(&self, jobs: &mut [Job<'_>]) {
        for job in jobs.iter_mut().filter(|job| job.parts.len() > 1) {
            let rest = job.parts.split_off(1);
            let sum = job.parts[0].cells.par_chunks_mut(CELL_ROWS_PER_TASK).enumerate();
            let add = |task: usize, sum: &mut [CellRow]| {
                for part in &rest {
                    combine(sum, &part.cells[task * CELL_ROWS_PER_TASK..], u64::wrapping_add);
                }
            };
            match &mut job.parent {
                Some(parent) => {
                    sum.zip(parent.cells.par_chunks_mut(CELL_ROWS_PER_TASK)).for_each(|((task, sum), parent)| {
                        add(task, sum);
                        combine(parent, sum, u64::wrapping_sub);
                    });
                }
                None => sum.for_each(|(task, sum)| add(task, sum)),
            }
            for part in rest {
                self.recycle(part);
            }
        }
    }

    /// The cells of each block, page by page.
    fn pages_of<'h>(&self, histogram: &'h mut BlockHistogram) -> Vec<Vec<&'h mut [CellRow]>> {
        let mut rest = &mut histogram.cells[..];
        let blocks = self.blocks.blocks();
        let mut pages = Vec::with_capacity(self.blocks.pages().len());
        for page in self.blocks.pages() {
            let mut parts = Vec::with_capacity(page.n_blocks());
            for block in &blocks[page.first_block()..page.first_block() + page.n_blocks()] {
                let (mine, others) = rest.split_at_mut(block.height());
                parts.push(mine);
                rest = others;
            }
            pages.push(parts);
        }
        pages
    }

    fn block_cells<'h>(&self, histogram: &'h BlockHistogram, block: usize) -> &'h [CellRow] {
        &histogram.cells[self.starts[block]..self.starts[block + 1]]
    }

    /// The best candidate of each feature of a block, counts aside.
    fn scan_block(
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
    fn search(
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
    fn has_enough_rows(&self, tree: &TreeContext<'_>, node: &ScanNode<'_, BlockHistogram>, split: &Split) -> bool {
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

    fn scan_counted(
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

/// Applies `operation` to each cell and its counterpart.
fn combine(cells: &mut [CellRow], others: &[CellRow], operation: impl Fn(u64, u64) -> u64) {
    for (mine, theirs) in cells.iter_mut().zip(others) {
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            *mine = operation(*mine, *theirs);
        }
    }
}

impl Engine for FastEngine<'_> {
    type Histogram = BlockHistogram;
    type Search = NodeSearch;

    fn root(&self, tree: &TreeContext<'_>, rows: &[u32]) -> BlockHistogram {
        let mut jobs = [self.job(tree, rows, None)];
        self.run(tree, &mut jobs);
        let [mut job] = jobs;
        job.parts.swap_remove(0)
    }

    fn children(
        &self,
        tree: &TreeContext<'_>,
        parents: Vec<Parent<'_, BlockHistogram>>,
    ) -> Vec<(BlockHistogram, BlockHistogram)> {
        let mut jobs: Vec<Job<'_>> =
            parents.into_iter().map(|parent| self.job(tree, parent.small_rows, Some(parent.histogram))).collect();
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
