//! The engine for this machine's memory: which rows each node holds, their gradients in fixed point, and the histograms of nodes
//! that may still be split.
//!
//! ```text
//! propose   children by subtraction -> best splits -> groups wait, the least promising without histograms
//! confirm   rows of each node sorted by side, beside their place; counts compared with `min_data_in_leaf`
//! apply     rows moved to their place; the node's histogram is kept until the next proposal
//! ```

mod confirm;
mod pool;

use std::ops::Range;
use std::time::Instant;

use rankwise_data::{BinnedDataset, Reduce, SimdLevel};
use rankwise_model::Tree;
use rayon::prelude::*;
use smallvec::SmallVec;

use crate::apply::{add_to_others, add_to_own, add_tree};
use crate::bounds::Bounds;
use crate::context::{Judge, TreeContext};
use crate::engine::{Engine, Group, GroupSplit, LeafSums, OpenTree, Root, TreeInput, Width};
use crate::fixed_point::WideScale;
use crate::grow::PhaseTimes;
use crate::growth::NodeIds;
use crate::histograms::{Histograms, ScanGroup, ScanNode};
use crate::partition::{Partition, Sides, Sorted};
use crate::scan::{Side, Split};
use crate::{FixedPoint, Sums, TreeParams};

/// What an engine is made from.
#[derive(Clone, Copy)]
pub struct EngineSetup<'a> {
    /// The bins of this member's rows.
    pub data: &'a BinnedDataset,
    /// The parameters of the trees.
    pub params: &'a TreeParams,
    /// The instructions that may be used.
    pub simd: SimdLevel,
    /// The way to the other members.
    pub reduce: &'a dyn Reduce,
}

/// Keeps rows, bins and histograms in this machine's memory.
pub(crate) struct HostEngine<'a, H> {
    setup: EngineSetup<'a>,
    directions: Vec<i8>,
    n_cores: usize,
    histograms: H,
    /// Memory of the last tree, for the next one.
    spare: Spare,
    /// By output, where the rows of its last tree are.
    placed: Vec<Placed>,
}

/// Memory that every tree needs.
#[derive(Debug, Default)]
struct Spare {
    packed: Vec<u64>,
    sides: Sides,
}

/// The rows that a tree was grown from, sorted by leaf.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    pub(crate) rows: Vec<u32>,
    /// Leaves with parts of `rows`, in each of which rows ascend. A leaf has several if it was divided once.
    pub(crate) leaf_rows: Vec<(usize, Range<usize>)>,
    /// The same rows, ascending, if these are not all.
    sample: Vec<u32>,
}

impl<'a, H: Histograms> HostEngine<'a, H> {
    pub(crate) fn new(setup: EngineSetup<'a>, histograms: H) -> Self {
        let constraints = &setup.params.monotone_constraints;
        let directions = setup.data.feature_ids().iter().map(|id| constraints.direction(*id)).collect();
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { setup, directions, n_cores, histograms, spare: Spare::default(), placed: Vec::new() }
    }

    /// As if the machine had so many cores.
    #[cfg(test)]
    pub(crate) fn with_cores(self, n_cores: usize) -> Self {
        Self { n_cores, ..self }
    }

    /// How many histograms may wait: as many as there is memory for, but enough for a batch of a few nodes.
    fn n_kept(&self) -> usize {
        if self.setup.params.histogram_pool_mb < 0.0 {
            return usize::MAX;
        }
        let bytes = self.histograms.histogram_bytes().max(1) as f64;
        (self.setup.params.histogram_pool_mb * 1e6 / bytes).max(8.0) as usize
    }
}

