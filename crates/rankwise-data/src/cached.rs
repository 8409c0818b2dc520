//! A dataset with bins instead of values: what training needs, in a seventh of the memory and without parsing text.
//!
//! [`CachedParts`] is such a dataset split into plain lists, for files. Lists from a file are not trusted:
//! [`CachedDataset::from_parts`] checks everything that the rest of the library relies on.

use std::ops::Deref;

use rankwise_params::ParamValue as _;

use crate::documents::Identity;
use crate::{
    Absent, BinnedDataset, BinningParams, DataError, Dataset, Documents, FeatureBins, MAX_ROWS, Pair, ReadingParams,
    RowKey, StringTable,
};

/// Queries and their documents, with bins instead of feature values. Enough to train, but it has no values to score.
#[derive(Clone, Debug)]
pub struct CachedDataset {
    docs: Documents,
    max_bin: usize,
    bin_construct_sample_cnt: usize,
    binned: BinnedDataset,
}

impl Deref for CachedDataset {
    type Target = Documents;

    fn deref(&self) -> &Documents {
        &self.docs
    }
}

/// A cached dataset as plain lists, in canonical order.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedParts {
    /// The meaning of absent features.
    pub absent: Absent,
    /// The parameters of binning.
    pub max_bin: usize,
    /// See `max_bin`.
    pub bin_construct_sample_cnt: usize,
    /// The ids of the queries.
    pub qids: StringTable,
    /// The number of documents of each query.
    pub sizes: Vec<u32>,
    /// Weights of the queries.
    pub query_weights: Option<Vec<f32>>,
    /// Labels of the documents.
    pub labels: Vec<f32>,
    /// Weights of the documents.
    pub weights: Option<Vec<f32>>,
    /// The positions at which documents were shown.
    pub positions: Option<Vec<u32>>,
    /// Preferences between documents.
    pub pairs: Vec<Pair>,
    /// Ids of the documents.
    pub doc_ids: Option<StringTable>,
    /// Keys of the documents.
    pub keys: Vec<u128>,
    /// The input row of each document.
    pub input_row: Vec<u32>,
    /// The features of the data, ascending.
    pub feature_ids: Vec<u32>,
    /// Names of features, by id.
    pub feature_names: Vec<(u32, String)>,
    /// The features that are not constant, and their bins.
    pub columns: Vec<CachedColumn>,
}

/// The bins of one feature.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedColumn {
    /// The feature.
    pub feature: u32,
    /// The upper bounds of its bins.
    pub upper: Vec<f64>,
    /// Whether the bounds are for f64 values; otherwise they are for f32.
    pub is_f64: bool,
    /// Whether a missing value was seen when the bins were chosen.
    pub has_missing: bool,
    /// The bin of each document.
    pub bins: Vec<u8>,
}

impl CachedDataset {
    /// Bins a dataset.
    pub fn new(data: &Dataset, params: &BinningParams) -> Result<Self, DataError> {
        let binned = BinnedDataset::new(data, params)?;
        Ok(Self::of_binned(data.docs.clone(), binned, params))
    }

    /// Documents with bins that were made with these parameters.
    pub(crate) fn of_binned(docs: Documents, binned: BinnedDataset, params: &BinningParams) -> Self {
        let (max_bin, bin_construct_sample_cnt) = (params.max_bin, params.bin_construct_sample_cnt);
        Self { docs, max_bin, bin_construct_sample_cnt, binned }
    }

    /// The documents.
    pub fn docs(&self) -> &Documents {
        &self.docs
    }

    /// The bins. It is an error if they were made with other parameters than these.
    pub fn binned(&self, reading: &ReadingParams, params: &BinningParams) -> Result<&BinnedDataset, DataError> {
        let (then, now) = (self.bin_construct_sample_cnt, params.bin_construct_sample_cnt);
        let parameters = [
            ("absent", self.absent().render(), reading.absent.render()),
            ("max_bin", self.max_bin.render(), params.max_bin.render()),
            ("bin_construct_sample_cnt", then.render(), now.render()),
        ];
        match parameters.into_iter().find(|(_, then, now)| then != now) {
            Some((name, then, now)) => Err(DataError::CachedWith { name, then, now }),
            None => Ok(&self.binned),
        }
    }

