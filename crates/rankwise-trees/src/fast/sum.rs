//! Summing histograms: pages of strips, and parts of the rows where there are many.

use rayon::prelude::*;

use super::search::peak_scan;
use super::{BlockCells, BlockHistogram, FastHistograms};
use crate::Sums;
use crate::blocks::{BinPage, Strip};
use crate::context::TreeContext;
use crate::histograms::Histograms as _;
use crate::kernel::CellRow;
use crate::kernel::accumulate::{PageRows, accumulate_page};
use crate::kernel::joint::{ColumnSums, Put};
use crate::kernel::peaks::{PeakScan, find_peaks, subtract_and_find_peaks, subtract_cells};
use crate::tasks::run_largest_first;

/// Where pages cannot be shared evenly, the rows of each are divided among threads, into parts of at least so many.
const ROWS_PER_CHUNK: usize = 2048;
/// With smaller parts, threads end at the same time; with more of them, adding them up takes longer.
const PARTS_PER_THREAD: usize = 2;
/// Adding parts up takes as long as adding so many rows to a strip.
const MIN_SURPLUS: usize = 4096;

/// Clearing and searching a strip's cells takes about as long as adding so many rows.
const FIXED_COST: usize = 1024;

/// From this share on, rows that add nothing are dropped from the lists before these are added.
const EMPTY_SHARE: f64 = 0.02;

/// Rows to be added to a histogram.
pub(super) struct Job<'a> {
    rows: JobRows<'a>,
    /// Their gradients, in memory that may be longer; none where all rows are added.
    packed: Vec<u64>,
    /// One for each chunk of the rows; they are added up into the first.
    pub(super) parts: Vec<BlockHistogram>,
    /// Whether the parts are to be cleared first.
    is_new: bool,
    /// The sums of the node that the first part is for then.
    whole: Sums,
    /// What the sums are to be taken from, and the sums of what is left of it.
    pub(super) parent: Option<(BlockHistogram, Sums)>,
}

/// The rows of a job.
enum JobRows<'a> {
    /// All of a node.
    All(&'a [u32]),
    /// Those that add something: the first so many of a list.
    Kept(Vec<u32>, usize),
}

impl JobRows<'_> {
    fn as_slice(&self) -> &[u32] {
        match self {
            Self::All(rows) => rows,
            Self::Kept(rows, n_rows) => &rows[..*n_rows],
        }
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }
}

/// The blocks of one page, to be summed over some rows.
struct PageTask<'a> {
    page: &'a BinPage,
    blocks: &'a mut [BlockCells],
    is_new: bool,
    rows: PageRows<'a>,
    packed: &'a [u64],
    /// What to do with the sums, if they are whole.
    end: Option<PageEnd<'a>>,
}

/// What is done with the blocks of a page once they are summed.
struct PageEnd<'a> {
    /// How to find peaks; none where nodes are searched together.
    scan: Option<PeakScan>,
    parent: Option<(&'a mut [BlockCells], Option<PeakScan>)>,
}

impl PageTask<'_> {
    /// About how long it takes, in strips of rows.
    fn cost(&self) -> usize {
        (self.packed.len() + FIXED_COST) * self.page.strips().len()
    }

    fn run(self, engine: &FastHistograms<'_>) {
        let Self { page, blocks, is_new, rows, packed, end } = self;
        add_page(engine, page, blocks, rows, packed, if is_new { Put::Set } else { Put::Add });
        if let Some(end) = end {
            end.run(engine, page.blocks().start, blocks);
        }
    }
}

impl PageEnd<'_> {
    /// Finds the peaks of the blocks, the first of which has the number `first`, and takes them from their parents.
    fn run(self, engine: &FastHistograms<'_>, first: usize, blocks: &mut [BlockCells]) {
        let value_bins = &engine.value_bins[first..];
        if let Some((parents, scan)) = self.parent {
            for ((parent, block), bins) in parents.iter_mut().zip(&*blocks).zip(value_bins) {
                match &scan {
                    Some(scan) => {
                        parent.peaks =
                            subtract_and_find_peaks(engine.simd, &mut parent.cells, &block.cells, bins, scan);
                    }
                    None => subtract_cells(engine.simd, &mut parent.cells, &block.cells),
                }
            }
        }
        if let Some(scan) = self.scan {
            for (block, bins) in blocks.iter_mut().zip(value_bins) {
                block.peaks = find_peaks(engine.simd, &block.cells, bins, &scan);
            }
        }
    }
}

