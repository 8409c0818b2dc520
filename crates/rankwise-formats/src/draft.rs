//! Trees in the numbering of other programs, and their conversion.

use std::collections::BTreeSet;

use rankwise_model::{Child, Output, Tree, TreeEnsemble, TreeParts};

use crate::FormatError;
use crate::value::Field;

/// A node of an unchecked tree. Children are indices into the list of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DraftNode {
    Split(Split),
    /// `cover` is what its training rows weigh; 0 if unknown.
    Leaf {
        value: f64,
        cover: f64,
    },
}

/// A split: values up to `threshold` go left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Split {
    /// The id of the feature.
    pub(crate) feature: u32,
    pub(crate) threshold: f64,
    pub(crate) missing_left: bool,
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) gain: f64,
    pub(crate) count: u64,
}

/// The ids of the features that some tree uses, ascending.
pub(crate) fn features_of(trees: &[Vec<DraftNode>]) -> Vec<u32> {
    let feature = |node: &DraftNode| if let DraftNode::Split(split) = node { Some(split.feature) } else { None };
    trees.iter().flatten().filter_map(feature).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The nodes of a tree of nested objects, parents before children. `read` returns a node and, if it is a split, its
/// left and right child.
pub(crate) fn nested<'a>(
    root: Field<'a>,
    read: impl Fn(&Field<'a>) -> Result<(DraftNode, Option<[Field<'a>; 2]>), FormatError>,
) -> Result<Vec<DraftNode>, FormatError> {
    let mut nodes: Vec<DraftNode> = Vec::new();
    // A node, and the edge that leads to it: the parent, and whether this is its right child.
    let mut open: Vec<(Field<'a>, Option<(usize, bool)>)> = vec![(root, None)];
    while let Some((field, edge)) = open.pop() {
        let place = nodes.len();
        match edge.map(|(parent, is_right)| (&mut nodes[parent], is_right)) {
            Some((DraftNode::Split(parent), true)) => parent.right = place,
            Some((DraftNode::Split(parent), false)) => parent.left = place,
            _ => {}
        }
        let (node, children) = read(&field)?;
        nodes.push(node);
        if let Some([left, right]) = children {
            open.push((right, Some((place, true))));
            open.push((left, Some((place, false))));
        }
    }
    Ok(nodes)
}

/// Converts the trees, with features as indices into `features`. Each draft is dropped once its tree is converted.
pub(crate) fn ensemble(
    base_score: f64,
    drafts: Vec<Vec<DraftNode>>,
    features: &[u32],
) -> Result<TreeEnsemble, FormatError> {
    let made = drafts
        .into_iter()
        .enumerate()
        .map(|(idx, nodes)| tree(&nodes, features).map_err(|problem| FormatError::Tree { tree: idx, problem }));
    Ok(TreeEnsemble::new(base_score, Output::Sum, made.collect::<Result<_, _>>()?)?)
}

/// Converts the tree with root 0, with features as indices into `features`. Unreachable nodes are ignored; cycles,
/// nodes with two parents and children out of range are rejected.
fn tree(nodes: &[DraftNode], features: &[u32]) -> Result<Tree, String> {
    let mut parts = TreeParts::default();
    let mut is_seen = vec![false; nodes.len()];
    // An index into the list, and the edge that leads there: the parent, and whether this is its right child.
    let mut open: Vec<(usize, Option<(usize, bool)>)> = vec![(0, None)];
    while let Some((place, edge)) = open.pop() {
        let node = nodes.get(place).ok_or_else(|| format!("no node {place}"))?;
        if std::mem::replace(&mut is_seen[place], true) {
            return Err(format!("node {place} has two parents"));
        }
        let child = match node {
            DraftNode::Leaf { value, cover } => {
                parts.leaf_value.push(*value);
                parts.leaf_count.push(*cover as u64);
                parts.leaf_cover.push(*cover);
                Child::Leaf(parts.leaf_value.len() - 1)
            }
            DraftNode::Split(split) => {
                let slot =
                    features.binary_search(&split.feature).map_err(|_| "a feature is not in the list".to_owned())?;
                let number = parts.feature.len();
                parts.feature.push(slot as u32);
                parts.threshold.push(split.threshold);
                parts.missing_left.push(split.missing_left);
                parts.left.push(0);
                parts.right.push(0);
                parts.gain.push(split.gain);
                parts.count.push(split.count);
                open.push((split.right, Some((number, true))));
                open.push((split.left, Some((number, false))));
                Child::Node(number)
            }
        };
        match edge {
            Some((parent, true)) => parts.right[parent] = child.encode(),
            Some((parent, false)) => parts.left[parent] = child.encode(),
            None => {}
        }
    }
    // Whole numbers are counts.
    if parts.leaf_cover.iter().all(|cover| cover.fract() == 0.0) {
        parts.leaf_cover.clear();
    }
    Tree::new(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(left: usize, right: usize) -> DraftNode {
        let (feature, threshold, missing_left) = (7, 0.5, true);
        DraftNode::Split(Split { feature, threshold, missing_left, left, right, gain: 1.0, count: 3 })
    }

    const LEAF: DraftNode = DraftNode::Leaf { value: 1.0, cover: 1.0 };

    #[test]
    fn what_is_a_tree_becomes_one_in_any_order() {
        let nodes = [split(3, 1), LEAF, DraftNode::Leaf { value: 2.0, cover: 1.0 }, split(2, 4), LEAF];
        let found = tree(&nodes, &features_of(&[nodes.to_vec()])).unwrap();
        assert_eq!(found.leaf(&[0.5]), found.leaf(&[0.1]));
        assert_eq!(found.parts().leaf_value[found.leaf(&[0.1])], 2.0);
        assert_eq!((found.n_nodes(), found.n_leaves(), found.depth()), (2, 3, 2));
    }

    #[test]
    fn what_is_none_is_refused() {
        for nodes in [
            vec![],
            vec![split(0, 1), LEAF],
            vec![split(1, 1), LEAF],
            vec![split(1, 2), LEAF],
            vec![split(1, 2), split(2, 3), LEAF, LEAF],
        ] {
            assert!(tree(&nodes, &[7]).is_err(), "{nodes:?}");
        }
    }
}
