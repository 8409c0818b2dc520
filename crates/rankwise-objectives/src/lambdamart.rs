//! LambdaMART on NDCG (Burges, "From RankNet to LambdaRank to LambdaMART", 2010), in LightGBM's form.
//!
//! For documents sorted by score, every pair (i, j) with i among the top `truncation_level`, j below i and different
//! labels pushes the better document up and the worse one down by
//!
//! ```text
//! delta  = |gain_i - gain_j| * |D_i - D_j| / maxDCG@truncation     D_r = 1/log2(2 + r)
//! delta /= 0.01 + |s_i - s_j|                                       with lambda_norm, if not all scores are equal
//! p      = 1 / (1 + exp(sigma * (s_better - s_worse)))
//! lambda = sigma * delta * p        hessian = sigma^2 * delta * p * (1 - p)
//! ```
//!
//! and with `lambda_norm` a query's sums are multiplied by log2(1 + S)/S, where S is twice the sum of its lambdas.

use rankwise_data::{Dataset, QueryView};
use rankwise_metrics::{Discounts, Gain, Ties, ideal_dcg};

use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs};

/// Keeps the weight of a pair finite when its scores are equal.
const SCORE_DISTANCE_FLOOR: f64 = 0.01;

/// LambdaMART, bound to the queries it will see.
#[derive(Clone, Debug)]
pub struct LambdaMart {
    truncation: usize,
    sigma: f64,
    is_normalised: bool,
    gain: Gain,
    ties: Ties,
    discounts: Discounts,
    /// 1 / maxDCG of each query; 0 where nothing is relevant.
    inverse_max_dcg: Vec<f64>,
}

impl LambdaMart {
    /// Computes each query's ideal DCG. Documents with equal scores are ordered worst first, or as in the input where
    /// `ties` says so.
    pub fn new(params: &ObjectiveParams, data: &Dataset, gain: Gain, ties: Ties) -> Result<Self, ObjectiveError> {
        gain.check(data)?;
        if !data.queries().any(|query| query.labels.iter().any(|label| *label != query.labels[0])) {
            return Err(ObjectiveError::NoPairs { objective: "lambdamart" });
        }
        let has_weight =
            |query: &QueryView<'_>| query.weight > 0.0 && (0..query.n_docs()).any(|doc| query.doc_weight(doc) > 0.0);
        if !data.queries().any(|query| has_weight(&query)) {
            return Err(ObjectiveError::NoWeight);
        }
        let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
        let discounts = Discounts::up_to(longest);
        let inverse_max_dcg = data
            .queries()
            .map(|query| {
                let mut gains: Vec<f64> = query.labels.iter().map(|label| gain.of(*label)).collect();
                gains.sort_unstable_by(|a, b| b.total_cmp(a));
                let max_dcg = ideal_dcg(&gains, params.truncation_level, &discounts);
                if max_dcg > 0.0 { 1.0 / max_dcg } else { 0.0 }
            })
            .collect();
        Ok(Self {
            truncation: params.truncation_level,
            sigma: params.sigmoid,
            is_normalised: params.lambda_norm,
            gain,
            ties,
            discounts,
            inverse_max_dcg,
        })
    }

    /// Documents from the highest score to the lowest.
    fn ranking(&self, docs: QueryDocs<'_>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..docs.labels.len()).collect();
        order.sort_unstable_by(|a, b| {
            let by_score = docs.scores[*b].partial_cmp(&docs.scores[*a]).unwrap_or(std::cmp::Ordering::Equal);
            let by_rule = || match self.ties {
                Ties::Input => docs.input_rows[*a].cmp(&docs.input_rows[*b]),
                _ => docs.labels[*a].total_cmp(&docs.labels[*b]),
            };
            by_score.then_with(by_rule).then(a.cmp(b))
        });
        order
    }
}

impl Objective for LambdaMart {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>) {
        let order = self.ranking(docs);
        let n_docs = order.len();
        let labels: Vec<f32> = order.iter().map(|doc| docs.labels[*doc]).collect();
        let scores: Vec<f64> = order.iter().map(|doc| docs.scores[*doc]).collect();
        let gains: Vec<f64> = labels.iter().map(|label| self.gain.of(*label)).collect();
        let inverse_max_dcg = self.inverse_max_dcg[docs.query];
        let divides_by_distance = self.is_normalised && scores.first() != scores.last();

        let (mut lambdas, mut hessians) = (vec![0.0f64; n_docs], vec![0.0f64; n_docs]);
        let mut lambda_sum = 0.0;
        for i in 0..self.truncation.min(n_docs.saturating_sub(1)) {
            for j in i + 1..n_docs {
                if labels[i] == labels[j] {
                    continue;
                }
                let (better, worse) = if labels[i] > labels[j] { (i, j) } else { (j, i) };
                let distance = scores[better] - scores[worse];
                let swap = (gains[i] - gains[j]).abs() * (self.discounts.at(i) - self.discounts.at(j)).abs();
                let mut delta = swap * inverse_max_dcg;
                if divides_by_distance {
                    delta /= SCORE_DISTANCE_FLOOR + distance.abs();
                }
                let p = 1.0 / (1.0 + libm::exp(self.sigma * distance));
                let lambda = self.sigma * delta * p;
                let hessian = self.sigma * self.sigma * delta * p * (1.0 - p);
                lambdas[better] -= lambda;
                lambdas[worse] += lambda;
                hessians[better] += hessian;
                hessians[worse] += hessian;
                lambda_sum += 2.0 * lambda;
            }
        }
        let scale =
            if self.is_normalised && lambda_sum > 0.0 { libm::log2(1.0 + lambda_sum) / lambda_sum } else { 1.0 };
        for (rank, doc) in order.iter().enumerate() {
            out.grad[*doc] = (lambdas[rank] * scale) as f32;
            out.hess[*doc] = (hessians[rank] * scale) as f32;
        }
    }
}
