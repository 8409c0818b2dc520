//! Random models.

use proptest::prelude::*;
use rankwise_model::{AbsentFeature, Child, Header, Model, Output, Precision, Tree, TreeEnsemble, TreeParts};

/// A tree with up to `max_nodes` splits on `n_features` features. Counts may be 0.
pub(crate) fn tree(n_features: u32, max_nodes: usize) -> impl Strategy<Value = Tree> {
    let split = (any::<prop::sample::Index>(), 0..n_features, 0..4u8, any::<bool>());
    let leaf = (-2.0..2.0, 0..5u64);
    (prop::collection::vec(split, 0..=max_nodes), prop::collection::vec(leaf, max_nodes + 1)).prop_map(
        |(splits, leaves)| {
            let mut parts = TreeParts::default();
            // The open leaves: the node above and the side; the root has none.
            let mut open: Vec<Option<(usize, bool)>> = vec![None];
            let connect = |parts: &mut TreeParts, edge: Option<(usize, bool)>, child: Child| match edge {
                Some((node, true)) => parts.left[node] = child.encode(),
                Some((node, false)) => parts.right[node] = child.encode(),
                None => {}
            };
            for (place, feature, threshold, missing_left) in splits {
                let node = parts.feature.len();
                let edge = open.swap_remove(place.index(open.len()));
                connect(&mut parts, edge, Child::Node(node));
                parts.feature.push(feature);
                parts.threshold.push(f64::from(threshold) + 0.5);
                parts.missing_left.push(missing_left);
                parts.left.push(0);
                parts.right.push(0);
                parts.gain.push(1.0);
                parts.count.push(0);
                open.extend([Some((node, true)), Some((node, false))]);
            }
            for (edge, (value, count)) in open.into_iter().zip(leaves) {
                let leaf = parts.leaf_value.len();
                connect(&mut parts, edge, Child::Leaf(leaf));
                parts.leaf_value.push(value);
                parts.leaf_count.push(count);
            }
            parts.leaf_count[0] += 1;
            Tree::new(parts).unwrap()
        },
    )
}

/// A model with features 0, 1, ...
pub(crate) fn model(n_features: u32, trees: Vec<Tree>) -> Model {
    let header = Header::new(AbsentFeature::Missing, Precision::F32, (0..n_features).collect());
    Model::new(header, TreeEnsemble::new(0.25, Output::Sum, trees).unwrap()).unwrap()
}

/// Values between the thresholds, some of them missing.
pub(crate) fn documents(n_features: usize, n_docs: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(
        (0..6u8).prop_map(|value| if value == 5 { f32::NAN } else { value.into() }),
        n_features * n_docs,
    )
}
