//! Documents and queries with the same values.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::all_values;
use crate::{Dataset, Documents};

/// Documents with the same values as another one of their query.
pub(super) struct Copies {
    pub(super) n_copies: usize,
    pub(super) n_contradictions: usize,
}

/// A hash of each document's values of some features. Missing values are equal to each other.
pub(super) fn row_hashes(data: &Dataset, features: &[u32]) -> Vec<u64> {
    let mut hashes = vec![0; data.n_rows()];
    for feature in features {
        let Some(column) = data.f64_values_of(*feature) else { continue };
        for (hash, value) in hashes.iter_mut().zip(all_values(column, data.n_rows())) {
            let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
            *hash = xxh3_64_with_seed(&bits.to_le_bytes(), *hash);
        }
    }
    hashes
}

/// A hash of each query's documents, in any order.
pub(super) fn query_hashes(docs: &Documents, rows: &[u64]) -> Vec<u64> {
    let of_query = |query: usize| {
        let mut hashes = rows[docs.query_rows(query)].to_vec();
        hashes.sort_unstable();
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        xxh3_64(&bytes)
    };
    (0..docs.n_queries()).map(of_query).collect()
}

pub(super) fn copies(docs: &Documents, rows: &[u64]) -> Copies {
    let mut found = Copies { n_copies: 0, n_contradictions: 0 };
    for query in 0..docs.n_queries() {
        let range = docs.query_rows(query);
        let mut docs: Vec<(u64, f32)> = range.clone().map(|row| (rows[row], docs.labels()[row])).collect();
        docs.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for equal in docs.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
            found.n_copies += equal.len();
            found.n_contradictions += if equal[0].1 == equal[equal.len() - 1].1 { 0 } else { equal.len() };
        }
    }
    found
}
