//! Why a model ranks documents as it does.
//!
//! * [`Shap`] divides the score of a document among its features.
//! * [`Interactions`] are what pairs of features add together.
//! * [`difference`] divides the difference of two scores.
//! * [`Explainer`] does so for all documents of a dataset, and for models without counts of training rows.
//! * [`counterfactuals`] finds the smallest changes with which a document overtakes another.
//! * [`permutation_importance`] measures what a metric loses without the information of a feature.
//! * [`dependence`] shows how scores and places follow one feature.
//!
//! Nothing here depends on the number of threads.
#![forbid(unsafe_code)]

mod counterfactual;
mod dependence;
mod difference;
mod documents;
mod error;
mod explainer;
mod permutation;
mod ranges;
mod shap;

pub use counterfactual::{Change, Counterfactual, counterfactuals};
pub use dependence::{DependencePoint, dependence};
pub use difference::difference;
pub use documents::ModelDocs;
pub use error::ExplainError;
pub use explainer::Explainer;
pub use permutation::{PermutationImportance, PermutationSpec, permutation_importance};
pub use ranges::Ranges;
pub use shap::{InteractionBuffers, Interactions, Shap, ShapBuffers};
