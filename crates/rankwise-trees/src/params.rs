//! The parameters of one tree.

use rankwise_params::{CrossCheck, ParamError, Range, param_enum, param_group};

use crate::leaf::Regularisation;
use crate::{Growth, LeavesSchedule, Monotone};

/// The defaults of `num_leaves` and `lambda_l2` for oblivious and for other trees (`experiments/defaults`).
const OBLIVIOUS: (usize, f64) = (64, 3.0);
const OTHERS: (usize, f64) = (31, 0.0);

/// What `check()` does with values that are not typed.
const SET: &str = "set by the check";

param_enum! {
    /// Which derivatives are used.
    pub enum Derivative {
        /// First and second.
        Newton = "newton",
        /// First only; the weight of each document replaces its second derivative.
        Gradient = "gradient",
    }
}

param_enum! {
    /// Which implementation grows the trees.
    pub enum EngineKind {
        /// Optimised for speed.
        Fast = "fast",
        /// Optimised for reading.
        Plain = "plain",
    }
}

param_group! {
    /// How a tree is grown.
    pub TreeSpec => TreeParams, SetTrees, "Trees" {
        /// Growth policy: split the node with the largest gain (leafwise), all nodes of a level (levelwise), or all nodes of a
        /// level with the same split (oblivious); auto is leafwise if `num_leaves`, `leaves_schedule` or `prune` is set or the
        /// learner is random-forest, and otherwise oblivious.
        grow: Option<Growth> = None, Range::ANY, ["grow_policy", "growing_policy"];
        /// Maximum number of leaves per tree; auto is 64 for oblivious trees and 31 for others. Ignored for oblivious trees if
        /// `max_depth` is set.
        num_leaves: Option<usize> = None, Range::closed(2.0, 131_072.0), ["num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"];
        /// Maximum number of leaves by tree: a list of first tree (counted from 0) and leaves, such as `0:8,100:16,300:64`.
        /// Before the first entry, `num_leaves` applies.
        leaves_schedule: LeavesSchedule = LeavesSchedule::default(), Range::closed(2.0, 131_072.0), [];
        /// Maximum depth of a tree, in splits from the root to a leaf; 0 or less means no limit.
        max_depth: i32 = -1, Range::closed(-1.0, 1000.0), ["depth"];
        /// Minimum number of documents in a leaf.
        min_data_in_leaf: usize = 20, Range::at_least(0.0),
            ["min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"];
        /// Minimum sum of Hessians in a leaf.
        min_sum_hessian_in_leaf: f64 = 1e-3, Range::at_least(0.0),
            ["min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight"];
        /// L1 regularisation of leaf values.
        lambda_l1: f64 = 0.0, Range::at_least(0.0), ["reg_alpha", "alpha", "l1_regularization"];
        /// L2 regularisation of leaf values; auto is 3 for oblivious trees and 0 for others.
        lambda_l2: Option<f64> = None, Range::at_least(0.0), ["reg_lambda", "lambda", "l2_leaf_reg", "l2_regularization"];
        /// Multiply the value of a leaf with n documents by n / (n + leaf_smoothing), which reduces the influence of small
        /// leaves.
        leaf_smoothing: f64 = 0.0, Range::at_least(0.0), [];
        /// Minimum gain of a split.
        min_gain_to_split: f64 = 0.0, Range::at_least(0.0), ["min_split_gain", "gamma", "min_split_loss"];
        /// Apply `min_gain_to_split` after growing: remove splits of too little gain from the leaves upwards, so that a poor
        /// split stays if a good one follows below it.
        prune: bool = false, Range::ANY, [];
        /// Fraction of the features that each tree may use.
        feature_fraction: f64 = 1.0, Range::above_to(0.0, 1.0), ["sub_feature", "colsample_bytree", "rsm"];
        /// Fraction of the tree's features that each node may use.
        feature_fraction_bynode: f64 = 1.0, Range::above_to(0.0, 1.0), ["sub_feature_bynode", "colsample_bynode"];
        /// Monotone constraints: the score may only increase (1) or decrease (-1) with the feature. Either `id:direction`
        /// pairs, such as `3:1,7:-1`, or one direction per feature, from id 0 on, with 0 for no constraint.
        monotone_constraints: Monotone = Monotone::default(), Range::ANY, ["mc", "monotone_constraint"];
        /// Derivatives for finding splits: first and second (newton) or first only (gradient).
        structure: Derivative = Derivative::Newton, Range::ANY, [];
        /// Implementation that grows the trees; the model does not depend on it.
        engine: EngineKind = EngineKind::Fast, Range::ANY, [];
        /// Memory in MB for histograms of nodes that are not split yet; -1 means no limit. Beyond it, the histograms of the
        /// least promising nodes are dropped and recomputed when needed; at least 8 are kept. A level of an oblivious tree that
        /// does not fit is searched without keeping histograms. The model does not depend on it.
        histogram_pool_mb: f64 = 256.0, Range::at_least(-1.0), ["histogram_pool_size", "hist_pool_size"];
        /// Derivatives for computing leaf values: first and second (newton) or first only (gradient).
        leaf_estimation: Derivative = Derivative::Newton, Range::ANY, ["leaf_estimation_method"];
    }
}

