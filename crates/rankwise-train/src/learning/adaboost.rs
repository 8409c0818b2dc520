//! AdaBoost (Freund and Schapire 1997): a weighted vote of classifiers of relevant and irrelevant documents. With t = 1 for
//! relevant documents and -1 for the others, each round adds the classifier y that it finds at the weights w:
//!
//! ```text
//! eps   = the weight of the documents with y != t, where the weights of all documents add up to 1
//! alpha = ln((1 - eps) / eps)
//! w     = w * exp(alpha [y != t]), divided by the sum
//! score = sum of alpha * y: the margin of the vote for relevant
//! ```
//!
//! The weight of the training documents on the wrong side of 0 is at most the product of 2 sqrt(eps (1 - eps)). Weights
//! follow from scores, as w = w0 exp(-t * score / 2) up to a factor, so that there is no state beside the trees.
//!
//! A classifier is a tree whose leaves say what most of their weight is ([`tree`]).

mod prune;
mod tree;

use rankwise_data::{Documents, reduce};
use rankwise_model::Tree;
use rayon::prelude::*;

use self::prune::pruned;
use self::tree::{Grown, Limits, Sample};
use super::votes::{Votes, from_fixed, to_fixed};
use super::{Fitted, Learning, Learnt, Task};
use crate::{CheckpointError, LearnerParams, TrainError, WeakLearner};

/// The smallest eps, which keeps alpha finite.
const SMALLEST_ERROR: f64 = 1e-10;
/// Number of documents whose weights a thread computes at a time.
const ROWS_PER_BLOCK: usize = 1 << 12;

/// AdaBoost with trees.
pub(crate) struct AdaBoost<'a> {
    votes: Votes<'a>,
    params: &'a LearnerParams,
    limits: Limits,
    is_relevant: Vec<bool>,
    /// Weights before the first round: those of queries times those of documents.
    weights: Vec<f64>,
}

impl<'a> AdaBoost<'a> {
    pub(crate) fn new(task: &Task<'a>) -> Result<Self, TrainError> {
        let (data, relevant_from): (&Documents, f32) = (task.train, task.params.rules().relevant_from);
        let is_relevant: Vec<bool> = data.labels().iter().map(|label| *label >= relevant_from).collect();
        let weights: Vec<f64> = data
            .queries()
            .flat_map(|query| {
                let of_query = f64::from(query.weight);
                query.rows.map(move |row| of_query * f64::from(data.weight(row)))
            })
            .collect();
        let has = |class: bool| is_relevant.iter().zip(&weights).any(|(of, weight)| *of == class && *weight > 0.0);
        if !(has(true) && has(false)) {
            let found = if has(true) { "relevant" } else { "irrelevant" };
            return Err(TrainError::OneClass { found, relevant_from: said(relevant_from) });
        }
        let (params, trees) = (task.params.learner(), task.params.trees());
        let depth = usize::try_from(trees.max_depth).ok().filter(|depth| *depth > 0).unwrap_or(usize::MAX);
        let (max_depth, price) = match params.weak_learner {
            WeakLearner::Stump => (1, 0.0),
            WeakLearner::Tree => (depth, params.prune_lambda),
        };
        let min_docs = trees.min_data_in_leaf.max(1);
        let limits = Limits { impurity: params.impurity, max_depth, min_docs, price };
        Ok(Self { votes: Votes::new(task)?, params, limits, is_relevant, weights })
    }

    /// The weights at the current scores as integers: of relevant documents above 0, of the others below.
    fn signed_weights(&self) -> Vec<i64> {
        let sign = |row: usize| if self.is_relevant[row] { 1.0 } else { -1.0 };
        let scores = self.votes.scores(0);
        let exponent = |row: usize| -sign(row) * scores[row] / 2.0;
        let rows = || (0..scores.len()).into_par_iter().with_min_len(ROWS_PER_BLOCK);
        let heaviest = (0..scores.len()).filter(|row| self.weights[*row] > 0.0).map(exponent);
        let heaviest = heaviest.fold(f64::NEG_INFINITY, f64::max);
        // Documents without a weight may have larger exponents.
        let weight = |row: usize| self.weights[row] * libm::exp((exponent(row) - heaviest).min(0.0));
        let weights: Vec<f64> = rows().map(weight).collect();
        let total = reduce::sum(weights.iter().copied());
        rows().map(|row| to_fixed(sign(row) * weights[row] / total)).collect()
    }

    /// The classifier of the next round.
    fn grow(&self) -> Grown {
        let signed = self.signed_weights();
        let grown = Sample::new(self.votes.train(), &signed).grow(self.limits);
        match self.params.weak_learner {
            WeakLearner::Stump => grown,
            WeakLearner::Tree => pruned(grown, self.limits.impurity, self.params.prune_lambda),
        }
    }

    /// Whether the last tree made no error, so that another round would give the same tree.
    fn is_perfect(&self) -> bool {
        let last = self.votes.trees().last();
        last.is_some_and(|tree| tree.parts().leaf_value[0].abs() == alpha_of(0.0))
    }
}

