//! Why systems cannot be compared.

/// A comparison that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// Too few systems, or too many.
    #[error("{}; give {} to {} systems", miscounted(*given), crate::MIN_SYSTEMS, crate::MAX_SYSTEMS)]
    Count {
        /// The number of systems.
        given: usize,
    },
    /// Two systems have the same name.
    #[error("two systems are named '{name}'; give them different names (`names`)")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The baseline is not one of the systems.
    #[error("unknown baseline '{name}'; the systems are {known}")]
    Baseline {
        /// The requested baseline.
        name: String,
        /// The names of the systems.
        known: String,
    },
    /// No query has a value of a metric for both of two systems and a weight above 0.
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
    /// A metric without values per query.
    #[error(
        "{metric} is computed over all documents at once, so systems cannot be compared by query; use query-auc instead"
    )]
    Pooled {
        /// The metric.
        metric: String,
    },
    /// The systems of a table have different metrics, or other queries than the table.
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
