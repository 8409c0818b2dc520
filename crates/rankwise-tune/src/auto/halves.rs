//! The validation queries in two halves, so that what is chosen on one can be measured on the other.

use rankwise_data::{Dataset, reduce};
use rankwise_metrics::{Evaluator, MetricName, Rules};

use crate::{Folds, TuneError};

/// The queries that a choice is made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    First,
    Second,
    Both,
}

impl View {
    pub(crate) const ALL: [Self; 3] = [Self::First, Self::Second, Self::Both];
    pub(crate) const HALVES: [Self; 2] = [Self::First, Self::Second];

    /// The half that a half does not see.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second | Self::Both => Self::First,
        }
    }
}

/// Validation data in two halves, and each half in two quarters.
#[derive(Debug)]
pub(crate) struct Halves<'a> {
    pub(crate) data: &'a Dataset,
    parts: [Dataset; 2],
    /// The quarter of each query: 0 and 2 are the first half, 1 and 3 the second.
    quarter: Vec<usize>,
    /// The weight of the queries of each half that count in the metric.
    weights: [f64; 2],
    /// 1 if larger values of the metric are better, otherwise -1.
    pub(crate) sign: f64,
}

impl<'a> Halves<'a> {
    /// Divides the queries at random.
    pub(crate) fn new(data: &'a Dataset, metric: &MetricName, rules: &Rules, seed: u64) -> Result<Self, TuneError> {
        let quarter = Folds::random(data, 4, seed)?.of_query().to_vec();
        let queries =
            |half: usize| (0..data.n_queries()).filter(|query| quarter[*query] % 2 == half).collect::<Vec<_>>();
        let parts = [data.select_queries(&queries(0))?, data.select_queries(&queries(1))?];
        let mut weights = [0.0; 2];
        for (weight, part) in weights.iter_mut().zip(&parts) {
            let evaluation = Evaluator::new(part, std::slice::from_ref(metric), rules)?
                .evaluate_canonical(&vec![0.0; part.n_rows()])?;
            let counts = |query: &usize| evaluation.metrics[0].per_query[*query].is_some();
            *weight =
                reduce::sum((0..part.n_queries()).filter(counts).map(|query| f64::from(part.query_weight(query))));
        }
        let sign = if metric.kind().is_larger_better() { 1.0 } else { -1.0 };
        Ok(Self { data, parts, quarter, weights, sign })
    }

    /// The data of one half.
    pub(crate) fn part(&self, half: View) -> &Dataset {
        &self.parts[half as usize]
    }

    /// Whether a view has the query.
    pub(crate) fn has(&self, view: View, query: usize) -> bool {
        view == View::Both || self.quarter[query] % 2 == view as usize
    }

    /// Which half of a view a query is in.
    pub(crate) fn inner_half(&self, view: View, query: usize) -> usize {
        match view {
            View::Both => self.quarter[query] % 2,
            View::First | View::Second => self.quarter[query] / 2,
        }
    }

    /// The mean over both halves, from the mean of each.
    pub(crate) fn join_values(&self, values: [f64; 2]) -> f64 {
        let [first, second] = self.weights;
        (first * values[0] + second * values[1]) / (first + second)
    }

    /// The mean over both halves after each round.
    pub(crate) fn join(&self, curves: &[Vec<f64>; 2]) -> Vec<f64> {
        curves[0].iter().zip(&curves[1]).map(|(first, second)| self.join_values([*first, *second])).collect()
    }

    /// The first round with the best value, counted from 1.
    pub(crate) fn best_round(&self, curve: &[f64]) -> usize {
        let mut best = 0;
        for (round, value) in curve.iter().enumerate() {
            if self.sign * value > self.sign * curve[best] {
                best = round;
            }
        }
        best + 1
    }
}
