//! Random numbers as a pure function. A draw depends on the seed, its purpose, the tree and the key of its object,
//! never on the thread or the time. The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
//! 1, 2, 3", SC 2011).

use rankwise_simd::SimdLevel;
use rankwise_simd::philox::{Group, LANES, philox4x32, philox4x32_groups, philox4x32_lanes};

use crate::RowKey;

/// The purpose of a draw. Draws for different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Documents or queries in a tree's sample.
    Bagging = 1,
    /// Features available to a tree.
    TreeFeatures = 2,
    /// Features available to a node.
    NodeFeatures = 3,
    /// The order of documents with equal scores.
    Ties = 4,
    /// Synthetic data: what the features mean.
    SynthFeature = 5,
    /// Synthetic data: queries.
    SynthQuery = 6,
    /// Synthetic data: documents.
    SynthDocument = 7,
    /// The part of a split that a query is assigned to.
    Split = 8,
    /// Signs of the differences in a permutation test.
    Permutation = 9,
    /// Queries of a bootstrap sample.
    Resample = 10,
    /// Random numbers of objectives, by document.
    Objective = 11,
    /// Noise on the gradients of documents.
    GradientNoise = 12,
    /// Noise on the leaves of a tree.
    LeafNoise = 13,
    /// Trees to drop (DART).
    Dropout = 14,
    /// The fold of a query.
    Folds = 15,
    /// Values of parameters to try.
    Search = 16,
    /// Values of features exchanged between documents, and samples of documents to explain.
    Explanation = 17,
    /// Start weights of linear rankers, and the order in which they change.
    LinearWeights = 18,
    /// Weights of a neural ranker before training.
    FirstWeights = 24,
    /// The order of queries in an epoch.
    QueryOrder = 25,
    /// Noise on the inputs of documents.
    InputNoise = 26,
    /// Activations of documents to drop.
    UnitDropout = 27,
}

/// A family of draws: everything is fixed but the key.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    seed: u64,
    purpose: Purpose,
    tree: u32,
}

impl Draw {
    /// The draws for one purpose in one tree, or in whatever else is counted; 0 if nothing is.
    pub fn new(seed: u64, purpose: Purpose, tree: u32) -> Self {
        Self { seed, purpose, tree }
    }

    /// 128 random bits for a key. `ordinal`, taken modulo 2^24, distinguishes objects with equal keys.
    #[inline]
    pub fn bits(&self, key: u64, ordinal: u32) -> [u32; 4] {
        philox4x32([key as u32, (key >> 32) as u32, self.tree, self.tag(ordinal)], self.seed_words())
    }

    /// [`Self::bits`] for many keys, word by word. Inlined into vectorised kernels, it takes a fraction of the time.
    // A separate function would be compiled for the oldest supported machine only; and lanes are numbered.
    #[allow(clippy::inline_always, clippy::needless_range_loop)]
    #[inline(always)]
    pub fn bits_of<const N: usize>(&self, keys: &[u64; N], ordinals: &[u32; N]) -> [[u32; N]; 4] {
        let mut words = [[0; N]; 4];
        for lane in 0..N {
            words[0][lane] = keys[lane] as u32;
            words[1][lane] = (keys[lane] >> 32) as u32;
            words[2][lane] = self.tree;
            words[3][lane] = self.tag(ordinals[lane]);
        }
        philox4x32_lanes(words, self.seed_words())
    }

    fn tag(&self, ordinal: u32) -> u32 {
        (self.purpose as u32) << 24 | (ordinal & 0x00ff_ffff)
    }

