//! The rules under which a number means what it says.

use rankwise_params::{CrossCheck, ParamError, ParamValue, Range, param_enum, param_group};

use crate::Gain;
use crate::convention::defaults_of;

param_enum! {
    /// The order of documents with equal scores.
    pub enum Ties {
        /// Least relevant first: no credit for undecided pairs.
        Worst = "worst",
        /// Most relevant first.
        Best = "best",
        /// The mean over all orders, in closed form.
        Average = "average",
        /// As they stand in the input.
        Input = "input",
        /// By document id, descending, as trec_eval does.
        DocId = "docid",
        /// In an order drawn from the seed and the document.
        Random = "random",
    }
}

param_enum! {
    /// What a query without relevant documents counts as.
    pub enum Empty {
        /// As 0.
        Zero = "zero" | "0",
        /// As 1 (metrics that are not normalised keep their 0).
        One = "one" | "1",
        /// It is left out of the mean.
        Skip = "skip",
        /// It is refused.
        Error = "error",
    }
}

param_enum! {
    /// Another program's rules.
    pub enum Convention {
        /// LightGBM.
        LightGbm = "lightgbm",
        /// XGBoost.
        XgBoost = "xgboost",
        /// CatBoost.
        CatBoost = "catboost",
        /// trec_eval.
        TrecEval = "trec_eval" | "trec",
        /// scikit-learn.
        Sklearn = "sklearn" | "scikit-learn",
        /// RankLib.
        RankLib = "ranklib",
    }
}

param_group! {
    /// What the metrics mean.
    pub RulesSpec => RulesParams, "Metrics" {
        /// Worth of a label: 2^label - 1, the label itself, or an entry of a table; `auto` takes the convention's, exp
        /// without one.
        gain: Option<Gain> = None, Range::ANY, [];
        /// Order of documents with equal scores; `auto` takes the convention's, worst without one.
        ties: Option<Ties> = None, Range::ANY, [];
        /// What a query without relevant documents counts as; `auto` takes the convention's, zero without one.
        empty: Option<Empty> = None, Range::ANY, [];
        /// Another program's rules, all at once; what is given explicitly stays.
        convention: Option<Convention> = None, Range::ANY, [];
    }
}

impl CrossCheck for RulesSpec {}

/// The rules in force, all decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Worth of a label.
    pub gain: Gain,
    /// Order of equal scores.
    pub ties: Ties,
    /// Queries without relevant documents.
    pub empty: Empty,
    /// The cut-off of a metric that names none; `None` is the whole list.
    pub default_cutoff: Option<usize>,
    /// For random ties.
    pub seed: u64,
}

impl Default for Rules {
    fn default() -> Self {
        defaults_of(None)
    }
}

impl Rules {
    /// Decides what the spec leaves open.
    pub fn new(spec: &RulesSpec, seed: u64) -> Result<Self, ParamError> {
        let spec = spec.clone().check()?;
        let defaults = defaults_of(spec.convention);
        Ok(Self {
            gain: spec.gain.clone().unwrap_or(defaults.gain),
            ties: spec.ties.unwrap_or(defaults.ties),
            empty: spec.empty.unwrap_or(defaults.empty),
            default_cutoff: defaults.default_cutoff,
            seed,
        })
    }

    /// The rules as (name, value), for reports.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let mut entries = vec![
            ("gain", self.gain.render()),
            ("discount", "log2".into()),
            ("ties", self.ties.render()),
            ("empty", self.empty.render()),
        ];
        if let Some(cutoff) = self.default_cutoff {
            entries.push(("default_cutoff", cutoff.to_string()));
        }
        entries
    }

    /// The rules in a line, for reports.
    pub fn describe(&self) -> String {
        self.entries().iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explicit_rules_win_over_the_convention() {
        let spec = RulesSpec { convention: Some(Convention::XgBoost), ties: Some(Ties::Best), ..Default::default() };
        let rules = Rules::new(&spec, 0).unwrap();
        assert_eq!((rules.ties, rules.empty, rules.default_cutoff), (Ties::Best, Empty::One, Some(32)));
        assert_eq!(rules.describe(), "gain exp, discount log2, ties best, empty one, default_cutoff 32");
    }
}
