//! Metrics as rewards of ranks: what a document gets is a factor of its rank and of what stands above it, times what it is worth
//! wherever it stands.
//!
//! ```text
//! ndcg, dcg          D_k                           gain (over the ideal DCG)
//! p, recall, rbp     1, 1, (1 - p) p^k             1 over what the metric divides by, if relevant
//! map                (1 + relevant above) / k      the same
//! mrr, hits          P(reached) / k, P(reached)    1 if relevant
//! err, pfound        P(reached) / k, ...           probability to stop
//! ```

use rankwise_data::{Dataset, QueryView};
use rankwise_metrics::{
    Discounts, Evaluator, Gain, MapDenominator, MetricKind, MetricName, PrecisionDenominator, Rules, ideal_dcg,
};

use super::NAME;
use crate::ObjectiveError;

const KNOWN: &str = "ndcg, dcg, map, mrr, err, p, recall, hits, pfound and rbp, with or without a cut-off";

/// What above a rank the reward there depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Above {
    /// Nothing.
    Nothing,
    /// The probability that a reader comes so far; a document's worth is the probability to stop at it.
    Reader,
    /// How many documents with a worth there are.
    Hits,
}

/// The rewards of a metric.
#[derive(Clone, Debug)]
pub(super) struct Rewards {
    above: Above,
    /// By rank; none below the cut-off.
    factors: Vec<f64>,
}

/// What is known of the documents above a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    kind: Above,
    value: f64,
}

impl Passed {
    /// One more document.
    pub(super) fn pass(&mut self, worth: f64) {
        match self.kind {
            Above::Nothing => {}
            Above::Reader => self.value *= 1.0 - worth,
            Above::Hits => self.value += f64::from(u8::from(worth > 0.0)),
        }
    }
}

impl Rewards {
    /// Those of a target, and what each document is worth.
    pub(super) fn new(target: &MetricName, data: &Dataset, rules: &Rules) -> Result<(Self, Vec<f64>), ObjectiveError> {
        // Labels that the metric cannot take, and cut-offs where it has none.
        Evaluator::new(data, std::slice::from_ref(target), rules)?;
        let depth = target.depth(rules);
        let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0).min(depth);
        let of_rank = |factor: &dyn Fn(f64) -> f64| (0..longest).map(|rank| factor(rank as f64)).collect::<Vec<f64>>();
        let reciprocal = |rank: f64| 1.0 / (rank + 1.0);
        let discounts = Discounts::of(rules.discount, data.queries().map(|query| query.n_docs()).max().unwrap_or(0));
        let (above, factors) = match target.kind() {
            MetricKind::Ndcg | MetricKind::Dcg => (Above::Nothing, discounts.as_slice()[..longest].to_vec()),
            MetricKind::Precision | MetricKind::Recall => (Above::Nothing, vec![1.0; longest]),
            MetricKind::Rbp => (Above::Nothing, of_rank(&|rank| libm::pow(rules.rbp_persistence, rank))),
            MetricKind::Map => (Above::Hits, of_rank(&reciprocal)),
            MetricKind::Mrr | MetricKind::Err => (Above::Reader, of_rank(&reciprocal)),
            MetricKind::Hits => (Above::Reader, vec![1.0; longest]),
            MetricKind::PFound => (Above::Reader, of_rank(&|rank| libm::pow(rules.pfound_decay, rank))),
            _ => {
                let target = target.as_str().to_owned();
                return Err(ObjectiveError::Target { objective: NAME, target, known: KNOWN });
            }
        };
        let mut worths = Vec::with_capacity(data.n_rows());
        for query in data.queries() {
            let scale = Scale::of(target.kind(), depth, &query, (rules, &discounts));
            worths.extend(query.labels.iter().map(|label| scale.worth(*label, rules)));
        }
        Ok((Self { above, factors }, worths))
    }

    /// The ranks that get something.
    pub(super) fn depth(&self) -> usize {
        self.factors.len()
    }

    /// Before the first rank.
    pub(super) fn above(&self) -> Passed {
        Passed { kind: self.above, value: f64::from(u8::from(self.above == Above::Reader)) }
    }

    /// What the worth of a document at a rank is multiplied by.
    pub(super) fn factor(&self, rank: usize, above: &Passed) -> f64 {
        self.factors[rank]
            * match self.above {
                Above::Nothing => 1.0,
                Above::Reader => above.value,
                Above::Hits => 1.0 + above.value,
            }
    }
}

/// How a label becomes a worth in one query.
enum Scale {
    Gain(f64),
    Relevant(f64),
}

impl Scale {
    fn of(kind: MetricKind, depth: usize, query: &QueryView<'_>, (rules, discounts): (&Rules, &Discounts)) -> Self {
        let n_relevant = query.labels.iter().filter(|label| **label >= rules.relevant_from).count();
        let over = |total: f64| if total > 0.0 { 1.0 / total } else { 0.0 };
        match kind {
            MetricKind::Ndcg => {
                let mut ideal: Vec<f64> = query.labels.iter().map(|label| rules.gain.of(*label)).collect();
                ideal.sort_unstable_by(|a, b| b.total_cmp(a));
                Self::Gain(over(ideal_dcg(&ideal, depth, discounts)))
            }
            MetricKind::Dcg => Self::Gain(1.0),
            MetricKind::Err | MetricKind::PFound => {
                Self::Gain(if rules.gain == Gain::Exp { libm::exp2(-rules.err_max_grade) } else { 1.0 })
            }
            MetricKind::Precision => {
                let is_length = depth == usize::MAX || rules.precision_denominator == PrecisionDenominator::Length;
                Self::Relevant(over(if is_length { depth.min(query.n_docs()) } else { depth } as f64))
            }
            MetricKind::Recall => Self::Relevant(over(n_relevant as f64)),
            MetricKind::Map => Self::Relevant(over(match rules.map_denominator {
                MapDenominator::Relevant => n_relevant,
                MapDenominator::Cutoff => n_relevant.min(depth),
            } as f64)),
            MetricKind::Rbp => Self::Relevant(1.0 - rules.rbp_persistence),
            _ => Self::Relevant(1.0),
        }
    }

    fn worth(&self, label: f32, rules: &Rules) -> f64 {
        match self {
            Self::Gain(scale) => rules.gain.of(label) * scale,
            Self::Relevant(scale) => scale * f64::from(u8::from(label >= rules.relevant_from)),
        }
    }
}
