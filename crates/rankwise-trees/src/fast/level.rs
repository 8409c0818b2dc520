//! The best split that the nodes of a level share.
//!
//! ```text
//! scores   f32, added up over nodes: a bound for each (feature, bin, way of missing values)
//! masks    which of them the smallest nodes allow, by counting their rows; only for features that may win
//! exact    f64, in the order of nodes as the plain search adds them; only for features that still may win
//! counts   all nodes, where the winner divides one of the larger nodes too unevenly
//! ```
//!
//! A split is refused if it leaves any node a side with rows, but fewer than `min_data_in_leaf`. Small nodes refuse most, and
//! cost little to count.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::search::{NodeSearch, SearchedFeature, batch, peak_scan};
use super::{BlockHistogram, FastHistograms};
use crate::blocks::BLOCK_FEATURES;
use crate::context::TreeContext;
use crate::counts::{BinCounts, count_bins};
use crate::histograms::{Histograms as _, ScanGroup, ScanNode};
use crate::kernel::CellRow;
use crate::kernel::halves::place_of;
use crate::kernel::level::{ScoreRow, add_scores, slack};
use crate::scan::{Side, Split, Sweep, best_of_feature};
use crate::{Cell, Sums};

/// The smallest nodes that have this share of the rows together are counted first, if they are small enough to refuse many splits:
/// up to so many times `min_data_in_leaf`.
const SMALL_SHARE: u64 = 64;
const SMALL_MULTIPLE: usize = 10;
/// Features whose small nodes are counted at a time, after the first two rounds.
const MASKED_AT_ONCE: usize = 8;
/// Nodes whose scores one task adds up.
const NODES_PER_TASK: usize = 16;
/// Nodes without histograms that are summed at a time.
const NODES_AT_ONCE: usize = 64;

type Group<'a> = ScanGroup<'a, BlockHistogram>;
type Node<'a> = ScanNode<'a, BlockHistogram>;

/// What is known about the splits of a level.
#[derive(Debug)]
pub(crate) struct LevelSearch {
    search: NodeSearch,
    /// By block; none where scores in f32 bound nothing.
    scores: Vec<BlockScores>,
    /// What turns a score in f32 into a bound: a factor, and the terms of nodes that cannot be divided.
    factor: f64,
    constant: f64,
    /// The nodes that are counted first.
    small: Vec<usize>,
    /// By place in the group, what the small nodes allow.
    masks: Vec<Option<Box<Mask>>>,
}

/// Whether a split is allowed, by bin: with missing values on the right, and on the left.
#[derive(Clone, Debug)]
struct Mask([[bool; 256]; 2]);

/// Scores by bin, with missing values on the right, and on the left where the block has any.
#[derive(Clone, Debug)]
struct BlockScores {
    right: Vec<ScoreRow>,
    left: Option<Vec<ScoreRow>>,
}

impl BlockScores {
    fn add(&mut self, other: &Self) {
        let rows = self.right.iter_mut().zip(&other.right);
        let left = self.left.iter_mut().flatten().zip(other.left.iter().flatten());
        rows.chain(left).for_each(|(mine, theirs)| mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b));
    }

    /// The best score of a lane with so many bins among those that are allowed.
    fn peak(&self, lane: usize, n_bins: usize, mask: Option<&Mask>) -> f32 {
        let ways = [Some(&self.right), self.left.as_ref()];
        // Without missing values both ways are the same.
        let ways = ways.into_iter().enumerate().filter_map(|(way, scores)| Some((way, scores?)));
        let (mut peak, place) = (f32::NEG_INFINITY, place_of(lane));
        for (way, scores) in ways {
            for (bin, row) in scores[..n_bins].iter().enumerate() {
                let is_allowed = mask.is_none_or(|mask| mask.0[way][bin]);
                peak = if is_allowed && row[place] > peak { row[place] } else { peak };
            }
        }
        peak
    }
}

