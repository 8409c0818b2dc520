//! Validation sets: their metrics after each round, and for boosting their scores, tree by tree.

use std::borrow::Cow;

use rankwise_data::{BinnedDataset, Dataset, Documents, Share, SimdLevel};
use rankwise_metrics::{Evaluator, MetricError, MetricName, MetricValues, Rules};
use rankwise_model::Tree;
use rankwise_trees::add_tree;
use serde::{Deserialize, Serialize};

use crate::TrainError;

/// Data to evaluate during training.
#[derive(Clone, Copy, Debug)]
pub struct ValidSet<'a> {
    /// Its name.
    pub name: &'a str,
    /// The data.
    pub data: &'a Dataset,
}

impl ValidSet<'_> {
    /// Whether the metrics can tell models apart here: some query has a relevant document, and every metric has a mean.
    pub fn tells_models_apart(&self, names: &[MetricName], rules: &Rules) -> Result<bool, MetricError> {
        let tied = vec![0.0; self.data.n_rows()];
        let evaluation = Evaluator::new(self.data, names, rules)?.evaluate_canonical(&tied)?;
        Ok(self.has_relevant(names, rules) && evaluation.metrics.iter().all(|metric| metric.mean.is_some()))
    }

    /// Without a relevant document, a metric does not depend on the model, so any choice based on it would be arbitrary.
    fn has_relevant(&self, names: &[MetricName], rules: &Rules) -> bool {
        let has_pairs = names[0].kind().takes_pairs() && !self.data.pairs().is_empty();
        has_pairs || self.data.labels().iter().any(|label| rules.gain.of(*label) > 0.0)
    }
}

/// One metric on one validation set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricValue {
    /// The validation set.
    pub set: String,
    /// The metric.
    pub metric: String,
    /// Its mean.
    pub value: f64,
}

/// A custom metric of a whole validation set, computed after each round.
pub trait OwnMetric: Sync {
    /// The value for these scores, in canonical order. `set` is the index of the validation set.
    fn value(&self, set: usize, data: &Documents, scores: &[f64]) -> OwnValue;
}

/// A value of a custom metric.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnValue {
    /// The name of the metric.
    pub name: String,
    /// The value; NaN is worse than every number.
    pub value: f64,
    /// Whether larger values are better.
    pub is_larger_better: bool,
}

/// Custom metrics, and whether they come before those of the parameters.
#[derive(Clone, Copy)]
pub(crate) struct OwnMetrics<'a> {
    pub(crate) metrics: &'a [&'a dyn OwnMetric],
    pub(crate) come_first: bool,
}

/// A validation set with its metrics.
pub(crate) struct MeasuredSet<'a> {
    pub(crate) name: &'a str,
    docs: &'a Documents,
    evaluator: Evaluator<'a>,
}

/// The metrics after a round.
pub(crate) struct Measured {
    /// By set, in the order of the metrics.
    pub(crate) values: Vec<MetricValue>,
    /// Whether larger values of the first one are better.
    pub(crate) is_larger_better: bool,
}

impl Measured {
    /// Whether a round is better than the best one before it, by the first metric on the first set. NaN is worse than
    /// every number.
    pub(crate) fn is_better_than(&self, best: &[MetricValue]) -> bool {
        let (Some(first), Some(best)) = (self.values.first(), best.first()) else { return !self.values.is_empty() };
        let is_better = if self.is_larger_better { first.value > best.value } else { first.value < best.value };
        is_better || (best.value.is_nan() && !first.value.is_nan())
    }
}

impl<'a> MeasuredSet<'a> {
    pub(crate) fn new(
        set: ValidSet<'a>,
        share: Share<'a>,
        names: &[MetricName],
        rules: &Rules,
    ) -> Result<Self, TrainError> {
        let ValidSet { name, data } = set;
        let can_be_measured = share.any(set.has_relevant(names, rules));
        let evaluator = Evaluator::of_share(share, names, rules)
            .map_err(|source| TrainError::Valid { set: name.to_owned(), source })?;
        if !can_be_measured {
            let metric = names[0].as_str().to_owned();
            return Err(TrainError::NothingToMeasure { set: name.to_owned(), metric });
        }
        Ok(Self { name, docs: data, evaluator })
    }

    /// The metrics of these scores, in canonical order.
    fn measure(&self, scores: &[f64]) -> Result<Vec<MetricValue>, TrainError> {
        let evaluation = self
            .evaluator
            .evaluate_canonical(scores)
            .map_err(|source| TrainError::Valid { set: self.name.to_owned(), source })?;
        let named = |values: MetricValues| {
            let (set, metric) = (self.name.to_owned(), values.name);
            match values.mean {
                Some(value) => Ok(MetricValue { set, metric, value }),
                None => Err(TrainError::NothingToMeasure { set, metric }),
            }
        };
        evaluation.metrics.into_iter().map(named).collect()
    }
}

/// The metrics of the scores of all validation sets, custom metrics among them.
pub(crate) fn measure_all<'s>(
    sets: impl Iterator<Item = (&'s MeasuredSet<'s>, Cow<'s, [f64]>)>,
    own: OwnMetrics<'_>,
    names: &[MetricName],
) -> Result<Measured, TrainError> {
    let mut all = Measured { values: Vec::new(), is_larger_better: names[0].kind().is_larger_better() };
    for (idx, (set, scores)) in sets.enumerate() {
        let named = set.measure(&scores)?;
        let others: Vec<OwnValue> = own.metrics.iter().map(|metric| metric.value(idx, set.docs, &scores)).collect();
        if let (true, 0, Some(first)) = (own.come_first, idx, others.first()) {
            all.is_larger_better = first.is_larger_better;
        }
        let others =
            others.into_iter().map(|own| MetricValue { set: set.name.to_owned(), metric: own.name, value: own.value });
        if own.come_first {
            all.values.extend(others);
            all.values.extend(named);
        } else {
            all.values.extend(named);
            all.values.extend(others);
        }
    }
    Ok(all)
}

