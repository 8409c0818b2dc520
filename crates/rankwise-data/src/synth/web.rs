//! Web search: queries of a few terms, pages that match them more or less, and the relevance of pages.
//!
//! A page has latent factors: how well it matches each term, its authority, depth in the site, quality and length, and
//! how satisfied its readers are. Its grade is a noisy function of them, deliberately not a sum:
//!
//! * matching saturates, and the worst-matched term counts as much as the average one;
//! * authority counts for navigational queries, mostly for shallow pages; for other queries it is slightly negative;
//! * other queries ask for a length that depends on how specific they are, and for quality only if the page matches;
//! * pages below a certain quality are spam, whatever their other factors.
//!
//! The features show these factors through noise: term counts in four streams of text (`streams`) and counts for the
//! page (`page`). What a query asks for shows only in the number and rarity of its terms. The weights are tuned by
//! hand, with three aims: gradient-boosted trees clearly beat a linear model, the linear model beats the best single
//! feature, and a perfect ranker stays far below an NDCG of 1.

use super::noise::{Noise, grade, logistic, six_decimals};
use super::page::{N_PAGE_FEATURES, PageTraits};
use super::streams::{N_STREAM_FEATURES, StreamTraits, Streams};

/// Number of features in a round, as in MSLR-WEB30K: 25 statistics of 5 streams, then those of the page.
pub(super) const ROUND: usize = N_STREAM_FEATURES + N_PAGE_FEATURES;
/// The maximum number of terms of a query; the 95th percentile is four.
pub(super) const MAX_TERMS: usize = 7;
/// The utilities at which grades 1 to 4 begin, chosen to give the grades the shares 0.515, 0.325, 0.134, 0.019 and
/// 0.007.
const GRADE_FROM: [f64; 4] = [-0.34, 1.39, 3.2, 4.28];
/// How much judges disagree: the part of the utility that no feature shows.
const JUDGE_NOISE: f64 = 0.8;
/// The share of queries without relevant pages, and how much that lowers all utilities.
const BARREN: f64 = 0.03;
const BARREN_DROP: f64 = 6.0;
/// The quality below which a page is spam: about one in five.
const SPAM_BELOW: f64 = -0.85;

/// The population of web searches with a given number of features.
#[derive(Debug)]
pub(super) struct Web {
    n_features: usize,
    rounds: Vec<Round>,
}

/// The parameters of one round of features.
#[derive(Debug)]
struct Round {
    streams: [StreamTraits; 4],
    page: PageTraits,
}

/// One query.
pub(super) struct WebQuery {
    pub(super) n_terms: usize,
    /// How rare each term is in body text.
    pub(super) rarity: [f64; MAX_TERMS],
    /// From 0, informational, to 1, navigational.
    pub(super) navigational: f64,
    /// The logarithm of the length it wants, in standard deviations from the mean.
    wanted_length: f64,
    /// How many relevant pages there are for it.
    richness: f64,
    /// How much its pages differ.
    contrast: f64,
}

/// One page, as seen by a query. Everything but `matches` is standard normal.
pub(super) struct Page {
    /// How well it matches each term, also on the scale of a standard normal.
    pub(super) matches: [f64; MAX_TERMS],
    pub(super) authority: f64,
    pub(super) depth: f64,
    pub(super) quality: f64,
    pub(super) length: f64,
    pub(super) satisfaction: f64,
    /// Its relevance, without the judges' noise.
    pub(super) utility: f64,
}

impl Web {
    pub(super) fn new(n_features: usize) -> Self {
        let rounds = (0..n_features.div_ceil(ROUND)).map(|round| Round {
            streams: std::array::from_fn(|stream| StreamTraits::new(stream, round)),
            page: PageTraits::new(round),
        });
        Self { n_features, rounds: rounds.collect() }
    }

    /// The number of documents of a query: a median of 105 and a mean of about 120, as in MSLR-WEB30K. The cube makes
    /// the tails longer than a lognormal's, so that lists of ten and of several hundred documents occur.
    pub(super) fn query_size(normal: f64) -> usize {
        libm::exp(4.65 + normal * (0.4 + 0.05 * normal * normal)).clamp(10.0, 900.0) as usize
    }

