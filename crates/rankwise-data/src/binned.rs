//! Binned feature values, one byte per document and feature. Trees are grown from these.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::binning::BinValue;
use crate::columns::{merges, rounded};
use crate::members::Bytes;
use crate::{Absent, BinningParams, CachedColumn, Column, DataError, Dataset, Documents, FeatureBins, Share};

/// The bins of all documents, with one column per feature that is not constant. Features are sorted by id, so the
/// smaller index is the smaller id.
#[derive(Clone, Debug)]
pub struct BinnedDataset {
    feature_ids: Vec<u32>,
    bins: Vec<FeatureBins>,
    columns: Vec<BinColumn>,
    n_rows: usize,
}

/// The bins of one feature.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BinColumn {
    /// By row.
    Dense(Vec<u8>),
    /// Only some rows have a bin of their own; the others have `rest`.
    Sparse {
        /// Ascending.
        rows: Vec<u32>,
        bins: Vec<u8>,
        rest: u8,
    },
}

/// A column is sparse if at most one of so many rows has a bin of its own.
const ROWS_PER_SPARSE_BIN: usize = 16;

impl BinnedDataset {
    /// Chooses the bins from the data and applies them.
    pub fn new(data: &Dataset, params: &BinningParams) -> Result<Self, DataError> {
        let sample = RowSample::new(data, params.bin_construct_sample_cnt);
        let (feature_ids, bins): (Vec<u32>, Vec<FeatureBins>) = (0..data.n_features())
            .into_par_iter()
            .map(|slot| {
                let feature = data.feature_ids()[slot];
                let bins = if is_f64(data, feature) {
                    FeatureBins::of_values(sample.of(&f64_values(data, feature)), params.max_bin)
                } else {
                    bins_of(data.column(slot), &sample, params.max_bin)
                };
                (feature, bins)
            })
            .filter(|(_, bins)| !bins.is_constant())
            .unzip();
        Self::apply(data, feature_ids, bins)
    }

    /// Chooses the bins from the data of all members and applies them to this member's data.
    pub fn of_share(share: &Share<'_>, data: &Dataset, params: &BinningParams) -> Result<Self, DataError> {
        if share.is_alone() {
            return Self::new(data, params);
        }
        if let Some(feature) = merged_across(share, data) {
            return Err(DataError::WideInOnePart { feature });
        }
        let sample = RowSample::of_share(share, params.bin_construct_sample_cnt);
        let (mut feature_ids, mut all_bins) = (Vec::new(), Vec::new());
        for feature in share.all_feature_ids() {
            let bins = if share.all_f64_features().binary_search(feature).is_ok() {
                let values = sample.of(&f64_values(data, *feature)).into_iter().map(|value| (value, 1)).collect();
                FeatureBins::from_counts(gathered::<f64>(share, values), params.max_bin)
            } else {
                FeatureBins::from_counts(gathered(share, counts_of(data, *feature, &sample)), params.max_bin)
            };
            if !bins.is_constant() {
                feature_ids.push(*feature);
                all_bins.push(bins);
            }
        }
        Self::apply(data, feature_ids, all_bins)
    }

    /// A dataset of these features, ascending by id; those that are constant are left out.
    pub(crate) fn of_features(features: impl Iterator<Item = (u32, BinnedFeature)>, n_rows: usize) -> Self {
        let mut binned = Self { feature_ids: Vec::new(), bins: Vec::new(), columns: Vec::new(), n_rows };
        for (id, BinnedFeature { bins, column }) in features {
            if let Some(column) = column {
                binned.feature_ids.push(id);
                binned.bins.push(bins);
                binned.columns.push(column);
            }
        }
        binned
    }

    /// Applies the bins of this dataset to another one, so that trees grown here can be applied there.
    pub fn like(&self, data: &Dataset) -> Result<Self, DataError> {
        Self::apply(data, self.feature_ids.clone(), self.bins.clone())
    }

    /// Builds a dataset from bins that have already been checked.
    pub(crate) fn from_columns_of(columns: Vec<CachedColumn>, n_rows: usize) -> Self {
        let mut binned = Self { feature_ids: Vec::new(), bins: Vec::new(), columns: Vec::new(), n_rows };
        for column in columns {
            binned.feature_ids.push(column.feature);
            let bins = FeatureBins::from_upper(column.upper, column.is_f64, column.has_missing);
            binned.bins.push(bins.expect("the bounds were checked"));
            binned.columns.push(BinColumn::Dense(column.bins));
        }
        binned
    }

