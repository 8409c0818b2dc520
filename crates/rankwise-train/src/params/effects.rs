//! Parameters that have no effect unless another parameter has a certain value, in one table.

use std::fmt;

use rankwise_data::BinningSpec;
use rankwise_objectives::ObjectiveSpec;
use rankwise_params::{ParamGroup as _, ParamInfo, ParamValue as _, Setting};
use rankwise_trees::TreeSpec;

use super::{Learner, LoopSpec, TrainParams};

/// A parameter has an effect only if one of these conditions holds. If a parameter has several rows, all must hold.
struct Need {
    parameter: &'static str,
    any_of: &'static [Condition],
}

/// Another parameter has one of these values or, if none are listed, any value but its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Condition {
    parameter: &'static str,
    values: &'static [&'static str],
    /// The values that are not the default, in words, if none are listed.
    others: &'static str,
}

const fn one_of(parameter: &'static str, values: &'static [&'static str]) -> Condition {
    Condition { parameter, values, others: "" }
}

const fn changed(parameter: &'static str, others: &'static str) -> Condition {
    Condition { parameter, values: &[], others }
}

const fn objective(values: &'static [&'static str]) -> Condition {
    one_of("objective", values)
}

const fn learner(values: &'static [&'static str]) -> Condition {
    one_of("learner", values)
}

const fn sample(values: &'static [&'static str]) -> Condition {
    one_of("sample", values)
}

const DART: &[Condition] = &[one_of("learner", &["dart"])];
const LANGEVIN: Condition = one_of("langevin", &["true"]);
const GUMBEL: Condition = one_of("noise", &["gumbel"]);
const SFA: Condition = one_of("sfa", &["true"]);
const LAMBDA: &[Condition] = &[objective(&["lambdamart", "lambdaloss"])];
const SMOOTHED: &[Condition] = &[objective(&["stochasticrank", "softrank", "select-with-order"])];
const ACCELERATED: &[Condition] = &[objective(&["stochasticrank", "select-with-order"])];
const BY_RANK: &[Condition] = &[sample(&["selective", "high-low", "negatives"])];
const INLIERS: &[Condition] = &[sample(&["inliers"])];
const BAGGING: &[Condition] = &[changed("bagging_fraction", "below 1")];
const YETIRANK: &[Condition] = &[objective(&["yetirank"])];
const OF_INPUTS: &[Condition] = &[learner(&["linear", "ranksvm", "adarank", "coordinate-ascent", "neural"])];
const ADABOOST: &[Condition] = &[learner(&["adaboost"])];
const ADABOOST_TREES: &[Condition] = &[one_of("weak_learner", &["tree"])];
const NEURAL: &[Condition] = &[learner(&["neural"])];

