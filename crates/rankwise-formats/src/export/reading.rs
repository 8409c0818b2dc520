//! An exported file as its program understands it.

use rankwise_model::{AbsentFeature, Model, Output, Precision, TrainedOn};

use crate::FormatError;
use crate::draft::{DraftNode, features_of, trees};

/// What was read: the questions and leaves as a model, and how the program adds them.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Missing values go where the program would send them.
    pub model: Model,
    /// How leaves become a score.
    pub arithmetic: Arithmetic,
}

/// How a program adds leaves, in the order of the trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// In f64, from the base score on: as we do.
    F64,
    /// In f32.
    F32(BaseScore),
}

/// When the base score is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseScore {
    /// Before the trees.
    First,
    /// After them.
    Last,
}

impl Reading {
    /// The program's score of a document, its values in the order of the model's features; NaN is missing.
    pub fn score(&self, values: &[f64]) -> f64 {
        let Arithmetic::F32(place) = self.arithmetic else { return self.model.score(values) };
        let rounded: Vec<f64> = values.iter().map(|value| self.model.precision.round(*value)).collect();
        let leaf = |tree: &rankwise_model::Tree| tree.parts().leaf_value[tree.leaf(&rounded)] as f32;
        let (base, leaves) = (self.model.base_score as f32, self.model.trees.iter().map(leaf));
        f64::from(match place {
            BaseScore::First => leaves.fold(base, |sum, leaf| sum + leaf),
            BaseScore::Last => leaves.fold(0.0, |sum, leaf| sum + leaf) + base,
        })
    }
}

/// A model of trees that were read.
pub(crate) fn model(nodes: Vec<Vec<DraftNode>>, precision: Precision, base_score: f64) -> Result<Model, FormatError> {
    let features = features_of(&nodes);
    Ok(Model {
        objective: String::new(),
        params: std::collections::BTreeMap::new(),
        trained_on: TrainedOn::default(),
        absent: AbsentFeature::Missing,
        precision,
        base_score,
        output: Output::Sum,
        feature_names: Vec::new(),
        trees: trees(nodes, &features)?,
        features,
    })
}
