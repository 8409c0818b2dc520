//! Why a run cannot be resumed.

impl CheckpointError {
    /// Its parts contradict each other.
    pub(crate) fn inconsistent() -> Self {
        Self::Damaged { problem: "its parts are inconsistent".into() }
    }
}

/// A checkpoint that cannot be used, or not for this run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// The bytes were altered or truncated.
    #[error("the checkpoint is damaged: {problem}")]
    Damaged {
        /// How this was detected.
        problem: String,
    },
    /// A newer program wrote it.
    #[error(
        "the checkpoint has format version {found}, but this program supports version {known}; use a newer rankwise"
    )]
    Newer {
        /// The version found.
        found: u32,
        /// The supported version.
        known: u32,
    },
    /// An older program wrote it, and might have trained another model.
    #[error(
        "the checkpoint has format version {found}, but this program supports version {known}; use the rankwise version \
            that wrote it, or another folder to start again"
    )]
    Older {
        /// The version found.
        found: u32,
        /// The supported version.
        known: u32,
    },
    /// The run has other parameters.
    #[error(
        "the checkpoint is from a run with other parameters: {differences}; use the same parameters, or another folder \
         to start again"
    )]
    Params {
        /// Each as `name is X, was Y`.
        differences: String,
    },
    /// The run has other data.
    #[error("the checkpoint is from a run {what}: {difference}; use the same data, or another folder to start again")]
    Data {
        /// Which data, as in "with other validation sets".
        what: String,
        /// How it differs.
        difference: String,
    },
    /// The run has already grown more trees than requested.
    #[error(
        "the checkpoint is from a run with {trees} trees, but num_trees is {num_trees}; set num_trees={trees} or more"
    )]
    TooFar {
        /// Rounds so far.
        trees: usize,
        /// The requested number.
        num_trees: usize,
    },
}
