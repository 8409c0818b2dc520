//! A tree with the share of training rows that each side of a split received, and its contributions to many documents.
//!
//! ```text
//!             feature 3 <= 0.5                 path to leaf 1: features [3, 7], shares [0.6, 0.25]
//!            /  60 %         \ 40 %            a document with feature 3 = 0.2 and feature 7 = 9 has
//!      feature 7 <= 2       leaf 2             the pattern 01 there: it passes the test of feature 3,
//!     / 75 %     \ 25 %                        not that of feature 7
//!   leaf 0      leaf 1
//! ```
//!
//! All documents of a block go down the tree together, depth first. Each level holds the patterns of its node.

use std::collections::{BTreeSet, HashMap};

use rankwise_model::{Child, Tree};

use super::leaf::{self, MAX_FEATURES, Path, Pattern, Table, Wanted};
use super::quadrature;

/// A tree whose splits have shares.
#[derive(Clone, Debug)]
pub(crate) struct SharedTree {
    tree: Tree,
    /// For each node, the share of its training rows that went left.
    left_shares: Vec<f64>,
    /// The expected value of a document of which nothing is known.
    expected: f64,
    /// The length of the longest path.
    depth: usize,
}

/// Buffers for a block of documents.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    walk: Walk,
    table: Table,
    /// The places of the values of each document in the table.
    places: Vec<u32>,
}

impl Buffers {
    pub(crate) fn new(wanted: Wanted) -> Self {
        Self { table: Table::new(wanted), ..Self::default() }
    }
}

/// Where a block of documents is in a tree.
#[derive(Debug, Default)]
struct Walk {
    /// By node, for each document whether it goes left.
    left: Vec<u8>,
    /// By level, the pattern of each document.
    patterns: Vec<Pattern>,
    /// The features of the path, without repetition, and their shares.
    features: Vec<u32>,
    shares: Vec<f64>,
}

/// A leaf that a walk has reached.
struct LeafFound<'a> {
    path: Path<'a>,
    /// The features of the path.
    features: &'a [u32],
    /// The pattern of each document.
    patterns: &'a [Pattern],
}

/// Values of a block of documents, column by column.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// All documents for the first feature, then for the second, ...
    pub(crate) columns: &'a [f64],
    pub(crate) n_docs: usize,
}

impl Block<'_> {
    pub(crate) fn column(&self, feature: usize) -> &[f64] {
        &self.columns[feature * self.n_docs..(feature + 1) * self.n_docs]
    }
}

impl SharedTree {
    /// `None` if the tree does not say how many rows reached its leaves.
    pub(crate) fn new(tree: &Tree) -> Option<Self> {
        let parts = tree.parts();
        let mut covers = vec![0.0; tree.n_nodes()];
        let mut left_shares = vec![0.5; tree.n_nodes()];
        let of_child = |covers: &[f64], code: i32| match Child::decode(code) {
            Child::Node(node) => covers[node],
            Child::Leaf(leaf) => tree.cover(leaf),
        };
        // Children come after their parents.
        for node in (0..tree.n_nodes()).rev() {
            let [left, right] = [parts.left[node], parts.right[node]].map(|code| of_child(&covers, code));
            covers[node] = left + right;
            // No training row tells the sides of an empty node apart: they stay at one half.
            if covers[node] > 0.0 {
                left_shares[node] = left / covers[node];
            }
        }
        if covers.first().is_some_and(|root| *root <= 0.0) {
            return None;
        }
        let mut tree = Self { tree: tree.clone(), left_shares, expected: 0.0, depth: tree.depth() };
        tree.expected = tree.expected_value();
        Some(tree)
    }

    pub(crate) fn expected(&self) -> f64 {
        self.expected
    }

    fn expected_value(&self) -> f64 {
        let parts = self.tree.parts();
        let mut values = vec![0.0; self.tree.n_nodes()];
        let of_child = |values: &[f64], code: i32| match Child::decode(code) {
            Child::Node(node) => values[node],
            Child::Leaf(leaf) => parts.leaf_value[leaf],
        };
        for node in (0..values.len()).rev() {
            let [left, right] = [parts.left[node], parts.right[node]].map(|code| of_child(&values, code));
            values[node] = self.left_shares[node] * left + (1.0 - self.left_shares[node]) * right;
        }
        values.first().copied().unwrap_or(parts.leaf_value[0])
    }

