//! Metrics that are a sum over ranks:
//!
//! ```text
//! M = sum over ranks i of  w_i * x_i * C_i
//! ```
//!
//! where w is the weight of the rank, x the worth of its document, and C the context that the documents above leave.
//!
//! | metric | weight | worth | context |
//! |---|---|---|---|
//! | DCG, NDCG | discount | gain (over the ideal DCG) | 1 |
//! | ERR, MRR | 1/rank | chance that the reader stops | product of 1 - x before |
//! | MAP | 1/rank | relevant or not, over their number | 1 + number of relevant ones before |
//! | P@k, recall | 1 | relevant or not, over k or their number | 1 |
//! | RBP | p^rank | relevant or not, times 1 - p | 1 |
//! | pFound, hits | decay^rank, 1 | chance that the reader stops | product of 1 - x before |
//!
//! In this form, the metric can be updated while documents move: when document j, at rank t, moves below the next one,
//! o, it changes by (w_t - w_(t+1)) (x_j - x_o) C_t.

use crate::{Discounts, Gain, MapDenominator, MetricKind, MetricName, PrecisionDenominator, Rules, ideal_dcg};

/// How the documents above affect the contribution of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// Not at all.
    Free,
    /// The user passes each of them with probability 1 - x.
    Pass,
    /// Each relevant one adds to it.
    Hits,
}

impl Context {
    /// The context after a document.
    pub fn after(self, context: f64, worth: f64) -> f64 {
        match self {
            Self::Free => 1.0,
            Self::Pass => context * (1.0 - worth),
            Self::Hits => context + f64::from(u8::from(worth > 0.0)),
        }
    }
}

/// A metric of this form, with its rules.
#[derive(Clone, Debug)]
pub struct AdditiveMetric {
    kind: MetricKind,
    context: Context,
    cutoff: usize,
    ideal_cutoff: usize,
    depth: usize,
    rank_weights: Vec<f64>,
    discounts: Discounts,
    rules: Rules,
}

impl AdditiveMetric {
    /// The metrics of this form, for messages.
    pub const KNOWN: &str = "ndcg, dcg, map, mrr, err, p, recall, hits, pfound or rbp, with or without @k";

    /// The metric for lists up to a length; `None` if it has another form.
    pub fn new(name: &MetricName, rules: &Rules, longest: usize) -> Option<Self> {
        let kind = name.kind();
        let context = match kind {
            MetricKind::Ndcg | MetricKind::Dcg | MetricKind::Precision | MetricKind::Recall | MetricKind::Rbp => {
                Context::Free
            }
            MetricKind::Err | MetricKind::Mrr | MetricKind::Hits | MetricKind::PFound => Context::Pass,
            MetricKind::Map => Context::Hits,
            _ => return None,
        };
        let cutoff = name.depth(rules);
        let depth = cutoff.min(longest);
        let discounts = Discounts::of(rules.discount, longest);
        let weight = |rank: usize| match kind {
            MetricKind::Ndcg | MetricKind::Dcg => discounts.as_slice()[rank],
            MetricKind::Precision | MetricKind::Recall | MetricKind::Hits => 1.0,
            MetricKind::Rbp => libm::pow(rules.rbp_persistence, rank as f64),
            MetricKind::PFound => libm::pow(rules.pfound_decay, rank as f64),
            _ => 1.0 / (rank + 1) as f64,
        };
        let mut rank_weights: Vec<f64> = (0..depth).map(weight).collect();
        rank_weights.resize(longest + 1, 0.0);
        Some(Self { kind, context, cutoff, ideal_cutoff: cutoff, depth, rank_weights, discounts, rules: rules.clone() })
    }

    /// The same with another cutoff for the ideal DCG in the denominator of NDCG.
    #[must_use]
    pub fn with_ideal_cutoff(self, ideal_cutoff: usize) -> Self {
        Self { ideal_cutoff, ..self }
    }

    /// The metric.
    pub fn kind(&self) -> MetricKind {
        self.kind
    }

    /// The discounts of DCG, to the end of the longest list.
    pub fn discounts(&self) -> &Discounts {
        &self.discounts
    }

    /// How documents affect those below them.
    pub fn context(&self) -> Context {
        self.context
    }

    /// The number of ranks that count.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The weights of the ranks, one more than the longest list has; 0 from the cutoff on.
    pub fn rank_weights(&self) -> &[f64] {
        &self.rank_weights
    }

