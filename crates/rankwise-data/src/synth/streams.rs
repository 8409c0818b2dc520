//! Term counts in body, anchor, title and URL, and the statistics that search engines compute from them. There are 25
//! statistics for each stream and for the whole page, sorted by statistic (features 1 to 125 of MSLR-WEB30K).

use super::noise::{Noise, count};
use super::web::{MAX_TERMS, Page, WebQuery};

/// Body, anchor, title, URL and the four together.
const N_STREAMS: usize = 5;
const WHOLE: usize = 4;
const N_STATISTICS: usize = 25;
pub(super) const N_STREAM_FEATURES: usize = N_STATISTICS * N_STREAMS;

/// The usual constants of the retrieval models: BM25, and smoothing by absolute discounting, a Dirichlet prior and a
/// mixture.
const BM25_K1: f64 = 1.2;
const BM25_B: f64 = 0.75;
const LM_DISCOUNT: f64 = 0.7;
const LM_PRIOR: f64 = 2000.0;
const LM_MIXTURE: f64 = 0.1;

/// How one stream of text shows the latent factors of a page.
#[derive(Clone, Debug)]
pub(super) struct StreamTraits {
    /// The logarithm of a term's count: its mean, ...
    level: f64,
    /// ... the effect of match, authority (stronger in navigational queries) and page length, ...
    by_match: f64,
    by_authority: f64,
    by_length: f64,
    /// ... and noise.
    noise: f64,
    /// Mean and standard deviation of the logarithm of the stream's length.
    length: [f64; 2],
    /// The authority, with noise, above which a page has this stream.
    exists_from: f64,
    /// Rarity of a term in this stream: a constant, plus a multiple of its rarity in body text.
    rarity: [f64; 2],
}

/// Set by hand to resemble web pages: a body contains a term a few times, half of all titles and a sixth of all URLs
/// contain it, and a quarter of all pages have anchor text.
const BASE: [StreamTraits; 4] = [
    StreamTraits {
        level: 1.65,
        by_match: 0.95,
        by_authority: 0.0,
        by_length: 0.45,
        noise: 0.75,
        length: [6.0, 1.0],
        exists_from: f64::NEG_INFINITY,
        rarity: [0.0, 1.0],
    },
    StreamTraits {
        level: -0.2,
        by_match: 0.7,
        by_authority: 0.5,
        by_length: 0.0,
        noise: 0.7,
        length: [1.2, 1.0],
        exists_from: 0.6,
        rarity: [4.5, 0.8],
    },
    StreamTraits {
        level: 0.0,
        by_match: 0.6,
        by_authority: 0.0,
        by_length: 0.0,
        noise: 0.6,
        length: [1.9, 0.55],
        exists_from: f64::NEG_INFINITY,
        rarity: [4.0, 0.8],
    },
    StreamTraits {
        level: -0.7,
        by_match: 0.5,
        by_authority: 0.2,
        by_length: 0.0,
        noise: 0.5,
        length: [2.0, 0.35],
        exists_from: f64::NEG_INFINITY,
        rarity: [4.3, 0.85],
    },
];

impl StreamTraits {
    /// The first round has the original features; later rounds are noisier variations.
    pub(super) fn new(stream: usize, round: usize) -> Self {
        let mut traits = BASE[stream].clone();
        if round > 0 {
            let mut noise = Noise::of_feature(round * BASE.len() + stream, 0);
            traits.level += 0.5 * noise.normal();
            traits.by_match *= noise.between(0.0, 0.8);
            traits.by_authority *= noise.between(0.0, 1.5);
            traits.noise *= noise.between(1.0, 1.8);
            traits.length[0] += 0.4 * noise.normal();
            traits.rarity[0] += noise.between(0.0, 2.0);
        }
        traits
    }

    fn rarity(&self, query: &WebQuery, term: usize) -> f64 {
        self.rarity[0] + self.rarity[1] * query.rarity[term]
    }

    fn mean_length(&self) -> f64 {
        libm::exp(self.length[0] + 0.5 * self.length[1] * self.length[1])
    }
}

/// The term counts of one page.
pub(super) struct Streams {
    lengths: [f64; N_STREAMS],
    counts: [[f64; MAX_TERMS]; N_STREAMS],
}

impl Streams {
    pub(super) fn new(query: &WebQuery, page: &Page, traits: &[StreamTraits; 4], noise: &mut Noise) -> Self {
        let mut streams = Self { lengths: [0.0; N_STREAMS], counts: [[0.0; MAX_TERMS]; N_STREAMS] };
        let authority = page.authority * (0.5 + query.navigational);
        for (stream, traits) in traits.iter().enumerate() {
            // Body length is the length that queries ask for; the other streams have independent lengths.
            let z = if stream == 0 { 0.9 * page.length + 0.44 * noise.normal() } else { noise.normal() };
            let exists = 0.7 * page.authority + 0.71 * noise.normal() >= traits.exists_from;
            let length = if exists { count(traits.length[0] + traits.length[1] * z, 1e5) } else { 0.0 };
            let base = traits.level + traits.by_authority * authority + traits.by_length * page.length;
            let mut left = length;
            for term in 0..query.n_terms {
                let log = base + traits.by_match * page.matches[term] + traits.noise * noise.normal();
                let named = count(log, left);
                left -= named;
                streams.counts[stream][term] = named;
                streams.counts[WHOLE][term] += named;
            }
            streams.lengths[stream] = length;
            streams.lengths[WHOLE] += length;
        }
        streams
    }

