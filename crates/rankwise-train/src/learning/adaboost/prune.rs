//! Cost-complexity pruning (Breiman et al. 1984) for a given price of a leaf: the subtree with the smallest
//!
//! ```text
//! sum over leaves of W Q(p) + lambda * number of leaves
//! ```
//!
//! From the leaves up, a node keeps its split if the best subtrees below it cost less than the node as a leaf. The two sides
//! of a split are independent, so this is the minimum over all subtrees.

use super::tree::Grown;
use crate::Impurity;

/// The cheapest subtree; the smallest of equals.
pub(crate) fn pruned(mut grown: Grown, impurity: Impurity, lambda: f64) -> Grown {
    let mut costs: Vec<f64> = grown.nodes.iter().map(|node| node.whole.cost(impurity) + lambda).collect();
    // Children come after their parents.
    for (id, node) in grown.nodes.iter_mut().enumerate().rev() {
        let Some((_, [left, right])) = node.split else { continue };
        let below = costs[left] + costs[right];
        if below < costs[id] {
            costs[id] = below;
        } else {
            node.split = None;
        }
    }
    grown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::BinnedDataset;

    use super::*;
    use crate::learning::adaboost::tree::tests::{IMPURITIES, limits};
    use crate::learning::adaboost::tree::{Limits, Sample};
    use crate::learning::votes::to_fixed;

    /// The costs of all subtrees with this root.
    fn all_costs(grown: &Grown, node: usize, impurity: Impurity, lambda: f64) -> Vec<f64> {
        let mut costs = vec![grown.nodes[node].whole.cost(impurity) + lambda];
        if let Some((_, [left, right])) = grown.nodes[node].split {
            let right = all_costs(grown, right, impurity, lambda);
            for left in all_costs(grown, left, impurity, lambda) {
                costs.extend(right.iter().map(|right| left + right));
            }
        }
        costs
    }

    fn cost(grown: &Grown, node: usize, impurity: Impurity, lambda: f64) -> f64 {
        match grown.nodes[node].split {
            Some((_, [left, right])) => cost(grown, left, impurity, lambda) + cost(grown, right, impurity, lambda),
            None => grown.nodes[node].whole.cost(impurity) + lambda,
        }
    }

    proptest! {
        #[test]
        fn no_subtree_is_cheaper(
            docs in prop::collection::vec((-3i8..4, 0u8..4, 0u8..4), 2..14),
            impurity in prop::sample::select(&IMPURITIES),
            lambda in prop_oneof![Just(0.0), 0.0..0.3],
        ) {
            let columns = [docs.iter().map(|doc| f32::from(doc.1)).collect(), docs.iter().map(|doc| f32::from(doc.2)).collect()];
            let binned = BinnedDataset::from_columns(&columns);
            let total: f64 = docs.iter().map(|doc| f64::from(doc.0).abs()).sum();
            prop_assume!(total > 0.0);
            let weights: Vec<i64> = docs.iter().map(|doc| to_fixed(f64::from(doc.0) / total)).collect();
            let sample = Sample::new(&binned, &weights);
            let grown = sample.grow(Limits { max_depth: 3, ..limits(impurity) });
            let least = all_costs(&grown, 0, impurity, lambda).into_iter().fold(f64::INFINITY, f64::min);
            let kept = pruned(grown, impurity, lambda);
            // A tree that knows the price while it grows ends up the same.
            let sooner = sample.grow(Limits { max_depth: 3, price: lambda, ..limits(impurity) });
            prop_assert_eq!(pruned(sooner, impurity, lambda).tree(1.0), kept.tree(1.0));
            prop_assert!((cost(&kept, 0, impurity, lambda) - least).abs() < 1e-12);
        }
    }

    #[test]
    fn a_price_of_0_keeps_what_lowers_the_cost_and_a_high_one_nothing() {
        let binned = BinnedDataset::from_columns(&[vec![1.0, 2.0, 3.0, 4.0]]);
        let weights = [0.25, -0.25, 0.25, -0.25].map(to_fixed);
        let grown = Sample::new(&binned, &weights).grow(limits(Impurity::Gini));
        assert_eq!(pruned(grown.clone(), Impurity::Gini, 0.0).tree(1.0).n_leaves(), 4);
        assert_eq!(pruned(grown, Impurity::Gini, 0.5).tree(1.0).n_leaves(), 1);
    }
}
