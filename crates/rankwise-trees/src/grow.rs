//! The expand loop: take from the queue, partition, build histograms, find splits, put into the queue.

mod apply;
mod finish;
mod queue;

use std::ops::Range;
use std::time::{Duration, Instant};

use rankwise_data::{BinnedDataset, Draw, SimdLevel};

pub use self::apply::add_multiple;
pub use self::finish::GrownTree;
use crate::awake::with_awake_threads;
use crate::bounds::Bounds;
use crate::context::TreeContext;
use crate::engine::{Engine, Parent};
use crate::fast::FastEngine;
use crate::partition::{Partition, Sides, Sorted};
use crate::plain::PlainEngine;
use crate::scan::{Side, Split};
use crate::{EngineKind, FixedPoint, Growth, TreeParams, node_features};

/// What one tree is grown from.
#[derive(Clone, Copy, Debug)]
pub struct GrowInput<'a> {
    /// The number of the tree, which its random draws depend on.
    pub tree: u32,
    /// Most leaves.
    pub num_leaves: usize,
    /// First derivatives by row, when splits are searched.
    pub structure_grad: &'a [f32],
    /// First derivatives by row, in the leaves.
    pub leaf_grad: &'a [f32],
    /// What divides them when splits are searched: second derivatives, or weights.
    pub structure_hess: &'a [f32],
    /// What divides them in the leaves.
    pub leaf_hess: &'a [f32],
    /// The rows that count, ascending.
    pub rows: &'a [u32],
    /// What leaf values are multiplied by.
    pub learning_rate: f64,
    /// Noise on the leaves.
    pub leaf_noise: Option<LeafNoise>,
}

/// Normal noise on the sum of first derivatives in each leaf, of the given scale times the root of what divides the sum.
#[derive(Clone, Copy, Debug)]
pub struct LeafNoise {
    /// The scale.
    pub scale: f64,
    /// Where the numbers come from; leaves are told apart by their place in the tree.
    pub draw: Draw,
}

/// Wall time by phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseTimes {
    /// Summing histograms.
    pub histograms: Duration,
    /// Searching splits.
    pub splits: Duration,
    /// Sorting rows into children.
    pub partition: Duration,
}

/// Grows trees over one data set.
pub struct Grower<'a> {
    data: &'a BinnedDataset,
    params: &'a TreeParams,
    engine: EngineChoice<'a>,
    directions: Vec<i8>,
    seed: u64,
    simd: SimdLevel,
    n_cores: usize,
}