    fn seed_words(&self) -> [u32; 2] {
        [self.seed as u32, (self.seed >> 32) as u32]
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn uniform(&self, key: u64, ordinal: u32) -> f64 {
        let [high, low, ..] = self.bits(key, ordinal);
        unit([high, low])
    }

    /// [`Self::uniform`] for many keys; `key` gives each key and its ordinal.
    pub fn uniforms_of(&self, level: SimdLevel, key: impl Fn(usize) -> (u64, u32), out: &mut [f64]) {
        const GROUPS: usize = 16;
        for (run, out) in out.chunks_mut(GROUPS * LANES).enumerate() {
            let mut groups: [Group; GROUPS] = [[[0; LANES]; 4]; GROUPS];
            for place in 0..out.len() {
                let (key, ordinal) = key(run * GROUPS * LANES + place);
                let (group, lane) = (&mut groups[place / LANES], place % LANES);
                group[0][lane] = key as u32;
                group[1][lane] = (key >> 32) as u32;
                group[2][lane] = self.tree;
                group[3][lane] = self.tag(ordinal);
            }
            philox4x32_groups(level, &mut groups[..out.len().div_ceil(LANES)], self.seed_words());
            for (out, group) in out.chunks_mut(LANES).zip(&groups) {
                for (lane, out) in out.iter_mut().enumerate() {
                    *out = unit([group[0][lane], group[1][lane]]);
                }
            }
        }
    }

    /// Uniform in [0, 1), for a row.
    pub fn row_uniform(&self, key: RowKey, ordinal: u32) -> f64 {
        self.uniform(key.low(), ordinal)
    }

    /// Two independent uniform numbers in (0, 1], so that their logarithms are finite.
    pub fn uniforms(&self, key: u64, ordinal: u32) -> [f64; 2] {
        let [a, b, c, d] = self.bits(key, ordinal);
        [1.0 - unit([a, b]), 1.0 - unit([c, d])]
    }

    /// Two independent standard normal numbers (Box-Muller).
    pub fn normals(&self, key: u64, ordinal: u32) -> [f64; 2] {
        let [first, second] = self.uniforms(key, ordinal);
        let radius = libm::sqrt(-2.0 * libm::log(first));
        let angle = std::f64::consts::TAU * (1.0 - second);
        [radius * libm::cos(angle), radius * libm::sin(angle)]
    }
}

/// 53 of 64 bits, as a number in [0, 1).
fn unit([high, low]: [u32; 2]) -> f64 {
    let word = u64::from(high) << 32 | u64::from(low);
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_differ_by_seed_purpose_tree_key_and_ordinal() {
        let base = Draw::new(1, Purpose::Bagging, 0).bits(7, 0);
        assert_ne!(base, Draw::new(2, Purpose::Bagging, 0).bits(7, 0));
        assert_ne!(base, Draw::new(1, Purpose::Ties, 0).bits(7, 0));
        assert_ne!(base, Draw::new(1, Purpose::Bagging, 1).bits(7, 0));
        assert_ne!(base, Draw::new(1, Purpose::Bagging, 0).bits(8, 0));
        assert_ne!(base, Draw::new(1, Purpose::Bagging, 0).bits(7, 1));
    }

    #[test]
    fn many_keys_at_a_time_draw_what_each_draws_alone() {
        let draw = Draw::new(u64::MAX / 3, Purpose::Objective, 7);
        let keys: [u64; 5] = [0, 1, u64::MAX, 1 << 40, 12_345_678_901_234];
        let ordinals = [0, 1, 2, 0x00ff_ffff, 9];
        let words = draw.bits_of(&keys, &ordinals);
        for lane in 0..keys.len() {
            assert_eq!(draw.bits(keys[lane], ordinals[lane]), words.map(|word| word[lane]));
        }
    }

    #[test]
    fn uniforms_of_many_keys_are_those_of_each() {
        let draw = Draw::new(17, Purpose::Bagging, 3);
        let key = |place: usize| ((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), place as u32 % 3);
        for level in SimdLevel::available() {
            for n_keys in [0, 1, 15, 16, 17, 256, 300] {
                let mut found = vec![0.0; n_keys];
                draw.uniforms_of(level, key, &mut found);
                let expected: Vec<f64> =
                    (0..n_keys).map(key).map(|(key, ordinal)| draw.uniform(key, ordinal)).collect();
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn uniform_and_normal_have_their_moments() {
        let draw = Draw::new(3, Purpose::SynthDocument, 0);
        let n = 20_000u32;
        let (mut mean, mut normal_mean, mut normal_square) = (0.0, 0.0, 0.0);
        for key in 0..n {
            mean += draw.uniform(key.into(), 0) / f64::from(n);
            for z in draw.normals(key.into(), 1) {
                normal_mean += z / f64::from(2 * n);
                normal_square += z * z / f64::from(2 * n);
            }
        }
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(normal_mean.abs() < 0.02, "{normal_mean}");
        assert!((normal_square - 1.0).abs() < 0.03, "{normal_square}");
    }
}