    /// The bins as plain lists.
    pub(crate) fn into_columns(self) -> Vec<CachedColumn> {
        let n_rows = self.n_rows;
        let features = self.feature_ids.into_iter().zip(self.bins).zip(self.columns);
        features
            .map(|((feature, bins), column)| CachedColumn {
                feature,
                upper: bins.uppers().to_vec(),
                is_f64: bins.is_f64(),
                has_missing: bins.has_missing(),
                bins: column.into_dense(n_rows),
            })
            .collect()
    }

    /// Bins plain columns of values. Rows keep their order, features are numbered from 0, and each gets at most 255
    /// bins. For engines and tests that need no queries.
    pub fn from_columns(columns: &[Vec<f32>]) -> Self {
        let bins: Vec<FeatureBins> =
            columns.iter().map(|values| FeatureBins::from_values(values.clone(), 255)).collect();
        let bytes =
            columns.iter().zip(&bins).map(|(values, bins)| values.iter().map(|value| bins.bin(*value)).collect());
        Self {
            feature_ids: (0..columns.len() as u32).collect(),
            columns: bytes.map(BinColumn::Dense).collect(),
            n_rows: columns[0].len(),
            bins,
        }
    }

    fn apply(data: &Dataset, feature_ids: Vec<u32>, bins: Vec<FeatureBins>) -> Result<Self, DataError> {
        let n_rows = data.n_rows();
        let columns = feature_ids
            .par_iter()
            .zip(&bins)
            .map(|(feature, bins)| {
                let source = data.column_of(*feature);
                if let Some(sparse) =
                    source.filter(|_| !bins.is_f64()).and_then(|of| BinColumn::sparse(of, bins, n_rows))
                {
                    return Ok(sparse);
                }
                let mut column = Vec::new();
                column
                    .try_reserve_exact(n_rows)
                    .map_err(|_| DataError::TooLarge { rows: n_rows, features: feature_ids.len() })?;
                if bins.is_f64() {
                    column.extend(f64_values(data, *feature).into_iter().map(|value| bins.bin_f64(value)));
                    return Ok(BinColumn::Dense(column));
                }
                match source {
                    Some(Column::Coded { codes, values }) => {
                        let bin: Vec<u8> = values.iter().map(|value| bins.bin(*value)).collect();
                        column.extend(codes.iter().map(|code| bin[usize::from(*code)]));
                    }
                    Some(Column::Dense(values)) => bins.bin_all(values, &mut column),
                    Some(Column::Wide(values)) => column.extend(values.iter().map(|value| bins.bin(rounded(*value)))),
                    Some(Column::Sparse { rows, values, rest }) => {
                        column.resize(n_rows, bins.bin(*rest));
                        for (row, value) in rows.iter().zip(values) {
                            column[*row as usize] = bins.bin(*value);
                        }
                    }
                    None => column.resize(n_rows, bins.bin(data.absent().value())),
                }
                Ok(BinColumn::Dense(column))
            })
            .collect::<Result<Vec<_>, DataError>>()?;
        Ok(Self { feature_ids, bins, columns, n_rows })
    }

    /// The number of documents.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of features that are not constant.
    pub fn n_features(&self) -> usize {
        self.bins.len()
    }

    /// The ids of these features, ascending.
    pub fn feature_ids(&self) -> &[u32] {
        &self.feature_ids
    }

    /// The bins of a feature.
    pub fn bins(&self, feature: usize) -> &FeatureBins {
        &self.bins[feature]
    }

