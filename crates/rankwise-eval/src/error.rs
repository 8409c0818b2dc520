//! What can keep systems from being compared.

/// A comparison that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// Too few systems, or too many.
    #[error("{given} to compare; give {} to {}", crate::MIN_SYSTEMS, crate::MAX_SYSTEMS)]
    Count {
        /// How many there are.
        given: usize,
    },
    /// Two systems have one name.
    #[error("two systems are called '{name}'; give each a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The baseline is none of the systems.
    #[error("there is no system '{name}' to be the baseline; there are {known}")]
    Baseline {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Two systems were measured on different queries.
    #[error("'{a}' and '{b}' have no query in common; compare systems on the same queries")]
    NothingShared {
        /// One system.
        a: String,
        /// The other.
        b: String,
    },
    /// The queries that two systems share have no value of a metric.
    #[error(
        "no query that counts has a value of {metric} for both '{a}' and '{b}'; choose another rule for empty queries, or \
         other metrics"
    )]
    NothingCounts {
        /// One system.
        a: String,
        /// The other.
        b: String,
        /// The metric.
        metric: String,
    },
    /// Systems of one table were measured by different metrics, or a query has not one value of each.
    #[error("'{system}' was not measured by the same metrics as the others, or not on each of its queries")]
    Shape {
        /// The system.
        system: String,
    },
    /// A value that cannot be averaged.
    #[error("the {metric} of query '{query}' for '{system}' is {value}; a comparison needs finite values")]
    Value {
        /// The system.
        system: String,
        /// The metric.
        metric: String,
        /// The query.
        query: String,
        /// The value.
        value: f64,
    },
    /// A query has two weights.
    #[error("query '{query}' weighs {one} for one system and {other} for another; give it one weight")]
    Weight {
        /// The query.
        query: String,
        /// Its weight for an earlier system.
        one: f64,
        /// Its weight for a later one.
        other: f64,
    },
}
