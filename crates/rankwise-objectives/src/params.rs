//! The objectives by name, and their parameters.

use rankwise_data::{Dataset, SimdLevel};
use rankwise_metrics::{Gain, MetricName, Rules};
use rankwise_params::{CrossCheck, ParamError, ParamValue, Range, param_enum, param_group};

use crate::{LambdaMart, Objective, ObjectiveError, PairLoss, Pairwise, Rmse, YetiRank};

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
    pub ObjectiveSpec => ObjectiveParams, "Objective" {
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
        /// lambdaloss: how much the distance of ranks counts beside the ranks themselves in variant 2++. stochasticrank: by how much
        /// scores are lowered by label before they are smoothed. auto is 5 for lambdaloss, 0 for stochasticrank.
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
        /// Random draws that a document's gradient is the mean of; auto is 1, for yetirank 10, for plackett-luce 16.
        samples: Option<usize> = None, Range::closed(1.0, 1e6), ["num_estimations", "permutations"];
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
    pub fn bind(&self, data: &Dataset, rules: &Rules, simd: SimdLevel) -> Result<Box<dyn Objective>, ObjectiveError> {
        match self.objective {
            ObjectiveKind::LambdaMart => Ok(Box::new(LambdaMart::new(self, data, &self.rules(rules), simd)?)),
            ObjectiveKind::LambdaLoss => Ok(Box::new(LambdaMart::lambda_loss(self, data, &self.rules(rules), simd)?)),
            ObjectiveKind::RankNet => Ok(Box::new(Pairwise::new(PairLoss::Logistic, self, data, rules.ties, simd)?)),
            ObjectiveKind::Hinge => Ok(Box::new(Pairwise::new(PairLoss::Hinge, self, data, rules.ties, simd)?)),
            ObjectiveKind::YetiRank => Ok(Box::new(YetiRank::new(self, data, &self.rules(rules), simd)?)),
            ObjectiveKind::Rmse => Ok(Box::new(Rmse::new(data)?)),
        }
    }
    /// The rules, with the objective's own gains.
    fn rules(&self, rules: &Rules) -> Rules {
        let gain = if self.label_gain.is_empty() { rules.gain.clone() } else { Gain::Table(self.label_gain.clone()) };
        Rules { gain, ..rules.clone() }
    }
}
