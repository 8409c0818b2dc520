//! Metrics by name: `ndcg@10`, and the names in other programs.

use std::str::FromStr;

use rankwise_params::{ParamValue, nearest, param_enum};

use crate::cascade::{Cascade, Reward, Stop};
use crate::dcg::DcgRr;
use crate::hits::{AveragePrecision, F1, FirstRanks, Precision, RPrecision, Rbp, Recall};
use crate::pairwise::{KendallTau, PairAccuracy, PairLogit, QueryAuc};
use crate::placement::{AverageRelevancePosition, Bpref, Lrap};
use crate::{Dcg, Empty, Metric, MetricError, Ndcg, Rules};

param_enum! {
    /// The available metrics.
    pub enum MetricKind {
        /// Normalised discounted cumulative gain.
        Ndcg = "ndcg" | "ndcg_cut",
        /// Discounted cumulative gain.
        Dcg = "dcg",
        /// Average precision.
        Map = "map" | "map_cut" | "ap" | "average_precision",
        /// Reciprocal rank.
        Mrr = "mrr" | "rr" | "recip_rank" | "reciprocal_rank",
        /// Expected reciprocal rank.
        Err = "err",
        /// Precision.
        Precision = "p" | "precision" | "pre" | "precisionat",
        /// Recall.
        Recall = "recall" | "recallat",
        /// Whether there is a hit.
        Hits = "hits" | "success" | "hit_rate",
        /// Harmonic mean of precision and recall.
        F1 = "f1",
        /// Precision at the number of relevant documents.
        RPrecision = "r-precision" | "rprec" | "rprecision",
        /// Area under the ROC curve, over all documents together.
        Auc = "auc" | "roc_auc",
        /// Area under the ROC curve of a query.
        QueryAuc = "query-auc" | "queryauc",
        /// Probability that a reader finds something.
        PFound = "pfound",
        /// Rank-biased precision.
        Rbp = "rbp",
        /// bpref.
        Bpref = "bpref",
        /// Gains of selected documents over their ranks.
        DcgRr = "dcg-rr",
        /// Share of pairs in the right order.
        PairAccuracy = "pair-accuracy" | "pairaccuracy",
        /// Kendall's tau-b.
        KendallTau = "kendall-tau" | "kendall" | "tau",
        /// Average relevance position.
        Arp = "arp" | "average_relevance_position",
        /// Label-ranking average precision.
        Lrap = "lrap" | "label_ranking_average_precision",
        /// Logistic loss of pairs.
        PairLogit = "pair-logit" | "pairlogit",
    }
}

impl MetricKind {
    /// Whether it can have a cutoff.
    pub fn takes_cutoff(self) -> bool {
        use MetricKind::{Dcg, Err, F1, Hits, Map, Mrr, Ndcg, PFound, Precision, Rbp, Recall};
        matches!(self, Ndcg | Dcg | Map | Mrr | Err | Precision | Recall | Hits | F1 | PFound | Rbp)
    }

    /// Whether it asks only which documents are relevant, not how much.
    pub fn is_binary(self) -> bool {
        use MetricKind::{Auc, Bpref, F1, Hits, Lrap, Map, Mrr, Precision, QueryAuc, RPrecision, Rbp, Recall};
        matches!(self, Map | Mrr | Precision | Recall | Hits | F1 | RPrecision | Auc | QueryAuc | Rbp | Bpref | Lrap)
    }

    /// Whether larger values are better.
    pub fn is_larger_better(self) -> bool {
        !matches!(self, Self::Arp | Self::PairLogit)
    }

    /// Whether a value is better than another.
    pub fn is_better(self, value: f64, other: f64) -> bool {
        if self.is_larger_better() { value > other } else { value < other }
    }

    /// Whether it uses the pairs of the data, if there are any.
    pub fn takes_pairs(self) -> bool {
        matches!(self, Self::PairAccuracy | Self::PairLogit)
    }

    /// Whether it is one number over all documents, without values per query.
    pub fn is_pooled(self) -> bool {
        self == Self::Auc
    }
}

/// A metric as typed.
#[derive(Clone, Debug)]
pub struct MetricName {
    kind: MetricKind,
    pub(crate) cutoff: Option<usize>,
    /// A trailing `-`, as in XGBoost: queries without relevant documents count as 0.
    is_strict: bool,
    typed: String,
}

