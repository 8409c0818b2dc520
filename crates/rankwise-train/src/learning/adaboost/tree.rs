//! Classification trees over weighted documents in bins. A node of weight W with the share p of relevant weight costs W
//! times its impurity Q(p), and is split where the cost falls most, until its documents are of one class, no split lowers
//! its impurity, pruning would take back any split, or a limit is reached. There is no limit on the number of leaves;
//! [`super::prune`] takes back what is not worth it.

use std::borrow::Cow;
use std::ops::{AddAssign, Range, Sub};

use rankwise_data::BinnedDataset;
use rankwise_model::{Child, Tree, TreeParts};
use rayon::prelude::*;

use crate::Impurity;
use crate::learning::votes::from_fixed;

/// A smaller fall of the Gini impurity, relative to the weight of the node, is an error of rounding.
const SMALLEST_FALL: f64 = 1e-12;
/// Nodes with fewer values of all features are searched by one thread.
const VALUES_PER_SEARCH: usize = 1 << 15;

/// The weight of some documents by class, and their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mass {
    pub(crate) relevant: i64,
    pub(crate) irrelevant: i64,
    pub(crate) count: usize,
}

impl Mass {
    /// The weight of what a leaf is wrong about.
    pub(crate) fn error(self) -> i64 {
        self.relevant.min(self.irrelevant)
    }

    /// Weight times impurity, as a share of all weights.
    pub(crate) fn cost(self, impurity: Impurity) -> f64 {
        let [relevant, irrelevant] = [self.relevant, self.irrelevant].map(from_fixed);
        let whole = relevant + irrelevant;
        if self.error() == 0 {
            return 0.0;
        }
        match impurity {
            Impurity::Entropy => -(relevant * libm::log(relevant / whole) + irrelevant * libm::log(irrelevant / whole)),
            Impurity::Gini => 2.0 * relevant * (irrelevant / whole),
            Impurity::Error => from_fixed(self.error()),
        }
    }
}

impl AddAssign for Mass {
    fn add_assign(&mut self, other: Self) {
        self.relevant += other.relevant;
        self.irrelevant += other.irrelevant;
        self.count += other.count;
    }
}

impl Sub for Mass {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self {
            relevant: self.relevant - other.relevant,
            irrelevant: self.irrelevant - other.irrelevant,
            count: self.count - other.count,
        }
    }
}

/// When a tree stops growing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) impurity: Impurity,
    pub(crate) max_depth: usize,
    /// The smallest number of documents in a leaf.
    pub(crate) min_docs: usize,
    /// The price of a leaf. A node that costs no more stays a leaf, as two leaves below it would cost as much.
    pub(crate) price: f64,
}

/// Where a node is split: documents with bins up to `bin` go left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    pub(crate) feature: usize,
    pub(crate) bin: u8,
    pub(crate) missing_left: bool,
    /// By how much the cost falls, and the cost by Gini.
    fall: (f64, f64),
    left: Mass,
}

impl Split {
    /// Whether it is better. The error impurity often stays equal; Gini then tells which split helps later ones.
    fn is_above(&self, other: &Self) -> bool {
        self.fall > other.fall
    }
}

/// A node of a tree that grows. Children come after their parents.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) whole: Mass,
    pub(crate) split: Option<(Split, [usize; 2])>,
    threshold: f64,
    depth: usize,
    /// Its documents, as a part of the list of all.
    docs: Range<usize>,
}

/// A tree with the weights of its nodes.
#[derive(Clone, Debug)]
pub(crate) struct Grown {
    pub(crate) nodes: Vec<Node>,
}

/// Weighted documents.
pub(crate) struct Sample<'a> {
    binned: &'a BinnedDataset,
    columns: Vec<Cow<'a, [u8]>>,
    /// Of relevant documents above 0, of the others below.
    weights: &'a [i64],
}

impl<'a> Sample<'a> {
    pub(crate) fn new(binned: &'a BinnedDataset, weights: &'a [i64]) -> Self {
        let columns = (0..binned.n_features()).map(|feature| binned.column(feature)).collect();
        Self { binned, columns, weights }
    }

