//! On which side a difference counts as evidence.

/// The alternative to "both systems are the same".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// Their values differ, whichever are larger.
    #[default]
    Both,
    /// The first one has the larger values.
    Upper,
    /// The first one has the smaller values.
    Lower,
}

impl Tail {
    /// The p-value from the chances of a difference at least as large and of one at most as large.
    pub(crate) fn of(self, at_least: f64, at_most: f64) -> f64 {
        match self {
            Self::Both => (2.0 * at_least.min(at_most)).min(1.0),
            Self::Upper => at_least,
            Self::Lower => at_most,
        }
    }
}
