//! Explains why a run has no trees.
//!
//! Some causes show in the data. For the others, the root is searched again with one limit lifted at a time. The cause
//! is the first limit without which there is a split.

use rankwise_trees::{Derivative, Derivatives, EngineSetup, GrowInput, Grower, TreeParams, TreeSpec};

use crate::Sample;
use crate::boost::Run;

/// Why no tree was added to a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTrees {
    /// No node can be split into two leaves that are large enough.
    #[error("{} too few for two leaves with min_data_in_leaf={min_data_in_leaf}; {}", self.documents(), self.fewer())]
    TooFewDocuments {
        /// The number of documents that a tree sees.
        seen: usize,
        /// The number of training documents.
        all: usize,
        /// The parameter.
        min_data_in_leaf: usize,
        /// How the documents of a tree are sampled.
        sample: Sample,
    },
    /// All gradients are 0, because all labels are equal.
    #[error("all labels are equal; check the labels")]
    EqualLabels,
    /// All gradients are 0: the objective cannot improve the scores any further, or all weights are 0.
    #[error("all gradients are 0; check the labels and the weights")]
    NoGradient,
    /// These parameters prevent every split. Lifting the first (or all of them, if one is not enough) allows one.
    #[error("{} no split; change {}", self.forbid(), if params.len() == 1 { "it" } else { "them" })]
    Limits {
        /// Names and values.
        params: Vec<(&'static str, String)>,
    },
    /// No split lowers the loss.
    #[error("no split reduces the loss; check that features differ between documents of a query")]
    NoGain,
    /// Trees were grown, but the model is best without them.
    #[error(
        "none of {rounds} rounds improves {metric} on the first validation set; check that it matches the training data"
    )]
    NotBetter {
        /// Rounds of boosting.
        rounds: usize,
        /// The metric for early stopping.
        metric: String,
    },
}

impl NoTrees {
    fn documents(&self) -> String {
        match self {
            Self::TooFewDocuments { seen, all, .. } if seen < all => {
                format!("a tree is trained on {seen} of {all} documents,")
            }
            Self::TooFewDocuments { seen: 1, .. } => "1 document is".into(),
            Self::TooFewDocuments { seen, .. } => format!("{seen} documents are"),
            _ => String::new(),
        }
    }

    fn fewer(&self) -> String {
        match self {
            Self::TooFewDocuments { seen, .. } if *seen >= 2 => format!("set min_data_in_leaf={} or less", seen / 2),
            Self::TooFewDocuments { seen, all, sample, .. } if seen < all => match sample {
                Sample::Bagging | Sample::QueryBagging => "increase bagging_fraction".into(),
                _ => "sample more documents".into(),
            },
            _ => "add more data".into(),
        }
    }

    fn forbid(&self) -> String {
        let Self::Limits { params } = self else { return String::new() };
        let named: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", named.join(" and "), if named.len() == 1 { "allows" } else { "together allow" })
    }
}

/// A limit on splits, and how to lift it.
struct Limit {
    name: &'static str,
    value: fn(&TreeParams) -> String,
    lift: fn(&mut TreeSpec),
}

/// In the order in which they are tried.
const LIMITS: [Limit; 7] = [
    Limit {
        name: "min_data_in_leaf",
        value: |trees| trees.min_data_in_leaf.to_string(),
        lift: |spec| spec.min_data_in_leaf = 0,
    },
    Limit {
        name: "min_sum_hessian_in_leaf",
        value: |trees| trees.min_sum_hessian_in_leaf.to_string(),
        lift: |spec| spec.min_sum_hessian_in_leaf = 0.0,
    },
    Limit {
        name: "min_gain_to_split",
        value: |trees| trees.min_gain_to_split.to_string(),
        lift: |spec| spec.min_gain_to_split = 0.0,
    },
    Limit { name: "lambda_l1", value: |trees| trees.lambda_l1.to_string(), lift: |spec| spec.lambda_l1 = 0.0 },
    Limit {
        name: "monotone_constraints",
        value: |trees| rankwise_params::ParamValue::render(&trees.monotone_constraints),
        lift: |spec| spec.monotone_constraints = TreeSpec::default().monotone_constraints,
    },
    Limit {
        name: "feature_fraction",
        value: |trees| trees.feature_fraction.to_string(),
        lift: |spec| spec.feature_fraction = 1.0,
    },
    Limit {
        name: "feature_fraction_bynode",
        value: |trees| trees.feature_fraction_bynode.to_string(),
        lift: |spec| spec.feature_fraction_bynode = 1.0,
    },
];

