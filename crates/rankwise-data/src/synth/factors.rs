//! Populations without text: candidates of a recommender (`long`) and records with many attributes (`wide`).
//!
//! A document has six factors, a query six wishes, all standard normal. The utility of a document for a query is not a
//! sum of them: one factor saturates, one counts by the sign of the wish, one counts only for some queries, one has an
//! optimum, and one matters more the larger another is. Features come in groups of 16. Each shows one factor, wish or
//! product of both through noise, in the form of its family: real, count, share, flag, grade. In `wide`, a document has
//! only a few of the groups, and its absent groups are informative.

use super::noise::{Noise, count, grade, logistic, six_decimals};

const N_FACTORS: usize = 6;
/// Number of signals shown by document features: the factors, and how well one of them suits the query.
const N_DOC_SIGNALS: usize = N_FACTORS + 1;
/// Relevance depends on wishes 1 to 3.
const SHOWN_WISHES: [usize; 3] = [1, 2, 3];
/// Number of features that are present or absent together.
const GROUP: usize = 16;
/// The part of the utility that no feature shows.
const NOISE: f64 = 0.5;
/// The families, used in turn. There are ten, and seven signals, so that all combinations occur.
const FAMILIES: [Family; 10] = [
    Family::Real,
    Family::Count,
    Family::Share,
    Family::Flag,
    Family::Wish,
    Family::Real,
    Family::RareCount,
    Family::Grade,
    Family::Junk,
    Family::WishCount,
];

/// The differences between populations of this kind.
#[derive(Debug)]
pub(super) struct Shape {
    /// Mean and standard deviation of the logarithm of a query's size, then its bounds.
    size: [f64; 4],
    /// The utilities at which grades begin.
    grade_from: &'static [f64],
    /// Bounds of a feature's share of signal.
    clarity: [f64; 2],
    /// How much queries differ in their number of relevant documents.
    richness: f64,
    /// Whether utilities are standardised by query, so that all queries have similar numbers of relevant documents.
    is_levelled: bool,
    /// Bounds of the share of documents that have a group. All documents have the first group.
    group_share: [f64; 2],
    /// Bounds of the share of documents that have a given feature, among those that have its group.
    feature_share: [f64; 2],
}

/// Candidates of a first stage: very long lists, all features present, about two in a thousand documents relevant.
pub(super) const LONG: Shape = Shape {
    size: [7.77, 0.33, 800.0, 6000.0],
    grade_from: &[2.81, 2.97, 3.17, 3.47],
    clarity: [0.45, 0.9],
    richness: 0.15,
    is_levelled: true,
    group_share: [1.0, 1.0],
    feature_share: [1.0, 1.0],
};

/// Records with many attributes: short lists, most features absent.
pub(super) const WIDE: Shape = Shape {
    size: [3.6, 0.45, 5.0, 200.0],
    grade_from: &[-0.17, 0.73, 1.47, 2.25],
    clarity: [0.2, 0.65],
    richness: 0.4,
    is_levelled: false,
    group_share: [0.01, 0.12],
    feature_share: [0.4, 1.0],
};

/// The form of a feature's values.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    /// Dense and real.
    Real,
    /// Whole and heavy-tailed.
    Count,
    /// The same, but mostly 0.
    RareCount,
    /// Between 0 and 1.
    Share,
    /// 0 or 1.
    Flag,
    /// 0 to 4.
    Grade,
    /// Real and uninformative.
    Junk,
    /// Real, the same for all documents of a query.
    Wish,
    /// Whole, the same for all documents of a query.
    WishCount,
}

/// The signal that a feature shows, and its form.
#[derive(Debug)]
struct Feature {
    family: Family,
    signal: usize,
    /// The share of signal, then the share of noise.
    mix: [f64; 2],
    level: f64,
    spread: f64,
    share: f64,
}

/// Which documents have a group of features.
#[derive(Debug)]
struct Group {
    share: f64,
    factor: usize,
    /// From -1 to 1: how strongly the presence of the group depends on the factor.
    lean: f64,
}

/// A population of this kind, for a number of features.
#[derive(Debug)]
pub(super) struct Factors {
    shape: &'static Shape,
    features: Vec<Feature>,
    groups: Vec<Group>,
}

