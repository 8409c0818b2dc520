//! The expand loop: take from the queue, confirm or apply splits, propose those of the children, put into the queue.
//!
//! The loop decides from sums and counts alone; rows, bins and histograms stay behind [`Engine`].

mod finish;

use std::time::Duration;

use rankwise_data::{BinnedDataset, Draw};
use rankwise_model::Tree;
use smallvec::SmallVec;

use crate::awake::with_awake_threads;
use crate::bounds::Bounds;
use crate::context::Judge;
use crate::engine::{Derivatives, Engine, Group, GroupNode, GroupSplit, OpenTree, TreeInput, Width};
use crate::fast::FastHistograms;
use crate::growth::{NodeIds, by_gain};
use crate::host::{EngineSetup, HostEngine};
use crate::plain::PlainHistograms;
use crate::scan::{Side, Split};
use crate::{EngineKind, Growth, TreeParams, node_features};

/// Rows times features below which several threads take longer than one: waking them costs more than they do.
const MIN_CELLS: usize = if cfg!(test) { 1 } else { 600_000 };

/// Whether several threads grow trees from so many rows and features faster than one does.
pub fn is_worth_threads(n_rows: usize, n_features: usize) -> bool {
    n_rows * n_features >= MIN_CELLS
}

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
    /// The smallest gain of a split in the last tree that had more to split; 0 where it had not.
    last_cutoff: Option<f64>,
    n_members: usize,
    /// A pool for small trees.
    one_thread: Option<rayon::ThreadPool>,
}

impl<'a> Grower<'a> {
    /// A grower with the engine that the parameters ask for.
    pub fn new(setup: EngineSetup<'a>, seed: u64) -> Self {
        let EngineSetup { data, params, simd, reduce } = setup;
        let engine: Box<dyn Engine + 'a> = if params.engine == EngineKind::Plain {
            Box::new(HostEngine::new(setup, PlainHistograms::new(data)))
        } else {
            // Members see parts of the rows, and cannot tell alone what all of them rule out.
            let min_data = if reduce.n_members() == 1 { params.min_data_in_leaf } else { 0 };
            Box::new(HostEngine::new(setup, FastHistograms::new(data, simd, min_data)))
        };
        Self::with_engine(setup, engine, seed)
    }

    /// A grower with another engine, which must have been made from the same setup.
    pub fn with_engine(setup: EngineSetup<'a>, engine: Box<dyn Engine + 'a>, seed: u64) -> Self {
        let EngineSetup { data, params, reduce, .. } = setup;
        let n_members = reduce.n_members();
        let directions = data.feature_ids().iter().map(|id| params.monotone_constraints.direction(*id)).collect();
        Self { data, params, engine, directions, seed, last_cutoff: None, n_members, one_thread: None }
    }

    /// Grows one tree. Without a worthwhile split, it is a single leaf.
    pub fn grow(&mut self, input: &GrowInput<'_>) -> GrownTree {
        // Members of a group may differ in size, but must do the same things together.
        let is_small = !is_worth_threads(input.rows.len(), self.data.n_features()) && self.n_members == 1;
        if is_small && rayon::current_num_threads() > 1 {
            self.grow_on_one_thread(input)
        } else {
            self.grow_here(input)
        }
    }

    fn grow_here(&mut self, input: &GrowInput<'_>) -> GrownTree {
        let fraction = self.params.feature_fraction;
        let features = node_features::of_tree(self.data.feature_ids(), fraction, self.seed, input.tree);
        with_awake_threads(|| {
            let &GrowInput { output, structure, leaves, rows, .. } = input;
            let open = self.engine.begin(TreeInput { output, structure, leaves, rows, features: &features });
            let root = open.root();
            let mut growing = Growing {
                nodes: vec![Node { whole: root.whole, depth: 0, age: 0, bounds: Bounds::FREE, division: None }],
                n_joined: 1,
                judge: Judge::new(self.params, root.scales),
                leaf_limit: self.params.leaf_limit(input.num_leaves),
                data: self.data,
                params: self.params,
                directions: &self.directions,
                features: &features,
                seed: self.seed,
                input,
                cutoff: self.last_cutoff,
                open,
            };
            self.last_cutoff = Some(growing.expand());
            growing.finish()
        })
    }

    /// Grows a tree that is not worth several threads.
    fn grow_on_one_thread(&mut self, input: &GrowInput<'_>) -> GrownTree {
        let pool = self.one_thread.take().or_else(|| rayon::ThreadPoolBuilder::new().num_threads(1).build().ok());
        // Without another thread, those of the caller must do.
        let Some(pool) = pool else { return self.grow_here(input) };
        let grown = pool.install(|| self.grow_here(input));
        self.one_thread = Some(pool);
        grown
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
    /// When the first of the nodes joined the tree; the older one wins a tie.
    pub(crate) age: usize,
    pub(crate) depth: usize,
    pub(crate) split: Split,
    pub(crate) stage: Stage,
}

