//! Which features a tree or a node may use.

use rankwise_data::{Draw, Purpose};

/// A share of the features, ascending: those whose draws are smallest. `ids` names a feature for its draw.
fn sample(features: &[usize], ids: &[u32], fraction: f64, draw: &Draw, ordinal: u32) -> Vec<usize> {
    if fraction >= 1.0 {
        return features.to_vec();
    }
    let n_kept = ((features.len() as f64 * fraction).round() as usize).clamp(1.min(features.len()), features.len());
    let mut drawn: Vec<(f64, usize)> =
        features.iter().map(|feature| (draw.uniform(ids[*feature].into(), ordinal), *feature)).collect();
    drawn.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut kept: Vec<usize> = drawn[..n_kept].iter().map(|(_, feature)| *feature).collect();
    kept.sort_unstable();
    kept
}

/// The features of a tree.
pub(crate) fn of_tree(ids: &[u32], fraction: f64, seed: u64, tree: u32) -> Vec<usize> {
    let all: Vec<usize> = (0..ids.len()).collect();
    sample(&all, ids, fraction, &Draw::new(seed, Purpose::TreeFeatures, tree), 0)
}

/// The features of a node, among those of its tree.
pub(crate) fn of_node(
    tree_features: &[usize],
    ids: &[u32],
    fraction: f64,
    (seed, tree, node): (u64, u32, u32),
) -> Vec<usize> {
    sample(tree_features, ids, fraction, &Draw::new(seed, Purpose::NodeFeatures, tree), node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept_and_draws_differ() {
        let ids: Vec<u32> = (10..110).collect();
        let first = of_tree(&ids, 0.3, 1, 0);
        assert_eq!(first.len(), 30);
        assert!(first.is_sorted());
        assert_eq!(first, of_tree(&ids, 0.3, 1, 0));
        assert_ne!(first, of_tree(&ids, 0.3, 1, 1));
        assert_ne!(first, of_tree(&ids, 0.3, 2, 0));
        let node = of_node(&first, &ids, 0.5, (1, 0, 3));
        assert!(node.len() == 15 && node.iter().all(|feature| first.contains(feature)));
        assert_ne!(node, of_node(&first, &ids, 0.5, (1, 0, 4)));
        assert_eq!(of_tree(&ids[..3], 0.01, 1, 0).len(), 1);
        assert_eq!(of_tree(&[], 0.5, 1, 0), [0usize; 0]);
        assert_eq!(of_tree(&ids, 1.0, 1, 0).len(), 100);
    }
}