const NEEDS: [Need; 66] = [
    Need { parameter: "p_high", any_of: &[sample(&["selective", "high-low"])] },
    Need { parameter: "p_low", any_of: &[sample(&["high-low"])] },
    Need { parameter: "p_negatives", any_of: &[sample(&["negatives"])] },
    Need { parameter: "sample_every", any_of: BY_RANK },
    Need { parameter: "sample_rounding", any_of: BY_RANK },
    Need { parameter: "sample_drop_empty", any_of: BY_RANK },
    Need { parameter: "top_rate", any_of: &[sample(&["goss"])] },
    Need { parameter: "other_rate", any_of: &[sample(&["goss"])] },
    Need { parameter: "mvs_reg", any_of: &[sample(&["mvs"])] },
    Need { parameter: "outlier_trees", any_of: INLIERS },
    Need { parameter: "outlier_last", any_of: INLIERS },
    Need { parameter: "outlier_high", any_of: INLIERS },
    Need { parameter: "outlier_low", any_of: INLIERS },
    Need { parameter: "bagging_by_query", any_of: BAGGING },
    Need { parameter: "bagging_by_query", any_of: &[sample(&["bagging", "query-bagging"])] },
    Need { parameter: "bagging_freq", any_of: BAGGING },
    Need { parameter: "drop_rate", any_of: DART },
    Need { parameter: "max_drop", any_of: DART },
    Need { parameter: "skip_drop", any_of: DART },
    Need { parameter: "uniform_drop", any_of: DART },
    Need { parameter: "xgboost_dart_mode", any_of: DART },
    Need { parameter: "learning_rate", any_of: &[one_of("learner", &["gbdt", "dart"])] },
    Need { parameter: "diffusion_temperature", any_of: &[LANGEVIN] },
    Need { parameter: "model_shrink_mode", any_of: &[LANGEVIN, changed("model_shrink_rate", "above 0")] },
    Need { parameter: "truncation_level", any_of: LAMBDA },
    Need { parameter: "lambda_form", any_of: &[objective(&["lambdamart"])] },
    Need { parameter: "lambda_norm", any_of: &[objective(&["lambdamart"])] },
    Need { parameter: "variant", any_of: &[objective(&["lambdaloss"])] },
    Need { parameter: "mu", any_of: &[objective(&["lambdaloss", "stochasticrank"])] },
    Need { parameter: "noise", any_of: LAMBDA },
    Need { parameter: "noise_strength", any_of: &[GUMBEL] },
    Need { parameter: "yetirank_mode", any_of: YETIRANK },
    Need { parameter: "decay", any_of: YETIRANK },
    Need { parameter: "sigmoid", any_of: &[objective(&["lambdamart", "lambdaloss", "ranknet", "hinge"])] },
    Need {
        parameter: "target",
        any_of: &[
            objective(&["lambdamart", "yetirank", "plackett-luce", "stochasticrank", "softrank"]),
            one_of("step", &["exact"]),
            learner(&["adarank", "coordinate-ascent"]),
        ],
    },
    Need {
        parameter: "samples",
        any_of: &[
            objective(&[
                "yetirank",
                "plackett-luce",
                "listmle",
                "p-listmle",
                "stochasticrank",
                "softrank",
                "select-with-order",
            ]),
            GUMBEL,
        ],
    },
    Need { parameter: "sigma", any_of: SMOOTHED },
    Need { parameter: "estimator", any_of: SMOOTHED },
    Need { parameter: "sfa", any_of: ACCELERATED },
    Need { parameter: "nu", any_of: ACCELERATED },
    Need { parameter: "nu", any_of: &[SFA] },
    Need { parameter: "sfa_min_docs", any_of: ACCELERATED },
    Need { parameter: "temperature", any_of: &[objective(&["approx-ndcg"])] },
    Need { parameter: "scaling", any_of: OF_INPUTS },
    Need { parameter: "log1p", any_of: OF_INPUTS },
    Need { parameter: "c", any_of: &[learner(&["linear", "ranksvm"])] },
    Need { parameter: "tolerance", any_of: &[learner(&["linear", "ranksvm", "adarank", "coordinate-ascent"])] },
    Need { parameter: "svm_loss", any_of: &[learner(&["ranksvm"])] },
    Need { parameter: "weak_learner", any_of: ADABOOST },
    Need { parameter: "impurity", any_of: ADABOOST },
    Need { parameter: "prune_lambda", any_of: ADABOOST },
    Need { parameter: "prune_lambda", any_of: ADABOOST_TREES },
    Need { parameter: "weak_ranker", any_of: &[learner(&["rankboost"])] },
    Need { parameter: "restarts", any_of: &[learner(&["coordinate-ascent"])] },
    Need { parameter: "network", any_of: NEURAL },
    Need { parameter: "hidden", any_of: NEURAL },
    Need { parameter: "layers", any_of: NEURAL },
    Need { parameter: "heads", any_of: NEURAL },
    Need { parameter: "heads", any_of: &[one_of("network", &["attention"])] },
    Need { parameter: "norm", any_of: NEURAL },
    Need { parameter: "dropout", any_of: NEURAL },
    Need { parameter: "input_noise", any_of: NEURAL },
    Need { parameter: "epochs", any_of: NEURAL },
    Need { parameter: "batch_queries", any_of: NEURAL },
    Need { parameter: "adam_rate", any_of: NEURAL },
    Need { parameter: "weight_decay", any_of: NEURAL },
];

