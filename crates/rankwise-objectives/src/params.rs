//! The objectives by name, and their parameters.

use rankwise_data::{Documents, Share, SimdLevel};
use rankwise_metrics::{Gain, MetricError, MetricName, Rules};
use rankwise_params::{CrossCheck, ParamError, ParamValue, Range, param_enum, param_group};

use crate::{
    ApproxNdcg, LambdaMart, ListMle, Logistic, Multiclass, Objective, ObjectiveError, PairLoss, Pairwise, PlackettLuce,
    QueryRmse, Rmse, SelectWithOrder, Softmax, StochasticRank, XeNdcg, YetiRank,
};

param_enum! {
    /// The objectives.
    pub enum ObjectiveKind {
        /// LambdaMART.
        LambdaMart = "lambdamart" | "lambdarank" | "rank:ndcg",
        /// LambdaLoss.
        LambdaLoss = "lambdaloss" | "lambda_loss",
        /// Pairwise logistic loss.
        RankNet = "ranknet" | "pairlogit" | "rank:pairwise",
        /// Pairwise squared hinge loss.
        Hinge = "hinge" | "pairwise-hinge",
        /// YetiRank: neighbours in randomly perturbed rankings.
        YetiRank = "yetirank",
        /// Pointwise squared error.
        Rmse = "rmse" | "regression" | "l2" | "mse" | "mean_squared_error" | "reg:squarederror",
        /// Pointwise logistic loss; labels are probabilities.
        Logistic = "logistic" | "binary" | "logloss" | "cross_entropy" | "xentropy" | "crossentropy" | "binary:logistic"
            | "reg:logistic",
        /// Pointwise classification of labels, with one tree per class and round.
        Multiclass = "multiclass" | "mcrank" | "multi:softmax" | "multi:softprob",
        /// Squared error after subtracting each query's mean error.
        QueryRmse = "query-rmse" | "queryrmse",
        /// Softmax cross-entropy with normalised labels.
        Softmax = "softmax" | "querysoftmax",
        /// Softmax cross-entropy with the softmax of the labels.
        ListNet = "listnet",
        /// Softmax cross-entropy with randomised gains (XE-NDCG).
        XeNdcg = "xendcg" | "rank_xendcg" | "xe_ndcg" | "xe_ndcg_mart" | "xendcg_mart",
        /// Likelihood of the ordering by label.
        ListMle = "listmle",
        /// Position-aware ListMLE, which emphasises the top.
        PListMle = "p-listmle" | "plistmle",
        /// Expected target metric under the Plackett-Luce model.
        PlackettLuce = "plackett-luce" | "pl-rank" | "bayesrank",
        /// NDCG with smooth ranks.
        ApproxNdcg = "approx-ndcg" | "approxndcg",
        /// Gradient of a ranking metric, smoothed by noise.
        StochasticRank = "stochasticrank",
        /// As `StochasticRank`, without scale-free acceleration.
        SoftRank = "softrank",
        /// Which documents of a fixed ordering to show.
        SelectWithOrder = "select-with-order",
    }
}

param_enum! {
    /// How the gradient of a smoothed metric is estimated.
    pub enum Estimator {
        /// Coordinate conditional sampling: a document's own noise is integrated out.
        Ccs = "ccs",
        /// From the change of the metric alone.
        Reinforce = "reinforce",
    }
}

param_enum! {
    /// Which form of LambdaMART.
    pub enum LambdaForm {
        /// LightGBM's.
        LightGbm = "lightgbm",
        /// XGBoost's.
        XgBoost = "xgboost",
        /// The form of the papers.
        Paper = "paper",
    }
}

param_enum! {
    /// How LambdaLoss weights pairs.
    pub enum LambdaLossVariant {
        /// NDCG-Loss1.
        One = "1" | "ndcg-loss1",
        /// NDCG-Loss2.
        Two = "2" | "ndcg-loss2",
        /// NDCG-Loss2++.
        TwoPlus = "2++" | "ndcg-loss2++",
    }
}

impl ObjectiveKind {
    /// Whether it learns from the pairs of a dataset that has some.
    pub fn takes_pairs(self) -> bool {
        matches!(self, Self::RankNet | Self::Hinge)
    }
}

param_enum! {
    /// How YetiRank weights neighbours.
    pub enum YetiRankMode {
        /// By the label difference, decaying with rank.
        Classic = "classic",
        /// By the change of the target metric when swapped.
        Metric = "metric",
    }
}

param_enum! {
    /// Noise that is added to scores before gradients are computed.
    pub enum NoiseKind {
        /// No noise.
        None = "none",
        /// Gumbel noise.
        Gumbel = "gumbel",
    }
}