enum EngineChoice<'a> {
    Plain(PlainEngine<'a>),
    Fast(FastEngine<'a>),
}

impl<'a> Grower<'a> {
    /// A grower over the data.
    pub fn new(data: &'a BinnedDataset, params: &'a TreeParams, seed: u64, simd: SimdLevel) -> Self {
        let directions = data.feature_ids().iter().map(|id| params.monotone_constraints.direction(*id)).collect();
        let engine = if params.engine == EngineKind::Plain || params.grow == Growth::Oblivious {
            EngineChoice::Plain(PlainEngine::new(data))
        } else {
            EngineChoice::Fast(FastEngine::new(data, simd))
        };
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { data, params, engine, directions, seed, simd, n_cores }
    }

    /// Grows one tree. Without a worthwhile split, it is a single leaf.
    pub fn grow(&self, input: &GrowInput<'_>) -> GrownTree {
        with_awake_threads(|| match &self.engine {
            EngineChoice::Plain(engine) => self.grow_with(engine, input),
            EngineChoice::Fast(engine) => self.grow_with(engine, input),
        })
    }

    fn grow_with<E: Engine>(&self, engine: &E, input: &GrowInput<'_>) -> GrownTree {
        let fixed = FixedPoint::new(input.structure_grad, input.structure_hess, input.rows);
        let fraction = self.params.feature_fraction;
        let features = node_features::of_tree(self.data.feature_ids(), fraction, self.seed, input.tree);
        let context = TreeContext::new(&fixed, self.params, &self.directions, features);
        let mut growing = Growing::new(self, engine, context, input);
        let mut queue = growing.start();
        loop {
            let room = growing.leaf_limit - growing.n_leaves();
            let batch = self.params.grow.next(&mut queue, (room, growing.n_kept / 4));
            if batch.is_empty() {
                break;
            }
            if batch.iter().all(Candidate::is_sure) {
                let families = growing.divide(batch);
                growing.build_histograms(&families);
                let children = families.iter().flat_map(|family| family.children).collect();
                queue.extend(growing.candidates(children));
            } else {
                // What turns out not to be what it seemed waits for its turn again.
                let ahead = self.params.grow.next_unsure(&mut queue, growing.n_threads.min(room) - 1);
                queue.extend(growing.confirm(batch.into_iter().chain(ahead)));
            }
            growing.drop_histograms(&queue);
        }
        growing.finish(input)
    }
}

/// How many histograms may wait: as many as there is memory for, but enough for a batch of a few nodes.
fn n_kept(params: &TreeParams, histogram_bytes: usize) -> usize {
    if params.histogram_pool_mb < 0.0 {
        return usize::MAX;
    }
    (params.histogram_pool_mb * 1e6 / histogram_bytes.max(1) as f64).max(8.0) as usize
}

/// Nodes that could be split now, and how.
#[derive(Debug)]
pub(crate) struct Candidate<S> {
    pub(crate) nodes: Vec<usize>,
    pub(crate) depth: usize,
    pub(crate) split: Split,
    /// What the engine needs to make sure of the split.
    search: S,
    /// By node, where its rows will go, once it is sure that the split is allowed.
    sorted: Option<Vec<Sorted>>,
}

impl<S> Candidate<S> {
    pub(crate) fn is_sure(&self) -> bool {
        self.sorted.is_some()
    }
}

#[derive(Clone, Debug)]
struct Node {
    rows: Range<usize>,
    whole: Side,
    depth: usize,
    bounds: Bounds,
    division: Option<Division>,
}

#[derive(Clone, Copy, Debug)]
struct Division {
    split: Split,
    children: [usize; 2],
}

/// A node that was just divided.
#[derive(Clone, Copy, Debug)]
struct Family {
    parent: usize,
    children: [usize; 2],
}

/// A tree under way.
struct Growing<'a, E: Engine> {
    grower: &'a Grower<'a>,
    engine: &'a E,
    context: TreeContext<'a>,
    tree: u32,
    leaf_limit: usize,
    partition: Partition,
    sides: Sides,
    nodes: Vec<Node>,
    /// By node; only nodes that may still be split have one.
    histograms: Vec<Option<E::Histogram>>,
    /// How many histograms may wait.
    n_kept: usize,
    /// How many candidates are looked at together.
    n_threads: usize,
    times: PhaseTimes,
}

impl<'a, E: Engine> Growing<'a, E> {
    fn new(grower: &'a Grower<'a>, engine: &'a E, context: TreeContext<'a>, input: &GrowInput<'_>) -> Self {
        let root = Node {
            rows: 0..input.rows.len(),
            whole: Side { sums: context.fixed.sum(input.rows), count: input.rows.len() as u32 },
            depth: 0,
            bounds: Bounds::FREE,
            division: None,
        };
        Self {
            grower,
            engine,
            context,
            tree: input.tree,
            leaf_limit: grower.params.leaf_limit(input.num_leaves),
            partition: Partition::new(input.rows.to_vec()),
            sides: Sides::new(input.rows.len()),
            nodes: vec![root],
            histograms: vec![None],
            n_kept: n_kept(grower.params, engine.histogram_bytes()),
            n_threads: rayon::current_num_threads().min(grower.n_cores),
            times: PhaseTimes::default(),
        }
    }

    /// The candidates for the first split.
    fn start(&mut self) -> Vec<Candidate<E::Search>> {
        if self.context.features.is_empty() || !self.may_be_split(0) {
            return Vec::new();
        }
        let started = Instant::now();
        let rows = self.partition.rows(self.nodes[0].rows.clone());
        self.histograms[0] = Some(self.engine.histogram_of(&self.context, rows, self.nodes[0].whole.sums));
        self.times.histograms += started.elapsed();
        self.candidates(vec![0])
    }

