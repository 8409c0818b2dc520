//! RankBoost with weak rankers that say whether a feature is above a threshold.
//!
//! For h in {0, 1}, with W+ the weight of the pairs that h orders rightly, W- wrongly and W0 not at all:
//!
//! ```text
//! r = W+ - W- = sum over documents of potential * h
//! Z is smallest at alpha = ln(W+ / W-) / 2, where it is W0 + 2 sqrt(W+ W-)
//! ```
//!
//! So r of all thresholds of a feature takes a histogram of potentials by bin. The best threshold by |r| of each feature
//! is a candidate; the few best candidates get their exact W+ and W-, and the one whose Z can be smallest is added.

use std::borrow::Cow;

use rankwise_data::BinnedDataset;
use rankwise_model::{Child, Tree, TreeParts};
use rayon::prelude::*;

use super::pairs::{Distribution, Ordered, Pairs};
use super::{SMALLEST_ALPHA, Weighting, half_log_odds};
use crate::learning::votes::{Votes, to_fixed};
use crate::learning::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, TrainError};

/// Number of candidates whose Z is computed. On MQ2008, the mean test MAP of 1, 2, 4, 8 and 16 was 0.4734, 0.4781, 0.4780,
/// 0.4750 and 0.4759.
const N_EXACT: usize = 4;

/// RankBoost with thresholds: a sum of trees with one split.
pub(crate) struct Thresholds<'a> {
    votes: Votes<'a>,
    pairs: Pairs<'a>,
    weighting: Weighting,
}

/// A weak ranker: 1 for documents whose bin is above `bin`, and for missing values unless they are on the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Threshold {
    feature: usize,
    bin: u8,
    missing_left: bool,
    /// The sum of the potentials of documents with 1.
    r: i64,
}

/// A weak ranker with its weight.
#[derive(Clone, Copy, Debug)]
struct Weighted {
    threshold: Threshold,
    alpha: f64,
    /// Z at alpha.
    z: f64,
    /// Z at the alpha that minimises it.
    least_z: f64,
}

impl<'a> Thresholds<'a> {
    pub(super) fn new(task: &Task<'a>, pairs: Pairs<'a>, weighting: Weighting) -> Result<Self, TrainError> {
        Ok(Self { votes: Votes::new(task)?, pairs, weighting })
    }

    /// The best weak ranker at the current scores.
    fn best(&self) -> Option<Weighted> {
        let (binned, scores) = (self.votes.train(), self.votes.scores(0));
        let at = self.pairs.at(scores);
        let weighted = |threshold: &Threshold| self.weighted(*threshold, &at);
        let candidates = candidates(binned, &at.potentials);
        // Of equal ones the first, which has the larger |r| or the smaller feature.
        candidates.iter().map(weighted).reduce(|best, next| if next.least_z < best.least_z { next } else { best })
    }

    fn weighted(&self, threshold: Threshold, at: &Distribution) -> Weighted {
        let binned = self.votes.train();
        let (column, missing) = (binned.column(threshold.feature), binned.bins(threshold.feature).missing_bin());
        let is_high = |row: usize| threshold.is_high(column[row], missing);
        let Ordered { right, wrong } = self.pairs.ordered_by(is_high, at, self.votes.scores(0));
        let r = right - wrong;
        let exact = half_log_odds(right, wrong);
        let alpha = match self.weighting {
            Weighting::Exact => exact,
            Weighting::Correlation => half_log_odds(1.0 + r, 1.0 - r),
        };
        let z = |alpha: f64| 1.0 + right * libm::expm1(-alpha) + wrong * libm::expm1(alpha);
        Weighted { threshold, alpha, z: z(alpha), least_z: z(exact) }
    }
}

impl Threshold {
    fn is_high(self, bin: u8, missing: u8) -> bool {
        if bin == missing { !self.missing_left } else { bin > self.bin }
    }
}

