//! One-sided and two-sided tests.

/// The alternative to "both systems are equal".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tail {
    /// The values differ, in either direction.
    #[default]
    Both,
    /// The first system has larger values.
    Upper,
    /// The first system has smaller values.
    Lower,
}

impl Tail {
    /// The p-value, from the probabilities of a difference at least as large and at most as large.
    pub(crate) fn of(self, at_least: f64, at_most: f64) -> f64 {
        match self {
            Self::Both => (2.0 * at_least.min(at_most)).min(1.0),
            Self::Upper => at_least,
            Self::Lower => at_most,
        }
    }
}
