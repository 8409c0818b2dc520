"""The parameters of training. `cargo xtask docs` generates this module from the code; do not edit it."""

from __future__ import annotations

from typing import Any, Literal

ParamValue = str | int | float | bool | list[Any] | tuple[Any, ...] | None


class Parameters:
    r"""Parameters of training, as named arguments. Other arguments are aliases of these.

    Parameters
    ----------
    num_trees : an integer from 1 to 1000000, default 150
        Maximum number of trees.
        Aliases: num_iterations, num_iteration, n_iter, num_tree, num_round, num_rounds, nrounds,
        num_boost_round, n_estimators, iterations, max_iter.
    learning_rate : a number above 0 and at most 10, default 0.07
        Factor for the leaf values of each tree.
        Aliases: shrinkage_rate, eta.
    step : shrinkage|line|exact, default "shrinkage"
        Step size of each tree: the learning rate (shrinkage); the learning rate times the step that
        minimises the loss (line); or the step that maximises the mean of `target` over the training queries
        (exact).
    early_stopping_rounds : an integer of at least 0, default 0
        Stop when the first metric on the first validation set has not improved for this many rounds; 0
        disables early stopping.
        Aliases: early_stopping_round, early_stopping, n_iter_no_change, od_wait.
    metric : comma-separated metrics (ndcg|dcg|map|mrr|err|p|recall|hits|f1|r-precision|auc|query-auc|pfound|rbp|bpref|dcg-rr|pair-accuracy|kendall-tau|arp|lrap|pair-logit), most of them with an optional cutoff @k, default "ndcg@10"
        Metrics on the validation sets; the first one selects the best iteration.
        Aliases: metrics, metric_types, eval_metric, custom_metric.
    sample : none|bagging|query-bagging|selective|high-low|negatives|inliers|goss|mvs, default "none"
        How the documents that each tree is trained on are sampled.
    bagging_fraction : a number above 0 and at most 1, default 1
        Fraction of the documents (or queries) in a sample.
        Aliases: sub_row, subsample, bagging.
    bagging_freq : an integer of at least 0, default 0
        bagging, query-bagging: draw a new sample every `bagging_freq` trees. 0 counts as 1 if `sample` is
        set, and otherwise means no bagging.
        Aliases: subsample_freq.
    bagging_by_query : true|false, default False
        Sample whole queries instead of documents.
    p_high : auto or a number from 0 to 100, default "auto"
        selective, high-low: percentage of each query's negative documents (label 0) to keep from the top of
        its current ranking; auto is 40 for selective and 20 for high-low.
    p_low : auto or a number from 0 to 100, default "auto"
        high-low: percentage of the negative documents to keep from the bottom of the ranking; auto is 40.
    p_negatives : a number above 0 and at most 100, default 20
        negatives: percentage of each query's negative documents to draw.
    sample_every : an integer of at least 1, default 1
        selective, high-low, negatives: select documents again every `sample_every` trees. The first
        `sample_every` - 1 trees use all documents.
    sample_rounding : nearest|up|down, default "nearest"
        selective, high-low, negatives: how the number of documents is rounded; it is at least one unless
        the percentage is 0.
    sample_drop_empty : true|false, default False
        selective, high-low, negatives: skip queries without a positive document.
    top_rate : a number above 0 and at most 1, default 0.2
        goss: fraction of the documents, those with the largest gradients, that are always kept.
    other_rate : a number above 0 and at most 1, default 0.1
        goss: fraction of the documents to draw from the others.
    mvs_reg : auto or a number of at least 0, default "auto"
        mvs: regularisation, the weight of Hessians relative to gradients; auto is (sum of |g| / sum of
        h)^2.
        Aliases: mvs_lambda.
    outlier_trees : an integer from 1 to 1000000, default 100
        inliers: number of trees of the preliminary model.
    outlier_last : a number above 0 and at most 100, default 50
        inliers: ranks are checked after each of the last `outlier_last` percent of the preliminary model's
        trees. A document that is misplaced after all of them is an outlier.
    outlier_high : a number from 0 to 100, default 20
        inliers: an irrelevant document is misplaced if it is in the top `outlier_high` percent of its
        query's ranking, and also within the first R ranks, where R is the number of relevant documents.
    outlier_low : a number from 0 to 100, default 20
        inliers: a relevant document is misplaced if it is in the bottom `outlier_low` percent of its
        query's ranking, and also within the last N ranks, where N is the number of irrelevant documents.
    learner : gbdt|dart|random-forest|linear|neural|adaboost|rankboost|ranksvm|adarank|coordinate-ascent, default "gbdt"
        Kind of ranker: gradient boosting (gbdt), boosting with dropout (dart), independent trees
        (random-forest), a weighted sum of features by the objective (linear), by margins of pairs (ranksvm)
        or by a metric (adarank, coordinate-ascent), a neural network (neural), or boosted classifiers
        (adaboost) or rankers of pairs (rankboost).
        Aliases: boosting, boosting_type, booster.
    drop_rate : a number from 0 to 1, default 0.1
        dart: probability of dropping an earlier tree while a new one is grown.
        Aliases: rate_drop.
    max_drop : an integer of at least 0, default 50
        dart: maximum number of dropped trees per round; 0 means no limit.
    skip_drop : a number from 0 to 1, default 0.5
        dart: probability of skipping the dropout in a round.
    uniform_drop : true|false, default False
        dart: drop all trees with the same probability, instead of favouring trees with larger weights.
    xgboost_dart_mode : true|false, default False
        dart: weight the new tree as XGBoost does.
    langevin : true|false, default False
        Stochastic gradient Langevin boosting: add noise that helps training to escape local optima.
    diffusion_temperature : a number above 0, default 10000
        langevin: inverse temperature; larger values mean less noise.
    model_shrink_rate : auto or a number of at least 0, default "auto"
        Shrinkage of the scores before each tree. They are multiplied by 1 - rate * `learning_rate`
        (constant) or by 1 - rate / tree number (decreasing). auto: 0 without langevin; with langevin, 0.001
        (constant) or 0.01 (decreasing).
    model_shrink_mode : constant|decreasing, default "constant"
        Whether the model shrinks by a constant or a decreasing factor; see `model_shrink_rate`.
    seed : an integer of at least 0, default 0
        Random seed.
        Aliases: random_seed, random_state.
    objective : lambdamart|lambdaloss|ranknet|hinge|yetirank|rmse|logistic|multiclass|query-rmse|softmax|listnet|xendcg|listmle|p-listmle|plackett-luce|approx-ndcg|stochasticrank|softrank|select-with-order, default "lambdamart"
        Objective (loss function) to optimise. Some names of other programs work too: lambdarank,
        rank_xendcg, binary, rank:ndcg, rank:pairwise, PairLogit, QuerySoftMax and others.
        Aliases: loss_function, application, app.
    truncation_level : auto or an integer of at least 1, default "auto"
        lambdamart, lambdaloss: only pairs with at least one document among the top `truncation_level` of
        the current ranking are used. The ideal DCG has the same cutoff, unless the target has one. auto:
        30; 32 with lambda_form=xgboost; all documents with lambda_form=paper and for lambdaloss.
        Aliases: lambdarank_truncation_level, lambdarank_num_pair_per_sample.
    lambda_form : lightgbm|xgboost|paper, default "lightgbm"
        lambdamart: which form of LambdaMART to use. Those of LightGBM and XGBoost use only pairs with a
        document at the top, and normalise; that of the paper uses all pairs, without normalisation.
    variant : 1|2|2++, default "2++"
        lambdaloss: NDCG-Loss1, NDCG-Loss2 or NDCG-Loss2++.
    mu : auto or a number from 0 to 1000000, default "auto"
        lambdaloss, variant 2++: weight of the NDCG-Loss2 part; auto is 5. stochasticrank: `mu` * `sigma` *
        label is subtracted from the score of each document before noise is added, so that ties count as in
        the worst order; auto is 0.
    noise : none|gumbel, default "none"
        lambdamart, lambdaloss: noise added to the scores before gradients are computed, drawn again for
        each tree and each of the `samples`.
    noise_strength : a number above 0 and at most 1000000, default 1
        lambdamart, lambdaloss: scale of that noise.
    yetirank_mode : classic|metric, default "classic"
        yetirank: weight neighbours by the difference of their labels (classic) or by the change of the
        target metric (metric).
        Aliases: mode.
    decay : a number above 0 and at most 1, default 0.85
        yetirank: decay factor of the weights per rank, in classic mode.
    sigmoid : a number from 0.000001 to 1000000, default 1
        lambdamart, lambdaloss, ranknet: steepness of the sigmoid of a pair's score difference. hinge:
        factor of the score difference; the margin is 1 / sigmoid.
    lambda_norm : true|false, default True
        lambdamart: divide each pair's weight by its score difference (plus 0.01), and multiply each query's
        gradients by log2(1 + S) / S, where S is twice the sum of the lambdas of its pairs.
        Aliases: lambdarank_norm, lambdarank_normalization.
    target : a metric (ndcg|dcg|map|mrr|err|p|recall|hits|pfound|rbp), optionally with a cutoff @k, default "ndcg"
        lambdamart, yetirank, plackett-luce, stochasticrank, softrank: metric to optimise, such as
        `ndcg@10`. lambdamart and yetirank support ndcg, dcg, map, mrr, err and p@k.
    samples : auto or an integer from 1 to 1000000, default "auto"
        Number of random samples that gradients are averaged over; auto is 10 for yetirank, 8 for
        plackett-luce and otherwise 1. listmle, p-listmle: number of random orders of documents with equal
        labels.
        Aliases: num_estimations, permutations.
    sigma : a number from 0.000001 to 1000000, default 1
        stochasticrank, softrank, select-with-order: scale of the noise that smooths the metric.
    sfa : true|false, default True
        stochasticrank, select-with-order: scale-free acceleration, which removes the component of the
        gradient that only rescales the scores.
    nu : a number from 0 to 1000000, default 0.01
        stochasticrank, select-with-order: constant added to the norm of the scores in `sfa`.
    sfa_min_docs : an integer of at least 1, default 1
        stochasticrank, select-with-order: minimum number of documents of a query for `sfa`; CatBoost uses
        3.
    estimator : ccs|reinforce, default "ccs"
        stochasticrank, softrank, select-with-order: gradient estimator, coordinate conditional sampling
        (ccs) or REINFORCE.
    temperature : a number from 0.000001 to 1000000, default 0.1
        approx-ndcg: temperature of the smooth ranks; smaller values approximate NDCG more closely.
    label_gain : comma-separated numbers, each at least 0, default ""
        Gains of the labels 0, 1, 2, ... in the objective; if empty, `gain` is used.
    grow : auto|leafwise|levelwise|oblivious, default "auto"
        Growth policy: split the node with the largest gain (leafwise), all nodes of a level (levelwise), or
        all nodes of a level with the same split (oblivious); auto is leafwise if `num_leaves`,
        `leaves_schedule` or `prune` is set or the learner is random-forest, and otherwise oblivious.
        Aliases: grow_policy, growing_policy.
    num_leaves : auto or an integer from 2 to 131072, default "auto"
        Maximum number of leaves per tree; auto is 64 for oblivious trees and 31 for others. Ignored for
        oblivious trees if `max_depth` is set.
        Aliases: num_leaf, max_leaves, max_leaf, max_leaf_nodes.
    leaves_schedule : a list of tree:leaves in ascending order of trees; leaves is an integer from 2 to 131072, default ""
        Maximum number of leaves by tree: a list of first tree (counted from 0) and leaves, such as
        `0:8,100:16,300:64`. Before the first entry, `num_leaves` applies.
    max_depth : an integer from -1 to 1000, default -1
        Maximum depth of a tree, in splits from the root to a leaf; 0 or less means no limit.
        Aliases: depth.
    min_data_in_leaf : an integer of at least 0, default 20
        Minimum number of documents in a leaf.
        Aliases: min_data_per_leaf, min_data, min_child_samples, min_samples_leaf.
    min_sum_hessian_in_leaf : a number of at least 0, default 0.001
        Minimum sum of Hessians in a leaf.
        Aliases: min_sum_hessian_per_leaf, min_sum_hessian, min_hessian, min_child_weight.
    lambda_l1 : a number of at least 0, default 0
        L1 regularisation of leaf values.
        Aliases: reg_alpha, alpha, l1_regularization.
    lambda_l2 : auto or a number of at least 0, default "auto"
        L2 regularisation of leaf values; auto is 3 for oblivious trees and 0 for others.
        Aliases: reg_lambda, lambda, l2_leaf_reg, l2_regularization.
    leaf_smoothing : a number of at least 0, default 0
        Multiply the value of a leaf with n documents by n / (n + leaf_smoothing), which reduces the
        influence of small leaves.
    min_gain_to_split : a number of at least 0, default 0
        Minimum gain of a split.
        Aliases: min_split_gain, gamma, min_split_loss.
    prune : true|false, default False
        Apply `min_gain_to_split` after growing: remove splits of too little gain from the leaves upwards,
        so that a poor split stays if a good one follows below it.
    feature_fraction : a number above 0 and at most 1, default 1
        Fraction of the features that each tree may use.
        Aliases: sub_feature, colsample_bytree, rsm.
    feature_fraction_bynode : a number above 0 and at most 1, default 1
        Fraction of the tree's features that each node may use.
        Aliases: sub_feature_bynode, colsample_bynode.
    monotone_constraints : a list of id:direction with directions 1 and -1, or one direction per feature, default ""
        Monotone constraints: the score may only increase (1) or decrease (-1) with the feature. Either
        `id:direction` pairs, such as `3:1,7:-1`, or one direction per feature, from id 0 on, with 0 for no
        constraint.
        Aliases: mc, monotone_constraint.
    structure : newton|gradient, default "newton"
        Derivatives for finding splits: first and second (newton) or first only (gradient).
    engine : fast|plain, default "fast"
        Implementation that grows the trees; the model does not depend on it.
    histogram_pool_mb : a number of at least -1, default 256
        Memory in MB for histograms of nodes that are not split yet; -1 means no limit. Beyond it, the
        histograms of the least promising nodes are dropped and recomputed when needed; at least 8 are kept.
        A level of an oblivious tree that does not fit is searched without keeping histograms. The model
        does not depend on it.
        Aliases: histogram_pool_size, hist_pool_size.
    leaf_estimation : newton|gradient, default "newton"
        Derivatives for computing leaf values: first and second (newton) or first only (gradient).
        Aliases: leaf_estimation_method.
    scaling : none|standard|query, default "standard"
        linear, ranksvm, adarank, coordinate-ascent, neural: how feature values are scaled. none leaves them
        as they are; standard gives each feature mean 0 and deviation 1 over the training data; query scales
        to 0..1 within each query.
        Aliases: normalisation.
    log1p : auto|true|false, default "auto"
        linear, ranksvm, adarank, coordinate-ascent, neural: replace values by sign(x) ln(1 + |x|) before
        they are scaled; auto is true for neural and false otherwise.
    c : auto or a number above 0, default "auto"
        linear, ranksvm: weight of the loss against the regularisation: |w|^2 / 2 + `c` times the sum of the
        losses is minimised; auto divides 100 by the number of queries.
        Aliases: svm_c.
    tolerance : auto or a number from 0 to 1, default "auto"
        linear, ranksvm: stop when the loss improves by less than this share of it. coordinate-ascent: start
        again when a sweep improves the metric by less. adarank: undo rounds that lower the metric by more.
        auto is 1e-6 for linear and ranksvm, 0.001 for coordinate-ascent and 0.002 for adarank.
        Aliases: tol.
    svm_loss : hinge|squared-hinge, default "squared-hinge"
        ranksvm: loss of a pair.
    weak_learner : stump|tree, default "stump"
        adaboost: what is added in a round: a tree with one split (stump), or a tree that is grown full and
        pruned (tree).
    impurity : entropy|gini|error, default "gini"
        adaboost: impurity that splits minimise, and Q of pruning.
        Aliases: criterion.
    prune_lambda : a number of at least 0, default 0.001
        adaboost: price of a leaf: trees are pruned to the smallest sum of Q over leaves plus `prune_lambda`
        times the number of leaves. The weights of all documents add up to 1.
        Aliases: ccp_alpha.
    weak_ranker : threshold|threshold-exact|correlation|search, default "threshold"
        rankboost: what is added in a round: whether a feature is above a threshold, weighted by its
        correlation with the order of pairs (threshold) or by the weight that minimises the loss
        (threshold-exact); or its value from 0 to 1, weighted in the same two ways (correlation, search).
    restarts : an integer from 0 to 1000, default 5
        coordinate-ascent: number of times to start again, from random weights.
        Aliases: n_restarts.
    network : mlp|attention, default "attention"
        neural: architecture. attention looks at the documents of a query together.
        Aliases: architecture.
    hidden : an integer from 1 to 4096, default 32
        neural: number of units of the hidden layers.
        Aliases: hidden_units, hidden_size.
    layers : an integer from 1 to 32, default 2
        neural: number of hidden layers, or of attention blocks.
        Aliases: n_layers, num_layers.
    heads : an integer from 1 to 64, default 4
        neural: number of attention heads; must divide `hidden`.
        Aliases: n_heads, num_heads.
    norm : none|layer|batch, default "layer"
        neural: normalisation of activations.
        Aliases: normalization.
    dropout : a number from 0 to 0.95, default 0.1
        neural: probability of dropping an activation in training.
    input_noise : a number of at least 0, default 0.3
        neural: standard deviation of the noise that is added to inputs in training.
    epochs : an integer from 1 to 1000000, default 20
        neural: number of passes over the training data.
        Aliases: n_epochs, num_epochs.
    batch_queries : an integer of at least 1, default 8
        neural: number of queries in a step.
        Aliases: batch_size.
    adam_rate : a number above 0 and at most 10, default 0.001
        neural: step size of Adam.
        Aliases: adam_lr.
    weight_decay : a number of at least 0, default 0.1
        neural: weight decay of Adam, apart from its step size.
    max_bin : an integer from 2 to 255, default 255
        Maximum number of bins per feature, plus one for missing values. Features with at most this many
        distinct values get one bin per value.
        Aliases: max_bins, border_count.
    bin_construct_sample_cnt : an integer of at least 1, default 200000
        Number of rows to sample for choosing the bins; the sample does not depend on the order of rows.
        Aliases: subsample_for_bin.
    absent : missing|zero, default "missing"
        Value of features that are absent from a LETOR line.
    gain : auto|exp|linear|table:0,1,3,..., default "auto"
        Gain of a label: 2^label - 1 (exp), the label itself (linear), or an entry of a table. auto: as set
        by `convention`, otherwise exp.
    ties : auto|worst|best|average|input|docid|random, default "auto"
        Order of documents with tied scores. auto: as set by `convention`, otherwise worst.
    empty : auto|zero|one|skip|error, default "auto"
        Value of queries without relevant documents. auto: as set by `convention`, otherwise zero.
    discount : auto|log2|rank, default "auto"
        Discount of a rank in DCG and NDCG: 1/log2(1 + rank) or 1/rank. auto: log2.
    relevant_from : auto or a number above 0, default "auto"
        Minimum label of relevant documents in binary metrics. auto: as set by `convention`, otherwise any
        label above 0.
    map_denominator : auto|relevant|cutoff, default "auto"
        Denominator of average precision at a cutoff: the number of relevant documents (relevant), or the
        cutoff if that is smaller (cutoff). auto: as set by `convention`, otherwise relevant.
    precision_denominator : auto|cutoff|length, default "auto"
        Denominator of precision for lists shorter than the cutoff: the cutoff or the length of the list.
        auto: as set by `convention`, otherwise cutoff.
    err_max_grade : a number from 1 to 900, default 4
        Maximum label in ERR and pFound with exponential gain.
    rbp_persistence : a number above 0 and below 1, default 0.8
        Probability in RBP that the user proceeds to the next document.
    pfound_decay : a number above 0 and at most 1, default 0.85
        Probability in pFound that the user proceeds to the next document after one that is not relevant.
    missing_queries : auto|count|skip, default "auto"
        With a TREC run: whether judged queries for which it has no results count as empty lists (count) or
        are ignored (skip). auto: as set by `convention`, otherwise count.
    convention : none|lightgbm|xgboost|catboost|trec_eval|sklearn|ranklib|ranx, default "none"
        Follow the rules of another program; rules that are set explicitly take precedence.
    n_jobs : int, optional
        Number of threads; -1 or None for all cores, -2 for all but one, and so on.
    """

    def __init__(
        self,
        *,
        num_trees: int = 150,
        learning_rate: float = 0.07,
        step: Literal["shrinkage", "line", "exact"] = "shrinkage",
        early_stopping_rounds: int = 0,
        metric: str | list[Any] | tuple[Any, ...] = "ndcg@10",
        sample: Literal["none", "bagging", "query-bagging", "selective", "high-low", "negatives", "inliers", "goss", "mvs"] = "none",
        bagging_fraction: float = 1,
        bagging_freq: int = 0,
        bagging_by_query: bool = False,
        p_high: float | Literal["auto"] = "auto",
        p_low: float | Literal["auto"] = "auto",
        p_negatives: float = 20,
        sample_every: int = 1,
        sample_rounding: Literal["nearest", "up", "down"] = "nearest",
        sample_drop_empty: bool = False,
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        mvs_reg: float | Literal["auto"] = "auto",
        outlier_trees: int = 100,
        outlier_last: float = 50,
        outlier_high: float = 20,
        outlier_low: float = 20,
        learner: Literal["gbdt", "dart", "random-forest", "linear", "neural", "adaboost", "rankboost", "ranksvm", "adarank", "coordinate-ascent"] = "gbdt",
        drop_rate: float = 0.1,
        max_drop: int = 50,
        skip_drop: float = 0.5,
        uniform_drop: bool = False,
        xgboost_dart_mode: bool = False,
        langevin: bool = False,
        diffusion_temperature: float = 10000,
        model_shrink_rate: float | Literal["auto"] = "auto",
        model_shrink_mode: Literal["constant", "decreasing"] = "constant",
        seed: int = 0,
        objective: Literal["lambdamart", "lambdaloss", "ranknet", "hinge", "yetirank", "rmse", "logistic", "multiclass", "query-rmse", "softmax", "listnet", "xendcg", "listmle", "p-listmle", "plackett-luce", "approx-ndcg", "stochasticrank", "softrank", "select-with-order"] = "lambdamart",
        truncation_level: int | Literal["auto"] = "auto",
        lambda_form: Literal["lightgbm", "xgboost", "paper"] = "lightgbm",
        variant: Literal["1", "2", "2++"] = "2++",
        mu: float | Literal["auto"] = "auto",
        noise: Literal["none", "gumbel"] = "none",
        noise_strength: float = 1,
        yetirank_mode: Literal["classic", "metric"] = "classic",
        decay: float = 0.85,
        sigmoid: float = 1,
        lambda_norm: bool = True,
        target: str | list[Any] | tuple[Any, ...] = "ndcg",
        samples: int | Literal["auto"] = "auto",
        sigma: float = 1,
        sfa: bool = True,
        nu: float = 0.01,
        sfa_min_docs: int = 1,
        estimator: Literal["ccs", "reinforce"] = "ccs",
        temperature: float = 0.1,
        label_gain: str | list[Any] | tuple[Any, ...] = "",
        grow: Literal["auto", "leafwise", "levelwise", "oblivious"] = "auto",
        num_leaves: int | Literal["auto"] = "auto",
        leaves_schedule: str | list[Any] | tuple[Any, ...] = "",
        max_depth: int = -1,
        min_data_in_leaf: int = 20,
        min_sum_hessian_in_leaf: float = 0.001,
        lambda_l1: float = 0,
        lambda_l2: float | Literal["auto"] = "auto",
        leaf_smoothing: float = 0,
        min_gain_to_split: float = 0,
        prune: bool = False,
        feature_fraction: float = 1,
        feature_fraction_bynode: float = 1,
        monotone_constraints: str | list[Any] | tuple[Any, ...] = "",
        structure: Literal["newton", "gradient"] = "newton",
        engine: Literal["fast", "plain"] = "fast",
        histogram_pool_mb: float = 256,
        leaf_estimation: Literal["newton", "gradient"] = "newton",
        scaling: Literal["none", "standard", "query"] = "standard",
        log1p: Literal["auto", "true", "false"] = "auto",
        c: float | Literal["auto"] = "auto",
        tolerance: float | Literal["auto"] = "auto",
        svm_loss: Literal["hinge", "squared-hinge"] = "squared-hinge",
        weak_learner: Literal["stump", "tree"] = "stump",
        impurity: Literal["entropy", "gini", "error"] = "gini",
        prune_lambda: float = 0.001,
        weak_ranker: Literal["threshold", "threshold-exact", "correlation", "search"] = "threshold",
        restarts: int = 5,
        network: Literal["mlp", "attention"] = "attention",
        hidden: int = 32,
        layers: int = 2,
        heads: int = 4,
        norm: Literal["none", "layer", "batch"] = "layer",
        dropout: float = 0.1,
        input_noise: float = 0.3,
        epochs: int = 20,
        batch_queries: int = 8,
        adam_rate: float = 0.001,
        weight_decay: float = 0.1,
        max_bin: int = 255,
        bin_construct_sample_cnt: int = 200000,
        absent: Literal["missing", "zero"] = "missing",
        gain: str | list[Any] | tuple[Any, ...] = "auto",
        ties: Literal["auto", "worst", "best", "average", "input", "docid", "random"] = "auto",
        empty: Literal["auto", "zero", "one", "skip", "error"] = "auto",
        discount: Literal["auto", "log2", "rank"] = "auto",
        relevant_from: float | Literal["auto"] = "auto",
        map_denominator: Literal["auto", "relevant", "cutoff"] = "auto",
        precision_denominator: Literal["auto", "cutoff", "length"] = "auto",
        err_max_grade: float = 4,
        rbp_persistence: float = 0.8,
        pfound_decay: float = 0.85,
        missing_queries: Literal["auto", "count", "skip"] = "auto",
        convention: Literal["none", "lightgbm", "xgboost", "catboost", "trec_eval", "sklearn", "ranklib", "ranx"] = "none",
        n_jobs: int | None = None,
        **kwargs: ParamValue,
    ) -> None:
        self.num_trees = num_trees
        self.learning_rate = learning_rate
        self.step = step
        self.early_stopping_rounds = early_stopping_rounds
        self.metric = metric
        self.sample = sample
        self.bagging_fraction = bagging_fraction
        self.bagging_freq = bagging_freq
        self.bagging_by_query = bagging_by_query
        self.p_high = p_high
        self.p_low = p_low
        self.p_negatives = p_negatives
        self.sample_every = sample_every
        self.sample_rounding = sample_rounding
        self.sample_drop_empty = sample_drop_empty
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.mvs_reg = mvs_reg
        self.outlier_trees = outlier_trees
        self.outlier_last = outlier_last
        self.outlier_high = outlier_high
        self.outlier_low = outlier_low
        self.learner = learner
        self.drop_rate = drop_rate
        self.max_drop = max_drop
        self.skip_drop = skip_drop
        self.uniform_drop = uniform_drop
        self.xgboost_dart_mode = xgboost_dart_mode
        self.langevin = langevin
        self.diffusion_temperature = diffusion_temperature
        self.model_shrink_rate = model_shrink_rate
        self.model_shrink_mode = model_shrink_mode
        self.seed = seed
        self.objective = objective
        self.truncation_level = truncation_level
        self.lambda_form = lambda_form
        self.variant = variant
        self.mu = mu
        self.noise = noise
        self.noise_strength = noise_strength
        self.yetirank_mode = yetirank_mode
        self.decay = decay
        self.sigmoid = sigmoid
        self.lambda_norm = lambda_norm
        self.target = target
        self.samples = samples
        self.sigma = sigma
        self.sfa = sfa
        self.nu = nu
        self.sfa_min_docs = sfa_min_docs
        self.estimator = estimator
        self.temperature = temperature
        self.label_gain = label_gain
        self.grow = grow
        self.num_leaves = num_leaves
        self.leaves_schedule = leaves_schedule
        self.max_depth = max_depth
        self.min_data_in_leaf = min_data_in_leaf
        self.min_sum_hessian_in_leaf = min_sum_hessian_in_leaf
        self.lambda_l1 = lambda_l1
        self.lambda_l2 = lambda_l2
        self.leaf_smoothing = leaf_smoothing
        self.min_gain_to_split = min_gain_to_split
        self.prune = prune
        self.feature_fraction = feature_fraction
        self.feature_fraction_bynode = feature_fraction_bynode
        self.monotone_constraints = monotone_constraints
        self.structure = structure
        self.engine = engine
        self.histogram_pool_mb = histogram_pool_mb
        self.leaf_estimation = leaf_estimation
        self.scaling = scaling
        self.log1p = log1p
        self.c = c
        self.tolerance = tolerance
        self.svm_loss = svm_loss
        self.weak_learner = weak_learner
        self.impurity = impurity
        self.prune_lambda = prune_lambda
        self.weak_ranker = weak_ranker
        self.restarts = restarts
        self.network = network
        self.hidden = hidden
        self.layers = layers
        self.heads = heads
        self.norm = norm
        self.dropout = dropout
        self.input_noise = input_noise
        self.epochs = epochs
        self.batch_queries = batch_queries
        self.adam_rate = adam_rate
        self.weight_decay = weight_decay
        self.max_bin = max_bin
        self.bin_construct_sample_cnt = bin_construct_sample_cnt
        self.absent = absent
        self.gain = gain
        self.ties = ties
        self.empty = empty
        self.discount = discount
        self.relevant_from = relevant_from
        self.map_denominator = map_denominator
        self.precision_denominator = precision_denominator
        self.err_max_grade = err_max_grade
        self.rbp_persistence = rbp_persistence
        self.pfound_decay = pfound_decay
        self.missing_queries = missing_queries
        self.convention = convention
        self.n_jobs = n_jobs
        self._set_others(kwargs)

    def _set_others(self, others: dict[str, ParamValue]) -> None:
        raise NotImplementedError