/// A parameter that is set but has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithoutEffect {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// The cause: another parameter and its value.
    pub because: (&'static str, String),
    /// The required setting, as typed.
    pub needs: String,
}

impl fmt::Display for WithoutEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (other, value) = &self.because;
        write!(f, "{}={} has no effect with {other}={value}; it needs {}", self.name, self.value, self.needs)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.values {
            [] => write!(f, "{} {}", self.parameter, self.others),
            [value] => write!(f, "{}={value}", self.parameter),
            [first @ .., last] => write!(f, "{}={} or {last}", self.parameter, first.join(", ")),
        }
    }
}

impl TrainParams {
    /// The non-default parameters that have no effect.
    pub fn without_effect(&self) -> Vec<WithoutEffect> {
        let mut settings = self.spec.settings();
        // bagging_fraction and bagging_freq choose a sample, too.
        if let Some(sample) = settings.iter_mut().find(|setting| setting.name == "sample") {
            sample.value = self.boosting.sample.render();
        }
        let setting = |name: &str| settings.iter().find(|setting| setting.name == name);
        let holds = |condition: &Condition| {
            setting(condition.parameter).is_some_and(|setting| match condition.values {
                [] => !setting.is_default,
                values => values.contains(&setting.value.as_str()),
            })
        };
        let mut found = self.unread();
        for need in &NEEDS {
            let Some(set) = setting(need.parameter).filter(|set| !set.is_default) else { continue };
            let is_known = found.iter().any(|known| known.name == need.parameter);
            if is_known || need.any_of.iter().any(holds) {
                continue;
            }
            let blocker = need.any_of[0].parameter;
            found.push(WithoutEffect {
                name: need.parameter,
                value: set.value.clone(),
                because: (blocker, setting(blocker).map_or_else(String::new, |setting| setting.value.clone())),
                needs: need.any_of.iter().map(ToString::to_string).collect::<Vec<_>>().join(", or "),
            });
        }
        found
    }

    /// The non-default parameters that the learner does not read, if it is not boosting.
    fn unread(&self) -> Vec<WithoutEffect> {
        let learner = self.boosting.learner;
        if learner.is_boosting() {
            return Vec::new();
        }
        let is_unread = |setting: &Setting| !setting.is_default && !learner.reads(setting.name);
        let unread = self.spec.settings().into_iter().filter(is_unread);
        unread
            .map(|setting| WithoutEffect {
                name: setting.name,
                value: setting.value,
                because: ("learner", learner.render()),
                needs: format!("learner={}", Learner::Gbdt.render()),
            })
            .collect()
    }
}

/// Parameters of boosting that all learners read.
const ALWAYS_READ: [&str; 4] = ["learner", "metric", "early_stopping_rounds", "seed"];

