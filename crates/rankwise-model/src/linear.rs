//! Linear models: a weighted sum of feature values, or of inputs made from them.
//!
//! ```text
//! score = bias + weight 0 * value 0 + weight 1 * value 1 + ...       in f64, in the order of the model's features
//! ```
//!
//! Without a [`Transform`], a missing value adds nothing. Values, products and the score stay finite: infinite numbers
//! count as the largest f64 of the same sign.

use crate::file::{Body, Contents, VERSION_OF_TRANSFORMS, file_fields, json};
use crate::{ModelError, Ranker, Transform};

/// The name of this kind in the model file.
pub(crate) const KIND: &str = "linear";
/// The first file version that can represent it.
pub(crate) const FIRST_VERSION: u64 = 4;

/// A bias and a weight for each feature of the model, all finite.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearRanker {
    bias: f64,
    weights: Vec<f64>,
    transform: Option<Transform>,
}

impl LinearRanker {
    /// The weights are in the order of the model's features.
    pub fn new(bias: f64, weights: Vec<f64>) -> Result<Self, ModelError> {
        if !bias.is_finite() {
            return Err(ModelError::Content { problem: "the bias is not a finite number".into() });
        }
        if let Some(idx) = weights.iter().position(|weight| !weight.is_finite()) {
            return Err(ModelError::Content { problem: format!("weight {idx} is not a finite number") });
        }
        Ok(Self { bias, weights, transform: None })
    }

    /// The weights are those of inputs that are made from the values.
    #[must_use]
    pub fn with_transform(self, transform: Transform) -> Self {
        Self { transform: Some(transform), ..self }
    }

    /// The score of a document whose values or inputs are all 0.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The weights, in the order of the model's features.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// How values become inputs; `None` if the weights are those of the values themselves.
    pub fn transform(&self) -> Option<&Transform> {
        self.transform.as_ref()
    }

    /// The score of one document, given rounded values of the model's features; NaN is missing. If values are scaled
    /// within queries, it is the score of a list of this document alone.
    pub fn score(&self, values: &[f64]) -> f64 {
        let mut score = [0.0];
        self.score_list(values, &mut score);
        score[0]
    }

    /// The scores of the documents of a list, given their rounded values, one document after the other.
    pub(crate) fn score_list(&self, values: &[f64], scores: &mut [f64]) {
        let n_features = self.weights.len();
        let Some(transform) = &self.transform else {
            for (doc, score) in scores.iter_mut().enumerate() {
                *score = self.sum(&values[doc * n_features..][..n_features]);
            }
            return;
        };
        let mut inputs = vec![0.0; values.len()];
        transform.inputs(values, &mut inputs);
        for (doc, score) in scores.iter_mut().enumerate() {
            *score = self.score_inputs(&inputs[doc * n_features..][..n_features]);
        }
    }

    /// The score of a document with these inputs, which are what the transform made.
    pub fn score_inputs(&self, inputs: &[f32]) -> f64 {
        let terms = self.weights.iter().zip(inputs).map(|(weight, input)| finite(weight * f64::from(*input)));
        finite(terms.fold(self.bias, |score, term| score + term))
    }

    /// What each feature adds to the bias, given rounded values of the model's features. Not for values that are scaled
    /// within queries.
    pub fn terms(&self, values: &[f64]) -> Vec<f64> {
        let of_values =
            |(weight, value): (&f64, &f64)| if value.is_nan() { 0.0 } else { finite(weight * finite(*value)) };
        let Some(transform) = &self.transform else { return self.weights.iter().zip(values).map(of_values).collect() };
        let mut inputs = vec![0.0; values.len()];
        transform.inputs(values, &mut inputs);
        self.weights.iter().zip(inputs).map(|(weight, input)| finite(weight * f64::from(input))).collect()
    }

    fn sum(&self, values: &[f64]) -> f64 {
        let present = self.weights.iter().zip(values).filter(|(_, value)| !value.is_nan());
        finite(present.fold(self.bias, |score, (weight, value)| score + finite(weight * finite(*value))))
    }

