//! Files of binned data, which training can read instead of text.
//!
//! ```text
//! RWCACHE1 | length, checksum, bytes | length, checksum, bytes | ...
//! ```
//!
//! The sections are the lists of [`CachedParts`] in a fixed order, with little-endian numbers and no compression. So a
//! file cannot claim to be larger than it is, and columns are read at memory speed. Even if the checksums are right,
//! the lists are not trusted.

mod sections;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rankwise_data::{Absent, BinningParams, CachedColumn, CachedDataset, CachedParts, Dataset, Pair, StringTable};

use self::sections::{Reader, Writer};
use crate::atomic::write_atomically;
use crate::byte_stream::ByteStream;
use crate::error::IoError;

/// The first bytes of every cache. A new layout gets a new number.
pub(crate) const MAGIC: &[u8] = b"RWCACHE1";

/// Writes the bins of a dataset and everything else that training needs.
pub fn write_cache(data: &Dataset, params: &BinningParams, path: &Path) -> Result<(), IoError> {
    let cached = CachedDataset::new(data, params).map_err(|source| IoError::Data { path: path.into(), source })?;
    let parts = cached.into_parts();
    write_atomically(path, |out| write_parts(&parts, out))
}

/// Reads a dataset with bins instead of values.
pub(crate) fn read_source(mut source: ByteStream<'_>, path: &Path) -> Result<CachedDataset, IoError> {
    let bytes = source.read_to_end()?;
    let damaged = |what: &'static str| IoError::Cache { path: PathBuf::from(path), what };
    CachedDataset::from_parts(read_parts(&bytes).map_err(damaged)?).map_err(damaged)
}

const WITH_QUERY_WEIGHTS: u64 = 1;
const WITH_WEIGHTS: u64 = 2;
const WITH_POSITIONS: u64 = 4;
const WITH_DOC_IDS: u64 = 8;
const ABSENT_IS_ZERO: u64 = 16;
const WITH_PROBABILITIES: u64 = 32;
/// Some features are f64; a list says which.
const WITH_F64_FEATURES: u64 = 64;

fn write_parts(parts: &CachedParts, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(MAGIC)?;
    let mut writer = Writer(out);
    let has_probabilities = parts.pairs.iter().any(|pair| pair.probability != 1.0);
    let flags = [
        (parts.query_weights.is_some(), WITH_QUERY_WEIGHTS),
        (parts.weights.is_some(), WITH_WEIGHTS),
        (parts.positions.is_some(), WITH_POSITIONS),
        (parts.doc_ids.is_some(), WITH_DOC_IDS),
        (parts.absent == Absent::Zero, ABSENT_IS_ZERO),
        (has_probabilities, WITH_PROBABILITIES),
        (parts.columns.iter().any(|column| column.is_f64), WITH_F64_FEATURES),
    ];
    let flags: u64 = flags.iter().filter(|(holds, _)| *holds).map(|(_, flag)| flag).sum();
    writer.u64s([flags, parts.max_bin as u64, parts.bin_construct_sample_cnt as u64])?;
    writer.strings(parts.qids.iter())?;
    writer.u32s(parts.sizes.iter().copied())?;
    writer.f32s(parts.query_weights.iter().flatten().copied())?;
    writer.f32s(parts.labels.iter().copied())?;
    writer.f32s(parts.weights.iter().flatten().copied())?;
    writer.u32s(parts.positions.iter().flatten().copied())?;
    writer.u32s(parts.pairs.iter().map(|pair| pair.winner))?;
    writer.u32s(parts.pairs.iter().map(|pair| pair.loser))?;
    writer.f32s(parts.pairs.iter().map(|pair| pair.weight))?;
    if has_probabilities {
        writer.f32s(parts.pairs.iter().map(|pair| pair.probability))?;
    }
    writer.strings(parts.doc_ids.iter().flat_map(StringTable::iter))?;
    writer.u128s(parts.keys.iter().copied())?;
    writer.u32s(parts.input_row.iter().copied())?;
    writer.u32s(parts.feature_ids.iter().copied())?;
    writer.u32s(parts.feature_names.iter().map(|(id, _)| *id))?;
    writer.strings(parts.feature_names.iter().map(|(_, name)| name.as_str()))?;
    writer.u32s(parts.columns.iter().map(|column| column.feature))?;
    writer.u32s(parts.columns.iter().map(|column| u32::from(column.has_missing)))?;
    if flags & WITH_F64_FEATURES != 0 {
        writer.u32s(parts.columns.iter().filter(|column| column.is_f64).map(|column| column.feature))?;
    }
    for column in &parts.columns {
        if column.is_f64 {
            writer.u64s(column.upper.iter().map(|bound| bound.to_bits()))?;
        } else {
            writer.f32s(column.upper.iter().map(|bound| *bound as f32))?;
        }
        writer.bytes(&column.bins)?;
    }
    Ok(())
}