/// One query.
pub(super) struct FactorQuery {
    wishes: [f64; N_FACTORS],
    richness: f64,
    /// The mean to subtract from the utilities of its documents, and the value to divide them by.
    level: [f64; 2],
    /// The values of features that are constant in the query, in feature order; 0 for other features.
    constants: Vec<f32>,
}

impl Factors {
    pub(super) fn new(shape: &'static Shape, n_features: usize) -> Self {
        Self {
            shape,
            features: (0..n_features).map(|idx| Feature::new(shape, idx)).collect(),
            groups: (0..n_features.div_ceil(GROUP)).map(|idx| Group::new(shape, idx)).collect(),
        }
    }

    pub(super) fn query_size(&self, normal: f64) -> usize {
        let [mean, spread, least, greatest] = self.shape.size;
        libm::exp(mean + spread * normal).clamp(least, greatest) as usize
    }

    pub(super) fn query(&self, seed: u64, query: usize) -> FactorQuery {
        let mut noise = Noise::of_query(seed, query, 1);
        let wishes: [f64; N_FACTORS] = std::array::from_fn(|_| noise.normal());
        let richness = self.shape.richness * noise.normal();
        let mut noise = Noise::of_query(seed, query, 2);
        let constants = self.features.iter().map(|feature| {
            if feature.is_constant() {
                feature.value(wishes[SHOWN_WISHES[feature.signal]], noise.normal())
            } else {
                0.0
            }
        });
        let level = if self.shape.is_levelled { level(&wishes) } else { [0.0, 1.0] };
        FactorQuery { wishes, richness, level, constants: constants.collect() }
    }

    /// Returns the label of a document and fills in its features.
    pub(super) fn document(&self, query: &FactorQuery, seed: u64, ids: [usize; 2], out: &mut Vec<(u32, f32)>) -> f32 {
        let [query_idx, doc] = ids;
        let mut noise = Noise::of_document(seed, query_idx, doc, 0);
        let factors: [f64; N_FACTORS] = std::array::from_fn(|_| noise.normal());
        let [mean, spread] = query.level;
        let worth = query.richness + (worth(&factors, &query.wishes) + NOISE * noise.normal() - mean) / spread;
        let mut signals = [0.0; N_DOC_SIGNALS];
        signals[..N_FACTORS].copy_from_slice(&factors);
        signals[N_FACTORS] = factors[1] * query.wishes[1];
        let leanings = factors.map(libm::tanh);

        let mut chances = [0.0; 4];
        for (idx, group) in self.groups.iter().enumerate() {
            if idx % chances.len() == 0 {
                chances = noise.uniforms();
            }
            if chances[idx % chances.len()] < group.share * (1.0 + group.lean * leanings[group.factor]) {
                let own = Noise::of_document(seed, query_idx, doc, idx as u32 + 1);
                self.push_group(idx, query, &signals, own, out);
            }
        }
        grade(worth, self.shape.grade_from)
    }

    fn push_group(
        &self,
        group: usize,
        query: &FactorQuery,
        signals: &[f64; N_DOC_SIGNALS],
        mut noise: Noise,
        out: &mut Vec<(u32, f32)>,
    ) {
        let start = group * GROUP;
        let features = &self.features[start..self.features.len().min(start + GROUP)];
        let mut chances = [0.0; 4];
        for (offset, feature) in features.iter().enumerate() {
            if offset % chances.len() == 0 {
                chances = noise.uniforms();
            }
            if chances[offset % chances.len()] >= feature.share {
                continue;
            }
            let value = if feature.is_constant() {
                query.constants[start + offset]
            } else {
                feature.value(signals[feature.signal], noise.normal())
            };
            out.push(((start + offset + 1) as u32, value));
        }
    }
}

/// The utility of a document for a query, without noise.
fn worth(factors: &[f64; N_FACTORS], wishes: &[f64; N_FACTORS]) -> f64 {
    let saturating = libm::tanh(1.2 * factors[0]);
    let personal = factors[1] * wishes[1];
    let gated = if wishes[2] > 0.0 { factors[2].max(0.0) } else { 0.0 };
    let off = (factors[3] - 0.7 * wishes[3]).clamp(-2.0, 2.0);
    0.9 * saturating + 0.6 * personal + 0.9 * gated - 0.4 * off * off
        + 0.6 * factors[4] * saturating.max(0.0)
        + 0.3 * factors[5]
}

