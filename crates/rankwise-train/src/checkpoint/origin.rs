//! The parameters and data of a run. Two runs with the same origin grow the same trees.

use rankwise_data::Documents;
use rankwise_metrics::Ties;
use rankwise_params::Setting;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3Default;

use super::CheckpointError;
use crate::params::CHOOSES_CODE;
use crate::start::{Start, model_fingerprint};
use crate::{TrainParams, ValidSet};

/// Parameters and data of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// Names and values of all parameters that affect trees, that is, all but the number of trees and the choice of
    /// implementation. The last entry is the start model.
    settings: Vec<(String, String)>,
    train: DataPrint,
    valid: Vec<DataPrint>,
}

/// Identifies a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct DataPrint {
    rows: usize,
    queries: usize,
    fingerprint: u128,
    /// A hash of the order of rows if the run depends on it, otherwise 0.
    order: u64,
}

impl Origin {
    pub(crate) fn new(
        params: &TrainParams,
        objective: &str,
        start: Option<Start<'_>>,
        data: &Documents,
        valid: &[ValidSet<'_>],
    ) -> Self {
        let ties = params.rules().ties;
        let settings = params
            .settings()
            .into_iter()
            .filter(|setting| setting.name != "num_trees" && !CHOOSES_CODE.contains(&setting.name));
        // The objective may be a custom one that parameters cannot name.
        let value = |setting: Setting| if setting.name == "objective" { objective.to_owned() } else { setting.value };
        Self {
            settings: settings
                .map(|setting| (setting.name.to_owned(), value(setting)))
                .chain([("init_model".to_owned(), start.map_or("none".to_owned(), model_fingerprint))])
                .collect(),
            train: DataPrint::new(data, ties),
            valid: valid.iter().map(|set| DataPrint::new(set.data.docs(), ties)).collect(),
        }
    }

    /// Checks that this run can resume one with origin `then`; the error names the differences.
    pub(crate) fn check_same(&self, then: &Self) -> Result<(), CheckpointError> {
        let differences = differences(&self.settings, &then.settings);
        if !differences.is_empty() {
            return Err(CheckpointError::Params { differences: differences.join(", ") });
        }
        self.train.check_same(&then.train, || "on other training data".into())?;
        if self.valid.len() != then.valid.len() {
            return Err(CheckpointError::Data {
                what: "with other validation sets".into(),
                difference: format!("{} now, {} then", self.valid.len(), then.valid.len()),
            });
        }
        let mut pairs = self.valid.iter().zip(&then.valid).enumerate();
        pairs.try_for_each(|(idx, (now, then))| {
            now.check_same(then, || format!("with other data in validation set {}", idx + 1))
        })
    }
}

/// The parameters that differ, as `name is X, was Y`.
fn differences(now: &[(String, String)], then: &[(String, String)]) -> Vec<String> {
    let value_in = |settings: &[(String, String)], name: &str| {
        let found = settings.iter().find(|(known, _)| known == name);
        found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.clone())
    };
    let gone = then.iter().filter(|(name, _)| !now.iter().any(|(known, _)| known == name));
    let names = now.iter().chain(gone).map(|(name, _)| name);
    names
        .map(|name| (name, value_in(now, name), value_in(then, name)))
        .filter(|(_, now, then)| now != then)
        .map(|(name, now, then)| format!("{name} is {now}, was {then}"))
        .collect()
}

impl DataPrint {
    fn new(data: &Documents, ties: Ties) -> Self {
        let order = if ties == Ties::Input {
            let mut hasher = Xxh3Default::new();
            data.input_row().iter().for_each(|row| hasher.update(&row.to_le_bytes()));
            hasher.digest()
        } else {
            0
        };
        Self { rows: data.n_rows(), queries: data.n_queries(), fingerprint: data.fingerprint(), order }
    }

    fn check_same(&self, then: &Self, what: impl FnOnce() -> String) -> Result<(), CheckpointError> {
        if self == then {
            return Ok(());
        }
        let difference = if self.fingerprint == then.fingerprint {
            "its rows are in another order, which matters with ties=input".to_owned()
        } else if (self.rows, self.queries) == (then.rows, then.queries) {
            let (rows, queries) = (self.rows, self.queries);
            format!("same number of documents and queries ({rows} and {queries}), but other content")
        } else {
            format!("{} documents of {} queries now, {} of {} then", self.rows, self.queries, then.rows, then.queries)
        };
        Err(CheckpointError::Data { what: what(), difference })
    }
}