impl Run<'_> {
    /// Why the run has no tree with a split, if so. Looks at the next round.
    pub(crate) fn no_trees(&mut self) -> Option<NoTrees> {
        let is_split = |tree: &rankwise_model::Tree| tree.n_leaves() > 1;
        if self.trees.iter().any(is_split) {
            let is_cut = !self.best.values.is_empty() && !self.trees[..self.best.n_trees].iter().any(is_split);
            let metric = || self.params.boosting().metric[0].as_str().to_owned();
            return is_cut.then(|| NoTrees::NotBetter { rounds: self.n_tried, metric: metric() });
        }
        self.compute_gradients();
        if !self.share.any(self.grad.iter().any(|grad| *grad != 0.0)) {
            let labels = self.data.labels();
            let is_mixed = self.share.any(labels.iter().any(|label| Some(label) != labels.first()));
            return Some(if is_mixed { NoTrees::NoGradient } else { NoTrees::EqualLabels });
        }
        let rows = self.rows_of_round();
        let (seen, all) = (self.share.count(rows.len()), self.share.all_rows());
        let trees = self.params.trees();
        let min_data_in_leaf = trees.min_data_in_leaf;
        if seen < min_data_in_leaf.max(1).saturating_mul(2) {
            let sample = self.params.boosting().sample;
            return Some(NoTrees::TooFewDocuments { seen, all, min_data_in_leaf, sample });
        }
        Some(self.limit_in_the_way(&rows))
    }

    /// Lifts one limit after another, then all.
    fn limit_in_the_way(&self, rows: &[u32]) -> NoTrees {
        let trees = self.params.trees();
        let in_force = || {
            LIMITS.iter().filter(|limit| {
                let mut spec = TreeSpec::clone(trees);
                (limit.lift)(&mut spec);
                spec != **trees
            })
        };
        let named = |limit: &Limit| (limit.name, (limit.value)(trees));
        for limit in in_force() {
            if self.has_split_without([limit], rows) {
                return NoTrees::Limits { params: vec![named(limit)] };
            }
        }
        if self.has_split_without(in_force(), rows) {
            return NoTrees::Limits { params: in_force().map(named).collect() };
        }
        NoTrees::NoGain
    }

    /// Whether the root can be split without these limits.
    fn has_split_without<'l>(&self, lifted: impl IntoIterator<Item = &'l Limit>, rows: &[u32]) -> bool {
        let mut spec = TreeSpec::clone(self.params.trees());
        lifted.into_iter().for_each(|limit| (limit.lift)(&mut spec));
        spec.num_leaves = Some(2);
        let Ok(trees) = spec.check() else { return false };
        let setup = EngineSetup { data: self.binned, params: &trees, simd: self.simd, reduce: self.share.reduce };
        let mut grower = Grower::new(setup, self.params.boosting().seed);
        let n_rows = self.data.n_rows();
        (0..self.output.n_outputs()).any(|output| {
            let plane = output * n_rows..(output + 1) * n_rows;
            let hess = match (trees.structure, &self.gradient_sampling) {
                (Derivative::Newton, _) => &self.hess[plane.clone()],
                (Derivative::Gradient, Some(sampling)) => &sampling.weights[..],
                (Derivative::Gradient, None) => &self.weights[..],
            };
            let derivatives = Derivatives { grad: &self.grad[plane], hess };
            let grown = grower.grow(&GrowInput {
                tree: self.round(),
                output,
                num_leaves: 2,
                structure: derivatives,
                leaves: derivatives,
                rows,
                learning_rate: 1.0,
                leaf_noise: None,
            });
            grown.tree.n_leaves() > 1
        })
    }

    /// The rows that the next tree would see.
    fn rows_of_round(&mut self) -> Vec<u32> {
        let round = self.round();
        match (&self.gradient_sampling, &self.part) {
            (Some(sampling), _) => sampling.rows.clone(),
            (None, Some(part)) => part.rows.clone(),
            (None, None) => self.bag.rows(round).to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_the_parameter_and_what_to_do() {
        let few = |seen, all| {
            NoTrees::TooFewDocuments { seen, all, min_data_in_leaf: 20, sample: Sample::Bagging }.to_string()
        };
        assert_eq!(
            few(7, 7),
            "7 documents are too few for two leaves with min_data_in_leaf=20; set min_data_in_leaf=3 or less"
        );
        assert_eq!(few(1, 1), "1 document is too few for two leaves with min_data_in_leaf=20; add more data");
        assert!(few(1, 99).ends_with("min_data_in_leaf=20; increase bagging_fraction"));
        let sampled = "a tree is trained on 30 of 99 documents, too few for two leaves with min_data_in_leaf=20; set";
        assert!(few(30, 99).starts_with(sampled), "{}", few(30, 99));
        let limits = |params: &[(&'static str, &str)]| {
            let params = params.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
            NoTrees::Limits { params }.to_string()
        };
        assert_eq!(limits(&[("min_gain_to_split", "1e9")]), "min_gain_to_split=1e9 allows no split; change it");
        assert_eq!(
            limits(&[("lambda_l1", "5"), ("min_data_in_leaf", "9")]),
            "lambda_l1=5 and min_data_in_leaf=9 together allow no split; change them"
        );
    }
}