param_group! {
    /// The objective.
    pub ObjectiveSpec => ObjectiveParams, SetObjective, "Objective" {
        /// Objective (loss function) to optimise. Some names of other programs work too: lambdarank, rank_xendcg, binary,
        /// rank:ndcg, rank:pairwise, PairLogit, QuerySoftMax and others.
        objective: ObjectiveKind = ObjectiveKind::LambdaMart, Range::ANY, ["loss_function", "application", "app"];
        /// lambdamart, lambdaloss: only pairs with at least one document among the top `truncation_level` of the current
        /// ranking are used. The ideal DCG has the same cutoff, unless the target has one. auto: 30; 32 with
        /// lambda_form=xgboost; all documents with lambda_form=paper and for lambdaloss.
        truncation_level: Option<usize> = None, Range::at_least(1.0),
            ["lambdarank_truncation_level", "lambdarank_num_pair_per_sample"];
        /// lambdamart: which form of LambdaMART to use. Those of LightGBM and XGBoost use only pairs with a document at the top,
        /// and normalise; that of the paper uses all pairs, without normalisation.
        lambda_form: LambdaForm = LambdaForm::LightGbm, Range::ANY, [];
        /// lambdaloss: NDCG-Loss1, NDCG-Loss2 or NDCG-Loss2++.
        variant: LambdaLossVariant = LambdaLossVariant::TwoPlus, Range::ANY, [];
        /// lambdaloss, variant 2++: weight of the NDCG-Loss2 part; auto is 5. stochasticrank: `mu` * `sigma` * label is
        /// subtracted from the score of each document before noise is added, so that ties count as in the worst order; auto is
        /// 0.
        mu: Option<f64> = None, Range::closed(0.0, 1e6), [];
        /// lambdamart, lambdaloss: noise added to the scores before gradients are computed, drawn again for each tree and
        /// each of the `samples`.
        noise: NoiseKind = NoiseKind::None, Range::ANY, [];
        /// lambdamart, lambdaloss: scale of that noise.
        noise_strength: f64 = 1.0, Range::above_to(0.0, 1e6), [];
        /// yetirank: weight neighbours by the difference of their labels (classic) or by the change of the target metric
        /// (metric).
        yetirank_mode: YetiRankMode = YetiRankMode::Classic, Range::ANY, ["mode"];
        /// yetirank: decay factor of the weights per rank, in classic mode.
        decay: f64 = 0.85, Range::above_to(0.0, 1.0), [];
        /// lambdamart, lambdaloss, ranknet: steepness of the sigmoid of a pair's score difference. hinge: factor of the score
        /// difference; the margin is 1 / sigmoid.
        sigmoid: f64 = 1.0, Range::closed(1e-6, 1e6), [];
        /// lambdamart: divide each pair's weight by its score difference (plus 0.01), and multiply each query's gradients by
        /// log2(1 + S) / S, where S is twice the sum of the lambdas of its pairs.
        lambda_norm: bool = true, Range::ANY, ["lambdarank_norm", "lambdarank_normalization"];
        /// lambdamart, yetirank, plackett-luce, stochasticrank, softrank: metric to optimise, such as `ndcg@10`. lambdamart
        /// and yetirank support ndcg, dcg, map, mrr, err and p@k.
        target: MetricName = MetricName::parse("ndcg").expect("a metric"), Range::ANY, [];
        /// Number of random samples that gradients are averaged over; auto is 10 for yetirank, 8 for plackett-luce and
        /// otherwise 1. listmle, p-listmle: number of random orders of documents with equal labels.
        samples: Option<usize> = None, Range::closed(1.0, 1e6), ["num_estimations", "permutations"];
        /// stochasticrank, softrank, select-with-order: scale of the noise that smooths the metric.
        sigma: f64 = 1.0, Range::closed(1e-6, 1e6), [];
        /// stochasticrank, select-with-order: scale-free acceleration, which removes the component of the gradient that only
        /// rescales the scores.
        sfa: bool = true, Range::ANY, [];
        /// stochasticrank, select-with-order: constant added to the norm of the scores in `sfa`.
        nu: f64 = 0.01, Range::closed(0.0, 1e6), [];
        /// stochasticrank, select-with-order: minimum number of documents of a query for `sfa`; CatBoost uses 3.
        sfa_min_docs: usize = 1, Range::at_least(1.0), [];
        /// stochasticrank, softrank, select-with-order: gradient estimator, coordinate conditional sampling (ccs) or REINFORCE.
        estimator: Estimator = Estimator::Ccs, Range::ANY, [];
        /// approx-ndcg: temperature of the smooth ranks; smaller values approximate NDCG more closely.
        temperature: f64 = 0.1, Range::closed(1e-6, 1e6), [];
        /// Gains of the labels 0, 1, 2, ... in the objective; if empty, `gain` is used.
        label_gain: Vec<f64> = Vec::new(), Range::at_least(0.0), [];
    }
}

