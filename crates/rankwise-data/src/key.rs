//! The key of a row, by which data is put into canonical order.

use xxhash_rust::xxh3::xxh3_128;

/// A 128-bit hash of everything in a row. Rows with equal keys are interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey(u128);

impl RowKey {
    /// 64 of the bits, for random numbers.
    pub fn low(self) -> u64 {
        self.0 as u64
    }

    /// The whole key as a number, for fingerprints.
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// Turns a number back into a key.
    pub(crate) fn from_u128(key: u128) -> Self {
        Self(key)
    }

    /// The key of a document that is identified by its ids alone.
    pub fn of_ids(qid: &str, doc_id: &str) -> Self {
        let mut bytes = KeyBytes::default();
        bytes.text(qid);
        bytes.text(doc_id);
        bytes.finish()
    }

    /// The hash of some bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self(xxh3_128(bytes))
    }

    /// The key of a query.
    pub fn of_query(qid: &str) -> Self {
        Self(xxh3_128(qid.as_bytes()))
    }
}

/// Encodes the fields of a row for the hash. The framing makes sure that no two rows have the same encoding.
#[derive(Default)]
pub(crate) struct KeyBytes(Vec<u8>);

impl KeyBytes {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    pub(crate) fn number(&mut self, value: f32) {
        self.0.extend(canonical_bits(value).to_le_bytes());
    }

    pub(crate) fn integer(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn wide(&mut self, value: u128) {
        self.0.extend(value.to_le_bytes());
    }

    pub(crate) fn key(&mut self, key: RowKey) {
        self.wide(key.0);
    }

    /// Hashing many small pieces is slow, so several are gathered first.
    pub(crate) fn features(&mut self, features: impl Iterator<Item = (u32, f32)>) {
        let mut cells = [[0; FEATURE_BYTES]; 64];
        let mut filled = 0;
        for (feature, value) in features {
            if filled == cells.len() {
                self.0.extend_from_slice(cells.as_flattened());
                filled = 0;
            }
            cells[filled] = feature_bytes(feature, canonical_bits(value));
            filled += 1;
        }
        self.0.extend_from_slice(cells[..filled].as_flattened());
    }

    /// The values of f64 features, after all others.
    pub(crate) fn wide_features(&mut self, features: impl Iterator<Item = (u32, f64)>) {
        for (feature, value) in features {
            // No feature has this id, so the following values cannot be mistaken for f32 features.
            self.integer(u32::MAX);
            self.integer(feature);
            // Adding +0 turns -0 into 0.
            self.0.extend((value + 0.0).to_bits().to_le_bytes());
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn finish(&self) -> RowKey {
        RowKey::of_bytes(&self.0)
    }
}

/// An id and the bits of a value.
pub(crate) const FEATURE_BYTES: usize = 8;

/// A feature as it enters the hash.
pub(crate) fn feature_bytes(feature: u32, bits: u32) -> [u8; FEATURE_BYTES] {
    (u64::from(feature) | u64::from(bits) << 32).to_le_bytes()
}

/// One bit pattern per value: -0 is 0, and all NaN are the same.
pub(crate) fn canonical_bits(value: f32) -> u32 {
    // Adding +0 turns -0 into 0 and changes nothing else.
    let bits = (value + 0.0).to_bits();
    if value.is_nan() { f32::NAN.to_bits() } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_and_zero_signs_do_not_confuse_keys() {
        assert_ne!(RowKey::of_ids("ab", "c"), RowKey::of_ids("a", "bc"));
        let key = |value: f32| {
            let mut bytes = KeyBytes::default();
            bytes.features([(1, value)].into_iter());
            bytes.finish()
        };
        assert_eq!(key(0.0), key(-0.0));
        assert_ne!(key(0.0), key(1.0));
    }
}
