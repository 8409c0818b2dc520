//! Random numbers as a pure function. A draw depends on the seed, its purpose, the tree and the key of its object,
//! never on the thread or the time. The generator is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
//! 1, 2, 3", SC 2011).

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
        let mut key = self.seed_words();
        for _ in 0..ROUNDS {
            for lane in 0..N {
                let [a, b, c, d] = philox_round([words[0][lane], words[1][lane], words[2][lane], words[3][lane]], key);
                (words[0][lane], words[1][lane], words[2][lane], words[3][lane]) = (a, b, c, d);
            }
            key = next_key(key);
        }
        words
    }

    fn tag(&self, ordinal: u32) -> u32 {
        (self.purpose as u32) << 24 | (ordinal & 0x00ff_ffff)
    }

    fn seed_words(&self) -> [u32; 2] {
        [self.seed as u32, (self.seed >> 32) as u32]
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn uniform(&self, key: u64, ordinal: u32) -> f64 {
        unit(self.bits(key, ordinal), 0)
    }

    /// Uniform in [0, 1), for a row.
    pub fn row_uniform(&self, key: RowKey, ordinal: u32) -> f64 {
        self.uniform(key.low(), ordinal)
    }

    /// Two independent uniform numbers in (0, 1], so that their logarithms are finite.
    pub fn uniforms(&self, key: u64, ordinal: u32) -> [f64; 2] {
        let bits = self.bits(key, ordinal);
        [1.0 - unit(bits, 0), 1.0 - unit(bits, 2)]
    }

    /// Two independent standard normal numbers (Box-Muller).
    pub fn normals(&self, key: u64, ordinal: u32) -> [f64; 2] {
        let [first, second] = self.uniforms(key, ordinal);
        let radius = libm::sqrt(-2.0 * libm::log(first));
        let angle = std::f64::consts::TAU * (1.0 - second);
        [radius * libm::cos(angle), radius * libm::sin(angle)]
    }
}

/// 53 of the 64 bits at `at`, as a number in [0, 1).
fn unit(bits: [u32; 4], at: usize) -> f64 {
    let word = u64::from(bits[at]) << 32 | u64::from(bits[at + 1]);
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[inline]
fn philox4x32(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        counter = philox_round(counter, key);
        key = next_key(key);
    }
    counter
}

const ROUNDS: usize = 10;

#[allow(clippy::inline_always)]
#[inline(always)]
fn philox_round(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
    let first = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
    let second = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
    [
        (second >> 32) as u32 ^ counter[1] ^ key[0],
        second as u32,
        (first >> 32) as u32 ^ counter[3] ^ key[1],
        first as u32,
    ]
}

#[allow(clippy::inline_always)]
#[inline(always)]
fn next_key(key: [u32; 2]) -> [u32; 2] {
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers from the Random123 distribution.
    #[test]
    fn philox_gives_the_published_numbers() {
        assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox4x32([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox4x32([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

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
