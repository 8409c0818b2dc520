//! The rules that define what a metric's value means.

use rankwise_params::{CrossCheck, ParamError, ParamValue, Range, param_enum, param_group};

use crate::convention::defaults_of;
use crate::{Discount, Gain, MapDenominator, MetricKind, MetricName, PrecisionDenominator};

param_enum! {
    /// The order of documents with equal scores.
    pub enum Ties {
        /// Least relevant first: the pessimistic value.
        Worst = "worst",
        /// Most relevant first: the optimistic value.
        Best = "best",
        /// The expected value over all orders, in closed form.
        Average = "average",
        /// By input order.
        Input = "input",
        /// By document id, descending, as trec_eval does.
        DocId = "docid",
        /// In a random order, determined by the seed and the document.
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
        /// It is excluded from the mean.
        Skip = "skip",
        /// It is an error.
        Error = "error",
    }
}

param_enum! {
    /// Another program's rules.
    pub enum Convention, unset "none" {
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
        /// ranx.
        Ranx = "ranx",
    }
}

param_enum! {
    /// How judged queries without results in a run are treated.
    pub enum MissingQueries {
        /// They count as queries with an empty result list.
        Count = "count" | "zero",
        /// They are excluded from the mean.
        Skip = "skip",
    }
}

param_group! {
    /// The rules of the metrics.
    pub RulesSpec => RulesParams, SetRules, "Metrics" {
        /// Gain of a label: 2^label - 1 (exp), the label itself (linear), or an entry of a table. auto: as set by
        /// `convention`, otherwise exp.
        gain: Option<Gain> = None, Range::ANY, [];
        /// Order of documents with tied scores. auto: as set by `convention`, otherwise worst.
        ties: Option<Ties> = None, Range::ANY, [];
        /// Value of queries without relevant documents. auto: as set by `convention`, otherwise zero.
        empty: Option<Empty> = None, Range::ANY, [];
        /// Discount of a rank in DCG and NDCG: 1/log2(1 + rank) or 1/rank. auto: log2.
        discount: Option<Discount> = None, Range::ANY, [];
        /// Minimum label of relevant documents in binary metrics. auto: as set by `convention`, otherwise any label above 0.
        relevant_from: Option<f64> = None, Range::above(0.0), [];
        /// Denominator of average precision at a cutoff: the number of relevant documents (relevant), or the cutoff if that is
        /// smaller (cutoff). auto: as set by `convention`, otherwise relevant.
        map_denominator: Option<MapDenominator> = None, Range::ANY, [];
        /// Denominator of precision for lists shorter than the cutoff: the cutoff or the length of the list. auto: as set by
        /// `convention`, otherwise cutoff.
        precision_denominator: Option<PrecisionDenominator> = None, Range::ANY, [];
        /// Maximum label in ERR and pFound with exponential gain.
        err_max_grade: f64 = 4.0, Range::closed(1.0, 900.0), [];
        /// Probability in RBP that the user proceeds to the next document.
        rbp_persistence: f64 = 0.8, Range::between(0.0, 1.0), [];
        /// Probability in pFound that the user proceeds to the next document after one that is not relevant.
        pfound_decay: f64 = 0.85, Range::above_to(0.0, 1.0), [];
        /// With a TREC run: whether judged queries for which it has no results count as empty lists (count) or are ignored
        /// (skip). auto: as set by `convention`, otherwise count.
        missing_queries: Option<MissingQueries> = None, Range::ANY, [];
        /// Follow the rules of another program; rules that are set explicitly take precedence.
        convention: Option<Convention> = None, Range::ANY, [];
    }
}

impl CrossCheck for RulesSpec {}

/// The complete rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The gain of a label.
    pub gain: Gain,
    /// The discount of a rank.
    pub discount: Discount,
    /// Order of equal scores.
    pub ties: Ties,
    /// Queries without relevant documents.
    pub empty: Empty,
    /// Exceptions for some metrics, by convention.
    pub empty_except: &'static [(MetricKind, Empty)],
    /// The smallest label that binary metrics count as relevant; above 0.
    pub relevant_from: f32,
    /// The denominator of average precision.
    pub map_denominator: MapDenominator,
    /// The denominator of precision.
    pub precision_denominator: PrecisionDenominator,
    /// The largest label of ERR and pFound with exponential gain.
    pub err_max_grade: f64,
    /// Probability in RBP that the user proceeds to the next document.
    pub rbp_persistence: f64,
    /// Probability in pFound that the user proceeds after a document that is not relevant.
    pub pfound_decay: f64,
    /// Judged queries without results in the run.
    pub missing_queries: MissingQueries,
    /// The cutoff of NDCG, MAP and precision without an explicit one; `None` means the whole list.
    pub default_cutoff: Option<usize>,
    /// The seed of [`Ties::Random`].
    pub seed: u64,
}

impl Default for Rules {
    fn default() -> Self {
        defaults_of(None)
    }
}

impl Rules {
    /// The rules of the convention, or the defaults, overridden by explicit settings.
    pub fn new(spec: &RulesSpec, seed: u64) -> Result<Self, ParamError> {
        let spec = spec.clone().check()?;
        let defaults = defaults_of(spec.convention);
        Ok(Self {
            gain: spec.gain.clone().unwrap_or(defaults.gain),
            discount: spec.discount.unwrap_or(defaults.discount),
            ties: spec.ties.unwrap_or(defaults.ties),
            empty: spec.empty.unwrap_or(defaults.empty),
            empty_except: if spec.empty.is_some() { &[] } else { defaults.empty_except },
            // A number that underflows as a label is still above 0.
            relevant_from: spec
                .relevant_from
                .map_or(defaults.relevant_from, |from| (from as f32).max(f32::from_bits(1))),
            map_denominator: spec.map_denominator.unwrap_or(defaults.map_denominator),
            precision_denominator: spec.precision_denominator.unwrap_or(defaults.precision_denominator),
            err_max_grade: spec.err_max_grade,
            rbp_persistence: spec.rbp_persistence,
            pfound_decay: spec.pfound_decay,
            missing_queries: spec.missing_queries.unwrap_or(defaults.missing_queries),
            default_cutoff: defaults.default_cutoff,
            seed,
        })
    }