impl MetricName {
    /// Metrics separated by commas, at least one: `ndcg@10,map`.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, MetricError> {
        text.split(',').map(str::parse).collect()
    }

    /// The name as typed.
    pub fn as_str(&self) -> &str {
        &self.typed
    }

    /// The metric.
    pub fn kind(&self) -> MetricKind {
        self.kind
    }

    /// Rejects a cutoff of a metric that takes none. Names are parsed without this check, so that a message can say it.
    pub fn check(&self) -> Result<(), MetricError> {
        if self.cutoff.is_some() && !self.kind.takes_cutoff() {
            return Err(MetricError::Cutoff { metric: self.typed.clone() });
        }
        Ok(())
    }

    /// The number of ranks that count, if the name has a cutoff.
    pub fn cutoff(&self) -> Option<usize> {
        self.cutoff
    }

    /// The number of ranks that count, with rules that may add a cutoff; `usize::MAX` means all.
    pub fn depth(&self, rules: &Rules) -> usize {
        self.cutoff.or_else(|| rules.cutoff_of(self.kind)).unwrap_or(usize::MAX)
    }

    /// What a query without relevant documents counts as.
    pub(crate) fn empty(&self, rules: &Rules) -> Empty {
        if self.is_strict { Empty::Zero } else { rules.empty_of(self.kind) }
    }

    /// The metric with its rules; `None` if it has no value per query.
    pub fn build(&self, rules: &Rules) -> Option<Box<dyn Metric>> {
        let cutoff = self.depth(rules);
        let first = FirstRanks { cutoff, denominator: rules.precision_denominator };
        let by_gain = || Stop::by_gain(&rules.gain, rules.err_max_grade);
        Some(match self.kind {
            MetricKind::Ndcg => Box::new(Ndcg { cutoff }),
            MetricKind::Dcg => Box::new(Dcg { cutoff }),
            MetricKind::Map => Box::new(AveragePrecision { cutoff, denominator: rules.map_denominator }),
            MetricKind::Mrr => Box::new(Cascade { cutoff, stop: Stop::Relevant, reward: Reward::Reciprocal }),
            MetricKind::Err => Box::new(Cascade { cutoff, stop: by_gain(), reward: Reward::Reciprocal }),
            MetricKind::Precision => Box::new(Precision(first)),
            MetricKind::Recall => Box::new(Recall { cutoff }),
            MetricKind::Hits => Box::new(Cascade { cutoff, stop: Stop::Relevant, reward: Reward::Decay(1.0) }),
            MetricKind::F1 => Box::new(F1(first)),
            MetricKind::RPrecision => Box::new(RPrecision),
            MetricKind::Auc => return None,
            MetricKind::QueryAuc => Box::new(QueryAuc),
            MetricKind::PFound => {
                Box::new(Cascade { cutoff, stop: by_gain(), reward: Reward::Decay(rules.pfound_decay) })
            }
            MetricKind::Rbp => Box::new(Rbp { cutoff, persistence: rules.rbp_persistence }),
            MetricKind::Bpref => Box::new(Bpref),
            MetricKind::DcgRr => Box::new(DcgRr),
            MetricKind::PairAccuracy => Box::new(PairAccuracy),
            MetricKind::KendallTau => Box::new(KendallTau),
            MetricKind::Arp => Box::new(AverageRelevancePosition),
            MetricKind::Lrap => Box::new(Lrap),
            MetricKind::PairLogit => Box::new(PairLogit),
        })
    }
}

/// By meaning: `NDCG@10` equals `ndcg@10`.
impl PartialEq for MetricName {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.cutoff, self.is_strict) == (other.kind, other.cutoff, other.is_strict)
    }
}

impl Eq for MetricName {}

impl ParamValue for MetricName {
    fn kind() -> String {
        format!("a metric ({}), most of them with an optional cutoff @k", MetricKind::kind())
    }

    fn plural() -> String {
        format!("metrics ({}), most of them with an optional cutoff @k", MetricKind::kind())
    }

    fn parse(text: &str) -> Option<Self> {
        let typed = text.trim();
        let (named, is_strict) = typed.strip_suffix('-').map_or((typed, false), |named| (named, true));
        let (name, cutoff) = match split_cutoff(named) {
            Some((name, digits)) => (name, Some(digits.parse().ok().filter(|cutoff| *cutoff > 0)?)),
            None => (named, None),
        };
        Some(Self { kind: MetricKind::parse(name)?, cutoff, is_strict, typed: typed.to_owned() })
    }

    fn problem(text: &str) -> Option<String> {
        text.parse::<Self>().err().map(|error| error.to_string())
    }

    fn render(&self) -> String {
        let name = self.cutoff.map_or_else(|| self.kind.render(), |cutoff| format!("{}@{cutoff}", self.kind.render()));
        if self.is_strict { format!("{name}-") } else { name }
    }
}

/// ```
/// use rankwise_metrics::{MetricKind, MetricName};
///
/// let metric: MetricName = "ndcg@10".parse()?;
/// assert_eq!((metric.kind(), metric.cutoff()), (MetricKind::Ndcg, Some(10)));
/// let error = "ndgc@10".parse::<MetricName>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown metric 'ndgc@10'; did you mean 'ndcg@10'?");
/// # Ok::<(), rankwise_metrics::MetricError>(())
/// ```
impl FromStr for MetricName {
    type Err = MetricError;