/// How far the split of a candidate is prepared.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// Its gain may be too large.
    Proposed,
    /// It is known to be allowed.
    Confirmed,
    /// The engine has applied it. It is not part of the tree before its turn comes.
    Applied(Applied),
}

/// What follows from a split.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// By node of the candidate.
    divisions: SmallVec<[Division; 1]>,
    /// How the children could be split.
    next: Vec<Candidate>,
}

impl Candidate {
    pub(crate) fn is_applied(&self) -> bool {
        matches!(self.stage, Stage::Applied(_))
    }

    fn group_split(&self) -> GroupSplit<'_> {
        GroupSplit { nodes: &self.nodes, split: self.split }
    }
}

#[derive(Clone, Debug)]
struct Node {
    whole: Side,
    depth: usize,
    /// When it joined the tree: the root is 0, children follow in the order of splits, left before right.
    age: usize,
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
    /// Splits with a gain below this are not expected to become part of the tree.
    cutoff: Option<f64>,
    /// By their number in the engine. Some may never join the tree.
    nodes: Vec<Node>,
    /// How many nodes the tree has.
    n_joined: usize,
}

impl Growing<'_, '_> {
    /// Grows the tree. Gives the smallest gain of its splits, or 0 if there was nothing left to split.
    fn expand(&mut self) -> f64 {
        let mut smallest = f64::INFINITY;
        let mut queue = if self.features.is_empty() { Vec::new() } else { self.propose(vec![0]) };
        loop {
            let room = self.leaf_limit - self.n_leaves();
            let batch = self.params.growth().next(&mut queue, room, self.open.width().applied);
            if batch.is_empty() {
                break;
            }
            if batch.iter().all(Candidate::is_applied) {
                for candidate in batch {
                    smallest = smallest.min(candidate.split.gain);
                    queue.extend(self.accept(candidate));
                }
                continue;
            }
            let n_needed = batch.len();
            let (n_ahead, least_gain) = self.ahead(room, batch[0].split.gain);
            let ahead = self.params.growth().next_ahead(&mut queue, n_ahead, least_gain);
            let (confirmed, rest) = self.confirm(batch.into_iter().chain(ahead));
            // A level is applied as a whole: what was refused may leave room for others.
            let is_settled = self.params.growth() == Growth::Leafwise || confirmed.len() == n_needed;
            queue.extend(rest);
            queue.extend(if is_settled && !confirmed.is_empty() { self.apply(confirmed) } else { confirmed });
        }
        if queue.is_empty() { 0.0 } else { smallest }
    }

    fn n_leaves(&self) -> usize {
        self.n_joined.div_ceil(2)
    }