    /// The value of a query without relevant documents, for a metric.
    pub(crate) fn empty_of(&self, kind: MetricKind) -> Empty {
        let except = self.empty_except.iter().find(|(known, _)| *known == kind);
        except.map_or(self.empty, |(_, empty)| *empty)
    }

    /// The cutoff of a metric without an explicit one.
    pub(crate) fn cutoff_of(&self, kind: MetricKind) -> Option<usize> {
        let has_default = matches!(kind, MetricKind::Ndcg | MetricKind::Map | MetricKind::Precision);
        self.default_cutoff.filter(|_| has_default)
    }

    /// The rules that metrics depend on, as (name, value), for reports.
    pub fn entries(&self, metrics: &[MetricName]) -> Vec<(&'static str, String)> {
        use MetricKind::{
            Arp, Auc, Dcg, DcgRr, Err, F1, KendallTau, Lrap, Map, Ndcg, PFound, PairAccuracy, PairLogit, Precision,
            QueryAuc, Rbp,
        };
        let among = |kinds: &[MetricKind]| metrics.iter().any(|name| kinds.contains(&name.kind()));
        let is_binary = metrics.iter().any(|name| name.kind().is_binary());
        let is_for_labels_alone = !metrics.is_empty()
            && metrics.iter().all(|name| [Arp, KendallTau, PairAccuracy, PairLogit].contains(&name.kind()));
        // Other metrics use no ranks, or treat ties in their own way.
        let among_others =
            |kinds: &[MetricKind]| metrics.is_empty() || metrics.iter().any(|name| !kinds.contains(&name.kind()));
        let has_ties = among_others(&[Auc, QueryAuc, KendallTau, Lrap, PairLogit, DcgRr]);
        let has_discount = metrics.is_empty() || among(&[Ndcg, Dcg]);
        let has_gain = !is_for_labels_alone && (!is_binary || among(&[Ndcg, Dcg, Err, PFound, DcgRr]));
        let empty = self.empty_except.iter().filter(|(kind, _)| among(&[*kind]));
        let empty = empty
            .fold(self.empty.render(), |text, (kind, empty)| format!("{text} ({} {})", kind.render(), empty.render()));
        let [from, below] = [self.relevant_from, self.relevant_from.next_down()].map(|number| number.to_string());
        // The next number after a round one.
        let relevant_from = if below.len() < from.len() { format!("above {below}") } else { from };
        let all = [
            (has_gain, "gain", self.gain.render()),
            (has_discount, "discount", self.discount.render()),
            (has_ties, "ties", self.ties.render()),
            (among_others(&[Auc]), "empty", empty),
            (is_binary, "relevant_from", relevant_from),
            (among(&[Map]), "map_denominator", self.map_denominator.render()),
            (among(&[Precision, F1]), "precision_denominator", self.precision_denominator.render()),
            (among(&[Err, PFound]) && self.gain == Gain::Exp, "err_max_grade", self.err_max_grade.to_string()),
            (among(&[Rbp]), "rbp_persistence", self.rbp_persistence.to_string()),
            (among(&[PFound]), "pfound_decay", self.pfound_decay.to_string()),
        ];
        let mut entries: Vec<_> =
            all.into_iter().filter(|(is_used, ..)| *is_used).map(|(_, name, value)| (name, value)).collect();
        if let Some(cutoff) = self.default_cutoff {
            entries.push(("default_cutoff", cutoff.to_string()));
        }
        entries
    }

    /// These rules in one line, for reports.
    pub fn describe(&self, metrics: &[MetricName]) -> String {
        self.entries(metrics).iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
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
        let names = [MetricName::parse("ndcg@5").unwrap()];
        assert_eq!(rules.describe(&names), "gain exp, discount log2, ties best, empty one, default_cutoff 32");
    }

    #[test]
    fn reports_name_the_rules_that_count() {
        let said = |convention, metrics: &str| {
            let spec = RulesSpec { convention, ..Default::default() };
            Rules::new(&spec, 0).unwrap().describe(&Vec::parse(metrics).unwrap())
        };
        assert_eq!(said(None, "mrr"), "ties worst, empty zero, relevant_from above 0");
        assert_eq!(
            said(Some(Convention::CatBoost), "ndcg,map@5,p@3"),
            "gain linear, discount log2, ties worst, empty zero (ndcg one), relevant_from above 0.5, \
             map_denominator cutoff, precision_denominator length"
        );
        assert_eq!(said(None, "auc"), "relevant_from above 0");
        assert_eq!(said(None, "dcg-rr"), "gain exp, empty zero");
        assert_eq!(said(None, "dcg-rr,dcg"), "gain exp, discount log2, ties worst, empty zero");
        assert_eq!(said(None, ""), "gain exp, discount log2, ties worst, empty zero");
        let graded = said(None, "err@10,pfound");
        assert!(graded.contains("err_max_grade 4, pfound_decay 0.85"), "{graded}");
    }
}
