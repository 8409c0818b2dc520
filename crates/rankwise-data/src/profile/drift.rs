//! How one dataset differs from another.

use std::collections::HashSet;

use rayon::prelude::*;

use super::{all_values, bars, contents, known, quantile, quartiles};
use crate::{Dataset, Documents};

/// How the distributions of a dataset differ from those of another one, and what both have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct DataDrift {
    /// The features of both, ascending by id.
    pub features: Vec<FeatureDrift>,
    /// Features that only this dataset has.
    pub only_here: Vec<u32>,
    /// Features that only the other one has.
    pub only_there: Vec<u32>,
    /// The distance between the distributions of labels.
    pub labels: f64,
    /// The distance between the distributions of the number of documents of a query.
    pub sizes: f64,
    /// Queries of this dataset whose id the other one has, too.
    pub n_shared_ids: usize,
    /// Queries of this dataset with several documents that have the same values as those of a query of the other one.
    pub n_shared_contents: usize,
}

/// How the values of a feature differ.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureDrift {
    /// The id.
    pub feature: u32,
    /// The largest difference between the shares of documents up to any value (Kolmogorov-Smirnov), from 0 to 1. Missing values are the smallest.
    pub distance: f64,
    /// The shares of documents without a value, here and there.
    pub missing: [f64; 2],
    /// The medians, here and there; `None` if all values are missing.
    pub medians: [Option<f64>; 2],
    /// The ends of ranges of values, with the shares of documents in them, here and there: what a plot shows.
    pub bars: Vec<SharesBar>,
}

/// The shares of documents with values in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharesBar {
    /// The smallest of the values of both.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Here and there.
    pub shares: [f64; 2],
}

/// Compares a dataset with another one, for example one of last month. Does not depend on the number of threads.
pub fn drift(here: &Dataset, there: &Dataset) -> DataDrift {
    let has = |data: &Dataset, feature: &u32| data.feature_ids().binary_search(feature).is_ok();
    let (common, only_here): (Vec<u32>, Vec<u32>) =
        here.feature_ids().iter().copied().partition(|feature| has(there, feature));
    let features = common.par_iter().filter_map(|feature| {
        let columns = [here.f64_values_of(*feature)?, there.f64_values_of(*feature)?];
        let values = [(columns[0], here.n_rows()), (columns[1], there.n_rows())];
        Some(feature_drift(*feature, &values.map(|(column, n_rows)| all_values(column, n_rows))))
    });
    let numbers = |docs: &Documents| -> [Vec<f64>; 2] {
        let sizes = docs.queries().map(|query| query.n_docs() as f64).collect();
        [docs.labels().iter().map(|label| f64::from(*label)).collect(), sizes]
    };
    let ([labels, sizes], [other_labels, other_sizes]) = (numbers(here), numbers(there));
    let ids: HashSet<&str> = there.queries().map(|query| query.id).collect();
    let contents = |data: &Dataset| contents::query_hashes(data, &contents::row_hashes(data, &common));
    let known_contents: HashSet<u64> = contents(there).into_iter().collect();
    let is_copied = |(query, hash): &(usize, u64)| here.query_rows(*query).len() > 1 && known_contents.contains(hash);
    DataDrift {
        features: features.collect(),
        only_there: there.feature_ids().iter().copied().filter(|feature| !has(here, feature)).collect(),
        only_here,
        labels: distance(&known(&labels), &known(&other_labels), [0.0; 2]),
        sizes: distance(&known(&sizes), &known(&other_sizes), [0.0; 2]),
        n_shared_ids: here.queries().filter(|query| ids.contains(query.id)).count(),
        n_shared_contents: contents(here).into_iter().enumerate().filter(is_copied).count(),
    }
}