impl Mask {
    fn new() -> Self {
        Self([[true; 256]; 2])
    }

    /// Forbids splits that leave a node a side with too few rows; `n_bins` is the bin of missing values.
    fn forbid(&mut self, counts: &BinCounts, n_bins: usize, min_data: u32) {
        let whole: u32 = counts[..=n_bins].iter().sum();
        let mut below = 0;
        for bin in 0..n_bins {
            below += counts[bin];
            for (way, left) in [below, below + counts[n_bins]].into_iter().enumerate() {
                let right = whole - left;
                let is_allowed = left == 0 || right == 0 || (left >= min_data && right >= min_data);
                self.0[way][bin] &= is_allowed;
            }
        }
    }
}

/// Nodes that cannot be divided: a split must send all rows of each the same way.
struct RigidNodes {
    /// By way and bin, by how many nodes more than at the bin before a split is forbidden.
    steps: [[i32; 257]; 2],
}

impl Default for RigidNodes {
    fn default() -> Self {
        Self { steps: [[0; 257]; 2] }
    }
}

impl RigidNodes {
    /// Adds a node, given the bins of its rows; `n_bins` is the bin of missing values.
    fn add(&mut self, bins: impl Iterator<Item = u8>, n_bins: usize) {
        let (mut lowest, mut highest, mut has_missing) = (usize::MAX, 0, false);
        for bin in bins.map(usize::from) {
            if bin == n_bins {
                has_missing = true;
            } else {
                (lowest, highest) = (lowest.min(bin), highest.max(bin));
            }
        }
        if lowest == usize::MAX {
            return;
        }
        // Splits at these bins divide the node: a value on the left, and another or a missing one on the right; or the reverse.
        let ways = if has_missing { [lowest..n_bins, 0..highest] } else { [lowest..highest, lowest..highest] };
        for (steps, divided) in self.steps.iter_mut().zip(ways) {
            steps[divided.start] += 1;
            steps[divided.end] -= 1;
        }
    }

    fn forbid(&self, mask: &mut Mask, n_bins: usize) {
        for (steps, allowed) in self.steps.iter().zip(&mut mask.0) {
            let mut n_divided = 0;
            for (step, allowed) in steps.iter().zip(allowed).take(n_bins) {
                n_divided += step;
                *allowed &= n_divided == 0;
            }
        }
    }
}

fn min_data(tree: &TreeContext<'_>) -> u32 {
    u32::try_from(tree.params.min_data_in_leaf).unwrap_or(u32::MAX)
}