impl Learner {
    /// Whether a learner reads a parameter. Those of learners other than boosting have rows in [`NEEDS`].
    pub(super) fn reads(self, name: &str) -> bool {
        let is_in = |table: Vec<ParamInfo>| table.iter().any(|info| info.name == name);
        let of_boosting = [LoopSpec::table(), TreeSpec::table(), BinningSpec::table(), ObjectiveSpec::table()].concat();
        if !is_in(of_boosting) || ALWAYS_READ.contains(&name) {
            return true;
        }
        match self {
            Self::Linear => name == "num_trees" || is_in(ObjectiveSpec::table()),
            Self::Neural => is_in(ObjectiveSpec::table()),
            Self::RankSvm => name == "num_trees",
            Self::AdaRank | Self::CoordinateAscent => ["num_trees", "target"].contains(&name),
            Self::AdaBoost => {
                ["num_trees", "max_depth", "min_data_in_leaf"].contains(&name) || is_in(BinningSpec::table())
            }
            Self::RankBoost => name == "num_trees" || is_in(BinningSpec::table()),
            Self::Gbdt | Self::Dart | Self::RandomForest => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrainSpec;

    /// Sets a parameter to some value other than its default.
    fn change(spec: &mut TrainSpec, name: &str) {
        let candidates = [
            "0.37",
            "3",
            "stump",
            "tree",
            "mlp",
            "query",
            "batch",
            "hinge",
            "gini",
            "entropy",
            "search",
            "true",
            "false",
            "gumbel",
            "metric",
            "paper",
            "1",
            "reinforce",
            "up",
            "map",
            "decreasing",
        ];
        let is_changed =
            |spec: &TrainSpec| spec.settings().iter().any(|setting| setting.name == name && !setting.is_default);
        for value in candidates {
            if spec.set(name, value).is_ok() && is_changed(spec) {
                return;
            }
        }
        panic!("{name}: no other value");
    }

    #[test]
    fn every_row_names_parameters_and_values_that_exist() {
        for need in &NEEDS {
            change(&mut TrainSpec::default(), need.parameter);
            for condition in need.any_of {
                for value in condition.values {
                    let mut spec = TrainSpec::default();
                    spec.set(condition.parameter, value).unwrap();
                    let settings = spec.settings();
                    let setting = settings.iter().find(|setting| setting.name == condition.parameter).unwrap();
                    assert_eq!(setting.value, *value, "{}: not as it is rendered", need.parameter);
                }
            }
        }
    }

    /// With the defaults, every parameter with a condition is reported; with the condition met, none is.
    #[test]
    fn a_parameter_is_told_until_its_need_is_met() {
        let told = |spec: &TrainSpec| -> Vec<String> {
            let params = spec.clone().check().unwrap_or_else(|error| panic!("{error}"));
            params.without_effect().iter().map(ToString::to_string).collect()
        };
        let mut spec = TrainSpec::default();
        spec.set("drop_rate", "0.3").unwrap();
        assert_eq!(told(&spec), ["drop_rate=0.3 has no effect with learner=gbdt; it needs learner=dart"]);
        spec.set("learner", "dart").unwrap();
        assert_eq!(told(&spec), [""; 0]);
        spec.set("truncation_level", "10").unwrap();
        assert_eq!(told(&spec), [""; 0]);
        spec.set("objective", "rmse").unwrap();
        let expected =
            "truncation_level=10 has no effect with objective=rmse; it needs objective=lambdamart or lambdaloss";
        assert_eq!(told(&spec), [expected]);
        let mut spec = TrainSpec::default();
        spec.set("model_shrink_mode", "decreasing").unwrap();
        assert_eq!(told(&spec).len(), 1);
        spec.set("model_shrink_rate", "0.01").unwrap();
        assert_eq!(told(&spec), [""; 0]);
        assert_eq!(told(&TrainSpec::default()), [""; 0]);
        let mut spec = TrainSpec::default();
        spec.set("bagging_freq", "1").unwrap();
        let expected = "bagging_freq=1 has no effect with bagging_fraction=1; it needs bagging_fraction below 1";
        assert_eq!(told(&spec), [expected]);
        spec.set("bagging_by_query", "true").unwrap();
        assert_eq!(told(&spec).len(), 2);
        spec.set("bagging_fraction", "0.5").unwrap();
        assert_eq!(told(&spec), [""; 0]);
        spec.set("sample", "mvs").unwrap();
        let expected = "bagging_by_query=true has no effect with sample=mvs; it needs sample=bagging or query-bagging";
        assert_eq!(told(&spec), [expected]);
    }
}