impl CrossCheck for ObjectiveSpec {
    fn cross_check(&mut self) -> Result<(), ParamError> {
        let gains = &self.label_gain;
        if !gains.is_empty() && gains.iter().all(|gain| *gain == gains[0]) {
            return Err(ParamError::conflict("label_gain", "all gains are equal; give better labels larger gains"));
        }
        Ok(())
    }
}

impl ObjectiveParams {
    /// Binds the objective to data. The rules define the gain, unless `label_gain` does, and the order of ties. `simd`
    /// affects only speed.
    pub fn bind(&self, data: &Documents, rules: &Rules, simd: SimdLevel) -> Result<Box<dyn Objective>, ObjectiveError> {
        self.bind_share(&Share::alone(data), rules, simd)
    }

    /// Binds the objective to one member's part of the data. Facts about the whole data come from the other members.
    pub fn bind_share(
        &self,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Box<dyn Objective>, ObjectiveError> {
        let gain = if self.label_gain.is_empty() { rules.gain.clone() } else { Gain::Table(self.label_gain.clone()) };
        let rules = &Rules { gain, ..rules.clone() };
        self.bind_with(share, rules, simd).map_err(|error| self.in_terms_of_label_gain(error))
    }

    /// With `label_gain`, the error names it instead of the gain of the metrics, which is not used.
    fn in_terms_of_label_gain(&self, error: ObjectiveError) -> ObjectiveError {
        match error {
            ObjectiveError::Label(MetricError::Label { label, query, .. }) if !self.label_gain.is_empty() => {
                match self.label_gain.get(label as usize) {
                    _ if label.fract() != 0.0 => ObjectiveError::LabelGainOfFraction { label, query },
                    None => ObjectiveError::NoLabelGain { label, query, last: self.label_gain.len() - 1 },
                    Some(gain) => ObjectiveError::LabelGainAboveOne { label, query, gain: *gain },
                }
            }
            error => error,
        }
    }

    fn bind_with(
        &self,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Box<dyn Objective>, ObjectiveError> {
        Ok(match self.objective {
            ObjectiveKind::LambdaMart => Box::new(LambdaMart::new(self, share, rules, simd)?),
            ObjectiveKind::LambdaLoss => Box::new(LambdaMart::lambda_loss(self, share, rules, simd)?),
            ObjectiveKind::RankNet => Box::new(Pairwise::new(PairLoss::Logistic, self, share, rules.ties, simd)?),
            ObjectiveKind::Hinge => Box::new(Pairwise::new(PairLoss::Hinge, self, share, rules.ties, simd)?),
            ObjectiveKind::YetiRank => Box::new(YetiRank::new(self, share, rules, simd)?),
            ObjectiveKind::Rmse => Box::new(Rmse::new(share)?),
            ObjectiveKind::Logistic => Box::new(Logistic::new(share)?),
            ObjectiveKind::Multiclass => Box::new(Multiclass::new(share, &rules.gain)?),
            ObjectiveKind::QueryRmse => Box::new(QueryRmse::new(share)?),
            ObjectiveKind::Softmax => Box::new(Softmax::new(share)?),
            ObjectiveKind::ListNet => Box::new(Softmax::listnet(share)?),
            ObjectiveKind::XeNdcg => Box::new(XeNdcg::new(share)?),
            ObjectiveKind::ListMle => Box::new(ListMle::new(self, share)?),
            ObjectiveKind::PListMle => Box::new(ListMle::position_aware(self, share)?),
            ObjectiveKind::PlackettLuce => Box::new(PlackettLuce::new(self, share, rules, simd)?),
            ObjectiveKind::ApproxNdcg => Box::new(ApproxNdcg::new(self, share, &rules.gain, rules, simd)?),
            ObjectiveKind::StochasticRank => Box::new(StochasticRank::new(self, share, rules, simd)?),
            ObjectiveKind::SoftRank => Box::new(StochasticRank::soft_rank(self, share, rules, simd)?),
            ObjectiveKind::SelectWithOrder => Box::new(SelectWithOrder::new(self, share, rules)?),
        })
    }
}