/// The approximate mean and standard deviation of utilities for a query with these wishes.
fn level(wishes: &[f64; N_FACTORS]) -> [f64; 2] {
    let (gate_mean, gate_variance) = if wishes[2] > 0.0 { (0.36, 0.28) } else { (0.0, 0.0) };
    let mean = gate_mean - 0.4 * (1.0 + 0.49 * wishes[3] * wishes[3]).min(2.5);
    [mean, libm::sqrt(1.35 + 0.36 * wishes[1] * wishes[1] + gate_variance)]
}

impl Feature {
    fn new(shape: &Shape, idx: usize) -> Self {
        let mut noise = Noise::of_feature(idx, 2);
        let family = FAMILIES[idx % FAMILIES.len()];
        let clarity = if family == Family::Junk { 0.0 } else { noise.between(shape.clarity[0], shape.clarity[1]) };
        let signal = match family {
            Family::Wish | Family::WishCount => (idx / 5) % SHOWN_WISHES.len(),
            _ => idx % N_DOC_SIGNALS,
        };
        let [least, most] = shape.feature_share;
        Self {
            family,
            signal,
            mix: [clarity, libm::sqrt(1.0 - clarity * clarity)],
            level: noise.normal(),
            spread: libm::exp(0.5 * noise.normal()),
            // All documents have the whole first group, so that even one feature makes a valid dataset.
            share: if idx < GROUP { 1.0 } else { noise.between(least, most) },
        }
    }

    fn is_constant(&self) -> bool {
        matches!(self.family, Family::Wish | Family::WishCount)
    }

    fn value(&self, signal: f64, noise: f64) -> f32 {
        let z = self.mix[0] * signal + self.mix[1] * noise;
        six_decimals(match self.family {
            Family::Real | Family::Junk | Family::Wish => 3.0 * self.level + self.spread * z,
            Family::Count | Family::WishCount => count(2.5 + 0.5 * self.level + 1.5 * z, 1e7),
            Family::RareCount => count(-1.0 + 0.3 * self.level + 1.3 * z, 1e7),
            Family::Share => logistic(self.level + self.spread * z),
            Family::Flag => f64::from(z > 0.5 * self.level),
            Family::Grade => libm::floor(5.0 * logistic(0.5 * self.level + 1.5 * z)).min(4.0),
        })
    }
}

impl Group {
    fn new(shape: &Shape, idx: usize) -> Self {
        let mut noise = Noise::of_feature(idx, 3);
        let [least, most] = shape.group_share;
        let always = idx == 0 || least == 1.0;
        Self {
            share: if always { 1.0 } else { noise.between(least, most) },
            factor: idx % N_FACTORS,
            // For each factor, the presence of every other group is informative.
            lean: if always || (idx / N_FACTORS).is_multiple_of(2) { 0.0 } else { noise.between(-0.9, 0.9) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores documents only by which groups of one factor they have. This factor is good for every query, so relevant
    /// documents must score higher by many standard errors. Groups without a lean must make no difference.
    #[test]
    fn absence_tells_something_where_it_leans() {
        let factors = Factors::new(&WIDE, 2000);
        let gap = |weigh: &dyn Fn(&Group) -> f64| {
            let (mut n, mut sum, mut squares) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            let mut out = Vec::new();
            for query_idx in 0..150 {
                let query = factors.query(23, query_idx);
                for doc in 0..40 {
                    out.clear();
                    let class = usize::from(factors.document(&query, 23, [query_idx, doc], &mut out) > 0.0);
                    let mut groups: Vec<usize> = out.iter().map(|(id, _)| (*id as usize - 1) / GROUP).collect();
                    groups.dedup();
                    let own = groups.iter().map(|group| &factors.groups[*group]).filter(|group| group.factor == 0);
                    let score: f64 = own.map(weigh).sum();
                    n[class] += 1.0;
                    sum[class] += score;
                    squares[class] += score * score;
                }
            }
            let mean = [0, 1].map(|class| sum[class] / n[class]);
            let error = [0, 1].map(|class| (squares[class] / n[class] - mean[class] * mean[class]) / n[class]);
            (mean[1] - mean[0]) / libm::sqrt(error[0] + error[1])
        };
        let leaning = gap(&|group| group.lean);
        let level = gap(&|group| f64::from(group.lean == 0.0));
        assert!(leaning > 6.0 && level.abs() < 4.0, "{leaning} and {level} standard errors");
    }
}