/// The lists of a file; the error names the damaged list.
fn read_parts(bytes: &[u8]) -> Result<CachedParts, &'static str> {
    let mut reader = Reader(bytes.strip_prefix(MAGIC).ok_or("the beginning")?);
    let head = reader.u64s("the head")?;
    let [flags, max_bin, sample] = head[..] else { return Err("the head") };
    let number = |number: u64| usize::try_from(number).map_err(|_| "the head");
    let if_set = |flag: u64, values: Vec<f32>| (flags & flag != 0).then_some(values);
    let qids = reader.strings("the ids of the queries")?;
    let sizes = reader.u32s("the sizes of the queries")?;
    let query_weights = if_set(WITH_QUERY_WEIGHTS, reader.f32s("the weights of the queries")?);
    let labels = reader.f32s("the labels")?;
    let weights = if_set(WITH_WEIGHTS, reader.f32s("the weights of the documents")?);
    let positions = reader.u32s("the positions")?;
    let (winners, losers) = (reader.u32s("the pairs")?, reader.u32s("the pairs")?);
    let of_pairs = reader.f32s("the pairs")?;
    let probabilities =
        if flags & WITH_PROBABILITIES == 0 { vec![1.0; winners.len()] } else { reader.f32s("the pairs")? };
    if [losers.len(), of_pairs.len(), probabilities.len()] != [winners.len(); 3] {
        return Err("the pairs");
    }
    let pairs = winners.into_iter().zip(losers).zip(of_pairs.into_iter().zip(probabilities));
    let doc_ids = reader.strings("the ids of the documents")?;
    let keys = reader.u128s("the keys of the documents")?;
    let input_row = reader.u32s("the order of the input")?;
    let feature_ids = reader.u32s("the features")?;
    let named = reader.u32s("the names of the features")?;
    let names = reader.strings("the names of the features")?;
    if named.len() != names.len() {
        return Err("the names of the features");
    }
    Ok(CachedParts {
        absent: if flags & ABSENT_IS_ZERO == 0 { Absent::Missing } else { Absent::Zero },
        max_bin: number(max_bin)?,
        bin_construct_sample_cnt: number(sample)?,
        qids,
        sizes,
        query_weights,
        labels,
        weights,
        positions: (flags & WITH_POSITIONS != 0).then_some(positions),
        pairs: pairs
            .map(|((winner, loser), (weight, probability))| Pair { winner, loser, weight, probability })
            .collect(),
        doc_ids: (flags & WITH_DOC_IDS != 0).then_some(doc_ids),
        keys,
        input_row,
        feature_ids,
        feature_names: named.into_iter().zip(names.iter().map(Into::into)).collect(),
        columns: read_columns(&mut reader, flags & WITH_F64_FEATURES != 0)?,
    })
}

fn read_columns(reader: &mut Reader<'_>, has_f64: bool) -> Result<Vec<CachedColumn>, &'static str> {
    let features = reader.u32s("the features with bins")?;
    let missing = reader.u32s("the features with bins")?;
    if missing.len() != features.len() {
        return Err("the features with bins");
    }
    let f64_features = if has_f64 { reader.u32s("the features with bins")? } else { Vec::new() };
    let mut columns = Vec::new();
    for (feature, has_missing) in features.into_iter().zip(missing) {
        let is_f64 = f64_features.contains(&feature);
        let upper = if is_f64 {
            reader.u64s("the bounds of the bins")?.into_iter().map(f64::from_bits).collect()
        } else {
            reader.f32s("the bounds of the bins")?.into_iter().map(f64::from).collect()
        };
        let bins = reader.bytes("the bins")?.to_vec();
        columns.push(CachedColumn { feature, upper, is_f64, has_missing: has_missing != 0, bins });
    }
    reader.end().map(|()| columns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::synth::{Preset, SynthSpec};

    use super::*;

    fn file(rows: usize) -> (CachedParts, Vec<u8>) {
        let synth = SynthSpec { preset: Preset::Web, rows, features: Some(9), seed: 2 }.check().unwrap();
        let parts = CachedDataset::new(&synth.dataset(), &BinningParams::default()).unwrap().into_parts();
        let mut bytes = Vec::new();
        write_parts(&parts, &mut bytes).unwrap();
        (parts, bytes)
    }

    #[test]
    fn parts_come_back() {
        let (mut parts, bytes) = file(300);
        assert_eq!(read_parts(&bytes), Ok(parts.clone()));
        parts.weights = Some(vec![0.5; 300]);
        parts.query_weights = Some(vec![2.0; parts.sizes.len()]);
        parts.positions = Some((0..300).collect());
        parts.pairs = vec![Pair { weight: 3.0, probability: 0.25, ..Pair::new(0, 1) }];
        parts.doc_ids = Some((0..300).map(|_| "é").collect());
        parts.feature_names = vec![(0, "price".into()), (3, String::new())];
        parts.absent = Absent::Zero;
        let mut bytes = Vec::new();
        write_parts(&parts, &mut bytes).unwrap();
        assert_eq!(read_parts(&bytes), Ok(parts));
    }

    #[test]
    fn no_byte_can_change_unseen() {
        let (_, bytes) = file(40);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(read_parts(&damaged).is_err(), "byte {at}");
            assert!(read_parts(&bytes[..at]).is_err(), "cut at {at}");
        }
        assert_eq!(read_parts(&[&bytes[..], b"x"].concat()), Err("the end"));
    }

    proptest! {
        /// A file with valid checksums can still contain anything.
        #[test]
        fn lists_of_a_stranger_do_no_harm(
            section in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
        ) {
            let (_, bytes) = file(40);
            let mut reader = Reader(&bytes[MAGIC.len()..]);
            let mut sections: Vec<Vec<u8>> = Vec::new();
            while let Ok(section) = reader.bytes("") {
                sections.push(section.to_vec());
            }
            let section = section.index(sections.len());
            let spoilt = &mut sections[section];
            if !spoilt.is_empty() {
                let at = at.index(spoilt.len());
                spoilt[at] = byte;
                if cut {
                    spoilt.truncate(at);
                }
            }
            let mut file = MAGIC.to_vec();
            let mut writer = Writer(&mut file);
            sections.iter().try_for_each(|section| writer.bytes(section)).unwrap();
            if let Ok(data) = read_parts(&file).and_then(CachedDataset::from_parts) {
                prop_assert!(data.queries().map(|query| query.n_docs()).sum::<usize>() == data.n_rows());
            }
        }
    }
}