impl CrossCheck for TreeSpec {
    fn cross_check(&mut self) -> Result<(), ParamError> {
        let is_bounded = self.num_leaves.is_some() || !self.leaves_schedule.is_empty() || self.prune;
        let growth = *self.grow.get_or_insert(if is_bounded { Growth::Leafwise } else { Growth::Oblivious });
        let (leaves, l2) = if growth == Growth::Oblivious { OBLIVIOUS } else { OTHERS };
        self.num_leaves.get_or_insert(leaves);
        self.lambda_l2.get_or_insert(l2);
        if growth == Growth::Oblivious && self.max_depth > 20 {
            let depth = self.max_depth;
            let problem = format!("an oblivious tree of depth {depth} has 2^{depth} leaves; use at most 20");
            return Err(ParamError::conflict("max_depth", problem));
        }
        if growth == Growth::Oblivious && self.max_depth > 0 && !self.leaves_schedule.is_empty() {
            let problem = "max_depth already limits the leaves of an oblivious tree; remove one of the two";
            return Err(ParamError::conflict("leaves_schedule", problem));
        }
        if growth == Growth::Oblivious && self.prune {
            let problem = "the nodes of a level share their split, so single splits cannot be pruned; remove it";
            return Err(ParamError::conflict("prune", problem));
        }
        Ok(())
    }
}

impl TreeParams {
    /// The growth policy.
    pub fn growth(&self) -> Growth {
        self.grow.expect(SET)
    }

    /// L2 regularisation of leaf values.
    pub fn l2(&self) -> f64 {
        self.lambda_l2.expect(SET)
    }

    /// The maximum number of leaves of a tree; trees are counted from 0.
    pub fn leaves_of(&self, tree: usize) -> usize {
        self.leaves_schedule.at(tree).unwrap_or_else(|| self.num_leaves.expect(SET))
    }

    /// The value of a leaf with `count` rows and these sums of derivatives, before the learning rate; 0 if its Hessian is 0.
    pub fn leaf_value(&self, count: usize, (grad, hess): (f64, f64)) -> f64 {
        let value = Regularisation { l1: self.lambda_l1, l2: self.l2() }.leaf_value(grad, hess);
        let count = count as f64;
        if self.leaf_smoothing > 0.0 { value * (count / (count + self.leaf_smoothing)) } else { value }
    }

    /// The gain that a split must exceed while a tree grows.
    pub(crate) fn least_gain(&self) -> f64 {
        if self.prune { 0.0 } else { self.min_gain_to_split }
    }

    /// The leaf limit of a tree with this `num_leaves`; `usize::MAX` if `max_depth` decides instead.
    pub fn leaf_limit(&self, num_leaves: usize) -> usize {
        if self.growth() == Growth::Oblivious && self.max_depth > 0 { usize::MAX } else { num_leaves }
    }

    /// The depth limit; `usize::MAX` is none.
    pub(crate) fn depth_limit(&self) -> usize {
        usize::try_from(self.max_depth).ok().filter(|depth| *depth > 0).unwrap_or(usize::MAX)
    }
}