/// A validation set with its current scores.
pub(crate) struct Validation<'a> {
    pub(crate) set: MeasuredSet<'a>,
    binned: BinnedDataset,
    /// In canonical order: for the first output, then for the second, ...
    pub(crate) scores: Vec<f64>,
}

impl<'a> Validation<'a> {
    pub(crate) fn new(
        set: MeasuredSet<'a>,
        data: &Dataset,
        share: &Share<'_>,
        train: &BinnedDataset,
        scores: Vec<f64>,
    ) -> Result<Self, TrainError> {
        let binned = share.agree(train.like(data))?;
        Ok(Self { set, binned, scores })
    }

    /// Adds a multiple of a tree to the scores of an output.
    pub(crate) fn add(&mut self, output: usize, tree: &Tree, factor: f64, simd: SimdLevel) {
        let n_rows = self.binned.n_rows();
        add_tree(tree, factor, &mut self.scores[output * n_rows..][..n_rows], &self.binned, simd);
    }
}

#[cfg(test)]
mod tests {
    use rankwise_data::synth::{Preset, SynthSpec};

    use super::*;
    use crate::{SetBoosting as _, Silent, TrainSpec, Trained, Training};

    fn data(seed: u64) -> Dataset {
        SynthSpec { preset: Preset::Web, rows: 600, features: Some(5), seed }.check().unwrap().dataset()
    }

    /// The sum of the squared scores.
    struct Power {
        is_larger_better: bool,
    }

    impl OwnMetric for Power {
        fn value(&self, set: usize, data: &Documents, scores: &[f64]) -> OwnValue {
            assert_eq!((set, scores.len()), (0, data.n_rows()));
            let value = scores.iter().map(|score| score * score).sum();
            OwnValue { name: "power".into(), value, is_larger_better: self.is_larger_better }
        }
    }

    fn run(
        metrics: &[&dyn OwnMetric],
        come_first: bool,
        rates: &[f64],
        spec: TrainSpec,
    ) -> Result<Trained, TrainError> {
        let (train, valid) = (data(1), data(2));
        let params = spec.num_trees(12).check()?;
        let sets = [ValidSet { name: "valid", data: &valid }];
        Training::new(&params, &train)
            .valid(&sets)
            .own_metrics(metrics, come_first)
            .learning_rates(rates)
            .run(&mut Silent)
    }

    #[test]
    fn a_custom_metric_decides_if_it_comes_first() {
        let stopping = || TrainSpec::default().early_stopping_rounds(3);
        let names = |trained: &Trained| trained.history.curves.iter().map(|of| of.metric.clone()).collect::<Vec<_>>();
        // Scores spread with every tree, so one direction always improves and the other never does.
        for (is_larger_better, n_trees) in [(true, 12), (false, 4)] {
            let metric = Power { is_larger_better };
            let first = run(&[&metric], true, &[], stopping()).unwrap();
            assert_eq!((first.trees_grown, names(&first)), (n_trees, vec!["power".to_owned(), "ndcg@10".to_owned()]));
            let plain = run(&[], true, &[], stopping()).unwrap();
            let last = run(&[&metric], false, &[], stopping()).unwrap();
            assert_eq!(names(&last), ["ndcg@10", "power"]);
            assert_eq!(last.trees_grown, plain.trees_grown);
            assert_eq!(last.model.to_json(), plain.model.to_json());
        }
    }

    #[test]
    fn all_rounds_are_kept_on_request() {
        let (train, valid) = (data(1), data(2));
        let params = TrainSpec::default().num_trees(30).learning_rate(1.0).check().unwrap();
        let sets = [ValidSet { name: "valid", data: &valid }];
        let best = Training::new(&params, &train).valid(&sets).run(&mut Silent).unwrap();
        let all = Training::new(&params, &train).valid(&sets).keep_all_rounds().run(&mut Silent).unwrap();
        assert!(best.model.tree_ensemble().unwrap().n_trees() < 30, "overfits");
        assert_eq!(all.model.tree_ensemble().unwrap().n_trees(), 30);
        assert_eq!((&best.history, all.values[0].value), (&all.history, all.history.curves[0].values[29]));
        let stopping = TrainSpec::default().early_stopping_rounds(3).check().unwrap();
        assert!(Training::new(&stopping, &train).valid(&sets).keep_all_rounds().run(&mut Silent).is_err());
    }

    #[test]
    fn a_schedule_gives_each_round_its_rate() {
        let scores = |rates: &[f64], rate: f64| {
            let trained = run(&[], false, rates, TrainSpec::default().learning_rate(rate)).unwrap();
            trained.model.tree_ensemble().unwrap().trees().to_vec()
        };
        assert_eq!(scores(&[0.2], 0.1), scores(&[], 0.2), "the last rate is kept");
        let (constant, halved) = (scores(&[], 0.2), scores(&[0.2, 0.2, 0.1], 0.2));
        assert_eq!(constant[..2], halved[..2]);
        assert_eq!(constant[2].scaled(0.5), halved[2]);
        assert_ne!(constant[3], halved[3]);
        for rate in [0.0, -1.0, f64::NAN, 11.0] {
            let error = run(&[], false, &[0.1, rate], TrainSpec::default()).unwrap_err().to_string();
            assert!(error.contains("learning_rate") && error.contains("schedule"), "{error}");
        }
        let error = run(&[], false, &[0.1], TrainSpec::default().langevin(true)).unwrap_err().to_string();
        assert!(error.contains("langevin"), "{error}");
    }
}
