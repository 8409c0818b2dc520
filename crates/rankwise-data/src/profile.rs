//! What a dataset looks like: how values are distributed, and what a model could exploit that it should not.
//!
//! * [`Dataset::profile`] describes every feature, and how well it orders documents as the labels do, or as the input does.
//! * [`drift()`] compares two datasets: how far distributions moved, and which queries both have.

mod agreement;
mod contents;
mod drift;

use rayon::prelude::*;

pub use self::drift::{DataDrift, FeatureDrift, SharesBar, drift};
use crate::{Dataset, Documents, F64Values};

/// Bars of a distribution, at most.
const MAX_BARS: usize = 20;

/// A description of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct DataProfile {
    /// All features, ascending by id.
    pub features: Vec<FeatureProfile>,
    /// How well the order of rows in the input agrees with the labels, within queries: 1 if relevant documents always come first, 0
    /// if they come last, 0.5 if there is no relation; `None` if there is no pair to compare.
    pub rows_with_labels: Option<f64>,
    /// Documents with the same values as another one of their query.
    pub n_copies: usize,
    /// Those of them whose label is another one.
    pub n_contradictions: usize,
}

/// A feature of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureProfile {
    /// The id.
    pub feature: u32,
    /// Documents without a value.
    pub n_missing: usize,
    /// Different values.
    pub n_distinct: usize,
    /// The smallest value, the quartiles and the largest value; `None` if all are missing.
    pub quartiles: Option<[f64; 5]>,
    /// The distribution of the values.
    pub bars: Vec<ValueBar>,
    /// Whether all documents of each query have the same value.
    pub is_constant_in_queries: bool,
    /// How well the values agree with the labels, over all pairs of documents of a query with different labels: 1 if the more relevant document
    /// always has the larger value, 0 if always the smaller one. Equal values count half, missing ones are the smallest.
    pub with_labels: Option<f64>,
    /// How well the values agree with the order of rows in the input, within queries: 1 if they ascend. `None` if there is no
    /// pair of different values.
    pub with_rows: Option<f64>,
}

/// Documents whose values lie in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueBar {
    /// The smallest of the values.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// How many documents have one of them.
    pub count: usize,
}

impl Dataset {
    /// Describes the features and documents. Does not depend on the number of threads.
    pub fn profile(&self) -> DataProfile {
        let all: Vec<u32> = self.feature_ids().to_vec();
        let features =
            all.par_iter().filter_map(|feature| Some(self.profile_of(*feature, self.f64_values_of(*feature)?)));
        let copies = contents::copies(self, &contents::row_hashes(self, &all));
        // Earlier rows are larger.
        let earlier: Vec<f64> = self.input_row().iter().map(|row| -f64::from(*row)).collect();
        DataProfile {
            features: features.collect(),
            rows_with_labels: agreement::of(self, &earlier, self.labels()),
            n_copies: copies.n_copies,
            n_contradictions: copies.n_contradictions,
        }
    }

    fn profile_of(&self, feature: u32, column: F64Values<'_>) -> FeatureProfile {
        let values = all_values(column, self.n_rows());
        let sorted = known(&values);
        let rows: Vec<f32> = ranks_in_queries(self, self.input_row());
        let is_constant = |query: usize| {
            let values = &values[self.query_rows(query)];
            values.iter().all(|value| *value == values[0] || (value.is_nan() && values[0].is_nan()))
        };
        let is_constant_in_queries = (0..self.n_queries()).all(is_constant);
        FeatureProfile {
            feature,
            n_missing: values.len() - sorted.len(),
            n_distinct: sorted.chunk_by(|a, b| a == b).count(),
            quartiles: quartiles(&sorted),
            bars: bars(&sorted),
            is_constant_in_queries,
            with_labels: agreement::of(self, &values, self.labels()),
            with_rows: if is_constant_in_queries { None } else { agreement::of(self, &values, &rows) },
        }
    }
}

/// For each document its place among the rows of its query in the input.
fn ranks_in_queries(docs: &Documents, input_rows: &[u32]) -> Vec<f32> {
    let mut ranks = vec![0.0; docs.n_rows()];
    for query in 0..docs.n_queries() {
        let rows = docs.query_rows(query);
        let mut order: Vec<usize> = rows.collect();
        order.sort_unstable_by_key(|row| input_rows[*row]);
        order.iter().enumerate().for_each(|(place, row)| ranks[*row] = place as f32);
    }
    ranks
}

/// The values of a column; -0 becomes 0.
fn all_values(column: F64Values<'_>, n_rows: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(n_rows);
    column.for_each_in(0, n_rows, |_, value| values.push(value + 0.0));
    values
}

