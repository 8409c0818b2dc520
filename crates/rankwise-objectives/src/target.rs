//! The metric that an objective learns for, as a sum over documents and ranks that swaps can be read from.
//!
//! A document has a *value*, by its label alone:
//!
//! ```text
//! ndcg  gain / ideal DCG       dcg  gain           p    relevant / length of the first ranks
//! map   relevant / number of relevant documents    mrr  relevant     err  probability to stop
//! ```
//!
//! so that the metric changes by a multiple of the difference of two values when their documents are swapped; `swap.rs` has
//! the multiples.

use rankwise_data::Dataset;
use rankwise_metrics::{
    Discounts, Evaluator, Gain, MapDenominator, MetricKind, MetricName, PrecisionDenominator, Rules, Ties, ideal_dcg,
};

use crate::ObjectiveError;

/// The metrics that a swap is known for.
pub(crate) const WITH_SWAPS: &str = "ndcg, dcg, map, mrr and err, with or without @k, and p@k";

/// Past this label, the gain 2^label - 1 of one document leaves nothing of all others in 32 bits.
const MAX_EXP_LABEL: f32 = 31.0;

/// A metric with swaps, under rules, for the lists of a data set.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    kind: MetricKind,
    cutoff: usize,
    ideal_cutoff: usize,
    rules: Rules,
    discounts: Discounts,
    /// By rank; 0 from the cut-off on.
    pub(crate) worths: Vec<f32>,
    /// 1, 1/2, 1/3, ... to the end of the longest list.
    pub(crate) reciprocals: Vec<f64>,
}

impl Target {
    /// Makes sure that the metric has swaps and that the labels suit it. `ideal_cutoff` cuts the ideal DCG where the metric
    /// names no cut-off.
    pub(crate) fn new(
        objective: &'static str,
        name: &MetricName,
        data: &Dataset,
        rules: &Rules,
        ideal_cutoff: usize,
    ) -> Result<Self, ObjectiveError> {
        use MetricKind::{Dcg, Err as ExpectedRank, Map, Mrr, Ndcg, Precision};
        let kind = name.kind();
        let refuse = |problem: &str| {
            let (target, problem) = (name.as_str().to_owned(), problem.to_owned());
            Err(ObjectiveError::Target { objective, target, problem })
        };
        if !matches!(kind, Ndcg | Dcg | Map | Mrr | ExpectedRank | Precision) {
            return refuse(&format!(
                "how it changes when two documents are swapped is known for {WITH_SWAPS}; choose one of them"
            ));
        }
        if kind == Precision && name.cutoff().is_none() {
            return refuse("it is the same for every order of the whole list; name a cut-off, as in p@10");
        }
        check_labels(data, name, rules)?;
        let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
        let cutoff = name.cutoff().unwrap_or(usize::MAX);
        let discounts = Discounts::of(rules.discount, longest);
        let worth = |(rank, discount): (usize, &f64)| match kind {
            _ if rank >= cutoff => 0.0,
            Precision => 1.0,
            Ndcg | Dcg => *discount as f32,
            _ => 1.0 / (rank + 1) as f32,
        };
        let worths = discounts.as_slice().iter().enumerate().map(worth).collect();
        let reciprocals = (0..longest).map(|rank| 1.0 / (rank + 1) as f64).collect();
        let ideal_cutoff = name.cutoff().unwrap_or(ideal_cutoff);
        Ok(Self { kind, cutoff, ideal_cutoff, rules: rules.clone(), discounts, worths, reciprocals })
    }

    pub(crate) fn kind(&self) -> MetricKind {
        self.kind
    }

    /// How many ranks count.
    pub(crate) fn cutoff(&self) -> usize {
        self.cutoff
    }

    /// What ranks are worth in DCG, to the end of the longest list.
    pub(crate) fn discounts(&self) -> &[f64] {
        self.discounts.as_slice()
    }

    /// Whether a label is relevant or not, and nothing else.
    pub(crate) fn is_binary(&self) -> bool {
        matches!(self.kind, MetricKind::Map | MetricKind::Mrr | MetricKind::Precision)
    }

    /// Whether two labels are different for the metric.
    pub(crate) fn tells_apart(&self, a: f32, b: f32) -> bool {
        if self.is_binary() { self.is_relevant(a) != self.is_relevant(b) } else { a != b }
    }

    fn is_relevant(&self, label: f32) -> bool {
        label >= self.rules.relevant_from
    }

    /// The values of the documents of a query.
    pub(crate) fn values(&self, labels: &[f32], out: &mut Vec<f64>) {
        out.clear();
        match self.kind {
            MetricKind::Ndcg => self.normalised_gains(labels, out),
            MetricKind::Dcg => out.extend(labels.iter().map(|label| self.rules.gain.of(*label))),
            MetricKind::Err => {
                let scale = if self.rules.gain == Gain::Exp { libm::exp2(-self.rules.err_max_grade) } else { 1.0 };
                out.extend(labels.iter().map(|label| self.rules.gain.of(*label) * scale));
            }
            _ => {
                let n_relevant = labels.iter().filter(|label| self.is_relevant(**label)).count();
                let unit = 1.0 / self.denominator(n_relevant, labels.len()).max(1) as f64;
                out.extend(labels.iter().map(|label| if self.is_relevant(*label) { unit } else { 0.0 }));
            }
        }
    }

    fn denominator(&self, n_relevant: usize, n_docs: usize) -> usize {
        match self.kind {
            MetricKind::Map if self.rules.map_denominator == MapDenominator::Cutoff => n_relevant.min(self.cutoff),
            MetricKind::Map => n_relevant,
            MetricKind::Precision if self.rules.precision_denominator == PrecisionDenominator::Length => {
                self.cutoff.min(n_docs)
            }
            MetricKind::Precision => self.cutoff,
            _ => 1,
        }
    }

    /// Gains over the ideal DCG; all 0 where nothing is relevant.
    fn normalised_gains(&self, labels: &[f32], out: &mut Vec<f64>) {
        out.extend(labels.iter().map(|label| self.rules.gain.of(*label)));
        out.sort_unstable_by(|a, b| b.total_cmp(a));
        // In units of the largest gain, so that neither huge nor tiny gains leave the range of numbers.
        let largest = out.first().copied().unwrap_or(0.0);
        let in_units = |gain: f64| if largest > 0.0 { gain / largest } else { 0.0 };
        for gain in out.iter_mut() {
            *gain = in_units(*gain);
        }
        let max_dcg = ideal_dcg(out, self.ideal_cutoff, &self.discounts);
        let inverse = if max_dcg > 0.0 { 1.0 / max_dcg } else { 0.0 };
        out.clear();
        out.extend(labels.iter().map(|label| in_units(self.rules.gain.of(*label)) * inverse));
    }
}

/// Makes sure that the metric can take the labels, and that their gains can be told apart in 32 bits.
pub(crate) fn check_labels(data: &Dataset, name: &MetricName, rules: &Rules) -> Result<(), ObjectiveError> {
    // How ties are broken is no matter of labels.
    let rules = Rules { ties: Ties::Worst, ..rules.clone() };
    Evaluator::new(data, std::slice::from_ref(name), &rules)?;
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use rankwise_data::{DatasetBuilder, Row};
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
        assert!(target("auc", &[0.0], &rules).unwrap_err().to_string().contains("ndcg, dcg, map, mrr and err"));
    }

    #[test]
    fn labels_that_the_metric_cannot_take_are_refused() {
        let rules = Rules::default();
        assert!(matches!(target("ndcg", &[0.0, 32.0], &rules), Err(ObjectiveError::LargeLabel { .. })));
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