/// Sums some rows of a page, and puts them into its blocks.
fn add_page(
    engine: &FastHistograms<'_>,
    page: &BinPage,
    blocks: &mut [BlockCells],
    rows: PageRows<'_>,
    packed: &[u64],
    put: Put,
) {
    // Columns that features share are summed beside the blocks.
    let mut shared: Vec<ColumnSums> =
        page.strips().iter().filter_map(Strip::joint).map(|_| engine.take_column_sums()).collect();
    let mut free = shared.iter_mut();
    let mut rest = &mut *blocks;
    let mut cells: Vec<&mut [CellRow]> = Vec::with_capacity(page.strips().len());
    for strip in page.strips() {
        let (mine, others) = rest.split_at_mut(strip.blocks().len());
        rest = others;
        if let Some(joint) = strip.joint() {
            cells.push(free.next().expect("there is one for each").start(joint.height()));
        } else {
            if put == Put::Set {
                // Cell by cell, which compiles to one call that clears memory.
                mine[0].cells.as_flattened_mut().fill(0);
            }
            cells.push(&mut mine[0].cells);
        }
    }
    accumulate_page(&mut cells, page.rows(), rows, packed);
    let first = page.blocks().start;
    let joint = page.strips().iter().filter_map(|strip| Some((strip.blocks(), strip.joint()?)));
    for ((of_strip, joint), mut sums) in joint.zip(shared) {
        sums.finish();
        for (block, members) in blocks[of_strip.start - first..].iter_mut().zip(joint.blocks()) {
            sums.spread(members, &mut block.cells, put);
        }
        engine.recycle_column_sums(sums);
    }
}

