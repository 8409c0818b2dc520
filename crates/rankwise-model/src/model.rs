//! An ensemble of trees with what it was trained for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ModelError, Output, Tree};

/// How a value is rounded before it is compared with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// To 32 bits, with infinite values at the largest finite ones, as in training here.
    F32,
    /// Not at all.
    F64,
}

impl Precision {
    /// The value that is compared.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::F32 => f64::from((value as f32).clamp(-f32::MAX, f32::MAX)),
            Self::F64 => value,
        }
    }
}

/// What a feature that a document does not name means to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AbsentFeature {
    /// Its value is not known.
    Missing,
    /// Its value is 0.
    Zero,
}

/// What the model has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainedOn {
    /// The wrapping sum of the row keys, in hexadecimal: the same for any order of the rows.
    pub fingerprint: String,
    /// Documents.
    pub rows: u64,
    /// Queries.
    pub queries: u64,
}

/// A trained ranker: trees, and how a document's leaves become its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it was trained to do.
    pub objective: String,
    /// The parameters that differed from their defaults, as they would be typed.
    pub params: BTreeMap<String, String>,
    /// The data it was trained on.
    pub trained_on: TrainedOn,
    /// What a feature left out means; data for the model are to be read so.
    pub absent: AbsentFeature,
    /// How values are rounded.
    pub precision: Precision,
    /// The score of a document before the first tree; 0 where `output` has a base score for each output.
    pub base_score: f64,
    /// How leaves become a score.
    pub output: Output,
    /// The ids of the features that the trees ask for; a tree names a feature by its place here.
    pub features: Vec<u32>,
    /// The names of these features, where the training data had names that say more than the ids; else empty. Data with
    /// named columns is matched by them.
    pub feature_names: Vec<String>,
    /// The trees, in the order in which their values are added.
    pub trees: Vec<Tree>,
}

impl Model {
    /// Makes sure that trees ask only for features of the list, that the list ascends, and that numbers are finite.
    pub fn check(&self) -> Result<(), ModelError> {
        if !self.base_score.is_finite() {
            return Err(ModelError::Content { problem: "base_score is not a finite number".into() });
        }
        if let Some([first, second]) = self.features.array_windows().find(|[first, second]| first >= second) {
            let problem = format!("the features do not ascend: {first} stands before {second}");
            return Err(ModelError::Content { problem });
        }
        self.check_names()?;
        self.output.check(self.trees.len())?;
        for (idx, tree) in self.trees.iter().enumerate() {
            if let Some(slot) = tree.parts().feature.iter().find(|slot| **slot as usize >= self.features.len()) {
                let problem = format!("it asks for feature number {slot} of {}", self.features.len());
                return Err(ModelError::Tree { tree: idx, problem });
            }
        }
        Ok(())
    }

    /// Each feature has a name of its own, or none has one.
    fn check_names(&self) -> Result<(), ModelError> {
        let (names, n_features) = (&self.feature_names, self.features.len());
        if !names.is_empty() && names.len() != n_features {
            let problem = format!("there are {} feature_names for {n_features} features", names.len());
            return Err(ModelError::Content { problem });
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        match sorted.array_windows().find(|[first, second]| first == second) {
            Some([name, _]) => {
                let start: String = name.chars().take(100).collect();
                Err(ModelError::Content { problem: format!("two features are called {start:?}") })
            }
            None => Ok(()),
        }
    }

    /// Each feature's id with its name; empty where they have no names.
    pub fn named_features(&self) -> Vec<(u32, String)> {
        self.features.iter().copied().zip(self.feature_names.iter().cloned()).collect()
    }

    /// How people call a feature: by its name, or else its id.
    pub fn feature_label(&self, feature: u32) -> String {
        let place = self.features.binary_search(&feature).ok();
        let name = place.and_then(|place| self.feature_names.get(place));
        name.cloned().unwrap_or_else(|| feature.to_string())
    }

    /// The score of one document, its values in the order of `features`; NaN is missing.
    pub fn score(&self, values: &[f64]) -> f64 {
        let rounded: Vec<f64> = values.iter().map(|value| self.precision.round(*value)).collect();
        self.score_rounded(&rounded)
    }

    /// [`Self::score`] for values that are rounded already.
    pub fn score_rounded(&self, values: &[f64]) -> f64 {
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

    /// The number of leaves in all trees.
    pub fn n_leaves(&self) -> usize {
        self.trees.iter().map(Tree::n_leaves).sum()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tree::tests::example;

    pub(crate) fn model() -> Model {
        Model {
            objective: "lambdamart".into(),
            params: BTreeMap::from([("num_leaves".into(), "3".into())]),
            trained_on: TrainedOn { fingerprint: "00ff".into(), rows: 10, queries: 2 },
            absent: AbsentFeature::Missing,
            precision: Precision::F32,
            base_score: 0.1,
            output: Output::Sum,
            features: vec![3, 9],
            feature_names: Vec::new(),
            trees: vec![Tree::new(example()).unwrap(), Tree::constant(1e-17, 10)],
        }
    }

    #[test]
    fn scores_are_sums_of_leaves_and_values_are_rounded_first() {
        let model = model();
        assert_eq!(model.score(&[1.0, 0.0]), 0.1 + 1.5 + 1e-17);
        // Just above 0.5 in f64, 0.5 in f32.
        assert_eq!(model.score(&[0.5 + 1e-12, 0.0]), 0.1 - 1.0);
        assert_eq!(Precision::F32.round(1e300), f64::from(f32::MAX));
        assert!(Precision::F32.round(f64::NAN).is_nan());
        assert_eq!(Precision::F64.round(0.1), 0.1);
    }

    #[test]
    fn trees_may_ask_only_for_listed_features() {
        let mut bad = model();
        bad.features.truncate(1);
        assert!(matches!(bad.check(), Err(ModelError::Tree { tree: 0, .. })));
        bad.features = vec![9, 3];
        assert!(matches!(bad.check(), Err(ModelError::Content { .. })));
    }

    #[test]
    fn every_feature_has_a_name_or_none_has() {
        for (names, is_right) in [(vec![], true), (vec!["a", "b"], true), (vec!["a"], false), (vec!["a", "a"], false)] {
            let model = Model { feature_names: names.iter().map(ToString::to_string).collect(), ..model() };
            assert_eq!(model.check().is_ok(), is_right, "{names:?}");
        }
        let named = Model { feature_names: vec!["price".into(), "age".into()], ..model() };
        assert_eq!([3, 9, 4].map(|id| named.feature_label(id)), ["price", "age", "4"]);
    }
}
