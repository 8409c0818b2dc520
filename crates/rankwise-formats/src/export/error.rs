//! Why a model cannot be exported.

use rankwise_model::ModelError;

use super::Target;

/// A model that the target cannot express.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// Only trees can be exported.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The score is no sum of leaves.
    #[error(
        "the model of objective '{objective}' has several outputs and scores by expected gain, but {target} only \
         supports sums of trees; score with `predict`, or train with another objective, such as rmse or lambdamart"
    )]
    Output {
        /// To what.
        target: Target,
        /// What the model was trained for.
        objective: String,
    },
    /// Values of the model are f64, those of the target f32.
    #[error(
        "the model compares values as f64, but {target} as f32, so some values may reach other leaves; `allow_rounding` \
         permits this and rounds thresholds down, so that f32 values reach the same leaves"
    )]
    Rounding {
        /// To what.
        target: Target,
    },
    /// A threshold has no equal.
    #[error(
        "tree {tree}: {target} adds 0.000001 to thresholds and cannot represent {threshold} in f32; `allow_rounding` \
         uses the nearest value, and `check_export` tells whether it matters"
    )]
    Threshold {
        /// To what.
        target: Target,
        /// Which tree, from 0.
        tree: usize,
        /// The threshold.
        threshold: f64,
    },
    /// A threshold parts values that count as 0.
    #[error(
        "tree {tree} has the threshold {threshold:e}, but LightGBM treats values within 1e-35 of 0 as 0; \
         `allow_rounding` permits this, and `check_export` tells whether it matters"
    )]
    NearZero {
        /// Which tree, from 0.
        tree: usize,
        /// The threshold.
        threshold: f64,
    },
    /// Missing values go elsewhere than 0.
    #[error(
        "tree {tree} treats missing values of feature {feature} differently from 0, but {target} treats them as 0; \
         `missing_as_zero` permits this, and `check_export` tells whether it matters"
    )]
    Missing {
        /// To what.
        target: Target,
        /// Which tree, from 0.
        tree: usize,
        /// The id of the feature.
        feature: u32,
    },
    /// A number is too large for f32.
    #[error("{what} of {value:e} overflows f32, which {target} uses; scale the labels down and train again")]
    Range {
        /// To what.
        target: Target,
        /// What it is, as `a leaf`.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A feature has no number there.
    #[error(
        "the model uses feature {feature}, but {target} numbers features from {first} to {last}; renumber the features \
         in the data and train again"
    )]
    Feature {
        /// To what.
        target: Target,
        /// The id of the feature.
        feature: u32,
        /// The smallest number.
        first: u32,
        /// The largest number.
        last: u32,
    },
    /// A name cannot be used.
    #[error("feature {feature} cannot be called {name:?} in {target}: {problem}; {}", if target.has_names() { "give other names with `feature_names`" } else { "rename it in the data and train again" })]
    Name {
        /// To what.
        target: Target,
        /// The id of the feature.
        feature: u32,
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The names that were given are not enough.
    #[error("no name is given for feature {feature}; add it")]
    Nameless {
        /// The id of the feature.
        feature: u32,
    },
    /// Names where there is no place for them.
    #[error("{target} identifies features by number; remove `feature_names`")]
    NamesUnused {
        /// To what.
        target: Target,
    },
    /// Fewer columns than the trees ask for, or too many.
    #[error(
        "`columns` {given} is out of range; give the number of columns of the data, from {needed}, which the model needs, to \
         {most}"
    )]
    Columns {
        /// What was asked for.
        given: u32,
        /// What the trees need.
        needed: u32,
        /// The most that there can be.
        most: u32,
    },
    /// Columns where there are none.
    #[error("{target} has no columns; remove `columns`")]
    ColumnsUnused {
        /// To what.
        target: Target,
    },
    /// A tree whose nodes are nested too deep.
    #[error(
        "tree {tree} has depth {depth}, but readers of {target} may support only {most}; train again with \
         max_depth={most} or less"
    )]
    Depth {
        /// To what.
        target: Target,
        /// Which tree, from 0.
        tree: usize,
        /// Its depth.
        depth: usize,
        /// The largest depth.
        most: usize,
    },
}
