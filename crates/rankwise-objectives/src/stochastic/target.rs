//! Metrics that go down the list once:
//!
//! ```text
//! M = sum over ranks i of  w_i * x_i * C_i
//! ```
//!
//! with w the weight of a rank, x the worth of the document there, and C the context: what the documents before it leave.
//!
//! | metric | weight | worth | context |
//! |---|---|---|---|
//! | DCG, NDCG | discount | gain (over the ideal DCG) | 1 |
//! | ERR, MRR | 1/rank | chance that the reader stops | product of 1 - x before |
//! | MAP | 1/rank | relevant or not, over their number | 1 + number of relevant ones before |
//! | P@k | 1 | relevant or not, over k | 1 |
//!
//! For each of them the metric changes by (w_t - w_(t+1)) (x_j - x_o) C_t when document j, at rank t, moves below the next
//! one, o: with that, the change across every other document costs one step each.

use rankwise_data::{Dataset, QueryView};
use rankwise_metrics::{
    Discounts, Evaluator, Gain, MapDenominator, MetricKind, MetricName, PrecisionDenominator, Rules, ideal_dcg,
};

use crate::ObjectiveError;

/// How the documents before one change what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// Not at all.
    Free,
    /// The reader passes each of them with probability 1 - x.
    Pass,
    /// Each relevant one adds to it.
    Hits,
}

/// A metric, bound to the documents it is measured on.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) context: Context,
    /// By rank; 0 from the cut-off on, and one more than the longest query has.
    pub(crate) rank_weights: Vec<f64>,
    /// Ranks that count.
    pub(crate) depth: usize,
    /// By row.
    worth: Vec<f64>,
}

impl Target {
    /// The metric under the rules; an error where the data cannot be measured by it, or where it is of another form.
    pub(crate) fn new(
        name: &MetricName,
        rules: &Rules,
        data: &Dataset,
        objective: &'static str,
    ) -> Result<Self, ObjectiveError> {
        let context = match name.kind() {
            MetricKind::Ndcg | MetricKind::Dcg | MetricKind::Precision => Context::Free,
            MetricKind::Err | MetricKind::Mrr => Context::Pass,
            MetricKind::Map => Context::Hits,
            _ => return Err(ObjectiveError::Target { objective, target: name.as_str().to_owned(), known: KNOWN }),
        };
        // It refuses labels that the metric has no value for.
        Evaluator::new(data, std::slice::from_ref(name), rules)?;
        let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
        let depth = name.cutoff(rules).min(longest);
        let discounts = Discounts::of(rules.discount, longest);
        let weight = |rank: usize| match name.kind() {
            MetricKind::Ndcg | MetricKind::Dcg => discounts.as_slice()[rank],
            MetricKind::Precision => 1.0,
            _ => 1.0 / (rank + 1) as f64,
        };
        let mut rank_weights: Vec<f64> = (0..depth).map(weight).collect();
        rank_weights.resize(longest + 1, 0.0);
        let worths = Worths { kind: name.kind(), cutoff: name.cutoff(rules), rules, discounts: &discounts };
        let mut worth = Vec::with_capacity(data.n_rows());
        data.queries().for_each(|query| worths.push(&query, &mut worth));
        Ok(Self { context, rank_weights, depth, worth })
    }

    /// What the documents of a query are worth, in canonical order.
    pub(crate) fn worth(&self, rows: std::ops::Range<usize>) -> &[f64] {
        &self.worth[rows]
    }

    /// The metric of documents in rank order, given by their worth.
    pub(crate) fn value(&self, ranked_worth: impl Iterator<Item = f64>) -> f64 {
        let (mut total, mut context) = (0.0, 1.0);
        for (worth, weight) in ranked_worth.zip(&self.rank_weights[..self.depth]) {
            total += weight * worth * context;
            context = self.after(context, worth);
        }
        total
    }

    /// The context behind a document.
    pub(crate) fn after(&self, context: f64, worth: f64) -> f64 {
        match self.context {
            Context::Free => 1.0,
            Context::Pass => context * (1.0 - worth),
            Context::Hits => context + f64::from(u8::from(worth > 0.0)),
        }
    }
}

/// The metrics of this form, for messages.
const KNOWN: &str = "ndcg, dcg, err, mrr, map, p";

struct Worths<'a> {
    kind: MetricKind,
    cutoff: usize,
    rules: &'a Rules,
    discounts: &'a Discounts,
}

impl Worths<'_> {
    fn push(&self, query: &QueryView<'_>, out: &mut Vec<f64>) {
        let Rules { gain, relevant_from, .. } = self.rules;
        let is_relevant = |label: &f32| f64::from(u8::from(label >= relevant_from));
        match self.kind {
            MetricKind::Ndcg => {
                let mut ideal: Vec<f64> = query.labels.iter().map(|label| gain.of(*label)).collect();
                ideal.sort_unstable_by(|a, b| b.total_cmp(a));
                let best = ideal_dcg(&ideal, self.cutoff, self.discounts);
                let share = |label: &f32| if best > 0.0 { gain.of(*label) / best } else { 0.0 };
                out.extend(query.labels.iter().map(share));
            }
            MetricKind::Err => {
                let scale = if *gain == Gain::Exp { libm::exp2(self.rules.err_max_grade) } else { 1.0 };
                out.extend(query.labels.iter().map(|label| gain.of(*label) / scale));
            }
            MetricKind::Mrr => out.extend(query.labels.iter().map(is_relevant)),
            MetricKind::Map | MetricKind::Precision => {
                let denominator = self.denominator(query);
                out.extend(query.labels.iter().map(|label| is_relevant(label) / denominator));
            }
            _ => out.extend(query.labels.iter().map(|label| gain.of(*label))),
        }
    }

    /// What the number of hits is divided by; never 0.
    fn denominator(&self, query: &QueryView<'_>) -> f64 {
        let n_relevant = query.labels.iter().filter(|label| **label >= self.rules.relevant_from).count();
        let n_docs = query.n_docs();
        let n = match (self.kind, self.rules.map_denominator, self.rules.precision_denominator) {
            (MetricKind::Map, MapDenominator::Relevant, _) => n_relevant,
            (MetricKind::Map, MapDenominator::Cutoff, _) => n_relevant.min(self.cutoff),
            (_, _, PrecisionDenominator::Cutoff) if self.cutoff != usize::MAX => self.cutoff,
            _ => self.cutoff.min(n_docs),
        };
        n.max(1) as f64
    }
}