    /// The bins of one feature, by row.
    pub fn column(&self, feature: usize) -> Cow<'_, [u8]> {
        self.column_in(feature, 0..self.n_rows)
    }

    /// The bins of one feature in some rows.
    pub fn column_in(&self, feature: usize, rows: Range<usize>) -> Cow<'_, [u8]> {
        match &self.columns[feature] {
            BinColumn::Dense(bins) => Cow::Borrowed(&bins[rows]),
            BinColumn::Sparse { rows: of_bins, bins, rest } => {
                let before = |end: usize| of_bins.partition_point(|row| (*row as usize) < end);
                let places = before(rows.start)..before(rows.end);
                let mut dense = vec![*rest; rows.len()];
                for (row, bin) in of_bins[places.clone()].iter().zip(&bins[places]) {
                    dense[*row as usize - rows.start] = *bin;
                }
                Cow::Owned(dense)
            }
        }
    }

    /// The rows of a feature that may differ from all others in their bin, and the bin of these, where few rows do.
    pub fn sparse_column(&self, feature: usize) -> Option<SparseBins<'_>> {
        match &self.columns[feature] {
            BinColumn::Dense(_) => None,
            BinColumn::Sparse { rows, bins, rest } => Some(SparseBins { rows, bins, rest: *rest }),
        }
    }

    /// Whether at least so many rows are not in the most frequent bin of a feature. If not, no threshold has that many on
    /// both sides.
    pub fn has_beside_mode(&self, feature: usize, at_least: usize) -> bool {
        let mut counts = [0usize; 256];
        let mut most = 0;
        let mut is_reached = |seen: usize, bin: u8, by: usize| {
            counts[usize::from(bin)] += by;
            most = most.max(counts[usize::from(bin)]);
            // More rows cannot lower the difference.
            seen - most >= at_least
        };
        match &self.columns[feature] {
            BinColumn::Dense(bins) => bins.iter().enumerate().any(|(row, bin)| is_reached(row + 1, *bin, 1)),
            BinColumn::Sparse { bins, rest, .. } => {
                let n_rest = self.n_rows - bins.len();
                is_reached(n_rest, *rest, n_rest)
                    || bins.iter().enumerate().any(|(place, bin)| is_reached(n_rest + place + 1, *bin, 1))
            }
        }
    }
}

/// The bins of one feature, and their use; no column if the feature is constant.
pub(crate) struct BinnedFeature {
    bins: FeatureBins,
    column: Option<BinColumn>,
}

/// Chooses the bins of values in input order, and applies them.
pub(crate) struct ChooseBins<'a> {
    /// Of rows in input order.
    pub(crate) sample: &'a RowSample,
    /// The place of each row in input order, by canonical order.
    pub(crate) order: &'a [u32],
    pub(crate) max_bin: usize,
}

impl ChooseBins<'_> {
    /// For values that are compared as f32, of which `n_present` are not absent.
    pub(crate) fn of_f32(&self, values: &[f32], n_present: usize, absent: Absent) -> BinnedFeature {
        let bins = FeatureBins::from_values(self.sample.of(values), self.max_bin);
        if bins.is_constant() {
            return BinnedFeature { bins, column: None };
        }
        let mut by_input = Vec::with_capacity(values.len());
        bins.bin_all(values, &mut by_input);
        let column = if n_present * ROWS_PER_SPARSE_BIN <= values.len() {
            let present = (0u32..).zip(self.order).filter(|(_, place)| !absent.matches(values[**place as usize]));
            let (rows, of_rows) = present.map(|(row, place)| (row, by_input[*place as usize])).unzip();
            BinColumn::Sparse { rows, bins: of_rows, rest: bins.bin(absent.value()) }
        } else {
            self.dense(&by_input)
        };
        BinnedFeature { bins, column: Some(column) }
    }

    /// For finite or missing values that are compared as f64.
    pub(crate) fn of_f64(&self, values: &[f64]) -> BinnedFeature {
        let bins = FeatureBins::of_values(self.sample.of(values), self.max_bin);
        let by_input = || values.iter().map(|value| bins.bin_f64(*value)).collect::<Vec<u8>>();
        let column = (!bins.is_constant()).then(|| self.dense(&by_input()));
        BinnedFeature { bins, column }
    }

    fn dense(&self, by_input: &[u8]) -> BinColumn {
        BinColumn::Dense(self.order.iter().map(|place| by_input[*place as usize]).collect())
    }
}

/// A feature of which few rows have a bin of their own.
#[derive(Clone, Copy, Debug)]
pub struct SparseBins<'a> {
    /// These rows, ascending.
    pub rows: &'a [u32],
    /// Their bins.
    pub bins: &'a [u8],
    /// The bin of all other rows.
    pub rest: u8,
}

impl BinColumn {
    /// The bins of a sparse column; `None` if they take no less memory than a byte for each row.
    fn sparse(column: &Column, bins: &FeatureBins, n_rows: usize) -> Option<Self> {
        let Column::Sparse { rows, values, rest } = column else { return None };
        (rows.len() * ROWS_PER_SPARSE_BIN <= n_rows).then(|| Self::Sparse {
            rows: rows.clone(),
            bins: values.iter().map(|value| bins.bin(*value)).collect(),
            rest: bins.bin(*rest),
        })
    }

