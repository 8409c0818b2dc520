//! Weighted sums of tree ensembles, which are tree ensembles again.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Header, Model, ModelError, Output, Precision, Tree, TreeEnsemble, floor_f32, last_rounded_to};

impl Model {
    /// A model whose score is the sum of the models' scores, each times its factor. Objective, parameters and facts
    /// about the data are those of the first. All must be sums of trees that treat absent features alike.
    ///
    /// ```
    /// use rankwise_model::{AbsentFeature, Header, Model, Output, Precision, Tree, TreeEnsemble};
    ///
    /// let constant = |value: f64| {
    ///     let header = Header::new(AbsentFeature::Missing, Precision::F32, vec![]);
    ///     Model::new(header, TreeEnsemble::new(1.0, Output::Sum, vec![Tree::constant(value, 1)])?)
    /// };
    /// let (a, b) = (constant(2.0)?, constant(5.0)?);
    /// assert_eq!(Model::weighted_sum(&[(0.5, &a), (2.0, &b)])?.score(&[]), 0.5 * 3.0 + 2.0 * 6.0);
    /// # Ok::<(), rankwise_model::ModelError>(())
    /// ```
    pub fn weighted_sum(terms: &[(f64, &Self)]) -> Result<Self, ModelError> {
        let refuse = |problem: &str| Err(ModelError::Content { problem: problem.into() });
        let Some((_, first)) = terms.first() else { return refuse("there is no model to add") };
        if terms.iter().any(|(_, model)| model.absent() != first.absent()) {
            return refuse("the models to add differ in what absent features mean");
        }
        let is_unrounded = terms.iter().any(|(_, model)| model.precision() == Precision::F64);
        let features: Vec<u32> = union(terms.iter().flat_map(|(_, model)| model.features()));
        let (mut base_score, mut trees) = (0.0, Vec::new());
        for (factor, model) in terms {
            let ensemble = model.tree_ensemble()?;
            if *ensemble.output() != Output::Sum {
                return refuse("only models with one score per document can be added");
            }
            base_score += factor * ensemble.base_score();
            let place = |slot: u32| place_of(model.features()[slot as usize], &features);
            // Splits on rounded values must treat unrounded values the same way.
            let is_rounded = is_unrounded && model.precision() == Precision::F32;
            trees.extend(ensemble.trees().iter().map(|tree| {
                let tree = tree.scaled(*factor).with_features(place);
                if is_rounded { tree.for_unrounded(|_| false) } else { tree }
            }));
        }
        let names: BTreeMap<u32, String> = terms.iter().flat_map(|(_, model)| model.named_features()).collect();
        let header = Header {
            precision: if is_unrounded { Precision::F64 } else { Precision::F32 },
            feature_names: features.iter().filter_map(|feature| names.get(feature)).cloned().collect(),
            f64_features: union(terms.iter().flat_map(|(_, model)| model.f64_features())),
            features,
            ..first.header().clone()
        };
        Self::new(header, TreeEnsemble::new(base_score, Output::Sum, trees)?)
    }
}

impl Tree {
    /// The tree with other numbers for its features.
    #[must_use]
    pub fn with_features(&self, number: impl Fn(u32) -> u32) -> Self {
        let mut parts = self.parts().clone();
        parts.feature.iter_mut().for_each(|feature| *feature = number(*feature));
        Self::new(parts).expect("other feature numbers keep the shape")
    }

    /// The tree for a model that does not round values. Each threshold that was found on rounded values becomes the largest
    /// f64 that rounds to it; `is_f64` tells which features were not rounded.
    #[must_use]
    pub fn for_unrounded(&self, is_f64: impl Fn(u32) -> bool) -> Self {
        let mut parts = self.parts().clone();
        for (threshold, feature) in parts.threshold.iter_mut().zip(&parts.feature) {
            if !is_f64(*feature) {
                *threshold = last_rounded_to(floor_f32(*threshold));
            }
        }
        Self::new(parts).expect("thresholds stay finite")
    }
}

fn place_of(feature: u32, features: &[u32]) -> u32 {
    features.binary_search(&feature).expect("the union has the features of every model") as u32
}

fn union<'a>(ids: impl Iterator<Item = &'a u32>) -> Vec<u32> {
    ids.copied().collect::<BTreeSet<u32>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AbsentFeature, ExpectedGain, LinearRanker, TreeParts};

    /// One split of one feature.
    fn stump(feature: u32, threshold: f64, precision: Precision) -> Model {
        let parts = TreeParts {
            feature: vec![0],
            threshold: vec![threshold],
            missing_left: vec![true],
            left: vec![!0],
            right: vec![!1],
            gain: vec![1.0],
            count: vec![2],
            leaf_value: vec![-1.0, 3.0],
            leaf_count: vec![1, 1],
            ..TreeParts::default()
        };
        let f64_features = if precision == Precision::F64 { vec![feature] } else { vec![] };
        let feature_names = vec![format!("name {feature}")];
        let header =
            Header { feature_names, f64_features, ..Header::new(AbsentFeature::Missing, precision, vec![feature]) };
        Model::new(header, TreeEnsemble::new(0.25, Output::Sum, vec![Tree::new(parts).unwrap()]).unwrap()).unwrap()
    }

    #[test]
    fn the_sum_scores_as_its_terms_do() {
        let (a, b) = (stump(7, 0.5, Precision::F32), stump(3, 1.5, Precision::F32));
        let sum = Model::weighted_sum(&[(2.0, &a), (0.5, &b)]).unwrap();
        assert_eq!((sum.features(), sum.feature_names()), (&[3, 7][..], &["name 3".to_owned(), "name 7".into()][..]));
        for values in [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [f64::NAN, 2.0]] {
            assert_eq!(sum.score(&values), 2.0 * a.score(&values[1..]) + 0.5 * b.score(&values[..1]), "{values:?}");
        }
    }

    #[test]
    fn rounded_models_stay_rounded_among_unrounded_ones() {
        // 0.1 as f32 is above 0.1.
        let threshold = f64::from(0.1_f32);
        let (a, b) = (stump(7, threshold, Precision::F32), stump(3, 0.5, Precision::F64));
        let sum = Model::weighted_sum(&[(1.0, &a), (1.0, &b)]).unwrap();
        assert_eq!((sum.precision(), sum.f64_features()), (Precision::F64, &[3][..]));
        for value in [threshold, threshold.next_up(), threshold + 1e-12, f64::from(0.1_f32.next_up())] {
            assert_eq!(sum.score(&[0.0, value]), a.score(&[value]) + b.score(&[0.0]), "{value}");
        }
    }

    #[test]
    fn what_is_no_sum_of_trees_is_refused() {
        let stump = stump(7, 0.5, Precision::F32);
        let header = || Header::new(AbsentFeature::Missing, Precision::F32, vec![7]);
        let linear = Model::new(header(), LinearRanker::new(0.0, vec![1.0]).unwrap()).unwrap();
        let expected = Output::ExpectedGain(ExpectedGain { gains: vec![0.0, 1.0], base_scores: vec![0.0; 2] });
        let classes = Model::new(header(), TreeEnsemble::new(0.0, expected, vec![]).unwrap()).unwrap();
        let absent = Header { absent: AbsentFeature::Zero, ..header() };
        let zero = Model::new(absent, TreeEnsemble::new(0.0, Output::Sum, vec![]).unwrap()).unwrap();
        for other in [&linear, &classes, &zero] {
            assert!(Model::weighted_sum(&[(1.0, &stump), (1.0, other)]).is_err());
        }
        assert!(Model::weighted_sum(&[]).is_err());
    }
}
