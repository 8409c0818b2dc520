//! Features of a page that mostly do not depend on the query: its URL, links, ranks and clicks (features 126 to 136 of
//! MSLR-WEB30K). Most are heavy-tailed, and clicks are mostly zero.

use super::noise::{Noise, count, logistic};
use super::web::{Page, WebQuery};

pub(super) const N_PAGE_FEATURES: usize = 11;

/// How clearly these features show the latent factors of a page.
#[derive(Debug)]
pub(super) struct PageTraits {
    /// The share of signal in a feature, relative to the first round.
    clarity: f64,
    /// Added to the logarithm of counts.
    level: f64,
}

impl PageTraits {
    /// The first round has the original features; later rounds are noisier variations.
    pub(super) fn new(round: usize) -> Self {
        if round == 0 {
            return Self { clarity: 1.0, level: 0.0 };
        }
        let mut noise = Noise::of_feature(round, 1);
        Self { clarity: noise.between(0.0, 0.8), level: 0.4 * noise.normal() }
    }

    /// Writes the features: slashes and letters of the URL, links in and out, page and site rank, two quality scores,
    /// clicks on this page for this query, clicks on it overall, and the dwell time of its readers.
    pub(super) fn write(&self, query: &WebQuery, page: &Page, noise: &mut Noise, out: &mut [f64]) {
        let mut mix = |factor: f64, share: f64| {
            let share = share * self.clarity;
            share * factor + libm::sqrt(1.0 - share * share) * noise.normal()
        };
        out[0] = 1.0 + count(0.55 + 0.55 * mix(page.depth, 0.9), 40.0);
        out[1] = count(3.65 + 0.42 * mix(page.depth, 0.5), 2000.0).max(6.0);
        out[2] = count(1.6 + self.level + 4.0 * mix(page.authority, 0.8), 5e8);
        out[3] = count(0.1 + self.level + 1.8 * mix(0.0, 0.0), 1000.0);
        out[4] = rank(-1.6 + 2.6 * mix(page.authority, 0.8));
        out[5] = rank(0.2 + 2.0 * mix(page.authority, 0.25));
        out[6] = 1.0 + count(1.6 + self.level - 1.5 * mix(page.quality, 0.9), 253.0);
        out[7] = 1.0 + count(1.9 + self.level - 1.4 * mix(page.quality, 0.3), 253.0);

        // Readers find some pages, mostly well-known ones, and stay on those that satisfy them.
        let asked = mix(page.utility + 0.5 * query.navigational, 0.45);
        out[8] = if asked < 2.0 { 0.0 } else { count(1.0 + 2.0 * (asked - 2.0) + 1.5 * mix(0.0, 0.0).abs(), 1e6) };
        let known = mix(0.7 * page.authority + 0.7 * page.satisfaction, 0.6);
        let visits = if known < 0.65 { 0.0 } else { count(3.5 * (known - 0.65) + 1.5 * mix(0.0, 0.0).abs(), 1e7) };
        out[9] = visits;
        out[10] = if visits > 0.0 { libm::exp(2.0 + 1.6 * mix(page.satisfaction, 0.75)) } else { 0.0 };
    }
}

/// A 16-bit rank from any real number.
fn rank(x: f64) -> f64 {
    1.0 + libm::floor(65_534.0 * logistic(x))
}