    /// Checks that there is a weight for each feature, and a scale if there are scales.
    pub(crate) fn check(&self, n_features: usize) -> Result<(), ModelError> {
        if self.weights.len() == n_features {
            return self.transform.as_ref().map_or(Ok(()), |transform| transform.check(n_features));
        }
        let problem = format!("there are {} weights for {n_features} features", self.weights.len());
        Err(ModelError::Content { problem })
    }

    pub(crate) fn body(&self) -> Body {
        let transform = self.transform.iter().map(|transform| ("transform", json(transform)));
        Body {
            version: if self.transform.is_some() { VERSION_OF_TRANSFORMS } else { FIRST_VERSION },
            fields: [("bias", json(&self.bias))].into_iter().chain(transform).collect(),
            list: ("weights", self.weights.iter().map(json).collect()),
        }
    }
}

impl From<LinearRanker> for Ranker {
    fn from(linear: LinearRanker) -> Self {
        Self::Linear(linear)
    }
}

fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

file_fields! {
    File {
        bias: f64,
        #[serde(default)]
        transform: Option<Transform>,
    }
    weights: f64
}

/// Reads the model file of a linear ranker.
pub(crate) fn read(bytes: &[u8]) -> Result<Contents, ModelError> {
    File::read(bytes, |bias, transform, weights| {
        Ok(LinearRanker { transform, ..LinearRanker::new(bias, weights)? }.into())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file::tests::changed;
    use crate::{AbsentFeature, Header, Model, Precision};

    fn model(precision: Precision) -> Model {
        let header = Header {
            objective: "given".into(),
            feature_names: vec!["price".into(), "age".into()],
            ..Header::new(AbsentFeature::Missing, precision, vec![3, 9])
        };
        Model::new(header, LinearRanker::new(0.1 + 0.2, vec![-1.5, 1e-17]).unwrap()).unwrap()
    }

    #[test]
    fn a_score_is_the_weighted_sum_in_the_order_of_the_features() {
        let model = model(Precision::F64);
        assert_eq!(model.score(&[2.0, 4.0]), (0.1 + 0.2) - 3.0 + 4e-17);
        // In another order, the small weights would not be lost: the order matters.
        let order = LinearRanker::new(1e16, vec![1.0, 1.0, -1e16]).unwrap();
        assert_eq!(order.score(&[1.0; 3]), ((1e16 + 1.0) + 1.0) - 1e16);
    }

    #[test]
    fn missing_values_add_nothing() {
        let model = model(Precision::F32);
        assert_eq!(model.score(&[f64::NAN, f64::NAN]), 0.1 + 0.2);
        assert_eq!(model.score(&[2.0, f64::NAN]), (0.1 + 0.2) - 3.0);
    }

    #[test]
    fn values_are_rounded_to_the_precision_of_the_model() {
        let weights = || LinearRanker::new(0.0, vec![1.0, 1.0]).unwrap();
        let score = |precision| model(precision).with_ranker(weights()).unwrap().score(&[0.1, f64::INFINITY]);
        assert_eq!(score(Precision::F32), f64::from(0.1_f32) + f64::from(f32::MAX));
        assert_eq!(score(Precision::F64), f64::MAX);
    }

    #[test]
    fn scores_are_finite() {
        let linear = LinearRanker::new(1.0, vec![f64::MAX, f64::MAX, -f64::MAX, 0.0]).unwrap();
        for value in [f64::INFINITY, f64::NEG_INFINITY, 1e300, f64::NAN] {
            for values in [[value; 4], [value, 0.0, value, value], [value, value, -value, 1.0]] {
                assert!(linear.score(&values).is_finite(), "{values:?}");
            }
        }
        assert_eq!(LinearRanker::new(1.0, vec![0.0]).unwrap().score(&[f64::INFINITY]), 1.0);
    }

    #[test]
    fn what_is_no_linear_ranker_is_refused() {
        for (bias, weight) in [(f64::NAN, 0.0), (f64::INFINITY, 0.0), (0.0, f64::NAN), (0.0, f64::NEG_INFINITY)] {
            assert!(LinearRanker::new(bias, vec![1.0, weight]).is_err(), "{bias} {weight}");
        }
        for n_weights in [0, 1, 3] {
            let linear = LinearRanker::new(0.0, vec![1.0; n_weights]).unwrap();
            assert!(matches!(model(Precision::F32).with_ranker(linear), Err(ModelError::Content { .. })));
        }
    }

    #[test]
    fn a_model_comes_back_bit_for_bit() {
        for precision in [Precision::F32, Precision::F64] {
            let text = model(precision).to_json();
            assert!(text.contains("\"version\": 4,") && text.contains("\"kind\": \"linear\""), "{text}");
            let back = Model::from_json(text.as_bytes()).unwrap();
            assert_eq!((&back, back.to_json()), (&model(precision), text));
        }
        let header = Header::new(AbsentFeature::Zero, Precision::F32, Vec::new());
        let bare = Model::new(header, LinearRanker::new(-0.0, Vec::new()).unwrap()).unwrap();
        assert_eq!(Model::from_json(bare.to_json().as_bytes()).unwrap().to_json(), bare.to_json());
    }

    #[test]
    fn damage_is_noticed_and_named() {
        let text = model(Precision::F32).to_json();
        let read = |from: &str, to: &str| {
            let damaged = text.replace(from, to);
            assert_ne!(damaged, text, "{from}");
            Model::from_json(damaged.as_bytes()).unwrap_err()
        };
        for (from, to) in
            [("-1.5", "-1.25"), ("0.30000000000000004", "0.3"), ("\"age\"", "\"aged\""), ("[3,9]", "[3,8]")]
        {
            assert!(matches!(read(from, to), ModelError::Checksum { .. }), "{from} to {to}");
        }
        let lengths = ModelError::Content { problem: "there are 1 weights for 2 features".into() };
        assert_eq!(read("-1.5,\n", ""), lengths);
        assert!(matches!(read("-1.5,\n", "-1.5,\n2.5,\n"), ModelError::Content { .. }));
        for number in ["NaN", "1e999", "null", "\"1\""] {
            assert!(matches!(read("-1.5", number), ModelError::Json { .. }), "{number}");
        }
        assert!(matches!(read(" \"bias\"", " \"base_score\""), ModelError::Json { line: 11, .. }));
        assert!(matches!(read("\"linear\"", "\"trees\""), ModelError::Json { .. }));
        // Programs without linear models read up to version 3, and would call this file damaged.
        assert!(matches!(read("\"version\": 4", "\"version\": 3"), ModelError::Content { .. }));
    }

    #[test]
    fn it_has_no_trees() {
        let model = model(Precision::F32);
        assert_eq!(model.tree_ensemble().unwrap_err(), ModelError::NoTrees { kind: "linear" });
        assert_eq!(model.importance().unwrap_err().to_string(), "this model is linear and has no trees");
    }

    proptest! {
        /// Changed bytes give the same model or an error, never a panic and never another model.
        #[test]
        fn changed_bytes_are_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
            let model = model(Precision::F32);
            if let Ok(read) = Model::from_json(&changed(&model, &changes)) {
                prop_assert_eq!(read, model);
            }
        }

        #[test]
        fn any_number_survives(bits in any::<u64>()) {
            let weight = f64::from_bits(bits);
            prop_assume!(weight.is_finite());
            let model = model(Precision::F32).with_ranker(LinearRanker::new(weight, vec![weight, 0.0]).unwrap()).unwrap();
            let back = Model::from_json(model.to_json().as_bytes()).unwrap();
            let Ranker::Linear(linear) = back.ranker() else { panic!() };
            prop_assert_eq!([linear.bias().to_bits(), linear.weights()[0].to_bits()], [bits; 2]);
        }
    }
}
