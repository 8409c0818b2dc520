//! An exported file, interpreted as its program does.

use rankwise_model::{AbsentFeature, Header, Model, Precision, Ranker, Tree};

use super::linear;
use crate::FormatError;
use crate::draft::{DraftNode, ensemble, features_of};

/// The splits and leaves as a model, and the arithmetic of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Missing values go to the same side as in the program.
    pub model: Model,
    /// How leaves are added up.
    pub arithmetic: Arithmetic,
}

/// How a program adds leaves, in the order of the trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// In f64, starting from the base score, as we do.
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
    /// The program's score of a document, given values in the order of the model's features; NaN is missing.
    pub fn score(&self, values: &[f64]) -> f64 {
        if let (Arithmetic::F32(_), Ranker::Linear(linear)) = (self.arithmetic, self.model.ranker()) {
            return linear::score(linear, values);
        }
        let (Arithmetic::F32(place), Ranker::Trees(ensemble)) = (self.arithmetic, self.model.ranker()) else {
            return self.model.score(values);
        };
        let rounded: Vec<f64> = values.iter().map(|value| self.model.precision().round(*value)).collect();
        let leaf = |tree: &Tree| tree.parts().leaf_value[tree.leaf(&rounded)] as f32;
        let (base, leaves) = (ensemble.base_score() as f32, ensemble.trees().iter().map(leaf));
        f64::from(match place {
            BaseScore::First => leaves.fold(base, |sum, leaf| sum + leaf),
            BaseScore::Last => leaves.fold(0.0, |sum, leaf| sum + leaf) + base,
        })
    }
}

/// A model from parsed trees.
pub(crate) fn model(nodes: Vec<Vec<DraftNode>>, precision: Precision, base_score: f64) -> Result<Model, FormatError> {
    let features = features_of(&nodes);
    let ensemble = ensemble(base_score, nodes, &features)?;
    Ok(Model::new(Header::new(AbsentFeature::Missing, precision, features), ensemble)?)
}