    fn into_dense(self, n_rows: usize) -> Vec<u8> {
        match self {
            Self::Dense(bins) => bins,
            Self::Sparse { rows, bins, rest } => {
                let mut dense = vec![rest; n_rows];
                rows.iter().zip(bins).for_each(|(row, bin)| dense[*row as usize] = bin);
                dense
            }
        }
    }
}

/// Whether training treats a feature as f64.
fn is_f64(data: &Documents, feature: u32) -> bool {
    data.f64_features().binary_search(&feature).is_ok()
}

/// The unrounded values of a feature in all rows.
fn f64_values(data: &Dataset, feature: u32) -> Vec<f64> {
    let mut all = vec![f64::from(data.absent().value()); data.n_rows()];
    if let Some(values) = data.f64_values_of(feature) {
        values.for_each_in(0, data.n_rows(), |row, value| all[row] = value.clamp(-f64::MAX, f64::MAX));
    }
    all
}

/// Chooses the bins of a feature.
fn bins_of(column: &Column, sample: &RowSample, max_bin: usize) -> FeatureBins {
    match column {
        Column::Dense(values) => FeatureBins::from_values(sample.of(values), max_bin),
        Column::Wide(values) => {
            let sampled = sample.of(values).into_iter().map(rounded).collect();
            FeatureBins::from_values(sampled, max_bin)
        }
        Column::Coded { codes, values } => {
            let mut counts = vec![0usize; values.len()];
            for code in sample.of(codes) {
                counts[usize::from(code)] += 1;
            }
            FeatureBins::from_counts(values.iter().copied().zip(counts).collect(), max_bin)
        }
        Column::Sparse { rows, values, rest } => {
            let present = rows.iter().zip(values).filter(|(row, _)| sample.has(**row));
            let mut counts: Vec<(f32, usize)> = present.map(|(_, value)| (*value, 1)).collect();
            counts.push((*rest, sample.n_rows - counts.len()));
            FeatureBins::from_counts(counts, max_bin)
        }
    }
}

/// A feature that is f64 for no single member, but has different values that are equal as f32 when all members' values
/// are combined.
fn merged_across(share: &Share<'_>, data: &Dataset) -> Option<u32> {
    let is_f32 = |feature: &&u32| share.all_f64_features().binary_search(*feature).is_err();
    share.all_feature_ids().iter().filter(is_f32).copied().find(|feature| {
        let values = data.f64_values_of(*feature);
        let untold = values.map_or(Vec::new(), |values| values.untold().collect());
        let mut untold: Vec<f64> = gathered(share, untold.into_iter().map(|value| (value, 1)).collect())
            .into_iter()
            .map(|(value, _)| value)
            .collect();
        untold.sort_unstable_by(f64::total_cmp);
        untold.dedup();
        let mut has_twin = merges(&untold);
        if let Some(values) = values.filter(|_| !untold.is_empty()) {
            values.for_each_in(0, data.n_rows(), |_, value| {
                let place = untold.partition_point(|other| rounded(*other) < rounded(value));
                has_twin |= untold.get(place).is_some_and(|other| *other != value && rounded(*other) == rounded(value));
            });
        }
        share.any(has_twin)
    })
}

/// How often each value of a feature occurs in this member's sample. The list is unsorted and may name a value several
/// times.
fn counts_of(data: &Dataset, feature: u32, sample: &RowSample) -> Vec<(f32, usize)> {
    match data.column_of(feature) {
        None => vec![(data.absent().value(), sample.n_rows)],
        Some(Column::Sparse { rows, values, rest }) => {
            let present = rows.iter().zip(values).filter(|(row, _)| sample.has(**row));
            let mut counts: Vec<(f32, usize)> = present.map(|(_, value)| (*value, 1)).collect();
            counts.push((*rest, sample.n_rows - counts.len()));
            counts
        }
        Some(column) => {
            let all: Vec<u32> = (0..data.n_rows() as u32).collect();
            sample.of(&all).into_iter().map(|row| (column.get(row as usize), 1)).collect()
        }
    }
}

/// The counts of all members.
fn gathered<T: Exchanged>(share: &Share<'_>, counts: Vec<(T, usize)>) -> Vec<(T, usize)> {
    let mut bytes = Vec::new();
    for (value, count) in counts {
        value.write(&mut bytes);
        bytes.extend((count as u32).to_le_bytes());
    }
    let mut all = Vec::new();
    for bytes in share.reduce.gather(&bytes) {
        let mut bytes = Bytes(&bytes);
        while !bytes.0.is_empty() {
            all.push((T::read(&mut bytes), bytes.integer() as usize));
        }
    }
    all
}

