//! The target metric of an objective, as a sum over documents and ranks from which the effect of swaps follows.
//!
//! A document has a *value* that depends only on its label:
//!
//! ```text
//! ndcg  gain / ideal DCG       dcg  gain           p    relevant / cutoff
//! map   relevant / number of relevant documents    mrr  relevant     err  probability to stop
//! ```
//!
//! A swap of two documents changes the metric by a multiple of the difference of their values; `swap.rs` has the
//! multiples.

use rankwise_data::Documents;
use rankwise_metrics::{AdditiveMetric, Evaluator, Gain, MetricKind, MetricName, Rules, Ties};

use crate::ObjectiveError;

/// The metrics with known swaps.
const WITH_SWAPS: &str = "ndcg, dcg, map, mrr or err, with or without @k, or p@k";

/// Beyond this label, the gain 2^label - 1 of one document is so large that all others vanish in f32.
pub(crate) const MAX_EXP_LABEL: f32 = 31.0;

/// A metric with known swaps, with its rules, for the lists of a dataset.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    metric: AdditiveMetric,
    relevant_from: f32,
    /// The weight of each rank; 0 from the cutoff on.
    pub(crate) worths: Vec<f32>,
}

impl Target {
    /// Checks that the swaps of the metric are known and that the labels are valid. `ideal_cutoff` applies to the ideal
    /// DCG if the metric has no cutoff.
    pub(crate) fn new(
        objective: &'static str,
        name: &MetricName,
        data: &Documents,
        rules: &Rules,
        ideal_cutoff: usize,
    ) -> Result<Self, ObjectiveError> {
        use MetricKind::{Dcg, Err as ExpectedRank, Map, Mrr, Ndcg, Precision};
        // If only a convention sets a cutoff, not the name, training uses the whole list.
        let rules = Rules { default_cutoff: None, ..rules.clone() };
        if !matches!(name.kind(), Ndcg | Dcg | Map | Mrr | ExpectedRank | Precision) {
            let problem = format!("it is not among the supported metrics; use {WITH_SWAPS}");
            return Err(ObjectiveError::Target { objective, target: name.as_str().to_owned(), problem });
        }
        let metric = additive(objective, name, data, &rules)?;
        let worths = metric.rank_weights().iter().map(|weight| *weight as f32).collect();
        let metric = metric.with_ideal_cutoff(name.cutoff().unwrap_or(ideal_cutoff));
        Ok(Self { metric, relevant_from: rules.relevant_from, worths })
    }

    pub(crate) fn kind(&self) -> MetricKind {
        self.metric.kind()
    }

    /// The number of ranks that count.
    pub(crate) fn cutoff(&self) -> usize {
        self.metric.depth()
    }

    /// The weights of ranks; 0 from the cutoff on.
    pub(crate) fn rank_weights(&self) -> &[f64] {
        self.metric.rank_weights()
    }

    /// The discounts of DCG, to the end of the longest list.
    pub(crate) fn discounts(&self) -> &[f64] {
        self.metric.discounts().as_slice()
    }

    /// Whether labels count only as relevant or not.
    pub(crate) fn is_binary(&self) -> bool {
        matches!(self.kind(), MetricKind::Map | MetricKind::Mrr | MetricKind::Precision)
    }

    /// Whether two labels differ for the metric.
    pub(crate) fn tells_apart(&self, a: f32, b: f32) -> bool {
        let is_relevant = |label: f32| label >= self.relevant_from;
        if self.is_binary() { is_relevant(a) != is_relevant(b) } else { a != b }
    }

    /// The values of the documents of a query.
    pub(crate) fn values(&self, labels: &[f32], out: &mut Vec<f64>) {
        out.clear();
        self.metric.push_worth(labels, out);
    }
}

/// The metric for the lists of a dataset. It is an error if it has another form, or if the labels are invalid.
pub(crate) fn additive(
    objective: &'static str,
    name: &MetricName,
    data: &Documents,
    rules: &Rules,
) -> Result<AdditiveMetric, ObjectiveError> {
    let refuse = |problem: String| ObjectiveError::Target { objective, target: name.as_str().to_owned(), problem };
    let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
    let metric = AdditiveMetric::new(name, rules, longest).ok_or_else(|| {
        let known = AdditiveMetric::KNOWN;
        refuse(format!("it is not among the supported metrics; use {known}"))
    })?;
    if name.kind() == MetricKind::Precision && name.cutoff().is_none() {
        return Err(refuse("without a cutoff it is the same for every order; add one, as in p@10".into()));
    }
    check_labels(data, name, rules)?;
    Ok(metric)
}

