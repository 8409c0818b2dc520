//! Finished steps of a search as text, so that it can be resumed; and what must be the same to resume.

use rankwise_data::Documents;
use rankwise_model::ModelError;
use rankwise_params::Setting;
use rankwise_train::TrainParams;
use serde::{Deserialize, Serialize};

/// Keeps finished steps, so that an interrupted search can be resumed.
pub trait StepStore: Sync {
    /// A step as saved before.
    fn load(&self, step: usize) -> Option<String>;
    /// Saves a step.
    fn save(&self, step: usize, content: &str);
}

/// Keeps nothing.
impl StepStore for () {
    fn load(&self, _: usize) -> Option<String> {
        None
    }

    fn save(&self, _: usize, _: &str) {}
}

/// A saved step that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepFileError {
    /// Damaged, or not a saved step.
    #[error("not a saved step: {problem}; delete it, and the step is repeated")]
    Damaged {
        /// What is wrong.
        problem: String,
    },
    /// From another search.
    #[error("saved with other {what}; use the same, or another folder")]
    Other {
        /// What differs.
        what: &'static str,
    },
    /// Its model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// What must be the same to resume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    version: u32,
    params: Vec<String>,
    train: String,
    valid: String,
    /// The options of the search, one per line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    search: Vec<String>,
}

impl Origin {
    /// The version changes whenever a rule of the search does.
    pub(crate) fn new(version: u32, params: &TrainParams, train: &Documents, valid: &Documents) -> Self {
        let fingerprint = |data: &Documents| format!("{:032x} {}", data.fingerprint(), data.n_rows());
        let setting = |setting: Setting| format!("{}={}", setting.name, setting.value);
        let params = params.changed().into_iter().map(setting).collect();
        Self { version, params, train: fingerprint(train), valid: fingerprint(valid), search: Vec::new() }
    }

    /// With options of the search.
    pub(crate) fn with_search(self, search: Vec<String>) -> Self {
        Self { search, ..self }
    }

    pub(crate) fn check_same(&self, saved: &Self) -> Result<(), StepFileError> {
        let what = match () {
            () if self.version != saved.version => "versions of Rankwise",
            () if self.params != saved.params => "parameters",
            () if self.train != saved.train => "training data",
            () if self.valid != saved.valid => "validation data",
            () if self.search != saved.search => "search options, such as the search space",
            () => return Ok(()),
        };
        Err(StepFileError::Other { what })
    }
}
