//! Finished steps as text, so that a search can be resumed.

use rankwise_model::Model;
use serde::{Deserialize, Serialize};

use super::halves::Halves;
use super::member::{Member, Outcome, TrainedMember};
use crate::store::{Origin, StepFileError};

/// Changes whenever the portfolio or a rule of the search does.
pub(super) const VERSION: u32 = 1;

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
