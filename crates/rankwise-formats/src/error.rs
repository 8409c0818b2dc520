//! Why a model cannot be imported.

use rankwise_model::ModelError;

/// A model that cannot be read or has no equal here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The native reader, or the check of every model, refused it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A line of text does not say what it should.
    #[error("{line}: {problem}; the file is damaged or not in {format}'s format, so save the model again")]
    Line {
        /// Whose format.
        format: &'static str,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// A field does not say what it should.
    #[error("{}: {problem}; the file is damaged or not in {format}'s format, so save the model again", if field.is_empty()
             { "the model" } else { field })]
    Field {
        /// Whose format.
        format: &'static str,
        /// The way to the field.
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// JSON whose objects lie too deep inside of one another.
    #[error(
        "{line}: JSON is nested more than 127 levels deep, because of very deep trees; save the {format} model in its \
         other format (LightGBM: text, XGBoost: UBJSON), or train shallower trees"
    )]
    Deep {
        /// Whose format.
        format: &'static str,
        /// The line, from 1.
        line: usize,
    },
    /// Bytes do not say what they should.
    #[error("byte {byte}: {problem}; the file is damaged or not in {format}'s format, so save the model again")]
    Byte {
        /// Whose format.
        format: &'static str,
        /// The byte, from 0.
        byte: usize,
        /// What is wrong.
        problem: String,
    },
    /// A tree is not a tree.
    #[error("tree {tree}: {problem}; the file is damaged, so save the model again")]
    Tree {
        /// Which tree, from 0.
        tree: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// There is nothing to score with.
    #[error("the {format} model has no trees; train it for at least one round")]
    Empty {
        /// Whose model.
        format: &'static str,
    },
    /// Nothing tells whose it is.
    #[error("not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib; give a model file of one of them")]
    Unknown,
    /// A form of a known program that cannot be read.
    #[error("this is {form}, which is not supported; {advice}")]
    Form {
        /// Which form of whose model.
        form: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The model is sound, but can do something that ours cannot.
    #[error("the {format} model {what}, which is not supported; {advice}")]
    Unsupported {
        /// Whose model.
        format: &'static str,
        /// What it has or does.
        what: String,
        /// What to do.
        advice: String,
    },
}

/// Characters of a file that a message repeats.
const MAX_SHOWN: usize = 100;

/// Words of a file, for a message: not too many, and nothing that a terminal would act on.
pub(crate) fn shown(text: &str) -> String {
    let start: String = text.chars().take(MAX_SHOWN).collect();
    let dots = if start.len() < text.len() { "..." } else { "" };
    format!("{}{dots}", start.escape_debug())
}
