//! Determines the factors of earlier trees when a tree is added, and the scores that it learns from.
//!
//! | `learner` | learns from the scores of | factors of earlier trees |
//! |---|---|---|
//! | `gbdt` | all earlier trees | unchanged |
//! | `dart` | those that are not dropped | [`dart`] |
//! | `random-forest` | none | equal: 1 / number of trees |
//!
//! Trees are kept as they were grown, with a separate current factor for each round.

mod dart;

use self::dart::Dart;
use crate::boost::{Run, timed};
use crate::{Learner, LoopParams};

/// How trees are combined into a model.
pub(crate) enum Ensemble {
    Boosted,
    Dart(Dart),
    Forest(Forest),
}

/// The scores from which every tree of a forest learns.
pub(crate) struct Forest {
    train: Vec<f64>,
    /// By validation set.
    valid: Vec<Vec<f64>>,
}

impl Ensemble {
    /// For a run with these initial scores.
    pub(crate) fn new<'s>(params: &LoopParams, train: &[f64], valid: impl Iterator<Item = &'s [f64]>) -> Self {
        match params.learner {
            Learner::Dart => Self::Dart(Dart::new(params)),
            Learner::RandomForest => {
                Self::Forest(Forest { train: train.to_vec(), valid: valid.map(<[f64]>::to_vec).collect() })
            }
            _ => Self::Boosted,
        }
    }

    /// Whether the factors of earlier trees change.
    pub(crate) fn has_factors(&self) -> bool {
        !matches!(self, Self::Boosted)
    }

    /// The scores that a tree learns from, if they are not the current ones.
    pub(crate) fn scores(&self) -> Option<&[f64]> {
        match self {
            Self::Boosted => None,
            Self::Dart(dart) => dart.scores(),
            Self::Forest(forest) => Some(&forest.train),
        }
    }

    /// Whether trees do not see each other; their leaf values have no learning rate.
    pub(crate) fn is_forest(&self) -> bool {
        matches!(self, Self::Forest(_))
    }
}

impl Run<'_> {
    /// Drops trees before a round, if the learner does that.
    pub(crate) fn drop_trees(&mut self) {
        let round = self.round();
        let Ensemble::Dart(dart) = &mut self.ensemble else { return };
        let (n_outputs, n_rows) = (self.output.n_outputs(), self.data.n_rows());
        dart.drop_for(round, &self.factors);
        timed(&mut self.phases.scores, || {
            dart.take_out(&self.scores, |round, scores| {
                for (output, scores) in scores.chunks_exact_mut(n_rows).enumerate() {
                    let tree = &self.trees[round * n_outputs + output];
                    self.grower.add_tree(tree, -self.factors[round], scores);
                }
            });
        });
    }

    /// Prepares for the trees of a new round: updates the factors of earlier trees, and all scores accordingly. Returns
    /// the factor of the new trees.
    pub(crate) fn make_room(&mut self) -> f64 {
        match &mut self.ensemble {
            Ensemble::Boosted => 1.0,
            Ensemble::Dart(dart) => {
                let (dropped, kept_share, factor) = (dart.take_dropped(), dart.kept_share(), dart.new_factor());
                let n_outputs = self.output.n_outputs();
                for round in dropped {
                    let now = self.factors[round] * kept_share;
                    let change = now - self.factors[round];
                    (0..n_outputs).for_each(|output| self.add_multiple(output, round * n_outputs + output, change));
                    self.factors[round] = now;
                }
                self.factors.push(factor);
                factor
            }
            Ensemble::Forest(forest) => {
                let n_rounds = self.factors.len() + 1;
                let share = (n_rounds - 1) as f64 / n_rounds as f64;
                let valid = self.validation.iter_mut().map(|set| &mut set.scores).zip(&forest.valid);
                for (scores, start) in valid.chain([(&mut self.scores, &forest.train)]) {
                    scores.iter_mut().zip(start).for_each(|(score, start)| *score = start + (*score - start) * share);
                }
                let factor = 1.0 / n_rounds as f64;
                self.factors = vec![factor; n_rounds];
                factor
            }
        }
    }

    /// Adds a multiple of a tree to all scores of an output.
    pub(crate) fn add_multiple(&mut self, output: usize, tree: usize, factor: f64) {
        let (tree, n_rows) = (&self.trees[tree], self.data.n_rows());
        timed(&mut self.phases.scores, || {
            let scores = &mut self.scores[output * n_rows..][..n_rows];
            self.grower.add_tree(tree, factor, scores);
        });
        timed(&mut self.phases.validation, || {
            self.validation.iter_mut().for_each(|set| set.add(output, tree, factor, self.simd));
        });
    }
}
