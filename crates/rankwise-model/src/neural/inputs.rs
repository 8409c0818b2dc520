//! The inputs of a network: those that a [`Transform`] makes from values, and whether values are missing.
//!
//! That a value is missing may say much: a document that another system did not retrieve has no rank there. Trees learn
//! it, and so can a network with an input for it.

use serde::{Deserialize, Serialize};

use crate::{ModelError, Transform};

/// Inputs beyond this size, of either sign, count as this large, so that activations stay finite.
pub const MAX_INPUT: f32 = 1e6;

/// How the values of a document become the inputs of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// The first inputs, one for each feature.
    pub(super) transform: Transform,
    /// Places of features that have one more input: 1 if the value is missing, otherwise 0.
    missing: Vec<u32>,
}

impl Inputs {
    /// `missing` are places of features, ascending.
    pub fn new(transform: Transform, missing: Vec<u32>) -> Result<Self, ModelError> {
        let inputs = Self { transform, missing };
        inputs.check()?;
        Ok(inputs)
    }

    /// Checks that places are those of features.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        let last = self.missing.last().map_or(0, |last| *last as usize + 1);
        if self.missing.is_sorted_by(|a, b| a < b) && last <= self.transform.scales().len() {
            return Ok(());
        }
        Err(ModelError::Content { problem: "inputs for missing values are not those of features, ascending".into() })
    }

    /// How values become inputs.
    pub fn transform(&self) -> &Transform {
        &self.transform
    }

    /// The places of the features with an input for missing values.
    pub fn missing(&self) -> &[u32] {
        &self.missing
    }

    /// Number of inputs of a document.
    pub fn width(&self) -> usize {
        self.transform.scales().len() + self.missing.len()
    }

    /// The inputs of the documents of one list, from their rounded values, both one document after the other.
    pub fn rows(&self, values: &[f64]) -> Vec<f32> {
        let mut inputs = vec![0.0; values.len()];
        self.transform.inputs(values, &mut inputs);
        let n_features = self.transform.scales().len().max(1);
        let mut rows = Vec::with_capacity(values.len() / n_features * self.width());
        for (values, inputs) in values.chunks_exact(n_features).zip(inputs.chunks_exact(n_features)) {
            // 0 gets no sign, so that it has one place in an order.
            rows.extend(inputs.iter().map(|input| input.clamp(-MAX_INPUT, MAX_INPUT) + 0.0));
            rows.extend(self.missing.iter().map(|place| f32::from(u8::from(values[*place as usize].is_nan()))));
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FeatureScale;

    #[test]
    fn a_missing_value_is_filled_and_has_an_input() {
        let scale = FeatureScale { fill: 0.5, center: 1.0, factor: 2.0 };
        let transform = Transform::new(false, false, vec![scale; 2]).unwrap();
        let inputs = Inputs::new(transform.clone(), vec![1]).unwrap();
        assert_eq!(inputs.width(), 3);
        assert_eq!(inputs.rows(&[2.0, f64::NAN, -1e300, 1.0]), [2.0, 0.5, 1.0, -MAX_INPUT, 0.0, 0.0]);
        assert!(inputs.rows(&[]).is_empty());
        for wrong in [vec![2], vec![1, 0], vec![1, 1]] {
            assert!(Inputs::new(transform.clone(), wrong).is_err());
        }
    }
}