    /// Grows a tree to its limits.
    pub(crate) fn grow(&self, limits: Limits) -> Grown {
        let mut docs: Vec<u32> = (0..self.weights.len() as u32).collect();
        let mut whole = Mass::default();
        for doc in &docs {
            whole += self.mass(*doc);
        }
        let node =
            |whole: Mass, depth: usize, docs: Range<usize>| Node { whole, split: None, threshold: 0.0, depth, docs };
        let mut nodes = vec![node(whole, 0, 0..docs.len())];
        let mut at = 0;
        while at < nodes.len() {
            let Node { whole, depth, docs: range, .. } = nodes[at].clone();
            if let Some(split) = self.best_split(whole, depth, &docs[range.clone()], limits) {
                self.divide(split, &mut docs[range.clone()]);
                let middle = range.start + split.left.count;
                nodes[at].split = Some((split, [nodes.len(), nodes.len() + 1]));
                nodes[at].threshold = self.binned.bins(split.feature).upper(split.bin);
                nodes.push(node(split.left, depth + 1, range.start..middle));
                nodes.push(node(whole - split.left, depth + 1, middle..range.end));
            }
            at += 1;
        }
        Grown { nodes }
    }

    fn mass(&self, doc: u32) -> Mass {
        let weight = self.weights[doc as usize];
        Mass { relevant: weight.max(0), irrelevant: (-weight).max(0), count: 1 }
    }

    fn best_split(&self, whole: Mass, depth: usize, docs: &[u32], limits: Limits) -> Option<Split> {
        let is_final = whole.error() == 0 || whole.cost(limits.impurity) <= limits.price;
        if is_final || depth >= limits.max_depth || docs.len() < 2 * limits.min_docs {
            return None;
        }
        let of_feature = |feature: usize| self.best_of_feature(feature, whole, docs, limits);
        let n_features = self.columns.len();
        // Of equal ones the smaller feature.
        let better = |best: Split, next: Split| if next.is_above(&best) { next } else { best };
        if docs.len() * n_features < VALUES_PER_SEARCH {
            return (0..n_features).filter_map(of_feature).reduce(better);
        }
        let found: Vec<Split> = (0..n_features).into_par_iter().filter_map(of_feature).collect();
        found.into_iter().reduce(better)
    }

    /// The best split by a feature: the lowest threshold of equals, with missing values on the left if that is as good.
    fn best_of_feature(&self, feature: usize, whole: Mass, docs: &[u32], limits: Limits) -> Option<Split> {
        let bins = self.binned.bins(feature);
        let by_bin = self.masses_by_bin(feature, docs);
        let missing = by_bin[usize::from(bins.missing_bin())];
        let sides: &[bool] = if missing.count == 0 { &[true] } else { &[true, false] };
        let costs = [limits.impurity, Impurity::Gini].map(|impurity| whole.cost(impurity));
        let least = SMALLEST_FALL * from_fixed(whole.relevant + whole.irrelevant);
        let mut best: Option<Split> = None;
        let mut up_to = Mass::default();
        for (bin, mass) in by_bin[..bins.n_value_bins()].iter().enumerate() {
            if mass.count == 0 {
                // As the bin before it, if there is one.
                continue;
            }
            up_to += *mass;
            for missing_left in sides.iter().copied() {
                let mut left = up_to;
                if missing_left {
                    left += missing;
                }
                let right = whole - left;
                if left.count.min(right.count) < limits.min_docs {
                    continue;
                }
                let fall = |place: usize, impurity: Impurity| costs[place] - left.cost(impurity) - right.cost(impurity);
                let fall = (fall(0, limits.impurity), fall(1, Impurity::Gini));
                let split = Split { feature, bin: bin as u8, missing_left, fall, left };
                if fall.1 > least && best.is_none_or(|best| split.is_above(&best)) {
                    best = Some(split);
                }
            }
        }
        best
    }