impl Weighted {
    /// The tree that scores alpha on the right and 0 on the left.
    fn tree(self, binned: &BinnedDataset) -> Tree {
        let Threshold { feature, bin, missing_left, .. } = self.threshold;
        let (bins, column) = (binned.bins(feature), binned.column(feature));
        let n_high = column.iter().filter(|of| self.threshold.is_high(**of, bins.missing_bin())).count();
        let n_rows = binned.n_rows() as u64;
        let parts = TreeParts {
            feature: vec![feature as u32],
            threshold: vec![bins.upper(bin)],
            missing_left: vec![missing_left],
            left: vec![Child::Leaf(0).encode()],
            right: vec![Child::Leaf(1).encode()],
            gain: vec![(1.0 - self.z).max(0.0)],
            count: vec![n_rows],
            leaf_value: vec![0.0, self.alpha],
            leaf_count: vec![n_rows - n_high as u64, n_high as u64],
            leaf_cover: Vec::new(),
        };
        Tree::new(parts).expect("a split and two leaves are a tree")
    }
}

impl Learning for Thresholds<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        let Some(best) = self.best().filter(|best| best.alpha.abs() >= SMALLEST_ALPHA) else {
            return Ok(Learnt::Nothing);
        };
        self.votes.add(best.tree(self.votes.train()));
        Ok(Learnt::More)
    }

    fn scores(&self, set: usize) -> Vec<f64> {
        self.votes.scores(set).to_vec()
    }

    fn fitted(&self) -> Result<Fitted, TrainError> {
        self.votes.fitted()
    }

    fn save(&self) -> Vec<u8> {
        self.votes.save()
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.votes.load(bytes)
    }
}

/// The best thresholds by |r|, at most one per feature.
fn candidates(binned: &BinnedDataset, potentials: &[f64]) -> Vec<Threshold> {
    let potentials: Vec<i64> = potentials.iter().map(|potential| to_fixed(*potential)).collect();
    let of_feature = |feature: usize| best_of_feature(binned, feature, &potentials);
    let mut found: Vec<Threshold> = (0..binned.n_features()).into_par_iter().filter_map(of_feature).collect();
    // Stable: of equal ones the smaller feature.
    found.sort_by_key(|threshold| std::cmp::Reverse(threshold.r.abs()));
    found.truncate(N_EXACT);
    found
}

/// The threshold of a feature with the largest |r|: the lowest one of equals, with missing values on the left if that is
/// as good.
fn best_of_feature(binned: &BinnedDataset, feature: usize, potentials: &[i64]) -> Option<Threshold> {
    let bins = binned.bins(feature);
    let sums = sums_by_bin(binned, feature, potentials);
    let missing = sums[usize::from(bins.missing_bin())];
    let total: i64 = sums.iter().sum();
    let mut best: Option<Threshold> = None;
    let mut up_to = 0;
    for (bin, sum) in sums[..bins.n_value_bins()].iter().enumerate() {
        up_to += sum;
        for missing_left in [true, false] {
            let r = total - up_to - if missing_left { missing } else { 0 };
            if r.abs() > best.map_or(0, |best| best.r.abs()) {
                best = Some(Threshold { feature, bin: bin as u8, missing_left, r });
            }
        }
    }
    best
}

