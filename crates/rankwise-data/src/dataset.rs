//! Documents with their feature values.

use std::ops::Deref;

use crate::columns::Unrounded;
use crate::{
    BinnedDataset, BinningParams, CachedDataset, Column, DataError, Documents, F64Values, ReadingParams, Remark, Share,
};

/// A set of queries with their documents and feature values.
///
/// ```
/// use rankwise_data::{DatasetBuilder, Row};
///
/// let mut builder = DatasetBuilder::default();
/// builder.push(&Row { qid: "7", label: 2.0, features: &[(1, 0.5), (3, 10.0)], ..Row::default() })?;
/// builder.push(&Row { qid: "7", label: 0.0, features: &[(1, 0.1)], ..Row::default() })?;
/// let data = builder.finish()?;
/// assert_eq!((data.n_queries(), data.n_rows(), data.feature_ids()), (1, 2, &[1, 3][..]));
/// # Ok::<(), rankwise_data::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    pub(crate) docs: Documents,
    /// By feature.
    pub(crate) columns: Vec<Column>,
    /// By feature.
    pub(crate) unrounded: Vec<Unrounded>,
}

impl Deref for Dataset {
    type Target = Documents;

    fn deref(&self) -> &Documents {
        &self.docs
    }
}

impl Dataset {
    /// The documents, without feature values.
    pub fn docs(&self) -> &Documents {
        &self.docs
    }

    /// The values of the feature at `slot` in [`Documents::feature_ids`].
    pub fn column(&self, slot: usize) -> &Column {
        &self.columns[slot]
    }

    /// The values of the feature with this id, if any document has it.
    pub fn column_of(&self, feature: u32) -> Option<&Column> {
        self.feature_ids.binary_search(&feature).ok().map(|slot| &self.columns[slot])
    }

    /// The unrounded values of the feature with this id, as far as they were kept, if any document has it.
    pub fn f64_values_of(&self, feature: u32) -> Option<F64Values<'_>> {
        let slot = self.feature_ids.binary_search(&feature).ok()?;
        Some(F64Values { column: &self.columns[slot], unrounded: &self.unrounded[slot] })
    }

    /// The same documents with other feature ids. Each pair maps an old id to a new one, and features without a pair
    /// are dropped. Row keys do not change. Both ids of each pair must be unique.
    #[must_use]
    pub fn renumbered(mut self, pairs: &[(u32, u32)], mut names: Vec<(u32, String)>) -> Self {
        let columns = std::mem::take(&mut self.columns).into_iter().zip(std::mem::take(&mut self.unrounded));
        let mut columns: Vec<Option<(Column, Unrounded)>> = columns.map(Some).collect();
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable_by_key(|(_, new)| *new);
        names.sort();
        let taken = pairs.iter().filter_map(|(old, new)| {
            let slot = self.docs.feature_ids.binary_search(old).ok()?;
            Some((*new, columns[slot].take()?))
        });
        let (ids, columns): (Vec<u32>, Vec<(Column, Unrounded)>) = taken.unzip();
        let f64_features = std::mem::take(&mut self.docs.f64_features);
        let is_f64 = |(old, new): &(u32, u32)| f64_features.binary_search(old).is_ok().then_some(*new);
        self.docs.f64_features = pairs.iter().filter_map(is_f64).collect();
        self.docs.feature_ids = ids;
        self.docs.feature_names = names;
        (self.columns, self.unrounded) = columns.into_iter().unzip();
        self
    }
}

/// What a model can be trained on: documents with values, or with bins made earlier.
#[derive(Clone, Copy, Debug)]
pub enum TrainingData<'a> {
    /// With values.
    Values(&'a Dataset),
    /// With bins.
    Cached(&'a CachedDataset),
}

impl<'a> TrainingData<'a> {
    /// The documents.
    pub fn docs(self) -> &'a Documents {
        match self {
            Self::Values(data) => &data.docs,
            Self::Cached(data) => data.docs(),
        }
    }

    /// The documents with their feature values; `None` if there are only bins.
    pub fn values(self) -> Option<&'a Dataset> {
        match self {
            Self::Values(data) => Some(data),
            Self::Cached(_) => None,
        }
    }

    /// The bins of one member's part of the data, chosen from the data of all members. `share` must belong to these
    /// documents. It is an error if cached data was read with other parameters than `reading`.
    pub fn binned(
        self,
        share: &Share<'_>,
        reading: &ReadingParams,
        params: &BinningParams,
    ) -> Result<Binned<'a>, DataError> {
        let all_have_values = !share.any(self.values().is_none());
        match self {
            Self::Values(_) if !all_have_values => Err(DataError::CachedPart),
            Self::Values(data) => BinnedDataset::of_share(share, data, params).map(Binned::Made),
            Self::Cached(_) if !share.is_alone() => Err(DataError::CachedPart),
            Self::Cached(data) => data.binned(reading, params).map(Binned::Cached),
        }
    }
}

impl<'a> From<&'a Dataset> for TrainingData<'a> {
    fn from(data: &'a Dataset) -> Self {
        Self::Values(data)
    }
}

impl<'a> From<&'a CachedDataset> for TrainingData<'a> {
    fn from(data: &'a CachedDataset) -> Self {
        Self::Cached(data)
    }
}

/// Bins made now or earlier.
#[derive(Debug)]
pub enum Binned<'a> {
    /// Made now.
    Made(BinnedDataset),
    /// Made earlier.
    Cached(&'a BinnedDataset),
}

impl Deref for Binned<'_> {
    type Target = BinnedDataset;

    fn deref(&self) -> &BinnedDataset {
        match self {
            Self::Made(binned) => binned,
            Self::Cached(binned) => binned,
        }
    }
}

/// Data from a file: with values, or with bins.
#[derive(Clone, Debug)]
pub enum LoadedData {
    /// With values.
    Values(Dataset),
    /// With bins.
    Cached(CachedDataset),
}

impl LoadedData {
    /// Findings that are legal but suspicious.
    pub fn remarks(&self) -> Vec<Remark> {
        match self {
            Self::Values(data) => data.remarks(),
            Self::Cached(data) => data.remarks(),
        }
    }

    /// The data in the form that training takes.
    pub fn as_training_data(&self) -> TrainingData<'_> {
        match self {
            Self::Values(data) => TrainingData::Values(data),
            Self::Cached(data) => TrainingData::Cached(data),
        }
    }
}

impl<'a> From<&'a LoadedData> for TrainingData<'a> {
    fn from(data: &'a LoadedData) -> Self {
        data.as_training_data()
    }
}

impl Deref for LoadedData {
    type Target = Documents;

    fn deref(&self) -> &Documents {
        self.as_training_data().docs()
    }
}
