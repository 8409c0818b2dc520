//! How feature values become the inputs of linear and neural rankers.
//!
//! ```text
//! value -> missing?  -> fill
//!       -> log1p:    sign(value) * ln(1 + |value|), if asked for
//!       -> query:    (value - min) / (max - min) over the documents of the list, if asked for; 0 if they are equal
//!       -> input:    (value - center) * factor
//! ```
//!
//! Inputs are f32, so that training can hold many of them and scoring sees the same ones. They are finite.

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// What happens to the values of one feature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureScale {
    /// The input of a missing value.
    pub fill: f32,
    /// What is subtracted from a value.
    pub center: f64,
    /// What the difference is multiplied by.
    pub factor: f64,
}

impl FeatureScale {
    /// Leaves values as they are; missing ones become 0.
    pub const NONE: Self = Self { fill: 0.0, center: 0.0, factor: 1.0 };
}

/// How the values of a document become inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transform {
    #[serde(rename = "log1p")]
    is_log: bool,
    #[serde(rename = "by_query")]
    is_by_query: bool,
    scales: Vec<FeatureScale>,
}

impl Transform {
    /// `scales` are in the order of the model's features.
    pub fn new(is_log: bool, is_by_query: bool, scales: Vec<FeatureScale>) -> Result<Self, ModelError> {
        let transform = Self { is_log, is_by_query, scales };
        transform.check(transform.scales.len())?;
        Ok(transform)
    }

    /// Whether values are replaced by sign(value) ln(1 + |value|).
    pub fn is_log(&self) -> bool {
        self.is_log
    }

    /// Whether values are scaled to 0..1 within each list, so that inputs depend on the other documents of the list.
    pub fn is_by_query(&self) -> bool {
        self.is_by_query
    }

    /// One per feature of the model.
    pub fn scales(&self) -> &[FeatureScale] {
        &self.scales
    }

    /// The inputs of the documents of one list, one document after the other, from rounded values in the same layout; NaN
    /// is missing.
    ///
    /// # Panics
    /// If the lengths differ, or are not a multiple of the number of features.
    pub fn inputs(&self, values: &[f64], inputs: &mut [f32]) {
        assert_eq!(values.len(), inputs.len(), "there is an input for each value");
        let n_features = self.scales.len();
        if n_features == 0 {
            return;
        }
        assert!(values.len().is_multiple_of(n_features), "each document has a value for each feature");
        for (place, scale) in self.scales.iter().enumerate() {
            let column = || values.iter().skip(place).step_by(n_features).map(|value| self.logged(*value));
            let present = || column().filter(|value| !value.is_nan());
            let range =
                self.is_by_query.then(|| [present().fold(f64::MAX, f64::min), present().fold(f64::MIN, f64::max)]);
            for (value, input) in column().zip(inputs.iter_mut().skip(place).step_by(n_features)) {
                *input = if value.is_nan() { scale.fill } else { scaled(within(value, range), *scale) };
            }
        }
    }

    /// A value before it is scaled; missing ones stay so, and infinite ones become finite.
    pub fn logged(&self, value: f64) -> f64 {
        let value = value.clamp(f64::MIN, f64::MAX);
        if self.is_log { value.signum() * libm::log1p(value.abs()) } else { value }
    }

    /// Checks that there is a scale of finite numbers for each feature.
    pub(crate) fn check(&self, n_features: usize) -> Result<(), ModelError> {
        let is_finite =
            |scale: &FeatureScale| scale.fill.is_finite() && scale.center.is_finite() && scale.factor.is_finite();
        if let Some(idx) = self.scales.iter().position(|scale| !is_finite(scale)) {
            return Err(ModelError::Content { problem: format!("scale {idx} has a number that is not finite") });
        }
        if self.scales.len() != n_features {
            let problem = format!("there are {} scales for {n_features} features", self.scales.len());
            return Err(ModelError::Content { problem });
        }
        Ok(())
    }
}