/// A value that members exchange.
trait Exchanged: BinValue {
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &mut Bytes<'_>) -> Self;
}

impl Exchanged for f32 {
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &mut Bytes<'_>) -> Self {
        Self::from_le_bytes(bytes.take())
    }
}

impl Exchanged for f64 {
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }

    fn read(bytes: &mut Bytes<'_>) -> Self {
        Self::from_le_bytes(bytes.take())
    }
}

/// The rows with the smallest keys: a random sample that does not depend on the order of rows.
pub(crate) struct RowSample {
    n_rows: usize,
    /// The sampled rows, ascending, and a flag per row; `None` if all rows are sampled.
    some: Option<(Vec<u32>, Vec<bool>)>,
}

impl RowSample {
    pub(crate) fn new(data: &Documents, limit: usize) -> Self {
        Self::smallest(data, limit.min(data.n_rows()))
    }

    /// This member's part of a sample of all members' rows.
    fn of_share(share: &Share<'_>, limit: usize) -> Self {
        let data = share.data;
        if share.all_rows() <= limit {
            return Self::smallest(data, data.n_rows());
        }
        let mut keys: Vec<u128> = data.keys().iter().map(|key| key.as_u128()).collect();
        keys.sort_unstable();
        let mine: Vec<u8> = keys.iter().take(limit).flat_map(|key| key.to_le_bytes()).collect();
        let mut all: Vec<u128> = Vec::new();
        for bytes in share.reduce.gather(&mine) {
            let mut bytes = Bytes(&bytes);
            while !bytes.0.is_empty() {
                all.push(u128::from_le_bytes(bytes.take()));
            }
        }
        all.sort_unstable();
        // Rows with equal keys belong to one query, so to one member, which keeps those within the limit.
        let Some(last) = all.get(limit - 1).copied() else { return Self::smallest(data, data.n_rows()) };
        let n_equal = all[..limit].iter().rev().take_while(|key| **key == last).count();
        let is_mine = keys.binary_search(&last).is_ok();
        let n_below = keys.partition_point(|key| *key < last);
        Self::smallest(data, n_below + if is_mine { n_equal } else { 0 })
    }

    /// The `limit` rows with the smallest keys.
    fn smallest(data: &Documents, limit: usize) -> Self {
        if limit == data.n_rows() {
            return Self { n_rows: data.n_rows(), some: None };
        }
        let mut rows: Vec<u32> = (0..data.n_rows() as u32).collect();
        rows.select_nth_unstable_by_key(limit, |row| (data.keys()[*row as usize], *row));
        rows.truncate(limit);
        rows.sort_unstable();
        let mut is_taken = vec![false; data.n_rows()];
        for row in &rows {
            is_taken[*row as usize] = true;
        }
        Self { n_rows: limit, some: Some((rows, is_taken)) }
    }

    /// The same rows, counted in input order; `input_row` is the place of each row there.
    pub(crate) fn in_input_order(mut self, input_row: &[u32]) -> Self {
        if let Some((rows, is_taken)) = &mut self.some {
            is_taken.fill(false);
            for row in &mut *rows {
                *row = input_row[*row as usize];
                is_taken[*row as usize] = true;
            }
            rows.sort_unstable();
        }
        self
    }

    fn has(&self, row: u32) -> bool {
        self.some.as_ref().is_none_or(|(_, is_taken)| is_taken[row as usize])
    }

