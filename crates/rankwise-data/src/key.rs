//! The identity of a row: what makes the order of data canonical.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_128};

/// A 128-bit hash of everything that a row says. Rows with equal keys are interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey(u128);

impl RowKey {
    /// 64 of the bits, for draws.
    pub fn low(self) -> u64 {
        self.0 as u64
    }

    /// The whole key as a number, for fingerprints.
    pub fn as_u128(self) -> u128 {
        self.0
    }

    /// A key that was a number for a while.
    pub(crate) fn from_u128(key: u128) -> Self {
        Self(key)
    }

    /// The key of a document that its ids alone identify.
    pub fn of_ids(qid: &str, doc_id: &str) -> Self {
        let mut hasher = KeyHasher::default();
        hasher.text(qid);
        hasher.text(doc_id);
        hasher.finish()
    }

    /// The key of a query.
    pub fn of_query(qid: &str) -> Self {
        Self(xxh3_128(qid.as_bytes()))
    }
}

/// Feeds the fields of a row to the hash, each so framed that no two rows spell the same bytes.
#[derive(Default)]
pub(crate) struct KeyHasher {
    state: Xxh3Default,
}

impl KeyHasher {
    pub(crate) fn text(&mut self, text: &str) {
        self.state.update(&(text.len() as u64).to_le_bytes());
        self.state.update(text.as_bytes());
    }

    pub(crate) fn number(&mut self, value: f32) {
        self.state.update(&canonical_bits(value).to_le_bytes());
    }

    pub(crate) fn integer(&mut self, value: u32) {
        self.state.update(&value.to_le_bytes());
    }

    pub(crate) fn wide(&mut self, value: u128) {
        self.state.update(&value.to_le_bytes());
    }

    pub(crate) fn key(&mut self, key: RowKey) {
        self.wide(key.0);
    }

    /// Many small pieces cost more than they hold, so they are gathered; the hash does not depend on how.
    pub(crate) fn features(&mut self, features: impl Iterator<Item = (u32, f32)>) {
        let mut buffer = [0; FEATURE_BYTES * 128];
        let mut filled = 0;
        for (feature, value) in features {
            if filled == buffer.len() {
                self.state.update(&buffer);
                filled = 0;
            }
            buffer[filled..filled + FEATURE_BYTES].copy_from_slice(&feature_bytes(feature, value));
            filled += FEATURE_BYTES;
        }
        self.state.update(&buffer[..filled]);
    }

    /// Features that were turned into bytes before.
    pub(crate) fn feature_bytes(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    pub(crate) fn finish(&self) -> RowKey {
        RowKey(self.state.digest128())
    }
}

/// An id and the bits of a value.
pub(crate) const FEATURE_BYTES: usize = 8;

/// A feature as it enters the hash.
pub(crate) fn feature_bytes(feature: u32, value: f32) -> [u8; FEATURE_BYTES] {
    (u64::from(feature) | u64::from(canonical_bits(value)) << 32).to_le_bytes()
}

/// One pattern of bits per value: -0 is 0, every NaN the same.
fn canonical_bits(value: f32) -> u32 {
    if value == 0.0 {
        0
    } else if value.is_nan() {
        f32::NAN.to_bits()
    } else {
        value.to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_and_zero_signs_do_not_confuse_keys() {
        assert_ne!(RowKey::of_ids("ab", "c"), RowKey::of_ids("a", "bc"));
        let key = |value: f32| {
            let mut hasher = KeyHasher::default();
            hasher.features([(1, value)].into_iter());
            hasher.finish()
        };
        assert_eq!(key(0.0), key(-0.0));
        assert_ne!(key(0.0), key(1.0));
    }
}