    /// Splits the dataset into plain lists.
    pub fn into_parts(self) -> CachedParts {
        let docs = self.docs;
        CachedParts {
            absent: docs.absent,
            max_bin: self.max_bin,
            bin_construct_sample_cnt: self.bin_construct_sample_cnt,
            qids: docs.qids,
            sizes: docs.bounds.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect(),
            query_weights: docs.query_weights,
            labels: docs.labels,
            weights: docs.weights,
            positions: docs.positions,
            pairs: docs.pairs,
            doc_ids: docs.doc_ids,
            keys: docs.keys.iter().map(|key| key.as_u128()).collect(),
            input_row: docs.input_row,
            feature_ids: docs.feature_ids,
            feature_names: docs.feature_names,
            columns: self.binned.into_columns(),
        }
    }

    /// Builds a dataset from plain lists. The error says which list is invalid.
    pub fn from_parts(parts: CachedParts) -> Result<Self, &'static str> {
        let bounds = check_rows(&parts)?;
        check_features(&parts)?;
        let f64_features = parts.columns.iter().filter(|column| column.is_f64).map(|column| column.feature).collect();
        let keys: Vec<RowKey> = parts.keys.iter().map(|key| RowKey::from_u128(*key)).collect();
        let binned = BinnedDataset::from_columns_of(parts.columns, parts.labels.len());
        let docs = Documents {
            absent: parts.absent,
            fingerprint: parts.keys.iter().fold(0, |sum, key| sum.wrapping_add(*key)),
            identity: Identity::new(&parts.qids, &bounds, parts.doc_ids.as_ref(), &keys),
            qids: parts.qids,
            bounds,
            query_weights: parts.query_weights,
            labels: parts.labels,
            weights: parts.weights,
            positions: parts.positions,
            pairs: parts.pairs,
            doc_ids: parts.doc_ids,
            keys,
            input_row: parts.input_row,
            feature_ids: parts.feature_ids,
            feature_names: parts.feature_names,
            f64_features,
        };
        let (max_bin, bin_construct_sample_cnt) = (parts.max_bin, parts.bin_construct_sample_cnt);
        Ok(Self { docs, max_bin, bin_construct_sample_cnt, binned })
    }
}

fn ensure(holds: bool, what: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(what) }
}

fn ascends<T: PartialOrd>(items: impl Iterator<Item = T>) -> bool {
    items.is_sorted_by(|a, b| a < b)
}

fn is_amount(number: f32) -> bool {
    number.is_finite() && number >= 0.0
}

/// Checks everything about rows and queries, and returns the bounds of the queries.
fn check_rows(parts: &CachedParts) -> Result<Vec<usize>, &'static str> {
    let n_rows = parts.labels.len();
    ensure((1..=MAX_ROWS).contains(&n_rows), "the number of documents")?;
    ensure(parts.labels.iter().all(|label| is_amount(*label)), "the labels")?;
    let mut bounds = vec![0];
    for size in &parts.sizes {
        ensure(*size > 0 && *size as usize <= n_rows - bounds[bounds.len() - 1], "the sizes of the queries")?;
        bounds.push(bounds[bounds.len() - 1] + *size as usize);
    }
    ensure(bounds[bounds.len() - 1] == n_rows, "the sizes of the queries")?;
    let n_queries = parts.sizes.len();
    ensure(parts.qids.len() == n_queries && ascends(parts.qids.iter().map(str::as_bytes)), "the ids of the queries")?;
    let in_order = |query: &[usize]| parts.keys[query[0]..query[1]].is_sorted();
    ensure(parts.keys.len() == n_rows && bounds.windows(2).all(in_order), "the keys of the documents")?;
    ensure(is_permutation(&parts.input_row, n_rows), "the order of the input")?;
    ensure(parts.doc_ids.as_ref().is_none_or(|ids| ids.len() == n_rows), "the ids of the documents")?;
    ensure(parts.positions.as_ref().is_none_or(|positions| positions.len() == n_rows), "the positions")?;
    let are_amounts = |weights: &Option<Vec<f32>>, len: usize| {
        weights.as_ref().is_none_or(|weights| weights.len() == len && weights.iter().all(|weight| is_amount(*weight)))
    };
    ensure(are_amounts(&parts.weights, n_rows), "the weights of the documents")?;
    ensure(are_amounts(&parts.query_weights, n_queries), "the weights of the queries")?;
    ensure(products_are_finite(parts, &bounds), "the weights of the documents")?;
    ensure(pairs_fit(&parts.pairs, &bounds), "the pairs")?;
    Ok(bounds)
}

