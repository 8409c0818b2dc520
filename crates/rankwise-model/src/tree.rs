//! One decision tree.
//!
//! ```text
//! node:   0        left[0] = 1, right[0] = ~2      children below 0 are leaves: ~child is the leaf
//!        / \
//!       1   leaf 2
//!      / \
//! leaf 0  leaf 1
//! ```

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

/// The arrays of a tree, as in the file. [`Tree::new`] checks them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeParts {
    /// For each node, the index of its feature in the model's list.
    pub feature: Vec<u32>,
    /// Values up to this go left.
    pub threshold: Vec<f64>,
    /// Whether missing values go left.
    pub missing_left: Vec<bool>,
    /// The left child: a node, or `!leaf` (a negative number).
    pub left: Vec<i32>,
    /// The right child.
    pub right: Vec<i32>,
    /// How much the split improved the approximated objective on the training rows.
    pub gain: Vec<f64>,
    /// Training rows that reached the node.
    pub count: Vec<u64>,
    /// The value of a document in the leaf.
    pub leaf_value: Vec<f64>,
    /// Training rows in the leaf.
    pub leaf_count: Vec<u64>,
    /// What the training rows in the leaf weigh, if that is not their number, as in models of XGBoost; otherwise empty.
    #[serde(default)]
    pub leaf_cover: Vec<f64>,
}

/// Text leaves out an empty `leaf_cover`, which older readers do not know. Binary formats have no names, so they need every field.
impl Serialize for TreeParts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let has_covers = !self.leaf_cover.is_empty() || !serializer.is_human_readable();
        let mut parts = serializer.serialize_struct("TreeParts", 9 + usize::from(has_covers))?;
        parts.serialize_field("feature", &self.feature)?;
        parts.serialize_field("threshold", &self.threshold)?;
        parts.serialize_field("missing_left", &self.missing_left)?;
        parts.serialize_field("left", &self.left)?;
        parts.serialize_field("right", &self.right)?;
        parts.serialize_field("gain", &self.gain)?;
        parts.serialize_field("count", &self.count)?;
        parts.serialize_field("leaf_value", &self.leaf_value)?;
        parts.serialize_field("leaf_count", &self.leaf_count)?;
        if has_covers {
            parts.serialize_field("leaf_cover", &self.leaf_cover)?;
        }
        parts.end()
    }
}

/// The child of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// A node.
    Node(usize),
    /// A leaf.
    Leaf(usize),
}

impl Child {
    /// Decodes the form in the file.
    pub fn decode(code: i32) -> Self {
        if code < 0 { Self::Leaf(!code as usize) } else { Self::Node(code as usize) }
    }

    /// Encodes the form in the file.
    pub fn encode(self) -> i32 {
        match self {
            Self::Node(node) => node as i32,
            Self::Leaf(leaf) => !(leaf as i32),
        }
    }
}

/// A checked tree: every node and leaf is reached by exactly one path from the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TreeParts")]
pub struct Tree(TreeParts);

impl TryFrom<TreeParts> for Tree {
    type Error = String;

    fn try_from(parts: TreeParts) -> Result<Self, String> {
        Self::new(parts)
    }
}

impl Tree {
    /// Checks the arrays; the error says what is invalid.
    pub fn new(parts: TreeParts) -> Result<Self, String> {
        let n_nodes = parts.feature.len();
        let n_leaves = n_nodes + 1;
        let lengths = [
            ("threshold", parts.threshold.len(), n_nodes),
            ("missing_left", parts.missing_left.len(), n_nodes),
            ("left", parts.left.len(), n_nodes),
            ("right", parts.right.len(), n_nodes),
            ("gain", parts.gain.len(), n_nodes),
            ("count", parts.count.len(), n_nodes),
            ("leaf_value", parts.leaf_value.len(), n_leaves),
            ("leaf_count", parts.leaf_count.len(), n_leaves),
        ];
        if let Some((name, found, expected)) = lengths.iter().find(|(_, found, expected)| found != expected) {
            return Err(format!("{name} has {found} entries where {n_nodes} nodes need {expected}"));
        }
        for (name, numbers) in
            [("threshold", &parts.threshold), ("gain", &parts.gain), ("leaf_value", &parts.leaf_value)]
        {
            if let Some(idx) = numbers.iter().position(|number| !number.is_finite()) {
                return Err(format!("{name} {idx} is not a finite number"));
            }
        }
        let covers = parts.leaf_cover.len();
        if covers != 0 && covers != n_leaves {
            return Err(format!("leaf_cover has {covers} entries where {n_nodes} nodes need {n_leaves}"));
        }
        if let Some(idx) = parts.leaf_cover.iter().position(|cover| !cover.is_finite() || *cover < 0.0) {
            return Err(format!("leaf_cover {idx} is not a finite number of 0 or more"));
        }
        check_shape(&parts)?;
        Ok(Self(parts))
    }

    /// A tree with the same value for all documents.
    pub fn constant(value: f64, count: u64) -> Self {
        Self(TreeParts { leaf_value: vec![value], leaf_count: vec![count], ..TreeParts::default() })
    }