impl FastHistograms<'_> {
    /// Sums the rows of a node with these sums, and takes them from the parent's.
    pub(super) fn job<'r>(
        &self,
        tree: &TreeContext<'_>,
        rows: &'r [u32],
        whole: Sums,
        parent: Option<(BlockHistogram, Sums)>,
    ) -> Job<'r> {
        let (rows, packed) = self.gather(tree, rows);
        Job { rows, packed, parts: Vec::new(), is_new: true, whole, parent }
    }

    /// Takes the rows of a child that needs no histogram of its own from its parent's; `rest` are the sums that are left.
    pub(super) fn take_away<'r>(
        &self,
        tree: &TreeContext<'_>,
        rows: &'r [u32],
        parent: BlockHistogram,
        rest: Sums,
    ) -> Job<'r> {
        let of_rows = tree.fixed.packed();
        let mut packed = self.gradients.take(rows.len());
        packed.iter_mut().zip(rows).for_each(|(packed, row)| *packed = of_rows[*row as usize].wrapping_neg());
        Job { rows: JobRows::All(rows), packed, parts: vec![parent], is_new: false, whole: rest, parent: None }
    }

    /// The rows that add something, with their gradients; no gradients where these are all rows of the data, in order.
    fn gather<'r>(&self, tree: &TreeContext<'_>, rows: &'r [u32]) -> (JobRows<'r>, Vec<u64>) {
        let packed = tree.fixed.packed();
        if tree.fixed.empty_share() >= EMPTY_SHARE {
            return self.keep(rows, packed);
        }
        if rows.len() == self.data.n_rows() {
            return (JobRows::All(rows), Vec::new());
        }
        let mut gathered = self.gradients.take(rows.len());
        let pick = |(to, rows): (&mut [u64], &[u32])| {
            to.iter_mut().zip(rows).for_each(|(to, row)| *to = packed[*row as usize]);
        };
        if rows.len() < 2 * ROWS_PER_CHUNK {
            pick((&mut gathered, rows));
        } else {
            gathered.par_chunks_mut(ROWS_PER_CHUNK).zip(rows.par_chunks(ROWS_PER_CHUNK)).for_each(pick);
        }
        (JobRows::All(rows), gathered)
    }

    /// Those of the rows that add something, with their gradients.
    fn keep<'r>(&self, rows: &[u32], packed: &[u64]) -> (JobRows<'r>, Vec<u64>) {
        let (mut kept_rows, mut kept) = (self.rows.take(rows.len()), self.gradients.take(rows.len()));
        if rows.len() < 2 * ROWS_PER_CHUNK {
            let n_kept = keep(rows, packed, &mut kept_rows, &mut kept);
            return (JobRows::Kept(kept_rows, n_kept), kept);
        }
        // First each chunk in its own place, then without the gaps.
        let size = 2 * ROWS_PER_CHUNK;
        let chunks = kept_rows[..rows.len()].par_chunks_mut(size).zip(kept[..rows.len()].par_chunks_mut(size));
        let n_kept: Vec<usize> = chunks
            .zip(rows.par_chunks(size))
            .map(|((kept_rows, kept), rows)| keep(rows, packed, kept_rows, kept))
            .collect();
        let n_all = n_kept.iter().sum();
        let (mut all_rows, mut all) = (self.rows.take(n_all), self.gradients.take(n_all));
        let (mut rows_left, mut left) = (&mut all_rows[..], &mut all[..]);
        let mut copies = Vec::with_capacity(n_kept.len());
        for (n_kept, (from_rows, from)) in n_kept.into_iter().zip(kept_rows.chunks(size).zip(kept.chunks(size))) {
            let to_rows = rows_left.split_off_mut(..n_kept).expect("the chunks together are all");
            let to = left.split_off_mut(..n_kept).expect("the chunks together are all");
            copies.push(((to_rows, &from_rows[..n_kept]), (to, &from[..n_kept])));
        }
        copies.into_par_iter().for_each(|(rows, gradients)| {
            rows.0.copy_from_slice(rows.1);
            gradients.0.copy_from_slice(gradients.1);
        });
        self.rows.recycle(kept_rows);
        self.gradients.recycle(kept);
        (JobRows::Kept(all_rows, n_all), all)
    }

    /// Takes back the lists of jobs that are done.
    fn recycle_lists(&self, jobs: &mut [Job<'_>]) {
        for job in jobs {
            self.gradients.recycle(std::mem::take(&mut job.packed));
            if let JobRows::Kept(rows, _) = std::mem::replace(&mut job.rows, JobRows::All(&[])) {
                self.rows.recycle(rows);
            }
        }
    }

    /// Which pages hold a feature of the tree.
    fn active_pages(&self, tree: &TreeContext<'_>) -> Vec<bool> {
        let mut is_active = vec![false; self.blocks.blocks().len()];
        for feature in tree.features {
            is_active[self.blocks.place(*feature).0] = true;
        }
        self.blocks.pages().iter().map(|page| page.blocks().any(|block| is_active[block])).collect()
    }

    /// Gives each job the parts of its sums.
    fn add_parts(&self, jobs: &mut [Job<'_>]) {
        let n_threads = rayon::current_num_threads().min(self.n_cores);
        let n_rows: usize = jobs.iter().map(|job| job.rows.len()).sum();
        for job in jobs.iter_mut().filter(|job| job.is_new) {
            // Many jobs keep all threads busy by themselves: each gets as many threads as its share of the rows.
            let n_threads = (n_threads * job.rows.len()).div_ceil(n_rows.max(1)).max(1);
            job.parts = (0..self.n_parts(job.rows.len(), n_threads)).map(|_| self.take()).collect();
        }
    }

    /// How many parts the rows of a job are divided into for some threads.
    fn n_parts(&self, n_rows: usize, n_threads: usize) -> usize {
        // Pages that can be shared evenly, or nearly so where there is little to add, need no parts.
        if n_rows * self.surplus(n_threads) < n_threads * MIN_SURPLUS {
            return 1;
        }
        (n_rows / ROWS_PER_CHUNK).clamp(1, PARTS_PER_THREAD * n_threads)
    }

    /// How many strips more than its share the busiest of some threads has, times the threads, if each page is one thread's.
    fn surplus(&self, n_threads: usize) -> usize {
        let mut loads = vec![0; n_threads];
        for page in self.blocks.pages() {
            let least = loads.iter_mut().min().expect("there is a thread");
            *least += page.strips().len();
        }
        let all: usize = loads.iter().sum();
        loads.iter().max().map_or(0, |most| most * n_threads - all)
    }

    /// Sums the jobs' rows, takes them from their parents, and finds the peaks of both.
    pub(super) fn run(&self, tree: &TreeContext<'_>, jobs: &mut [Job<'_>]) {
        let is_active = self.active_pages(tree);
        let is_alone = tree.reduce.n_members() == 1;
        self.add_parts(jobs);
        let mut tasks = Vec::new();
        for job in &mut *jobs {
            let Job { rows, packed, parts, is_new, whole, parent } = job;
            let rows = rows.as_slice();
            let is_whole = packed.is_empty() && rows.len() == self.data.n_rows();
            let packed: &[u64] = if is_whole { tree.fixed.packed() } else { packed };
            let n_parts = parts.len();
            let chunk = rows.len().div_ceil(n_parts).max(1);
            let ends = if n_parts == 1 && is_alone { self.ends(tree, *whole, parent) } else { Vec::new() };
            let mut ends = ends.into_iter();
            for (part, histogram) in parts.iter_mut().enumerate() {
                let range = (part * chunk).min(rows.len())..((part + 1) * chunk).min(rows.len());
                for (page_idx, blocks) in self.pages_of(histogram).into_iter().enumerate() {
                    let end = ends.next();
                    if is_active[page_idx] {
                        let rows =
                            if is_whole { PageRows::From(range.start) } else { PageRows::Listed(&rows[range.clone()]) };
                        let page = &self.blocks.pages()[page_idx];
                        let (is_new, packed) = (*is_new, &packed[range.clone()]);
                        tasks.push(PageTask { page, blocks, is_new, rows, packed, end });
                    }
                }
            }
        }
        run_largest_first(tasks, PageTask::cost, |task| task.run(self));
        if is_alone {
            self.merge_parts(tree, jobs, &is_active);
        } else {
            self.exchange(tree, jobs, &is_active);
        }
        self.recycle_lists(jobs);
    }

    /// Adds up the parts of all jobs, here and in the other members, and ends them.
    fn exchange(&self, tree: &TreeContext<'_>, jobs: &mut [Job<'_>], is_active: &[bool]) {
        // Features stand in other blocks in other members, so that their cells travel one feature after another.
        let mut sums = Vec::new();
        for job in &mut *jobs {
            for part in job.parts.split_off(1) {
                for (block, other) in job.parts[0].blocks.iter_mut().zip(&part.blocks) {
                    add(&mut block.cells, &other.cells);
                }
                self.recycle(part);
            }
            for feature in tree.features {
                let (cells, lane) = self.feature_cells(&job.parts[0], *feature);
                sums.extend(cells.iter().map(|row| row[lane]));
            }
        }
        tree.reduce.sum(&mut sums);
        let mut sums = sums.into_iter();
        let mut tasks = Vec::new();
        for job in &mut *jobs {
            for feature in tree.features {
                let (block, lane) = self.blocks.place(*feature);
                let n_cells = self.data.bins(*feature).n_value_bins() + 1;
                let cells = job.parts[0].blocks[block].cells[..n_cells].iter_mut();
                cells.zip(&mut sums).for_each(|(row, sum)| row[lane] = sum);
            }
            let ends = self.ends(tree, job.whole, &mut job.parent);
            for (page, (blocks, end)) in self.pages_of(&mut job.parts[0]).into_iter().zip(ends).enumerate() {
                if is_active[page] {
                    tasks.push((self.blocks.pages()[page].blocks().start, blocks, end));
                }
            }
        }
        tasks.into_par_iter().with_max_len(1).for_each(|(first, blocks, end)| end.run(self, first, blocks));
    }

    /// Adds the parts of large jobs up, and ends them.
    fn merge_parts(&self, tree: &TreeContext<'_>, jobs: &mut [Job<'_>], is_active: &[bool]) {
        let mut large: Vec<&mut Job<'_>> = jobs.iter_mut().filter(|job| job.parts.len() > 1).collect();
        let others: Vec<Vec<BlockHistogram>> = large.iter_mut().map(|job| job.parts.split_off(1)).collect();
        let mut tasks = Vec::new();
        for (job, others) in large.into_iter().zip(&others) {
            let ends = self.ends(tree, job.whole, &mut job.parent);
            for (page, (blocks, end)) in self.pages_of(&mut job.parts[0]).into_iter().zip(ends).enumerate() {
                if is_active[page] {
                    let first = self.blocks.pages()[page].blocks().start;
                    let of_page = end.by_block(blocks).into_iter().enumerate();
                    tasks.extend(of_page.map(|(idx, (cells, end))| (first + idx, cells, end, others)));
                }
            }
        }
        let cost = |(_, cells, _, others): &(usize, &mut [BlockCells], PageEnd<'_>, &Vec<BlockHistogram>)| {
            cells[0].cells.len() * (others.len() + 1)
        };
        run_largest_first(tasks, cost, |(block, cells, end, others)| {
            for part in others {
                add(&mut cells[0].cells, &part.blocks[block].cells);
            }
            end.run(self, block, cells);
        });
        others.into_iter().flatten().for_each(|part| self.recycle(part));
    }

    /// What to do with each page of a histogram.
    fn ends<'h>(
        &self,
        tree: &TreeContext<'_>,
        whole: Sums,
        parent: &'h mut Option<(BlockHistogram, Sums)>,
    ) -> Vec<PageEnd<'h>> {
        let peak_scan = |whole| (!tree.allows_empty_sides).then(|| peak_scan(tree, whole));
        let scan = peak_scan(whole);
        match parent {
            Some((parent, rest)) => {
                let of_rest = peak_scan(*rest);
                let pages = self.pages_of(parent).into_iter();
                pages.map(|blocks| PageEnd { scan, parent: Some((blocks, of_rest)) }).collect()
            }
            None => self.blocks.pages().iter().map(|_| PageEnd { scan, parent: None }).collect(),
        }
    }

    /// The blocks of each page.
    fn pages_of<'h>(&self, histogram: &'h mut BlockHistogram) -> Vec<&'h mut [BlockCells]> {
        let mut rest = &mut histogram.blocks[..];
        let mut pages = Vec::with_capacity(self.blocks.pages().len());
        for page in self.blocks.pages() {
            let (mine, others) = rest.split_at_mut(page.blocks().len());
            pages.push(mine);
            rest = others;
        }
        pages
    }
}

