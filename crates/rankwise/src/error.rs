//! One error type for all parts, so that `?` works everywhere.

use std::path::{Path, PathBuf};

use rankwise_data::synth::SynthError;
use rankwise_data::{DataError, SimdError};
use rankwise_eval::EvalError;
use rankwise_explain::ExplainError;
use rankwise_formats::{ExportError, FormatError};
use rankwise_io::{IoError, Place};
use rankwise_metrics::MetricError;
use rankwise_model::ModelError;
use rankwise_objectives::ObjectiveError;
use rankwise_params::ParamError;
use rankwise_train::{CheckpointError, PruneError, StartError, TrainError};
use rankwise_tune::{SpaceError, TuneError};

use crate::config::ConfigError;
use crate::{BlendError, CheckExportError, CheckpointFolderError, JudgeError};

/// Any error, with its facts. Options are named in backticks, as in the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Rows that do not make a valid dataset.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    Io(Box<IoError>),
    /// An invalid parameter.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Parameters in a TOML file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An objective that cannot learn from the data.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// Training cannot start or continue.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A model that cannot be a start model.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A checkpoint that cannot be used.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A folder of checkpoints that cannot be used.
    #[error(transparent)]
    CheckpointFolder(Box<CheckpointFolderError>),
    /// A model that cannot be pruned.
    #[error(transparent)]
    Prune(#[from] PruneError),
    /// Parts that do not make a valid model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model that cannot be imported.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A model file that cannot be used.
    #[error("{}", at_file(path, source))]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<FormatError>,
    },
    /// Columns with names, but the model identifies features by number.
    #[error(
        "{}: its columns have names, but the model identifies features by number; train it on data with names, or name \
            each column after its feature id in the training data, {}", path.display(), column_names(ids)
    )]
    NamedColumns {
        /// The data file.
        path: PathBuf,
        /// The feature ids of the model.
        ids: Vec<u32>,
    },
    /// A model that cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// An export that differs from its model.
    #[error(transparent)]
    CheckExport(#[from] CheckExportError),
    /// A metric that cannot be computed.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A metric that cannot be computed for one of several systems.
    #[error("system '{system}': {source}")]
    System {
        /// The name of the system.
        system: String,
        /// Why.
        source: MetricError,
    },
    /// Systems that cannot be compared.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A model or documents that cannot be explained.
    #[error(transparent)]
    Explain(#[from] ExplainError),
    /// A run that does not match its judgements.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// Rankers that cannot be combined.
    #[error(transparent)]
    Blend(#[from] BlendError),
    /// A cross-validation or search that cannot be run.
    #[error(transparent)]
    Tune(Box<TuneError>),
    /// A space that cannot be searched.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// An invalid request for synthetic data.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// Vector instructions that the machine does not support.
    #[error(transparent)]
    Simd(#[from] SimdError),
}

impl Error {
    /// The file to fix, and the position in it, if known.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Io(error) => Some(error.place()),
            Self::CheckpointFolder(error) => Some(error.place()),
            Self::NamedColumns { path, .. } => Some(Place::file(path)),
            Self::ModelFile { path, source } => {
                let (line, column) = match **source {
                    FormatError::Line { line, .. } | FormatError::Deep { line, .. } => (Some(line), None),
                    FormatError::Model(ModelError::Json { line, column, .. }) => (Some(line), Some(column)),
                    _ => (None, None),
                };
                let number = |number: Option<usize>| number.map(|number| number as u64);
                Some(Place { path: path.clone(), line: number(line), column: number(column) })
            }
            _ => None,
        }
    }
}

// The largest errors are boxed, so that results stay small.
impl From<IoError> for Error {
    fn from(error: IoError) -> Self {
        Self::Io(Box::new(error))
    }
}

impl From<TuneError> for Error {
    fn from(error: TuneError) -> Self {
        Self::Tune(Box::new(error))
    }
}

impl From<CheckpointFolderError> for Error {
    fn from(error: CheckpointFolderError) -> Self {
        Self::CheckpointFolder(Box::new(error))
    }
}

/// Line and column follow the file name without a space.
fn at_file(path: &Path, source: &FormatError) -> String {
    let place = if path.as_os_str() == "-" { "<stdin>".into() } else { path.display().to_string() };
    match source {
        FormatError::Line { .. } | FormatError::Deep { .. } | FormatError::Model(ModelError::Json { .. }) => {
            format!("{place}:{source}")
        }
        _ => format!("{place}: {source}"),
    }
}

/// An example of a column name that stands for a feature id, for messages.
pub fn column_names(ids: &[u32]) -> String {
    let id = ids.first().copied().unwrap_or(1);
    format!("such as f{id} for feature {id}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results contain it, also in user programs, and clippy warns from 128 bytes on.
    #[test]
    fn it_is_small() {
        assert!(size_of::<Error>() < 128, "{}", size_of::<Error>());
    }
}