    /// The tree with all values multiplied by a finite factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut parts = self.0.clone();
        parts.leaf_value.iter_mut().for_each(|value| *value = (*value * factor).clamp(f64::MIN, f64::MAX));
        Self(parts)
    }

    /// What the training rows in a leaf weigh: their number, unless the model knows better.
    pub fn cover(&self, leaf: usize) -> f64 {
        self.0.leaf_cover.get(leaf).copied().unwrap_or(self.0.leaf_count[leaf] as f64)
    }

    /// The arrays.
    pub fn parts(&self) -> &TreeParts {
        &self.0
    }

    /// The number of inner nodes.
    pub fn n_nodes(&self) -> usize {
        self.0.feature.len()
    }

    /// The number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.0.leaf_value.len()
    }

    /// The length of the longest path, in splits.
    pub fn depth(&self) -> usize {
        let mut depths = vec![1; self.n_nodes()];
        let mut deepest = 0;
        for node in 0..self.n_nodes() {
            deepest = deepest.max(depths[node]);
            for child in [self.0.left[node], self.0.right[node]] {
                if let Child::Node(child) = Child::decode(child) {
                    depths[child] = depths[node] + 1;
                }
            }
        }
        deepest
    }

    /// The leaf that a document reaches; `goes_left(node)` evaluates the split.
    pub fn walk(&self, mut goes_left: impl FnMut(usize) -> bool) -> usize {
        let mut at = if self.n_nodes() == 0 { Child::Leaf(0) } else { Child::Node(0) };
        loop {
            match at {
                Child::Leaf(leaf) => return leaf,
                Child::Node(node) => {
                    at = Child::decode(if goes_left(node) { self.0.left[node] } else { self.0.right[node] });
                }
            }
        }
    }

    /// The leaf for values in the order of the model's features; NaN is missing.
    pub fn leaf(&self, values: &[f64]) -> usize {
        self.walk(|node| {
            let value = values[self.0.feature[node] as usize];
            if value.is_nan() { self.0.missing_left[node] } else { value <= self.0.threshold[node] }
        })
    }
}

/// Checks that children come after their parents, and that each node and leaf has exactly one parent. Then all are
/// reachable from node 0.
fn check_shape(parts: &TreeParts) -> Result<(), String> {
    let n_nodes = parts.feature.len();
    let mut node_seen = vec![false; n_nodes];
    let mut leaf_seen = vec![false; n_nodes + 1];
    for node in 0..n_nodes {
        for code in [parts.left[node], parts.right[node]] {
            let (seen, idx, name) = match Child::decode(code) {
                Child::Node(child) if child <= node => {
                    return Err(format!("child {child} of node {node} does not come after it"));
                }
                Child::Node(child) => (&mut node_seen, child, "node"),
                Child::Leaf(leaf) => (&mut leaf_seen, leaf, "leaf"),
            };
            match seen.get_mut(idx) {
                None => return Err(format!("node {node} leads to {name} {idx}, which does not exist")),
                Some(true) => return Err(format!("{name} {idx} has two parents")),
                Some(seen) => *seen = true,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Three leaves: feature 0 at 0.5 (missing left), then feature 1 at 2 (missing right).
    pub(crate) fn example() -> TreeParts {
        TreeParts {
            feature: vec![0, 1],
            threshold: vec![0.5, 2.0],
            missing_left: vec![true, false],
            left: vec![1, !0],
            right: vec![!2, !1],
            gain: vec![3.0, 1.0],
            count: vec![10, 6],
            leaf_value: vec![-1.0, 0.25, 1.5],
            leaf_count: vec![2, 4, 4],
            leaf_cover: Vec::new(),
        }
    }

    #[test]
    fn walks_by_threshold_and_missing_direction() {
        let tree = Tree::new(example()).unwrap();
        assert_eq!(tree.leaf(&[0.5, 2.0]), 0);
        assert_eq!(tree.leaf(&[0.5, 2.1]), 1);
        assert_eq!(tree.leaf(&[0.6, 0.0]), 2);
        assert_eq!(tree.leaf(&[f64::NAN, f64::NAN]), 1);
        assert_eq!((tree.depth(), tree.n_leaves()), (2, 3));
        let constant = Tree::constant(4.0, 9);
        assert_eq!((constant.leaf(&[]), constant.depth()), (0, 0));
        assert!(Tree::new(constant.parts().clone()).is_ok());
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        type Damage = fn(&mut TreeParts);
        let broken: [(&str, Damage); 10] = [
            ("does not come after it", |tree| tree.left[1] = 0),
            ("does not come after it", |tree| tree.left[1] = 1),
            ("node 5, which does not exist", |tree| tree.left[1] = 5),
            ("leaf 3, which does not exist", |tree| tree.left[1] = !3),
            ("leaf 1 has two parents", |tree| tree.left[1] = !1),
            ("leaf_value has 2 entries", |tree| tree.leaf_value.truncate(2)),
            ("leaf_cover has 2 entries", |tree| tree.leaf_cover = vec![1.5; 2]),
            ("leaf_cover 1 is not a finite", |tree| tree.leaf_cover = vec![1.5, -0.5, 0.0]),
            ("threshold 1 is not a finite", |tree| tree.threshold[1] = f64::NAN),
            ("leaf 2147483647, which does not exist", |tree| tree.left[1] = i32::MIN),
        ];
        for (problem, damage) in broken {
            let mut tree = example();
            damage(&mut tree);
            let error = Tree::new(tree).unwrap_err();
            assert!(error.contains(problem), "'{error}' should say '{problem}'");
        }
    }
}