    fn from_str(text: &str) -> Result<Self, MetricError> {
        let cut = |typed: &str| -> Option<String> {
            let (name, digits) = typed.split_at(typed.trim_end_matches(|letter: char| letter.is_ascii_digit()).len());
            let with_cutoff = format!("{name}@{digits}");
            if Self::parse(&with_cutoff).is_some_and(|metric| metric.kind.takes_cutoff()) {
                return Some(with_cutoff);
            }
            let (name, cutoff) = split_cutoff(typed).map_or((typed, None), |(name, digits)| (name, Some(digits)));
            let cutoff = cutoff.filter(|digits| digits.parse::<usize>().is_ok_and(|cutoff| cutoff > 0));
            let known: Vec<String> = MetricKind::ALL.iter().map(MetricKind::render).collect();
            let name = nearest(name, known.iter().map(String::as_str)).filter(|known| shares_letters(name, known))?;
            Some(cutoff.map_or_else(|| name.to_owned(), |cutoff| format!("{name}@{cutoff}")))
        };
        let typed = text.trim();
        if let Some(metric) = Self::parse(typed) {
            return Ok(metric);
        }
        let is_metric = |name: &str| Self::parse(name).is_some_and(|metric| metric.kind.takes_cutoff());
        Err(match split_cutoff(typed).filter(|(name, cutoff)| is_metric(name) && !cutoff.contains(',')) {
            Some((name, _)) => MetricError::InvalidCutoff { typed: typed.to_owned(), name: name.to_owned() },
            None => MetricError::Unknown { typed: typed.to_owned(), nearest: cut(typed) },
        })
    }
}

/// Whether two names share most letters. Names are so short that two typing errors can turn one into any other.
fn shares_letters(typed: &str, known: &str) -> bool {
    let typed = typed.to_ascii_lowercase();
    let mut left: Vec<char> = known.chars().collect();
    let n_typed = typed.chars().count();
    let n_common = typed.chars().filter(|letter| {
        let found = left.iter().position(|known| known == letter);
        found.map(|place| left.swap_remove(place)).is_some()
    });
    3 * n_common.count() >= 2 * n_typed.max(known.chars().count())
}

/// Name and cutoff: `ndcg@10`, CatBoost's `NDCG:top=10`, trec_eval's `ndcg_cut_10`.
fn split_cutoff(named: &str) -> Option<(&str, &str)> {
    let by_place = || named.rsplit_once('_').filter(|(_, last)| last.bytes().all(|byte| byte.is_ascii_digit()));
    named.split_once('@').or_else(|| named.split_once(":top=")).or_else(by_place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_kind_and_perhaps_a_cutoff() {
        assert_eq!(MetricName::parse("NDCG@10").unwrap().cutoff, Some(10));
        assert_eq!(MetricName::parse("NDCG@10"), MetricName::parse("ndcg@10"));
        assert_eq!(MetricName::parse(" NDCG@10").unwrap().as_str(), "NDCG@10");
        assert_eq!(MetricName::parse("NDCG@10").unwrap().render(), "ndcg@10");
        assert_eq!(MetricName::parse("dcg").unwrap().cutoff, None);
        for text in ["", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@1.5", "@5", "ndgc@5", "ndcg@99999999999999999999", "-"] {
            assert_eq!(MetricName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_slip_is_told_from_noise() {
        let near = |typed: &str| match typed.parse::<MetricName>().unwrap_err() {
            MetricError::Unknown { nearest, .. } => nearest,
            other => panic!("{other}"),
        };
        for (typed, meant) in [
            ("ndgc@10", "ndcg@10"),
            ("nDCGG", "ndcg"),
            ("mapp@3", "map@3"),
            ("recal@5", "recall@5"),
            ("ndcg10", "ndcg@10"),
        ] {
            assert_eq!(near(typed).as_deref(), Some(meant), "{typed}");
        }
        for typed in ["foo", "x", "", "accuracy", "f2", "zebra@3", "rmse"] {
            assert_eq!(near(typed), None, "{typed}");
        }
        let error = MetricName::parse_list("map,ndgc@10,p@5").unwrap_err().to_string();
        assert_eq!(error, "unknown metric 'ndgc@10'; did you mean 'ndcg@10'?");
        for typed in ["ndcg@0", "ndcg@-1", "ndcg@1e3", "ndcg@", "NDCG:top=0", "ndcg@99999999999999999999"] {
            let error = typed.parse::<MetricName>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("metric '{typed}': invalid cutoff")), "{error}");
        }
    }

    #[test]
    fn other_programs_names_mean_the_same() {
        for (theirs, ours) in [
            ("precision@5", "p@5"),
            ("pre@4", "p@4"),
            ("P_10", "p@10"),
            ("PrecisionAt:top=3", "p@3"),
            ("RecallAt:top=3", "recall@3"),
            ("NDCG:top=10", "ndcg@10"),
            ("ndcg_cut_10", "ndcg@10"),
            ("map_cut_20", "map@20"),
            ("recip_rank", "mrr"),
            ("success_1", "hits@1"),
            ("Rprec", "r-precision"),
            ("QueryAUC", "query-auc"),
            ("PairAccuracy", "pair-accuracy"),
            ("roc_auc", "auc"),
        ] {
            assert_eq!(MetricName::parse(theirs).map(|name| name.render()), Some(ours.into()), "{theirs}");
        }
        assert_eq!(MetricName::parse("ndcg@5-").unwrap().render(), "ndcg@5-");
        assert_ne!(MetricName::parse("ndcg@5-"), MetricName::parse("ndcg@5"));
    }
}