impl FastHistograms<'_> {
    /// What the scores of a level tell, and exact searches where they tell nothing.
    pub(super) fn search_level(&self, tree: &TreeContext<'_>, group: &Group<'_>) -> LevelSearch {
        let in_range = group.nodes.iter().all(|node| peak_scan(tree, node.whole.sums).is_in_range());
        let has_scores = in_range && group.nodes.iter().all(|node| node.bounds.is_free());
        let n_features = group.features.len();
        let rigid = group.nodes.iter().filter(|node| tree.is_rigid(node.whole));
        let mut level = LevelSearch {
            search: NodeSearch::new(vec![f64::NEG_INFINITY; n_features], BinaryHeap::new()),
            scores: if has_scores { self.level_scores(tree, group) } else { Vec::new() },
            factor: tree.scales.grad(1) * tree.scales.grad(1) / tree.scales.hess(1) * slack(group.nodes.len()),
            constant: rigid.map(|node| tree.term(node.whole, node.bounds)).sum(),
            small: small_nodes(tree, group),
            masks: vec![None; n_features],
        };
        let (bounded, others): (Vec<usize>, Vec<usize>) =
            (0..n_features).partition(|place| has_scores && tree.directions[group.features[*place]] == 0);
        let bounds: Vec<(usize, f64)> =
            bounded.into_iter().map(|place| (place, self.bound(&level, group.features[place], None))).collect();
        level.search.tighten(bounds.into_iter());
        for place in others {
            let feature = group.features[place];
            let is_counted = tree.directions[feature] != 0;
            let split = if is_counted {
                self.scan_level_plainly(tree, group, feature)
            } else {
                self.scan_level(tree, group, feature, None)
            };
            level.search.searched.extend(split.map(|split| SearchedFeature { place, split, is_counted }));
        }
        level
    }

    /// The best split so far, if it is worth making.
    pub(super) fn best_of_level(
        &self,
        tree: &TreeContext<'_>,
        group: &Group<'_>,
        level: &mut LevelSearch,
    ) -> Option<Split> {
        let mut n_scans = 0;
        for round in 0.. {
            let places = level.search.unsure(if round < 2 { 1 } else { batch(round) * MASKED_AT_ONCE });
            let unmasked: Vec<usize> = places
                .iter()
                .copied()
                .filter(|place| level.masks[*place].is_none() && !level.small.is_empty())
                .collect();
            if !unmasked.is_empty() {
                self.mask(tree, group, level, &unmasked);
                continue;
            }
            let places = level.search.unsure(batch(n_scans));
            n_scans += 1;
            if places.is_empty() {
                break;
            }
            let masks = &level.masks;
            let scan = |place: usize| self.scan_level(tree, group, group.features[place], masks[place].as_deref());
            level.search.learn(&places, scan);
        }
        let split = level.search.searched.peek()?.split;
        let gain = tree.gain(split.gain, group.nodes.iter().map(|node| (node.whole, node.bounds)))?;
        Some(Split { gain, ..split })
    }

    /// The best split after one that counts forbid.
    pub(super) fn next_best_of_level(
        &self,
        tree: &TreeContext<'_>,
        group: &Group<'_>,
        counts: &[BinCounts],
        level: &mut LevelSearch,
    ) -> Option<Split> {
        if !level.search.is_counted() {
            let feature = level.search.searched.peek()?.split.feature;
            let mask = self.mask_of(tree, feature, counts);
            level.search.count_best(self.scan_level(tree, group, feature, Some(&mask)));
        }
        self.best_of_level(tree, group, level)
    }

    /// No score of a feature is above this.
    fn bound(&self, level: &LevelSearch, feature: usize, mask: Option<&Mask>) -> f64 {
        let (block, lane) = self.blocks.place(feature);
        let peak = level.scores[block].peak(lane, self.data.bins(feature).n_value_bins(), mask);
        f64::from(peak) * level.factor + level.constant * slack(0)
    }

    /// Counts the small nodes for some features, and lowers their bounds to what is still allowed.
    fn mask(&self, tree: &TreeContext<'_>, group: &Group<'_>, level: &mut LevelSearch, places: &[usize]) {
        let masks: Vec<Mask> = if tree.reduce.n_members() == 1 {
            places.par_iter().map(|place| self.mask_of_small(tree, group, level, *place)).collect()
        } else {
            let asked: Vec<(&[u32], usize)> = places
                .iter()
                .flat_map(|place| level.small.iter().map(|node| (group.nodes[*node].rows, group.features[*place])))
                .collect();
            let counts = count_bins(self.data, tree.reduce, &asked);
            let of_places = places.iter().zip(counts.chunks(level.small.len()));
            of_places.map(|(place, counts)| self.mask_of(tree, group.features[*place], counts)).collect()
        };
        let bound = |(place, mask): (&usize, &Mask)| (*place, self.bound(level, group.features[*place], Some(mask)));
        let bounds: Vec<(usize, f64)> = places.iter().zip(&masks).map(bound).collect();
        level.search.tighten(bounds.into_iter());
        places.iter().zip(masks).for_each(|(place, mask)| level.masks[*place] = Some(Box::new(mask)));
    }

    /// What the small nodes allow of the feature at a place, where all their rows are here.
    fn mask_of_small(&self, tree: &TreeContext<'_>, group: &Group<'_>, level: &LevelSearch, place: usize) -> Mask {
        let feature = group.features[place];
        let column = self.data.column(feature);
        let (bins, n_bins) = (&*column, self.data.bins(feature).n_value_bins());
        let mut mask = Mask::new();
        let mut rigid = RigidNodes::default();
        for node in &level.small {
            let node = &group.nodes[*node];
            let bins = node.rows.iter().map(|row| bins[*row as usize]);
            if tree.is_rigid(node.whole) {
                rigid.add(bins, n_bins);
            } else {
                let mut counts = [0; 256];
                bins.for_each(|bin| counts[usize::from(bin)] += 1);
                mask.forbid(&counts, n_bins, min_data(tree));
            }
        }
        rigid.forbid(&mut mask, n_bins);
        mask
    }

    /// What nodes with these counts allow of a feature.
    fn mask_of(&self, tree: &TreeContext<'_>, feature: usize, counts: &[BinCounts]) -> Mask {
        let n_bins = self.data.bins(feature).n_value_bins();
        let mut mask = Mask::new();
        for counts in counts {
            mask.forbid(counts, n_bins, min_data(tree));
        }
        mask
    }

    /// The scores of all nodes that can be divided, by block.
    fn level_scores(&self, tree: &TreeContext<'_>, group: &Group<'_>) -> Vec<BlockScores> {
        let blocks = self.blocks.blocks().iter();
        let mut scores: Vec<BlockScores> = blocks
            .map(|block| {
                let zeros = || vec![[0.0; BLOCK_FEATURES]; block.height()];
                let has_missing = block.features().iter().any(|feature| self.data.bins(*feature).has_missing());
                BlockScores { right: zeros(), left: has_missing.then(zeros) }
            })
            .collect();
        let open = || group.nodes.iter().filter(|node| !tree.is_rigid(node.whole));
        let held: Vec<(&BlockHistogram, Sums)> =
            open().filter_map(|node| Some((node.histogram?, node.whole.sums))).collect();
        self.add_nodes(tree, &mut scores, &held);
        let others: Vec<&Node<'_>> = open().filter(|node| node.histogram.is_none()).collect();
        for nodes in others.chunks(NODES_AT_ONCE) {
            let mut jobs: Vec<_> =
                nodes.par_iter().with_max_len(1).map(|node| self.job(tree, node.rows, node.whole.sums, None)).collect();
            self.run(tree, &mut jobs);
            let histograms: Vec<BlockHistogram> = jobs.into_iter().map(|mut job| job.parts.swap_remove(0)).collect();
            let sums = nodes.iter().map(|node| node.whole.sums);
            self.add_nodes(tree, &mut scores, &histograms.iter().zip(sums).collect::<Vec<_>>());
            for histogram in histograms {
                self.recycle(histogram);
            }
        }
        scores
    }

    /// Adds the scores of some nodes.
    fn add_nodes(&self, tree: &TreeContext<'_>, scores: &mut [BlockScores], nodes: &[(&BlockHistogram, Sums)]) {
        let add = |block: usize, scores: &mut BlockScores, nodes: &[(&BlockHistogram, Sums)]| {
            for (histogram, whole) in nodes {
                let scan = peak_scan(tree, *whole);
                let BlockScores { right, left } = scores;
                let cells: &[CellRow] = &histogram.blocks[block].cells;
                add_scores(self.simd, cells, &self.value_bins[block], &scan, right, left.as_deref_mut());
            }
        };
        if nodes.len() < 2 * NODES_PER_TASK {
            scores.par_iter_mut().with_max_len(1).enumerate().for_each(|(block, scores)| add(block, scores, nodes));
            return;
        }
        let n_blocks = scores.len();
        let empty: Vec<BlockScores> = scores
            .iter()
            .map(|of_block| BlockScores {
                right: vec![[0.0; BLOCK_FEATURES]; of_block.right.len()],
                left: of_block.left.as_ref().map(|left| vec![[0.0; BLOCK_FEATURES]; left.len()]),
            })
            .collect();
        let tasks: Vec<(usize, &[(&BlockHistogram, Sums)])> = nodes
            .chunks(NODES_PER_TASK.max(nodes.len() / NODES_PER_TASK))
            .flat_map(|nodes| (0..n_blocks).map(move |block| (block, nodes)))
            .collect();
        let parts: Vec<(usize, BlockScores)> = tasks
            .into_par_iter()
            .with_max_len(1)
            .map(|(block, nodes)| {
                let mut part = empty[block].clone();
                add(block, &mut part, nodes);
                (block, part)
            })
            .collect();
        for (block, part) in &parts {
            scores[*block].add(part);
        }
    }

    /// The best split of one feature that is allowed, as far as the mask knows.
    fn scan_level(
        &self,
        tree: &TreeContext<'_>,
        group: &Group<'_>,
        feature: usize,
        mask: Option<&Mask>,
    ) -> Option<Split> {
        let n_bins = self.data.bins(feature).n_value_bins();
        let mut sums = vec![SplitSums::default(); 2 * n_bins];
        let has_missing = self.data.bins(feature).has_missing();
        for nodes in group.nodes.chunks(NODES_AT_ONCE) {
            let cells = self.cells_of(tree, nodes, feature);
            for (node, cells) in nodes.iter().zip(&cells) {
                if let Some(cells) = cells {
                    add_node(tree, node, cells, has_missing, &mut sums);
                } else {
                    let term = tree.term(node.whole, node.bounds);
                    for sums in &mut sums {
                        sums.score += term;
                    }
                }
            }
        }
        let mut best: Option<Split> = None;
        for (idx, SplitSums { score, divides }) in sums.into_iter().enumerate() {
            let (bin, missing_left) = (idx / 2, idx % 2 == 0);
            if !divides || score == f64::NEG_INFINITY || (!missing_left && !has_missing) {
                continue;
            }
            if mask.is_some_and(|mask| !mask.0[usize::from(missing_left)][bin]) {
                continue;
            }
            if best.is_none_or(|best| score > best.gain) {
                best = Some(Split { feature, bin: bin as u8, missing_left, gain: score });
            }
        }
        best
    }

    /// The cells of a feature, the bin of missing values last, for each node that can be divided.
    fn cells_of(&self, tree: &TreeContext<'_>, nodes: &[Node<'_>], feature: usize) -> Vec<Option<Vec<u64>>> {
        let n_cells = self.data.bins(feature).n_value_bins() + 1;
        let bins = &*self.data.column(feature);
        let mut cells: Vec<Option<Vec<u64>>> = nodes
            .iter()
            .map(|node| {
                if tree.is_rigid(node.whole) {
                    return None;
                }
                if let Some(histogram) = node.histogram {
                    let (rows, lane) = self.feature_cells(histogram, feature);
                    return Some(rows.iter().map(|row| row[lane]).collect());
                }
                let mut cells = vec![0u64; n_cells];
                for row in node.rows {
                    let cell = &mut cells[usize::from(bins[*row as usize])];
                    *cell = cell.wrapping_add(tree.fixed.packed()[*row as usize]);
                }
                Some(cells)
            })
            .collect();
        if tree.reduce.n_members() > 1 {
            let own = nodes.iter().zip(&mut cells).filter(|(node, _)| node.histogram.is_none());
            let own: Vec<&mut Vec<u64>> = own.filter_map(|(_, cells)| cells.as_mut()).collect();
            let mut sums: Vec<u64> = own.iter().flat_map(|cells| cells.iter().copied()).collect();
            if !sums.is_empty() {
                tree.reduce.sum(&mut sums);
                own.into_iter().zip(sums.chunks(n_cells)).for_each(|(cells, sums)| cells.copy_from_slice(sums));
            }
        }
        cells
    }

    /// The plain scan of one feature with the counts of all nodes: what a constraint allows depends on them.
    fn scan_level_plainly(&self, tree: &TreeContext<'_>, group: &Group<'_>, feature: usize) -> Option<Split> {
        let asked: Vec<(&[u32], usize)> = group.nodes.iter().map(|node| (node.rows, feature)).collect();
        let counts = count_bins(self.data, tree.reduce, &asked);
        let of_nodes: Vec<Vec<Cell>> = group
            .nodes
            .chunks(NODES_AT_ONCE)
            .flat_map(|nodes| self.cells_of(tree, nodes, feature))
            .zip(&counts)
            .map(|(cells, counts)| {
                let n_cells = self.data.bins(feature).n_value_bins() + 1;
                // What a node that cannot be divided holds in which bin makes no difference: only counts are looked at.
                let cells = cells.unwrap_or_else(|| vec![0; n_cells]);
                cells.into_iter().zip(counts).map(|(packed, count)| Cell { packed, count: *count }).collect()
            })
            .collect();
        let sweeps = group.nodes.iter().zip(&of_nodes).map(|(node, cells)| Sweep::new(cells, node.whole, node.bounds));
        best_of_feature(tree, feature, &mut sweeps.collect::<Vec<_>>(), tree.params.min_data_in_leaf)
    }
}

