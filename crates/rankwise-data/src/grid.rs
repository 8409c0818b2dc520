//! Dense values that belong to the caller. They are binned where they are: what is copied is at most a few columns per
//! thread, and only until they have their bins.

use std::ops::Range;

use rayon::prelude::*;

use crate::binned::{ChooseBins, RowSample};
use crate::builder::{ColumnPart, RowValues, TILE_ROWS, TiledKeys, finite};
use crate::columns::merges;
use crate::decimal::are_told;
use crate::key::KeyBytes;
use crate::{Absent, BinnedDataset, BinningParams, Documents, FeatureValue, RowKey};

/// A value for each row and feature. Features are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid<'a, T> {
    pub(crate) layout: Layout<'a, T>,
    /// Whether features may be f64; otherwise all are rounded.
    pub(crate) keeps_f64: bool,
}

/// How the values are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout<'a, T> {
    Rows { values: &'a [T], n_features: usize },
    Columns(&'a [&'a [T]]),
}

impl<T: FeatureValue> Grid<'_, T> {
    fn n_features(&self) -> usize {
        match self.layout {
            Layout::Rows { n_features, .. } => n_features,
            Layout::Columns(columns) => columns.len(),
        }
    }

    /// Features that are read together because they share cache lines.
    fn groups(&self) -> Vec<Range<usize>> {
        let n_together = match self.layout {
            Layout::Rows { .. } => (64 / size_of::<T>()).max(1),
            Layout::Columns(_) => 1,
        };
        let n_features = self.n_features();
        (0..n_features).step_by(n_together).map(|start| start..n_features.min(start + n_together)).collect()
    }

    /// Some columns, in input order. A tile of rows is in the cache while its columns are read.
    fn columns<V>(&self, features: Range<usize>, convert: impl Fn(T) -> V) -> Vec<Vec<V>> {
        let n_rows = self.n_rows();
        let mut columns: Vec<Vec<V>> = features.clone().map(|_| Vec::with_capacity(n_rows)).collect();
        match self.layout {
            Layout::Rows { values, n_features } => {
                for tile in values.chunks(n_features * TILE_ROWS) {
                    for (feature, column) in features.clone().zip(&mut columns) {
                        column.extend(tile.iter().skip(feature).step_by(n_features).map(|value| convert(*value)));
                    }
                }
            }
            Layout::Columns(given) => {
                for (feature, column) in features.zip(&mut columns) {
                    column.extend(given[feature].iter().map(|value| convert(*value)));
                }
            }
        }
        columns
    }

    /// The ids of the features that occur in some row, and the bins of those that are not constant.
    ///
    /// Values are read in input order, which is fast; their bins, a quarter of the bytes or less, are then put into
    /// canonical order.
    pub(crate) fn bin(&self, docs: &Documents, params: &BinningParams) -> (Vec<u32>, BinnedDataset) {
        let sample = RowSample::new(docs, params.bin_construct_sample_cnt).in_input_order(docs.input_row());
        let choose = ChooseBins { sample: &sample, order: docs.input_row(), max_bin: params.max_bin };
        let absent = docs.absent();
        let is_f64 = |feature: usize| docs.f64_features().binary_search(&(feature as u32)).is_ok();
        let of_group = |features: Range<usize>| {
            let columns = self.columns(features.clone(), |value| finite(value.to_f32()));
            let of_column = |(feature, values): (usize, Vec<f32>)| {
                let id = feature as u32;
                if is_f64(feature) {
                    let unrounded = |value: T| value.into().clamp(-f64::MAX, f64::MAX);
                    let values = self.columns(feature..feature + 1, unrounded).remove(0);
                    return Some((id, choose.of_f64(&values)));
                }
                let n_present = values.iter().filter(|value| !absent.matches(**value)).count();
                (n_present > 0).then(|| (id, choose.of_f32(&values, n_present, absent)))
            };
            features.into_par_iter().zip(columns).map(of_column).collect::<Vec<_>>()
        };
        let found: Vec<_> = self.groups().into_par_iter().flat_map_iter(of_group).collect();
        let (ids, features): (Vec<u32>, Vec<_>) = found.into_iter().flatten().unzip();
        let binned = BinnedDataset::of_features(ids.iter().copied().zip(features), docs.n_rows());
        (ids, binned)
    }
}

impl<T: FeatureValue> RowValues for Grid<'_, T> {
    fn f64_features(&self) -> Vec<u32> {
        let are_f32 = || match self.layout {
            Layout::Rows { values, .. } => T::are_f32(values),
            Layout::Columns(columns) => columns.iter().all(|values| T::are_f32(values)),
        };
        if !self.keeps_f64 || are_f32() {
            return Vec::new();
        }
        let of_group = |features: Range<usize>| {
            let columns = self.columns(features.clone(), Into::<f64>::into);
            // Values that can be recovered from their f32 have different ones.
            let is_f64 = |(_, values): &(usize, Vec<f64>)| !are_told(values) && merges(values);
            features.into_par_iter().zip(columns).filter(is_f64).map(|(feature, _)| feature as u32).collect::<Vec<_>>()
        };
        self.groups().into_par_iter().flat_map_iter(of_group).collect()
    }

    fn row_keys(
        &self,
        n_rows: usize,
        absent: Absent,
        f64_features: &[u32],
        begin: impl Fn(usize, &mut KeyBytes) + Sync,
    ) -> Vec<RowKey> {
        let features: Vec<u32> = (0..self.n_features() as u32).collect();
        let columns = |feature: usize| GridColumn { grid: self, feature };
        TiledKeys { features: &features, columns: &columns, absent, f64_features }.of_rows(n_rows, begin)
    }
}

