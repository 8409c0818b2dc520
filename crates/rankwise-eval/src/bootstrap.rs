//! The bootstrap: what would the means have been with other queries of the same kind? Queries are drawn from the
//! available ones, with replacement and with their weights.

use rankwise_data::{Draw, Purpose};
use rayon::prelude::*;

use crate::{QueryValues, Tail};

/// Number of partial sums, so that no addition waits for the previous one; the order is the same on every machine.
const LANES: usize = 8;

/// Number of resamples computed together, so that a sample stays in the cache for all of them.
const PER_TASK: u32 = 8;

/// The mean of each sample in each resample. All samples have the same queries, which are drawn once for all of them. A
/// draw depends on the seed, the number of the resample and the index of the draw.
pub fn resampled_means(samples: &[&QueryValues], resamples: u32, seed: u64) -> Vec<Vec<f64>> {
    let Some(first) = samples.first() else { return Vec::new() };
    let (n, weights) = (first.len(), first.weights());
    assert!(n > 0, "nothing to draw from");
    assert!(samples.iter().all(|sample| sample.queries() == first.queries()), "samples of different queries");
    // If all weights are equal, only values are summed.
    let is_weighted = weights.iter().any(|weight| *weight != weights[0]);
    let columns: Vec<Vec<f64>> = samples.iter().map(|sample| column(sample, is_weighted)).collect();
    let by_task: Vec<Vec<Vec<f64>>> = (0..resamples.div_ceil(PER_TASK))
        .into_par_iter()
        .map_init(
            || vec![vec![0.0; n]; PER_TASK as usize],
            |counts, task| {
                let first = task * PER_TASK;
                let counts = &mut counts[..PER_TASK.min(resamples - first) as usize];
                for (resample, counts) in (first..).zip(counts.iter_mut()) {
                    draw_counts(counts, seed, resample);
                }
                let total = |counts: &[f64]| if is_weighted { dot(counts, weights) } else { n as f64 };
                let totals: Vec<f64> = counts.iter().map(|counts| total(counts)).collect();
                let means = |column: &Vec<f64>| -> Vec<f64> {
                    counts.iter().zip(&totals).map(|(counts, total)| dot(counts, column) / total).collect()
                };
                columns.iter().map(means).collect()
            },
        )
        .collect();
    (0..columns.len()).map(|sample| by_task.iter().flat_map(|means| &means[sample]).copied().collect()).collect()
}

/// The bootstrap test by the shift method: if the true difference were 0, resampled means would vary around 0 as they
/// vary around the observed mean. The p-value is (1 + number of means at least as far away) / (1 + resamples).
pub fn shift_test(mean: f64, resampled: &[f64], tail: Tail) -> f64 {
    let is_extreme = |resampled: &&f64| match tail {
        Tail::Both => (*resampled - mean).abs() >= mean.abs(),
        Tail::Upper => *resampled - mean >= mean,
        Tail::Lower => *resampled - mean <= mean,
    };
    (1 + resampled.iter().filter(is_extreme).count()) as f64 / (1 + resampled.len()) as f64
}

/// The terms to sum: values, times weights if these differ.
fn column(sample: &QueryValues, is_weighted: bool) -> Vec<f64> {
    let weighted = |(value, weight): (&f64, &f64)| if is_weighted { value * weight } else { *value };
    sample.values().iter().zip(sample.weights()).map(weighted).collect()
}

/// Counts how often each query is drawn.
fn draw_counts(counts: &mut [f64], seed: u64, resample: u32) {
    let draw = Draw::new(seed, Purpose::Resample, resample);
    let n = counts.len();
    counts.fill(0.0);
    for block in 0..n.div_ceil(4) {
        let bits = draw.bits(block as u64, 0);
        for word in bits.into_iter().take(n - 4 * block) {
            // Some queries are more likely by n parts in 2^32, which no number of resamples could reveal.
            counts[((u64::from(word) * n as u64) >> 32) as usize] += 1.0;
        }
    }
}

fn dot(counts: &[f64], column: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (count_rows, value_rows) = (counts.chunks_exact(LANES), column.chunks_exact(LANES));
    let rest: f64 = count_rows.remainder().iter().zip(value_rows.remainder()).map(|(count, value)| count * value).sum();
    for (counts, values) in count_rows.zip(value_rows) {
        for lane in 0..LANES {
            lanes[lane] += counts[lane] * values[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resample_has_as_many_queries_and_all_are_drawn_alike() {
        let n = 13;
        let mut totals = vec![0.0; n];
        let mut counts = vec![0.0; n];
        for resample in 0..4000 {
            draw_counts(&mut counts, 1, resample);
            assert_eq!(counts.iter().sum::<f64>(), n as f64);
            for (total, count) in totals.iter_mut().zip(&counts) {
                *total += count;
            }
        }
        // 4000 expected, with a standard deviation of 61.
        assert!(totals.iter().all(|total| (total - 4000.0).abs() < 250.0), "{totals:?}");
    }

    #[test]
    fn means_are_those_of_the_drawn_queries() {
        let values: Vec<Option<f64>> = (0..21).map(|query| Some(f64::from(query * query))).collect();
        let weights: Vec<f64> = (0..21).map(|query| f64::from(1 + query % 4)).collect();
        let weighted = QueryValues::new(&values, &weights);
        let equal = QueryValues::new(&values, &[2.5; 21]);
        for (sample, resample) in [(&weighted, 3), (&equal, 3)] {
            let mut counts = vec![0.0; 21];
            draw_counts(&mut counts, 7, resample);
            let drawn = |query: usize| counts[query] * sample.weights()[query];
            let expected = (0..21).map(|query| drawn(query) * sample.values()[query]).sum::<f64>()
                / (0..21).map(drawn).sum::<f64>();
            let found = resampled_means(&[sample], 5, 7)[0][resample as usize];
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
    }

    #[test]
    fn the_shift_test_counts_both_sides_or_one() {
        let resampled = [0.0, 0.5, 1.0, 1.9, 2.0, 2.5];
        assert_eq!(shift_test(1.0, &resampled, Tail::Both), 4.0 / 7.0);
        assert_eq!(shift_test(1.0, &resampled, Tail::Upper), 3.0 / 7.0);
        assert_eq!(shift_test(1.0, &resampled, Tail::Lower), 6.0 / 7.0);
        assert_eq!(shift_test(-1.0, &resampled.map(|mean| -mean), Tail::Both), 4.0 / 7.0);
        assert_eq!(shift_test(0.0, &[0.0; 9], Tail::Both), 1.0);
    }
}
