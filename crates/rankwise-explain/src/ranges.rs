//! The values of each feature in a dataset, as far as a model of trees distinguishes them.
//!
//! ```text
//! thresholds of the feature        t0        t1        t2
//! intervals                    0   |    1    |    2    |    3         interval k has the values in (t(k-1), t(k)]
//! ```

use std::ops::Range;

use rankwise_data::{Dataset, F64Values};
use rankwise_model::{Model, TreeEnsemble};
use rayon::prelude::*;

/// The intervals of each feature of a model.
#[derive(Clone, Debug)]
pub struct Ranges {
    pub(crate) features: Vec<Intervals>,
    pub(crate) n_rows: usize,
}

/// The intervals of one feature, with the rows of the dataset in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Intervals {
    /// Ascending, without repetition.
    pub(crate) thresholds: Vec<f64>,
    pub(crate) found: Vec<Found>,
    /// The values of the dataset, ascending; missing values are left out.
    values: Vec<f64>,
}

/// The smallest and the largest value in an interval.
pub(crate) type Found = Option<[f64; 2]>;

impl Ranges {
    /// Looks at all rows.
    pub fn new(model: &Model, ensemble: &TreeEnsemble, data: &Dataset) -> Self {
        let mut thresholds = vec![Vec::new(); model.features().len()];
        for tree in ensemble.trees() {
            for (feature, threshold) in tree.parts().feature.iter().zip(&tree.parts().threshold) {
                thresholds[*feature as usize].push(*threshold);
            }
        }
        let features = model.features().par_iter().zip(thresholds).map(|(feature, mut thresholds)| {
            thresholds.sort_unstable_by(f64::total_cmp);
            // Adding 0 turns -0 into 0.
            for threshold in &mut thresholds {
                *threshold += 0.0;
            }
            thresholds.dedup();
            // Without thresholds nothing can change.
            let values = if thresholds.is_empty() { None } else { data.f64_values_of(*feature) };
            Intervals::new(thresholds, values, data.n_rows(), |value| model.precision().round(value))
        });
        Self { features: features.collect(), n_rows: data.n_rows() }
    }
}

impl Intervals {
    fn new(thresholds: Vec<f64>, column: Option<F64Values<'_>>, n_rows: usize, round: impl Fn(f64) -> f64) -> Self {
        let mut values = Vec::new();
        if let Some(column) = column {
            column.for_each_in(0, n_rows, |_, value| values.extend((!value.is_nan()).then(|| round(value))));
        }
        values.sort_unstable_by(f64::total_cmp);
        let mut intervals = Self { thresholds, found: Vec::new(), values };
        let found = |interval: usize| {
            let rows = intervals.rows(interval);
            let [first, .., last] = intervals.values.get(rows.clone())? else {
                return intervals.values.get(rows.start).filter(|_| !rows.is_empty()).map(|only| [*only; 2]);
            };
            Some([*first, *last])
        };
        intervals.found = (0..=intervals.thresholds.len()).map(found).collect();
        intervals
    }

    /// The interval of a value that is not missing.
    pub(crate) fn of(&self, value: f64) -> usize {
        self.thresholds.partition_point(|threshold| *threshold < value)
    }

    /// The places of the interval's values in the sorted list.
    fn rows(&self, interval: usize) -> Range<usize> {
        let end = |threshold: Option<&f64>| {
            threshold.map_or(self.values.len(), |threshold| self.values.partition_point(|value| value <= threshold))
        };
        let start = interval.checked_sub(1).map_or(0, |before| end(self.thresholds.get(before)));
        start..end(self.thresholds.get(interval))
    }

    /// Twice the number of rows that a change passes: those between the two values, and half of those that have one of them. A missing value
    /// comes before all others.
    pub(crate) fn half_rows_passed(&self, from: f64, to: f64) -> usize {
        self.half_place(from).abs_diff(self.half_place(to))
    }

    /// Twice the mean place of rows with this value.
    fn half_place(&self, value: f64) -> usize {
        let below = self.values.partition_point(|other| *other < value);
        let up_to = self.values.partition_point(|other| *other <= value);
        if value.is_nan() { 0 } else { below + up_to }
    }
}