fn products_are_finite(parts: &CachedParts, bounds: &[usize]) -> bool {
    let (Some(weights), Some(of_queries)) = (&parts.weights, &parts.query_weights) else { return true };
    let mut queries = bounds.windows(2).zip(of_queries);
    queries.all(|(rows, of_query)| weights[rows[0]..rows[1]].iter().all(|weight| (weight * of_query).is_finite()))
}

fn is_permutation(rows: &[u32], n_rows: usize) -> bool {
    let mut is_seen = vec![false; n_rows];
    let mut is_new = |row: &u32| is_seen.get_mut(*row as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    rows.len() == n_rows && rows.iter().all(&mut is_new)
}

fn pairs_fit(pairs: &[Pair], bounds: &[usize]) -> bool {
    let query_of = |row: u32| bounds.partition_point(|bound| *bound <= row as usize);
    let fits = |pair: &Pair| {
        (pair.winner.max(pair.loser) as usize) < bounds[bounds.len() - 1]
            && pair.winner != pair.loser
            && query_of(pair.winner) == query_of(pair.loser)
            && is_amount(pair.weight)
            && (0.0..=1.0).contains(&pair.probability)
    };
    pairs.iter().all(fits) && pairs.is_sorted_by_key(|pair| (pair.winner, pair.loser))
}

fn check_features(parts: &CachedParts) -> Result<(), &'static str> {
    ensure(ascends(parts.feature_ids.iter()), "the features")?;
    ensure(ascends(parts.feature_names.iter().map(|(id, _)| id)), "the names of the features")?;
    ensure(ascends(parts.columns.iter().map(|column| column.feature)), "the features with bins")?;
    for column in &parts.columns {
        ensure(parts.feature_ids.binary_search(&column.feature).is_ok(), "the features with bins")?;
        let bins = FeatureBins::from_upper(column.upper.clone(), column.is_f64, column.has_missing)
            .ok_or("the bounds of the bins")?;
        ensure(!bins.is_constant() && column.upper.len() <= parts.max_bin, "the bounds of the bins")?;
        let n_rows = parts.labels.len();
        ensure(column.bins.len() == n_rows, "the bins")?;
        ensure(column.bins.iter().all(|bin| *bin <= bins.missing_bin()), "the bins")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{Preset, SynthSpec};
    use crate::{BinningSpec, DatasetBuilder, ReadingSpec, Row};

    fn params(max_bin: usize) -> BinningParams {
        BinningSpec { max_bin, ..BinningSpec::default() }.check().unwrap()
    }

    fn tiny() -> CachedParts {
        let mut builder = DatasetBuilder::default();
        for (qid, label, value) in [("a", 1.0, 3.0), ("b", 0.0, 1.0), ("a", 0.0, 2.0), ("b", 2.0, 1.5)] {
            builder.push(&Row { qid, label, features: &[(4, value), (7, 1.0)], ..Row::default() }).unwrap();
        }
        builder.row_weights(vec![1.0, 2.0, 3.0, 4.0]);
        builder.query_weights(vec![1.0, 2.0]);
        CachedDataset::new(&builder.finish().unwrap(), &params(255)).unwrap().into_parts()
    }

    #[test]
    fn what_was_taken_apart_comes_together_again() {
        let synth = SynthSpec { preset: Preset::Web, rows: 2000, features: Some(30), seed: 5 }.check().unwrap();
        let data = synth.dataset();
        let cached = CachedDataset::new(&data, &params(63)).unwrap();
        let parts = cached.clone().into_parts();
        let again = CachedDataset::from_parts(parts.clone()).unwrap();
        assert_eq!(
            (again.fingerprint(), again.labels(), again.bounds()),
            (data.fingerprint(), data.labels(), data.bounds())
        );
        assert_eq!(again.feature_ids(), data.feature_ids());
        let (then, now) = (
            BinnedDataset::new(&data, &params(63)).unwrap(),
            again.binned(&ReadingParams::default(), &params(63)).unwrap(),
        );
        for feature in 0..then.n_features() {
            assert_eq!((then.column(feature), then.bins(feature)), (now.column(feature), now.bins(feature)));
        }
        assert_eq!(
            again.binned(&ReadingParams::default(), &params(255)).unwrap_err(),
            DataError::CachedWith { name: "max_bin", then: "63".into(), now: "255".into() }
        );
        let zero = ReadingSpec { absent: Absent::Zero }.check().unwrap();
        assert_eq!(
            again.binned(&zero, &params(63)).unwrap_err(),
            DataError::CachedWith { name: "absent", then: "missing".into(), now: "zero".into() }
        );
        assert_eq!(again.into_parts(), parts);
    }

    #[test]
    fn lists_that_make_no_sense_are_named() {
        type Spoil = fn(&mut CachedParts);
        let spoils: [(Spoil, &str); 23] = [
            (|parts| parts.labels.clear(), "the number of documents"),
            (|parts| parts.labels[0] = -1.0, "the labels"),
            (|parts| parts.labels[0] = f32::NAN, "the labels"),
            (|parts| parts.sizes[0] = 3, "the sizes of the queries"),
            (|parts| parts.sizes[0] = 0, "the sizes of the queries"),
            (|parts| parts.sizes[1] = u32::MAX, "the sizes of the queries"),
            (|parts| parts.qids = ["b", "a"].into_iter().collect(), "the ids of the queries"),
            (|parts| parts.qids = ["a"].into_iter().collect(), "the ids of the queries"),
            (|parts| parts.keys.swap(0, 1), "the keys of the documents"),
            (|parts| parts.input_row[0] = parts.input_row[1], "the order of the input"),
            (|parts| parts.input_row[0] = 9, "the order of the input"),
            (|parts| parts.doc_ids = Some(["x"].into_iter().collect()), "the ids of the documents"),
            (|parts| parts.positions = Some(vec![1]), "the positions"),
            (|parts| parts.weights = Some(vec![f32::INFINITY; 4]), "the weights of the documents"),
            (|parts| parts.query_weights = Some(vec![1.0]), "the weights of the queries"),
            (|parts| parts.query_weights = Some(vec![f32::MAX; 2]), "the weights of the documents"),
            (|parts| parts.pairs = vec![Pair::new(0, 2)], "the pairs"),
            (|parts| parts.pairs = vec![Pair { probability: 2.0, ..Pair::new(0, 1) }], "the pairs"),
            (|parts| parts.feature_ids.reverse(), "the features"),
            (|parts| parts.columns[0].feature = 5, "the features with bins"),
            (|parts| parts.columns[0].upper.reverse(), "the bounds of the bins"),
            (|parts| parts.columns[0].bins[0] = 200, "the bins"),
            (|parts| parts.columns[0].bins.truncate(3), "the bins"),
        ];
        assert!(CachedDataset::from_parts(tiny()).is_ok());
        for (idx, (spoil, what)) in spoils.into_iter().enumerate() {
            let mut parts = tiny();
            spoil(&mut parts);
            assert_eq!(CachedDataset::from_parts(parts).err(), Some(what), "case {idx}");
        }
    }
}