    fn of<T: Copy>(&self, all: &[T]) -> Vec<T> {
        match &self.some {
            Some((rows, _)) => rows.iter().map(|row| all[*row as usize]).collect(),
            None => all.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Absent, BinningSpec, DatasetBuilder, Row};

    fn data(values: &[f32]) -> Dataset {
        let mut builder = DatasetBuilder::default();
        for (idx, value) in values.iter().enumerate() {
            builder
                .push(&Row { qid: &format!("{}", idx % 3), features: &[(2, *value), (7, 1.0)], ..Row::default() })
                .unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn constant_features_are_left_out_and_other_data_follows_the_bins() {
        let train = data(&[1.0, 2.0, 3.0, f32::NAN]);
        let binned = BinnedDataset::new(&train, &BinningParams::default()).unwrap();
        assert_eq!(binned.feature_ids(), [2]);
        for row in 0..4 {
            assert_eq!(binned.column(0)[row], binned.bins(0).bin(train.column(0).get(row)));
        }
        let other = data(&[2.4, 2.6, -9.0, f32::NAN]);
        let follow = binned.like(&other).unwrap();
        let mut seen = follow.column(0).to_vec();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3]);
    }

    /// Sparse columns have the bins of their rows, and rare bins are counted as they are.
    #[test]
    fn sparse_columns_are_those_of_their_rows() {
        for absent in [Absent::Missing, Absent::Zero] {
            let mut builder = DatasetBuilder::new(absent);
            for row in 0..400u32 {
                // The second feature is in few rows, sometimes with the value of the others.
                let rare = [(1, row as f32), (2, (row / 40 % 4) as f32)];
                let features = if row % 40 == 3 { &rare[..] } else { &rare[..1] };
                builder.push(&Row { qid: "q", features, ..Row::default() }).unwrap();
            }
            let data = builder.finish().unwrap();
            let binned = BinnedDataset::new(&data, &BinningParams::default()).unwrap();
            assert!(binned.sparse_column(0).is_none() && binned.sparse_column(1).is_some());
            let dense: Vec<u8> = (0..400).map(|row| binned.bins(1).bin(data.column(1).get(row))).collect();
            assert_eq!(*binned.column(1), dense);
            for rows in [0..0, 0..400, 3..4, 4..43, 390..400] {
                assert_eq!(*binned.column_in(1, rows.clone()), dense[rows]);
            }
            let mut counts = [0; 256];
            for bin in &dense {
                counts[usize::from(*bin)] += 1;
            }
            let mode = *counts.iter().max().unwrap();
            for at_least in 0..20 {
                assert_eq!(binned.has_beside_mode(1, at_least), dense.len() - mode >= at_least, "{at_least}");
            }
            assert!(binned.has_beside_mode(0, 398) && !binned.has_beside_mode(0, 399));
        }
    }

    /// A feature that does not occur in the other data is 0 there if absent features mean 0.
    #[test]
    fn features_that_other_data_lack_are_absent_there() {
        for (absent, expected) in [(Absent::Missing, 3), (Absent::Zero, 1)] {
            let build = |values: &[f32]| {
                let mut builder = DatasetBuilder::new(absent);
                for value in values {
                    let features = [(2, *value)];
                    let features = if value.is_nan() { &[] } else { &features[..] };
                    builder.push(&Row { qid: "q", features, ..Row::default() }).unwrap();
                }
                builder.finish().unwrap()
            };
            let train = build(&[-1.0, 0.5, 2.0]);
            let binned = BinnedDataset::new(&train, &BinningParams::default()).unwrap();
            let bin = binned.like(&build(&[f32::NAN])).unwrap().column(0)[0];
            assert_eq!(bin, expected, "{absent:?}");
        }
    }

    /// A feature that few rows have is binned by its values in the sample.
    #[test]
    fn a_sample_of_rare_values_is_that_of_all_rows() {
        let values: Vec<f32> = (0..500).map(|row| if row % 5 == 0 { row as f32 } else { f32::NAN }).collect();
        let mut builder = DatasetBuilder::default();
        for (row, value) in values.iter().enumerate() {
            let features = [(1, row as f32), (2, *value)];
            builder.push(&Row { qid: "q", features: &features, ..Row::default() }).unwrap();
        }
        let data = builder.finish().unwrap();
        assert!(matches!(data.column(1), Column::Sparse { .. }));
        for limit in [20, 100, 499, 500] {
            let sample = RowSample::new(&data, limit);
            let all: Vec<f32> = (0..500).map(|row| data.column(1).get(row)).collect();
            let expected = FeatureBins::from_values(sample.of(&all), 7);
            assert_eq!(bins_of(data.column(1), &sample, 7), expected, "{limit}");
        }
    }

    #[test]
    fn a_sample_is_used_when_asked_for_and_does_not_depend_on_row_order() {
        let values: Vec<f32> = (0..500).map(|idx| idx as f32).collect();
        let params = BinningSpec { bin_construct_sample_cnt: 50, ..Default::default() }.check().unwrap();
        let forward = BinnedDataset::new(&data(&values), &params).unwrap();
        assert_eq!(forward.bins(0).n_value_bins(), 50);
        let sample = RowSample::new(&data(&values), 50);
        assert_eq!((sample.n_rows, sample.of(&values).len()), (50, 50));
        assert_eq!((0..500).filter(|row| sample.has(*row)).count(), 50);
        assert_eq!(RowSample::new(&data(&values), 500).of(&values), values);
    }
}