    /// How many splits may be applied before their turn comes, and what they must gain. Most of the best candidates come to it sooner
    /// or later, and together they keep many threads busy; the last ones may not, and then the work is lost.
    fn ahead(&self, room: usize, best_gain: f64) -> (usize, f64) {
        let Width { ahead, applied } = self.open.width();
        // Which features a node may use depends on when it joins the tree.
        if ahead == 0 || self.params.feature_fraction_bynode < 1.0 {
            return (0, 0.0);
        }
        match self.cutoff {
            // What gained enough in the last tree will do so in this one, with few exceptions.
            Some(cutoff) if best_gain >= cutoff => (applied.min(room - 1), cutoff),
            _ => (ahead.min(applied).min(room / 2), 0.0),
        }
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
        let groups: Vec<NodeIds> =
            self.params.growth().group(open).into_iter().filter(|group| !group.is_empty()).collect();
        let splits = self.open.propose(groups.iter().map(|nodes| self.group(nodes)).collect());
        let candidate = |(nodes, split): (NodeIds, Option<Split>)| {
            let Node { age, depth, .. } = self.nodes[nodes[0]];
            split.map(|split| Candidate { age, depth, nodes, split, stage: Stage::Proposed })
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

    /// Confirms candidates that are only proposed. Gives those whose splits are known to be allowed, and others: candidates with
    /// another split than before, and those that were applied long ago.
    fn confirm(&mut self, candidates: impl Iterator<Item = Candidate>) -> (Vec<Candidate>, Vec<Candidate>) {
        let (mut confirmed, mut rest, mut proposed) = (Vec::new(), Vec::new(), Vec::new());
        for candidate in candidates {
            match candidate.stage {
                Stage::Proposed => proposed.push(candidate),
                Stage::Confirmed => confirmed.push(candidate),
                Stage::Applied(_) => rest.push(candidate),
            }
        }
        let splits = self.open.confirm(&proposed.iter().map(Candidate::group_split).collect::<Vec<_>>());
        for (candidate, split) in proposed.into_iter().zip(splits) {
            let Some(split) = split else { continue };
            if split == candidate.split {
                confirmed.push(Candidate { stage: Stage::Confirmed, ..candidate });
            } else {
                rest.push(Candidate { split, ..candidate });
            }
        }
        // Nodes are numbered in the order of splits, which must not depend on what was confirmed when.
        confirmed.sort_by(by_gain);
        (confirmed, rest)
    }

    /// Lets the engine apply confirmed splits, and propose splits for the children.
    fn apply(&mut self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let first = self.nodes.len();
        let sides = self.open.apply(&candidates.iter().map(Candidate::group_split).collect::<Vec<_>>());
        let mut sides = sides.into_iter();
        let divisions: Vec<SmallVec<[Division; 1]>> = candidates
            .iter()
            .map(|Candidate { nodes, split, .. }| {
                let divide = |(node, sides): (&usize, [Side; 2])| self.add_children(*node, split, sides);
                nodes.iter().zip(sides.by_ref()).map(divide).collect()
            })
            .collect();
        // Of candidates that are applied ahead of their turn, the first one alone is sure to become part of the tree.
        let n_sure =
            if self.params.growth() == Growth::Leafwise { 1 } else { divisions.iter().map(SmallVec::len).sum() };
        let has_room = self.params.growth().has_room(self.n_leaves() + n_sure, self.leaf_limit);
        let children = if has_room { (first..self.nodes.len()).collect() } else { Vec::new() };
        let mut next = self.propose(children).into_iter().peekable();
        let with_next = |(candidate, divisions): (Candidate, SmallVec<[Division; 1]>)| {
            let last = divisions.iter().map(|division| division.children[1]).max();
            let mut of_candidate = Vec::new();
            while let Some(child) = next.next_if(|child| Some(child.nodes[0]) <= last) {
                of_candidate.push(child);
            }
            Candidate { stage: Stage::Applied(Applied { divisions, next: of_candidate }), ..candidate }
        };
        candidates.into_iter().zip(divisions).map(with_next).collect()
    }

    /// Makes the split of a candidate part of the tree. Gives the candidates that follow.
    fn accept(&mut self, candidate: Candidate) -> Vec<Candidate> {
        let Stage::Applied(Applied { divisions, mut next }) = candidate.stage else { return vec![candidate] };
        for (parent, division) in candidate.nodes.into_iter().zip(divisions) {
            self.nodes[parent].division = Some(division);
            for child in division.children {
                self.nodes[child].age = self.n_joined;
                self.n_joined += 1;
            }
        }
        for next in &mut next {
            next.age = self.nodes[next.nodes[0]].age;
        }
        next
    }

    fn add_children(&mut self, parent: usize, split: &Split, [left, right]: [Side; 2]) -> Division {
        let Node { whole, depth, bounds, .. } = self.nodes[parent];
        let direction = self.directions[split.feature];
        let (left_bounds, right_bounds) = if left.count == 0 || right.count == 0 {
            // All rows go the same way: neither side may cross the value that they have.
            let value = self.judge.value(whole, bounds);
            bounds.split(direction, value, value)
        } else {
            bounds.split(direction, self.judge.value(left, bounds), self.judge.value(right, bounds))
        };
        let children = [self.nodes.len(), self.nodes.len() + 1];
        // Where nodes share a split, each records its own gain.
        let gain =
            if self.judge.allows_empty_sides { self.judge.own_gain(left, right, whole, bounds) } else { split.gain };
        for (whole, bounds) in [(left, left_bounds), (right, right_bounds)] {
            self.nodes.push(Node { whole, depth: depth + 1, age: 0, bounds, division: None });
        }
        Division { split: Split { gain, ..*split }, children }
    }
}

#[cfg(test)]
mod tests;
