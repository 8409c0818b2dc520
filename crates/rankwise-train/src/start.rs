//! The start model of a run: LambdaSMART (Wu et al. 2010), and continued training.
//!
//! Its scores are the initial scores of the run, and its trees come first in the new model. So the new model gives the
//! scores that training saw: `start(x) + tree 1 (x) + tree 2 (x) + ...`, added in that order.

use rankwise_data::{Absent, TrainingData};
use rankwise_model::{AbsentFeature, Model, ModelError, Output, TreeEnsemble};
use xxhash_rust::xxh3::xxh3_64;

/// A model that cannot be a start model, or does not match the data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// The model has no trees, or the new model would be invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Absent features have different meanings in the model and in the data.
    #[error(
        "the model was trained with absent={model}, but the data was read with absent={data}; read it with absent={model}"
    )]
    Absent {
        /// To the model.
        model: &'static str,
        /// In the data.
        data: &'static str,
    },
    /// A model with one output per label, for data with other labels.
    #[error(
        "the model has one output for each label of its training data, with the gains {model}, but the labels of this data \
         have the gains {data}; use data with the same labels"
    )]
    Labels {
        /// The gains in the model.
        model: String,
        /// Those of the labels.
        data: String,
    },
    /// The outputs of the model and of the objective differ.
    #[error("the model has {model}, but the objective needs {objective}; use {}another model", if objective == ONE_SCORE { "objective multiclass or " } else { "another objective or " })]
    Output {
        /// In the model.
        model: String,
        /// In the objective.
        objective: String,
    },
    /// A feature has different names.
    #[error(
        "feature {feature} is {model} in the model, but {data} in the data; give the features the same names in both"
    )]
    Names {
        /// Its id.
        feature: u32,
        /// Its name in the model.
        model: String,
        /// Its name in the data.
        data: String,
    },
    /// The data has no values.
    #[error("the data has bins instead of values, so other models cannot score it; use the original data")]
    NoValues,
}

/// A model that has trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) model: &'a Model,
    pub(crate) ensemble: &'a TreeEnsemble,
}

impl<'a> Start<'a> {
    /// It is an error if the model has no trees.
    pub(crate) fn new(model: &'a Model) -> Result<Self, StartError> {
        Ok(Self { model, ensemble: model.tree_ensemble()? })
    }
}

/// Checks that a model can be the start model of a run on this data, with this output.
pub(crate) fn check(start: Start<'_>, data: TrainingData<'_>, output: &Output) -> Result<(), StartError> {
    let Start { model, ensemble } = start;
    let Some(data) = data.values() else { return Err(StartError::NoValues) };
    let is_same = match (ensemble.output(), output) {
        (Output::Sum, Output::Sum) => true,
        (Output::ExpectedGain(model), Output::ExpectedGain(objective)) => model.gains == objective.gains,
        _ => false,
    };
    if let (Output::ExpectedGain(model), Output::ExpectedGain(objective), false) = (ensemble.output(), output, is_same)
    {
        return Err(StartError::Labels { model: listed(&model.gains), data: listed(&objective.gains) });
    }
    if !is_same {
        return Err(StartError::Output { model: described(ensemble.output()), objective: described(output) });
    }
    let to_model = match model.absent() {
        AbsentFeature::Missing => "missing",
        AbsentFeature::Zero => "zero",
    };
    let in_data = match data.absent() {
        Absent::Missing => "missing",
        Absent::Zero => "zero",
    };
    if to_model != in_data {
        return Err(StartError::Absent { model: to_model, data: in_data });
    }
    let called = |name: Option<&str>| name.map_or("without a name".to_owned(), |name| format!("{name:?}"));
    for (place, feature) in model.features().iter().enumerate() {
        let (to_model, in_data) = (model.feature_names().get(place).map(String::as_str), data.feature_name(*feature));
        if to_model != in_data {
            return Err(StartError::Names { feature: *feature, model: called(to_model), data: called(in_data) });
        }
    }
    Ok(())
}

/// Identifies a model, for people and for comparison.
pub(crate) fn model_fingerprint(Start { model, ensemble }: Start<'_>) -> String {
    let (n_trees, hash) = (ensemble.n_trees(), xxh3_64(model.to_json().as_bytes()));
    format!("trees={n_trees} objective={} xxh3={hash:016x}", model.objective())
}

/// The usual output of models.
const ONE_SCORE: &str = "one score";

fn described(output: &Output) -> String {
    match output {
        Output::Sum => ONE_SCORE.into(),
        Output::ExpectedGain(expected) => {
            format!("one output per label value (objective=multiclass, gains {})", listed(&expected.gains))
        }
    }
}

fn listed(gains: &[f64]) -> String {
    gains.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
