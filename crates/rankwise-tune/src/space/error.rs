//! What can be wrong with a search space.

use rankwise_params::ParamError;

/// A search space that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpaceError {
    /// Nothing to search.
    #[error("the search space is empty; add at least one parameter, such as learning_rate = {{ log = [0.01, 0.3] }}")]
    Empty,
    /// A parameter or one of its values is invalid.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A parameter with two entries.
    #[error("parameter '{name}' is in the search space twice; keep one")]
    Twice {
        /// The parameter.
        name: String,
    },
    /// The bounds are the same, swapped or not numbers.
    #[error("parameter '{name}': the lower bound {low} is not below the upper bound {high}")]
    Bounds {
        /// The parameter.
        name: String,
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// The logarithm of the lower bound does not exist.
    #[error(
        "parameter '{name}': a logarithmic range starts above 0, not at {low}; raise the lower bound, or use uniform"
    )]
    LogBound {
        /// The parameter.
        name: String,
        /// The lower bound.
        low: f64,
    },
    /// A range of integers that does not start or end with one.
    #[error("parameter '{name}': {bound} is not an integer")]
    NotAnInteger {
        /// The parameter.
        name: String,
        /// The bound.
        bound: f64,
    },
    /// A range of something that is not a number.
    #[error("parameter '{name}' has no range; list the values to try, out of: {expected}")]
    NotANumber {
        /// The parameter.
        name: String,
        /// Its values.
        expected: String,
    },
    /// A value that is listed twice.
    #[error("parameter '{name}': the value '{value}' is listed twice")]
    ValueTwice {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
    },
    /// Nothing to choose from.
    #[error(
        "parameter '{name}' has fewer than two values to choose from; add another, or set it outside the search space"
    )]
    OneValue {
        /// The parameter.
        name: String,
    },
    /// A parameter whose values cannot be compared by the metric.
    #[error(
        "parameter '{name}' cannot be searched: it does not change how good the model is; set it outside the search space"
    )]
    NotSearched {
        /// The parameter.
        name: String,
    },
    /// A condition that cannot be met.
    #[error("the condition of parameter '{name}': {problem}")]
    When {
        /// The parameter.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A parameter that is to be searched and has a value.
    #[error("parameter '{name}' is both set and in the search space; remove one of the two")]
    Both {
        /// The parameter.
        name: String,
    },
    /// The built-in space has nothing that is not set.
    #[error(
        "all parameters of the built-in search space are set; remove one of these settings, or give a search space"
    )]
    AllSet,
}

impl SpaceError {
    pub(super) fn when(name: &str, problem: impl Into<String>) -> Self {
        Self::When { name: name.to_owned(), problem: problem.into() }
    }
}

/// An error with its position in the text of a search space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {problem}")]
pub struct SpaceFileError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong, and what to do.
    pub problem: String,
}
