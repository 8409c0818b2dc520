//! Documents, queries, labels and pairs in one canonical order, and their bins. All random numbers and all sums of
//! floats in other crates come from here, so that results never depend on threads, machines or the order of the input.
//!
//! * [`Dataset::from_dense`], [`Dataset::from_columns`] and [`Dataset::from_csr`] take values in memory.
//! * [`DatasetBuilder`] takes rows in any order. [`Dataset`] holds them in canonical order ([`RowKey`]); [`Documents`]
//!   has everything but the feature values.
//! * [`BinnedDataset`] is what trees are grown from: one byte per document and feature.
//! * [`CachedDataset`] is a dataset with bins instead of values, for files; [`TrainingData`] is one or the other.
//! * [`Share`] is one member's part of the data in distributed training; [`Reduce`] is the only way members
//!   communicate.
//! * [`Draw`] is the only source of randomness; [`reduce`] is the only place where floats are summed across queries.
//! * [`Remark`] reports what is legal in a dataset but often a mistake.
//! * [`synth`] generates realistic data from a seed.
//!
//! This crate knows nothing of files, scores, metrics or models.
#![forbid(unsafe_code)]

mod binned;
mod binning;
mod builder;
mod cached;
mod columns;
mod dataset;
mod decimal;
mod documents;
mod error;
mod grid;
mod in_memory;
mod key;
mod members;
mod pairs;
mod profile;
mod random;
mod reading;
pub mod reduce;
mod remarks;
mod strings;
mod subset;
pub mod synth;

pub use binned::{BinnedDataset, SparseBins};
pub use binning::{BinningParams, BinningSpec, FeatureBins, SetBinning};
pub use builder::{Absent, ColumnValues, DatasetBuilder, Dictionary, MAX_ROWS, Row, RowBlock};
pub use cached::{CachedColumn, CachedDataset, CachedParts};
pub use columns::{Column, F64Values};
pub use dataset::{Binned, Dataset, LoadedData, TrainingData};
pub use decimal::telling_decimals;
pub use documents::{DocKeys, Documents, QueryView};
pub use error::{DataError, PairProblem};
pub use in_memory::{FeatureValue, ValuesBuilder};
pub use key::RowKey;
pub use members::{Alone, Reduce, Share};
pub use pairs::Pair;
pub use profile::{DataDrift, DataProfile, FeatureDrift, FeatureProfile, SharesBar, ValueBar, bars, drift};
pub use random::{Draw, Purpose};
pub use rankwise_simd::{SimdError, SimdLevel, simd_kernel};
pub use reading::{Keep, ReadingParams, ReadingSpec, SetReading};
pub use remarks::{Features, Queries, Remark};
pub use strings::StringTable;
