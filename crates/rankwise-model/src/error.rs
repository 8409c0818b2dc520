//! Errors in models and model files.

/// An invalid model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The file is empty.
    #[error("not a Rankwise model: the file is empty; use a file that `train` wrote")]
    Empty,
    /// The file is not JSON.
    #[error(
        "{line}:{column}: not a Rankwise model: {problem}; the file is damaged or not a model, so restore it from a \
         copy or train again"
    )]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The problem reported by the JSON parser.
        problem: String,
    },
    /// JSON, but not a Rankwise model.
    #[error("not a Rankwise model: no \"format\": \"rankwise-model\"; use a file that `train` wrote")]
    Foreign,
    /// A newer program wrote it.
    #[error(
        "the model has format version {found}, but this program supports versions up to {known}; use a newer rankwise"
    )]
    Newer {
        /// The version found.
        found: u64,
        /// The newest supported version.
        known: u64,
    },
    /// An unknown kind of model.
    #[error("the model is of the unknown kind '{kind}'; use a newer rankwise")]
    Kind {
        /// The kind found.
        kind: String,
    },
    /// The content was changed after writing.
    #[error("the model is damaged: its checksum is {found}, but its content gives {computed}; restore it from a copy")]
    Checksum {
        /// The checksum in the file.
        found: String,
        /// The checksum of the content.
        computed: String,
    },
    /// An invalid tree.
    #[error("tree {tree}: {problem}; the model is damaged, so restore it from a copy")]
    Tree {
        /// Which tree, from 0.
        tree: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A model without trees, where trees are required.
    #[error("this model is {kind} and has no trees")]
    NoTrees {
        /// The kind of the model.
        kind: &'static str,
    },
    /// Another part is invalid.
    #[error("{problem}; the model is damaged, so restore it from a copy")]
    Content {
        /// What is wrong.
        problem: String,
    },
}
