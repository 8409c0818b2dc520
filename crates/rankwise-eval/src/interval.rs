//! Confidence intervals of means.

use rankwise_data::reduce;

use crate::QueryValues;
use crate::bootstrap::resampled_means;
use crate::special::{normal_below, normal_quantile};

/// With more queries, the mean is practically normal, and resampling would only take time.
const MAX_RESAMPLED: usize = 10_000;

/// Default number of bootstrap resamples.
pub const RESAMPLES: u32 = 10_000;

/// A confidence interval of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The method.
    pub method: IntervalMethod,
}

/// The method of a confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalMethod {
    /// Quantiles of the resampled means.
    Percentile,
    /// Quantiles of the resampled means, corrected for bias and skewness (Efron's BCa).
    Bca,
    /// The mean, plus or minus its standard error times a quantile of the normal distribution.
    Normal,
}

impl IntervalMethod {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Percentile => "percentile",
            Self::Bca => "bca",
            Self::Normal => "normal",
        }
    }
}

/// The requested intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalSpec {
    /// The confidence level, such as 0.95.
    pub confidence: f64,
    /// Number of bootstrap resamples.
    pub resamples: u32,
    /// Random seed.
    pub seed: u64,
}

impl Default for IntervalSpec {
    fn default() -> Self {
        Self { confidence: 0.95, resamples: RESAMPLES, seed: 0 }
    }
}

/// A confidence interval for the mean of each sample: BCa, or normal if there are more than 10,000 queries. `None` for
/// samples with fewer than two values. Samples of the same queries share their resamples.
pub fn intervals(samples: &[&QueryValues], spec: &IntervalSpec) -> Vec<Option<Interval>> {
    let mut found = vec![None; samples.len()];
    for group in same_queries(samples) {
        let members: Vec<&QueryValues> = group.iter().map(|place| samples[*place]).collect();
        if members[0].len() < 2 {
            continue;
        }
        if members[0].len() > MAX_RESAMPLED {
            for (place, sample) in group.iter().zip(members) {
                found[*place] = normal(sample, spec.confidence);
            }
            continue;
        }
        for (place, means) in group.iter().zip(resampled_means(&members, spec.resamples, spec.seed)) {
            found[*place] = bca(samples[*place], means, spec.confidence);
        }
    }
    found
}

/// Groups the indices of samples with the same queries. There is rarely more than one group.
pub(crate) fn same_queries(samples: &[&QueryValues]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, sample) in samples.iter().enumerate() {
        match groups.iter_mut().find(|group| samples[group[0]].queries() == sample.queries()) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

/// The interval from the mean and its standard error; `None` for fewer than two values.
pub fn normal(sample: &QueryValues, confidence: f64) -> Option<Interval> {
    let reach = normal_quantile(f64::midpoint(1.0, confidence)) * sample.standard_error()?;
    let mean = sample.mean()?;
    Some(Interval { low: mean - reach, high: mean + reach, method: IntervalMethod::Normal })
}

/// Quantiles of the resampled means; `None` if there are none.
pub fn percentile(means: Vec<f64>, confidence: f64) -> Option<Interval> {
    let means = sorted(means);
    let tail = (1.0 - confidence) / 2.0;
    let (low, high) = (quantile(&means, tail)?, quantile(&means, 1.0 - tail)?);
    Some(Interval { low, high, method: IntervalMethod::Percentile })
}

/// Quantiles of the resampled means, corrected for bias (how many of them are below the mean) and skewness (how much
/// the mean changes without each query). Plain quantiles if all resampled means are on one side, or if the correction
/// is undefined.
pub fn bca(sample: &QueryValues, means: Vec<f64>, confidence: f64) -> Option<Interval> {
    let mean = sample.mean()?;
    let means = sorted(means);
    let below = means.partition_point(|resampled| *resampled < mean);
    let up_to = means.partition_point(|resampled| *resampled <= mean);
    let bias = normal_quantile((below + up_to) as f64 / (2 * means.len()) as f64);
    let acceleration = acceleration(sample);
    let tail = (1.0 - confidence) / 2.0;
    let ends = [tail, 1.0 - tail].map(|share| bias + normal_quantile(share));
    // NaN is not a valid correction either.
    let can_correct = bias.is_finite() && ends.iter().all(|z| acceleration * z < 1.0);
    if !can_correct {
        return percentile(means, confidence);
    }
    let [low, high] = ends.map(|z| quantile(&means, normal_below(bias + z / (1.0 - acceleration * z))));
    let (low, high) = (low?, high?);
    Some(Interval { low, high, method: IntervalMethod::Bca })
}

/// A sixth of the skewness of the leave-one-out means.
fn acceleration(sample: &QueryValues) -> f64 {
    let scale = sample.scale();
    let weights = sample.weights();
    let total_weight = reduce::sum(weights.iter().copied());
    let total = reduce::sum(sample.values().iter().zip(weights).map(|(value, weight)| value / scale * weight));
    let without: Vec<f64> = sample
        .values()
        .iter()
        .zip(weights)
        .map(|(value, weight)| (total - value / scale * weight) / (total_weight - weight))
        .collect();
    let mean = reduce::sum(without.iter().copied()) / without.len() as f64;
    let squares = reduce::sum(without.iter().map(|value| (mean - value) * (mean - value)));
    let cubes = reduce::sum(without.iter().map(|value| (mean - value) * (mean - value) * (mean - value)));
    // All equal: no skewness.
    if squares == 0.0 { 0.0 } else { cubes / (6.0 * squares * libm::sqrt(squares)) }
}

fn sorted(mut means: Vec<f64>) -> Vec<f64> {
    means.sort_by(f64::total_cmp);
    means
}

/// The quantile, interpolated between the two nearest values.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!((quantile(&[1.0, 2.0], 1.5), quantile(&[], 0.5)), (Some(2.0), None));
    }

    #[test]
    fn equal_values_have_an_interval_of_one_point_and_one_value_none() {
        let sample = |n: usize| QueryValues::new(&vec![Some(0.1); n], &vec![1.0; n]);
        let found = intervals(&[&sample(5), &sample(1), &sample(0)], &IntervalSpec::default());
        let Some(Interval { low, high, .. }) = found[0] else { panic!("{found:?}") };
        assert!((low - 0.1).abs() < 1e-15 && (high - 0.1).abs() < 1e-15, "{low} {high}");
        assert_eq!(found[1..], [None, None]);
    }

    #[test]
    fn many_queries_have_normal_intervals_that_resampling_confirms() {
        let values: Vec<Option<f64>> = (0..10_001).map(|query| Some(f64::from(query * query % 101) / 100.0)).collect();
        let sample = QueryValues::new(&values, &vec![1.0; values.len()]);
        let found = intervals(&[&sample], &IntervalSpec::default())[0].unwrap();
        assert_eq!(found.method, IntervalMethod::Normal);
        let resampled = bca(&sample, resampled_means(&[&sample], 1000, 3).remove(0), 0.95).unwrap();
        let width = found.high - found.low;
        assert!((found.low - resampled.low).abs() < 0.1 * width, "{found:?} {resampled:?}");
        assert!((found.high - resampled.high).abs() < 0.1 * width, "{found:?} {resampled:?}");
    }
}
