//! Trees that are added up round by round, with their scores on all sets: the models of AdaBoost and of RankBoost with
//! thresholds. Trees read bins here and values in the model; both take the same path, because thresholds are the upper
//! bounds of bins.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rankwise_data::{BinnedDataset, Documents};
use rankwise_model::{Output, Tree, TreeEnsemble};
use rayon::prelude::*;

use super::{Fitted, Task};
use crate::{CheckpointError, TrainError};

/// Number of documents that a thread scores at a time.
const ROWS_PER_BLOCK: usize = 1 << 13;

/// The integer that stands for 1 in sums of weights. The weights of a round add up to 1 and their potentials to at most 2,
/// so sums stay below 2^62.
const ONE: f64 = (1u64 << 60) as f64;

/// A share of all weights as an integer, so that sums do not depend on their order.
pub(crate) fn to_fixed(share: f64) -> i64 {
    (share * ONE).round_ties_even() as i64
}

/// The share that an integer stands for.
pub(crate) fn from_fixed(sum: i64) -> f64 {
    sum as f64 / ONE
}

/// A sum of trees. Their features are places in the binned data.
pub(crate) struct Votes<'a> {
    data: &'a Documents,
    /// By set: the training data first.
    binned: Vec<BinnedDataset>,
    trees: Vec<Tree>,
    /// By set.
    scores: Vec<Vec<f64>>,
}

impl<'a> Votes<'a> {
    pub(crate) fn new(task: &Task<'a>) -> Result<Self, TrainError> {
        let train = BinnedDataset::new(task.train, task.params.binning())?;
        if train.n_features() == 0 {
            return Err(TrainError::ConstantFeatures);
        }
        let valid = task.valid.iter().map(|set| train.like(set)).collect::<Result<Vec<_>, _>>()?;
        let binned: Vec<BinnedDataset> = std::iter::once(train).chain(valid).collect();
        let scores = binned.iter().map(|set| vec![0.0; set.n_rows()]).collect();
        Ok(Self { data: task.train, binned, trees: Vec::new(), scores })
    }

    /// The training data in bins.
    pub(crate) fn train(&self) -> &BinnedDataset {
        &self.binned[0]
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The scores of the documents of a set, in canonical order.
    pub(crate) fn scores(&self, set: usize) -> &[f64] {
        &self.scores[set]
    }

    pub(crate) fn add(&mut self, tree: Tree) {
        for (binned, scores) in self.binned.iter().zip(&mut self.scores) {
            add_scores(binned, &tree, scores);
        }
        self.trees.push(tree);
    }

    pub(crate) fn fitted(&self) -> Result<Fitted, TrainError> {
        let ids = self.train().feature_ids();
        let used: BTreeSet<u32> = self.trees.iter().flat_map(|tree| &tree.parts().feature).copied().collect();
        let used: Vec<u32> = used.into_iter().collect();
        let features: Vec<u32> = used.iter().map(|feature| ids[*feature as usize]).collect();
        let is_f64 = |place: u32| self.data.f64_features().binary_search(&features[place as usize]).is_ok();
        // The model rounds no value if it has one feature that must not be rounded.
        let rounds = !(0..features.len() as u32).any(is_f64);
        let place = |feature: u32| used.binary_search(&feature).expect("every feature of a tree is used") as u32;
        let trees = self.trees.iter().map(|tree| {
            let tree = tree.with_features(place);
            if rounds { tree } else { tree.for_unrounded(is_f64) }
        });
        let ensemble = TreeEnsemble::new(0.0, Output::Sum, trees.collect())?;
        Ok(Fitted { ranker: ensemble.into(), features })
    }

    /// The trees; scores follow from them.
    pub(crate) fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.trees).expect("trees are numbers and lists, which always have a form")
    }

    pub(crate) fn load(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let trees: Vec<Tree> = postcard::from_bytes(bytes).map_err(|_| CheckpointError::inconsistent())?;
        let n_features = self.train().n_features();
        let features = || trees.iter().flat_map(|tree| &tree.parts().feature);
        if features().any(|feature| *feature as usize >= n_features) {
            return Err(CheckpointError::inconsistent());
        }
        self.trees.clear();
        self.scores.iter_mut().for_each(|scores| scores.fill(0.0));
        for tree in trees {
            self.add(tree);
        }
        Ok(())
    }
}

/// A split as it reads bins.
struct BinSplit {
    /// The place of the feature among those that the tree uses.
    place: usize,
    last_left: u8,
    missing: u8,
    missing_left: bool,
}

