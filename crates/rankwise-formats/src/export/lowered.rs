//! A model in the form of a target.
//!
//! Our `f32` models round a value, with infinite values clamped to the largest f32, and then compare it. Targets do not
//! round, so the threshold changes instead: for f64 values to the largest one that rounds to the threshold, for f32
//! values to the f32 at or below it. A split that sends all values to one side becomes a test for missing values, or is
//! removed.

use rankwise_model::{Child, Model, Output, Precision, Tree, floor_f32, last_rounded_to};

use super::{ExportError, ExportOptions, Target};

/// Without this limit, a typing error could make a target with columns write gigabytes.
pub(crate) const LAST_FEATURE: u32 = 999_999;

/// The type in which a target compares values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    F32,
    F64,
}

/// A split with its children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    /// The id of the feature.
    pub(crate) feature: u32,
    pub(crate) question: Question,
    pub(crate) missing_left: bool,
    /// An index into the list of nodes.
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) gain: f64,
    pub(crate) count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Question {
    /// Values up to this go left. For f32 targets it is an f32.
    AtMost(f64),
    /// All values go left; missing ones go right.
    IsThere,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Node {
    Split(Split),
    Leaf { value: f64, count: u64 },
}

/// A model with at least one tree. The root of a tree is node 0; parents come before their children.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lowered {
    pub(crate) base_score: f64,
    pub(crate) trees: Vec<Vec<Node>>,
    /// The requested number of columns.
    n_columns: Option<u32>,
    /// The ids of the model's features, ascending.
    pub(crate) features: Vec<u32>,
}

impl Lowered {
    pub(crate) fn new(model: &Model, target: Target, options: &ExportOptions) -> Result<Self, ExportError> {
        let ensemble = model.tree_ensemble()?;
        if *ensemble.output() != Output::Sum {
            return Err(ExportError::Output { target, objective: model.objective().to_owned() });
        }
        let width = target.width();
        let has_nodes = ensemble.trees().iter().any(|tree| tree.n_nodes() > 0);
        if has_nodes && width == Width::F32 && model.precision() == Precision::F64 && !options.allow_rounding {
            return Err(ExportError::Rounding { target });
        }
        let mut trees: Vec<_> = ensemble.trees().iter().map(|tree| lower(tree, model, width)).collect();
        if trees.is_empty() {
            trees.push(vec![Node::Leaf { value: 0.0, count: 0 }]);
        }
        if target.misses_as_zero() && !options.missing_as_zero {
            check_missing(&trees, target)?;
        }
        if options.n_columns.is_some() && !target.has_columns() {
            return Err(ExportError::ColumnsUnused { target });
        }
        let (base_score, features) = (ensemble.base_score(), model.features().to_vec());
        Ok(Self { base_score, trees, n_columns: options.n_columns, features })
    }

    /// For targets without a base score: adds it to the leaves of the first tree. We add it first, too, so rounding is
    /// the same.
    pub(crate) fn with_folded_base(&self) -> Self {
        let mut folded = self.clone();
        for node in &mut folded.trees[0] {
            if let Node::Leaf { value, .. } = node {
                *value += self.base_score;
            }
        }
        folded.base_score = 0.0;
        folded
    }

    /// The requested number of columns, or one more than the largest feature, for targets with columns.
    pub(crate) fn n_columns(&self, target: Target) -> Result<usize, ExportError> {
        let last = self.check_features(target, 0)?;
        let needed = last.map_or(1, |last| last + 1);
        match self.n_columns {
            Some(given) if !(needed..=LAST_FEATURE + 1).contains(&given) => {
                Err(ExportError::Columns { given, needed, most: LAST_FEATURE + 1 })
            }
            given => Ok(given.unwrap_or(needed) as usize),
        }
    }

    /// Checks that all feature numbers are in the target's range; returns the largest.
    pub(crate) fn check_features(&self, target: Target, first: u32) -> Result<Option<u32>, ExportError> {
        match self.features.iter().find(|feature| !(first..=LAST_FEATURE).contains(feature)) {
            Some(feature) => Err(ExportError::Feature { target, feature: *feature, first, last: LAST_FEATURE }),
            None => Ok(self.features.last().copied()),
        }
    }
}

/// Which values a split separates.
enum Answer {
    AtMost(f64),
    AllLeft,
    AllRight,
}

fn answer(threshold: f64, precision: Precision, width: Width) -> Answer {
    const LARGEST: f64 = f32::MAX as f64;
    if (precision, width) == (Precision::F64, Width::F64) {
        return Answer::AtMost(threshold);
    }
    // f64 models get here only if rounding is allowed. Infinite values are then clamped, as in our f32 models.
    if threshold >= LARGEST {
        Answer::AllLeft
    } else if threshold < -LARGEST {
        Answer::AllRight
    } else {
        let last = floor_f32(threshold);
        Answer::AtMost(if width == Width::F32 { last.into() } else { last_rounded_to(last) })
    }
}

fn lower(tree: &Tree, model: &Model, width: Width) -> Vec<Node> {
    let parts = tree.parts();
    let mut nodes: Vec<Node> = Vec::with_capacity(2 * tree.n_leaves());
    let root = if tree.n_nodes() == 0 { Child::Leaf(0) } else { Child::Node(0) };
    // A child to write, and the edge that leads there: the parent, and whether this is its right child.
    let mut open: Vec<(Child, Option<(usize, bool)>)> = vec![(root, None)];
    while let Some((child, edge)) = open.pop() {
        let place = nodes.len();
        match child {
            Child::Leaf(leaf) => {
                nodes.push(Node::Leaf { value: parts.leaf_value[leaf], count: parts.leaf_count[leaf] });
            }
            Child::Node(node) => {
                let (left, right) = (Child::decode(parts.left[node]), Child::decode(parts.right[node]));
                let missing_left = parts.missing_left[node];
                let (question, missing_left, left, right) =
                    match (answer(parts.threshold[node], model.precision(), width), missing_left) {
                        (Answer::AtMost(last), _) => (Question::AtMost(last), missing_left, left, right),
                        (Answer::AllLeft, false) => (Question::IsThere, false, left, right),
                        (Answer::AllRight, true) => (Question::IsThere, false, right, left),
                        (Answer::AllLeft, true) => {
                            open.push((left, edge));
                            continue;
                        }
                        (Answer::AllRight, false) => {
                            open.push((right, edge));
                            continue;
                        }
                    };
                let feature = model.features()[parts.feature[node] as usize];
                let (gain, count) = (parts.gain[node], parts.count[node]);
                nodes.push(Node::Split(Split { feature, question, missing_left, left: 0, right: 0, gain, count }));
                open.push((right, Some((place, true))));
                open.push((left, Some((place, false))));
            }
        }
        if let Some((parent, is_right)) = edge
            && let Node::Split(split) = &mut nodes[parent]
        {
            *(if is_right { &mut split.right } else { &mut split.left }) = place;
        }
    }
    nodes
}

/// Checks that missing values go to the same side as 0.
fn check_missing(trees: &[Vec<Node>], target: Target) -> Result<(), ExportError> {
    for (tree, nodes) in trees.iter().enumerate() {
        for node in nodes {
            let Node::Split(split) = node else { continue };
            let zero_left = match split.question {
                Question::AtMost(last) => 0.0 <= last,
                Question::IsThere => true,
            };
            if zero_left != split.missing_left {
                return Err(ExportError::Missing { target, tree, feature: split.feature });
            }
        }
    }
    Ok(())
}
