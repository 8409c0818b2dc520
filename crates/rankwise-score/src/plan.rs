//! The splits of an ensemble, each listed once, and the trees in terms of them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rankwise_model::{Child, Tree, TreeEnsemble, floor_f32};

use crate::kernel::rank::Marks;

/// Maximum number of thresholds in a ruler: ranks fit in a byte, with one value left for documents that fail all tests.
pub(crate) const RULER_LENGTH: usize = 254;
/// Maximum number of leaves of a tree that is scored with masks.
const MASK_LEAVES: usize = 1 << 14;

/// Some thresholds of one feature, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Ruler {
    /// The feature's index in the model.
    pub(crate) feature: usize,
    /// For f32 values: the largest f32 up to each threshold.
    pub(crate) narrow: Marks<f32>,
    /// For f64 values.
    pub(crate) wide: Marks<f64>,
    /// The tests that missing values pass, as indices of thresholds, ascending; then those that they fail.
    pub(crate) tests: [Vec<u8>; 2],
    /// The number of the first test; the others follow.
    pub(crate) first_test: usize,
}

impl Ruler {
    pub(crate) fn n_tests(&self) -> usize {
        self.tests[0].len() + self.tests[1].len()
    }
}

/// A node: documents that pass the test go to index `left`, the others to index `right`. Indices below the number of
/// nodes are nodes; leaves come after them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) test: u32,
    pub(crate) left: u16,
    pub(crate) right: u16,
}

/// How to find the leaf of a document.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// By the nodes, level by level.
    Nodes(Vec<Node>),
    /// All nodes of a level have the same split: the answers are the bits of the leaf number, the last split being the
    /// lowest.
    Levels(Vec<u32>),
}

/// A tree.
#[derive(Clone, Debug)]
pub(crate) struct FlatTree {
    pub(crate) shape: Shape,
    /// By leaf number, padded to a power of two.
    pub(crate) values: Vec<f64>,
    /// The number of bits of a leaf number.
    pub(crate) n_planes: usize,
}

/// A preprocessed ensemble.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rulers: Vec<Ruler>,
    pub(crate) n_tests: usize,
    /// Output by output.
    pub(crate) trees: Vec<FlatTree>,
}

impl Plan {
    /// `None` if a tree is too large for masks.
    pub(crate) fn new(ensemble: &TreeEnsemble) -> Option<Self> {
        let (trees, n_outputs) = (ensemble.trees(), ensemble.n_outputs());
        if trees.iter().any(|tree| tree.n_leaves() > MASK_LEAVES) {
            return None;
        }
        let (rulers, tests) = rulers(trees);
        let n_tests = rulers.last().map_or(0, |ruler| ruler.first_test + ruler.n_tests());
        let by_output = (0..n_outputs).flat_map(|output| trees.iter().skip(output).step_by(n_outputs));
        let trees = by_output.map(|tree| FlatTree::new(tree, &tests)).collect();
        Some(Self { rulers, n_tests, trees })
    }
}

/// The split of a node: its feature, its threshold and whether missing values go left.
#[derive(Clone, Copy, Debug)]
struct Question(u32, f64, bool);

impl Question {
    fn of(tree: &Tree, node: usize) -> Self {
        let parts = tree.parts();
        Self(parts.feature[node], parts.threshold[node], parts.missing_left[node])
    }
}

