//! The expand loop: take from the queue, confirm or apply splits, propose those of the children, put into the queue.
//!
//! The loop decides from sums and counts alone; rows, bins and histograms stay behind [`Engine`].

mod finish;

use std::time::Duration;

use rankwise_data::{BinnedDataset, Draw};
use rankwise_model::Tree;

use crate::awake::with_awake_threads;
use crate::bounds::Bounds;
use crate::context::Judge;
use crate::engine::{Derivatives, Engine, Group, GroupNode, GroupSplit, OpenTree, TreeInput};
use crate::fast::FastHistograms;
use crate::growth::NodeIds;
use crate::host::{EngineSetup, HostEngine};
use crate::plain::PlainHistograms;
use crate::scan::{Side, Split};
use crate::{EngineKind, Growth, TreeParams, node_features};

/// What one tree is grown from.
#[derive(Clone, Copy, Debug)]
pub struct GrowInput<'a> {
    /// The number of the tree, which its random draws depend on.
    pub tree: u32,
    /// The output that the tree is for.
    pub output: usize,
    /// Maximum number of leaves.
    pub num_leaves: usize,
    /// The derivatives that decide the splits.
    pub structure: Derivatives<'a>,
    /// The derivatives that decide the leaf values.
    pub leaves: Derivatives<'a>,
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

/// A tree that was just grown.
#[derive(Clone, Debug)]
pub struct GrownTree {
    /// The tree; it names features by their index in the binned data.
    pub tree: Tree,
    /// How many rows of all members it was grown from.
    pub n_rows: u64,
    /// Where the time went.
    pub times: PhaseTimes,
}

/// Grows trees over one dataset.
pub struct Grower<'a> {
    data: &'a BinnedDataset,
    params: &'a TreeParams,
    engine: Box<dyn Engine + 'a>,
    directions: Vec<i8>,
    seed: u64,
}

impl<'a> Grower<'a> {
    /// A grower with the engine that the parameters ask for.
    pub fn new(setup: EngineSetup<'a>, seed: u64) -> Self {
        let EngineSetup { data, params, simd, .. } = setup;
        let engine: Box<dyn Engine + 'a> = if params.engine == EngineKind::Plain || params.grow == Growth::Oblivious {
            Box::new(HostEngine::new(setup, PlainHistograms::new(data)))
        } else {
            Box::new(HostEngine::new(setup, FastHistograms::new(data, simd)))
        };
        Self::with_engine(setup, engine, seed)
    }

    /// A grower with another engine, which must have been made from the same setup.
    pub fn with_engine(setup: EngineSetup<'a>, engine: Box<dyn Engine + 'a>, seed: u64) -> Self {
        let EngineSetup { data, params, .. } = setup;
        let directions = data.feature_ids().iter().map(|id| params.monotone_constraints.direction(*id)).collect();
        Self { data, params, engine, directions, seed }
    }

    /// Grows one tree. Without a worthwhile split, it is a single leaf.
    pub fn grow(&mut self, input: &GrowInput<'_>) -> GrownTree {
        let fraction = self.params.feature_fraction;
        let features = node_features::of_tree(self.data.feature_ids(), fraction, self.seed, input.tree);
        with_awake_threads(|| {
            let &GrowInput { output, structure, leaves, rows, .. } = input;
            let open = self.engine.begin(TreeInput { output, structure, leaves, rows, features: &features });
            let root = open.root();
            let mut growing = Growing {
                nodes: vec![Node { whole: root.whole, depth: 0, bounds: Bounds::FREE, division: None }],
                judge: Judge::new(self.params, root.scales),
                leaf_limit: self.params.leaf_limit(input.num_leaves),
                data: self.data,
                params: self.params,
                directions: &self.directions,
                features: &features,
                seed: self.seed,
                input,
                open,
            };
            growing.expand();
            growing.finish()
        })
    }

    /// Adds the values of the tree that was last grown for an output to the scores of all rows. It may have been scaled since.
    pub fn add_grown(&self, output: usize, tree: &Tree, scores: &mut [f64]) {
        self.engine.add_grown(output, tree, scores);
    }

    /// Adds a multiple of any tree that was grown here to the scores of all rows.
    pub fn add_tree(&self, tree: &Tree, factor: f64, scores: &mut [f64]) {
        self.engine.add_tree(tree, factor, scores);
    }
}

/// Nodes that could be split now, and how.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) nodes: NodeIds,
    pub(crate) depth: usize,
    pub(crate) split: Split,
    /// Whether the split is known to be allowed.
    pub(crate) is_sure: bool,
}

impl Candidate {
    fn group_split(&self) -> GroupSplit<'_> {
        GroupSplit { nodes: &self.nodes, split: self.split }
    }
}