/// The place of a value in a range, from 0 to 1; 0 if the range is a point. Halves, so that no difference is infinite.
fn within(value: f64, range: Option<[f64; 2]>) -> f64 {
    match range {
        None => value,
        Some([low, high]) => {
            let width = high / 2.0 - low / 2.0;
            if width > 0.0 { (value / 2.0 - low / 2.0) / width } else { 0.0 }
        }
    }
}

fn scaled(value: f64, scale: FeatureScale) -> f32 {
    let input = (value - scale.center).clamp(f64::MIN, f64::MAX) * scale.factor;
    // Clamped as f64, because a larger one would become infinite.
    input.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn inputs(transform: &Transform, values: &[f64]) -> Vec<f32> {
        let mut inputs = vec![f32::NAN; values.len()];
        transform.inputs(values, &mut inputs);
        inputs
    }

    #[test]
    fn values_are_centred_and_scaled_and_missing_ones_filled() {
        let scales = vec![FeatureScale { fill: 7.0, center: 1.0, factor: 2.0 }, FeatureScale::NONE];
        let plain = Transform::new(false, false, scales.clone()).unwrap();
        assert_eq!(inputs(&plain, &[3.0, -0.5, f64::NAN, f64::NAN]), [4.0, -0.5, 7.0, 0.0]);
        let log = Transform::new(true, false, scales).unwrap();
        let expected = (-(4f64.ln()), 2.0 * (3f64.ln() - 1.0));
        let found = inputs(&log, &[2.0, -3.0]);
        assert!((f64::from(found[0]) - expected.1).abs() < 1e-6 && (f64::from(found[1]) - expected.0).abs() < 1e-6);
    }

    #[test]
    fn within_a_query_values_reach_from_0_to_1() {
        let by_query = Transform::new(false, true, vec![FeatureScale { fill: -1.0, ..FeatureScale::NONE }]).unwrap();
        assert_eq!(inputs(&by_query, &[2.0, f64::NAN, 4.0, 3.0]), [0.0, -1.0, 1.0, 0.5]);
        assert_eq!(inputs(&by_query, &[2.0, 2.0]), [0.0; 2]);
        assert_eq!(inputs(&by_query, &[f64::NAN; 2]), [-1.0; 2]);
    }

    proptest! {
        /// Also where sums, differences and products leave the range of numbers.
        #[test]
        fn inputs_are_finite(
            values in prop::collection::vec(any::<f64>(), 0..9),
            scale in any::<[f64; 2]>(),
            (is_log, is_by_query) in any::<(bool, bool)>(),
        ) {
            prop_assume!(scale[0].is_finite() && scale[1].is_finite());
            let scale = FeatureScale { fill: 0.5, center: scale[0], factor: scale[1] };
            let transform = Transform::new(is_log, is_by_query, vec![scale]).unwrap();
            prop_assert!(inputs(&transform, &values).iter().all(|input| input.is_finite()));
        }

        /// The order of the documents of a list does not matter.
        #[test]
        fn inputs_do_not_depend_on_the_order_of_documents(values in prop::collection::vec(-9.0..9.0, 1..9)) {
            let transform = Transform::new(true, true, vec![FeatureScale { fill: 0.0, center: 0.3, factor: 3.0 }]).unwrap();
            let mut reversed: Vec<f64> = values.clone();
            reversed.reverse();
            let mut expected = inputs(&transform, &values);
            expected.reverse();
            prop_assert_eq!(inputs(&transform, &reversed), expected);
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        for scale in [
            FeatureScale { fill: f32::NAN, ..FeatureScale::NONE },
            FeatureScale { center: f64::INFINITY, ..FeatureScale::NONE },
            FeatureScale { factor: f64::NAN, ..FeatureScale::NONE },
        ] {
            assert!(Transform::new(false, false, vec![scale]).is_err());
        }
    }
}
