//! What can keep systems from being compared.

/// A comparison that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// Too few systems, or too many.
    #[error("{}; give {} to {} systems", miscounted(*given), crate::MIN_SYSTEMS, crate::MAX_SYSTEMS)]
    Count {
        /// How many there are.
        given: usize,
    },
    /// Two systems have one name.
    #[error("two systems are named '{name}'; give them different names (`names`)")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The baseline is none of the systems.
    #[error("unknown baseline '{name}'; the systems are {known}")]
    Baseline {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No query has a value of a metric, and a weight above 0, for both of two systems.
    #[error(
        "'{a}' and '{b}' have no query in common with a value of {metric} and a weight above 0; use the same queries, or another rule for \
         queries without relevant documents"
    )]
    NothingCounts {
        /// One system.
        a: String,
        /// The other.
        b: String,
        /// The metric.
        metric: String,
    },
    /// A metric without values for queries.
    #[error(
        "{metric} is computed over all documents at once, so systems cannot be compared by query; use query-auc instead"
    )]
    Pooled {
        /// The metric.
        metric: String,
    },
    /// Systems of one table were measured by different metrics, or on other queries than those of the table.
    #[error("'{system}' was not measured on the same queries and by the same metrics as the others; measure it again")]
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
}

fn miscounted(systems: usize) -> String {
    match systems {
        0 => "nothing to compare".into(),
        1 => "one system cannot be compared".into(),
        more => format!("{more} systems cannot be compared"),
    }
}