#[derive(Clone, Debug)]
struct Node {
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

/// A tree under way.
struct Growing<'a, 'e> {
    open: Box<dyn OpenTree + 'e>,
    data: &'a BinnedDataset,
    params: &'a TreeParams,
    directions: &'a [i8],
    features: &'a [usize],
    seed: u64,
    input: &'a GrowInput<'a>,
    judge: Judge<'a>,
    leaf_limit: usize,
    nodes: Vec<Node>,
}

impl Growing<'_, '_> {
    fn expand(&mut self) {
        let width = self.open.width();
        let mut queue = if self.features.is_empty() { Vec::new() } else { self.propose(vec![0]) };
        loop {
            let room = self.leaf_limit - self.n_leaves();
            let batch = self.params.grow.next(&mut queue, room, width.applied);
            if batch.is_empty() {
                break;
            }
            if batch.iter().all(|candidate| candidate.is_sure) {
                let children = self.apply(&batch);
                let has_room = self.params.grow.has_room(self.n_leaves(), self.leaf_limit);
                queue.extend(self.propose(if has_room { children } else { Vec::new() }));
            } else {
                // What turns out not to be what it seemed waits for its turn again.
                let ahead = self.params.grow.next_unsure(&mut queue, width.confirmed.min(room) - 1);
                queue.extend(self.confirm(batch.into_iter().chain(ahead)));
            }
        }
    }

    fn n_leaves(&self) -> usize {
        self.nodes.len().div_ceil(2)
    }

    fn may_be_split(&self, node: usize) -> bool {
        let node = &self.nodes[node];
        // Nodes that share a question are looked at together, however small each of them is.
        let has_rows = self.judge.allows_empty_sides
            || node.whole.count as usize >= self.params.min_data_in_leaf.max(1).saturating_mul(2);
        has_rows && node.depth < self.params.depth_limit()
    }

    /// The best splits of new nodes, grouped as the policy says.
    fn propose(&mut self, nodes: Vec<usize>) -> Vec<Candidate> {
        let open: Vec<usize> = nodes.into_iter().filter(|node| self.may_be_split(*node)).collect();
        let groups: Vec<NodeIds> = self.params.grow.group(open).into_iter().filter(|group| !group.is_empty()).collect();
        let splits = self.open.propose(groups.iter().map(|nodes| self.group(nodes)).collect());
        let candidate = |(nodes, split): (NodeIds, Option<Split>)| {
            let depth = self.nodes[nodes[0]].depth;
            split.map(|split| Candidate { depth, nodes, split, is_sure: false })
        };
        groups.into_iter().zip(splits).filter_map(candidate).collect()
    }

    fn group(&self, nodes: &[usize]) -> Group {
        let fraction = self.params.feature_fraction_bynode;
        let key = (self.seed, self.input.tree, nodes[0] as u32);
        Group {
            nodes: nodes.iter().map(|id| GroupNode { id: *id, bounds: self.nodes[*id].bounds }).collect(),
            features: (fraction < 1.0)
                .then(|| node_features::of_node(self.features, self.data.feature_ids(), fraction, key)),
        }
    }

    /// Makes sure of candidates. Gives back what is left of all, each with the best split that is now known.
    fn confirm(&mut self, candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
        let (mut sure, unsure): (Vec<Candidate>, Vec<Candidate>) = candidates.partition(|candidate| candidate.is_sure);
        let splits = self.open.confirm(&unsure.iter().map(Candidate::group_split).collect::<Vec<_>>());
        for (candidate, split) in unsure.into_iter().zip(splits) {
            let is_sure = split == Some(candidate.split);
            sure.extend(split.map(|split| Candidate { split, is_sure, ..candidate }));
        }
        sure
    }

    /// Makes the splits of candidates that are sure. Gives the new nodes.
    fn apply(&mut self, batch: &[Candidate]) -> Vec<usize> {
        let first = self.nodes.len();
        let sides = self.open.apply(&batch.iter().map(Candidate::group_split).collect::<Vec<_>>());
        let parents = batch.iter().flat_map(|candidate| candidate.nodes.iter().map(|node| (*node, candidate.split)));
        for ((parent, split), sides) in parents.zip(sides) {
            self.add_children(parent, &split, sides);
        }
        (first..self.nodes.len()).collect()
    }

    fn add_children(&mut self, parent: usize, split: &Split, [left, right]: [Side; 2]) {
        let Node { whole, depth, bounds, .. } = self.nodes[parent];
        let direction = self.directions[split.feature];
        let (left_bounds, right_bounds) = if left.count == 0 || right.count == 0 {
            // The question does not tell the rows apart here: neither side may cross the value they all have.
            let value = self.judge.value(whole, bounds);
            bounds.split(direction, value, value)
        } else {
            bounds.split(direction, self.judge.value(left, bounds), self.judge.value(right, bounds))
        };
        let children = [self.nodes.len(), self.nodes.len() + 1];
        // Where nodes share a question, each records what it gains itself.
        let gain =
            if self.judge.allows_empty_sides { self.judge.own_gain(left, right, whole, bounds) } else { split.gain };
        self.nodes[parent].division = Some(Division { split: Split { gain, ..*split }, children });
        for (whole, bounds) in [(left, left_bounds), (right, right_bounds)] {
            self.nodes.push(Node { whole, depth: depth + 1, bounds, division: None });
        }
    }
}

#[cfg(test)]
mod tests;
