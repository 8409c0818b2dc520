//! The parameters of one tree.

use rankwise_params::{CrossCheck, ParamError, Range, param_enum, param_group};

use crate::leaf::Regularisation;
use crate::{Growth, LeavesSchedule, Monotone};

param_enum! {
    /// Which derivatives count.
    pub enum Derivative {
        /// First and second.
        Newton = "newton",
        /// The first only; each document counts with its weight in place of the second.
        Gradient = "gradient",
    }
}

param_enum! {
    /// Which code grows the trees.
    pub enum EngineKind {
        /// The one that is made for speed.
        Fast = "fast",
        /// The one that is made to be read.
        Plain = "plain",
    }
}

param_group! {
    /// How a tree is grown.
    pub TreeSpec => TreeParams, SetTrees, "Trees" {
        /// Which node is split next: the one with the largest gain (leafwise), all of a level (levelwise), or all of a
        /// level by one common question (oblivious).
        grow: Growth = Growth::Leafwise, Range::ANY, ["grow_policy", "growing_policy"];
        /// Most leaves in a tree. For oblivious trees `max_depth` decides alone where it is given.
        num_leaves: usize = 31, Range::closed(2.0, 131_072.0), ["num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"];
        /// Trees that grow more complex: most leaves from a tree on, counted from 0, as in `0:8,100:16,300:64`. Before the first entry
        /// `num_leaves` holds.
        leaves_schedule: LeavesSchedule = LeavesSchedule::default(), Range::closed(2.0, 131_072.0), [];
        /// Most splits on a path from the root to a leaf; 0 or less is no limit.
        max_depth: i32 = -1, Range::closed(-1.0, 1000.0), ["depth"];
        /// Fewest documents in a leaf.
        min_data_in_leaf: usize = 20, Range::at_least(0.0),
            ["min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"];
        /// Smallest sum of Hessians in a leaf.
        min_sum_hessian_in_leaf: f64 = 1e-3, Range::at_least(0.0),
            ["min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight"];
        /// L1 regularisation of leaf values.
        lambda_l1: f64 = 0.0, Range::at_least(0.0), ["reg_alpha", "alpha", "l1_regularization"];
        /// L2 regularisation of leaf values.
        lambda_l2: f64 = 0.0, Range::at_least(0.0), ["reg_lambda", "lambda", "l2_leaf_reg", "l2_regularization"];
        /// Multiply the value of a leaf with n documents by n / (n + this): small leaves may be there but count little.
        leaf_smoothing: f64 = 0.0, Range::at_least(0.0), [];
        /// Smallest gain that justifies a split.
        min_gain_to_split: f64 = 0.0, Range::at_least(0.0), ["min_split_gain", "gamma", "min_split_loss"];
        /// Grow first, and cut then, from the leaves up, splits that gain no more than `min_gain_to_split` and have no other below
        /// them: a poor split may lead to a good one.
        prune: bool = false, Range::ANY, [];
        /// Share of the features that each tree may use.
        feature_fraction: f64 = 1.0, Range::above_to(0.0, 1.0), ["sub_feature", "colsample_bytree", "rsm"];
        /// Share of the tree's features that each node may use.
        feature_fraction_bynode: f64 = 1.0, Range::above_to(0.0, 1.0), ["sub_feature_bynode", "colsample_bynode"];
        /// Features whose score may only rise (1) or fall (-1) with the value: `id:direction` pairs as in `3:1,7:-1`,
        /// or a list by feature id from 0.
        monotone_constraints: Monotone = Monotone::default(), Range::ANY, ["mc", "monotone_constraint"];
        /// Derivatives that decide the splits.
        structure: Derivative = Derivative::Newton, Range::ANY, [];
        /// Which code grows the trees; the model does not depend on it. Oblivious trees always take the plain one.
        engine: EngineKind = EngineKind::Fast, Range::ANY, [];
        /// Megabytes for the sums of nodes that wait to be split; those of the least promising are dropped beyond that, and
        /// summed again when their turn comes. At least 8 nodes keep theirs; -1 is no limit. The model does not depend on
        /// it. Oblivious trees keep all.
        histogram_pool_mb: f64 = 256.0, Range::at_least(-1.0), ["histogram_pool_size", "hist_pool_size"];
        /// Derivatives that decide the leaf values.
        leaf_estimation: Derivative = Derivative::Newton, Range::ANY, ["leaf_estimation_method"];
    }
}

impl CrossCheck for TreeSpec {
    fn cross_check(&mut self) -> Result<(), ParamError> {
        if self.grow == Growth::Oblivious && self.max_depth > 20 {
            let depth = self.max_depth;
            let problem = format!("an oblivious tree of depth {depth} has 2^{depth} leaves; give at most 20");
            return Err(ParamError::conflict("max_depth", problem));
        }
        if self.grow == Growth::Oblivious && self.max_depth > 0 && !self.leaves_schedule.is_empty() {
            let problem = "max_depth alone decides how many leaves an oblivious tree has; leave one of the two out";
            return Err(ParamError::conflict("leaves_schedule", problem));
        }
        if self.grow == Growth::Oblivious && self.prune {
            let problem = "the nodes of a level share their split, so none can be cut alone; leave it out";
            return Err(ParamError::conflict("prune", problem));
        }
        Ok(())
    }
}

impl TreeParams {
    /// Most leaves of a tree, counted from 0.
    pub fn leaves_of(&self, tree: usize) -> usize {
        self.leaves_schedule.at(tree).unwrap_or(self.num_leaves)
    }

    /// The value of a leaf with so many rows and these sums of derivatives, before the learning rate; 0 where it has no curvature.
    pub fn leaf_value(&self, count: usize, (grad, hess): (f64, f64)) -> f64 {
        let value = Regularisation { l1: self.lambda_l1, l2: self.lambda_l2 }.leaf_value(grad, hess);
        let count = count as f64;
        if self.leaf_smoothing > 0.0 { value * (count / (count + self.leaf_smoothing)) } else { value }
    }

    /// The gain that a split must exceed while a tree grows.
    pub(crate) fn least_gain(&self) -> f64 {
        if self.prune { 0.0 } else { self.min_gain_to_split }
    }

    /// The leaf limit of a tree that may have so many leaves.
    pub(crate) fn leaf_limit(&self, num_leaves: usize) -> usize {
        if self.grow == Growth::Oblivious && self.max_depth > 0 { usize::MAX } else { num_leaves }
    }

    /// The depth limit; `usize::MAX` is none.
    pub(crate) fn depth_limit(&self) -> usize {
        usize::try_from(self.max_depth).ok().filter(|depth| *depth > 0).unwrap_or(usize::MAX)
    }
}