/// The values that are not missing, ascending.
fn known(values: &[f64]) -> Vec<f64> {
    let mut known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    known.sort_unstable_by(f64::total_cmp);
    known
}

/// The value at a share of the sorted list, interpolated.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    let rest = place.fract();
    if low == high { low } else { low * (1.0 - rest) + high * rest }
}

fn quartiles(sorted: &[f64]) -> Option<[f64; 5]> {
    (!sorted.is_empty()).then(|| [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(sorted, share)))
}

/// The distribution of sorted values. A bar for each value if there are few; otherwise bars of equal width between the first and the last percent, with
/// the rest in the outer ones.
pub fn bars(sorted: &[f64]) -> Vec<ValueBar> {
    let groups: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).take(MAX_BARS + 1).collect();
    let bar = |part: &[f64]| ValueBar { low: part[0], high: part[part.len() - 1], count: part.len() };
    if groups.len() <= MAX_BARS {
        return groups.into_iter().map(bar).collect();
    }
    let (low, high) = (quantile(sorted, 0.01), quantile(sorted, 0.99));
    let place = |value: f64| {
        let share = (value - low) / (high - low);
        if share.is_nan() { 0 } else { (share * MAX_BARS as f64).clamp(0.0, (MAX_BARS - 1) as f64) as usize }
    };
    sorted.chunk_by(|a, b| place(*a) == place(*b)).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three queries of four documents. Feature 0 is the label, 1 the row, 2 constant in queries, 3 without relation, 4 nearly always missing.
    fn data() -> Dataset {
        let labels = [0.0, 1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 2.0, 1.0, 1.0];
        let row = |place: usize| {
            [
                labels[place],
                place as f32,
                (place / 4) as f32,
                [1.0, 1.0, 1.0, 2.0][place % 4],
                if place == 5 { 7.0 } else { f32::NAN },
            ]
        };
        let values: Vec<f32> = (0..12).flat_map(row).collect();
        Dataset::from_dense(&values, 5).labels(&labels).group_sizes(&[4; 3]).build().unwrap()
    }

    #[test]
    fn leaks_show() {
        let profile = data().profile();
        let of = |feature: u32| profile.features.iter().find(|found| found.feature == feature).unwrap();
        assert_eq!(of(0).with_labels, Some(1.0));
        assert_eq!(of(1).with_rows, Some(1.0));
        assert!(of(2).is_constant_in_queries && of(2).with_rows.is_none());
        assert_eq!(of(2).with_labels, Some(0.5));
        assert!((of(3).with_labels.unwrap() - 0.5).abs() < 0.3);
        assert_eq!((of(4).n_missing, of(4).n_distinct, of(4).quartiles), (11, 1, Some([7.0; 5])));
        assert_eq!(of(1).quartiles, Some([0.0, 2.75, 5.5, 8.25, 11.0]));
        assert_eq!(
            of(0).bars.iter().map(|bar| (bar.low, bar.count)).collect::<Vec<_>>(),
            [(0.0, 5), (1.0, 4), (2.0, 3)]
        );
        // Pairs with different labels whose more relevant document comes first: 1 of 5, 3 of 5 and 2 of 5.
        assert_eq!(profile.rows_with_labels, Some(6.0 / 15.0));
        assert_eq!((profile.n_copies, profile.n_contradictions), (0, 0));
    }

    #[test]
    fn bars_hold_all_values() {
        let values: Vec<f64> = (0..1000).map(|place| f64::from(place).powi(5)).collect();
        let found = bars(&values);
        assert!(found.len() <= MAX_BARS && found.len() > 5);
        assert_eq!(found.iter().map(|bar| bar.count).sum::<usize>(), 1000);
        assert!(found.array_windows().all(|[a, b]| a.high < b.low));
        assert!(bars(&[]).is_empty());
        let half_infinite: Vec<f64> =
            (0..100).map(|place| if place < 50 { f64::from(place) } else { f64::INFINITY }).collect();
        assert_eq!(bars(&half_infinite).iter().map(|bar| bar.count).sum::<usize>(), 100);
    }

    #[test]
    fn copies_and_contradictions_are_counted() {
        let values = [1.0f32, 2.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 5.0, 6.0];
        let data = Dataset::from_dense(&values, 2).labels(&[0.0, 1.0, 0.0, 2.0, 0.0, 1.0]).group_sizes(&[4, 2]).build();
        let profile = data.unwrap().profile();
        assert_eq!((profile.n_copies, profile.n_contradictions), (3, 3));
    }
}
