//! Finished trials as text, so that a search can be resumed.

use rankwise_model::Model;
use serde::{Deserialize, Serialize};

use super::trial::{Outcome, Run};
use crate::Point;
use crate::store::{Origin, StepFileError};

/// Changes whenever a rule of the search does.
pub(super) const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct TrialFile {
    origin: Origin,
    settings: Vec<(String, String)>,
    outcome: SavedOutcome,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SavedOutcome {
    Trained { curve: Vec<f64>, best_round: usize, is_stopped: bool, model: Option<String> },
    Failed { problem: String },
}

pub(super) fn write_trial(run: &Run, origin: &Origin) -> String {
    let outcome = match &run.outcome {
        Outcome::Trained { curve, best_round, is_stopped, model } => SavedOutcome::Trained {
            curve: curve.clone(),
            best_round: *best_round,
            is_stopped: *is_stopped,
            model: model.as_ref().map(|model| model.to_json()),
        },
        Outcome::Failed { problem } => SavedOutcome::Failed { problem: problem.clone() },
    };
    let settings = run.settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let file = TrialFile { origin: origin.clone(), settings, outcome };
    serde_json::to_string(&file).expect("curves are finite and keys are text")
}

/// Reads a trial that was saved by the same search under the same number.
pub(super) fn read_trial(
    content: &str,
    origin: &Origin,
    points: Vec<Option<Point>>,
    settings: Vec<(&'static str, String)>,
) -> Result<Run, StepFileError> {
    let damaged = |problem: &str| StepFileError::Damaged { problem: problem.to_owned() };
    let file: TrialFile = serde_json::from_str(content).map_err(|error| damaged(&error.to_string()))?;
    origin.check_same(&file.origin)?;
    let tried = settings.iter().map(|(name, value)| (*name, value.as_str()));
    if !tried.eq(file.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))) {
        return Err(damaged("it has other parameters than the search tries in this place"));
    }
    let outcome = match file.outcome {
        SavedOutcome::Trained { curve, best_round, is_stopped, model } => {
            let model = model.map(|model| Model::from_json(model.as_bytes())).transpose();
            if !(1..=curve.len()).contains(&best_round) || !curve.iter().all(|value| value.is_finite()) {
                return Err(damaged("its learning curve is incomplete"));
            }
            let model = model.map_err(|error| damaged(&error.to_string()))?;
            Outcome::Trained { curve, best_round, is_stopped, model: model.map(Box::new) }
        }
        SavedOutcome::Failed { problem } => Outcome::Failed { problem },
    };
    Ok(Run { points, settings, outcome })
}