impl<T> Grid<'_, T> {
    fn n_rows(&self) -> usize {
        match self.layout {
            Layout::Rows { values, n_features } => values.len() / n_features,
            Layout::Columns(columns) => columns.first().map_or(0, |column| column.len()),
        }
    }
}

/// One feature of a grid.
struct GridColumn<'a, T> {
    grid: &'a Grid<'a, T>,
    feature: usize,
}

impl<T: FeatureValue> ColumnPart for GridColumn<'_, T> {
    fn values_in<'a>(&'a self, rows: Range<usize>, room: &'a mut [f32; TILE_ROWS]) -> &'a [f32] {
        let room = &mut room[..rows.len()];
        match self.grid.layout {
            Layout::Rows { values, n_features } => {
                let part = values[rows.start * n_features..rows.end * n_features].chunks_exact(n_features);
                room.iter_mut().zip(part).for_each(|(to, row)| *to = finite(row[self.feature].to_f32()));
            }
            Layout::Columns(columns) => {
                let part = &columns[self.feature][rows];
                room.iter_mut().zip(part).for_each(|(to, value)| *to = finite(value.to_f32()));
            }
        }
        room
    }

    fn unrounded(&self, row: usize) -> f64 {
        match self.grid.layout {
            Layout::Rows { values, n_features } => values[row * n_features + self.feature].into(),
            Layout::Columns(columns) => columns[self.feature][row].into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Absent, BinningParams, BinningSpec, CachedDataset, Dataset, FeatureValue, Keep};

    const N_FEATURES: usize = 19;

    /// Integers, decimals that an f32 tells, numbers that f32 merges, missing and infinite ones.
    fn value() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => Just(0.0), 3 => (-3i8..3).prop_map(f64::from), 2 => (-50i8..50).prop_map(|n| f64::from(n) / 10.0),
            2 => Just(f64::NAN), 1 => -1.0f64..1.0, 1 => Just(-0.0),
            1 => prop_oneof![Just(f64::INFINITY), Just(-f64::INFINITY), Just(1e300)],
            1 => (0u8..4).prop_map(|n| 1.7e9 + f64::from(n)),
        ]
    }

    /// Some columns are constant, absent or rare, so that they are left out or sparse.
    fn values() -> impl Strategy<Value = Vec<f64>> {
        let row = (prop::collection::vec(value(), N_FEATURES - 3), 0u8..20).prop_map(|(mut row, rare)| {
            row.extend([2.5, f64::NAN, if rare == 0 { 1.0 } else { f64::NAN }]);
            row
        });
        prop::collection::vec(row, 1..300).prop_map(|rows| rows.concat())
    }

    fn assert_same_bins<T: FeatureValue>(values: &[T], absent: Absent, keep: Keep, params: &BinningParams) {
        let n_rows = values.len() / N_FEATURES;
        let qids: Vec<usize> = (0..n_rows).map(|row| row * 7 % 5).collect();
        let labels: Vec<u8> = (0..n_rows).map(|row| (row % 3) as u8).collect();
        let columns: Vec<Vec<T>> =
            (0..N_FEATURES).map(|start| values.iter().skip(start).step_by(N_FEATURES).copied().collect()).collect();
        let by_row = || Dataset::from_dense(values, N_FEATURES).labels(&labels).qids(&qids).absent(absent).keep(keep);
        let by_column = Dataset::from_columns(&columns).labels(&labels).qids(&qids).absent(absent).keep(keep);
        let expected = CachedDataset::new(&by_row().build().unwrap(), params).unwrap();
        for found in [by_row().build_binned(params).unwrap(), by_column.build_binned(params).unwrap()] {
            let (docs, wanted) = (found.docs(), expected.docs());
            assert_eq!((docs.fingerprint(), docs.input_row()), (wanted.fingerprint(), wanted.input_row()));
            assert_eq!((docs.feature_ids(), docs.f64_features()), (wanted.feature_ids(), wanted.f64_features()));
            assert_eq!(docs.labels(), wanted.labels());
            assert_eq!(found.into_parts().columns, expected.clone().into_parts().columns);
        }
    }

    proptest! {
        /// Values that are binned where they are give the same bins as a dataset of them.
        #[test]
        fn bins_are_those_of_a_dataset(
            values in values(), zero in any::<bool>(), sample in 1usize..400, max_bin in 2usize..40,
            keep in prop_oneof![Just(Keep::default()), Just(Keep::Rounded), Just(Keep::All)],
        ) {
            let absent = if zero { Absent::Zero } else { Absent::Missing };
            let params = BinningSpec { max_bin, bin_construct_sample_cnt: sample }.check().unwrap();
            assert_same_bins(&values, absent, keep, &params);
            let rounded: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            assert_same_bins(&rounded, absent, keep, &params);
        }
    }
}