/// The weight of a classifier.
fn alpha_of(error: f64) -> f64 {
    let error = error.max(SMALLEST_ERROR);
    libm::log((1.0 - error) / error)
}

/// A tree that votes with its weight; `None` if it is wrong about half of the weights.
fn vote(grown: &Grown) -> Option<Tree> {
    let (wrong, total) = grown.error();
    let error = from_fixed(wrong) / from_fixed(total);
    let alpha = alpha_of(error);
    (error < 0.5 && alpha > 0.0).then(|| grown.tree(alpha))
}

/// A threshold of labels for a message: the number after a round one is "above" that one.
fn said(relevant_from: f32) -> String {
    let [from, below] = [relevant_from, relevant_from.next_down()].map(|number| number.to_string());
    if below.len() < from.len() { format!("above {below}") } else { format!("{from} or more") }
}

impl Learning for AdaBoost<'_> {
    fn round(&mut self) -> Result<Learnt, TrainError> {
        if self.is_perfect() {
            return Ok(Learnt::Nothing);
        }
        let Some(tree) = vote(&self.grow()) else { return Ok(Learnt::Nothing) };
        self.votes.add(tree);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rankwise_data::Dataset;
    use rankwise_data::synth::{Preset, SynthSpec};
    use rankwise_metrics::SetRules as _;
    use rankwise_trees::SetTrees as _;

    use super::*;
    use crate::learning::tests::with_task;
    use crate::learning::votes::tests::{check_rounds, model_of, with_learner};
    use crate::{Impurity, Learner, SetBoosting as _, SetLearner as _, TrainSpec};

    fn spec(weak: WeakLearner) -> TrainSpec {
        TrainSpec::default().learner(Learner::AdaBoost).weak_learner(weak).min_data_in_leaf(1)
    }

    fn dataset(values: &[f32], n_features: usize, labels: &[u8]) -> Dataset {
        Dataset::from_dense(values, n_features).labels(labels).group_sizes(&[labels.len()]).build().unwrap()
    }

    /// Values 1 to 5 with classes - + - + +. Above 3 all are relevant, and one of the others is: eps = 1/5, alpha = ln 4. Its
    /// weight, 1/5, becomes 4/8, that of each other document 1/8.
    #[test]
    fn an_example_by_hand() {
        let data = dataset(&[1.0, 2.0, 3.0, 4.0, 5.0], 1, &[0, 1, 0, 1, 2]);
        with_task(spec(WeakLearner::Stump).impurity(Impurity::Error), &data, |task| {
            let mut learner = AdaBoost::new(&task).unwrap();
            let row = |value: f32| (0..5).find(|row| data.column(0).get(*row) == value).unwrap();
            learner.round().unwrap();
            let values = &learner.votes.trees()[0].parts().leaf_value;
            assert!((values[1] - libm::log(4.0)).abs() < 1e-12 && values[0] == -values[1], "{values:?}");
            let weights = learner.signed_weights();
            for (value, expected) in [(1.0, -1.0), (2.0, 4.0), (3.0, -1.0), (4.0, 1.0), (5.0, 1.0)] {
                assert!((from_fixed(weights[row(value)]) - expected / 8.0).abs() < 1e-12);
            }
            // Now above 1 is best: only the document with 3 is wrong, with 1/8.
            learner.round().unwrap();
            let parts = learner.votes.trees()[1].parts();
            assert!((parts.leaf_value[1] - libm::log(7.0)).abs() < 1e-12);
            assert_eq!((parts.threshold[0], parts.leaf_count.clone()), (1.5, vec![1, 4]));
        });
    }

    #[test]
    fn a_tree_without_errors_is_the_last_one() {
        let data = dataset(&[1.0, 2.0, 3.0, 4.0, 5.0], 1, &[0, 1, 0, 1, 2]);
        let model = model_of(spec(WeakLearner::Tree), &data, 5);
        let trees = model.tree_ensemble().unwrap().trees();
        assert_eq!((trees.len(), trees[0].n_leaves()), (1, 4));
        assert!(trees[0].parts().leaf_value.iter().all(|value| value.abs() == alpha_of(0.0)));
    }

    #[test]
    fn weights_of_documents_and_queries_count() {
        let values = [1.0f32, 2.0, 3.0, 1.0, 2.0];
        let labels = [0u8, 1, 0, 1, 0];
        let build = |weights: &[f32], queries: &[f32]| {
            let data = Dataset::from_dense(&values, 1).labels(&labels).weights(weights).query_weights(queries);
            data.group_sizes(&[3, 2]).build().unwrap()
        };
        let scores = |data: &Dataset| {
            with_learner(spec(WeakLearner::Stump), data, |learner| {
                let mut learner = learner.unwrap();
                (0..2).for_each(|_| assert_eq!(learner.round().unwrap(), Learnt::More));
                data.to_input_order(&learner.scores(0))
            })
        };
        let by_query = scores(&build(&[1.0; 5], &[1.0, 3.0]));
        assert_eq!(by_query, scores(&build(&[1.0, 1.0, 1.0, 3.0, 3.0], &[1.0, 1.0])));
        assert_ne!(by_query, scores(&build(&[1.0; 5], &[1.0, 1.0])));
    }

    #[test]
    fn one_class_is_an_error() {
        let data = dataset(&[1.0, 2.0, 3.0], 1, &[1, 2, 2]);
        with_learner(spec(WeakLearner::Stump), &data, |learner| {
            let text = learner.err().unwrap().to_string();
            assert!(text.contains("every document with a weight is relevant") && text.contains("above 0"), "{text}");
        });
        with_learner(spec(WeakLearner::Stump).relevant_from(3.0), &data, |learner| {
            let text = learner.err().unwrap().to_string();
            assert!(text.contains("is irrelevant") && text.contains("`relevant_from`, which is 3 or more"), "{text}");
        });
        with_learner(spec(WeakLearner::Stump).relevant_from(2.0), &data, |learner| assert!(learner.is_ok()));
    }

    #[test]
    fn features_that_say_nothing_are_an_error_or_nothing() {
        let constant = dataset(&[1.0, 1.0], 1, &[0, 1]);
        with_learner(spec(WeakLearner::Stump), &constant, |learner| {
            assert_eq!(learner.err(), Some(TrainError::ConstantFeatures));
        });
        let useless = dataset(&[1.0, 1.0, 2.0, 2.0], 1, &[0, 1, 0, 1]);
        for weak in [WeakLearner::Stump, WeakLearner::Tree] {
            with_learner(spec(weak), &useless, |learner| assert_eq!(learner.unwrap().round(), Ok(Learnt::Nothing)));
        }
    }

    #[test]
    fn rounds_survive_a_stop_and_any_number_of_threads() {
        let data = SynthSpec { preset: Preset::Web, rows: 900, features: Some(6), seed: 5 }.check().unwrap().dataset();
        for impurity in [Impurity::Gini, Impurity::Entropy, Impurity::Error] {
            for weak in [WeakLearner::Stump, WeakLearner::Tree] {
                check_rounds(&spec(weak).impurity(impurity), &data, 4);
            }
        }
    }

    #[test]
    fn features_of_any_scale_give_finite_scores() {
        let value = |row: u16| f32::from(row * 11 % 17) - 5.0;
        let row = |row: u16| [value(row) * 1e-30, value(row) * value(row) * 1e30, f32::NAN, 7.0];
        let values: Vec<f32> = (0..40).flat_map(row).collect();
        let labels: Vec<u8> = (0..40u16).map(|row| u8::from(row * 7 % 13 > 5)).collect();
        check_rounds(&spec(WeakLearner::Stump), &dataset(&values, 4, &labels), 2);
    }

    proptest! {
        /// The weight of the wrong documents is at most the product of 2 sqrt(eps (1 - eps)).
        #[test]
        fn the_training_error_is_bounded(
            docs in prop::collection::vec((any::<bool>(), prop::option::of(0u8..6), 0u8..9, 0u8..4), 4..40),
            n_rounds in 1usize..9,
            impurity in prop_oneof![Just(Impurity::Gini), Just(Impurity::Entropy), Just(Impurity::Error)],
            weak in prop_oneof![Just(WeakLearner::Stump), Just(WeakLearner::Tree)],
        ) {
            let value = |value: Option<u8>| value.map_or(f32::NAN, f32::from);
            let values: Vec<f32> = docs.iter().flat_map(|doc| [value(doc.1), f32::from(doc.2)]).collect();
            let labels: Vec<u8> = docs.iter().map(|doc| u8::from(doc.0)).collect();
            let weights: Vec<f32> = docs.iter().map(|doc| f32::from(doc.3)).collect();
            let data = Dataset::from_dense(&values, 2).labels(&labels).weights(&weights).group_sizes(&[docs.len()]);
            let data = data.build().unwrap();
            with_task(spec(weak).impurity(impurity).max_depth(2).prune_lambda(0.01), &data, |task| {
                let Ok(mut learner) = AdaBoost::new(&task) else { return };
                let mut bound = 1.0;
                for _ in 0..n_rounds {
                    let (wrong, total) = learner.grow().error();
                    let error = (wrong as f64 / total as f64).max(SMALLEST_ERROR);
                    if learner.round().unwrap() == Learnt::Nothing {
                        break;
                    }
                    bound *= 2.0 * libm::sqrt(error * (1.0 - error));
                }
                let (scores, total) = (learner.scores(0), learner.weights.iter().sum::<f64>());
                let is_wrong = |row: &usize| (scores[*row] > 0.0) != learner.is_relevant[*row] || scores[*row] == 0.0;
                let wrong: f64 = (0..docs.len()).filter(is_wrong).map(|row| learner.weights[row]).sum();
                assert!(wrong / total <= bound + 1e-9, "{} is above {bound}", wrong / total);
            });
        }
    }
}
