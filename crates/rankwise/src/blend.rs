//! The best linear mix of two rankers.

use rankwise_data::{Dataset, Share, reduce};
use rankwise_metrics::{AdditiveMetric, Evaluator, MetricError, MetricName, Rules, best_step};

/// Two rankers in the proportion that a metric likes best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// The share of the second, from 0 to 1, both on the scale on which their scores spread alike.
    pub weight: f64,
    /// What the scores of the two are multiplied by.
    pub factors: [f64; 2],
    /// The metric of each alone.
    pub alone: [f64; 2],
    /// The metric of the mix.
    pub value: f64,
}

/// Rankers that cannot be mixed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BlendError {
    /// The metric cannot be measured.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The metric cannot be followed while documents pass each other.
    #[error("metric '{metric}' is not supported here; use {known}")]
    Kind {
        /// The metric.
        metric: String,
        /// Those that can.
        known: &'static str,
    },
    /// All documents of every query have the same score.
    #[error(
        "the {which} ranker gives all documents of a query the same score, so there is nothing to combine; use another one"
    )]
    Constant {
        /// Which of the two.
        which: &'static str,
    },
    /// No query counts.
    #[error("no query has a relevant document and a weight above 0, so '{metric}' is undefined; use other data")]
    NothingToMeasure {
        /// The metric.
        metric: String,
    },
}

/// Finds the mix `(1 - w) a + w b`, of scores in input order that are first brought to one scale, with the largest mean of
/// the metric over all w from 0 to 1: exactly, since between the places where two documents pass each other nothing changes.
/// Documents that both rankers score alike stand in the worst order meanwhile.
pub fn blend(data: &Dataset, scores: [&[f64]; 2], metric: &MetricName, rules: &Rules) -> Result<Blend, BlendError> {
    if let Some(scores) = scores.iter().find(|scores| scores.len() != data.n_rows()) {
        return Err(MetricError::Length { scores: scores.len(), rows: data.n_rows() }.into());
    }
    let [first, second] = scores.map(|scores| data.from_input_order(scores));
    blend_canonical(data, [&first, &second], metric, rules)
}

/// [`blend`] of scores in canonical order.
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
    let spreads = scores.map(|scores| spread(data, scores));
    for (spread, which) in spreads.into_iter().zip(["first", "second"]) {
        if spread.is_nan() || spread <= 0.0 {
            return Err(BlendError::Constant { which });
        }
    }
    let alone = [value_of(scores[0])?, value_of(scores[1])?];
    let scaled: [Vec<f64>; 2] = [0, 1].map(|one| scores[one].iter().map(|score| score / spreads[one]).collect());
    let direction: Vec<f64> = scaled[0].iter().zip(&scaled[1]).map(|(a, b)| b - a).collect();
    let mix = |weight: f64| {
        let factors = [(1.0 - weight) / spreads[0], weight / spreads[1]];
        Blend { weight, factors, alone, value: 0.0 }
    };
    // An end is as good as a mix that is no better.
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
    /// The scores of the mix.
    pub fn scores(&self, scores: [&[f64]; 2]) -> Vec<f64> {
        scores[0].iter().zip(scores[1]).map(|(a, b)| self.factors[0] * a + self.factors[1] * b).collect()
    }
}

/// How far the scores of a query's documents are from their mean, over all queries.
fn spread(data: &Dataset, scores: &[f64]) -> f64 {
    let squares = (0..data.n_queries()).map(|query| {
        let scores = &scores[data.query_rows(query)];
        let mean = reduce::sum(scores.iter().copied()) / scores.len() as f64;
        reduce::sum(scores.iter().map(|score| (score - mean) * (score - mean)))
    });
    libm::sqrt(reduce::sum(squares) / data.n_rows() as f64)
}
