//! Confidence intervals and the bootstrap test.

// The digits that the other program printed.
#![allow(clippy::unreadable_literal)]

use rankwise_eval::{
    IntervalMethod, IntervalSpec, QueryValues, Tail, bca, intervals, paired_t, percentile, resampled_means,
};

use crate::{on_threads, sample};

/// Skewed values, and the intervals of their mean by `scipy.stats.bootstrap` (1.17.1) with two million resamples.
const SKEWED: &[f64] = &[
    0.0527, 0.2898, 1.2598, 0.0021, 0.0136, 14.3706, 0.0051, 0.0356, 0.0852, 0.4953, 0.1198, 0.6642, 1.0327, 0.0168,
    2.1624, 1.8365, 7.439, 8.6856, 3.0182, 1.7866, 0.2794, 0.3087, 0.4131, 0.8338, 5.5289,
];
const BCA: (f64, f64) = (1.0454973881835845, 3.980148607391028);
const PERCENTILE: (f64, f64) = (0.860948, 3.501989);

#[test]
fn intervals_agree_with_scipy_as_far_as_chance_allows() {
    let sample = sample(SKEWED);
    let means = resampled_means(&[&sample], 100_000, 1).remove(0);
    for (found, expected) in
        [(bca(&sample, means.clone(), 0.95).unwrap(), BCA), (percentile(means, 0.95).unwrap(), PERCENTILE)]
    {
        let width = expected.1 - expected.0;
        assert!((found.low - expected.0).abs() < 0.01 * width, "{found:?} for {expected:?}");
        assert!((found.high - expected.1).abs() < 0.015 * width, "{found:?} for {expected:?}");
    }
}

#[test]
fn threads_change_nothing_and_company_neither() {
    let values: Vec<f64> = (0..333).map(|query| f64::from(query * 37 % 101) / 100.0).collect();
    let first = sample(&values);
    let second = sample(&values.iter().map(|value| value * value).collect::<Vec<_>>());
    // Other queries: no common resamples.
    let gaps: Vec<Option<f64>> = values.iter().map(|value| Some(*value).filter(|value| *value > 0.1)).collect();
    let third = QueryValues::new(&gaps, &vec![1.0; gaps.len()]);
    let spec = IntervalSpec { resamples: 500, ..IntervalSpec::default() };
    let found = |threads| on_threads(threads, || intervals(&[&first, &third, &second], &spec));
    let one = found(1);
    assert_eq!((&found(2), &found(8)), (&one, &one));
    for (place, alone) in [&first, &third, &second].into_iter().enumerate() {
        assert_eq!(intervals(&[alone], &spec)[0], one[place]);
        assert_eq!(one[place].unwrap().method, IntervalMethod::Bca);
    }
    assert_ne!(intervals(&[&first], &IntervalSpec { seed: 1, ..spec })[0], one[0]);
}

/// For the mean, queries with weight 2 count like two queries; the interval knows that they are fewer.
#[test]
fn weights_move_mean_and_interval() {
    let values: Vec<Option<f64>> = (0..200).map(|query| Some(f64::from(query % 10) / 10.0)).collect();
    let weights: Vec<f64> = (0..200).map(|query| if query % 10 < 5 { 1.0 } else { 3.0 }).collect();
    let weighted = QueryValues::new(&values, &weights);
    let found = intervals(&[&weighted], &IntervalSpec::default())[0].unwrap();
    let mean = weighted.mean().unwrap();
    assert!((mean - 0.575).abs() < 1e-12, "{mean}");
    let error = weighted.standard_error().unwrap();
    // For 200 values without much skew, the normal interval is similar.
    assert!((found.low - (mean - 1.96 * error)).abs() < 0.15 * error, "{found:?}");
    assert!((found.high - (mean + 1.96 * error)).abs() < 0.15 * error, "{found:?}");
}

#[test]
fn the_t_test_is_defined_where_nothing_varies() {
    assert_eq!(paired_t(&sample(&[]), Tail::Both), None);
    assert_eq!(paired_t(&sample(&[0.4]), Tail::Both), None);
    assert_eq!(paired_t(&sample(&[0.0; 5]), Tail::Both), Some(1.0));
    assert_eq!(paired_t(&sample(&[0.1; 5]), Tail::Both), Some(0.0));
    assert_eq!(paired_t(&sample(&[0.1; 5]), Tail::Upper), Some(0.0));
    assert_eq!(paired_t(&sample(&[-0.1; 5]), Tail::Upper), Some(1.0));
    // They vary, with mean 0.
    assert_eq!(paired_t(&sample(&[0.5, -0.5]), Tail::Both), Some(1.0));
}