    /// Adds the contributions of this tree: `sums` has all documents for the first feature of the model, then for the
    /// second, ...
    pub(crate) fn add(&self, block: Block<'_>, buffers: &mut Buffers, sums: &mut [f64]) {
        if self.depth > MAX_FEATURES {
            return self.add_one_by_one(block, &mut buffers.walk, sums);
        }
        let Buffers { walk, table, places } = buffers;
        self.walk(block, walk, &mut |LeafFound { path, features, patterns }| {
            table.start(path);
            places.clear();
            places.extend(patterns.iter().map(|pattern| table.place(path, *pattern)));
            for (idx, feature) in features.iter().enumerate() {
                let sums = &mut sums[*feature as usize * block.n_docs..(*feature as usize + 1) * block.n_docs];
                let values = &table.values()[idx..];
                for (sum, place) in sums.iter_mut().zip(&*places) {
                    *sum += values[*place as usize];
                }
            }
        });
    }

    /// Adds the interactions of this tree: `sums` has all documents for the pair in slot 0, then for slot 1, ...
    pub(crate) fn add_interactions(
        &self,
        block: Block<'_>,
        slots: &HashMap<(u32, u32), usize>,
        buffers: &mut Buffers,
        sums: &mut [f64],
    ) {
        let Buffers { walk, table, places } = buffers;
        self.walk(block, walk, &mut |LeafFound { path, features, patterns }| {
            table.start(path);
            places.clear();
            places.extend(patterns.iter().map(|pattern| table.place(path, *pattern)));
            let pairs = (0..features.len()).flat_map(|a| (a + 1..features.len()).map(move |b| (a, b)));
            for (idx, (a, b)) in pairs.enumerate() {
                let slot = slots[&sorted(features[a], features[b])];
                let sums = &mut sums[slot * block.n_docs..(slot + 1) * block.n_docs];
                let values = &table.values()[idx..];
                for (sum, place) in sums.iter_mut().zip(&*places) {
                    *sum += values[*place as usize];
                }
            }
        });
    }

    /// The pairs of features that share a path. `None` if a path is too long for a pattern.
    pub(crate) fn pairs(&self) -> Option<BTreeSet<(u32, u32)>> {
        if self.depth > MAX_FEATURES {
            return None;
        }
        let mut found = BTreeSet::new();
        if self.tree.n_nodes() > 0 {
            for path in paths(&self.tree) {
                let features: BTreeSet<u32> = path.iter().map(|(node, _)| self.tree.parts().feature[*node]).collect();
                for a in &features {
                    found.extend(features.range(a + 1..).map(|b| (*a, *b)));
                }
            }
        }
        Some(found)
    }

