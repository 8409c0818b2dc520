//! What can be wrong with a model or its file.

/// A model that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There are no bytes.
    #[error("not a Rankwise model: the file is empty; use a file that `train` wrote")]
    Empty,
    /// The bytes are no JSON.
    #[error(
        "{line}:{column}: not a Rankwise model: {problem}; the file is damaged or not a model, so restore it from a \
         copy or train again"
    )]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the JSON reader said.
        problem: String,
    },
    /// JSON, but not one of ours.
    #[error("not a Rankwise model: no \"format\": \"rankwise-model\"; use a file that `train` wrote")]
    Foreign,
    /// A newer program wrote it.
    #[error(
        "the model has format version {found}, but this program supports versions up to {known}; use a newer rankwise"
    )]
    Newer {
        /// The version found.
        found: u64,
        /// The newest version known here.
        known: u64,
    },
    /// A kind of model that this program does not have.
    #[error("the model is of the unknown kind '{kind}'; use a newer rankwise")]
    Kind {
        /// The kind found.
        kind: String,
    },
    /// The content was changed after it was written.
    #[error("the model is damaged: its checksum is {found}, but its content gives {computed}; restore it from a copy")]
    Checksum {
        /// The checksum in the file.
        found: String,
        /// The checksum of the content.
        computed: String,
    },
    /// A tree is not a tree.
    #[error("tree {tree}: {problem}; the model is damaged, so restore it from a copy")]
    Tree {
        /// Which tree, from 0.
        tree: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A model of another kind, for something that needs trees.
    #[error("this model is {kind} and has no trees")]
    NoTrees {
        /// The kind of the model.
        kind: &'static str,
    },
    /// Another part is wrong.
    #[error("{problem}; the model is damaged, so restore it from a copy")]
    Content {
        /// What is wrong.
        problem: String,
    },
}
