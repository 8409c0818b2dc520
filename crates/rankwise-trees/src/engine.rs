//! The interface between the expand loop and whatever holds the data.
//!
//! An engine owns the rows of a tree, their gradients in fixed point, their bins and the histograms, wherever it keeps them. The
//! expand loop (`grow.rs`) sees only node numbers, splits, counts and sums. All methods take lists, so that an engine on a device
//! or across a network can process many nodes at once.
//!
//! ```text
//! begin -> root sums     propose(groups) -> splits     confirm(splits) -> splits
//!                        apply(splits) -> child sums   sum_leaves(nodes) -> sums    finish
//! ```
//!
//! Results are for the data of all members: an engine exchanges what it needs through [`rankwise_data::Reduce`]. The loop calls the
//! methods from one thread, with the same arguments in every member.
//!
//! [`crate::host`] has the engine for this machine's memory. Every engine must grow the same trees, bit for bit.

use rankwise_model::Tree;

use crate::Scales;
use crate::bounds::Bounds;
use crate::grow::PhaseTimes;
use crate::host::EngineSetup;
use crate::scan::{Side, Split};

/// First and second derivatives by row.
#[derive(Clone, Copy, Debug)]
pub struct Derivatives<'a> {
    /// First derivatives.
    pub grad: &'a [f32],
    /// What divides them: second derivatives, or weights.
    pub hess: &'a [f32],
}

/// What one tree is grown from.
#[derive(Clone, Copy, Debug)]
pub struct TreeInput<'a> {
    /// The output that the tree is for. Where the rows of an output's last tree ended is kept until the next one begins.
    pub output: usize,
    /// The derivatives that decide the splits.
    pub structure: Derivatives<'a>,
    /// The derivatives that decide the leaf values.
    pub leaves: Derivatives<'a>,
    /// The rows of this member that count, ascending.
    pub rows: &'a [u32],
    /// The features that the tree may use, ascending.
    pub features: &'a [usize],
}

/// The root of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    /// The rows of the tree.
    pub whole: Side,
    /// What sums stand for.
    pub scales: Scales,
}

/// How much an engine does at once. No tree depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// How many splits to apply ahead of their turn, beside the next one.
    pub ahead: usize,
    /// How many splits may be applied together.
    pub applied: usize,
}

/// Nodes that share a split: one node, or all of a level in oblivious trees.
#[derive(Clone, Debug)]
pub struct Group {
    /// The nodes.
    pub nodes: Vec<GroupNode>,
    /// The features it may be about, ascending; `None` where these are all of the tree.
    pub features: Option<Vec<usize>>,
}

/// A node of a group.
#[derive(Clone, Copy, Debug)]
pub struct GroupNode {
    /// Its number: the root is 0, and children are numbered in the order in which splits are applied, left before right.
    pub id: usize,
    /// The limits of the values of its leaves.
    pub bounds: Bounds,
}

/// A split for a group that was proposed before.
#[derive(Clone, Copy, Debug)]
pub struct GroupSplit<'a> {
    /// The nodes of the group.
    pub nodes: &'a [usize],
    /// The split.
    pub split: Split,
}

/// The derivatives of a leaf's rows, summed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafSums {
    /// First derivatives.
    pub grad: f64,
    /// What divides them.
    pub hess: f64,
}

/// Holds the data that trees are grown from.
pub trait Engine: Send {
    /// Begins a tree.
    fn begin<'t>(&'t mut self, input: TreeInput<'t>) -> Box<dyn OpenTree + 't>;

    /// Adds the leaf values of the tree that was last grown for an output to the scores of all rows, those outside its sample too.
    /// The tree may have been scaled since.
    fn add_grown(&self, output: usize, tree: &Tree, scores: &mut [f64]);

    /// Adds a multiple of any tree that was grown on these bins to the scores of all rows.
    fn add_tree(&self, tree: &Tree, factor: f64, scores: &mut [f64]);
}

/// Makes the engine that a run grows its trees with.
pub trait MakeEngine: Sync {
    /// An engine over this data.
    fn make<'d>(&self, setup: EngineSetup<'d>) -> Box<dyn Engine + 'd>;
}

/// A tree under way.
pub trait OpenTree {
    /// The root.
    fn root(&self) -> Root;

    /// How much to do at once.
    fn width(&self) -> Width;

    /// The best split of each group, if any is worth making. Children that are not among the groups will not be split. The gain may
    /// be too large, never too small, until [`OpenTree::confirm`] has made sure of it: most nodes never come that far.
    fn propose(&mut self, groups: Vec<Group>) -> Vec<Option<Split>>;

    /// The best split that is allowed for each group, given the best so far. If it is the same one, it can be applied; another one
    /// must be confirmed again. With `None` the group will not be split.
    fn confirm(&mut self, splits: &[GroupSplit<'_>]) -> Vec<Option<Split>>;

    /// Applies confirmed splits. Gives the two children of each node, in the order of groups and nodes. A split need not become part
    /// of the tree: the node may be a leaf in the end.
    fn apply(&mut self, splits: &[GroupSplit<'_>]) -> Vec<[Side; 2]>;

    /// The sums of the derivatives for leaf values, by leaf.
    fn sum_leaves(&mut self, leaves: &[usize]) -> Vec<LeafSums>;

    /// Ends the tree: these nodes are its leaves, in the order in which the tree has them. Says where the time went.
    fn finish(self: Box<Self>, leaves: &[usize]) -> PhaseTimes;
}