    /// Returns the label of a document and fills in its features.
    pub(super) fn document(&self, query: &WebQuery, seed: u64, ids: [usize; 2], out: &mut Vec<(u32, f32)>) -> f32 {
        let [query_idx, doc] = ids;
        let mut noise = Noise::of_document(seed, query_idx, doc, 0);
        let page = Page::new(query, &mut noise);
        let label = grade(page.utility + JUDGE_NOISE * noise.normal(), &GRADE_FROM);

        let mut values = [0.0; ROUND];
        for (round, traits) in self.rounds.iter().enumerate() {
            let mut noise = Noise::of_document(seed, query_idx, doc, round as u32 + 1);
            let (text, rest) = values.split_at_mut(N_STREAM_FEATURES);
            Streams::new(query, &page, &traits.streams, &mut noise).write(query, &traits.streams, text);
            traits.page.write(query, &page, &mut noise, rest);
            self.push_round(round, &values, out);
        }
        label
    }

    /// Appends the values of a round. If fewer features are requested than a round has, they are spread evenly over it,
    /// so that even a few features come from many families.
    fn push_round(&self, round: usize, values: &[f64; ROUND], out: &mut Vec<(u32, f32)>) {
        let first = round * ROUND;
        let n = (self.n_features - first).min(ROUND);
        let pick = |idx: usize| if self.n_features < ROUND { idx * ROUND / self.n_features } else { idx };
        out.extend((0..n).map(|idx| ((first + idx + 1) as u32, six_decimals(values[pick(idx)]))));
    }
}

impl WebQuery {
    pub(super) fn new(seed: u64, query: usize) -> Self {
        let mut noise = Noise::of_query(seed, query, 1);
        let intent = noise.normal();
        // Users who look for a site type few and rare words.
        let n_terms = libm::exp(1.0 - 0.25 * intent + 0.35 * noise.normal()).clamp(1.0, MAX_TERMS as f64) as usize;
        let topic_rarity = 0.45 * intent + 0.25 * noise.normal();
        let rarity: [f64; MAX_TERMS] =
            std::array::from_fn(|_| libm::exp(1.25 + topic_rarity + 0.35 * noise.normal()).clamp(0.5, 13.0));
        // Specific queries want long pages. 2.2 is about the mean, 0.6 the spread of this logarithm.
        let specific = (libm::log(rarity[..n_terms].iter().sum()) - 2.2) / 0.6;
        Self {
            n_terms,
            rarity,
            navigational: logistic(2.5 * intent),
            wanted_length: 0.9 * specific + 0.2 * noise.normal(),
            richness: 1.1 * noise.normal() - if noise.between(0.0, 1.0) < BARREN { BARREN_DROP } else { 0.0 },
            contrast: libm::exp(0.25 * noise.normal()),
        }
    }
}

impl Page {
    fn new(query: &WebQuery, noise: &mut Noise) -> Self {
        let topic = noise.normal();
        let mut page = Self {
            matches: [0.0; MAX_TERMS],
            authority: noise.normal(),
            depth: noise.normal(),
            quality: noise.normal(),
            length: noise.normal(),
            satisfaction: noise.normal(),
            utility: 0.0,
        };
        for matched in &mut page.matches[..query.n_terms] {
            *matched = 0.8 * topic + 0.6 * noise.normal();
        }
        page.utility = query.richness + query.contrast * page.merit(query);
        page
    }

    /// Its quality among the pages of its query.
    fn merit(&self, query: &WebQuery) -> f64 {
        let matches = &self.matches[..query.n_terms];
        let mean = matches.iter().sum::<f64>() / query.n_terms as f64;
        let worst = matches.iter().copied().fold(f64::INFINITY, f64::min);
        let matching = libm::tanh(0.7 * (mean + worst) + 0.25);

        let shallow = logistic(-2.5 * self.depth);
        let as_site = 1.8 * shallow * self.authority.max(-1.0) - 0.3 * self.depth;
        let off_length = (self.length - query.wanted_length).clamp(-2.2, 2.2);
        let as_text =
            0.5 - 0.6 * off_length * off_length + self.quality * matching + 0.4 * self.depth - 0.3 * self.authority;
        let spam = if self.quality < SPAM_BELOW { -0.9 } else { 0.0 };
        0.65 * matching
            + query.navigational * as_site
            + (1.0 - query.navigational) * as_text
            + 0.3 * self.satisfaction
            + spam
    }
}
