//! Why a model cannot be imported.

use rankwise_model::ModelError;

/// A model that cannot be read or cannot be represented here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Rejected by the native reader or by the checks of every model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An invalid line.
    #[error("{line}: {problem}; the file is damaged or not in {format}'s format, so save the model again")]
    Line {
        /// The format.
        format: &'static str,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// An invalid field.
    #[error("{}: {problem}; the file is damaged or not in {format}'s format, so save the model again", if field.is_empty()
             { "the model" } else { field })]
    Field {
        /// The format.
        format: &'static str,
        /// The path of the field.
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// JSON that is nested too deeply.
    #[error(
        "{line}: JSON is nested more than 127 levels deep, because of very deep trees; save the {format} model in its \
         other format (LightGBM: text, XGBoost: UBJSON), or train shallower trees"
    )]
    Deep {
        /// The format.
        format: &'static str,
        /// The line, from 1.
        line: usize,
    },
    /// Invalid bytes.
    #[error("byte {byte}: {problem}; the file is damaged or not in {format}'s format, so save the model again")]
    Byte {
        /// The format.
        format: &'static str,
        /// The byte offset, from 0.
        byte: usize,
        /// What is wrong.
        problem: String,
    },
    /// An invalid tree.
    #[error("tree {tree}: {problem}; the file is damaged, so save the model again")]
    Tree {
        /// Which tree, from 0.
        tree: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A model without trees.
    #[error("the {format} model has no trees; train it for at least one round")]
    Empty {
        /// The format.
        format: &'static str,
    },
    /// The format is not recognised.
    #[error("not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib; give a model file of one of them")]
    Unknown,
    /// A known format that is not supported.
    #[error("this is {form}, which is not supported{}; {advice}", because.map_or_else(String::new, |because| format!(" because {because}")))]
    Form {
        /// The format.
        form: &'static str,
        /// Why it is not, if there is a simple reason.
        because: Option<&'static str>,
        /// What to do.
        advice: &'static str,
    },
    /// The model is valid, but uses something that is not supported here.
    #[error("the {format} model {what}, which is not supported; {advice}")]
    Unsupported {
        /// The format.
        format: &'static str,
        /// What it uses.
        what: String,
        /// What to do.
        advice: String,
    },
}

/// Maximum number of characters from a file in a message.
const MAX_SHOWN: usize = 100;

/// Text from a file for a message: limited in length, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    let start: String = text.chars().take(MAX_SHOWN).collect();
    let dots = if start.len() < text.len() { "..." } else { "" };
    format!("{}{dots}", start.escape_debug())
}