fn feature_drift(feature: u32, values: &[Vec<f64>; 2]) -> FeatureDrift {
    let sorted = [known(&values[0]), known(&values[1])];
    let missing =
        [0, 1].map(|side| (values[side].len() - sorted[side].len()) as f64 / values[side].len().max(1) as f64);
    let medians = [0, 1].map(|side| quartiles(&sorted[side]).map(|_| quantile(&sorted[side], 0.5)));
    let mut both = sorted.concat();
    both.sort_unstable_by(f64::total_cmp);
    let share = |side: usize, low: f64, high: f64| {
        let sorted = &sorted[side];
        let found = sorted.partition_point(|value| *value <= high) - sorted.partition_point(|value| *value < low);
        found as f64 / values[side].len().max(1) as f64
    };
    let bar = |low, high| SharesBar { low, high, shares: [0, 1].map(|side| share(side, low, high)) };
    FeatureDrift {
        feature,
        distance: distance(&sorted[0], &sorted[1], missing),
        missing,
        medians,
        bars: bars(&both).into_iter().map(|found| bar(found.low, found.high)).collect(),
    }
}

/// The largest difference between two distribution functions. `missing` are shares below all values.
fn distance(a: &[f64], b: &[f64], missing: [f64; 2]) -> f64 {
    let share = |place: usize, sorted: &[f64], missing: f64| {
        missing + (1.0 - missing) * place as f64 / sorted.len().max(1) as f64
    };
    let mut largest = (missing[0] - missing[1]).abs();
    let (mut at_a, mut at_b) = (0, 0);
    while at_a < a.len() && at_b < b.len() {
        let value = a[at_a].min(b[at_b]);
        at_a += a[at_a..].partition_point(|other| *other <= value);
        at_b += b[at_b..].partition_point(|other| *other <= value);
        largest = largest.max((share(at_a, a, missing[0]) - share(at_b, b, missing[1])).abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn data(values: &[f32], ids: &[&str]) -> Dataset {
        let n = values.len() / 2;
        let labels: Vec<f32> = (0..n).map(|row| (row % 3) as f32).collect();
        Dataset::from_dense(values, 2).labels(&labels).qids(ids).build().unwrap()
    }

    #[test]
    fn a_dataset_does_not_differ_from_itself() {
        let values: Vec<f32> = (0..24).map(|place| (place * 7 % 11) as f32).collect();
        let ids = ["a", "a", "a", "a", "b", "b", "b", "b", "c", "c", "c", "c"];
        let here = data(&values, &ids);
        let found = drift(&here, &here);
        assert!(
            found.features.iter().all(|feature| feature.distance == 0.0 && feature.medians[0] == feature.medians[1])
        );
        assert_eq!((found.labels, found.sizes, found.n_shared_ids, found.n_shared_contents), (0.0, 0.0, 3, 3));
        assert!(found.only_here.is_empty() && found.only_there.is_empty());
        let other: Vec<f32> = values.iter().map(|value| value + 100.0).collect();
        let found = drift(&data(&other, &ids.map(|id| if id == "a" { "a" } else { "z" })), &here);
        assert!(found.features.iter().all(|feature| feature.distance == 1.0));
        assert_eq!((found.n_shared_ids, found.n_shared_contents), (1, 0));
    }

    proptest! {
        #[test]
        fn distances_are_those_of_the_definition(
            a in prop::collection::vec(0..7u8, 1..20),
            b in prop::collection::vec(0..7u8, 1..20),
        ) {
            let values = |from: &[u8]| -> Vec<f64> {
                from.iter().map(|value| if *value == 6 { f64::NAN } else { f64::from(*value) }).collect()
            };
            let found = feature_drift(1, &[values(&a), values(&b)]);
            let up_to = |from: &[u8], limit: i32| {
                let count = from.iter().filter(|value| **value == 6 || i32::from(**value) <= limit).count();
                count as f64 / from.len() as f64
            };
            let expected = (-1..6).map(|limit| (up_to(&a, limit) - up_to(&b, limit)).abs()).fold(0.0, f64::max);
            prop_assert!((found.distance - expected).abs() < 1e-12, "{} {}", found.distance, expected);
            for side in [0, 1] {
                let sum: f64 = found.bars.iter().map(|bar| bar.shares[side]).sum();
                prop_assert!((sum + found.missing[side] - 1.0).abs() < 1e-12);
            }
        }
    }
}
