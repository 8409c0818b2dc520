//! The objectives by name, and their parameters.

use rankwise_data::{Dataset, SimdLevel};
use rankwise_metrics::{Gain, MetricName, Rules};
use rankwise_params::{CrossCheck, ParamError, ParamValue, Range, param_enum, param_group};

use crate::{
    ApproxNdcg, LambdaMart, ListMle, Logistic, Multiclass, Objective, ObjectiveError, PlackettLuce, QueryRmse, Rmse,
    Softmax, XeNdcg,
};

param_enum! {
    /// The objectives there are.
    pub enum ObjectiveKind {
        /// LambdaMART on NDCG.
        LambdaMart = "lambdamart" | "lambdarank" | "rank:ndcg",
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
    }
}

param_group! {
    /// What the trees learn.
    pub ObjectiveSpec => ObjectiveParams, "Objective" {
        /// What to learn.
        objective: ObjectiveKind = ObjectiveKind::LambdaMart, Range::ANY, ["loss_function", "application", "app"];
        /// lambdamart: one document of a pair must be among this many at the top of the current ranking; the ideal DCG
        /// is cut there too.
        truncation_level: usize = 30, Range::at_least(1.0),
            ["lambdarank_truncation_level", "lambdarank_num_pair_per_sample"];
        /// lambdamart: steepness of the logistic function of a pair's score difference.
        sigmoid: f64 = 1.0, Range::closed(1e-6, 1e6), [];
        /// lambdamart: divide a pair's weight by its score distance and scale a query's gradients by the logarithm of
        /// their sum.
        lambda_norm: bool = true, Range::ANY, ["lambdarank_norm", "lambdarank_normalization"];
        /// The metric to learn for, as in `ndcg@10`: lambdamart, yetirank, plackett-luce, stochasticrank, softrank.
        target: MetricName = MetricName::parse("ndcg").expect("a metric"), Range::ANY, [];
        /// Random draws that a document's gradient is the mean of; auto is 1, for yetirank 10, for plackett-luce 8. listmle, p-listmle:
        /// orders of equal labels.
        samples: Option<usize> = None, Range::closed(1.0, 1e6), ["num_estimations", "permutations"];
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
    pub fn bind(&self, data: &Dataset, rules: &Rules, simd: SimdLevel) -> Result<Box<dyn Objective>, ObjectiveError> {
        let gain = if self.label_gain.is_empty() { rules.gain.clone() } else { Gain::Table(self.label_gain.clone()) };
        Ok(match self.objective {
            ObjectiveKind::LambdaMart => Box::new(LambdaMart::new(self, data, (gain, rules.ties), simd)?),
            ObjectiveKind::Rmse => Box::new(Rmse::new(data)?),
            ObjectiveKind::Logistic => Box::new(Logistic::new(data)?),
            ObjectiveKind::Multiclass => Box::new(Multiclass::new(data, &gain)?),
            ObjectiveKind::QueryRmse => Box::new(QueryRmse::new(data)?),
            ObjectiveKind::Softmax => Box::new(Softmax::new(data)?),
            ObjectiveKind::ListNet => Box::new(Softmax::listnet(data)?),
            ObjectiveKind::XeNdcg => Box::new(XeNdcg::new(data)?),
            ObjectiveKind::ListMle => Box::new(ListMle::new(self, data)?),
            ObjectiveKind::PListMle => Box::new(ListMle::position_aware(self, data)?),
            ObjectiveKind::PlackettLuce => {
                Box::new(PlackettLuce::new(self, data, &Rules { gain, ..rules.clone() }, simd)?)
            }
            ObjectiveKind::ApproxNdcg => Box::new(ApproxNdcg::new(self, data, (&gain, rules), simd)?),
        })
    }
}