    fn n_leaves(&self) -> usize {
        self.nodes.len().div_ceil(2)
    }

    fn may_be_split(&self, node: usize) -> bool {
        let node = &self.nodes[node];
        // Nodes that share a question are looked at together, however small each of them is.
        let has_rows = self.context.allows_empty_sides
            || node.whole.count as usize >= self.grower.params.min_data_in_leaf.max(1).saturating_mul(2);
        has_rows && node.depth < self.grower.params.depth_limit()
    }

    /// Makes the splits of candidates that are sure.
    fn divide(&mut self, batch: Vec<Candidate<E::Search>>) -> Vec<Family> {
        for candidate in &batch {
            self.restore_histograms(&candidate.nodes);
        }
        let started = Instant::now();
        let mut families = Vec::new();
        for Candidate { nodes, split, sorted, .. } in batch {
            for (parent, sorted) in nodes.into_iter().zip(sorted.into_iter().flatten()) {
                self.partition.apply(&sorted, &self.sides);
                let children = self.add_children(parent, &split, sorted.middle());
                families.push(Family { parent, children });
            }
        }
        self.times.partition += started.elapsed();
        families
    }

    fn add_children(&mut self, parent: usize, split: &Split, middle: usize) -> [usize; 2] {
        let Node { rows, whole, depth, bounds, .. } = self.nodes[parent].clone();
        let histogram = self.histograms[parent].as_ref().expect("a candidate has a histogram");
        let left_sums = self.engine.left_sums(histogram, split);
        let left = Side { sums: left_sums, count: (middle - rows.start) as u32 };
        let right = Side { sums: whole.sums - left_sums, count: (rows.end - middle) as u32 };
        let direction = self.grower.directions[split.feature];
        let (left_bounds, right_bounds) = if left.count == 0 || right.count == 0 {
            // The question does not tell the rows apart here: neither side may cross the value they all have.
            let value = self.context.value(whole, bounds);
            bounds.split(direction, value, value)
        } else {
            bounds.split(direction, self.context.value(left, bounds), self.context.value(right, bounds))
        };
        let children = [self.nodes.len(), self.nodes.len() + 1];
        // Where nodes share a question, each records what it gains itself.
        let gain = if self.context.allows_empty_sides {
            self.context.own_gain(left, right, (whole, bounds))
        } else {
            split.gain
        };
        self.nodes[parent].division = Some(Division { split: Split { gain, ..*split }, children });
        for (rows, whole, bounds) in [(rows.start..middle, left, left_bounds), (middle..rows.end, right, right_bounds)]
        {
            self.nodes.push(Node { rows, whole, depth: depth + 1, bounds, division: None });
            self.histograms.push(None);
        }
        children
    }

    /// Gives the children that may still be split their histograms.
    fn build_histograms(&mut self, families: &[Family]) {
        let started = Instant::now();
        let has_room = self.grower.params.grow.has_room(self.n_leaves(), self.leaf_limit);
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        let mut parents = Vec::new();
        for family in families {
            let [left, right] = family.children;
            let is_left_smaller = self.nodes[left].whole.count <= self.nodes[right].whole.count;
            let (small, large) = if is_left_smaller { (left, right) } else { (right, left) };
            let histogram = self.histograms[family.parent].take().expect("a parent keeps its histogram until here");
            // The larger one may be split whenever the smaller one may.
            if has_room && self.may_be_split(large) {
                wanted.push((small, large));
                parents.push(Parent {
                    histogram,
                    small_rows: self.partition.rows(self.nodes[small].rows.clone()),
                    small: self.may_be_split(small).then_some(self.nodes[small].whole.sums),
                    large: self.nodes[large].whole.sums,
                });
            } else {
                self.engine.recycle(histogram);
            }
        }
        let built = self.engine.children(&self.context, parents);
        for ((small, large), (of_small, of_large)) in wanted.into_iter().zip(built) {
            self.histograms[large] = Some(of_large);
            self.histograms[small] = of_small;
        }
        self.times.histograms += started.elapsed();
    }
}

#[cfg(test)]
mod tests;
