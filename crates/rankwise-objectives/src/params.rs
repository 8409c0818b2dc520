//! The objectives by name, and their parameters.

use rankwise_data::{Documents, Share, SimdLevel};
use rankwise_metrics::{Gain, MetricName, Rules};
use rankwise_params::{CrossCheck, ParamError, ParamValue, Range, param_enum, param_group};

use crate::{
    ApproxNdcg, LambdaMart, ListMle, Logistic, Multiclass, Objective, ObjectiveError, PairLoss, Pairwise, PlackettLuce,
    QueryRmse, Rmse, SelectWithOrder, Softmax, StochasticRank, XeNdcg, YetiRank,
};

param_enum! {
    /// The objectives there are.
    pub enum ObjectiveKind {
        /// LambdaMART.
        LambdaMart = "lambdamart" | "lambdarank" | "rank:ndcg",
        /// LambdaLoss.
        LambdaLoss = "lambdaloss" | "lambda_loss",
        /// Logistic loss of pairs.
        RankNet = "ranknet" | "pairlogit",
        /// Squared hinge loss of pairs.
        Hinge = "hinge" | "pairwise-hinge",
        /// Neighbours in noisy orders.
        YetiRank = "yetirank",
        /// Squared error of each document's label.
        Rmse = "rmse" | "regression" | "l2" | "mse" | "mean_squared_error" | "reg:squarederror",
        /// Logistic loss of each document's label, a probability.
        Logistic = "logistic" | "binary" | "logloss" | "cross_entropy" | "xentropy" | "crossentropy" | "binary:logistic"
            | "reg:logistic",
        /// The grade of each document, one tree a grade and round.
        Multiclass = "multiclass" | "mcrank" | "multi:softmax" | "multi:softprob",
        /// Squared error inside each query.
        QueryRmse = "query-rmse" | "queryrmse",
        /// Cross-entropy with the labels' shares.
        Softmax = "softmax" | "querysoftmax",
        /// Cross-entropy with the labels' softmax.
        ListNet = "listnet",
        /// Cross-entropy with gains that are drawn anew for each tree.
        XeNdcg = "xendcg" | "rank_xendcg" | "xe_ndcg" | "xe_ndcg_mart" | "xendcg_mart",
        /// Likelihood of the labels' order.
        ListMle = "listmle",
        /// The same, first places most.
        PListMle = "p-listmle" | "plistmle",
        /// The expected target under the Plackett-Luce model.
        PlackettLuce = "plackett-luce" | "pl-rank",
        /// NDCG with smooth ranks.
        ApproxNdcg = "approx-ndcg" | "approxndcg",
        /// The gradient of a ranking metric, smoothed by noise.
        StochasticRank = "stochasticrank",
        /// The same without acceleration.
        SoftRank = "softrank",
        /// Which documents of a given order to show.
        SelectWithOrder = "select-with-order",
    }
}

param_enum! {
    /// How a smoothed gradient is estimated.
    pub enum Estimator {
        /// Coordinate conditional sampling: a document's own noise is integrated out.
        Ccs = "ccs",
        /// From the change of the metric alone.
        Reinforce = "reinforce",
    }
}

param_enum! {
    /// Whose form of LambdaMART.
    pub enum LambdaForm {
        /// LightGBM's.
        LightGbm = "lightgbm",
        /// XGBoost's.
        XgBoost = "xgboost",
        /// That of the papers.
        Paper = "paper",
    }
}

param_enum! {
    /// How LambdaLoss weighs pairs.
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
    /// Whether it learns from pairs of the data where there are some.
    pub fn takes_pairs(self) -> bool {
        matches!(self, Self::RankNet | Self::Hinge)
    }
}

param_enum! {
    /// What YetiRank weighs neighbours by.
    pub enum YetiRankMode {
        /// The difference of labels, less from rank to rank.
        Classic = "classic",
        /// By how much a swap changes the target.
        Metric = "metric",
    }
}

param_enum! {
    /// What is added to scores before gradients are computed.
    pub enum NoiseKind {
        /// Nothing.
        None = "none",
        /// Gumbel noise.
        Gumbel = "gumbel",
    }
}

