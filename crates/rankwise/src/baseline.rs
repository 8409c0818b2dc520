//! Baselines that need no training.

use rankwise_data::Dataset;
use rankwise_metrics::{Evaluator, MetricError, MetricName, Rules};

/// A single feature as a ranker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestFeature {
    /// Its id.
    pub feature: u32,
    /// Whether larger values are better.
    pub is_ascending: bool,
    /// The metric on the data used to select it.
    pub value: f64,
}

impl BestFeature {
    /// The feature's values as scores, in input order. Missing values come last.
    pub fn scores(&self, data: &Dataset) -> Vec<f64> {
        data.to_input_order(&self.scores_canonical(data))
    }

    /// [`Self::scores`] in canonical order.
    pub fn scores_canonical(&self, data: &Dataset) -> Vec<f64> {
        let score = |value: f64| match (value.is_nan(), self.is_ascending) {
            (true, _) => f64::NEG_INFINITY,
            (false, true) => value,
            (false, false) => -value,
        };
        let mut scores = vec![score(data.absent().value().into()); data.n_rows()];
        if let Some(values) = data.f64_values_of(self.feature) {
            values.for_each_in(0, data.n_rows(), |row, value| scores[row] = score(value));
        }
        scores
    }
}

/// The feature and direction that rank the data best; `None` if there is no feature or no query counts.
pub fn best_feature(data: &Dataset, metric: &MetricName, rules: &Rules) -> Result<Option<BestFeature>, MetricError> {
    let evaluator = Evaluator::new(data, std::slice::from_ref(metric), rules)?;
    let mut best: Option<BestFeature> = None;
    for feature in data.feature_ids() {
        for is_ascending in [true, false] {
            let candidate = BestFeature { feature: *feature, is_ascending, value: 0.0 };
            let Some(value) = evaluator.evaluate_canonical(&candidate.scores_canonical(data))?.metrics[0].mean else {
                continue;
            };
            if best.is_none_or(|best| metric.kind().is_better(value, best.value)) {
                best = Some(BestFeature { value, ..candidate });
            }
        }
    }
    Ok(best)
}
