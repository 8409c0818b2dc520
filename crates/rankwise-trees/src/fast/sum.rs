//! Summing histograms: pages of blocks, and parts of the rows where there are many.

use rankwise_data::{BLOCK_FEATURES, BinPage};
use rayon::prelude::*;

use super::{BlockHistogram, FastEngine};
use crate::context::TreeContext;
use crate::engine::Engine as _;
use crate::kernel::CellRow;
use crate::kernel::accumulate::{PageRows, accumulate_page};

/// From this many rows on, the rows of one block are divided among threads: there are few blocks, and one more than the
/// threads can share evenly would keep all but one waiting.
const ROWS_PER_CHUNK: usize = 2048;

/// Rows of cells that one task adds up.
const CELL_ROWS_PER_TASK: usize = 256;

/// A histogram to be summed: its rows, and the parent that it is to be taken from.
pub(super) struct Job<'a> {
    rows: &'a [u32],
    packed: Vec<u64>,
    /// One for each chunk of the rows; they are added up into the first.
    pub(super) parts: Vec<BlockHistogram>,
    pub(super) parent: Option<BlockHistogram>,
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

impl FastEngine<'_> {
    /// Which pages do.
    fn active_pages(&self, tree: &TreeContext<'_>) -> Vec<bool> {
        let is_active = self.active_blocks(tree);
        let blocks = |page: &BinPage| page.first_block()..page.first_block() + page.n_blocks();
        self.blocks.pages().iter().map(|page| blocks(page).any(|block| is_active[block])).collect()
    }

    /// One of `n_jobs` that will run together.
    pub(super) fn job<'r>(
        &self,
        tree: &TreeContext<'_>,
        rows: &'r [u32],
        parent: Option<BlockHistogram>,
        n_jobs: usize,
    ) -> Job<'r> {
        let packed = tree.fixed.packed();
        let gathered = if rows.len() == self.data.n_rows() {
            Vec::new()
        } else {
            rows.par_iter().with_min_len(ROWS_PER_CHUNK).map(|row| packed[*row as usize]).collect()
        };
        // Many jobs keep all threads busy by themselves; parts of each would only take memory.
        let n_useful = (rayon::current_num_threads().min(self.n_cores) / n_jobs).max(1);
        let n_parts = (rows.len() / ROWS_PER_CHUNK).clamp(1, n_useful);
        Job { rows, packed: gathered, parts: (0..n_parts).map(|_| self.take()).collect(), parent }
    }

    /// Sums the jobs' histograms and takes them from their parents.
    pub(super) fn run(&self, tree: &TreeContext<'_>, jobs: &mut [Job<'_>]) {
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
}

/// Applies `operation` to each cell and its counterpart.
fn combine(cells: &mut [CellRow], others: &[CellRow], operation: impl Fn(u64, u64) -> u64) {
    for (mine, theirs) in cells.iter_mut().zip(others) {
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            *mine = operation(*mine, *theirs);
        }
    }
}
