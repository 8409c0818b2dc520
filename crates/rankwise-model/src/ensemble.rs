//! Tree ensembles.

use crate::file::{Body, Contents, file_fields, json};
use crate::output::Output;
use crate::tree::{Tree, TreeParts};
use crate::{ModelError, Ranker};

/// The name of this kind in the model file.
pub(crate) const KIND: &str = "trees";
/// The oldest file version with covers of leaves.
const VERSION_OF_COVERS: u64 = 6;

/// Trees, and how the leaves of a document make its score. All numbers are finite, and the number of trees suits the
/// output.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeEnsemble {
    base_score: f64,
    output: Output,
    trees: Vec<Tree>,
}

impl TreeEnsemble {
    /// `base_score` is the score before the first tree; 0 if `output` has a base score for each output.
    pub fn new(base_score: f64, output: Output, trees: Vec<Tree>) -> Result<Self, ModelError> {
        if !base_score.is_finite() {
            return Err(ModelError::Content { problem: "base_score is not a finite number".into() });
        }
        output.check(trees.len())?;
        Ok(Self { base_score, output, trees })
    }

    /// The score before the first tree.
    pub fn base_score(&self) -> f64 {
        self.base_score
    }

    /// The base score of each output.
    pub fn base_scores(&self) -> Vec<f64> {
        self.output.base_scores(self.base_score)
    }

    /// How leaves make a score.
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The number of outputs, which is the number of trees per round.
    pub fn n_outputs(&self) -> usize {
        self.output.n_outputs()
    }

    /// The trees, in the order in which their values are added. Features are indices into the model's list.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The number of leaves in all trees.
    pub fn n_leaves(&self) -> usize {
        self.trees.iter().map(Tree::n_leaves).sum()
    }

    /// The length of the longest path in any tree, in splits.
    pub fn depth(&self) -> usize {
        self.trees.iter().map(Tree::depth).max().unwrap_or(0)
    }

    /// The ensemble after this many rounds, or all if it has fewer.
    #[must_use]
    pub fn first_rounds(&self, n_rounds: usize) -> Self {
        let n_trees = n_rounds.saturating_mul(self.n_outputs()).min(self.trees.len());
        Self { trees: self.trees[..n_trees].to_vec(), ..self.clone() }
    }

    /// The same base score and output with other trees.
    pub fn with_trees(&self, trees: Vec<Tree>) -> Result<Self, ModelError> {
        Self::new(self.base_score, self.output.clone(), trees)
    }

    /// The score of one document, given rounded values of the model's features; NaN is missing.
    pub fn score(&self, values: &[f64]) -> f64 {
        let leaf = |tree: &Tree| tree.parts().leaf_value[tree.leaf(values)];
        match &self.output {
            Output::Sum => self.trees.iter().fold(self.base_score, |score, tree| score + leaf(tree)),
            Output::ExpectedGain(expected) => {
                let mut outputs = expected.base_scores.clone();
                let n_outputs = outputs.len();
                for (idx, tree) in self.trees.iter().enumerate() {
                    outputs[idx % n_outputs] += leaf(tree);
                }
                expected.score(outputs.into_iter())
            }
        }
    }

    /// Checks that trees use only features of the model.
    pub(crate) fn check(&self, n_features: usize) -> Result<(), ModelError> {
        for (idx, tree) in self.trees.iter().enumerate() {
            if let Some(slot) = tree.parts().feature.iter().find(|slot| **slot as usize >= n_features) {
                let problem = format!("it uses feature number {slot} of {n_features}");
                return Err(ModelError::Tree { tree: idx, problem });
            }
        }
        Ok(())
    }

    pub(crate) fn body(&self) -> Body {
        let mut fields = vec![("base_score", json(&self.base_score))];
        let mut version = 1;
        if self.output != Output::Sum {
            fields.push(("output", json(&self.output)));
            version = 3;
        }
        if self.trees.iter().any(|tree| !tree.parts().leaf_cover.is_empty()) {
            version = VERSION_OF_COVERS;
        }
        Body { version, fields, list: ("trees", self.trees.iter().map(|tree| json(tree.parts())).collect()) }
    }
}

file_fields! {
    File {
        base_score: f64,
        #[serde(default)]
        output: Output,
    }
    trees: TreeParts
}

/// Reads the model file of an ensemble.
pub(crate) fn read(bytes: &[u8]) -> Result<Contents, ModelError> {
    File::read(bytes, |base_score, output, trees| {
        let checked = trees.into_iter().enumerate();
        let checked =
            checked.map(|(tree, parts)| Tree::new(parts).map_err(|problem| ModelError::Tree { tree, problem }));
        Ok(Ranker::Trees(TreeEnsemble::new(base_score, output, checked.collect::<Result<_, _>>()?)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExpectedGain;

    #[test]
    fn numbers_are_finite_and_trees_fill_rounds() {
        let outputs = || Output::ExpectedGain(ExpectedGain { gains: vec![0.0, 1.0], base_scores: vec![0.0; 2] });
        let trees = |n: usize| vec![Tree::constant(1.0, 1); n];
        assert!(TreeEnsemble::new(f64::NAN, Output::Sum, trees(1)).is_err());
        assert!(TreeEnsemble::new(0.0, outputs(), trees(3)).is_err());
        let ensemble = TreeEnsemble::new(0.0, outputs(), trees(4)).unwrap();
        assert_eq!([0, 1, 2, 9].map(|rounds| ensemble.first_rounds(rounds).n_trees()), [0, 2, 4, 4]);
        assert!(ensemble.with_trees(trees(1)).is_err());
    }
}
