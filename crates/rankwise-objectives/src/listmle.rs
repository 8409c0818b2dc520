//! ListMLE (Xia et al. 2008) and position-aware ListMLE (Lan et al. 2014): the likelihood of the ordering by label in
//! the Plackett-Luce model, which draws one document after another with probabilities in proportion to exp(score).
//!
//! ```text
//! Z_k  = sum over documents j from place k on of w_j exp(s_j)
//! loss = sum over places k of alpha_k w_k (ln Z_k - s_k)
//! g_i  = w_i (-alpha_i + exp(s_i) A_i)                        A_i = sum over k up to i of alpha_k w_k / Z_k
//! h_i  = w_i (exp(s_i) A_i - w_i exp(2 s_i) B_i)              B_i = sum over k up to i of alpha_k w_k / Z_k^2
//! ```
//!
//! `listmle` has alpha = 1; `p-listmle` has alpha_k = 2^(n - k) - 1 for places from 1, divided by their sum. A document
//! with weight w counts w times in the sums and in the loss. Documents with equal labels have no order: one is drawn
//! for each tree, by ascending uniform numbers, and the gradient is the mean over `samples` such orders.

use rankwise_data::Share;

use crate::{GradientSlices, Objective, ObjectiveError, ObjectiveParams, QueryDocs, Scratch, checks};

/// The weight of each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    Alike,
    FirstMost,
}

/// The likelihood of the labels' order.
#[derive(Clone, Debug)]
pub struct ListMle {
    places: Places,
    samples: u32,
    /// Query `q` has the entries `bounds[q]..bounds[q + 1]` of the next.
    bounds: Vec<usize>,
    /// The documents of a query, best label first.
    by_label: Vec<u32>,
}

impl ListMle {
    /// All places have equal weight.
    pub fn new(params: &ObjectiveParams, share: &Share<'_>) -> Result<Self, ObjectiveError> {
        Self::checked(params, share, "listmle", Places::Alike)
    }

    /// Top places have the largest weight.
    pub fn position_aware(params: &ObjectiveParams, share: &Share<'_>) -> Result<Self, ObjectiveError> {
        Self::checked(params, share, "p-listmle", Places::FirstMost)
    }

    fn checked(
        params: &ObjectiveParams,
        share: &Share<'_>,
        name: &'static str,
        places: Places,
    ) -> Result<Self, ObjectiveError> {
        checks::has_pairs(share, name)?;
        checks::has_weight(share)?;
        let data = share.data;
        let mut by_label = Vec::with_capacity(data.n_rows());
        for query in data.queries() {
            let start = by_label.len();
            by_label.extend(0..query.n_docs() as u32);
            by_label[start..].sort_by(|a, b| query.labels[*b as usize].total_cmp(&query.labels[*a as usize]));
        }
        Ok(Self { places, samples: params.samples.unwrap_or(1) as u32, bounds: data.bounds().to_vec(), by_label })
    }

    /// The order of a query's documents in a sample: by label, with ties in random order.
    fn draw_order(&self, docs: QueryDocs<'_>, sample: u32, keys: &mut Vec<u64>, order: &mut Vec<u32>) {
        const SCALE: f64 = (1u64 << 32) as f64;
        order.clear();
        order.extend(&self.by_label[self.bounds[docs.query]..self.bounds[docs.query + 1]]);
        let label = |doc: u32| docs.labels[doc as usize];
        for tied in order.chunk_by_mut(|a, b| label(*a) == label(*b)).filter(|tied| tied.len() > 1) {
            keys.clear();
            // Uniform numbers in (0, 1], by their first 32 bits; document numbers in the low half.
            keys.extend(tied.iter().map(|doc| {
                let uniform = docs.noise.uniforms(*doc as usize, sample)[0];
                ((uniform * SCALE) as u64).min(u64::from(u32::MAX)) << 32 | u64::from(*doc)
            }));
            keys.sort_unstable();
            tied.iter_mut().zip(&*keys).for_each(|(doc, key)| *doc = *key as u32);
        }
    }

    /// The weight of each place, first to last.
    fn alphas(&self, n_docs: usize, out: &mut Vec<f64>) {
        out.clear();
        match self.places {
            Places::Alike => out.resize(n_docs, 1.0),
            Places::FirstMost => {
                // In units of 2^n, so that long lists stay finite.
                let last = libm::exp2(-(n_docs as f64));
                let mut power = 1.0;
                out.extend((0..n_docs).map(|_| {
                    power *= 0.5;
                    power - last
                }));
                let sum: f64 = out.iter().sum();
                if sum > 0.0 {
                    for alpha in out.iter_mut() {
                        *alpha /= sum;
                    }
                }
            }
        }
    }
}

impl Objective for ListMle {
    fn base_score(&self) -> f64 {
        0.0
    }

    fn query_gradients(&self, docs: QueryDocs<'_>, out: GradientSlices<'_>, scratch: &mut Scratch) {
        let Scratch { keys, order, wide: [alphas, highest, sums, grad, hess, _], .. } = scratch;
        let n_docs = docs.n_docs();
        self.alphas(n_docs, alphas);
        for column in [&mut *highest, &mut *sums, &mut *grad, &mut *hess] {
            column.clear();
            column.resize(n_docs, 0.0);
        }
        for sample in 0..self.samples {
            self.draw_order(docs, sample, keys, order);
            suffix_sums(docs, order, highest, sums);
            add_derivatives(docs, (order, alphas), (highest, sums), (grad, hess));
        }
        let share = 1.0 / f64::from(self.samples);
        for doc in 0..n_docs {
            out.grad[doc] = (grad[doc] * share) as f32;
            out.hess[doc] = (hess[doc] * share) as f32;
        }
    }
}

/// From each place on: the highest score, and the sum of weights times exp(score - highest). Documents without weight
/// are ignored.
fn suffix_sums(docs: QueryDocs<'_>, order: &[u32], highest: &mut [f64], sums: &mut [f64]) {
    let (mut high, mut sum) = (f64::NEG_INFINITY, 0.0);
    for (place, doc) in order.iter().enumerate().rev() {
        let (score, weight) = (docs.scores[*doc as usize], docs.weight(*doc as usize));
        if weight > 0.0 {
            if score > high {
                sum = sum * libm::exp(high - score) + weight;
                high = score;
            } else {
                sum += weight * libm::exp(score - high);
            }
        }
        (highest[place], sums[place]) = (high, sum);
    }
}

fn add_derivatives(
    docs: QueryDocs<'_>,
    (order, alphas): (&[u32], &[f64]),
    (highest, sums): (&[f64], &[f64]),
    (grad, hess): (&mut [f64], &mut [f64]),
) {
    // A_i times exp(highest), and B_i times its square. The highest score falls from place to place, so neither can
    // overflow.
    let (mut first, mut second, mut high) = (0.0, 0.0, f64::INFINITY);
    for (place, doc) in order.iter().enumerate() {
        let doc = *doc as usize;
        let (weight, alpha) = (docs.weight(doc), alphas[place]);
        if weight == 0.0 {
            continue;
        }
        if highest[place] != high {
            let fall = libm::exp(highest[place] - high);
            (first, second, high) = (first * fall, second * fall * fall, highest[place]);
        }
        first += alpha * weight / sums[place];
        second += alpha * weight / (sums[place] * sums[place]);
        let power = libm::exp(docs.scores[doc] - high);
        grad[doc] += power * first - alpha;
        hess[doc] += power * first - weight * power * power * second;
    }
}