impl PartialEq for Question {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Question {}

impl PartialOrd for Question {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Question {
    fn cmp(&self, other: &Self) -> Ordering {
        // Thresholds are finite, and 0 and -0 are the same.
        let by_threshold = self.1.partial_cmp(&other.1).unwrap_or(Ordering::Equal);
        self.0.cmp(&other.0).then(by_threshold).then(self.2.cmp(&other.2))
    }
}

/// All rulers, and the number of the test for each split.
fn rulers(trees: &[Tree]) -> (Vec<Ruler>, BTreeMap<Question, u32>) {
    let mut tests: BTreeMap<Question, u32> = BTreeMap::new();
    for tree in trees {
        for node in 0..tree.n_nodes() {
            tests.insert(Question::of(tree, node), 0);
        }
    }
    let mut rulers: Vec<Ruler> = Vec::new();
    let mut n_tests = 0;
    let questions: Vec<Question> = tests.keys().copied().collect();
    for of_feature in questions.chunk_by(|a, b| a.0 == b.0) {
        let thresholds: Vec<&[Question]> = of_feature.chunk_by(|a, b| a.1 == b.1).collect();
        for part in thresholds.chunks(RULER_LENGTH) {
            let sides = [true, false].map(|missing_left| {
                let asked =
                    part.iter().enumerate().flat_map(|(place, questions)| questions.iter().map(move |q| (place, q)));
                asked.filter(|(_, question)| question.2 == missing_left).collect::<Vec<_>>()
            });
            for (number, (_, question)) in (n_tests..).zip(sides.iter().flatten()) {
                tests.insert(**question, number as u32);
            }
            let ruler = Ruler {
                feature: of_feature[0].0 as usize,
                narrow: Marks::new(&part.iter().map(|questions| floor_f32(questions[0].1)).collect::<Vec<_>>()),
                wide: Marks::new(&part.iter().map(|questions| questions[0].1).collect::<Vec<_>>()),
                tests: sides.map(|side| side.into_iter().map(|(place, _)| place as u8).collect()),
                first_test: n_tests,
            };
            n_tests += ruler.n_tests();
            rulers.push(ruler);
        }
    }
    (rulers, tests)
}

impl FlatTree {
    fn new(tree: &Tree, tests: &BTreeMap<Question, u32>) -> Self {
        let test = |node: usize| tests[&Question::of(tree, node)];
        let (nodes, leaves) = by_level(tree, test);
        let n_planes = (usize::BITS - (leaves.len() - 1).leading_zeros()) as usize;
        let mut values = vec![0.0; 1 << n_planes];
        if let Some(levels) = levels(&nodes, n_planes) {
            // Documents that pass a test go left, to the leaf with the smaller number, and have a 1.
            for (number, leaf) in leaves.iter().enumerate() {
                values[leaves.len() - 1 - number] = tree.parts().leaf_value[*leaf];
            }
            return Self { shape: Shape::Levels(levels), values, n_planes };
        }
        for (value, leaf) in values.iter_mut().zip(&leaves) {
            *value = tree.parts().leaf_value[*leaf];
        }
        Self { shape: Shape::Nodes(nodes), values, n_planes }
    }
}

/// The nodes level by level, and the leaves in the order found. So a result is used only long after it was written.
fn by_level(tree: &Tree, test: impl Fn(usize) -> u32) -> (Vec<Node>, Vec<usize>) {
    let n_nodes = tree.n_nodes();
    let (mut nodes, mut leaves): (Vec<Node>, Vec<usize>) = (Vec::with_capacity(n_nodes), Vec::new());
    let mut queue = vec![if n_nodes == 0 { Child::Leaf(0) } else { Child::Node(0) }];
    let mut n_queued = usize::from(n_nodes > 0);
    let mut next = 0;
    while let Some(child) = queue.get(next).copied() {
        next += 1;
        let Child::Node(node) = child else {
            continue;
        };
        let mut place = |code: i32| {
            let child = Child::decode(code);
            match child {
                Child::Leaf(leaf) => {
                    leaves.push(leaf);
                    (n_nodes + leaves.len() - 1) as u16
                }
                Child::Node(_) => {
                    queue.push(child);
                    n_queued += 1;
                    (n_queued - 1) as u16
                }
            }
        };
        let (left, right) = (place(tree.parts().left[node]), place(tree.parts().right[node]));
        nodes.push(Node { test: test(node), left, right });
    }
    if n_nodes == 0 {
        leaves.push(0);
    }
    (nodes, leaves)
}

/// The split of each level, if all its nodes have the same and all leaves are at the bottom.
fn levels(nodes: &[Node], depth: usize) -> Option<Vec<u32>> {
    if depth == 0 || nodes.len() + 1 != 1 << depth {
        return None;
    }
    let mut of_level: Vec<Option<u32>> = vec![None; depth];
    let mut level_of = vec![0; nodes.len()];
    for (place, node) in nodes.iter().enumerate() {
        // This path is longer than in a complete tree.
        let level = of_level.get_mut(level_of[place])?;
        if *level.get_or_insert(node.test) != node.test {
            return None;
        }
        let below = level_of[place] + 1;
        for child in [node.left, node.right] {
            if let Some(level) = level_of.get_mut(usize::from(child)) {
                *level = below;
            }
        }
    }
    of_level.into_iter().collect()
}