    fn masses_by_bin(&self, feature: usize, docs: &[u32]) -> [Mass; 256] {
        let mut by_bin = [Mass::default(); 256];
        let column = &self.columns[feature];
        for doc in docs {
            let (bin, weight) = (column[*doc as usize], self.weights[*doc as usize]);
            let mass = &mut by_bin[usize::from(bin)];
            let side = if weight > 0 { &mut mass.relevant } else { &mut mass.irrelevant };
            *side += weight.abs();
            mass.count += 1;
        }
        by_bin
    }

    /// Moves documents that go left before the others; both keep their order.
    fn divide(&self, split: Split, docs: &mut [u32]) {
        let (column, missing) = (&self.columns[split.feature], self.binned.bins(split.feature).missing_bin());
        let goes_left = |doc: &u32| {
            let bin = column[*doc as usize];
            if bin == missing { split.missing_left } else { bin <= split.bin }
        };
        let (left, right): (Vec<u32>, Vec<u32>) = docs.iter().partition(|doc| goes_left(doc));
        docs[..left.len()].copy_from_slice(&left);
        docs[left.len()..].copy_from_slice(&right);
    }
}

impl Grown {
    /// The weight of the documents that the leaves are wrong about, and of all.
    pub(crate) fn error(&self) -> (i64, i64) {
        let leaves = self.reached().filter(|node| node.split.is_none());
        let whole = self.nodes[0].whole;
        (leaves.map(|leaf| leaf.whole.error()).sum(), whole.relevant + whole.irrelevant)
    }

    /// The nodes that are still part of the tree after pruning.
    fn reached(&self) -> impl Iterator<Item = &Node> {
        let mut stack = vec![0];
        std::iter::from_fn(move || {
            let node = &self.nodes[stack.pop()?];
            if let Some((_, [left, right])) = node.split {
                stack.extend([right, left]);
            }
            Some(node)
        })
    }

    /// The tree whose leaves say `alpha` where most weight is relevant, and `-alpha` elsewhere. Nodes are in the order in
    /// which a walk from the root meets them, left first.
    pub(crate) fn tree(&self, alpha: f64) -> Tree {
        let mut parts = TreeParts::default();
        // (node, the place in the parts that leads to it)
        let mut stack: Vec<(usize, Option<(usize, bool)>)> = vec![(0, None)];
        while let Some((id, edge)) = stack.pop() {
            let node = &self.nodes[id];
            let child = if let Some((split, [left, right])) = node.split {
                let place = parts.feature.len();
                parts.feature.push(split.feature as u32);
                parts.threshold.push(node.threshold);
                parts.missing_left.push(split.missing_left);
                parts.gain.push(split.fall.0.max(0.0));
                parts.count.push(node.whole.count as u64);
                parts.left.push(0);
                parts.right.push(0);
                stack.extend([(right, Some((place, false))), (left, Some((place, true)))]);
                Child::Node(place)
            } else {
                let is_relevant = node.whole.relevant > node.whole.irrelevant;
                parts.leaf_value.push(if is_relevant { alpha } else { -alpha });
                parts.leaf_count.push(node.whole.count as u64);
                Child::Leaf(parts.leaf_value.len() - 1)
            };
            if let Some((place, is_left)) = edge {
                let codes = if is_left { &mut parts.left } else { &mut parts.right };
                codes[place] = child.encode();
            }
        }
        Tree::new(parts).expect("nodes come after their parents")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::learning::votes::to_fixed;

    pub(crate) const IMPURITIES: [Impurity; 3] = [Impurity::Entropy, Impurity::Gini, Impurity::Error];

    pub(crate) fn limits(impurity: Impurity) -> Limits {
        Limits { impurity, max_depth: usize::MAX, min_docs: 1, price: 0.0 }
    }

    #[test]
    fn impurities_by_hand() {
        let mass = Mass { relevant: to_fixed(0.125), irrelevant: to_fixed(0.375), count: 4 };
        let (p, q) = (0.25f64, 0.75f64);
        assert!((mass.cost(Impurity::Entropy) + 0.5 * (p * libm::log(p) + q * libm::log(q))).abs() < 1e-15);
        assert_eq!((mass.cost(Impurity::Gini), mass.cost(Impurity::Error)), (0.5 * 2.0 * p * q, 0.125));
        assert_eq!(Mass { relevant: 0, ..mass }.cost(Impurity::Entropy), 0.0);
    }

    #[test]
    fn where_no_split_lowers_the_error_gini_decides() {
        // Weights of values 1, 2 and 3: all leaves say irrelevant, but 3 has the largest share of relevant weight.
        let binned = BinnedDataset::from_columns(&[vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0]]);
        let weights = [0.05, -0.25, 0.05, -0.25, 0.15, -0.25].map(to_fixed);
        let grown = Sample::new(&binned, &weights).grow(Limits { max_depth: 1, ..limits(Impurity::Error) });
        let (split, _) = grown.nodes[0].split.unwrap();
        assert_eq!((split.bin, split.fall.0.abs() < 1e-15), (1, true));
    }