    /// Appends the worth of a query's documents, for labels that passed [`Evaluator::new`](crate::Evaluator::new).
    pub fn push_worth(&self, labels: &[f32], out: &mut Vec<f64>) {
        let Rules { gain, relevant_from, .. } = &self.rules;
        let is_relevant = |label: &f32| f64::from(u8::from(label >= relevant_from));
        match self.kind {
            MetricKind::Ndcg => {
                let mut ideal: Vec<f64> = labels.iter().map(|label| gain.of(*label)).collect();
                ideal.sort_unstable_by(|a, b| b.total_cmp(a));
                // In units of the largest gain, so that huge or tiny gains neither overflow nor underflow.
                let largest = ideal.first().copied().unwrap_or(0.0);
                let in_units = |gain: f64| if largest > 0.0 { gain / largest } else { 0.0 };
                ideal = ideal.into_iter().map(in_units).collect();
                let best = ideal_dcg(&ideal, self.ideal_cutoff, &self.discounts);
                let inverse = if best > 0.0 { 1.0 / best } else { 0.0 };
                out.extend(labels.iter().map(|label| in_units(gain.of(*label)) * inverse));
            }
            MetricKind::Err | MetricKind::PFound => {
                let scale = if *gain == Gain::Exp { libm::exp2(-self.rules.err_max_grade) } else { 1.0 };
                out.extend(labels.iter().map(|label| gain.of(*label) * scale));
            }
            MetricKind::Mrr | MetricKind::Hits => out.extend(labels.iter().map(is_relevant)),
            MetricKind::Rbp => {
                let unit = 1.0 - self.rules.rbp_persistence;
                out.extend(labels.iter().map(|label| is_relevant(label) * unit));
            }
            MetricKind::Map | MetricKind::Precision | MetricKind::Recall => {
                let unit = 1.0 / self.denominator(labels);
                out.extend(labels.iter().map(|label| is_relevant(label) * unit));
            }
            _ => out.extend(labels.iter().map(|label| gain.of(*label))),
        }
    }

    /// The denominator of the number of hits; never 0.
    fn denominator(&self, labels: &[f32]) -> f64 {
        let n_relevant = labels.iter().filter(|label| **label >= self.rules.relevant_from).count();
        let n = match (self.kind, self.rules.map_denominator, self.rules.precision_denominator) {
            (MetricKind::Recall, _, _) | (MetricKind::Map, MapDenominator::Relevant, _) => n_relevant,
            (MetricKind::Map, MapDenominator::Cutoff, _) => n_relevant.min(self.cutoff),
            (_, _, PrecisionDenominator::Cutoff) if self.cutoff != usize::MAX => self.cutoff,
            _ => self.cutoff.min(labels.len()),
        };
        n.max(1) as f64
    }

    /// The metric of documents in rank order, given their worths.
    pub fn value(&self, ranked_worth: impl Iterator<Item = f64>) -> f64 {
        let (mut total, mut context) = (0.0, 1.0);
        for (worth, weight) in ranked_worth.zip(&self.rank_weights[..self.depth]) {
            total += weight * worth * context;
            context = self.context.after(context, worth);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::{DatasetBuilder, Row};
    use rankwise_params::ParamValue;

    use super::*;
    use crate::Evaluator;

    const NAMES: [&str; 19] = [
        "ndcg", "ndcg@3", "dcg", "dcg@2", "err", "err@3", "mrr", "mrr@2", "map", "map@3", "p@4", "recall", "recall@2",
        "hits", "hits@2", "pfound", "pfound@3", "rbp", "rbp@2",
    ];

    proptest! {
        /// The sum equals the metric.
        #[test]
        fn the_form_gives_the_value_of_the_metric(labels in prop::collection::vec(0u8..5, 1..12), by_cutoff in any::<bool>()) {
            let mut builder = DatasetBuilder::default();
            for (rank, label) in labels.iter().enumerate() {
                let features = [(1, -(rank as f32))];
                builder.push(&Row { qid: "q", label: f32::from(*label), doc_id: "", features: &features }).unwrap();
            }
            let data = builder.finish().unwrap();
            let map_denominator = if by_cutoff { MapDenominator::Cutoff } else { MapDenominator::Relevant };
            let rules = Rules { map_denominator, ..Rules::default() };
            let scores: Vec<f64> = data.input_row().iter().map(|row| -f64::from(*row)).collect();
            for name in NAMES {
                let name = MetricName::parse(name).unwrap();
                let form = AdditiveMetric::new(&name, &rules, labels.len()).unwrap();
                let ranked: Vec<f32> = labels.iter().map(|label| f32::from(*label)).collect();
                let mut worth = Vec::new();
                form.push_worth(&ranked, &mut worth);
                let evaluation = Evaluator::new(&data, std::slice::from_ref(&name), &rules).unwrap().evaluate_canonical(&scores).unwrap();
                let expected = evaluation.metrics[0].mean.unwrap_or(0.0);
                prop_assert!((form.value(worth.into_iter()) - expected).abs() < 1e-12, "{}", name.as_str());
            }
        }
    }

    #[test]
    fn others_are_of_another_form() {
        for name in ["f1@5", "auc", "bpref", "pair-accuracy"] {
            assert!(AdditiveMetric::new(&MetricName::parse(name).unwrap(), &Rules::default(), 5).is_none());
        }
    }
}
