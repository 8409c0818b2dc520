//! Simulated experiments with two equal systems: tests at a level of 5 % must find a difference in about 5 % of them,
//! and 95 % intervals must cover the truth in about 95 %.

use rankwise_data::{Draw, Purpose};
use rankwise_eval::{
    IntervalSpec, QueryValues, Tail, fisher, intervals, paired_t, resampled_means, shift_test, wilcoxon,
};
use rayon::prelude::*;

/// With this many, the standard error of a rate of 5 % is 0.22 %, so a deviation of 1 % is not chance.
const EXPERIMENTS: u64 = 10_000;
const QUERIES: usize = 40;

/// Two systems of equal quality on queries of different difficulty: values in [0, 1], many of them 0 for both.
fn differences(experiment: u64) -> QueryValues {
    let draw = Draw::new(17, Purpose::SynthQuery, experiment as u32);
    let values = (0..QUERIES as u64).map(|query| {
        let hardness = draw.uniform(query, 0);
        let value = |noise: f64| (0.8 - hardness + 0.3 * noise).clamp(0.0, 1.0);
        let [first, second] = draw.normals(query, 1);
        Some(value(first) - value(second))
    });
    QueryValues::new(&values.collect::<Vec<_>>(), &[1.0; QUERIES])
}

/// How often a test finds a difference although there is none.
fn rate(p_value: impl Fn(&QueryValues, u64) -> f64 + Sync) -> f64 {
    let n_found = (0..EXPERIMENTS).into_par_iter().filter(|seed| p_value(&differences(*seed), *seed) <= 0.05).count();
    n_found as f64 / EXPERIMENTS as f64
}

#[test]
fn one_in_twenty_equal_pairs_seems_different() {
    let bootstrap = |sample: &QueryValues, seed| {
        shift_test(sample.mean().unwrap(), &resampled_means(&[sample], 399, seed)[0], Tail::Both)
    };
    let rates = [
        ("fisher", rate(|sample, seed| fisher(sample, Tail::Both, 399, seed))),
        ("fisher, one-sided", rate(|sample, seed| fisher(sample, Tail::Upper, 399, seed))),
        ("t", rate(|sample, _| paired_t(sample, Tail::Both).unwrap())),
        ("wilcoxon", rate(|sample, _| wilcoxon(sample, Tail::Both))),
        ("bootstrap", rate(bootstrap)),
    ];
    for (test, rate) in rates {
        // The bootstrap treats the given queries as the whole population, so it finds slightly more.
        let limits = if test == "bootstrap" { 0.04..=0.07 } else { 0.04..=0.06 };
        assert!(limits.contains(&rate), "{test}: {rate}");
    }
}

/// With weights that alternate between 2 and 1, tests must not find false differences.
#[test]
fn weights_do_not_invent_differences() {
    let weights: Vec<f64> = (0..QUERIES).map(|query| if query % 2 == 0 { 2.0 } else { 1.0 }).collect();
    let weighted = |sample: &QueryValues| {
        let values: Vec<Option<f64>> = sample.values().iter().copied().map(Some).collect();
        QueryValues::new(&values, &weights)
    };
    let rates = [
        rate(|sample, seed| fisher(&weighted(sample), Tail::Both, 399, seed)),
        rate(|sample, _| paired_t(&weighted(sample), Tail::Both).unwrap()),
    ];
    assert!(rates.iter().all(|rate| (0.04..=0.06).contains(rate)), "{rates:?}");
}

#[test]
fn intervals_cover_the_truth() {
    let n_covered = (0..EXPERIMENTS / 2)
        .into_par_iter()
        .filter(|seed| {
            let spec = IntervalSpec { resamples: 400, seed: *seed, ..IntervalSpec::default() };
            let found = intervals(&[&differences(*seed)], &spec)[0].unwrap();
            (found.low..=found.high).contains(&0.0)
        })
        .count();
    let covered = n_covered as f64 / (EXPERIMENTS / 2) as f64;
    // As for the test above: slightly less than 95 %, with 40 queries.
    assert!((0.92..=0.955).contains(&covered), "{covered}");
}