param_group! {
    /// What the trees learn.
    pub ObjectiveSpec => ObjectiveParams, SetObjective, "Objective" {
        /// What to learn.
        objective: ObjectiveKind = ObjectiveKind::LambdaMart, Range::ANY, ["loss_function", "application", "app"];
        /// lambdamart, lambdaloss: one document of a pair must be among this many at the top of the current ranking; the ideal
        /// DCG is cut there too, unless the target has a cut-off. auto is 30, 32 in XGBoost's form, and all in the paper's and
        /// for lambdaloss.
        truncation_level: Option<usize> = None, Range::at_least(1.0),
            ["lambdarank_truncation_level", "lambdarank_num_pair_per_sample"];
        /// lambdamart: whose form of it. LightGBM's and XGBoost's take pairs with a document at the top and normalise; the paper's
        /// takes all pairs and does not.
        lambda_form: LambdaForm = LambdaForm::LightGbm, Range::ANY, [];
        /// lambdaloss: which NDCG loss weighs the pairs.
        variant: LambdaLossVariant = LambdaLossVariant::TwoPlus, Range::ANY, [];
        /// lambdaloss: how much the distance of ranks counts beside the ranks themselves in variant 2++. stochasticrank: how
        /// far, in units of `sigma` and label, relevant documents are moved down before the noise is added, so that ties count as
        /// badly as in the metric. auto is 5 for lambdaloss, 0 for stochasticrank.
        mu: Option<f64> = None, Range::closed(0.0, 1e6), [];
        /// lambdamart, lambdaloss: noise that is added to scores before gradients are computed, drawn anew for each tree and sample.
        noise: NoiseKind = NoiseKind::None, Range::ANY, [];
        /// lambdamart, lambdaloss: what that noise is multiplied by.
        noise_strength: f64 = 1.0, Range::above_to(0.0, 1e6), [];
        /// yetirank: what neighbours are weighed by, the difference of their labels or the change of the target.
        yetirank_mode: YetiRankMode = YetiRankMode::Classic, Range::ANY, ["mode"];
        /// yetirank: what the weight of neighbours falls by from rank to rank in classic mode.
        decay: f64 = 0.85, Range::above_to(0.0, 1.0), [];
        /// lambdamart, lambdaloss, ranknet: steepness of the logistic function of a pair's score difference. hinge: what the difference
        /// is multiplied by, so that the margin is 1 over it.
        sigmoid: f64 = 1.0, Range::closed(1e-6, 1e6), [];
        /// lambdamart: divide a pair's weight by its score distance and scale a query's gradients by the logarithm of
        /// their sum.
        lambda_norm: bool = true, Range::ANY, ["lambdarank_norm", "lambdarank_normalization"];
        /// The metric to learn for, as in `ndcg@10`: lambdamart, yetirank, plackett-luce, stochasticrank, softrank.
        target: MetricName = MetricName::parse("ndcg").expect("a metric"), Range::ANY, [];
        /// Random draws that a document's gradient is the mean of; auto is 1, for yetirank 10, for plackett-luce 8. listmle, p-listmle:
        /// orders of equal labels.
        samples: Option<usize> = None, Range::closed(1.0, 1e6), ["num_estimations", "permutations"];
        /// stochasticrank, softrank, select-with-order: the scale of the noise that smooths the metric.
        sigma: f64 = 1.0, Range::closed(1e-6, 1e6), [];
        /// stochasticrank, select-with-order: take away the part of the gradient that would only scale the scores.
        sfa: bool = true, Range::ANY, [];
        /// stochasticrank, select-with-order: what the norm of the scores is enlarged by for `sfa`.
        nu: f64 = 0.01, Range::closed(0.0, 1e6), [];
        /// stochasticrank, select-with-order: the fewest documents of a query for `sfa`; 3 is CatBoost's rule.
        sfa_min_docs: usize = 1, Range::at_least(1.0), [];
        /// stochasticrank, softrank, select-with-order: how the gradient is estimated from a sample.
        estimator: Estimator = Estimator::Ccs, Range::ANY, [];
        /// approx-ndcg: how far apart scores must be for ranks to be told apart, in units of the score.
        temperature: f64 = 0.1, Range::closed(1e-6, 1e6), [];
        /// Gains of the labels 0, 1, 2, ... for the objective; empty takes `gain`.
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
    /// Binds the objective to data. The rules give the gain where `label_gain` does not, and the order of ties; the
    /// instructions that may be used change nothing but the time it takes.
    pub fn bind(&self, data: &Documents, rules: &Rules, simd: SimdLevel) -> Result<Box<dyn Objective>, ObjectiveError> {
        self.bind_share(&Share::alone(data), rules, simd)
    }

    /// Binds the objective to one member's part of the data. What it must know of all the data, it asks the other members.
    pub fn bind_share(
        &self,
        share: &Share<'_>,
        rules: &Rules,
        simd: SimdLevel,
    ) -> Result<Box<dyn Objective>, ObjectiveError> {
        let gain = if self.label_gain.is_empty() { rules.gain.clone() } else { Gain::Table(self.label_gain.clone()) };
        let rules = &Rules { gain, ..rules.clone() };
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
