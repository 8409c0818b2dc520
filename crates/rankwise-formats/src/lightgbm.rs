//! LightGBM models.
//!
//! A value goes left if it is at most the threshold, as f64. The treatment of missing values depends on the node's
//! decision type:
//!
//! ```text
//! bit 0      the feature is categorical
//! bit 1      missing values go left
//! bits 2, 3  what is missing: nothing (NaN counts as 0), zero and NaN, or NaN
//! ```
//!
//! Before that, values near zero become zero.

mod json;
mod text;

use rankwise_model::{AbsentFeature, Header, Model, Precision};

use crate::FormatError;
use crate::draft::{DraftNode, Split, ensemble, features_of};
pub(crate) use json::from_value;
pub(crate) use text::from_text;

pub(crate) const FORMAT: &str = "LightGBM";

/// Values this near to 0 count as 0, whatever the threshold: the f32 nearest to 1e-35.
pub(crate) const NEAR_ZERO: f64 = 1.000_000_018_002_509_5e-35;

const IS_CATEGORICAL: u32 = 1;
const DEFAULT_LEFT: u32 = 2;

/// The split in our form, or why there is none.
fn question(mut split: Split, decision_type: u32) -> Result<Split, FormatError> {
    if decision_type & IS_CATEGORICAL != 0 {
        return Err(unsupported("has categorical splits", "train it with numeric features only"));
    }
    let default_left = decision_type & DEFAULT_LEFT != 0;
    let zero_left = 0.0 <= split.threshold;
    // Values near zero go with zero: a threshold between such values moves above or below all of them.
    if split.threshold.abs() <= NEAR_ZERO {
        split.threshold = if zero_left { NEAR_ZERO } else { (-NEAR_ZERO).next_down() };
    }
    split.missing_left = match decision_type >> 2 & 3 {
        0 => zero_left,
        // Zero goes with missing values. We support it only if it would go there anyway.
        1 => {
            if default_left != zero_left {
                let advice = "train it with zero_as_missing=false";
                return Err(unsupported("treats zeros specially (missing_type=zero)", advice));
            }
            default_left
        }
        2 => default_left,
        _ => return Err(unsupported("has an unknown decision type", "use a newer rankwise")),
    };
    Ok(split)
}

/// Whether a feature is none of the model's, which the file counts.
fn is_beyond(feature: u32, n_features: Option<usize>) -> bool {
    n_features.is_some_and(|n_features| feature as usize >= n_features)
}

fn beyond(feature: u32, n_features: Option<usize>) -> String {
    let last = n_features.unwrap_or(0).saturating_sub(1);
    format!("feature {feature} is out of range, since max_feature_idx is {last}")
}

/// Rejects models with several outputs, or with a mean instead of a sum.
fn check_outputs(per_iteration: Option<usize>, is_average: bool) -> Result<(), FormatError> {
    if per_iteration.is_some_and(|n| n != 1) {
        return Err(unsupported("has several outputs per document", "train it with one output"));
    }
    if is_average {
        return Err(unsupported("is a random forest (average_output)", "train it by boosting"));
    }
    Ok(())
}

fn unsupported(what: &str, advice: &str) -> FormatError {
    FormatError::Unsupported { format: FORMAT, what: what.into(), advice: advice.into() }
}

/// The content common to both formats.
struct Parts {
    objective: String,
    /// By feature number.
    feature_names: Vec<String>,
    trees: Vec<Vec<DraftNode>>,
}

impl Parts {
    fn model(self) -> Result<Model, FormatError> {
        let features = features_of(&self.trees);
        // Names that LightGBM generates are only numbers.
        let is_named = self.feature_names.iter().enumerate().any(|(idx, name)| *name != format!("Column_{idx}"));
        let name = |id: &u32| self.feature_names.get(*id as usize).cloned();
        let names: Option<Vec<String>> = features.iter().map(name).collect();
        let ensemble = ensemble(0.0, self.trees, &features)?;
        let header = Header {
            objective: self.objective,
            feature_names: names.filter(|_| is_named).unwrap_or_default(),
            ..Header::new(AbsentFeature::Zero, Precision::F64, features)
        };
        Ok(Model::new(header, ensemble)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(threshold: f64, decision_type: u32) -> Result<(f64, bool), FormatError> {
        let (missing_left, left, right) = (false, 1, 2);
        let split = Split { feature: 0, threshold, missing_left, left, right, gain: 0.0, count: 0 };
        question(split, decision_type).map(|split| (split.threshold, split.missing_left))
    }

    #[test]
    fn what_is_nearly_zero_goes_with_zero() {
        let before = (-NEAR_ZERO).next_down();
        for (threshold, expected) in [(0.0, NEAR_ZERO), (1e-36, NEAR_ZERO), (-1e-36, before), (-NEAR_ZERO, before)] {
            assert_eq!(asked(threshold, 2 << 2), Ok((expected, false)));
        }
        assert_eq!(asked(1e-34, 2 << 2 | DEFAULT_LEFT), Ok((1e-34, true)));
    }

    #[test]
    fn missing_values_go_by_the_decision_type() {
        // Nothing was missing: NaN is 0.
        assert_eq!((asked(1.0, 0), asked(-1.0, DEFAULT_LEFT)), (Ok((1.0, true)), Ok((-1.0, false))));
        // Zero is missing: supported only if it goes there anyway.
        assert_eq!((asked(1.0, 1 << 2 | DEFAULT_LEFT), asked(-1.0, 1 << 2)), (Ok((1.0, true)), Ok((-1.0, false))));
        assert!(asked(1.0, 1 << 2).is_err() && asked(-1.0, 1 << 2 | DEFAULT_LEFT).is_err());
        assert!(asked(1.0, IS_CATEGORICAL).is_err() && asked(1.0, 3 << 2).is_err());
    }
}
