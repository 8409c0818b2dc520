//! Finished steps as text, so that a search can be resumed.

use rankwise_data::Documents;
use rankwise_model::{Model, ModelError};
use rankwise_params::Setting;
use rankwise_train::TrainParams;
use serde::{Deserialize, Serialize};

use super::halves::Halves;
use super::member::{Member, Outcome, TrainedMember};

/// Changes whenever the portfolio or a rule of the search does.
const VERSION: u32 = 1;

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
}

impl Origin {
    pub(crate) fn new(params: &TrainParams, train: &Documents, valid: &Documents) -> Self {
        let fingerprint = |data: &Documents| format!("{:032x} {}", data.fingerprint(), data.n_rows());
        let setting = |setting: Setting| format!("{}={}", setting.name, setting.value);
        let params = params.changed().into_iter().map(setting).collect();
        Self { version: VERSION, params, train: fingerprint(train), valid: fingerprint(valid) }
    }

    fn check_same(&self, saved: &Self) -> Result<(), StepFileError> {
        let what = match () {
            () if self.version != saved.version => "versions of Rankwise",
            () if self.params != saved.params => "parameters",
            () if self.train != saved.train => "training data",
            () if self.valid != saved.valid => "validation data",
            () => return Ok(()),
        };
        Err(StepFileError::Other { what })
    }
}

#[derive(Serialize, Deserialize)]
struct StepFile {
    origin: Origin,
    name: String,
    outcome: SavedOutcome,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SavedOutcome {
    Trained { curves: [Vec<f64>; 2], model: String },
    Dropped { rounds: usize, value: f64 },
    Failed { problem: String },
}

pub(crate) fn write_step(member: &Member, origin: &Origin) -> String {
    let outcome = match &member.outcome {
        Outcome::Trained(trained) => {
            SavedOutcome::Trained { curves: trained.curves.clone(), model: trained.model.to_json() }
        }
        Outcome::Dropped { rounds, value } => SavedOutcome::Dropped { rounds: *rounds, value: *value },
        Outcome::Failed { problem } => SavedOutcome::Failed { problem: problem.clone() },
    };
    let file = StepFile { origin: origin.clone(), name: member.name.clone(), outcome };
    serde_json::to_string(&file).expect("curves are finite and keys are text")
}

/// Reads a step that was saved by the same search under the same number.
pub(crate) fn read_step(
    content: &str,
    origin: &Origin,
    name: &str,
    halves: &Halves<'_>,
) -> Result<Member, StepFileError> {
    let damaged = |problem: String| StepFileError::Damaged { problem };
    let file: StepFile = serde_json::from_str(content).map_err(|error| damaged(error.to_string()))?;
    origin.check_same(&file.origin)?;
    if file.name != name {
        return Err(damaged(format!("it is '{}' in the place of '{name}'", file.name)));
    }
    let outcome = match file.outcome {
        SavedOutcome::Trained { curves, model } => {
            let model = Model::from_json(model.as_bytes()).map_err(|error| damaged(error.to_string()))?;
            let is_whole = !curves[0].is_empty() && curves[0].len() == curves[1].len();
            if !is_whole || !curves.iter().flatten().all(|value| value.is_finite()) {
                return Err(damaged("its learning curves are incomplete".into()));
            }
            Outcome::Trained(Box::new(TrainedMember::new(&model, curves, halves)?))
        }
        SavedOutcome::Dropped { rounds, value } => Outcome::Dropped { rounds, value },
        SavedOutcome::Failed { problem } => Outcome::Failed { problem },
    };
    Ok(Member { name: file.name, outcome })
}