/// The sum of the potentials in each bin.
fn sums_by_bin(binned: &BinnedDataset, feature: usize, potentials: &[i64]) -> [i64; 256] {
    let mut sums = [0i64; 256];
    if let Some(sparse) = binned.sparse_column(feature) {
        let mut listed = 0;
        for (row, bin) in sparse.rows.iter().zip(sparse.bins) {
            sums[usize::from(*bin)] += potentials[*row as usize];
            listed += potentials[*row as usize];
        }
        sums[usize::from(sparse.rest)] += potentials.iter().sum::<i64>() - listed;
        return sums;
    }
    let column: Cow<'_, [u8]> = binned.column(feature);
    for (bin, potential) in column.iter().zip(potentials) {
        sums[usize::from(*bin)] += potential;
    }
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::synth::{Preset, SynthSpec};
    use rankwise_data::{BinningParams, Dataset};

    use super::*;
    use crate::learning::rankboost::pairs::tests::{explicit, log_total};
    use crate::learning::tests::with_task;
    use crate::learning::votes::from_fixed;
    use crate::learning::votes::tests::{check_rounds, with_learner};
    use crate::{Learner, SetBoosting as _, SetLearner as _, TrainSpec, WeakRanker};

    fn spec() -> TrainSpec {
        TrainSpec::default().learner(Learner::RankBoost)
    }

    /// A value for each row and feature, a label for each row; queries of about equal sizes.
    fn dataset(values: &[Vec<f32>], labels: &[u8], n_queries: usize) -> Dataset {
        let n = labels.len();
        let sizes: Vec<usize> =
            (0..n_queries).map(|query| n * (query + 1) / n_queries - n * query / n_queries).collect();
        let sizes: Vec<usize> = sizes.into_iter().filter(|size| *size > 0).collect();
        Dataset::from_dense(&values.concat(), values[0].len()).labels(labels).group_sizes(&sizes).build().unwrap()
    }

    /// Four documents, values 1 to 4, of which the second and the fourth are relevant.
    ///
    /// Pairs: (1, 2), (1, 4), (3, 2), (3, 4), each with 1/4. Above 1: right 1/2 (those of document 1), wrong 0. Above 3: right
    /// 1/2, wrong 0. Above 2: right 1/4, wrong 1/4.
    #[test]
    fn an_example_by_hand() {
        let data = dataset(&[vec![1.0], vec![2.0], vec![3.0], vec![4.0]], &[0, 1, 0, 1], 1);
        with_task(spec(), &data, |task| {
            let mut learner = Thresholds::new(&task, Pairs::new(&data), Weighting::Exact).unwrap();
            let first = learner.best().unwrap();
            // Of the two the lower one. Wrong is 0, so alpha is at its limit, ln(1e10) / 2.
            assert_eq!((first.threshold.bin, from_fixed(first.threshold.r)), (0, 0.5));
            assert!((first.alpha - 5.0 * libm::log(10.0)).abs() < 1e-12);
            assert!((first.z - (0.5 + 0.5e-5)).abs() < 1e-12);
            learner.round().unwrap();
            assert_eq!(learner.votes.trees()[0].parts().leaf_count, [1, 3]);
            // What is left are the pairs of document 3, and above 3 is right for one and silent on the other.
            let second = learner.best().unwrap();
            assert_eq!(second.threshold.bin, 2);
            assert!((from_fixed(second.threshold.r) - 0.5).abs() < 1e-4);
        });
        // 3 relevant and 1 irrelevant document with 1, 1 and 2 with 0: of 12 pairs 3 * 2 are right, 1 * 1 wrong, 5 tied.
        let values = [1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0].map(|value| vec![value]);
        let data = dataset(&values, &[1, 1, 1, 1, 0, 0, 0], 1);
        with_task(spec(), &data, |task| {
            let best = Thresholds::new(&task, Pairs::new(&data), Weighting::Exact).unwrap().best().unwrap();
            assert!((best.alpha - libm::log(6.0) / 2.0).abs() < 1e-12);
            assert!((best.z - (5.0 + 2.0 * libm::sqrt(6.0)) / 12.0).abs() < 1e-12);
            // r is 5/12.
            let best = Thresholds::new(&task, Pairs::new(&data), Weighting::Correlation).unwrap().best().unwrap();
            assert!((best.alpha - libm::log(17.0 / 7.0) / 2.0).abs() < 1e-12);
            assert!(best.z <= libm::sqrt(1.0 - 25.0 / 144.0));
        });
    }

    #[test]
    fn a_weak_ranker_that_is_mostly_wrong_is_turned_around() {
        let data = dataset(&[vec![3.0], vec![2.0], vec![1.0]], &[0, 1, 2], 1);
        with_task(spec(), &data, |task| {
            let mut learner = Thresholds::new(&task, Pairs::new(&data), Weighting::Exact).unwrap();
            assert!(learner.best().unwrap().alpha < 0.0);
            learner.round().unwrap();
            learner.round().unwrap();
            let by_label = |label: f32| data.labels().iter().position(|of| *of == label).unwrap();
            let scores = learner.scores(0);
            assert!(scores[by_label(2.0)] > scores[by_label(1.0)] && scores[by_label(1.0)] > scores[by_label(0.0)]);
        });
    }

    #[test]
    fn missing_values_go_where_they_fit() {
        let values = [1.0, f32::NAN, 2.0, f32::NAN, 3.0].map(|value| vec![value]);
        for (labels, has_alpha_above_0) in [([0, 1, 0, 1, 0], true), ([1, 0, 1, 0, 1], false)] {
            let data = dataset(&values, &labels, 1);
            with_task(spec(), &data, |task| {
                let best = Thresholds::new(&task, Pairs::new(&data), Weighting::Exact).unwrap().best().unwrap();
                // All values on the left, missing ones on the right.
                assert_eq!((best.threshold.bin, best.threshold.missing_left), (2, false));
                assert_eq!(best.alpha > 0.0, has_alpha_above_0);
            });
        }
    }

    #[test]
    fn rounds_survive_a_stop_and_any_number_of_threads() {
        let data = SynthSpec { preset: Preset::Web, rows: 900, features: Some(6), seed: 5 }.check().unwrap().dataset();
        for weak in [WeakRanker::Threshold, WeakRanker::ThresholdExact] {
            check_rounds(&spec().weak_ranker(weak), &data, 8);
        }
    }

    #[test]
    fn rows_in_another_order_give_the_same_model() {
        let values: Vec<Vec<f32>> =
            (0..60u16).map(|row| vec![f32::from(row * 7 % 13), f32::from(row * 5 % 11)]).collect();
        let labels: Vec<u8> = (0..60).map(|row: u8| row * 3 % 7 % 3).collect();
        let qids: Vec<u8> = (0..60).map(|row| row % 4).collect();
        let build = |order: &[usize]| {
            let values: Vec<f32> = order.iter().flat_map(|row| values[*row].clone()).collect();
            let labels: Vec<u8> = order.iter().map(|row| labels[*row]).collect();
            let qids: Vec<u8> = order.iter().map(|row| qids[*row]).collect();
            Dataset::from_dense(&values, 2).labels(&labels).qids(&qids).build().unwrap()
        };
        let straight: Vec<usize> = (0..60).collect();
        let turned: Vec<usize> = (0..60).rev().collect();
        let model = |data: &Dataset| crate::learning::votes::tests::model_of(spec(), data, 10).to_json();
        assert_eq!(model(&build(&straight)), model(&build(&turned)));
    }

    #[test]
    fn what_cannot_be_learnt_is_an_error_or_nothing() {
        let equal = dataset(&[vec![1.0], vec![2.0]], &[1, 1], 1);
        with_learner(spec(), &equal, |learner| {
            assert_eq!(learner.err(), Some(TrainError::NoPairs { learner: "rankboost".into() }));
        });
        let constant = dataset(&[vec![1.0], vec![1.0]], &[0, 1], 1);
        with_learner(spec(), &constant, |learner| assert_eq!(learner.err(), Some(TrainError::ConstantFeatures)));
        // The feature differs between queries only.
        let useless = dataset(&[vec![1.0], vec![1.0], vec![2.0], vec![2.0]], &[0, 1, 0, 1], 2);
        with_learner(spec(), &useless, |learner| assert_eq!(learner.unwrap().round(), Ok(Learnt::Nothing)));
    }

    #[test]
    fn features_of_any_scale_give_finite_scores() {
        let rows: Vec<Vec<f32>> = (0..40u16)
            .map(|row| {
                let value = f32::from(row * 11 % 17) - 5.0;
                vec![value * 1e-30, value * value * 1e30, f32::NAN, 7.0, if row % 3 == 0 { f32::NAN } else { value }]
            })
            .collect();
        let labels: Vec<u8> = (0..40u16).map(|row| (row * 11 % 17 / 6) as u8).collect();
        let data = dataset(&rows, &labels, 2);
        check_rounds(&spec(), &data, 4);
    }

    proptest! {
        /// Every threshold of every feature, by the definition.
        #[test]
        fn the_search_finds_the_largest_r(
            docs in prop::collection::vec((0u8..3, prop::option::of(0u8..6), prop::option::weighted(0.8, 0u8..40)), 4..40),
        ) {
            let value = |value: Option<u8>| value.map_or(f32::NAN, f32::from);
            let rows: Vec<Vec<f32>> = docs.iter().map(|doc| vec![value(doc.1), value(doc.2)]).collect();
            let labels: Vec<u8> = docs.iter().map(|doc| doc.0).collect();
            let data = dataset(&rows, &labels, 2);
            let pairs = Pairs::new(&data);
            prop_assume!(!pairs.are_empty());
            let at = pairs.at(&vec![0.0; docs.len()]);
            let binned = BinnedDataset::new(&data, &BinningParams::default()).unwrap();
            let all = explicit(&data);
            let mut largest = 0.0f64;
            for feature in 0..binned.n_features() {
                let (column, missing) = (binned.column(feature), binned.bins(feature).missing_bin());
                for bin in 0..missing {
                    for missing_left in [false, true] {
                        let threshold = Threshold { feature, bin, missing_left, r: 0 };
                        let h = |row: usize| f64::from(u8::from(threshold.is_high(column[row], missing)));
                        let r: f64 = all.iter().map(|(worse, better, weight)| weight * (h(*better) - h(*worse))).sum();
                        largest = largest.max(r.abs() / all.len() as f64);
                    }
                }
            }
            let found = candidates(&binned, &at.potentials);
            let r = found.first().map_or(0.0, |threshold| from_fixed(threshold.r).abs());
            prop_assert!((r - largest).abs() < 1e-9, "{r} is not {largest}");
        }

        /// The share of wrong and tied pairs is at most the product of Z, which the total of the weights is as well.
        #[test]
        fn misordering_is_at_most_the_product_of_z(
            docs in prop::collection::vec((0u8..3, 0u8..6, 0u8..9), 4..40),
            n_rounds in 1usize..9,
            weighting in prop_oneof![Just(Weighting::Exact), Just(Weighting::Correlation)],
        ) {
            let rows: Vec<Vec<f32>> = docs.iter().map(|doc| vec![f32::from(doc.1), f32::from(doc.2)]).collect();
            let labels: Vec<u8> = docs.iter().map(|doc| doc.0).collect();
            let data = dataset(&rows, &labels, 2);
            let binned = BinnedDataset::new(&data, &BinningParams::default()).unwrap();
            prop_assume!(!Pairs::new(&data).are_empty() && binned.n_features() > 0);
            with_task(spec(), &data, |task| {
                let mut learner = Thresholds::new(&task, Pairs::new(&data), weighting).unwrap();
                let (mut product, all) = (1.0, explicit(&data));
                for _ in 0..n_rounds {
                    let z = learner.best().map_or(1.0, |best| best.z);
                    if learner.round().unwrap() == Learnt::Nothing {
                        break;
                    }
                    assert!(z <= 1.0 + 1e-12);
                    product *= z;
                }
                let scores = learner.scores(0);
                let wrong = all.iter().filter(|(worse, better, _)| scores[*worse] >= scores[*better]).count();
                let share = wrong as f64 / all.len() as f64;
                assert!(share <= product * (1.0 + 1e-9) + 1e-12, "{share} is above {product}");
                let pairs = Pairs::new(&data);
                let total = |scores: &[f64]| log_total(&data, &pairs.at(scores));
                let grown = total(&scores) - total(&vec![0.0; scores.len()]);
                assert!((libm::exp(grown) - product).abs() < 1e-9, "{} is not {product}", libm::exp(grown));
            });
        }
    }
}