impl<'a> PageEnd<'a> {
    /// The blocks of a page one by one, with what to do with each.
    fn by_block(self, blocks: &'a mut [BlockCells]) -> Vec<(&'a mut [BlockCells], Self)> {
        let scan = self.scan;
        let blocks = blocks.chunks_mut(1);
        match self.parent {
            Some((parents, of_rest)) => blocks
                .zip(parents.chunks_mut(1))
                .map(|(block, parent)| (block, PageEnd { scan, parent: Some((parent, of_rest)) }))
                .collect(),
            None => blocks.map(|block| (block, PageEnd { scan, parent: None })).collect(),
        }
    }
}

/// Puts those of the rows that add something to the front, with their gradients; gives their number. Each is written, and counted
/// if it stays: no branch to be guessed.
fn keep(rows: &[u32], packed: &[u64], kept_rows: &mut [u32], kept: &mut [u64]) -> usize {
    let mut n_kept = 0;
    for row in rows {
        let of_row = packed[*row as usize];
        (kept_rows[n_kept], kept[n_kept]) = (*row, of_row);
        n_kept += usize::from(of_row != 0);
    }
    n_kept
}

fn add(cells: &mut [CellRow], others: &[CellRow]) {
    for (mine, theirs) in cells.iter_mut().zip(others) {
        for (mine, theirs) in mine.iter_mut().zip(theirs) {
            *mine = mine.wrapping_add(*theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::SimdLevel;

    use super::*;
    use crate::histograms::Parent;
    use crate::testing::{Oracle, TinyRow, fixed_point, tiny_data, tiny_params, tiny_rows, with_context};

    /// More features than a strip has columns.
    fn widened((values, grad, hess): &TinyRow) -> TinyRow {
        let shifted = |by: u8| values.iter().map(move |value| value.map(|value| (value * (by + 1) + by) % 3));
        ((0..8).flat_map(shifted).collect(), *grad, *hess)
    }

    proptest! {
        /// Every cell is the direct sum over the rows in its bin: of a node that is summed, of its sibling, and of a parent
        /// that rows were taken out of. The features of these rows share columns.
        #[test]
        fn cells_are_direct_sums(rows in tiny_rows(60), params in tiny_params(), cut in 0usize..2400) {
            // With fewer rows no features would share a column.
            let rows: Vec<TinyRow> = (0..40).flat_map(|_| rows.iter().map(widened)).collect();
            let data = tiny_data(&rows);
            let fixed = fixed_point(&data);
            let oracle = Oracle { data: &data.binned, fixed: &fixed, params: &params };
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let (left, right) = all.split_at(cut.min(all.len()));
            let sum = |rows: &[u32]| Sums::unpack(fixed.sum(rows));
            for simd in SimdLevel::available() {
                with_context(&data, &fixed, &params, |tree| {
                    let fast = FastHistograms::new(&data.binned, simd, 0);
                    let root = || fast.histogram_of(&tree, &all, sum(&all));
                    let child = |small| {
                        let parent = Parent { histogram: root(), small_rows: left, small, large: sum(right) };
                        fast.children(&tree, vec![parent]).pop().unwrap()
                    };
                    let (of_left, of_right) = child(Some(sum(left)));
                    let (none, taken_out) = child(None);
                    prop_assert!(none.is_none());
                    let nodes = [(root(), &all[..]), (of_left.unwrap(), left), (of_right, right), (taken_out, right)];
                    for (histogram, rows) in nodes {
                        for feature in tree.features {
                            let (cells, lane) = fast.feature_cells(&histogram, *feature);
                            for (bin, cell) in cells.iter().enumerate() {
                                let bins = data.binned.column(*feature);
                                let side = oracle.side(rows, |row| usize::from(bins[row as usize]) == bin);
                                prop_assert_eq!(Sums::unpack(cell[lane]), side.sums);
                            }
                        }
                    }
                    Ok(())
                })?;
            }
        }
    }
}
