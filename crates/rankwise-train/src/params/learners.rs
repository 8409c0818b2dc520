//! Parameters of the learners that are not gradient boosting.

use rankwise_params::{CrossCheck, ParamError, Range, param_enum, param_group};

param_enum! {
    /// How the values of a feature become inputs.
    pub enum Scaling {
        /// As they are.
        None = "none",
        /// Mean 0 and standard deviation 1 over the training data.
        Standard = "standard",
        /// From 0 to 1 within each query.
        Query = "query",
    }
}

param_enum! {
    /// The loss of a pair whose scores differ by t in the right direction.
    pub enum SvmLoss {
        /// max(0, 1 - t).
        Hinge = "hinge",
        /// max(0, 1 - t)^2.
        SquaredHinge = "squared-hinge" | "squared_hinge",
    }
}

param_enum! {
    /// What AdaBoost adds in a round.
    pub enum WeakLearner {
        /// A tree with one split.
        Stump = "stump",
        /// A classification tree, grown full and pruned.
        Tree = "tree",
    }
}

param_enum! {
    /// The impurity of a node with the share p of relevant weight.
    pub enum Impurity {
        /// -p ln p - (1 - p) ln (1 - p).
        Entropy = "entropy",
        /// 2 p (1 - p).
        Gini = "gini",
        /// min(p, 1 - p).
        Error = "error",
    }
}

param_enum! {
    /// What RankBoost adds in a round.
    pub enum WeakRanker {
        /// Whether a feature is above a threshold, weighted by its correlation with the pairs.
        Threshold = "threshold",
        /// The same, with the weight that minimises the loss exactly.
        ThresholdExact = "threshold-exact" | "threshold_exact",
        /// The value of a feature from 0 to 1, weighted by its correlation with the pairs.
        Correlation = "correlation",
        /// The same, with the weight that minimises the loss exactly.
        Search = "search",
    }
}

param_enum! {
    /// The architecture of a neural ranker.
    pub enum Network {
        /// Each document by itself: a multi-layer perceptron.
        Mlp = "mlp",
        /// The documents of a list together, by self-attention.
        Attention = "attention",
    }
}

param_enum! {
    /// What keeps the activations of a neural ranker on one scale.
    pub enum Norm {
        /// Nothing.
        None = "none",
        /// The mean and deviation over the units of a document.
        Layer = "layer",
        /// The mean and deviation of a unit over the documents of a batch.
        Batch = "batch",
    }
}

param_group! {
    /// Learners other than boosted trees.
    pub LearnerSpec => LearnerParams, SetLearner, "Other learners" {
        /// linear, ranksvm, adarank, coordinate-ascent, neural: how feature values are scaled. none leaves them as they are;
        /// standard gives each feature mean 0 and deviation 1 over the training data; query scales to 0..1 within each query.
        scaling: Scaling = Scaling::Standard, Range::ANY, ["normalisation"];
        /// linear, ranksvm, adarank, coordinate-ascent, neural: replace values by sign(x) ln(1 + |x|) before they are scaled;
        /// auto is true for neural and false otherwise.
        log1p: Option<bool> = None, Range::ANY, [];
        /// linear, ranksvm: weight of the loss against the regularisation: |w|^2 / 2 + `c` times the sum of the losses is
        /// minimised; auto divides 100 by the number of queries.
        c: Option<f64> = None, Range::above(0.0), ["svm_c"];
        /// linear, ranksvm: stop when the loss improves by less than this share of it. coordinate-ascent: start again when a sweep
        /// improves the metric by less. adarank: undo rounds that lower the metric by more. auto is 1e-6 for linear and ranksvm,
        /// 0.001 for coordinate-ascent and 0.002 for adarank.
        tolerance: Option<f64> = None, Range::closed(0.0, 1.0), ["tol"];
        /// ranksvm: loss of a pair.
        svm_loss: SvmLoss = SvmLoss::SquaredHinge, Range::ANY, [];
        /// adaboost: what is added in a round: a tree with one split (stump), or a tree that is grown full and pruned (tree).
        weak_learner: WeakLearner = WeakLearner::Stump, Range::ANY, [];
        /// adaboost: impurity that splits minimise, and Q of pruning.
        impurity: Impurity = Impurity::Gini, Range::ANY, ["criterion"];
        /// adaboost: price of a leaf: trees are pruned to the smallest sum of Q over leaves plus `prune_lambda` times the number of
        /// leaves. The weights of all documents add up to 1.
        prune_lambda: f64 = 0.001, Range::at_least(0.0), ["ccp_alpha"];
        /// rankboost: what is added in a round: whether a feature is above a threshold, weighted by its correlation with the order
        /// of pairs (threshold) or by the weight that minimises the loss (threshold-exact); or its value from 0 to 1, weighted in
        /// the same two ways (correlation, search).
        weak_ranker: WeakRanker = WeakRanker::Threshold, Range::ANY, [];
        /// coordinate-ascent: number of times to start again, from random weights.
        restarts: usize = 5, Range::closed(0.0, 1000.0), ["n_restarts"];
        /// neural: architecture. attention looks at the documents of a query together.
        network: Network = Network::Attention, Range::ANY, ["architecture"];
        /// neural: number of units of the hidden layers.
        hidden: usize = 32, Range::closed(1.0, 4096.0), ["hidden_units", "hidden_size"];
        /// neural: number of hidden layers, or of attention blocks.
        layers: usize = 2, Range::closed(1.0, 32.0), ["n_layers", "num_layers"];
        /// neural: number of attention heads; must divide `hidden`.
        heads: usize = 4, Range::closed(1.0, 64.0), ["n_heads", "num_heads"];
        /// neural: normalisation of activations.
        norm: Norm = Norm::Layer, Range::ANY, ["normalization"];
        /// neural: probability of dropping an activation in training.
        dropout: f64 = 0.1, Range::closed(0.0, 0.95), [];
        /// neural: standard deviation of the noise that is added to inputs in training.
        input_noise: f64 = 0.3, Range::at_least(0.0), [];
        /// neural: number of passes over the training data.
        epochs: usize = 20, Range::closed(1.0, 1e6), ["n_epochs", "num_epochs"];
        /// neural: number of queries in a step.
        batch_queries: usize = 8, Range::at_least(1.0), ["batch_size"];
        /// neural: step size of Adam.
        adam_rate: f64 = 0.001, Range::above_to(0.0, 10.0), ["adam_lr"];
        /// neural: weight decay of Adam, apart from its step size.
        weight_decay: f64 = 0.1, Range::at_least(0.0), [];
    }
}

impl CrossCheck for LearnerSpec {
    fn cross_check(&mut self) -> Result<(), ParamError> {
        if self.network == Network::Attention && !self.hidden.is_multiple_of(self.heads) {
            let problem = format!("{} heads do not divide {} hidden units; use a divisor", self.heads, self.hidden);
            return Err(ParamError::conflict("heads", problem));
        }
        Ok(())
    }
}
