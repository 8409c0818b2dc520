//! Why a model cannot be exported.

use rankwise_model::ModelError;

use super::Target;

/// A model that the target cannot express.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// Only trees and linear models can be exported.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A linear model for a target of trees.
    #[error("{target} has no linear models; export to {} or {}", Target::LINEAR[0], Target::LINEAR[1])]
    NotForLinear {
        /// The target.
        target: Target,
    },
    /// Trees for a target of linear models.
    #[error("{target} is a format of linear models, but this model has trees; use another format")]
    OnlyLinear {
        /// The target.
        target: Target,
    },
    /// Inputs of a linear model that the target cannot compute.
    #[error(
        "the model was trained with {what}, which {target} cannot express; train without it, or score with `predict`"
    )]
    Transform {
        /// The target.
        target: Target,
        /// The parameter.
        what: &'static str,
    },
    /// Missing values of a linear model do not count as 0.
    #[error(
        "a missing value of feature {feature} counts as the mean of the feature, but {target} treats it as 0; \
         `missing_as_zero` permits this, and `check_export` tells whether it matters"
    )]
    MissingInLinear {
        /// The target.
        target: Target,
        /// The id of the feature.
        feature: u32,
    },
    /// The score is not a sum of leaves.
    #[error(
        "the model of objective '{objective}' has several outputs and scores by expected gain, but {target} only \
         supports sums of trees; score with `predict`, or train with another objective, such as rmse or lambdamart"
    )]
    Output {
        /// The target.
        target: Target,
        /// The objective of the model.
        objective: String,
    },
    /// The model has f64 values, the target f32.
    #[error(
        "the model compares values as f64, but {target} as f32, so values that f32 cannot represent may reach other \
         leaves; `allow_rounding` permits this (values that f32 can represent reach the same leaves)"
    )]
    Rounding {
        /// The target.
        target: Target,
    },
    /// A threshold cannot be represented.
    #[error(
        "tree {tree}: {target} adds 0.000001 to thresholds and cannot represent {threshold} in f32; `allow_rounding` \
         uses the nearest value, and `check_export` tells whether it matters"
    )]
    Threshold {
        /// The target.
        target: Target,
        /// Which tree, from 0.
        tree: usize,
        /// The threshold.
        threshold: f64,
    },
    /// A threshold separates values that count as 0.
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
    /// Missing values go to another side than 0.
    #[error(
        "tree {tree} treats missing values of feature {feature} differently from 0, but {target} treats them as 0; \
         `missing_as_zero` permits this, and `check_export` tells whether it matters"
    )]
    Missing {
        /// The target.
        target: Target,
        /// Which tree, from 0.
        tree: usize,
        /// The id of the feature.
        feature: u32,
    },
    /// A number is too large for f32.
    #[error("{what} of {value:e} overflows f32, which {target} uses; scale the labels down and train again")]
    Range {
        /// The target.
        target: Target,
        /// What it is, such as `a leaf`.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A feature number is out of the target's range.
    #[error(
        "the model uses feature {feature}, but {target} numbers features from {first} to {last}; renumber the features \
         in the data, or name the columns of a table {}, and train again",
        column_names(*first)
    )]
    Feature {
        /// The target.
        target: Target,
        /// The id of the feature.
        feature: u32,
        /// The smallest number.
        first: u32,
        /// The largest number.
        last: u32,
    },
    /// A feature name cannot be used.
    #[error("feature {feature} cannot be called {name:?} in {target}: {problem}; {}", if target.has_names() { "give other names with `feature_names`" } else { "rename it in the data and train again" })]
    Name {
        /// The target.
        target: Target,
        /// The id of the feature.
        feature: u32,
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A feature is missing in the given names.
    #[error("no name is given for feature {feature}; add it")]
    Nameless {
        /// The id of the feature.
        feature: u32,
    },
    /// Names for a target without feature names.
    #[error("{target} identifies features by number; remove `feature_names`")]
    NamesUnused {
        /// The target.
        target: Target,
    },
    /// Fewer columns than the trees use, or too many.
    #[error(
        "`columns` {given} is out of range; give the number of columns of the data: at least {needed}, which the model \
         needs, and at most {most}"
    )]
    Columns {
        /// The requested number.
        given: u32,
        /// The number that the trees need.
        needed: u32,
        /// The maximum.
        most: u32,
    },
    /// A number of columns for a target without columns.
    #[error("{target} has no columns; remove `columns`")]
    ColumnsUnused {
        /// The target.
        target: Target,
    },
    /// A tree that is too deep.
    #[error(
        "tree {tree} has depth {depth}, but readers of {target} may support only {most}; train again with \
         max_depth={most} or less"
    )]
    Depth {
        /// The target.
        target: Target,
        /// Which tree, from 0.
        tree: usize,
        /// Its depth.
        depth: usize,
        /// The maximum depth.
        most: usize,
    },
}

fn column_names(first: u32) -> String {
    format!("f{first}, f{}, ...", first + 1)
}