impl<H: Histograms> Engine for HostEngine<'_, H> {
    fn begin<'t>(&'t mut self, input: TreeInput<'t>) -> Box<dyn OpenTree + 't> {
        let reduce = self.setup.reduce;
        let Spare { packed, mut sides } = std::mem::take(&mut self.spare);
        let fixed = FixedPoint::reusing(packed, input.structure, input.rows, reduce);
        sides.resize(input.rows.len());
        if self.placed.len() <= input.output {
            self.placed.resize(input.output + 1, Placed::default());
        }
        let rows = std::mem::take(&mut self.placed[input.output].rows);
        let mut whole = [fixed.sum(input.rows), input.rows.len() as u64];
        reduce.sum(&mut whole);
        let whole = Side { sums: Sums::unpack(whole[0]), count: whole[1] as u32 };
        // Members that grow a tree together must do the same things together.
        let mut limits = [rayon::current_num_threads().min(self.n_cores) as u64, self.n_kept() as u64];
        reduce.min(&mut limits);
        let n_kept = usize::try_from(limits[1]).unwrap_or(usize::MAX);
        Box::new(HostTree {
            root: Root { whole, scales: fixed.scales() },
            fixed,
            partition: Partition::reusing(rows, input.rows),
            sides,
            nodes: vec![HostNode::new(0..input.rows.len(), whole)],
            waiting: vec![None],
            families: Vec::new(),
            n_held: 0,
            n_kept,
            width: Width { ahead: limits[0] as usize - 1, applied: n_kept / 4 },
            times: PhaseTimes::default(),
            features: self.histograms.usable(input.features).into_owned(),
            engine: self,
            input,
        })
    }

    fn add_grown(&self, output: usize, tree: &Tree, scores: &mut [f64]) {
        let placed = &self.placed[output];
        add_to_own(placed, &tree.parts().leaf_value, scores);
        // The tree has not seen the rows outside its sample.
        if placed.rows.len() < scores.len() {
            add_to_others(tree, &placed.sample, scores, self.setup.data, self.setup.simd);
        }
    }

    fn add_tree(&self, tree: &Tree, factor: f64, scores: &mut [f64]) {
        add_tree(tree, factor, scores, self.setup.data, self.setup.simd);
    }
}

/// A node of a tree under way.
struct HostNode<T> {
    rows: Range<usize>,
    whole: Side,
    bounds: Bounds,
    /// Only nodes that may still be split have one.
    histogram: Option<T>,
    /// Where its rows went, if they were divided.
    children: Option<[usize; 2]>,
}

impl<T> HostNode<T> {
    fn new(rows: Range<usize>, whole: Side) -> Self {
        Self { rows, whole, bounds: Bounds::FREE, histogram: None, children: None }
    }
}

/// A group that waits to be split.
struct Waiting<S> {
    nodes: NodeIds,
    features: Option<Vec<usize>>,
    split: Split,
    search: S,
    /// By node, where its rows will go, once it is sure that the split is allowed.
    sorted: Option<SmallVec<[SortedNode; 1]>>,
}

/// Where the rows of a node will go.
struct SortedNode {
    sorted: Sorted,
    /// How many rows of all members go left and right.
    counts: [u32; 2],
}

/// A node whose split was applied, and whose children have not been asked about yet.
#[derive(Clone, Copy, Debug)]
struct Family {
    parent: usize,
    children: [usize; 2],
}

/// A tree under way. Its nodes and groups are numbered as the caller numbers them; a group goes by its first node.
struct HostTree<'t, 'd, H: Histograms> {
    engine: &'t mut HostEngine<'d, H>,
    input: TreeInput<'t>,
    /// The features of the tree that may be split.
    features: Vec<usize>,
    root: Root,
    fixed: FixedPoint,
    partition: Partition,
    sides: Sides,
    nodes: Vec<HostNode<H::Histogram>>,
    /// By first node.
    waiting: Vec<Option<Waiting<H::Search>>>,
    families: Vec<Family>,
    /// How many nodes have a histogram.
    n_held: usize,
    /// How many may have one while they wait.
    n_kept: usize,
    width: Width,
    times: PhaseTimes,
}

impl<H: Histograms> OpenTree for HostTree<'_, '_, H> {
    fn root(&self) -> Root {
        self.root
    }

    fn width(&self) -> Width {
        self.width
    }

    fn propose(&mut self, mut groups: Vec<Group>) -> Vec<Option<Split>> {
        for features in groups.iter_mut().filter_map(|group| group.features.as_mut()) {
            *features = self.engine.histograms.usable(features).into_owned();
        }
        self.build_histograms(&groups);
        let started = Instant::now();
        let context = self.context();
        let scans: Vec<ScanGroup<'_, H::Histogram>> = groups
            .iter()
            .map(|group| self.scan_group(group.nodes.iter().map(|node| node.id), group.features.as_deref()))
            .collect();
        let found = self.engine.histograms.best_splits(&context, &scans);
        drop(scans);
        let mut splits = Vec::with_capacity(groups.len());
        for (group, found) in groups.into_iter().zip(found) {
            let nodes: NodeIds = group.nodes.iter().map(|node| node.id).collect();
            splits.push(found.as_ref().map(|(split, _)| *split));
            match found {
                Some((split, search)) => {
                    let first = nodes[0];
                    let features = group.features;
                    self.waiting[first] = Some(Waiting { nodes, features, split, search, sorted: None });
                }
                None => self.close(&nodes),
            }
        }
        self.times.splits += started.elapsed();
        self.drop_histograms();
        splits
    }