/// The smallest nodes, counted first: those that cannot be divided, and others up to a share of the rows. None where counts
/// forbid nothing.
fn small_nodes(tree: &TreeContext<'_>, group: &Group<'_>) -> Vec<usize> {
    if tree.params.min_data_in_leaf < 2 {
        return Vec::new();
    }
    let count = |node: usize| group.nodes[node].whole.count;
    let n_rows: u64 = group.nodes.iter().map(|node| u64::from(node.whole.count)).sum();
    let mut nodes: Vec<usize> = (0..group.nodes.len()).collect();
    nodes.sort_by_key(|node| count(*node));
    let mut n_counted = 0;
    let n_small = nodes.iter().take_while(|node| {
        n_counted += u64::from(count(**node));
        let is_small = count(**node) as usize <= tree.params.min_data_in_leaf.saturating_mul(SMALL_MULTIPLE);
        tree.is_rigid(group.nodes[**node].whole) || (is_small && n_counted <= n_rows / SMALL_SHARE)
    });
    let n_small = n_small.count();
    nodes.truncate(n_small);
    nodes
}

/// A split of all nodes.
#[derive(Clone, Copy, Debug, Default)]
struct SplitSums {
    /// Negative infinity where it is not allowed.
    score: f64,
    /// Whether it divides the rows of any node.
    divides: bool,
}

