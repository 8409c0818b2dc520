//! Common to all kinds of rankers: the objective, the training data, and how documents are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// Maximum number of characters of a feature name in a message.
const MAX_NAME_SHOWN: usize = 100;

/// How values are rounded before a ranker sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// To f32, with infinite values clamped to the largest finite ones, as in training here.
    F32,
    /// Not at all.
    F64,
}

impl Precision {
    /// The rounded value.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::F32 => f64::from((value as f32).clamp(-f32::MAX, f32::MAX)),
            Self::F64 => value,
        }
    }
}

/// The largest f32 that is not above a number.
pub fn floor_f32(number: f64) -> f32 {
    let near = number as f32;
    if f64::from(near) > number { near.next_down() } else { near }
}

/// The largest f64 that rounds to this f32: half-way to the next f32, or just below if ties round to that one. A number
/// is at most this if and only if its f32 is at most `value`.
pub fn last_rounded_to(value: f32) -> f64 {
    let half_way = f64::midpoint(value.into(), value.next_up().into());
    if half_way as f32 <= value { half_way } else { half_way.next_down() }
}

/// The meaning of absent features for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AbsentFeature {
    /// Its value is not known.
    Missing,
    /// Its value is 0.
    Zero,
}

/// The training data of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainedOn {
    /// The wrapping sum of the row keys, in hexadecimal; it does not depend on the order of rows.
    pub fingerprint: String,
    /// Number of documents.
    pub rows: u64,
    /// Number of queries.
    pub queries: u64,
}

/// The parts of a model that are common to all kinds. [`crate::Model::new`] checks them.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The objective.
    pub objective: String,
    /// The non-default parameters, as typed.
    pub params: BTreeMap<String, String>,
    /// The data it was trained on.
    pub trained_on: TrainedOn,
    /// The meaning of absent features. Data for the model must be read with the same meaning.
    pub absent: AbsentFeature,
    /// How values are rounded.
    pub precision: Precision,
    /// The ids of the features that the ranker uses, ascending. A ranker refers to features by their indices in this
    /// list.
    pub features: Vec<u32>,
    /// The names of these features, if the training data had names besides the ids; otherwise empty. Columns of tables
    /// are matched by these names.
    pub feature_names: Vec<String>,
    /// The ids of the features that training compared as f64, ascending; all others were rounded to f32. Only models
    /// trained here have such a list, and only if it is not empty; their `precision` is f64.
    pub f64_features: Vec<u32>,
}

impl Header {
    /// A header without facts about training, for example for models of other programs.
    pub fn new(absent: AbsentFeature, precision: Precision, features: Vec<u32>) -> Self {
        Self {
            objective: String::new(),
            params: BTreeMap::new(),
            trained_on: TrainedOn::default(),
            absent,
            precision,
            features,
            feature_names: Vec::new(),
            f64_features: Vec::new(),
        }
    }

    /// Checks that feature ids ascend and names are unique.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        if let Some([first, second]) = self.features.array_windows().find(|[first, second]| first >= second) {
            let problem = format!("the features are not in ascending order: {first} comes before {second}");
            return Err(ModelError::Content { problem });
        }
        let is_feature = |id: &u32| self.features.binary_search(id).is_ok();
        let are_features = self.f64_features.is_sorted_by(|a, b| a < b) && self.f64_features.iter().all(is_feature);
        if !are_features || (self.precision == Precision::F32 && !self.f64_features.is_empty()) {
            let problem = "the f64_features are not some of the features, ascending, of a model with the precision f64";
            return Err(ModelError::Content { problem: problem.into() });
        }
        self.check_names()
    }

    /// Checks that each feature has a unique name, or none has a name.
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
                let start: String = name.chars().take(MAX_NAME_SHOWN).collect();
                Err(ModelError::Content { problem: format!("two features are named {start:?}") })
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_to_finite_f32() {
        assert_eq!(Precision::F32.round(0.5 + 1e-12), 0.5);
        assert_eq!(Precision::F32.round(1e300), f64::from(f32::MAX));
        assert!(Precision::F32.round(f64::NAN).is_nan());
        assert_eq!(Precision::F64.round(0.1), 0.1);
    }

    #[test]
    fn the_floor_is_the_next_f32_below() {
        for value in [0.1, -0.1, 1e-50, -1e-50, 3.5, 1e39, -1e39, 16_777_217.0] {
            let floor = floor_f32(value);
            assert!(f64::from(floor) <= value && f64::from(floor.next_up()) > value, "{value} {floor}");
        }
    }

    #[test]
    fn an_f64_threshold_parts_values_as_rounding_does() {
        for threshold in [0.0, -0.0, 0.1, -0.1, 1.0, 1e-45, -1e-45, 16_777_216.0, 3e38_f32, f32::MAX.next_down()] {
            let last = last_rounded_to(threshold);
            assert!(last as f32 <= threshold, "{threshold}");
            assert!(last.next_up() as f32 > threshold, "{threshold}");
            assert_eq!(floor_f32(last), threshold);
        }
    }

    #[test]
    fn features_ascend() {
        let header = |features: &[u32]| Header::new(AbsentFeature::Missing, Precision::F32, features.to_vec());
        assert!(header(&[]).check().is_ok() && header(&[0, 7]).check().is_ok());
        for features in [&[9, 3][..], &[3, 3]] {
            assert!(matches!(header(features).check(), Err(ModelError::Content { .. })), "{features:?}");
        }
    }

    #[test]
    fn every_feature_has_a_name_or_none_has() {
        for (names, is_right) in [(vec![], true), (vec!["a", "b"], true), (vec!["a"], false), (vec!["a", "a"], false)] {
            let mut header = Header::new(AbsentFeature::Missing, Precision::F32, vec![3, 9]);
            header.feature_names = names.iter().map(ToString::to_string).collect();
            assert_eq!(header.check().is_ok(), is_right, "{names:?}");
        }
    }
}
