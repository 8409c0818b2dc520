//! The best linear combination of two rankers.

use rankwise_data::{Dataset, Share};
use rankwise_eval::deviation_within_queries;
use rankwise_metrics::{AdditiveMetric, Evaluator, MetricError, MetricName, Rules, best_step};

/// Two rankers in the proportion that maximises a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// The share of the second ranker, from 0 to 1, after scaling both to the same spread of scores.
    pub weight: f64,
    /// The factors for the scores of the two.
    pub factors: [f64; 2],
    /// The metric of each alone.
    pub alone: [f64; 2],
    /// The metric of the combination.
    pub value: f64,
}

/// Rankers that cannot be combined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BlendError {
    /// The metric cannot be computed.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The metric does not have the form that the search needs.
    #[error("metric '{metric}' is not supported here; use {known}")]
    Kind {
        /// The metric.
        metric: String,
        /// The metrics that do.
        known: &'static str,
    },
    /// All documents of every query have the same score.
    #[error(
        "the {} ranker gives all documents of each query the same score, so there is nothing to combine; use another one",
        ["first", "second"][*ranker]
    )]
    Constant {
        /// Which of the two: 0 or 1.
        ranker: usize,
    },
    /// No query counts in the metric.
    #[error(
        "no query has a relevant document and a weight above 0, so '{metric}' cannot tell models apart; use other data"
    )]
    NothingToMeasure {
        /// The metric.
        metric: String,
    },
}

/// Finds the combination `(1 - w) a + w b` with the largest mean of the metric over all w from 0 to 1. Scores are in
/// input order and are first scaled to the same spread. The search is exact, because nothing changes between the points
/// where two documents swap. Documents that both rankers score equally are in the worst order.
pub fn blend(data: &Dataset, scores: [&[f64]; 2], metric: &MetricName, rules: &Rules) -> Result<Blend, BlendError> {
    if let Some(scores) = scores.iter().find(|scores| scores.len() != data.n_rows()) {
        return Err(MetricError::Length { scores: scores.len(), rows: data.n_rows() }.into());
    }
    let [first, second] = scores.map(|scores| data.from_input_order(scores));
    blend_canonical(data, [&first, &second], metric, rules)
}

/// [`blend`] for scores in canonical order.
pub fn blend_canonical(
    data: &Dataset,
    scores: [&[f64]; 2],
    metric: &MetricName,
    rules: &Rules,
) -> Result<Blend, BlendError> {
    let longest = data.queries().map(|query| query.n_docs()).max().unwrap_or(0);
    let form = AdditiveMetric::new(metric, rules, longest)
        .ok_or_else(|| BlendError::Kind { metric: metric.as_str().to_owned(), known: AdditiveMetric::KNOWN })?;
    let evaluator = Evaluator::new(data, std::slice::from_ref(metric), rules)?;
    let value_of = |scores: &[f64]| -> Result<f64, BlendError> {
        let nothing = BlendError::NothingToMeasure { metric: metric.as_str().to_owned() };
        evaluator.evaluate_canonical(scores)?.metrics[0].mean.ok_or(nothing)
    };
    let queries: Vec<usize> = (0..data.n_queries()).collect();
    let spreads = scores.map(|scores| deviation_within_queries(data, &queries, scores));
    for (ranker, spread) in spreads.into_iter().enumerate() {
        if spread.is_nan() || spread <= 0.0 {
            return Err(BlendError::Constant { ranker });
        }
    }
    let alone = [value_of(scores[0])?, value_of(scores[1])?];
    let scaled: [Vec<f64>; 2] = [0, 1].map(|one| scores[one].iter().map(|score| score / spreads[one]).collect());
    let direction: Vec<f64> = scaled[0].iter().zip(&scaled[1]).map(|(a, b)| b - a).collect();
    let mix = |weight: f64| {
        let factors = [(1.0 - weight) / spreads[0], weight / spreads[1]];
        Blend { weight, factors, alone, value: 0.0 }
    };
    // Prefer a single ranker if the combination is no better.
    let ends = [(0.0, alone[0]), (1.0, alone[1])];
    let mut best = if ends[1].1 > ends[0].1 { ends[1] } else { ends[0] };
    if let Some(found) = best_step(&Share::alone(data), &form, (&scaled[0], &direction), 1.0, 0.5) {
        let value = value_of(&mix(found.step).scores(scores))?;
        if value > best.1 {
            best = (found.step, value);
        }
    }
    Ok(Blend { value: best.1, ..mix(best.0) })
}

impl Blend {
    /// The scores of the combination.
    pub fn scores(&self, scores: [&[f64]; 2]) -> Vec<f64> {
        scores[0].iter().zip(scores[1]).map(|(a, b)| self.factors[0] * a + self.factors[1] * b).collect()
    }
}