/// Adds the scores of one node to those of all splits: for each bin, with missing values on the left and on the right.
fn add_node(tree: &TreeContext<'_>, node: &Node<'_>, cells: &[u64], has_missing: bool, sums: &mut [SplitSums]) {
    let (missing, values) = cells.split_last().expect("there is always a cell for missing values");
    let side = |sums: Sums| Side { sums, count: 0 };
    let whole = node.whole.sums;
    let undivided = tree.term(node.whole, node.bounds);
    let add = |left: u64, to: &mut SplitSums| {
        let left = Sums::unpack(left);
        let right = whole - left;
        if left == Sums::default() || right == Sums::default() {
            // Nothing that counts goes one of the ways.
            to.score += undivided;
            return;
        }
        let (left, right) = (side(left), side(right));
        to.divides = true;
        to.score += if tree.has_enough_hess(left) && tree.has_enough_hess(right) {
            tree.pair_score(left, right, node.bounds)
        } else {
            f64::NEG_INFINITY
        };
    };
    let mut below = 0u64;
    for (cell, sums) in values.iter().zip(sums.as_chunks_mut::<2>().0) {
        below = below.wrapping_add(*cell);
        add(below.wrapping_add(*missing), &mut sums[0]);
        if has_missing {
            add(below, &mut sums[1]);
        }
    }
}