    /// Writes the 25 statistics of the five streams.
    pub(super) fn write(&self, query: &WebQuery, traits: &[StreamTraits; 4], out: &mut [f64]) {
        for stream in 0..N_STREAMS {
            // The whole page is mostly body.
            let traits = &traits[stream % WHOLE];
            let text = Text {
                counts: &self.counts[stream][..query.n_terms],
                rarity: std::array::from_fn(|term| traits.rarity(query, term)),
                length: self.lengths[stream],
                mean_length: traits.mean_length(),
            };
            for (statistic, value) in text.statistics().into_iter().enumerate() {
                out[statistic * N_STREAMS + stream] = value;
            }
        }
    }
}

/// One stream of one page, for one query.
struct Text<'a> {
    counts: &'a [f64],
    rarity: [f64; MAX_TERMS],
    length: f64,
    mean_length: f64,
}

impl Text<'_> {
    fn statistics(&self) -> [f64; N_STATISTICS] {
        let n_terms = self.counts.len() as f64;
        let covered = self.counts.iter().filter(|count| **count > 0.0).count() as f64;
        let rarity = &self.rarity[..self.counts.len()];
        let [raw, weighted] = [Summary::of(self.counts, |_| 1.0), Summary::of(self.counts, |term| rarity[term])];
        let per_word = if self.length > 0.0 { 1.0 / self.length } else { 0.0 };
        let language = self.language_models();
        let mut out = [0.0; N_STATISTICS];
        out[..4].copy_from_slice(&[covered, covered / n_terms, self.length, rarity.iter().sum()]);
        out[4..9].copy_from_slice(&raw.scaled(1.0));
        out[9..14].copy_from_slice(&raw.scaled(per_word));
        out[14..19].copy_from_slice(&weighted.scaled(1.0));
        out[19] = f64::from(covered == n_terms);
        out[20] = self.cosine();
        out[21] = self.bm25();
        out[22..].copy_from_slice(&language);
        out
    }

    /// The cosine between the weighted counts and the query.
    fn cosine(&self) -> f64 {
        let (mut dot, mut text, mut query) = (0.0, 0.0, 0.0);
        for (count, rarity) in self.counts.iter().zip(self.rarity) {
            let weighted = count * rarity;
            dot += weighted * rarity;
            text += weighted * weighted;
            query += rarity * rarity;
        }
        if text > 0.0 { dot / libm::sqrt(text * query) } else { 0.0 }
    }

    fn bm25(&self) -> f64 {
        let saturation = BM25_K1 * (1.0 - BM25_B + BM25_B * self.length / self.mean_length);
        let terms = self.counts.iter().zip(self.rarity);
        terms.map(|(count, rarity)| rarity * count * (BM25_K1 + 1.0) / (count + saturation)).sum()
    }

    /// Log-likelihoods of the query: absolute discounting, Dirichlet prior, Jelinek-Mercer mixture.
    fn language_models(&self) -> [f64; 3] {
        // Without text, only the background model counts.
        let length = self.length.max(1.0);
        // The logarithm of a product of at most seven probabilities, all far from underflow. This takes a third of the
        // time of a sum of logarithms.
        let mut likelihood = [1.0; 3];
        for (count, rarity) in self.counts.iter().zip(self.rarity) {
            let background = libm::exp(-1.0 - rarity);
            let share = count / length;
            likelihood[0] *= ((count - LM_DISCOUNT).max(0.0) + LM_DISCOUNT * background) / length;
            likelihood[1] *= (count + LM_PRIOR * background) / (length + LM_PRIOR);
            likelihood[2] *= (1.0 - LM_MIXTURE) * share + LM_MIXTURE * background;
        }
        likelihood.map(libm::log)
    }
}

/// Sum, minimum, maximum, mean and variance.
struct Summary([f64; 5]);

impl Summary {
    fn of(counts: &[f64], weight: impl Fn(usize) -> f64) -> Self {
        let n = counts.len() as f64;
        let (mut sum, mut squares, mut least, mut greatest) = (0.0, 0.0, f64::INFINITY, 0.0f64);
        for (term, count) in counts.iter().enumerate() {
            let value = count * weight(term);
            sum += value;
            squares += value * value;
            least = least.min(value);
            greatest = greatest.max(value);
        }
        let mean = sum / n;
        Self([sum, least, greatest, mean, (squares / n - mean * mean).max(0.0)])
    }

    /// The same statistics for values times `factor`.
    fn scaled(&self, factor: f64) -> [f64; 5] {
        let [sum, least, greatest, mean, variance] = self.0;
        [sum * factor, least * factor, greatest * factor, mean * factor, variance * factor * factor]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_the_counts() {
        let text = Text { counts: &[3.0, 0.0, 1.0], rarity: [2.0; MAX_TERMS], length: 8.0, mean_length: 8.0 };
        let out = text.statistics();
        assert_eq!(out[..9], [2.0, 2.0 / 3.0, 8.0, 6.0, 4.0, 0.0, 3.0, 4.0 / 3.0, 10.0 / 3.0 - 16.0 / 9.0]);
        assert_eq!(out[9..13], [0.5, 0.0, 0.375, 4.0 / 3.0 / 8.0]);
        assert_eq!(out[14..17], [8.0, 0.0, 6.0]);
        assert_eq!(out[19], 0.0);
        assert!((out[20] - 4.0 / libm::sqrt(30.0)).abs() < 1e-12, "{}", out[20]);
        assert!((out[21] - 2.0 * 2.2 * (3.0 / 4.2 + 1.0 / 2.2)).abs() < 1e-12, "{}", out[21]);
        assert!(out[22..].iter().all(|likelihood| *likelihood < 0.0));
        let empty = Text { counts: &[0.0], rarity: [2.0; MAX_TERMS], length: 0.0, mean_length: 8.0 };
        assert!(empty.statistics().iter().all(|value| value.is_finite()));
    }
}
