//! Damages samples for tests: replaces, inserts, removes or repeats bytes.

use proptest::prelude::*;

/// The kind of edit, its place, and a byte.
pub(crate) type Edit = (u8, prop::sample::Index, u8);

/// Maximum number of repetitions.
const REPEATED: usize = 20;

/// A few edits, some with bytes that have a meaning in the format.
pub(crate) fn edits(meaningful: &'static [u8]) -> impl Strategy<Value = Vec<Edit>> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(meaningful)];
    prop::collection::vec((0..4u8, any::<prop::sample::Index>(), byte), 0..12)
}

/// The text after the edits.
pub(crate) fn damaged(mut text: Vec<u8>, edits: Vec<Edit>) -> Vec<u8> {
    for (kind, place, byte) in edits {
        let at = place.index(text.len());
        match kind {
            0 => text[at] = byte,
            1 => text.insert(at, byte),
            2 if text.len() > 1 => drop(text.remove(at)),
            _ => text.extend_from_within(at..(at + REPEATED).min(text.len())),
        }
    }
    text
}