    proptest! {
        /// The first split is the best of all, and a tree without limits separates documents that differ, or stops where no
        /// split helps.
        #[test]
        fn splits_are_the_best_and_leaves_final(
            docs in prop::collection::vec((-4i8..5, 0u8..4, prop::option::of(0u8..3)), 2..30),
            impurity in prop::sample::select(&IMPURITIES),
        ) {
            let value = |value: Option<u8>| value.map_or(f32::NAN, f32::from);
            let columns = [docs.iter().map(|doc| f32::from(doc.1)).collect(), docs.iter().map(|doc| value(doc.2)).collect()];
            let binned = BinnedDataset::from_columns(&columns);
            let total: f64 = docs.iter().map(|doc| f64::from(doc.0).abs()).sum();
            prop_assume!(total > 0.0);
            let weights: Vec<i64> = docs.iter().map(|doc| to_fixed(f64::from(doc.0) / total)).collect();
            let sample = Sample::new(&binned, &weights);
            let grown = sample.grow(limits(impurity));
            let all: Vec<u32> = (0..docs.len() as u32).collect();
            let mut best = (0.0f64, 0.0f64);
            for feature in 0..2 {
                for bin in 0..binned.bins(feature).missing_bin() {
                    for missing_left in [true, false] {
                        let split = Split { feature, bin, missing_left, fall: best, left: Mass::default() };
                        let mut order = all.clone();
                        sample.divide(split, &mut order);
                        let missing = binned.bins(feature).missing_bin();
                        let column = binned.column(feature);
                        let goes_left = |doc: u32| match column[doc as usize] {
                            of if of == missing => missing_left,
                            of => of <= bin,
                        };
                        let mut sides = [Mass::default(); 2];
                        for doc in &order {
                            sides[usize::from(!goes_left(*doc))] += sample.mass(*doc);
                        }
                        let fall = |impurity| {
                            grown.nodes[0].whole.cost(impurity) - sides[0].cost(impurity) - sides[1].cost(impurity)
                        };
                        let fall = (fall(impurity), fall(Impurity::Gini));
                        if fall.1 > SMALLEST_FALL && fall > best {
                            best = fall;
                        }
                    }
                }
            }
            let found = grown.nodes[0].split.map_or((0.0, 0.0), |(split, _)| split.fall);
            prop_assert!((found.0 - best.0).abs() < 1e-12, "{found:?} is not {best:?}");
            for (id, node) in grown.nodes.iter().enumerate() {
                if let Some((split, children)) = node.split {
                    let [left, right] = children.map(|child| grown.nodes[child].whole);
                    prop_assert!(children[0] > id && left == split.left && left.count > 0 && right.count > 0);
                }
            }
            // The tree of the model says the same about every document as the leaves do.
            let tree = grown.tree(1.0);
            prop_assert_eq!(tree.parts().leaf_count.iter().sum::<u64>(), docs.len() as u64);
            let wrong = |doc: &(i8, u8, Option<u8>)| {
                let values = [f64::from(doc.1), f64::from(value(doc.2))];
                (tree.parts().leaf_value[tree.leaf(&values)] > 0.0) != (doc.0 > 0)
            };
            let error: i64 = docs.iter().zip(&weights).filter(|(doc, _)| wrong(doc)).map(|(_, weight)| weight.abs()).sum();
            prop_assert_eq!(error, grown.error().0);
        }
    }
}
