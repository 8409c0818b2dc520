//! Streams of random numbers, and a few formulas that all populations share. Each stream belongs to one object (a
//! query, a document, a feature), so its values never depend on what else was generated.

use crate::{Draw, Purpose};

/// The seed for the meaning of features. It is independent of the caller's seed: two seeds give two samples of one
/// population.
const POPULATION_SEED: u64 = 0x5eed_0f6d_6561_6e73;

/// A sequence of random numbers for one key.
pub(super) struct Noise {
    draw: Draw,
    key: u64,
    ordinal: u32,
    spare: Option<f64>,
}

impl Noise {
    fn new(draw: Draw, key: u64) -> Self {
        Self { draw, key, ordinal: 0, spare: None }
    }

    /// Random numbers for a query. `part` distinguishes independent streams of one query.
    pub(super) fn of_query(seed: u64, query: usize, part: u32) -> Self {
        Self::new(Draw::new(seed, Purpose::SynthQuery, part), query as u64)
    }

    /// Random numbers for a document. There are at most 2^30 queries and documents, so keys never repeat.
    pub(super) fn of_document(seed: u64, query: usize, doc: usize, part: u32) -> Self {
        Self::new(Draw::new(seed, Purpose::SynthDocument, part), (query as u64) << 32 | doc as u64)
    }

    /// Random numbers for the meaning of a feature. `part` distinguishes kinds of objects that `idx` counts.
    pub(super) fn of_feature(idx: usize, part: u32) -> Self {
        Self::new(Draw::new(POPULATION_SEED, Purpose::SynthFeature, part), idx as u64)
    }

    /// A standard normal number.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let [first, second] = self.draw.normals(self.key, self.ordinal);
        self.ordinal += 1;
        self.spare = Some(second);
        first
    }

    /// Four uniform numbers in [0, 1), with 32 bits each.
    pub(super) fn uniforms(&mut self) -> [f64; 4] {
        let bits = self.draw.bits(self.key, self.ordinal);
        self.ordinal += 1;
        bits.map(|word| f64::from(word) * (1.0 / 4_294_967_296.0))
    }

    /// A uniform number between two bounds.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniforms()[0]
    }
}

/// From the whole line to (0, 1).
pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// A count with logarithm `log`, rounded down and at most `limit`: most are small, some huge, and 0 if `log` is
/// negative.
pub(super) fn count(log: f64, limit: f64) -> f64 {
    if log < 0.0 { 0.0 } else { libm::floor(libm::exp(log)).min(limit) }
}

/// Rounds to at most six decimals, as in files of ranking data.
pub(super) fn six_decimals(value: f64) -> f32 {
    // Integers would not change, and f32 numbers beyond 2^40 have no such decimals.
    if value.abs() >= (1u64 << 40) as f64 {
        return value as f32;
    }
    let scaled = value * 1e6;
    let rounded = (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i64;
    (rounded as f64 / 1e6) as f32
}

/// The grade of a utility: the number of ascending thresholds it reaches.
pub(super) fn grade(utility: f64, thresholds: &[f64]) -> f32 {
    thresholds.iter().filter(|threshold| utility >= **threshold).count() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_six_decimals() {
        assert_eq!(six_decimals(1.0 / 52.0).to_string(), "0.019231");
        assert_eq!(six_decimals(-22.076_927_9).to_string(), "-22.076927");
        assert_eq!(six_decimals(0.000_000_4), 0.0);
        assert_eq!(six_decimals(226_244_459.0), 226_244_459.0);
        assert_eq!(six_decimals(1e30), 1e30);
    }

    #[test]
    fn counts_are_whole_and_bounded() {
        assert_eq!(count(-0.1, 9.0), 0.0);
        assert_eq!(count(0.0, 9.0), 1.0);
        assert_eq!(count(2.0, 100.0), 7.0);
        assert_eq!(count(800.0, 100.0), 100.0);
    }

    #[test]
    fn grades_count_thresholds() {
        assert_eq!([-1.0, 0.0, 0.5, 7.0].map(|utility| grade(utility, &[0.0, 1.0])), [0.0, 1.0, 1.0, 2.0]);
    }
}
