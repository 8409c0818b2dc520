//! The kinds of rankers. A new kind is a module and an entry here.

use crate::file::{Body, Contents};
use crate::neural::NeuralRanker;
use crate::{LinearRanker, ModelError, Transform, TreeEnsemble, ensemble, linear, neural};

/// Reads the model file of one kind.
type Reader = fn(&[u8]) -> Result<Contents, ModelError>;

/// The trained part of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Ranker {
    /// A sum of trees.
    Trees(TreeEnsemble),
    /// A weighted sum of feature values.
    Linear(LinearRanker),
    /// A neural network.
    Neural(NeuralRanker),
}

impl From<TreeEnsemble> for Ranker {
    fn from(ensemble: TreeEnsemble) -> Self {
        Self::Trees(ensemble)
    }
}

impl Ranker {
    /// The name of the kind, as in the model file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Trees(_) => ensemble::KIND,
            Self::Linear(_) => linear::KIND,
            Self::Neural(_) => neural::KIND,
        }
    }

    /// The trees; an error for other kinds.
    pub fn tree_ensemble(&self) -> Result<&TreeEnsemble, ModelError> {
        match self {
            Self::Trees(ensemble) => Ok(ensemble),
            Self::Linear(_) | Self::Neural(_) => Err(ModelError::NoTrees { kind: self.kind() }),
        }
    }

    /// Whether the score of a document depends on the other documents of its list.
    pub fn is_listwise(&self) -> bool {
        match self {
            Self::Trees(_) => false,
            Self::Linear(linear) => linear.transform().is_some_and(Transform::is_by_query),
            Self::Neural(neural) => neural.is_listwise(),
        }
    }

    /// The scores of the documents of one list, given their rounded values, one document after the other; NaN is missing.
    /// They do not depend on the order of the documents.
    pub(crate) fn score_list(&self, values: &[f64], scores: &mut [f64]) {
        match self {
            Self::Trees(ensemble) => {
                let n_features = values.len() / scores.len().max(1);
                for (doc, score) in scores.iter_mut().enumerate() {
                    *score = ensemble.score(&values[doc * n_features..][..n_features]);
                }
            }
            Self::Linear(linear) => linear.score_list(values, scores),
            Self::Neural(neural) => neural.score_list(values, scores),
        }
    }

    /// The score of one document, given rounded values of all features; NaN is missing. A listwise ranker scores a list of
    /// this document alone.
    pub(crate) fn score(&self, values: &[f64]) -> f64 {
        match self {
            Self::Trees(ensemble) => ensemble.score(values),
            Self::Linear(linear) => linear.score(values),
            Self::Neural(neural) => {
                let mut score = [0.0];
                neural.score_list(values, &mut score);
                score[0]
            }
        }
    }

    /// Checks that it is valid for a model with this many features.
    pub(crate) fn check(&self, n_features: usize) -> Result<(), ModelError> {
        match self {
            Self::Trees(ensemble) => ensemble.check(n_features),
            Self::Linear(linear) => linear.check(n_features),
            Self::Neural(neural) => neural.check(n_features),
        }
    }

    /// Its part of the model file.
    pub(crate) fn body(&self) -> Body {
        match self {
            Self::Trees(ensemble) => ensemble.body(),
            Self::Linear(linear) => linear.body(),
            Self::Neural(neural) => neural.body(),
        }
    }

    /// Reads the model file of a kind, with the given format version.
    pub(crate) fn read(kind: Option<&str>, version: u64, bytes: &[u8]) -> Result<Contents, ModelError> {
        // Without a kind, any reader will report the missing field.
        let kind = kind.unwrap_or(ensemble::KIND);
        let (first_version, read): (u64, Reader) = match kind {
            ensemble::KIND => (1, ensemble::read),
            linear::KIND => (linear::FIRST_VERSION, linear::read),
            neural::KIND => (neural::FIRST_VERSION, neural::read),
            _ => return Err(ModelError::Kind { kind: kind.into() }),
        };
        if version < first_version {
            let problem = format!("a {kind} model needs format version {first_version}, the file has {version}");
            return Err(ModelError::Content { problem });
        }
        read(bytes)
    }
}
