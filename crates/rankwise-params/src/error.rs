//! What can be wrong with a parameter.

use crate::{ParamName, Range};

/// An invalid parameter, with the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParamError {
    /// No parameter has this name.
    #[error("unknown parameter '{name}'; {}", hint(nearest.as_deref()))]
    Unknown {
        /// The name as typed.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
    },
    /// The text is not a value of the parameter's type.
    #[error("parameter {name}: invalid value '{value}'; expected {expected}")]
    Value {
        /// The parameter.
        name: ParamName,
        /// The text as typed.
        value: String,
        /// What is expected.
        expected: String,
    },
    /// The text is not a value of the parameter's type, and its type knows why.
    #[error("parameter {name}: {problem}")]
    Invalid {
        /// The parameter.
        name: ParamName,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The value is out of range.
    #[error("parameter {name}: {value} is out of range; use {}", range.of("a value"))]
    OutOfRange {
        /// The parameter.
        name: ParamName,
        /// The value as typed.
        value: String,
        /// The allowed range.
        range: Range,
    },
    /// The same parameter was given with two names.
    #[error("parameter '{name}' is set twice{}; keep one", spellings(first, second))]
    Twice {
        /// The parameter.
        name: String,
        /// The first spelling.
        first: String,
        /// The second spelling.
        second: String,
    },
    /// The value conflicts with others.
    #[error("parameter {name}: {problem}")]
    Conflict {
        /// The parameter to change.
        name: ParamName,
        /// What is wrong and what to do.
        problem: String,
    },
}

impl ParamError {
    /// A value that conflicts with others.
    pub fn conflict(name: &str, problem: impl Into<String>) -> Self {
        Self::Conflict { name: name.into(), problem: problem.into() }
    }
}

fn hint(nearest: Option<&str>) -> String {
    const ALL: &str = "`docs/parameters.md` lists all";
    nearest.map_or_else(|| ALL.into(), |name| format!("did you mean '{name}'? {ALL}"))
}

fn spellings(first: &str, second: &str) -> String {
    if first == second { String::new() } else { format!(", as '{first}' and as '{second}'") }
}