    fn walk(&self, block: Block<'_>, walk: &mut Walk, leaf: &mut impl FnMut(LeafFound<'_>)) {
        if self.tree.n_nodes() == 0 || block.n_docs == 0 {
            return;
        }
        self.test(block, &mut walk.left);
        walk.features.clear();
        walk.shares.clear();
        walk.patterns.clear();
        walk.patterns.resize((self.depth + 1) * block.n_docs, 0);
        self.visit(Child::Node(0), 0, block.n_docs, walk, leaf);
    }

    /// Which documents go left at each node.
    fn test(&self, block: Block<'_>, left: &mut Vec<u8>) {
        let parts = self.tree.parts();
        left.clear();
        for node in 0..self.tree.n_nodes() {
            let (threshold, missing_left) = (parts.threshold[node], parts.missing_left[node]);
            let column = block.column(parts.feature[node] as usize);
            left.extend(column.iter().map(|value| u8::from(*value <= threshold || (missing_left && value.is_nan()))));
        }
    }

    /// Calls `leaf` for each leaf that has a value.
    fn visit(&self, at: Child, level: usize, n_docs: usize, walk: &mut Walk, leaf: &mut impl FnMut(LeafFound<'_>)) {
        let parts = self.tree.parts();
        let node = match at {
            Child::Leaf(idx) => {
                let path = Path { value: parts.leaf_value[idx], shares: &walk.shares };
                if path.value != 0.0 {
                    let patterns = &walk.patterns[level * n_docs..(level + 1) * n_docs];
                    leaf(LeafFound { path, features: &walk.features, patterns });
                }
                return;
            }
            Child::Node(node) => node,
        };
        let feature = parts.feature[node];
        for is_left in [true, false] {
            let share = if is_left { self.left_shares[node] } else { 1.0 - self.left_shares[node] };
            let known = walk.features.iter().position(|other| *other == feature);
            let bit = known.unwrap_or(walk.features.len());
            {
                let (above, below) = walk.patterns.split_at_mut((level + 1) * n_docs);
                let above = &above[level * n_docs..];
                let left = &walk.left[node * n_docs..(node + 1) * n_docs];
                // Whether a document does not go to this side.
                let flip = u8::from(is_left);
                for ((below, above), left) in below.iter_mut().zip(above).zip(left) {
                    let fails = Pattern::from(left ^ flip);
                    *below = if known.is_some() { above & !(fails << bit) } else { above | ((fails ^ 1) << bit) };
                }
            }
            let before = if let Some(bit) = known {
                let before = walk.shares[bit];
                walk.shares[bit] *= share;
                Some(before)
            } else {
                walk.features.push(feature);
                walk.shares.push(share);
                None
            };
            let child = Child::decode(if is_left { parts.left[node] } else { parts.right[node] });
            self.visit(child, level + 1, n_docs, walk, leaf);
            if let Some(before) = before {
                walk.shares[bit] = before;
            } else {
                walk.features.pop();
                walk.shares.pop();
            }
        }
    }

    /// [`Self::add`] for trees with paths of more features than a pattern has bits.
    fn add_one_by_one(&self, block: Block<'_>, walk: &mut Walk, sums: &mut [f64]) {
        let (parts, n_docs) = (self.tree.parts(), block.n_docs);
        self.test(block, &mut walk.left);
        let mut rules = Vec::new();
        let (mut before, mut found) = (Vec::new(), Vec::new());
        for (leaf, path) in paths(&self.tree).into_iter().enumerate() {
            let mut features: Vec<u32> = Vec::new();
            let mut shares: Vec<f64> = Vec::new();
            for (node, is_left) in &path {
                let share = if *is_left { self.left_shares[*node] } else { 1.0 - self.left_shares[*node] };
                if let Some(place) = features.iter().position(|feature| *feature == parts.feature[*node]) {
                    shares[place] *= share;
                } else {
                    features.push(parts.feature[*node]);
                    shares.push(share);
                }
            }
            for points in rules.len()..=leaf::n_points(features.len()) {
                rules.push(quadrature::nodes(points));
            }
            let rule = &rules[leaf::n_points(features.len())];
            found.resize(features.len(), 0.0);
            for doc in 0..n_docs {
                let fails = |(node, is_left): &(usize, bool)| (walk.left[node * n_docs + doc] == 1) != *is_left;
                let failed: Vec<u32> =
                    path.iter().filter(|step| fails(step)).map(|step| parts.feature[step.0]).collect();
                let passes: Vec<bool> = features.iter().map(|feature| !failed.contains(feature)).collect();
                let path = Path { value: parts.leaf_value[leaf], shares: &shares };
                leaf::contributions(rule, path, |idx| passes[idx], &mut before, &mut found);
                for (feature, found) in features.iter().zip(&found) {
                    sums[*feature as usize * n_docs + doc] += found;
                }
            }
        }
    }
}

/// For each leaf, the nodes above it, and whether its side is the left one.
fn paths(tree: &Tree) -> Vec<Vec<(usize, bool)>> {
    let parts = tree.parts();
    let mut found = vec![Vec::new(); tree.n_leaves()];
    let mut open = vec![(Child::Node(0), Vec::new())];
    while let Some((at, path)) = open.pop() {
        match at {
            Child::Leaf(leaf) => found[leaf] = path,
            Child::Node(node) => {
                for (code, is_left) in [(parts.left[node], true), (parts.right[node], false)] {
                    let mut path = path.clone();
                    path.push((node, is_left));
                    open.push((Child::decode(code), path));
                }
            }
        }
    }
    found
}

/// A pair in ascending order.
pub(crate) fn sorted(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}