/// Checks that the labels are valid for the metric, and that f32 can distinguish their gains.
pub(crate) fn check_labels(data: &Documents, name: &MetricName, rules: &Rules) -> Result<(), ObjectiveError> {
    // Ties do not affect labels.
    let rules = Rules { ties: Ties::Worst, ..rules.clone() };
    let takes_gain = matches!(name.kind(), MetricKind::Ndcg | MetricKind::Dcg);
    if rules.gain == Gain::Exp && takes_gain {
        for query in data.queries() {
            if let Some(label) = query.labels.iter().find(|label| **label > MAX_EXP_LABEL) {
                return Err(ObjectiveError::LargeLabel {
                    label: *label,
                    query: query.id.to_owned(),
                    most: MAX_EXP_LABEL,
                });
            }
        }
    }
    Evaluator::new(data, std::slice::from_ref(name), &rules)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rankwise_data::{DatasetBuilder, Row};
    use rankwise_metrics::MapDenominator;
    use rankwise_params::ParamValue;

    use super::*;

    fn target(name: &str, labels: &[f32], rules: &Rules) -> Result<Target, ObjectiveError> {
        let mut builder = DatasetBuilder::default();
        for label in labels {
            builder.push(&Row { qid: "q", label: *label, ..Row::default() }).unwrap();
        }
        Target::new("lambdamart", &MetricName::parse(name).unwrap(), &builder.finish().unwrap(), rules, usize::MAX)
    }

    #[test]
    fn metrics_without_swaps_are_refused_by_name() {
        let rules = Rules::default();
        for name in ["recall@5", "auc", "pair-accuracy", "p"] {
            let error = target(name, &[0.0, 1.0], &rules).unwrap_err().to_string();
            assert!(error.contains(&format!("the metric '{name}'")), "{error}");
        }
        assert!(target("auc", &[0.0], &rules).unwrap_err().to_string().contains("ndcg, dcg, map, mrr or err"));
    }

    #[test]
    fn labels_that_the_metric_cannot_take_are_refused() {
        let rules = Rules::default();
        for label in [32.0, 1000.0] {
            let error = target("ndcg", &[0.0, label], &rules).err();
            assert!(matches!(error, Some(ObjectiveError::LargeLabel { most: MAX_EXP_LABEL, .. })), "{error:?}");
        }
        assert!(target("ndcg", &[0.0, 31.0], &rules).is_ok() && target("map", &[0.0, 32.0], &rules).is_ok());
        let linear = Rules { gain: Gain::Linear, ..Rules::default() };
        assert!(target("ndcg@3", &[0.0, 5000.0], &linear).is_ok());
        assert!(matches!(target("err", &[0.0, 5.0], &rules), Err(ObjectiveError::Label(_))));
        assert!(matches!(target("err", &[0.0, 1.5], &linear), Err(ObjectiveError::Label(_))));
        assert!(target("err", &[0.0, 1.0], &linear).is_ok());
    }

    #[test]
    fn values_follow_the_rules() {
        let values = |name: &str, rules: &Rules| {
            let mut out = Vec::new();
            let labels = [0.0, 2.0, 1.0, 1.0];
            target(name, &labels, rules).unwrap().values(&labels, &mut out);
            out
        };
        let rules = Rules::default();
        assert_eq!(values("dcg", &rules), [0.0, 3.0, 1.0, 1.0]);
        assert_eq!(values("err", &rules), [0.0, 3.0 / 16.0, 1.0 / 16.0, 1.0 / 16.0]);
        assert_eq!(values("p@5", &rules), [0.0, 0.2, 0.2, 0.2]);
        assert_eq!(values("mrr", &rules), [0.0, 1.0, 1.0, 1.0]);
        assert_eq!(values("map@2", &Rules { relevant_from: 2.0, ..rules.clone() }), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(values("map@2", &rules), [0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
        let by_cutoff = Rules { map_denominator: MapDenominator::Cutoff, ..rules };
        assert_eq!(values("map@2", &by_cutoff), [0.0, 0.5, 0.5, 0.5]);
    }
}