    fn confirm(&mut self, splits: &[GroupSplit<'_>]) -> Vec<Option<Split>> {
        let mut groups: Vec<Waiting<H::Search>> = splits.iter().map(|group| self.take_waiting(group.nodes)).collect();
        self.restore_histograms(&groups);
        self.sort_rows(&mut groups);
        let started = Instant::now();
        let confirmed = self.find_allowed(&mut groups);
        for (group, split) in groups.into_iter().zip(&confirmed) {
            match split {
                Some(split) => {
                    let first = group.nodes[0];
                    self.waiting[first] = Some(Waiting { split: *split, ..group });
                }
                None => self.close(&group.nodes),
            }
        }
        self.times.splits += started.elapsed();
        self.drop_histograms();
        confirmed
    }

    fn apply(&mut self, splits: &[GroupSplit<'_>]) -> Vec<[Side; 2]> {
        let groups: Vec<Waiting<H::Search>> = splits.iter().map(|group| self.take_waiting(group.nodes)).collect();
        self.restore_histograms(&groups);
        let started = Instant::now();
        let sorted = groups.iter().flat_map(|group| group.sorted.iter().flatten());
        self.partition.apply(&sorted.map(|node| &node.sorted).collect::<Vec<_>>(), &self.sides);
        let left_sums = self.left_sums(&groups);
        let sorted = groups.iter().flat_map(|group| group.nodes.iter().zip(group.sorted.iter().flatten()));
        let sides = sorted.zip(left_sums).map(|((parent, sorted), left)| self.divide(*parent, sorted, left)).collect();
        self.times.partition += started.elapsed();
        sides
    }

    fn sum_leaves(&mut self, leaves: &[usize]) -> Vec<LeafSums> {
        let (derivatives, reduce) = (self.input.leaves, self.engine.setup.reduce);
        let largest = derivatives.largest(self.input.rows, reduce);
        let [grad_scale, hess_scale] = largest.map(|largest| WideScale::new(largest, self.root.whole.count as usize));
        let (nodes, partition) = (&self.nodes, &self.partition);
        let ranges: Vec<Range<usize>> = leaves.iter().map(|leaf| nodes[*leaf].rows.clone()).collect();
        let own: Vec<[i64; 2]> = ranges
            .into_par_iter()
            .map(|range| {
                let rows = partition.rows(range);
                [grad_scale.sum(derivatives.grad, rows), hess_scale.sum(derivatives.hess, rows)]
            })
            .collect();
        let mut sums: Vec<u64> = own.as_flattened().iter().map(|sum| *sum as u64).collect();
        reduce.sum(&mut sums);
        let leaf = |[grad, hess]: &[u64; 2]| LeafSums {
            grad: grad_scale.value(*grad as i64),
            hess: hess_scale.value(*hess as i64),
        };
        sums.as_chunks().0.iter().map(leaf).collect()
    }

    fn finish(mut self: Box<Self>, leaves: &[usize]) -> PhaseTimes {
        let open: Vec<usize> = (0..self.nodes.len()).collect();
        self.close(&open);
        let Self { engine, input, nodes, partition, fixed, sides, times, .. } = *self;
        let mut leaf_rows = Vec::with_capacity(leaves.len());
        for (leaf, id) in leaves.iter().enumerate() {
            let mut stack = vec![*id];
            while let Some(node) = stack.pop() {
                match nodes[node].children {
                    Some(children) => stack.extend(children),
                    None => leaf_rows.push((leaf, nodes[node].rows.clone())),
                }
            }
        }
        engine.spare = Spare { packed: fixed.into_packed(), sides };
        let placed = &mut engine.placed[input.output];
        (placed.rows, placed.leaf_rows) = (partition.into_rows(), leaf_rows);
        placed.sample.clear();
        if input.rows.len() < engine.setup.data.n_rows() {
            placed.sample.extend_from_slice(input.rows);
        }
        times
    }
}

impl<H: Histograms> HostTree<'_, '_, H> {
    fn context(&self) -> TreeContext<'_> {
        TreeContext {
            judge: Judge::new(self.engine.setup.params, self.root.scales),
            fixed: &self.fixed,
            features: &self.features,
            directions: &self.engine.directions,
            reduce: self.engine.setup.reduce,
        }
    }

    fn scan_group<'s>(
        &'s self,
        nodes: impl Iterator<Item = usize>,
        features: Option<&'s [usize]>,
    ) -> ScanGroup<'s, H::Histogram> {
        let nodes = self.with_rows(nodes).map(|id| {
            let HostNode { whole, bounds, histogram, .. } = &self.nodes[id];
            ScanNode { histogram: histogram.as_ref(), rows: self.rows(id), whole: *whole, bounds: *bounds }
        });
        ScanGroup { nodes: nodes.collect(), features: features.unwrap_or(&self.features) }
    }

    /// The nodes of a group that have any rows. Others have no say in its split.
    fn with_rows(&self, nodes: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        nodes.filter(|node| self.nodes[*node].whole.count > 0)
    }

    fn rows(&self, node: usize) -> &[u32] {
        self.partition.rows(self.nodes[node].rows.clone())
    }

    fn take_waiting(&mut self, nodes: &[usize]) -> Waiting<H::Search> {
        self.waiting[nodes[0]].take().expect("a group is proposed first")
    }

    /// The sums of the rows that go left, by node; the rows have been moved.
    fn left_sums(&self, groups: &[Waiting<H::Search>]) -> Vec<Sums> {
        let nodes = groups.iter().flat_map(|Waiting { nodes, split, sorted, .. }| {
            let sorted = sorted.as_ref().expect("a split is applied after it is confirmed");
            nodes.iter().zip(sorted).map(move |(node, sorted)| (&self.nodes[*node], split, sorted))
        });
        let nodes: Vec<(&HostNode<H::Histogram>, &Split, &SortedNode)> = nodes.collect();
        // Without a histogram only the rows tell.
        let is_unknown = |node: &HostNode<H::Histogram>, sorted: &SortedNode| {
            node.histogram.is_none() && !sorted.counts.contains(&0)
        };
        let unknown: Vec<Range<usize>> = nodes
            .iter()
            .filter(|(node, _, sorted)| is_unknown(node, sorted))
            .map(|(node, _, sorted)| node.rows.start..sorted.sorted.middle())
            .collect();
        let of_rows = |range: Range<usize>| {
            let rows = self.partition.rows(range).iter();
            rows.fold(0u64, |sum, row| sum.wrapping_add(self.fixed.packed()[*row as usize]))
        };
        let mut sums: Vec<u64> = unknown.into_par_iter().map(of_rows).collect();
        if !sums.is_empty() {
            self.engine.setup.reduce.sum(&mut sums);
        }
        let mut sums = sums.into_iter().map(Sums::unpack);
        let left = |(node, split, sorted): &(&HostNode<H::Histogram>, &Split, &SortedNode)| match &node.histogram {
            _ if sorted.counts[0] == 0 => Sums::default(),
            _ if sorted.counts[1] == 0 => node.whole.sums,
            Some(histogram) => self.engine.histograms.left_sums(histogram, split),
            None => sums.next().expect("there is one for each"),
        };
        nodes.iter().map(left).collect()
    }

    /// Adds the two children of a node whose rows were moved, given the sums of those that went left.
    fn divide(&mut self, parent: usize, SortedNode { sorted, counts }: &SortedNode, left_sums: Sums) -> [Side; 2] {
        let HostNode { rows, whole, .. } = &self.nodes[parent];
        let left = Side { sums: left_sums, count: counts[0] };
        let right = Side { sums: whole.sums - left_sums, count: counts[1] };
        let (rows, middle) = (rows.clone(), sorted.middle());
        let children = [self.nodes.len(), self.nodes.len() + 1];
        self.nodes.push(HostNode::new(rows.start..middle, left));
        self.nodes.push(HostNode::new(middle..rows.end, right));
        self.nodes[parent].children = Some(children);
        self.waiting.extend([None, None]);
        self.families.push(Family { parent, children });
        [left, right]
    }
}