fn add_scores(binned: &BinnedDataset, tree: &Tree, scores: &mut [f64]) {
    let parts = tree.parts();
    let used: BTreeSet<usize> = parts.feature.iter().map(|feature| *feature as usize).collect();
    let used: Vec<usize> = used.into_iter().collect();
    let split = |node: usize| {
        let feature = parts.feature[node] as usize;
        let bins = binned.bins(feature);
        BinSplit {
            place: used.binary_search(&feature).expect("it is used"),
            last_left: bins.bin_f64(parts.threshold[node]),
            missing: bins.missing_bin(),
            missing_left: parts.missing_left[node],
        }
    };
    let splits: Vec<BinSplit> = (0..tree.n_nodes()).map(split).collect();
    scores.par_chunks_mut(ROWS_PER_BLOCK).enumerate().for_each(|(block, scores)| {
        let start = block * ROWS_PER_BLOCK;
        let rows = || start..start + scores.len();
        let columns: Vec<Cow<'_, [u8]>> = used.iter().map(|feature| binned.column_in(*feature, rows())).collect();
        for (row, score) in scores.iter_mut().enumerate() {
            let leaf = tree.walk(|node| {
                let split = &splits[node];
                let bin = columns[split.place][row];
                if bin == split.missing { split.missing_left } else { bin <= split.last_left }
            });
            *score += parts.leaf_value[leaf];
        }
    });
}

#[cfg(test)]
pub(crate) mod tests {
    use rankwise_data::Dataset;
    use rankwise_model::{AbsentFeature, Header, Model, Precision};

    use super::*;
    use crate::learning::{Learning, Learnt, start};
    use crate::{TrainSpec, learning};

    /// Calls `test` with the learner of the parameters.
    pub(crate) fn with_learner<R>(
        spec: TrainSpec,
        data: &Dataset,
        test: impl FnOnce(Result<Box<dyn Learning + '_>, TrainError>) -> R,
    ) -> R {
        learning::tests::with_task(spec, data, |task| test(start(Task { objective: None, ..task })))
    }

    /// The model of a learner after some rounds.
    pub(crate) fn model_of(spec: TrainSpec, data: &Dataset, n_rounds: usize) -> Model {
        with_learner(spec, data, |learner| {
            let mut learner = learner.unwrap();
            for _ in 0..n_rounds {
                if learner.round().unwrap() == Learnt::Nothing {
                    break;
                }
            }
            model(data, learner.fitted().unwrap())
        })
    }

    pub(crate) fn model(data: &Dataset, fitted: Fitted) -> Model {
        let f64_features: Vec<u32> =
            fitted.features.iter().copied().filter(|id| data.f64_features().contains(id)).collect();
        let precision = if f64_features.is_empty() { Precision::F32 } else { Precision::F64 };
        let header = Header { f64_features, ..Header::new(AbsentFeature::Missing, precision, fitted.features) };
        Model::new(header, fitted.ranker).unwrap()
    }

    /// The scores of a model, from values.
    pub(crate) fn scores_by_value(model: &Model, data: &Dataset) -> Vec<f64> {
        let columns: Vec<_> = model.features().iter().map(|id| data.f64_values_of(*id).unwrap()).collect();
        let score = |row: usize| model.score(&columns.iter().map(|column| column.get(row)).collect::<Vec<_>>());
        (0..data.n_rows()).map(score).collect()
    }

    /// Checks that saving and loading half-way changes nothing, that threads do not, and that scores are the model's.
    pub(crate) fn check_rounds(spec: &TrainSpec, data: &Dataset, n_rounds: usize) {
        let in_pool = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| model_of(spec.clone(), data, n_rounds).to_json())
        };
        let whole = in_pool(1);
        assert_eq!(in_pool(3), whole);
        let half = with_learner(spec.clone(), data, |learner| {
            let mut learner = learner.unwrap();
            (0..n_rounds / 2).for_each(|_| assert_eq!(learner.round().unwrap(), Learnt::More));
            learner.save()
        });
        with_learner(spec.clone(), data, |learner| {
            let mut learner = learner.unwrap();
            assert!(learner.load(&half[..half.len() - 1]).is_err());
            learner.load(&half).unwrap();
            (n_rounds / 2..n_rounds).for_each(|_| assert_eq!(learner.round().unwrap(), Learnt::More));
            let model = model(data, learner.fitted().unwrap());
            assert_eq!(model.to_json(), whole);
            let expected = scores_by_value(&model, data);
            let found = learner.scores(0);
            assert!(found.iter().zip(&expected).all(|(found, expected)| found.to_bits() == expected.to_bits()));
            assert!(found.iter().any(|score| *score != found[0]));
        });
    }

    #[test]
    fn integers_hold_shares() {
        assert_eq!(from_fixed(to_fixed(0.375)), 0.375);
        assert_eq!(from_fixed(to_fixed(-1.0) - to_fixed(1.0)), -2.0);
        assert!((from_fixed(to_fixed(0.1)) - 0.1).abs() < 1e-17);
    }
}
